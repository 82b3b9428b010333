"""Verdicts and reports as LangChain's custom events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streamverify import (
    Event,
    Report,
    Sentence,
    SentenceClosed,
    SentenceJudged,
    StreamFailed,
    StreamFinished,
    StreamHalted,
)
from streamverify.adapters import Key

VERDICT = "streamverify.verdict"
"""Name of the event that tells the verdict on one sentence."""

REPORT = "streamverify.report"
"""Name of the event that tells the report, last."""

Announcement = tuple[str, dict[str, Any]]


class Announcer:
    """Turns the events of one call into custom events.

    Under a policy that holds text they carry none of the answer but what was released: a listener must not
    learn from a verdict what a reader may not see.
    """

    def __init__(self, *, holds: bool, heard: bool = True) -> None:
        """Nothing was told yet.

        Args:
            holds: whether the policy holds text.
            heard: whether anybody listens; where nobody does, nothing is made.
        """
        self._holds, self._heard = holds, heard
        self._sentences: dict[tuple[Key, int], Sentence] = {}
        self._waiting: list[Announcement] = []

    def __call__(self, key: Key, event: Event) -> None:
        """Take an event as it happens."""
        if not self._heard:
            return
        if isinstance(event, SentenceClosed):
            self._sentences[key, event.sentence.index] = event.sentence
        elif isinstance(event, SentenceJudged):
            sentence = self._sentences.pop((key, event.index))
            self._waiting.append((VERDICT, verdict_data(event, sentence, holds=self._holds)))
        elif isinstance(event, StreamFinished | StreamHalted | StreamFailed):
            self._waiting.append((REPORT, report_data(event.report, holds=self._holds)))

    @property
    def waiting(self) -> bool:
        """Whether there is something to tell."""
        return bool(self._waiting)

    def take(self) -> Iterator[Announcement]:
        """What was not told yet, in order."""
        waiting, self._waiting = self._waiting, []
        return iter(waiting)


def verdict_data(event: SentenceJudged, sentence: Sentence, *, holds: bool) -> dict[str, Any]:
    """A verdict as JSON: the event's fields, with the sentence's `text`, `start` and `end`."""
    data = event.model_dump(mode="json", exclude={"kind", "seq"})
    data |= {"text": sentence.text, "start": sentence.start, "end": sentence.end}
    return _silent(data) if holds else data


def report_data(report: Report, *, holds: bool) -> dict[str, Any]:
    """A report as JSON, without the answer as generated where the policy holds text."""
    data = report.model_dump(mode="json")
    if holds:
        del data["answer"]
        data["sentences"] = [_silent(sentence) for sentence in data["sentences"]]
    return data


def _silent(data: dict[str, Any]) -> dict[str, Any]:
    """Without anything that repeats the answer."""
    data = {name: value for name, value in data.items() if name != "text"}
    data["citations"] = [{k: v for k, v in c.items() if k != "marker"} for c in data["citations"]]
    data["findings"] = [{k: v for k, v in f.items() if k != "detail"} for f in data["findings"]]
    return data
