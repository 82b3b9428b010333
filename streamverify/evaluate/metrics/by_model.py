"""Metrics with a reference answer that the scorer itself can tell, without a judge.

Each checks one text against another with the verifier of the evaluation: the same model, thresholds and
labels as everywhere. The details say that it was the scorer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

from streamverify.errors import UsageError
from streamverify.evaluate.case import Case
from streamverify.evaluate.judge.questions import RELEVANT_SENTENCES, SIMILARITY
from streamverify.evaluate.metrics import answers
from streamverify.evaluate.metrics.grounding import (
    NO_CLAIM,
    SINGLE,
    alone,
    combined,
    cosine,
    scored,
    statements,
)
from streamverify.evaluate.protocol import FunctionMetric, Measured, Need, Tools, metric
from streamverify.figure import Figure, NotComputed
from streamverify.sentences.segmenter import SentenceSegmenter
from streamverify.types import JudgedSentence, Label, Passage, Report

BY = "the scorer"
MOST_SAMPLES = 20
"""Sampled answers of a case that are compared, each with each."""
MOST_SENTENCES = 200
"""Sentences of a case's passages that are looked at one by one."""
MOST_PAIRED = 10
"""Passages of a case that are read in pairs: 45 of them."""


def _checked(
    tools: Tools, text: str, passages: Sequence[Passage], *, what: str = "the reference"
) -> tuple[JudgedSentence, ...] | NotComputed:
    """The statements of a text, judged by these passages; `what` names the text where it makes none."""
    if tools.check is None:
        return NotComputed("no verifier was given")
    found = statements(tools.check(text, passages))
    if isinstance(found, NotComputed) and found.reason == NO_CLAIM:
        return NotComputed(f"no claim in {what}")
    return found


def _as_passage(reference: str | None) -> list[Passage]:
    return [Passage("reference", reference or "")]


def shares_by_reference(case: Case, tools: Tools) -> tuple[float, float] | NotComputed:
    """Share of the answer's statements that the reference supports, and the other way round."""
    told = _checked(tools, case.answer or "", _as_passage(case.reference), what="the answer")
    wanted = _checked(tools, case.reference or "", [Passage("answer", case.answer or "")])
    if isinstance(told, NotComputed):
        return told
    if isinstance(wanted, NotComputed):
        return wanted
    return len(_supported(told)) / len(told), len(_supported(wanted)) / len(wanted)


def _supported(claims: Sequence[JudgedSentence]) -> list[int]:
    return [claim.index for claim in claims if claim.label is Label.SUPPORTED]


@metric(needs=(Need.REFERENCE, Need.PASSAGES), combination="pooled")
def context_recall(case: Case, report: Report | None, tools: Tools) -> Measured:  # noqa: ARG001 - the protocol
    """Statements of the reference that the passages support / statements of the reference."""
    if case.passages is None:
        return Measured(NotComputed("the texts of the passages are not known"))
    claims = _checked(tools, case.reference or "", case.passages)
    if isinstance(claims, NotComputed):
        return Measured(claims)
    parts = (len(_supported(claims)), len(claims))
    return Measured(answers.context_recall(*parts), parts, {"by": BY, "attributed": _supported(claims)})


@metric(needs=(Need.ANSWER, Need.REFERENCE), combination="pooled")
def reference_coverage(case: Case, report: Report, tools: Tools) -> Measured:  # noqa: ARG001 - as above
    """Statements of the reference that the answer makes / statements of the reference."""
    claims = _checked(tools, case.reference or "", [Passage("answer", case.answer or "")])
    if isinstance(claims, NotComputed):
        return Measured(claims)
    parts = (len(_supported(claims)), len(claims))
    return Measured(parts[0] / parts[1], parts, {"by": BY, "covered": _supported(claims)})


