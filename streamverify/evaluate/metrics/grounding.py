"""How far the passages carry an answer: figures of its statements.

A statement is a sentence that makes a claim. One whose check did not run could be anything, so that a figure
over it is not computed: leaving it out would let an answer look better for not having been checked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from streamverify.evaluate.case import Case
from streamverify.evaluate.protocol import Measured, Need, Tools, metric
from streamverify.evaluate.stats import normal, wilson
from streamverify.figure import Figure, NotComputed, share
from streamverify.types import CitationFinding, FindingKind, JudgedSentence, Label, Report

NO_CLAIM = "no claim in the answer"
_UNCHECKED = "a sentence was not checked"
CONTRADICTS = 0.5
"""Probability at which a passage counts as contradicted by the answer."""
SINGLE = 0.8
"""Probability at which one passage by itself carries a statement."""

_ON_ANSWER = (Need.ANSWER, Need.PASSAGES)


def statements(report: Report) -> tuple[JudgedSentence, ...] | NotComputed:
    """The sentences that make a claim, every one checked; why not, otherwise."""
    claims = tuple(sentence for sentence in report.sentences if sentence.label is not Label.NO_CLAIM)
    unchecked = {s.reason for s in claims if s.label is Label.UNVERIFIED}
    if unchecked:
        return not_checked(unchecked)
    return claims or NotComputed(NO_CLAIM, nothing=True)


def not_checked(reasons: Iterable[str]) -> NotComputed:
    """That sentences were not checked, and why not."""
    return NotComputed(f"{_UNCHECKED} ({', '.join(sorted(reasons))})")


def is_unchecked(reason: str) -> bool:
    """Whether it is the reason that `not_checked` gives."""
    return reason.startswith(_UNCHECKED)


def scored(claims: Sequence[JudgedSentence]) -> list[float] | NotComputed:
    """The probability of each statement; why not, where one has none, which could be any."""
    scores = [claim.score for claim in claims if claim.score is not None]
    return scores if len(scores) == len(claims) else NotComputed("a statement has no score")


def weighted(flags: Sequence[bool], weights: Sequence[float]) -> Figure:
    """Sum of the weights of what is flagged / sum of all weights, each 0 or more."""
    whole = math.fsum(weights)
    return share(
        math.fsum(w for w, flag in zip(weights, flags, strict=True) if flag), whole, "all weights are 0"
    )


def _rate(report: Report, counts: Callable[[JudgedSentence], bool]) -> Measured:
    claims = statements(report)
    if isinstance(claims, NotComputed):
        return Measured(claims)
    found = [sentence.index for sentence in claims if counts(sentence)]
    return Measured(len(found) / len(claims), (len(found), len(claims)), {"sentences": found})


@metric(needs=_ON_ANSWER)
def faithfulness(case: Case, report: Report) -> Measured:  # noqa: ARG001 - the protocol's signature
    """Supported statements / statements; the details hold intervals of this answer's share.

    They take its statements for independent, which suits one answer and no run: over cases the run's own
    interval counts.
    """
    found = _rate(report, lambda sentence: sentence.label is Label.SUPPORTED)
    if found.parts is None:
        return found
    supported, whole = (int(part) for part in found.parts)
    return replace(found, details={**found.details, "intervals": intervals(supported, whole)})


def intervals(supported: int, whole: int) -> dict[str, list[float] | str]:
    """Wilson's interval of a share and the normal approximation, or why there is none; plain JSON values."""
    made = {"wilson": wilson(supported, whole), "normal": normal(supported, whole)}
    return {
        name: one.reason if isinstance(one, NotComputed) else [one.low, one.high]
        for name, one in made.items()
    }


@metric(needs=_ON_ANSWER)
def faithfulness_weighted(case: Case, report: Report) -> Measured:  # noqa: ARG001 - as above
    """As faithfulness, each statement weighing 1 / its position among them: what comes first counts most."""
    claims = statements(report)
    if isinstance(claims, NotComputed):
        return Measured(claims)
    weights = [1 / place for place in range(1, len(claims) + 1)]
    return Measured(weighted([claim.label is Label.SUPPORTED for claim in claims], weights))


