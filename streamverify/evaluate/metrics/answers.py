"""What needs no judge about answers and their contexts: likeness, refusals, evidence, latency."""

from __future__ import annotations

import math
from collections.abc import Sequence

from streamverify.evaluate.case import LATENCIES, Case
from streamverify.evaluate.judge.questions import QUESTIONS_FOR
from streamverify.evaluate.metrics.grounding import cosine, scored, statements
from streamverify.evaluate.metrics.refusals import refuses
from streamverify.evaluate.metrics.retrieval import entropy
from streamverify.evaluate.protocol import FunctionMetric, Measured, Need, Tools, metric
from streamverify.figure import Figure, NotComputed
from streamverify.types import Label, Report

QUESTIONS = 3
"""Questions that a judge writes for an answer."""


@metric(needs=(Need.ANSWER, Need.EXPECTED), version="2")
def rejection_calibration(case: Case, report: Report) -> Measured:
    """1 where the case was answered or refused as it should have been; a training cut-off is an excuse."""
    found = "refuse" if refuses(report) else "answer"
    return Measured(float(found == case.expected), details={"expected": case.expected, "found": found})


@metric(needs=(Need.QUESTION, Need.PASSAGES, Need.EMBEDDER), range=(-1, 1))
def context_relevance(case: Case, report: Report | None, tools: Tools) -> Measured:  # noqa: ARG001 - the protocol
    """Mean cosine of the question and each passage; 0 with a warning where nothing was retrieved."""
    assert tools.embedder is not None
    assert case.question is not None
    if case.passages is None:
        return Measured(NotComputed("the texts of the passages are not known"))
    if not case.passages:
        return Measured(0.0, warning="nothing was retrieved")
    question, *vectors = tools.embedder([case.question, *(passage.text for passage in case.passages)])
    alike = [cosine(question, vector) for vector in vectors]
    return Measured(math.fsum(alike) / len(alike), details={"passages": alike})


@metric(needs=(Need.ANSWER, Need.QUESTION, Need.EMBEDDER), range=(-1, 1))
def answer_relevance_by_embedding(case: Case, report: Report, tools: Tools) -> Measured:  # noqa: ARG001 - as above
    """Cosine of question and answer: an approximation of answer relevance, which a judge measures."""
    assert tools.embedder is not None
    question, answer = tools.embedder([case.question or "", case.answer or ""])
    return Measured(cosine(question, answer), warning="an approximation from embeddings alone")


@metric(needs=(Need.ANSWER, Need.QUESTION, Need.EMBEDDER), range=(-1, 1), version="2")
def answer_relevance_by_questions(case: Case, report: Report, tools: Tools) -> Measured:
    """Mean cosine of the question and questions that a judge writes for the answer; 0 where it declines.

    Without a judge the answer's statements stand in for the questions, and a warning says so (Es et al. 2024,
    "RAGAS", section 3, for the first).
    """
    assert tools.embedder is not None
    written, declines, by = _questions_for(case, report, tools)
    warning = "" if tools.judge is not None else "no judge: statements of the answer in place of questions"
    if isinstance(written, NotComputed):
        return Measured(written)
    details = {"by": by, "compared": list(written), "declines": declines}
    if declines:
        return Measured(0.0, details=details, warning=warning)
    question, *vectors = tools.embedder([case.question or "", *written])
    alike = [cosine(question, vector) for vector in vectors]
    return Measured(math.fsum(alike) / len(alike), details={**details, "alike": alike}, warning=warning)


def _questions_for(case: Case, report: Report, tools: Tools) -> tuple[Sequence[str] | NotComputed, bool, str]:
    """What the question is compared with, whether the answer declines, and who says so."""
    if tools.judge is not None:
        said = tools.judge.ask(QUESTIONS_FOR, {"answer": case.answer, "count": QUESTIONS})
        return said.questions, said.declines, tools.judge.name
    declines, claims = refuses(report), statements(report)
    if declines:
        return (), True, "the wording"
    texts = claims if isinstance(claims, NotComputed) else [claim.text.strip() for claim in claims]
    return texts, False, "the answer's statements"


def information_integration(covered: int, facts: int, from_several: int) -> Figure:
    """0.6 reference facts covered + 0.4 synthesis.

    Args:
        covered: reference facts that the answer has, each supported.
        facts: reference facts.
        from_several: covered facts that come from different passages.
    """
    if not facts:
        return NotComputed("the reference has no facts")
    return 0.6 * covered / facts + 0.4 * (from_several / covered if covered else 0.0)


def answer_correctness(
    faithful: Figure, alike: Figure, *, weights: tuple[float, float] = (0.6, 0.4)
) -> Figure:
    """Weighted mean of faithfulness to the reference and semantic similarity; not computed without both."""
    for part in (faithful, alike):
        if isinstance(part, NotComputed):
            return part
    assert isinstance(faithful, float | int)
    assert isinstance(alike, float | int)
    return (weights[0] * faithful + weights[1] * alike) / sum(weights)


def context_recall(attributed: int, stated: int) -> Figure:
    """Reference statements attributable to the passages / reference statements."""
    return attributed / stated if stated else NotComputed("the reference makes no statement")


@metric(needs=(Need.ANSWER, Need.PASSAGES))
def evidence_quality(case: Case, report: Report) -> Measured:
    """0.4 support + 0.3 diversity + 0.2 recency + 0.1 authority of what supports the answer.

    Support is the grounding score; diversity the entropy of which passages are used, 1 where all used ones
    are used alike; recency and authority (0-1) come from the passages' metadata.
    """
    claims = statements(report)
    if isinstance(claims, NotComputed):
        return Measured(claims)
    used = [evidence.passage for c in claims if c.label is Label.SUPPORTED for evidence in c.evidence[:1]]
    held = {p.id: p.metadata for p in case.passages or ()}
    if not used:
        return Measured(NotComputed("no passage supports any sentence"))
    if isinstance(scores := scored(claims), NotComputed):
        return Measured(scores)
    parts = {"support": math.fsum(scores) / len(scores)}
    counts = tuple(float(used.count(one)) for one in sorted(set(used)))
    spread = entropy(counts)
    parts["diversity"] = (
        0.0 if len(counts) == 1 or isinstance(spread, NotComputed) else spread / math.log2(len(counts))
    )
    for name in ("recency", "authority"):
        given = [held.get(one, {}).get(name) for one in sorted(set(used))]
        values = [
            float(v) for v in given if isinstance(v, int | float) and not isinstance(v, bool) and 0 <= v <= 1
        ]
        if len(values) < len(given):
            return Measured(NotComputed(f"a passage's metadata has no {name} between 0 and 1"))
        parts[name] = math.fsum(values) / len(values)
    weights = {"support": 0.4, "diversity": 0.3, "recency": 0.2, "authority": 0.1}
    return Measured(min(math.fsum(weights[name] * part for name, part in parts.items()), 1.0), details=parts)


def _latency(part: str) -> FunctionMetric:
    def latency(case: Case) -> float | NotComputed:
        return case.latency_ms.get(part, NotComputed(f"the case records no latency of {part}"))

    latency.__doc__ = f"Milliseconds of {part.replace('_', ' ')}, as measured when the answer was made."
    return metric(needs=(Need.LATENCY,), name=f"latency_{part}_ms", range=(0, None), higher_is_better=False)(
        latency
    )


METRICS = (
    rejection_calibration,
    context_relevance,
    answer_relevance_by_embedding,
    answer_relevance_by_questions,
    evidence_quality,
    *(_latency(part) for part in LATENCIES),
)
