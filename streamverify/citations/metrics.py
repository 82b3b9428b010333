"""Figures about the citations of an answer; what cannot be computed says why, and is no number.

Counted is what stands in the answer: a `missing` citation is none, and an unverified one, of which
only its existence is known, enters `existence` and the fabricated count alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from streamverify.figure import Figure, NotComputed
from streamverify.types import Citation, CitationFinding, Label, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_UNCOUNTED = frozenset({CitationFinding.MISSING, CitationFinding.UNVERIFIED})
_RANKS = (
    CitationFinding.CORRECT,
    CitationFinding.PARTIAL,
    CitationFinding.WRONG_PASSAGE,
    CitationFinding.UNSUPPORTED,
    CitationFinding.UNVERIFIED,
    CitationFinding.MISSING,
    CitationFinding.FABRICATED,
)


@dataclass(frozen=True, slots=True)
class AccuracyScale:
    """Turns a support probability into points: above `full` 1.0, above `most` 0.7, else 0."""

    full: float = 0.8
    most: float = 0.5

    def points(self, score: float | None) -> float:
        """Points (0, 0.7 or 1) of one citation; 0 where nothing was cited."""
        if score is None or score <= self.most:
            return 0.0
        return 1.0 if score > self.full else 0.7


@dataclass(frozen=True, slots=True)
class CitationMetrics:
    """The citation figures of one answer, each 0-1 unless said otherwise."""

    citations: int
    """Markers in the answer, those of the existing ones included that were not checked."""
    fabricated: int
    existence: Figure
    """Citations that mean a passage / citations."""
    citation_accuracy: Figure
    citation_precision: Figure
    citation_completeness: Figure
    citation_quality: Figure
    multi_source_coverage: Figure
    missing: int
    """Claims without a marker where one was required."""


def citation_accuracy(citations: Iterable[Citation]) -> Figure:
    """Correct citations / citations."""
    counted = [citation.finding for citation in citations if citation.finding not in _UNCOUNTED]
    if not counted:
        return NotComputed("the answer carries no citation that was checked")
    return counted.count(CitationFinding.CORRECT) / len(counted)


def citation_precision(cited: Sequence[Iterable[str]], supporting: Sequence[Iterable[str]]) -> Figure:
    """Supporting passages cited / passages cited, pooled over sentences.

    Args:
        cited: per sentence the passages it cites, fabricated ones under any name that is no id.
        supporting: per sentence the passages that support it.
    """
    pairs = [(set(here), set(support)) for here, support in zip(cited, supporting, strict=True)]
    total = sum(len(here) for here, _ in pairs)
    if not total:
        return NotComputed("no passage is cited")
    return sum(len(here & support) for here, support in pairs) / total


def citation_completeness(cited: Sequence[Iterable[str]], supporting: Sequence[Iterable[str]]) -> Figure:
    """Supporting passages cited / supporting passages, pooled over sentences; arguments as for precision."""
    pairs = [(set(here), set(support)) for here, support in zip(cited, supporting, strict=True)]
    total = sum(len(support) for _, support in pairs)
    if not total:
        return NotComputed("no passage supports any sentence")
    return sum(len(here & support) for here, support in pairs) / total


def citation_quality(existence: Figure, accuracy_points: Figure, grounding: Figure) -> Figure:
    """0.4 existence + 0.3 accuracy in points + 0.3 grounding; not computed when one of them is not.

    Args:
        existence: markers that mean a passage / markers.
        accuracy_points: mean of what an `AccuracyScale` gives the citations, not their accuracy.
        grounding: mean score of the claims.
    """
    total = 0.0
    for weight, part in ((0.4, existence), (0.3, accuracy_points), (0.3, grounding)):
        if isinstance(part, NotComputed):
            return part
        total += weight * part
    return total


def multi_source_coverage(needs: Sequence[int], cited: Sequence[Iterable[str]]) -> Figure:
    """Claims that need N > 1 passages and cite at least N / claims that need N > 1.

    Args:
        needs: per sentence the passages it takes to support it.
        cited: per sentence the existing passages it cites.
    """
    wanted = [(need, len(set(here))) for need, here in zip(needs, cited, strict=True) if need > 1]
    if not wanted:
        return NotComputed("no claim needs more than one passage")
    return sum(count >= need for need, count in wanted) / len(wanted)


def fabricated_citations(citations: Iterable[Citation]) -> int:
    """Citations that mean no passage."""
    return sum(citation.finding is CitationFinding.FABRICATED for citation in citations)


def citation_metrics(
    verdicts: Sequence[Verdict],
    *,
    supporting: Mapping[int, Iterable[str]] | None = None,
    needs: Mapping[int, int] | None = None,
    scale: AccuracyScale = AccuracyScale(),
) -> CitationMetrics:
    """All figures of one answer.

    Args:
        verdicts: one for each sentence, citations settled (`settle`) where markers are lent.
        supporting: by sentence index the passages that support it, where they are labelled; otherwise
            those whose evidence supports a supported sentence, or a correctly cited set that has none.
        needs: by sentence index how many passages it needs, where that is labelled; otherwise two for
            a supported sentence without a single passage among its evidence that supports it, else one.
        scale: turns support into accuracy points.
    """
    found = [citation for verdict in verdicts for citation in verdict.citations]
    written = [citation for citation in found if citation.finding is not CitationFinding.MISSING]
    checked = [citation for citation in written if citation.finding is not CitationFinding.UNVERIFIED]
    fabricated = fabricated_citations(written)
    judged = [v for v in verdicts if v.label in {Label.SUPPORTED, Label.UNSUPPORTED, Label.CONTRADICTED}]
    cited = [{id_ for citation in verdict.citations for id_ in citation.passages} for verdict in judged]
    support = [
        _supporting(verdict) if supporting is None else set(supporting.get(verdict.index, ()))
        for verdict in judged
    ]
    wants = [_needs(v) if needs is None else needs.get(v.index, 1) for v in judged]
    claimed = [here | _invented(verdict) for here, verdict in zip(cited, judged, strict=True)]
    none = NotComputed("the answer carries no citation")
    unchecked = NotComputed("the answer carries no citation that was checked")
    existence: Figure = 1 - fabricated / len(written) if written else none
    points: Figure = fmean(scale.points(citation.score) for citation in checked) if checked else unchecked
    scores = [verdict.score for verdict in judged if verdict.score is not None]
    grounding: Figure = fmean(scores) if scores else NotComputed("no sentence was scored")
    return CitationMetrics(
        citations=len(written),
        fabricated=fabricated,
        existence=existence,
        citation_accuracy=citation_accuracy(found),
        citation_precision=citation_precision(claimed, support),
        citation_completeness=citation_completeness(cited, support),
        citation_quality=citation_quality(existence, points, grounding),
        multi_source_coverage=multi_source_coverage(wants, cited),
        missing=sum(citation.finding is CitationFinding.MISSING for citation in found),
    )


def settle(per_sentence: Sequence[Sequence[Citation]]) -> tuple[tuple[Citation, ...], ...]:
    """Each marker once, in the last sentence it serves, with its best finding among those it serves.

    For reports with lent markers: check every sentence with its own and its lent markers, then settle.
    """
    best: dict[tuple[int, int, tuple[str, ...]], tuple[int, Citation]] = {}
    settled = [[c for c in citations if c.finding is CitationFinding.MISSING] for citations in per_sentence]
    for home, citations in enumerate(per_sentence):
        for citation in citations:
            if citation.finding is not CitationFinding.MISSING:
                key = (citation.start, citation.end, citation.passages)
                held = best.get(key, (home, citation))[1]
                best[key] = (home, min(held, citation, key=_rank))
    for home, citation in best.values():
        settled[home].append(citation)
    return tuple(tuple(sorted(held, key=lambda c: (c.start, c.end))) for held in settled)


def _rank(citation: Citation) -> tuple[int, float]:
    return _RANKS.index(citation.finding), -(citation.score or 0.0)


def _invented(verdict: Verdict) -> set[str]:
    """A name that is no passage's id for each fabricated citation: ids are never empty, nor begin so."""
    fabricated = CitationFinding.FABRICATED
    return {f"\0{c.start}:{c.marker}" for c in verdict.citations if c.finding is fabricated}


def _supporting(verdict: Verdict) -> set[str]:
    """What supports a supported sentence: its evidence, and passages correctly cited of which none is."""
    if verdict.label is not Label.SUPPORTED:
        return set()
    alone = {evidence.passage for evidence in verdict.evidence if evidence.label is Label.SUPPORTED}
    correct = [c.passages for c in verdict.citations if c.finding is CitationFinding.CORRECT]
    return alone.union(*(ids for ids in correct if alone.isdisjoint(ids)))


def _needs(verdict: Verdict) -> int:
    alone = any(evidence.label is Label.SUPPORTED for evidence in verdict.evidence)
    return 2 if verdict.label is Label.SUPPORTED and not alone else 1
