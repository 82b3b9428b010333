"""The event that ends a stream, with its report.

Before: `session.py` has told all else. After: `pump.py` tells it, once and last.
"""

from __future__ import annotations

from streamverify.events import FailureCode, FinalEvent, StreamFailed, StreamFinished, StreamHalted
from streamverify.streaming.report import report_on
from streamverify.types import Fingerprint, JudgedSentence, Outcome, SecondOpinion, Timings, Work


def final_event(
    ending: Outcome,
    sentences: tuple[JudgedSentence, ...],
    error: str | None,
    code: FailureCode,
    *,
    seq: int,
    answer: str,
    released: str,
    timings: Timings,
    work: Work,
    fingerprint: Fingerprint,
    second_opinions: tuple[SecondOpinion, ...],
) -> FinalEvent:
    """The one for this ending; `code` says who ended a stream that failed, the rest is as for `report_on`."""
    report = report_on(
        sentences,
        ending,
        answer=answer,
        released=released,
        timings=timings,
        work=work,
        fingerprint=fingerprint,
        error=error,
        second_opinions=second_opinions,
    )
    at_ms = timings.total_ms
    if ending == "finished":
        return StreamFinished(seq=seq, at_ms=at_ms, report=report)
    if ending == "halted":
        return StreamHalted(seq=seq, at_ms=at_ms, report=report)
    return StreamFailed(seq=seq, at_ms=at_ms, report=report, error=error or "unknown", code=code)