@metric(needs=(*_ON_ANSWER, Need.QUESTION, Need.EMBEDDER))
def faithfulness_weighted_importance(case: Case, report: Report, tools: Tools) -> Measured:
    """As faithfulness, each statement weighing its likeness to the question (cosine, at least 0)."""
    claims = statements(report)
    if isinstance(claims, NotComputed):
        return Measured(claims)
    assert tools.embedder is not None
    assert case.question is not None
    question, *vectors = tools.embedder([case.question, *(claim.text.strip() for claim in claims)])
    weights = [max(cosine(question, vector), 0.0) for vector in vectors]
    return Measured(
        weighted([claim.label is Label.SUPPORTED for claim in claims], weights), details={"weights": weights}
    )


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """Cosine of two vectors, -1 to 1; 0 where one has no length."""
    lengths = math.sqrt(math.fsum(x * x for x in a)) * math.sqrt(math.fsum(y * y for y in b))
    product = math.fsum(x * y for x, y in zip(a, b, strict=True))
    return min(max(product / lengths, -1.0), 1.0) if lengths else 0.0


@metric(needs=_ON_ANSWER)
def grounding_score(case: Case, report: Report) -> Measured:  # noqa: ARG001 - as above
    """Mean over statements of the calibrated probability that they are supported, as in live reports."""
    claims = statements(report)
    if isinstance(claims, NotComputed):
        return Measured(claims)
    if isinstance(scores := scored(claims), NotComputed):
        return Measured(scores)
    per_statement = [
        {
            "sentence": claim.index,
            "score": claim.score,
            "passage": claim.evidence[0].passage if claim.evidence else None,
        }
        for claim in claims
    ]
    return Measured(math.fsum(scores) / len(scores), details={"per_statement": per_statement})


@metric(needs=_ON_ANSWER)
def multi_doc_grounding(case: Case, report: Report) -> Measured:  # noqa: ARG001 - as above
    """As grounding_score, with what the best passage says alone where that is at least 0.8.

    Where no passage carries a statement alone, the better of that passage and the reading of the best windows
    together counts, which the calibrated probability weighs.
    """
    claims = statements(report)
    if isinstance(claims, NotComputed):
        return Measured(claims)
    if isinstance(scores := scored(claims), NotComputed):
        return Measured(scores)
    read = zip(claims, scores, strict=True)
    return Measured(math.fsum(combined(alone(claim), score) for claim, score in read) / len(claims))


def combined(single: float, together: float) -> float:
    """One statement's probability from its best single passage and from all passages together."""
    return single if single >= SINGLE else max(single, together)


def alone(sentence: JudgedSentence) -> float:
    """Probability that the best single passage supports a sentence; 0 where none does."""
    return max((e.score for e in sentence.evidence if e.label is Label.SUPPORTED), default=0.0)


@metric(needs=_ON_ANSWER, higher_is_better=False, combination="pooled")
def hallucination_rate(case: Case, report: Report) -> Measured:  # noqa: ARG001 - as above
    """Statements unsupported or contradicted / statements."""
    return _rate(report, lambda sentence: sentence.label is not Label.SUPPORTED)


@metric(needs=_ON_ANSWER, higher_is_better=False, combination="pooled")
def contradicted_contexts(case: Case, report: Report) -> Measured:
    """Passages that the answer contradicts / passages; from the evidence that verdicts show."""
    claims, ids = statements(report), case.passage_ids or ()
    if isinstance(claims, NotComputed):
        return Measured(claims)
    against = {
        evidence.passage
        for sentence in claims
        for evidence in sentence.evidence
        if evidence.label is Label.CONTRADICTED and evidence.score >= CONTRADICTS
    }
    found = [one for one in ids if one in against]
    return Measured(
        share(len(found), len(ids), "there is no passage"), (len(found), len(ids)), {"passages": found}
    )


@metric(needs=_ON_ANSWER, combination="pooled")
def grounded_claim_rate(case: Case, report: Report) -> Measured:  # noqa: ARG001 - as above
    """Statements supported by passages that they cite / statements."""
    correct = CitationFinding.CORRECT
    return _rate(
        report,
        lambda s: s.label is Label.SUPPORTED and any(citation.finding is correct for citation in s.citations),
    )


