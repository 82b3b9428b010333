r"""A pack as a file sets it: which one, and what its stages weigh, ask for and forbid.

Before: a TOML file. After: `runner.py` has the cases judged by the pack.

    pack = "rag"
    [stages.faithfulness]
    weight = 3
    threshold = 0.9
    parts = { faithfulness = 0.7, grounding_score = 0.3 }
    [stages.policy_compliance]
    forbidden = { "a price" = '\b\d+ EUR\b' }
    keep_shipped = false
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from streamverify.evaluate.metrics import CATALOGUE
from streamverify.evaluate.pack import MetricStage, Pack, Stage
from streamverify.evaluate.packs import PACKS, pack_named
from streamverify.evaluate.packs.policies import FORBIDDEN, PolicyCompliance, SourcePolicy
from streamverify.evaluate.records import Record
from streamverify.evaluate.toml_files import WrongPlaceError, built, read_toml, unknown


class StageSettings(Record):
    """What every stage can be told; what is None stays as the pack has it."""

    weight: float | None = Field(default=None, ge=0)
    threshold: float | None = Field(default=None, ge=0, le=1)
    gate: bool | None = None


class MetricStageSettings(StageSettings):
    """What a stage of metrics can be told."""

    parts: dict[str, float] | None = Field(default=None, min_length=1)
    """Metric to weight, in place of the stage's."""
    lower_is_better: frozenset[str] | None = None
    """Those of its metrics of which less is better; what the metrics themselves say if None."""
    scale: tuple[float, float] | None = None
    """Least and greatest value of its metrics."""

    @model_validator(mode="after")
    def _sense(self) -> MetricStageSettings:
        if self.parts is not None and any(weight <= 0 for weight in self.parts.values()):
            raise ValueError("the weight of each metric must be above 0")
        if self.scale is not None and self.scale[0] >= self.scale[1]:
            raise ValueError("scale must be [least, greatest]")
        return self


class PolicyComplianceSettings(StageSettings):
    """What the stage of forbidden patterns can be told."""

    forbidden: dict[str, str] = Field(default_factory=dict)
    """Name to regular expression."""
    keep_shipped: bool = True
    """Whether the library's own patterns count too."""


def read_settings(path: Path | str, *, pack: str | None = None) -> Pack:
    """The pack of a TOML file.

    Args:
        path: of the file.
        pack: in place of the one that the file names.

    Raises:
        InputFileError: it is none; names file and key, and what was probably meant. Caller.
        UsageError: there is no pack `pack`. Caller.
    """
    return read_toml(path, lambda found: pack_from(found, pack=pack))


def pack_from(found: Mapping[str, Any], *, pack: str | None = None) -> Pack:
    """The pack of a mapping as a file has it.

    Raises:
        ValueError: it is none; names the place.
    """
    for name in found:
        if name not in ("pack", "stages"):
            raise WrongPlaceError(name, unknown(name, ("pack", "stages")))
    chosen = pack or found.get("pack")
    if not isinstance(chosen, str):
        raise WrongPlaceError("pack", f"must name a pack: {', '.join(PACKS)}")
    if pack is None and chosen not in PACKS:
        raise WrongPlaceError("pack", f"{chosen!r} is {unknown(chosen, PACKS)}")
    bundle = pack_named(chosen)
    given = found.get("stages", {})
    if not isinstance(given, Mapping):
        raise WrongPlaceError("stages", "must be a table of stages")
    names = [stage.name for stage in bundle.stages]
    for name in given:
        if name not in names:
            raise WrongPlaceError(f"stages.{name}", unknown(name, names))
    stages = tuple(
        _set(stage, f"stages.{stage.name}", given[stage.name]) if stage.name in given else stage
        for stage in bundle.stages
    )
    return replace(bundle, stages=stages)


def _set(stage: Stage, place: str, value: object) -> Stage:
    if isinstance(stage, MetricStage):
        return _metric_stage(stage, place, built(MetricStageSettings, place, value))
    if isinstance(stage, PolicyCompliance):
        return _policy_compliance(stage, place, built(PolicyComplianceSettings, place, value))
    assert isinstance(stage, SourcePolicy)  # the packs that a file can name have no other
    return replace(stage, **_common(built(StageSettings, place, value)))


def _common(told: StageSettings) -> dict[str, Any]:
    named = {"weight": told.weight, "threshold": told.threshold, "gate": told.gate}
    return {name: value for name, value in named.items() if value is not None}


def _metric_stage(stage: MetricStage, place: str, told: MetricStageSettings) -> MetricStage:
    changed = _common(told)
    parts, lower = told.parts, told.lower_is_better
    if parts is not None:
        wrong = next((metric for metric in parts if metric not in CATALOGUE), None)
        if wrong is not None:
            raise WrongPlaceError(f"{place}.parts.{wrong}", unknown(wrong, CATALOGUE))
        changed["parts"] = parts
        if lower is None:
            lower = frozenset(one for one in parts if not CATALOGUE[one].higher_is_better)
    if lower is not None:
        strange = sorted(lower - set(parts if parts is not None else stage.parts))
        if strange:
            raise WrongPlaceError(f"{place}.lower_is_better", f"{strange[0]!r} is not one of its parts")
        changed["lower_is_better"] = lower
    if told.scale is not None:
        changed["scale"] = told.scale
    made = replace(stage, **changed)
    for metric in made.parts:
        _within(metric, made.scale, f"{place}.scale")
    return made


def _within(metric: str, scale: tuple[float, float], place: str) -> None:
    """Refuse a metric that a stage's scale does not reach: its share would not lie in 0-1."""
    low, high = CATALOGUE[metric].range
    if high is None or high > scale[1]:
        top = "no greatest value" if high is None else f"values up to {high:g}"
        raise WrongPlaceError(place, f"{metric} has {top}, the stage's scale ends at {scale[1]:g}")
    # A cosine may lie below 0 and nearly never does.
    if max(low, 0.0) < scale[0]:
        raise WrongPlaceError(
            place, f"{metric} has values from {low:g} on, the stage's scale begins at {scale[0]:g}"
        )


def _policy_compliance(
    stage: PolicyCompliance, place: str, told: PolicyComplianceSettings
) -> PolicyCompliance:
    for name, pattern in told.forbidden.items():
        try:
            re.compile(pattern)
        except re.error as error:
            problem = f"not a regular expression: {error}"
            raise WrongPlaceError(f"{place}.forbidden.{name}", problem) from None
    kept = FORBIDDEN if told.keep_shipped else ()
    forbidden = (*kept, *told.forbidden.items())
    if not forbidden:
        raise WrongPlaceError(f"{place}.keep_shipped", "false without patterns of your own forbids nothing")
    return replace(stage, forbidden=forbidden, **_common(told))
