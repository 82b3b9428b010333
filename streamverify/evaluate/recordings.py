"""The events of one recorded stream become what an evaluation uses of them, or an error.

Before: `rows.py` and `dataset.py` have the lines. After: a case's recording, its report measured as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose
from statistics import fmean

from pydantic import ValidationError

from streamverify.errors import InputFileError
from streamverify.evaluate.case import Recording
from streamverify.events import (
    Event,
    FinalEvent,
    SentenceClosed,
    SentenceJudged,
    SentenceRevised,
    StreamFailed,
    StreamFinished,
    StreamHalted,
    StreamOpened,
    read_event,
)
from streamverify.types import Label, Passage, Report, Sentence, Verdict

_FINAL = (StreamFinished, StreamHalted, StreamFailed)


def recording_of(lines: Sequence[str | bytes], passages: tuple[Passage, ...] | None) -> Recording:
    """What a whole recorded stream tells.

    Raises:
        InputFileError: it is none, or not of these passages. Caller.
    """
    source = "events"
    try:
        events = [read_event(line) for line in lines]
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputFileError(source, f"not an event: {place or 'event'}: {first['msg']}") from None
    opened, ended = (events[0], events[-1]) if events else (None, None)
    if not isinstance(opened, StreamOpened) or not isinstance(ended, _FINAL):
        raise InputFileError(
            source, "a recorded stream begins with stream_opened and ends with its last event"
        )
    if [event.seq for event in events] != list(range(len(events))):
        raise InputFileError(source, "events are missing or out of order: seq must count 0, 1, 2 …")
    if passages is not None:
        sizes = {passage.id: len(passage.text) for passage in passages}
        for summary in opened.passages:
            if sizes.get(summary.id) != summary.chars:
                problem = f"the stream had another passage {summary.id!r} than 'passages' of this row"
                raise InputFileError(source, problem)
    if problem := _foreign(events, ended):
        raise InputFileError(source, problem)
    return Recording(
        passages=opened.passages, policy=opened.policy, fingerprint=opened.fingerprint, report=ended.report
    )


def _foreign(events: Sequence[Event], ended: FinalEvent) -> str:
    """Why the last event's report is not of these events; empty where it is.

    A sentence that it leaves out would be measured by nobody.
    """
    report = ended.report
    closed = [_place(event.sentence) for event in events if isinstance(event, SentenceClosed)]
    if closed != [_place(sentence) for sentence in report.sentences]:
        return "the report in the last event has other sentences than the events before it closed"
    judged = "".join(sentence.text for sentence in report.sentences)
    # What was never closed, as the stream ended before, stands behind the last sentence.
    whole = judged == report.answer if isinstance(ended, StreamFinished) else report.answer.startswith(judged)
    if not whole:
        return "the answer of the report in the last event is not the text of its sentences"
    return _contradicted(events, report)


def _contradicted(events: Sequence[Event], report: Report) -> str:
    """Where a report says something else than the verdicts that were told before it; empty where it does not.

    Of a sentence that a later scorer was asked about, its last verdict counts; one that was never told a
    verdict, because the stream ended before, was not checked.
    """
    told = {one.index: one for one in events if isinstance(one, SentenceJudged | SentenceRevised)}
    for sentence in report.sentences:
        verdict = told.get(sentence.index)
        said = _verdict(verdict) if verdict is not None else _UNTOLD
        if _verdict(sentence) != said:
            return (
                f"the report in the last event has another verdict on sentence {sentence.index} "
                f"({_shown(_verdict(sentence))}) than the event before it told ({_shown(said)})"
            )
    for label in Label:
        if report.counts.get(label, 0) != sum(one.label is label for one in report.sentences):
            return f"the report in the last event counts other sentences as {label} than it holds"
    scores = [one.score for one in report.sentences if one.score is not None]
    score, mean = report.grounding_score, fmean(scores) if scores else None
    if score != mean and (score is None or mean is None or not isclose(score, mean, abs_tol=1e-9)):
        held = "none" if score is None else f"{score:g}"
        found = "none" if mean is None else f"{mean:g}"
        return f"the report in the last event has grounding_score {held}; its sentences make it {found}"
    return ""


_Verdict = tuple[Label, float | None]
_UNTOLD: _Verdict = (Label.UNVERIFIED, None)


def _verdict(one: Verdict) -> _Verdict:
    return one.label, one.score


def _shown(verdict: _Verdict) -> str:
    label, score = verdict
    return f"{label}, no score" if score is None else f"{label} {score:g}"


def _place(sentence: Sentence) -> tuple[int, str, int, int]:
    return sentence.index, sentence.text, sentence.start, sentence.end