def answer_correctness_weighted(faithful: float = 0.6, alike: float = 0.4) -> FunctionMetric:
    """The metric `answer_correctness` with weights of one's own, which enter its version.

    Raises:
        UsageError: a weight is below 0, or both are 0. Caller.
    """
    if min(faithful, alike) < 0 or not faithful + alike > 0:
        raise UsageError("the weights of answer_correctness must be 0 or more, and one of them above 0")
    weights = (faithful, alike)

    def correctness(case: Case, report: Report, tools: Tools) -> Measured:  # noqa: ARG001 - the protocol
        claims = _checked(tools, case.answer or "", _as_passage(case.reference), what="the answer")
        if isinstance(claims, NotComputed):
            return Measured(claims)
        found = len(_supported(claims)) / len(claims)
        likeness, by = _alike(case, tools)
        details = {
            "by": BY,
            "faithful": found,
            "alike": None if isinstance(likeness, NotComputed) else likeness,
            "alike_by": by,
        }
        return Measured(answers.answer_correctness(found, likeness, weights=weights), details=details)

    correctness.__doc__ = (
        f"{faithful:g} statements of the answer that the reference supports + {alike:g} likeness of meaning."
        "\n\nLikeness is the cosine of embeddings (at least 0), or a judge's degree where no embedder was "
        "given."
    )
    version = "1" if weights == (0.6, 0.4) else f"1 weights {faithful:g} {alike:g}"
    return metric(needs=(Need.ANSWER, Need.REFERENCE), name="answer_correctness", version=version)(
        correctness
    )


answer_correctness = answer_correctness_weighted()


def _alike(case: Case, tools: Tools) -> tuple[Figure, str]:
    if tools.embedder is not None:
        pair = tools.embedder([case.answer or "", case.reference or ""])
        return max(cosine(pair[0], pair[1]), 0.0), tools.embedder.name
    if tools.judge is not None:
        said = tools.judge.ask(SIMILARITY, {"answer": case.answer, "reference": case.reference})
        return said.score, tools.judge.name
    return NotComputed("neither an embedder nor a judge was given"), ""


@metric(needs=(Need.ANSWER, Need.REFERENCE, Need.PASSAGES))
def information_integration(case: Case, report: Report, tools: Tools) -> Measured:  # noqa: ARG001 - as above
    """0.6 reference facts that the answer covers + 0.4 synthesis.

    Synthesis is the share of covered facts that passages support, where they come from at least two different
    passages; 0 where one passage tells all of them.
    """
    if case.passages is None:
        return Measured(NotComputed("the texts of the passages are not known"))
    told = _checked(tools, case.reference or "", [Passage("answer", case.answer or "")])
    sourced = _checked(tools, case.reference or "", case.passages)
    if isinstance(told, NotComputed) or isinstance(sourced, NotComputed):
        return Measured(told if isinstance(told, NotComputed) else sourced)  # type: ignore[arg-type]
    covered = set(_supported(told))
    source = {
        claim.index: claim.evidence[0].passage
        for claim in sourced
        if claim.index in covered and claim.label is Label.SUPPORTED and claim.evidence
    }
    several = len(source) if len(set(source.values())) > 1 else 0
    return Measured(
        answers.information_integration(len(covered), len(told), several),
        details={"by": BY, "covered": sorted(covered), "from": {str(k): v for k, v in source.items()}},
    )


@metric(needs=(Need.ANSWER,), higher_is_better=False)
def answer_uncertainty(case: Case, report: Report, tools: Tools) -> Measured:  # noqa: ARG001 - as above
    """Entropy over answers sampled for one question, grouped by mutual entailment, 0 (all agree) to 1.

    The samples are `metadata.samples`, at least two texts. Two answers are of one group where the scorer
    finds every statement of each supported by the other (Kuhn et al. 2023, "Semantic uncertainty").
    """
    samples = case.metadata.get("samples")
    if not isinstance(samples, list) or len(samples) < 2 or not all(isinstance(s, str) for s in samples):
        return Measured(NotComputed("the case has no samples: at least two in metadata.samples"))
    if len(samples) > MOST_SAMPLES:
        return Measured(NotComputed(f"more than {MOST_SAMPLES} samples"))
    group = list(range(len(samples)))
    for first, second in combinations(range(len(samples)), 2):
        if group[second] != second or group[first] != first:
            continue
        alike = _entails(tools, samples[first], samples[second])
        back = _entails(tools, samples[second], samples[first]) if alike is True else alike
        if isinstance(back, NotComputed):
            return Measured(back)
        if back:
            group[second] = first
    sizes = [group.count(one) for one in sorted(set(group))]
    spread = -math.fsum(n / len(samples) * math.log2(n / len(samples)) for n in sizes)
    return Measured(min(max(spread / math.log2(len(samples)), 0.0), 1.0), details={"by": BY, "groups": group})