def conflicts_in(report: Report) -> dict[tuple[str, str], bool]:
    """Pairs of passages that disagree about a statement, and whether the answer acknowledges it.

    It does where it cites both, where it tells what each of them says in sentences of their own, or where a
    sentence speaks of a disagreement.
    """
    pairs: dict[tuple[str, str], list[JudgedSentence]] = {}
    for sentence in report.sentences:
        if not any(finding.kind is FindingKind.SOURCE_CONFLICT for finding in sentence.findings):
            continue
        for one in _saying(sentence, Label.SUPPORTED):
            for other in _saying(sentence, Label.CONTRADICTED):
                if one != other:
                    pairs.setdefault((min(one, other), max(one, other)), []).append(sentence)
    return {pair: _acknowledged(pair, places, report.sentences) for pair, places in sorted(pairs.items())}


def _saying(sentence: JudgedSentence, label: Label) -> list[str]:
    return [e.passage for e in sentence.evidence if e.label is label and e.score >= CONTRADICTS]


_DISAGREEING = re.compile(
    r"\b(?:conflict\w*|contradict\w*|disagree\w*|differ\b|differs\b|inconsisten\w*|discrepan\w*|whereas|superseded)\b",
    re.IGNORECASE,
)


def _acknowledged(
    pair: tuple[str, str], places: Sequence[JudgedSentence], sentences: Iterable[JudgedSentence]
) -> bool:
    cited = {id_ for sentence in places for citation in sentence.citations for id_ in citation.passages}
    told = {e.passage for s in sentences if s.label is Label.SUPPORTED for e in s.evidence[:1]}
    spoken = any(_DISAGREEING.search(sentence.text) for sentence in sentences)
    return set(pair) <= cited or set(pair) <= told or spoken


@metric(needs=_ON_ANSWER, higher_is_better=False, combination="sum", range=(0, None))
def source_conflicts(case: Case, report: Report) -> Measured:  # noqa: ARG001 - as above
    """Pairs of passages that contradict each other about a statement of the answer."""
    return _about_conflicts(report, lambda found: Measured(float(len(found)), details=_told(found)))


@metric(needs=_ON_ANSWER, combination="pooled")
def source_conflicts_acknowledged(case: Case, report: Report) -> Measured:  # noqa: ARG001 - as above
    """Conflicts that the answer acknowledges / conflicts."""

    def rate(found: Mapping[tuple[str, str], bool]) -> Measured:
        parts = (sum(found.values()), len(found))
        return Measured(share(*parts, "no passages contradict each other here"), parts, _told(found))

    return _about_conflicts(report, rate)


@metric(needs=(*_ON_ANSWER, Need.CONFLICTS), combination="pooled")
def source_conflict_recall(case: Case, report: Report) -> Measured:
    """Labelled conflicts that were detected / labelled conflicts."""
    actual = {(min(pair), max(pair)) for pair in case.conflicts or ()}

    def rate(found: Mapping[tuple[str, str], bool]) -> Measured:
        parts = (len(actual & set(found)), len(actual))
        return Measured(share(*parts, "no conflict is labelled"), parts, _told(found))

    return _about_conflicts(report, rate)


def _about_conflicts(
    report: Report, measure: Callable[[Mapping[tuple[str, str], bool]], Measured]
) -> Measured:
    claims = statements(report)
    return Measured(claims) if isinstance(claims, NotComputed) else measure(conflicts_in(report))


def _told(found: Mapping[tuple[str, str], bool]) -> dict[str, list[dict[str, object]]]:
    return {"pairs": [{"passages": list(pair), "acknowledged": seen} for pair, seen in found.items()]}


METRICS = (
    faithfulness,
    faithfulness_weighted,
    faithfulness_weighted_importance,
    grounding_score,
    multi_doc_grounding,
    hallucination_rate,
    contradicted_contexts,
    grounded_claim_rate,
    source_conflicts,
    source_conflicts_acknowledged,
    source_conflict_recall,
)
