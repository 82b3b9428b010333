"""The packs that come with the library.

A stage whose metric needs what was not given, as a judge or an embedder, is not computed and says so.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import replace

from streamverify.errors import UsageError
from streamverify.evaluate.metrics.d2d import WEIGHTS
from streamverify.evaluate.pack import MetricStage, Pack, Stage
from streamverify.evaluate.packs.policies import PolicyCompliance, SourcePolicy


def rag() -> Pack:
    """Eight stages, from what was retrieved to whether it should have been answered at all."""
    stages: tuple[Stage, ...] = (
        MetricStage(name="retrieval", parts={"retrieval_score": 1.0}, threshold=0.5, of_answers=True),
        MetricStage(
            name="context_relevance", parts={"context_relevance": 1.0}, threshold=0.3, of_answers=True
        ),
        MetricStage(name="faithfulness", parts={"faithfulness": 1.0}, threshold=0.85, weight=2.0),
        MetricStage(
            name="answer_relevance",
            parts={"answer_relevance_by_embedding": 1.0},
            threshold=0.5,
            of_answers=True,
        ),
        MetricStage(
            name="citations",
            parts={"citation_coverage": 1.0, "citation_existence": 1.0, "citation_accuracy": 1.0},
            threshold=0.8,
        ),
        SourcePolicy(),
        PolicyCompliance(),
        MetricStage(name="rejection_calibration", parts={"rejection_calibration": 1.0}, threshold=1.0),
    )
    return Pack("rag", stages)


def legal() -> Pack:
    """Strict on grounding, and no fabricated citation at all."""
    stages: tuple[Stage, ...] = (
        MetricStage(name="faithfulness", parts={"faithfulness": 1.0}, threshold=0.95),
        MetricStage(name="citations", parts={"citation_accuracy": 1.0}, threshold=0.95),
        MetricStage(name="existence", parts={"citation_existence": 1.0}, threshold=1.0, gate=True),
        MetricStage(name="grounding", parts={"grounding_score": 1.0}, threshold=0.9),
    )
    gates: dict[str, dict[str, float | str]] = {
        "faithfulness": {"min": 0.95},
        "citation_accuracy": {"min": 0.95},
        "grounding_score": {"min": 0.9},
        "citation_fabricated": {"max": 0},
    }
    return Pack("legal", stages, extra=("citation_fabricated",), gates=gates)


def d2d() -> Pack:
    """The four weighted parts of the d2d profile, each a stage; `1 + 4 pack_score` is the metric `d2d`.

    Correctness is the judge's where one was given, else the scorer's; relevance weighs nothing and is told
    beside.
    """
    scale = (1.0, 5.0)
    stages: tuple[Stage, ...] = tuple(
        MetricStage(name=name, parts={f"d2d_{name}": 1.0}, scale=scale, threshold=0.75, weight=weight)
        for name, weight in WEIGHTS.items()
        if weight
    )
    return Pack("d2d", stages, extra=("relevance_1_5",))


PACKS: Mapping[str, Callable[[], Pack]] = {"rag": rag, "legal": legal, "d2d": d2d}


def pack_named(name: str) -> Pack:
    """A pack by its name.

    Raises:
        UsageError: there is none. Caller.
    """
    if name not in PACKS:
        near = difflib.get_close_matches(name, PACKS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(PACKS)}"
        raise UsageError(f"there is no pack {name!r}; {hint}")
    return PACKS[name]()


def adjusted(pack: Pack, weights: Mapping[str, float], thresholds: Mapping[str, float]) -> Pack:
    """The pack with other weights and thresholds of its stages.

    Raises:
        UsageError: there is no such stage, or a weight is below 0. Caller.
    """
    names = {stage.name for stage in pack.stages}
    for name in (*weights, *thresholds):
        if name not in names:
            raise UsageError(f"pack {pack.name!r} has no stage {name!r}; it has {', '.join(sorted(names))}")
    if any(weight < 0 for weight in weights.values()):
        raise UsageError("a stage's weight must be 0 or more")
    stages: list[Stage] = []
    for stage in pack.stages:
        weight = weights.get(stage.name, stage.weight)
        threshold = thresholds.get(stage.name, stage.threshold)
        if (weight, threshold) == (stage.weight, stage.threshold):
            stages.append(stage)
        elif isinstance(stage, MetricStage | SourcePolicy | PolicyCompliance):
            stages.append(replace(stage, weight=weight, threshold=threshold))
        else:
            raise UsageError(
                f"stage {stage.name!r} is not one of the library's: set its weight where it is made"
            )
    return replace(pack, stages=tuple(stages))
