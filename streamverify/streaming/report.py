"""The report on one stream, computed from its judged sentences; pure."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from streamverify.citations import NotComputed, citation_metrics
from streamverify.types import (
    Action,
    CitationFigures,
    Fingerprint,
    JudgedSentence,
    Label,
    Lag,
    Outcome,
    Report,
    SecondOpinion,
    Timings,
    Verdict,
    Work,
)


def report_on(
    sentences: tuple[JudgedSentence, ...],
    ending: Outcome,
    *,
    answer: str,
    released: str,
    timings: Timings,
    work: Work,
    fingerprint: Fingerprint,
    error: str | None,
    second_opinions: tuple[SecondOpinion, ...] = (),
) -> Report:
    """The whole stream in figures.

    Args:
        sentences: all that closed, in text order, each with a verdict.
        ending: how the stream ended.
        answer: as generated.
        released: as a reader may see it.
        timings: as measured; this adds the verdicts' lag, over the sentences that a scorer read.
        work: what it cost.
        fingerprint: of the scorer.
        error: what went wrong, or why the policy halted.
        second_opinions: what later scorers did.
    """
    scored = [sentence for sentence in sentences if sentence.score is not None]
    scores = [sentence.score for sentence in scored if sentence.score is not None]
    lags = [sentence.latency_ms for sentence in scored if sentence.latency_ms is not None]
    figures = _citation_figures(sentences)
    return Report(
        outcome=ending,
        answer=answer,
        released=released,
        sentences=sentences,
        counts={label: sum(sentence.label is label for sentence in sentences) for label in Label},
        grounding_score=statistics.fmean(scores) if scores else None,
        citation_accuracy=figures.accuracy,
        citation_figures=figures,
        timings=timings.model_copy(update={"verdict_lag_ms": _lag(lags)}),
        work=work,
        fingerprint=fingerprint,
        error=error,
        warnings=(*_warnings(ending, sentences), *_unconfirmed(second_opinions)),
        second_opinions=second_opinions,
    )


def up_to_halt(report: Report) -> Report:
    """The report without the sentences after the one that halted its stream.

    How many of those had come and were judged by then is a matter of time; nobody was shown them. Other
    reports stay as they are.
    """
    place = next((n for n, one in enumerate(report.sentences) if one.action is Action.HALT), None)
    if report.outcome != "halted" or place is None:
        return report
    return report_on(
        report.sentences[: place + 1],
        report.outcome,
        answer=report.answer,
        released=report.released,
        timings=report.timings,
        work=report.work,
        fingerprint=report.fingerprint,
        error=report.error,
        second_opinions=report.second_opinions,
    )


def _warnings(ending: Outcome, judged: Sequence[JudgedSentence]) -> tuple[str, ...]:
    """A stream that told verdicts and checked nothing says so.

    Reasons are told by their code alone: a scorer's error is not for everybody who may see a report.
    """
    unchecked = [sentence for sentence in judged if sentence.label is Label.UNVERIFIED]
    if ending != "finished" or not unchecked or any(sentence.score is not None for sentence in judged):
        return ()
    codes = ", ".join(dict.fromkeys(sentence.reason for sentence in unchecked))
    passed = sum(sentence.action in (Action.RELEASE, Action.FLAG) for sentence in unchecked)
    if len(unchecked) == 1:
        told = f"the only sentence could not be checked ({codes}); it was {'' if passed else 'not '}released"
    else:
        shown = {0: "none was", 1: "1 was"}.get(passed, f"{passed} were")
        told = f"none of {len(unchecked)} sentences could be checked ({codes}); {shown} released"
    return (f"nothing_checked: {told}",)


def _unconfirmed(opinions: Sequence[SecondOpinion]) -> list[str]:
    """Where a later scorer gave no word: what stands there nobody should take for its verdict."""
    return [
        f"unconfirmed: {one.scorer} was to decide {one.asked} verdicts and gave no word on {one.unconfirmed}"
        for one in opinions
        if one.unconfirmed
    ]


def _citation_figures(verdicts: Sequence[Verdict]) -> CitationFigures:
    computed = citation_metrics(verdicts)
    shares = {
        "existence": computed.existence,
        "accuracy": computed.citation_accuracy,
        "precision": computed.citation_precision,
        "completeness": computed.citation_completeness,
        "quality": computed.citation_quality,
        "multi_source_coverage": computed.multi_source_coverage,
    }
    return CitationFigures(
        citations=computed.citations,
        fabricated=computed.fabricated,
        missing=computed.missing,
        **{name: None if isinstance(share, NotComputed) else share for name, share in shares.items()},
        not_computed={name: share.reason for name, share in shares.items() if isinstance(share, NotComputed)},
    )


def _lag(values: Sequence[float]) -> Lag | None:
    """Percentiles by the nearest-rank method."""
    if not values:
        return None
    ordered = sorted(values)
    rank95 = -(-95 * len(ordered) // 100)
    return Lag(p50=statistics.median(ordered), p95=ordered[rank95 - 1], max=ordered[-1])
