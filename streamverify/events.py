"""What a stream tells, in order.

    StreamOpened                                     exactly one, first
    TextReleased                                     what a reader may see; final once told
    SentenceClosed                                   in text order
    SentenceJudged                                   one for each SentenceClosed, in text order
    SentenceRevised                                  one for each later scorer asked about a sentence that was
                                                     judged provisionally, in that order, some time after it
    StreamFinished | StreamHalted | StreamFailed     exactly one, last

`seq` counts 0, 1, 2 …; `at_ms` is milliseconds since the stream opened. On the wire an event is
one JSON object (`event.model_dump_json()`), and `kind` tells which.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from streamverify.types import Action, Fingerprint, JudgedSentence, Report, Sentence, Span, Verdict
from streamverify.value import Value


class Stamp(Value):
    """What every event carries."""

    seq: int
    at_ms: float


class PassageSummary(Value):
    """A passage as a stream announces it: without its text."""

    id: str
    title: str | None = None
    chars: int
    """Length of the passage's text, in characters."""


class StreamOpened(Stamp):
    """The stream runs; nothing was read from the source yet."""

    kind: Literal["stream_opened"] = "stream_opened"
    passages: tuple[PassageSummary, ...]
    fingerprint: Fingerprint
    policy: str


class TextReleased(Stamp):
    """Text a reader may see. Under a holding policy it may replace what stood at `span`."""

    kind: Literal["text_released"] = "text_released"
    text: str
    span: Span
    """The part of the answer as generated that this text stands for."""
    action: Action


class SentenceClosed(Stamp):
    """A sentence is complete and is being judged."""

    kind: Literal["sentence_closed"] = "sentence_closed"
    sentence: Sentence


class SentenceJudged(Verdict, Stamp):
    """The verdict on one sentence."""

    kind: Literal["sentence_judged"] = "sentence_judged"
    latency_ms: float
    """Milliseconds from the sentence's close to this verdict."""
    provisional: bool = False
    """A later scorer of a cascade is being asked: a `SentenceRevised` follows, whatever it says."""


class SentenceRevised(Verdict, Stamp):
    """The word of a later scorer on a sentence that was judged provisionally.

    Where it gave none, the verdict before it once more, with a finding `unconfirmed`.
    """

    kind: Literal["sentence_revised"] = "sentence_revised"
    latency_ms: float
    """Milliseconds from the sentence's close to this verdict."""
    provisional: bool = False
    """A further scorer is being asked: another `SentenceRevised` follows."""
    scorer: str
    """Model whose verdict this is."""
    changed: bool
    """Whether the label is another one than was told before."""


class StreamFinished(Stamp):
    """The source ended and every sentence has its verdict."""

    kind: Literal["stream_finished"] = "stream_finished"
    report: Report


class StreamHalted(Stamp):
    """The policy stopped the source; `report.error` says why."""

    kind: Literal["stream_halted"] = "stream_halted"
    report: Report


FailureCode = Literal[
    "source_failed", "check_failed", "usage_error", "interrupted", "closed", "internal_error"
]
"""What ended a stream that failed: its source; the scorer, under `on_failure="raise"`; a call or a piece that
was wrong; the application, which stopped the source (`interrupt`) or closed the stream; or anything else, as
the function of a `Repair`."""


class StreamFailed(Stamp):
    """The source, or the scorer under `on_failure="raise"`, failed, or the application ended the stream."""

    kind: Literal["stream_failed"] = "stream_failed"
    report: Report
    error: str
    """Type and message of what went wrong: for the application, not for a browser."""
    code: FailureCode = "source_failed"
    """The same for a machine, without anything of the message."""


FinalEvent = StreamFinished | StreamHalted | StreamFailed
Event = StreamOpened | TextReleased | SentenceClosed | SentenceJudged | SentenceRevised | FinalEvent


def build() -> None:
    """Build the validators now (about 40 ms), so that no stream waits for them at its first sentence."""
    for model in (
        StreamOpened,
        TextReleased,
        SentenceClosed,
        SentenceJudged,
        SentenceRevised,
        StreamFinished,
        StreamHalted,
        StreamFailed,
        JudgedSentence,
    ):
        model.model_rebuild()


def read_event(line: str | bytes) -> Event:
    """The event that was written as this JSON.

    Raises:
        pydantic.ValidationError: it is not an event.
    """
    return _reader().validate_json(line)


@cache
def _reader() -> TypeAdapter[Event]:
    """Made at first use and once: it takes thousands of times as long as reading an event."""
    return TypeAdapter[Event](Annotated[Event, Field(discriminator="kind")])
