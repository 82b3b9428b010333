"""How well the right documents were found, by rank, through pytrec_eval.

Ranks go in and never scores: pytrec_eval breaks ties of scores by document id. A query without a relevant
document is not computed; a labelled query that retrieved nothing is a real 0.
"""

from __future__ import annotations

import math
import re
from functools import cache
from typing import Any

from streamverify._extras import require
from streamverify.errors import MissingExtraError
from streamverify.evaluate.case import Case
from streamverify.evaluate.protocol import FunctionMetric, Measured, Need, metric
from streamverify.figure import NotComputed, share
from streamverify.types import Passage

CUTS = (1, 3, 5, 10)
MOST_GAIN = 1_000
"""Highest graded relevance that is computed with."""

_NEEDS = (Need.RETRIEVED, Need.RELEVANT)
_WORD = re.compile(r"\w{3,}")


@cache
def _library() -> Any:
    return require("pytrec_eval", extra="eval", feature="a retrieval metric")


def _score(case: Case, measure: str) -> float | NotComputed:
    """One measure of pytrec_eval."""
    ranked, gains = tuple(dict.fromkeys(case.ranked or ())), case.relevant or {}
    graded = measure.startswith("ndcg")
    if graded and any(gain != int(gain) for gain in gains.values()):
        return NotComputed("graded relevance must be whole numbers")
    if graded and any(gain > MOST_GAIN for gain in gains.values()):
        return NotComputed(f"graded relevance must not be above {MOST_GAIN:,}")
    # Any gain above 0 is relevant. pytrec_eval counts gains in an array of as many places, and reads ids as
    # C strings.
    numbers = {document: str(number) for number, document in enumerate(dict.fromkeys([*ranked, *gains]))}
    judged = {"q": {numbers[one]: int(gain) if graded else int(gain > 0) for one, gain in gains.items()}}
    run = {"q": {numbers[one]: float(len(ranked) - place) for place, one in enumerate(ranked)}}
    try:
        found = _library().RelevanceEvaluator(judged, {measure}).evaluate(run)
    except MissingExtraError:
        return NotComputed("pip install 'streamverify[eval]'")
    return float(found["q"][measure.replace(".", "_")])


def _hits(case: Case, cut: int) -> tuple[int, int]:
    """Relevant documents in the first `cut`, and relevant documents."""
    relevant = {document for document, gain in (case.relevant or {}).items() if gain > 0}
    return len(relevant & set(tuple(dict.fromkeys(case.ranked or ()))[:cut])), len(relevant)


def _standard(name: str, measure: str, text: str) -> FunctionMetric:
    def standard(case: Case) -> float | NotComputed:
        return _score(case, measure)

    standard.__doc__ = text
    return metric(needs=_NEEDS, name=name)(standard)


def _f1(cut: int) -> FunctionMetric:
    def f1(case: Case) -> float:
        hits, relevant = _hits(case, cut)
        return 2 * hits / (cut + relevant)

    f1.__doc__ = f"Harmonic mean of precision and recall at {cut}."
    return metric(needs=_NEEDS, name=f"f1@{cut}")(f1)


_POOLED = {
    "precision": lambda hits, cut, relevant: (hits, cut),  # noqa: ARG005 - each takes what the others take
    "recall": lambda hits, cut, relevant: (hits, relevant),  # noqa: ARG005 - as above
    "f1": lambda hits, cut, relevant: (2 * hits, cut + relevant),
}
"""Measure to the numerator and denominator of one query."""


def _pooled(word: str, cut: int) -> FunctionMetric:
    def pooled(case: Case) -> Measured:
        hits, relevant = _hits(case, cut)
        parts = _POOLED[word](hits, cut, relevant)
        return Measured(share(*parts, "no relevant document labelled"), parts)

    pooled.__doc__ = f"As {word}@{cut}, with the counts of all queries pooled (micro)."
    return metric(needs=_NEEDS, name=f"micro_{word}@{cut}", combination="pooled")(pooled)


