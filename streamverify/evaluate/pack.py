"""Packs: stages in order, each with a score; a gate that is not passed stops the rest.

Before: the metrics of a case were measured. After: the case's result says which stages it passed.

A stage that was skipped, or whose score could not be computed, is not a passed one. One that has nothing to
judge, as faithfulness in an answer that makes no claim, is left out, as gates leave such cases out.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Literal, Protocol

from streamverify.errors import UsageError
from streamverify.evaluate.case import Case
from streamverify.evaluate.protocol import Measured, Tools
from streamverify.evaluate.records import FigureRecord, MetricRecord, StageRecord
from streamverify.evaluate.result import PASSED, SCORE, CaseResult
from streamverify.figure import Figure, NotComputed

Status = Literal["passed", "failed", "skipped", "not computed"]


@dataclass(frozen=True, slots=True)
class StageResult:
    """What a stage says about one case."""

    score: Figure
    status: Status
    findings: tuple[str, ...] = ()


class Stage(Protocol):
    """The seam for stages; see `MetricStage`."""

    @property
    def name(self) -> str:
        """As in commands and files."""
        ...

    @property
    def gate(self) -> bool:
        """Whether the stages after it are skipped where it is not passed."""
        ...

    @property
    def weight(self) -> float:
        """In the pack's score, 0 or more."""
        ...

    @property
    def threshold(self) -> float:
        """Least score that passes."""
        ...

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics it reads."""
        ...

    def __call__(self, case: Case, result: CaseResult, tools: Tools, /) -> StageResult:
        """Judge one case, whose metrics are measured."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricStage:
    """A stage whose score (0-1) is the weighted mean of metrics."""

    name: str
    parts: Mapping[str, float]
    """Metric to weight. Of a metric where less is better, 1 - figure counts."""
    lower_is_better: frozenset[str] = frozenset()
    scale: tuple[float, float] = (0.0, 1.0)
    """Least and greatest value of its metrics, brought to 0 and 1."""
    threshold: float = 0.5
    gate: bool = False
    weight: float = 1.0
    of_answers: bool = False
    """Whether it has nothing to judge where a case was refused as it should be: what was retrieved, and how
    near the answer is to the question."""

    @property
    def metrics(self) -> tuple[str, ...]:
        """Those it weighs."""
        return tuple(self.parts)

    def __call__(self, case: Case, result: CaseResult, tools: Tools) -> StageResult:  # noqa: ARG002 - the protocol
        """Passed where the score reaches the threshold; not computed where one of its metrics is not."""
        if self.of_answers and case.expected == "refuse" and _refused(result):
            return outcome(NotComputed("the case was refused, as it should be", nothing=True), self.threshold)
        total = 0.0
        for metric, weight in self.parts.items():
            figure = result[metric]
            if isinstance(figure, NotComputed):
                gap = NotComputed(f"{metric}: {figure.reason}", figure.nothing)
                return StageResult(gap, "not computed", (gap.reason,))
            low, high = self.scale
            share = (figure - low) / (high - low)
            total += weight * (1 - share if metric in self.lower_is_better else share)
        score = total / math.fsum(self.parts.values())
        return outcome(score, self.threshold)


def _refused(result: CaseResult) -> bool:
    from streamverify.evaluate.metrics.refusals import refuses  # noqa: PLC0415 - a package of this one

    report = result.report
    return report is not None and refuses(report)


def outcome(score: Figure, threshold: float, findings: Sequence[str] = ()) -> StageResult:
    """A stage's result by its threshold."""
    if isinstance(score, NotComputed):
        return StageResult(score, "not computed", (*findings, score.reason))
    # A weighted mean of ones may be a hair below 1.
    passed = score >= threshold - 1e-12
    told = () if passed else (f"score {score:.3f} is below {threshold:g}",)
    return StageResult(score, "passed" if passed else "failed", (*findings, *told))


