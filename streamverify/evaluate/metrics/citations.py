"""How an answer cites: the figures of its report, with the parts that make them poolable.

What each citation is worth was decided by the live half; here it is only counted. The live half leaves a
sentence that was not checked out of its figures; here it takes away those of the answer that go by what was
checked, since an answer must not look better for it.
"""

from __future__ import annotations

import re

from streamverify.evaluate.case import Case
from streamverify.evaluate.metrics.grounding import not_checked
from streamverify.evaluate.protocol import Measured, Need, metric
from streamverify.figure import NotComputed, share
from streamverify.types import Citation, CitationFinding, JudgedSentence, Label, Report

_ON_ANSWER = (Need.ANSWER, Need.PASSAGES)
_WORD = re.compile(r"\w+")
_ALIKE = 0.5
"""Share of common words (Jaccard) from which a sentence is taken for a labelled claim."""


def _unchecked(report: Report, *, cited: bool) -> NotComputed | None:
    """That a sentence was not checked; None where all were.

    Args:
        report: of the live half.
        cited: look at sentences that carry a marker alone.
    """
    reasons = {
        sentence.reason
        for sentence in report.sentences
        if sentence.label is Label.UNVERIFIED and (_cites(sentence) or not cited)
    }
    return not_checked(reasons) if reasons else None


def _cites(sentence: JudgedSentence) -> bool:
    return any(citation.finding is not CitationFinding.MISSING for citation in sentence.citations)


def _given(report: Report, name: str, value: float | None, *, cited: bool = False) -> Measured:
    """A figure of the report as it stands there, unless a sentence that it goes by was not checked."""
    if (gap := _unchecked(report, cited=cited)) is not None:
        return Measured(gap)
    if value is not None:
        return Measured(value)
    return Measured(_gap(report, name, f"the report has no {name}"))


def _gap(report: Report, name: str, otherwise: str) -> NotComputed:
    """Why the report has no such figure; an answer that makes no claim has nothing to cite for."""
    nothing = all(sentence.label is Label.NO_CLAIM for sentence in report.sentences)
    return NotComputed(report.citation_figures.not_computed.get(name, otherwise), nothing)


def _share(report: Report, name: str, part: int, whole: int) -> Measured:
    figure = part / whole if whole else _gap(report, name, "the answer carries no citation")
    return Measured(figure, (part, whole))


def _citations(report: Report) -> list[Citation]:
    return [citation for sentence in report.sentences for citation in sentence.citations]


@metric(needs=_ON_ANSWER, combination="pooled")
def citation_existence(case: Case, report: Report) -> Measured:  # noqa: ARG001 - the protocol's signature
    """Markers that mean a passage / markers."""
    figures = report.citation_figures
    return _share(report, "existence", figures.citations - figures.fabricated, figures.citations)


@metric(needs=_ON_ANSWER, combination="pooled")
def citation_accuracy(case: Case, report: Report) -> Measured:  # noqa: ARG001 - as above
    """Correct citations / citations that were checked."""
    if (gap := _unchecked(report, cited=True)) is not None:
        return Measured(gap)
    uncounted = {CitationFinding.MISSING, CitationFinding.UNVERIFIED}
    found = [citation.finding for citation in _citations(report) if citation.finding not in uncounted]
    return _share(report, "accuracy", found.count(CitationFinding.CORRECT), len(found))


@metric(needs=_ON_ANSWER)
def citation_precision(case: Case, report: Report) -> Measured:  # noqa: ARG001 - as above
    """Supporting cited passages / cited passages."""
    return _given(report, "precision", report.citation_figures.precision, cited=True)


@metric(needs=_ON_ANSWER)
def citation_completeness(case: Case, report: Report) -> Measured:  # noqa: ARG001 - as above
    """Supporting cited passages / supporting passages."""
    return _given(report, "completeness", report.citation_figures.completeness)


@metric(needs=_ON_ANSWER)
def citation_quality(case: Case, report: Report) -> Measured:  # noqa: ARG001 - as above
    """0.4 existence + 0.3 accuracy in points, which are steps of each citation's score, + 0.3 grounding."""
    return _given(report, "quality", report.citation_figures.quality)


@metric(needs=_ON_ANSWER)
def multi_source_coverage(case: Case, report: Report) -> Measured:  # noqa: ARG001 - as above
    """Claims that need several passages and cite as many / claims that need several."""
    figures = report.citation_figures
    return _given(report, "multi_source_coverage", figures.multi_source_coverage)


@metric(needs=_ON_ANSWER, higher_is_better=False, combination="sum", range=(0, None))
def citation_fabricated(case: Case, report: Report) -> Measured:  # noqa: ARG001 - as above
    """Markers that mean no passage."""
    return Measured(float(report.citation_figures.fabricated))


@metric(needs=_ON_ANSWER, higher_is_better=False, combination="sum", range=(0, None))
def citation_missing(case: Case, report: Report) -> Measured:  # noqa: ARG001 - as above
    """Claims without a marker where the verifier's options require one."""
    return Measured(float(report.citation_figures.missing))


@metric(needs=_ON_ANSWER, combination="pooled")
def citation_coverage(case: Case, report: Report) -> Measured:  # noqa: ARG001 - as above
    """Statements that carry a marker / statements."""
    claims = [sentence for sentence in report.sentences if sentence.label is not Label.NO_CLAIM]
    carried = [sentence for sentence in claims if _cites(sentence)]
    if not claims:
        return Measured(NotComputed("no claim in the answer", nothing=True), (0, 0))
    return Measured(len(carried) / len(claims), (len(carried), len(claims)))


@metric(needs=(*_ON_ANSWER, Need.CLAIMS), combination="pooled")
def citation_match(case: Case, report: Report) -> Measured:
    """Labelled claims whose sentence cites the labelled passage / labelled claims found in the answer."""
    matched = found = 0
    details = []
    for claim, source in case.claims:
        place = _sentence_of(claim, report)
        if place is None:
            continue
        found += 1
        cited = {one for citation in report.sentences[place].citations for one in citation.passages}
        matched += source in cited
        details.append({"claim": claim, "sentence": place, "cited": sorted(cited), "labelled": source})
    figure = share(matched, found, "no labelled claim was found in the answer")
    return Measured(figure, (matched, found), {"claims": details})


def _sentence_of(claim: str, report: Report) -> int | None:
    """Position of the sentence that makes a labelled claim; None where none does."""
    wanted = _words(claim)
    best: tuple[float, int] | None = None
    for place, sentence in enumerate(report.sentences):
        words = _words(sentence.text)
        alike = len(wanted & words) / len(wanted | words) if wanted | words else 0.0
        likeness = 1.0 if claim.strip().casefold() in sentence.text.casefold() else alike
        if likeness >= _ALIKE and (best is None or likeness > best[0]):
            best = (likeness, place)
    return None if best is None else best[1]


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


METRICS = (
    citation_existence,
    citation_accuracy,
    citation_precision,
    citation_completeness,
    citation_quality,
    multi_source_coverage,
    citation_fabricated,
    citation_missing,
    citation_coverage,
    citation_match,
)
