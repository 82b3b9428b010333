"""The events of one recorded stream become what an evaluation uses of them, or an error.

Before: `rows.py` and `dataset.py` have the lines. After: a case's recording, its report measured as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from streamverify.errors import InputFileError
from streamverify.evaluate.case import Recording
from streamverify.events import (
    Event,
    FinalEvent,
    SentenceClosed,
    StreamFailed,
    StreamFinished,
    StreamHalted,
    StreamOpened,
    read_event,
)
from streamverify.types import Passage, Sentence

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
    return "" if whole else "the answer of the report in the last event is not the text of its sentences"


def _place(sentence: Sentence) -> tuple[int, str, int, int]:
    return sentence.index, sentence.text, sentence.start, sentence.end