@metric(needs=_NEEDS)
def retrieval_score(case: Case) -> float | NotComputed:
    """0.3 recall@5 + 0.2 precision@5 + 0.3 reciprocal rank + 0.2 hit at 5."""
    total = 0.0
    for weight, measure in ((0.3, "recall.5"), (0.2, "P.5"), (0.3, "recip_rank"), (0.2, "success.5")):
        figure = _score(case, measure)
        if isinstance(figure, NotComputed):
            return figure
        total += weight * figure
    return min(total, 1.0)


@metric(needs=_NEEDS)
def context_precision(case: Case) -> float:
    """Mean of precision@i over the ranks i of relevant documents; 0 where none was retrieved."""
    found, total = 0, 0.0
    for rank, document in enumerate(dict.fromkeys(case.ranked or ()), 1):
        if (case.relevant or {}).get(document, 0) > 0:
            found += 1
            total += found / rank
    return total / found if found else 0.0


def _term_overlap(cut: int) -> FunctionMetric:
    def term_overlap(case: Case) -> Measured:
        wanted = {word.casefold() for word in _WORD.findall(case.question or "")}
        held = {passage.id: passage for passage in case.passages or ()}
        first = (case.ranked or ())[:cut]
        if case.passages is None or any(one not in held for one in first):
            return Measured(NotComputed("the texts of the passages are not known"))
        texts = [_heading(held[one]) for one in first]
        if not any(text.strip() for text in texts):
            return Measured(NotComputed("no passage has a title or tags"))
        found = {word.casefold() for text in texts for word in _WORD.findall(text)}
        parts = (len(wanted & found), len(wanted))
        return Measured(share(*parts, "the question has no words"), parts)

    term_overlap.__doc__ = (
        f"Words of the question found in titles and tags of the first {cut} passages / words of the question."
    )
    name = f"retrieval_term_overlap@{cut}"
    return metric(needs=(Need.QUESTION, Need.PASSAGES), name=name, version="2")(term_overlap)


def _heading(passage: Passage) -> str:
    tags = passage.metadata.get("tags")
    return " ".join([passage.title or "", *(map(str, tags) if isinstance(tags, list | tuple) else ())])


@metric(needs=(Need.RETRIEVED,), range=(0, None))
def context_diversity(case: Case) -> float | NotComputed:
    """Entropy in bits of the retriever's scores, normalised to sum to 1."""
    if case.scores is None:
        return NotComputed("the case has no retrieval scores")
    return entropy(case.scores)


def entropy(weights: tuple[float, ...]) -> float | NotComputed:
    """Entropy in bits of weights of 0 or more, normalised to sum to 1."""
    largest = max(weights, default=0.0)
    if largest > 0:
        weights = tuple(weight / largest for weight in weights)  # so that their sum is finite
    whole = math.fsum(weights)
    if whole <= 0 or any(weight < 0 for weight in weights):
        return NotComputed("scores must be 0 or more, and one of them above 0")
    return max(0.0, -math.fsum(w / whole * math.log2(w / whole) for w in weights if w))


METRICS = (
    *(_standard(f"precision@{k}", f"P.{k}", f"Relevant of the first {k} / {k}.") for k in CUTS),
    *(_standard(f"recall@{k}", f"recall.{k}", f"Relevant of the first {k} / relevant.") for k in CUTS),
    *(_f1(k) for k in CUTS),
    *(_standard(f"hit_rate@{k}", f"success.{k}", f"1 where one of the first {k} is relevant.") for k in CUTS),
    *(_standard(f"ndcg@{k}", f"ndcg_cut.{k}", f"DCG / ideal DCG of the first {k}.") for k in CUTS),
    *(_pooled(word, k) for word in _POOLED for k in CUTS),
    _standard("mrr", "recip_rank", "1 / rank of the first relevant document."),
    _standard("map", "map", "Mean over relevant documents of the precision at their rank."),
    retrieval_score,
    context_precision,
    *(_term_overlap(k) for k in CUTS),
    context_diversity,
)
