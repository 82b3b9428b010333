"""The metrics that come with the library, by name; each is a pure function of a case and its report."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from streamverify.evaluate.metrics import answers, by_model, citations, d2d, grounding, judged, retrieval
from streamverify.evaluate.protocol import Metric, Need

CATALOGUE: Mapping[str, Metric] = MappingProxyType(
    {
        metric.name: metric
        for module in (grounding, citations, retrieval, answers, by_model, judged, d2d)
        for metric in module.METRICS
    }
)
"""Name to metric."""

ASK_WITHOUT_EMBEDDER = frozenset({"answer_correctness"})
"""Metrics that put a question to the judge, where there is one, in place of comparing embeddings."""
ASK_IF_GIVEN = frozenset(
    {"answer_relevance_by_questions", "context_precision_by_sentence", "d2d_correctness", "d2d"}
)
"""Metrics that put a question to the judge, where there is one, and can do without."""


def asking_for(name: str) -> frozenset[Need]:
    """Which of judge and embedder a metric's figure depends on; none where the library does not know it."""
    if name not in CATALOGUE:
        return frozenset()
    needs = CATALOGUE[name].needs & _ASKED_FOR
    if name in ASK_IF_GIVEN:
        return needs | {Need.JUDGE}
    return frozenset(_ASKED_FOR) if name in ASK_WITHOUT_EMBEDDER else needs


_ASKED_FOR = {Need.JUDGE, Need.EMBEDDER}
_CORE = ("precision@5", "recall@5", "hit_rate@5", "ndcg@5", "mrr", "map", "retrieval_score")

USUAL = tuple(
    name
    for module in (grounding, citations, retrieval, answers)
    for name in (metric.name for metric in module.METRICS)
    if not CATALOGUE[name].needs & _ASKED_FOR and (module is not retrieval or name in _CORE)
)
"""What is computed when nobody says what, as far as the cases allow: no judge and no embedder is needed."""
