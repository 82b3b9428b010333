"""Metrics that a judge answers; without one they are not computed.

A judge that does not answer makes the case one that went wrong: the figure is not computed, never 0, and the
same command asks again. Criteria are kept as judgments: who judged, what, how, why.
"""

from __future__ import annotations

from typing import Any

from streamverify.evaluate.case import Case
from streamverify.evaluate.judge import questions as asked
from streamverify.evaluate.protocol import Judge, Measured, Need, Tools, metric
from streamverify.figure import NotComputed
from streamverify.types import Report

_FABRICATED = {"none": 1.0, "minor": 0.5, "major": 0.0}


def _judgment(judge: Judge, criterion: str, label: str | float, score: float, reason: str) -> dict[str, Any]:
    told = {"criterion": criterion, "label": label, "score": score, "reason": reason}
    return {"judgment": {**told, "source": "judge", "judge": judge.name}}


def _passages(case: Case) -> list[dict[str, Any]]:
    return [
        {"number": n, "title": p.title or "", "text": p.text} for n, p in enumerate(case.passages or (), 1)
    ]


@metric(needs=(Need.ANSWER, Need.QUESTION, Need.JUDGE))
def answer_relevance(case: Case, report: Report, tools: Tools) -> Measured:  # noqa: ARG001 - the protocol
    """How directly the answer answers the question, 0-1, by the judge."""
    assert tools.judge is not None
    said = tools.judge.ask(asked.RELEVANCE, {"question": case.question, "answer": case.answer})
    return Measured(
        said.score, details=_judgment(tools.judge, "answer_relevance", said.score, said.score, said.reason)
    )


@metric(needs=(Need.ANSWER, Need.QUESTION, Need.REFERENCE, Need.JUDGE), range=(1, 5))
def correctness_1_5(case: Case, report: Report, tools: Tools) -> Measured:  # noqa: ARG001 - as above
    """How right and complete the answer is by the reference, 1-5, by the judge."""
    assert tools.judge is not None
    data = {"question": case.question, "answer": case.answer, "reference": case.reference}
    said = tools.judge.ask(asked.CORRECTNESS, data)
    details = _judgment(tools.judge, "correctness", said.score, float(said.score), said.reason)
    return Measured(float(said.score), details=details)


@metric(needs=(Need.ANSWER, Need.QUESTION, Need.JUDGE), range=(1, 5))
def relevance_1_5(case: Case, report: Report, tools: Tools) -> Measured:  # noqa: ARG001 - as above
    """How directly the answer answers the question, 1-5, by the judge."""
    assert tools.judge is not None
    said = tools.judge.ask(asked.RELEVANCE_GRADE, {"question": case.question, "answer": case.answer})
    details = _judgment(tools.judge, "relevance", said.score, float(said.score), said.reason)
    return Measured(float(said.score), details=details)


@metric(needs=(Need.QUESTION, Need.PASSAGES, Need.JUDGE))
def context_precision_by_judge(case: Case, report: Report | None, tools: Tools) -> Measured:  # noqa: ARG001
    """Mean of precision@i over the ranks i of passages that the judge finds relevant; 0 where none is."""
    assert tools.judge is not None
    if not case.passages:
        return Measured(NotComputed("the texts of the passages are not known"))
    said = tools.judge.ask(asked.RELEVANT, {"question": case.question, "passages": _passages(case)})
    ranks = sorted({number for number in said.numbers if 1 <= number <= len(case.passages)})
    precision = [found / rank for found, rank in enumerate(ranks, 1)]
    figure = sum(precision) / len(precision) if precision else 0.0
    return Measured(figure, details={"relevant": [case.passages[rank - 1].id for rank in ranks]})


@metric(needs=(Need.ANSWER, Need.PASSAGES, Need.JUDGE))
def judged_groundedness(case: Case, report: Report, tools: Tools) -> Measured:  # noqa: ARG001 - as above
    """Share of the answer's statements that the passages show, 0-1, by the judge."""
    assert tools.judge is not None
    if case.passages is None:
        return Measured(NotComputed("the texts of the passages are not known"))
    said = tools.judge.ask(asked.GROUNDEDNESS, {"answer": case.answer, "passages": _passages(case)})
    details = _judgment(tools.judge, "groundedness", said.score, said.score, said.reason)
    return Measured(said.score, details=details)


@metric(needs=(Need.ANSWER, Need.QUESTION, Need.JUDGE), range=(1, 5))
def judged_helpfulness(case: Case, report: Report, tools: Tools) -> Measured:  # noqa: ARG001 - as above
    """How much the answer helps whoever asked, 1-5, by the judge."""
    assert tools.judge is not None
    said = tools.judge.ask(asked.HELPFULNESS, {"question": case.question, "answer": case.answer})
    details = _judgment(tools.judge, "helpfulness", said.score, float(said.score), said.reason)
    return Measured(float(said.score), details=details)


@metric(needs=(Need.ANSWER, Need.PASSAGES, Need.JUDGE))
def judged_non_fabrication(case: Case, report: Report, tools: Tools) -> Measured:  # noqa: ARG001 - as above
    """1 where nothing is made up, 0.5 for details that change nothing, 0 for more, by the judge."""
    assert tools.judge is not None
    if case.passages is None:
        return Measured(NotComputed("the texts of the passages are not known"))
    said = tools.judge.ask(asked.FABRICATION, {"answer": case.answer, "passages": _passages(case)})
    score = _FABRICATED[said.level]
    return Measured(score, details=_judgment(tools.judge, "non_fabrication", said.level, score, said.reason))


METRICS = (
    answer_relevance,
    correctness_1_5,
    relevance_1_5,
    context_precision_by_judge,
    judged_groundedness,
    judged_helpfulness,
    judged_non_fabrication,
)