def _entails(tools: Tools, premise: str, text: str) -> bool | NotComputed:
    if premise.split() == text.split():
        return True
    claims = _checked(tools, text, [Passage("sample", premise)], what="a sample")
    if isinstance(claims, NotComputed):
        return claims
    return len(_supported(claims)) == len(claims)


@metric(needs=(Need.PASSAGES,), combination="pooled")
def context_precision_by_sentence(case: Case, report: Report | None, tools: Tools) -> Measured:  # noqa: ARG001
    """Relevant sentences of the passages / sentences of the passages.

    A judge says which help to answer the question. Without one the scorer tells: those that by themselves
    support a statement of the reference, so that one which tells only half of a statement does not count.
    """
    if case.passages is None:
        return Measured(NotComputed("the texts of the passages are not known"))
    sentences = [text for passage in case.passages for text in _sentences(passage.text)]
    if len(sentences) > MOST_SENTENCES:
        return Measured(NotComputed(f"the passages have more than {MOST_SENTENCES} sentences"))
    if not sentences:
        return Measured(NotComputed("there is no passage"))
    if tools.judge is not None and case.question:
        rows = [{"number": number, "text": text} for number, text in enumerate(sentences, 1)]
        said = tools.judge.ask(RELEVANT_SENTENCES, {"question": case.question, "sentences": rows})
        relevant, by = {number for number in said.numbers if 1 <= number <= len(rows)}, tools.judge.name
    elif case.reference:
        relevant, by = set[int](), BY
        for number, text in enumerate(sentences, 1):
            claims = _checked(tools, case.reference, [Passage("sentence", text)])
            if isinstance(claims, NotComputed):
                return Measured(claims)
            if _supported(claims):
                relevant.add(number)
    else:
        return Measured(NotComputed("neither a judge with a question nor a reference was given"))
    parts = (len(relevant), len(sentences))
    return Measured(parts[0] / parts[1], parts, {"by": by, "relevant": sorted(relevant)})


def _sentences(text: str) -> list[str]:
    segmenter = SentenceSegmenter()
    cut = [*segmenter.feed(text), *segmenter.flush()]
    return [sentence.text.strip() for sentence in cut if sentence.text.strip()]


@metric(needs=(Need.ANSWER, Need.PASSAGES))
def multi_doc_grounding_by_pairs(case: Case, report: Report, tools: Tools) -> Measured:
    """As multi_doc_grounding, with every pair of passages read for what no single passage carries.

    A statement is read with a pair apart from its answer: one that leans on the sentence before it ("It has
    two wheels.") may find less support than in the report.
    """
    claims = statements(report)
    if isinstance(claims, NotComputed):
        return Measured(claims)
    if case.passages is None:
        return Measured(NotComputed("the texts of the passages are not known"))
    if len(case.passages) > MOST_PAIRED:
        return Measured(NotComputed(f"more than {MOST_PAIRED} passages"))
    if isinstance(scores := scored(claims), NotComputed):
        return Measured(scores)
    total, used = 0.0, {}
    for claim, together in zip(claims, scores, strict=True):
        best = combined(alone(claim), together)
        if alone(claim) < SINGLE:
            for pair in combinations(case.passages, 2):
                read = _checked(tools, claim.text, pair)
                if isinstance(read, NotComputed):
                    continue  # apart from its answer it claims nothing: the report's reading stands
                score = min(one.score or 0.0 for one in read)
                if score > best:
                    best, used[str(claim.index)] = score, [passage.id for passage in pair]
        total += best
    return Measured(total / len(claims), details={"by": BY, "pairs": used})


METRICS = (
    context_precision_by_sentence,
    multi_doc_grounding_by_pairs,
    context_recall,
    reference_coverage,
    answer_correctness,
    information_integration,
    answer_uncertainty,
)