@dataclass(frozen=True, slots=True)
class Pack:
    """Stages in order."""

    name: str
    stages: tuple[Stage, ...]
    extra: tuple[str, ...] = ()
    """Metrics that are measured beside those the stages read."""
    gates: Mapping[str, Mapping[str, float | str]] = field(default_factory=dict)
    """Gates over the whole run, as a gates file has them under `[gates]`."""

    def __post_init__(self) -> None:
        """Refuse a pack that judges nothing."""
        names = [stage.name for stage in self.stages]
        if not names or len(set(names)) != len(names):
            raise UsageError(f"pack {self.name!r} needs stages, each with a name of its own")

    @property
    def metrics(self) -> tuple[str, ...]:
        """Every metric that it reads, each once."""
        return tuple(dict.fromkeys([*(one for stage in self.stages for one in stage.metrics), *self.extra]))

    @property
    def digest(self) -> str:
        """Its name, and a digest of its stages with all that they can be told."""
        content = json.dumps([_told(stage) for stage in self.stages])
        return f"{self.name} {hashlib.sha256(content.encode()).hexdigest()[:12]}"

    @property
    def figures(self) -> Mapping[str, MetricRecord]:
        """The figures it adds to each case."""
        record = MetricRecord(version="1", higher_is_better=True, combination="mean", range=(0.0, 1.0))
        return {**{f"stage.{stage.name}": record for stage in self.stages}, SCORE: record, PASSED: record}

    def judged(self, case: Case, result: CaseResult, tools: Tools) -> CaseResult:
        """The result with every stage told, skipped ones included, and the pack's figures added."""
        found: list[tuple[Stage, StageResult, float | None]] = []
        stopped = ""
        for stage in self.stages:
            if stopped:
                gap = NotComputed(f"skipped: gate {stopped} was not passed")
                found.append((stage, StageResult(gap, "skipped"), None))
                continue
            start = time.perf_counter()
            told = stage(case, result, tools)
            found.append((stage, told, (time.perf_counter() - start) * 1000))
            if stage.gate and told.status != "passed" and not _nothing(told.score):
                stopped = stage.name
        scores = {f"stage.{stage.name}": Measured(told.score) for stage, told, _ in found}
        overall = {SCORE: Measured(_overall(found)), PASSED: Measured(_passed(found))}
        stages = tuple(
            StageRecord(
                name=stage.name,
                status=told.status,
                score=FigureRecord.of(Measured(told.score), details=False),
                findings=told.findings,
                duration_ms=took,
            )
            for stage, told, took in found
        )
        return replace(result, figures={**result.figures, **scores, **overall}, stages=stages)


def _told(stage: Stage) -> list[object]:
    own: list[object] = []
    if is_dataclass(stage) and not isinstance(stage, type):
        for one in fields(stage):
            value = getattr(stage, one.name)
            plain = sorted(value) if isinstance(value, frozenset | set) else value
            own.append([one.name, list(plain.items()) if isinstance(plain, Mapping) else plain])
    shown = json.loads(json.dumps(own, default=repr))
    return [stage.name, stage.gate, stage.weight, stage.threshold, list(stage.metrics), shown]


def _overall(found: Sequence[tuple[Stage, StageResult, float | None]]) -> Figure:
    """Weighted mean of the stages that had something to judge."""
    weighed = [(stage, told) for stage, told, _ in found if stage.weight]
    held: list[tuple[float, float]] = []
    for stage, told in weighed:
        if not isinstance(told.score, NotComputed):
            held.append((stage.weight, told.score))
        elif not told.score.nothing:
            return NotComputed(f"stage {stage.name} is {told.status}")
    if not weighed:
        return NotComputed("every stage weighs 0")
    if not held:
        return NotComputed("no stage has anything to judge", nothing=True)
    whole = math.fsum(weight for weight, _ in held)
    return sum(weight * score for weight, score in held) / whole


def _passed(found: Sequence[tuple[Stage, StageResult, float | None]]) -> Figure:
    """1 where every stage that had something to judge was passed, and one had."""
    judged = [told for _, told, _ in found if not _nothing(told.score)]
    states = {told.status for told in judged}
    if "failed" in states:
        return 0.0
    if states == {"passed"}:
        return 1.0
    return NotComputed("a stage could not be computed", nothing=not judged)


def _nothing(score: Figure) -> bool:
    """Whether a stage has no score because there was nothing to judge."""
    return isinstance(score, NotComputed) and score.nothing
