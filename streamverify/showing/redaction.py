"""Takes out of the events what a reader may not see: the one answer to that, for servers and adapters alike.

Before: `stream.py`, whose events tell the application everything, rejected sentences included.
After: whatever tells them to others: the server's protocols, the callbacks of an adapter.

A character of the answer is known to the reader once `text_released` showed it as it was generated.
Every other character of the answer, wherever an event repeats it, becomes `MASK`: as many code points
as before, so that every offset still holds.

The message of an error is somebody else's text: it may quote addresses, keys, prompts, paths of the server.
A reader gets what failed and the error's type; the whole is logged.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeVar

from streamverify.events import (
    Event,
    FailureCode,
    SentenceClosed,
    SentenceJudged,
    SentenceRevised,
    StreamFailed,
    StreamFinished,
    StreamHalted,
    TextReleased,
)
from streamverify.types import Action, Citation, Finding, JudgedSentence, Report, Span, Verdict

V = TypeVar("V", bound=Verdict)

MASK = "\u2588"
"""FULL BLOCK, one for each character withheld."""

_VERBATIM = frozenset({Action.RELEASE, Action.FLAG})

_FAILED: Mapping[FailureCode, str] = MappingProxyType(
    {
        "source_failed": "the source of the answer failed",
        "check_failed": "a check failed",
        "usage_error": "the answer could not be verified",
        "internal_error": "verification failed",
    }
)
"""What a reader is told; codes that are absent come with a text of the application's own."""


class Redactor:
    """One run's view for a reader; feed it every event once, in order.

    Under a holding policy a verdict comes before the text of its sentence. One that quotes the sentence, in
    a citation or a finding, waits until that text was released or another event shows that it will not be;
    so a call gives no event, one, or several, and all of them in order.
    """

    def __init__(self, *, reveal: bool = False, error_details: bool = False) -> None:
        """Nothing was shown yet.

        Args:
            reveal: let the answer as generated pass.
            error_details: let the messages of errors pass.
        """
        self._reveal, self._details = reveal, error_details
        self._shown: list[Span] = []
        self._closed: dict[int, Span] = {}
        self._waiting: list[Event] = []  # a verdict, and those releases of its sentence that came already
        self._waits_for = 0  # where its sentence ends

    def __call__(self, event: Event) -> tuple[Event, ...]:
        """The events that a reader may see now, as it may see them."""
        if not self._details:
            event = _without_messages(event)
        if self._reveal:
            return (event,)
        if isinstance(event, SentenceClosed):
            self._closed[event.sentence.index] = event.sentence.span
        elif isinstance(event, TextReleased):
            self._show(event)
            if self._waiting:
                self._waiting.append(event)
                return self._take_waiting() if event.span.end >= self._waits_for else ()
        before = self._take_waiting()
        if isinstance(event, SentenceJudged) and self._must_wait(event):
            self._waiting = [event]
            return before
        return (*before, self._masked_event(event))

    def _must_wait(self, event: SentenceJudged) -> bool:
        sentence = self._closed.pop(event.index)
        self._waits_for = sentence.end
        return bool(event.citations or event.findings) and not self._knows(*sentence)

    def _take_waiting(self) -> tuple[Event, ...]:
        waiting, self._waiting = self._waiting, []
        return tuple(self._masked_event(event) for event in waiting)

    def _masked_event(self, event: Event) -> Event:
        match event:
            case SentenceClosed():
                sentence = event.sentence
                text = self._masked(sentence.text, sentence.start)
                return event.model_copy(update={"sentence": sentence.model_copy(update={"text": text})})
            case SentenceJudged() | SentenceRevised():
                citations = tuple(self._citation(citation) for citation in event.citations)
                findings = tuple(self._finding(finding) for finding in event.findings)
                return event.model_copy(update={"citations": citations, "findings": findings})
            case StreamFinished() | StreamHalted() | StreamFailed():
                return event.model_copy(update={"report": self._report(event.report)})
            case _:
                return event

    def _report(self, report: Report) -> Report:
        sentences = tuple(self._sentence(sentence) for sentence in report.sentences)
        return report.model_copy(update={"answer": self._masked(report.answer, 0), "sentences": sentences})

    def _show(self, event: TextReleased) -> None:
        start, end = event.span
        if event.action not in _VERBATIM or start == end:
            return
        if self._shown and self._shown[-1].end == start:
            start = self._shown.pop().start
        self._shown.append(Span(start, end))

    def _sentence(self, sentence: JudgedSentence) -> JudgedSentence:
        return sentence.model_copy(
            update={
                "text": self._masked(sentence.text, sentence.start),
                "citations": tuple(self._citation(citation) for citation in sentence.citations),
                "findings": tuple(self._finding(finding) for finding in sentence.findings),
            }
        )

    def _citation(self, citation: Citation) -> Citation:
        if self._knows(citation.start, citation.end):
            return citation
        return citation.model_copy(update={"marker": MASK * len(citation.marker)})

    def _finding(self, finding: Finding) -> Finding:
        """A finding's detail quotes the answer, so it goes with what it quotes."""
        if self._knows(finding.start, finding.end):
            return finding
        return finding.model_copy(update={"detail": ""})

    def _knows(self, start: int, end: int) -> bool:
        at = bisect_left(self._shown, start + 1, key=lambda span: span.start) - 1
        return at >= 0 and self._shown[at].start <= start and end <= self._shown[at].end

    def _masked(self, text: str, start: int) -> str:
        end = start + len(text)
        if self._knows(start, end):
            return text
        parts: list[str] = []
        at = start
        for shown in self._shown:
            left, right = max(shown.start, at), min(shown.end, end)
            if left < right:
                parts += [MASK * (left - at), text[left - start : right - start]]
                at = right
        parts.append(MASK * (end - at))
        return "".join(parts)


def _without_messages(event: Event) -> Event:
    """The event without the message of any error."""
    match event:
        case SentenceJudged() | SentenceRevised():
            return _without_message(event)
        case StreamFinished() | StreamHalted() | StreamFailed():
            sentences = tuple(_without_message(sentence) for sentence in event.report.sentences)
            report = event.report.model_copy(update={"sentences": sentences})
            if not isinstance(event, StreamFailed):
                return event.model_copy(update={"report": report})
            error = event.error
            if (told := _FAILED.get(event.code)) is not None:
                error = f"{told}: {error.partition(':')[0]}"
            report = report.model_copy(update={"error": error})
            return event.model_copy(update={"report": report, "error": error})
        case _:
            return event


def _without_message(verdict: V) -> V:
    if verdict.reason != "scorer_failed":
        return verdict
    return verdict.model_copy(update={"reason_text": "the check could not be run"})
