"""The d2d profile: faithfulness, precision and recall of the retrieved chunks on a scale from 1 to 5.

Without passages faithfulness and recall are full marks with a warning, as the profile has it; precision is
then not computed, and neither is the score. Correctness is a judge's grade; without a judge the scorer tells
it from the reference and says so. Relevance weighs nothing: `relevance_1_5`, a judge's, stands beside.
"""

from __future__ import annotations

from streamverify.evaluate.case import Case
from streamverify.evaluate.metrics.by_model import BY, shares_by_reference
from streamverify.evaluate.metrics.grounding import NO_CLAIM, statements
from streamverify.evaluate.metrics.judged import correctness_1_5
from streamverify.evaluate.protocol import ABSENT, Measured, Need, Tools, metric, unmet
from streamverify.figure import Figure, NotComputed
from streamverify.types import CitationFinding, Label, Report

WEIGHTS = {"faithfulness": 0.4, "precision": 0.2, "recall": 0.2, "correctness": 0.2, "relevance": 0.0}
"""Of the profile's score."""

_SCALE = (1.0, 5.0)
_UNCHECKED = "no passages: full marks without anything having been checked"
_NEEDS = (Need.ANSWER, Need.PASSAGES)


def on_scale(figure: Figure) -> Figure:
    """A share (0-1) on the scale from 1 to 5."""
    return figure if isinstance(figure, NotComputed) else 1 + 4 * figure


def profile_score(parts: dict[str, Figure]) -> Figure:
    """The weighted mean of the five parts, each 1-5; not computed where one that weighs anything is not."""
    total = 0.0
    for name, weight in WEIGHTS.items():
        part = parts.get(name, NotComputed(f"{name} is missing"))
        if isinstance(part, NotComputed):
            if weight:
                return NotComputed(f"{name}: {part.reason}")
            continue
        total += weight * part
    return total / sum(WEIGHTS.values())


def _supported(case: Case, report: Report) -> Measured:
    if not case.passage_ids:
        return Measured(5.0, warning=_UNCHECKED)
    claims = statements(report)
    if isinstance(claims, NotComputed):
        return Measured(claims)
    supported = sum(claim.label is Label.SUPPORTED for claim in claims)
    return Measured(on_scale(supported / len(claims)))


@metric(needs=_NEEDS, range=_SCALE)
def d2d_faithfulness(case: Case, report: Report) -> Measured:
    """Supported statements / statements, 1-5."""
    return _supported(case, report)


@metric(needs=_NEEDS, range=_SCALE)
def d2d_recall(case: Case, report: Report) -> Measured:
    """Facts of the answer that the chunks cover / facts of the answer, 1-5."""
    return _supported(case, report)


@metric(needs=_NEEDS, range=_SCALE)
def d2d_precision(case: Case, report: Report) -> Measured:
    """Chunks that the answer uses / chunks, 1-5."""
    ids = case.passage_ids or ()
    if not ids:
        return Measured(NotComputed("there is no passage"))
    claims = statements(report)
    if isinstance(claims, NotComputed) and claims.reason != NO_CLAIM:
        return Measured(claims)
    told = [] if isinstance(claims, NotComputed) else claims
    used = {e.passage for claim in told for e in claim.evidence if e.label is Label.SUPPORTED}
    correct = CitationFinding.CORRECT
    used |= {one for claim in told for c in claim.citations if c.finding is correct for one in c.passages}
    return Measured(on_scale(len(used & set(ids)) / len(ids)), details={"used": sorted(used & set(ids))})


@metric(needs=(Need.ANSWER, Need.REFERENCE), range=_SCALE)
def d2d_correctness(case: Case, report: Report, tools: Tools) -> Measured:
    """How right and complete the answer is by the reference, 1-5, by the judge.

    Without a judge it is 1 + 4 F, F being the harmonic mean of the answer's statements that the reference
    supports and of the reference's that the answer supports; a warning says so.
    """
    if unmet(correctness_1_5, case, tools) is None:
        return correctness_1_5(case, report, tools)
    shares = shares_by_reference(case, tools)
    if isinstance(shares, NotComputed):
        return Measured(shares)
    right, complete = shares
    both = 2 * right * complete / (right + complete) if right + complete else 0.0
    why = ABSENT[Need.QUESTION if tools.judge is not None else Need.JUDGE]
    details = {"by": BY, "right": right, "complete": complete}
    return Measured(on_scale(both), details=details, warning=f"by {BY} in place of a judge: {why}")


@metric(needs=_NEEDS, range=_SCALE)
def d2d(case: Case, report: Report, tools: Tools) -> Measured:
    """0.4 faithfulness + 0.2 precision + 0.2 recall + 0.2 correctness, each 1-5."""
    found = {
        "faithfulness": d2d_faithfulness(case, report, tools),
        "precision": d2d_precision(case, report, tools),
        "recall": d2d_recall(case, report, tools),
    }
    gap = unmet(d2d_correctness, case, tools)
    found["correctness"] = Measured(gap) if gap is not None else d2d_correctness(case, report, tools)
    parts: dict[str, Figure] = {name: one.figure for name, one in found.items()}
    told = {
        name: {"not computed": part.reason} if isinstance(part, NotComputed) else part
        for name, part in parts.items()
    }
    warnings = dict.fromkeys(one.warning for one in found.values() if one.warning)
    return Measured(profile_score(parts), details={"parts": told}, warning="; ".join(warnings))


METRICS = (d2d_faithfulness, d2d_precision, d2d_recall, d2d_correctness, d2d)
