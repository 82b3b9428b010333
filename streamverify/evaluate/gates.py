"""Gates: what a run's figures must reach. A figure that was not computed reaches nothing.

Before: a TOML file, and a run. After: a command's exit status, a test's outcome, a report's head line.

    [gates]
    faithfulness = { min = 0.85, on = "low" }
    hallucination_rate = { max = 0.02 }
    [gates."category=legal"]
    faithfulness = { min = 0.95 }
    [baseline]
    max_drop = 0.05
    critical = { faithfulness = 0.02 }
    new_failures = 0
    min_coverage = 1.0
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from streamverify.errors import UsageError
from streamverify.evaluate.records import Record
from streamverify.evaluate.result import CaseResult
from streamverify.evaluate.run import Run
from streamverify.evaluate.toml_files import WrongPlaceError, built, read_toml, unknown
from streamverify.figure import Aggregate, Figure, Interval, NotComputed, shown

Status = Literal["passed", "failed", "not computed"]


class Gate(Record):
    """The bounds of one figure; at least one of them."""

    min: float | None = Field(default=None, strict=True)
    max: float | None = Field(default=None, strict=True)
    on: Literal["value", "low", "high"] = "value"
    """What is held against the bound: the figure, or the end of its interval on the bound's side."""
    min_coverage: float | None = Field(default=None, ge=0, le=1)
    """In place of the file's."""

    @model_validator(mode="after")
    def _bounds(self) -> Gate:
        if self.min is None and self.max is None:
            raise ValueError("a gate needs min or max")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min = {self.min:g} is above max = {self.max:g}: nothing would pass")
        if (self.on == "low" and self.max is not None) or (self.on == "high" and self.min is not None):
            raise ValueError(
                "on = 'low' goes with min, on = 'high' with max: the cautious end of the interval"
            )
        return self

    def __str__(self) -> str:
        """The rule in words."""
        bounds = [f">= {self.min:g}"] if self.min is not None else []
        bounds += [f"<= {self.max:g}"] if self.max is not None else []
        return " and ".join(bounds) + ("" if self.on == "value" else f" on its {self.on} end")


class BaselineRules(Record):
    """How much worse than a baseline a run may be."""

    max_drop: float = Field(default=0.05, ge=0, strict=True)
    """Of any metric, relative to the baseline's figure unless `absolute`; relative below 1, since a drop by
    the whole figure would pass."""
    absolute: bool = False
    critical: dict[str, float] = Field(default_factory=dict)
    """Metric to its own `max_drop`."""
    new_failures: int = Field(default=0, ge=0)
    """Cases that passed and pass no longer."""
    min_coverage: float = Field(default=1.0, ge=0, le=1)
    """Least share of cases whose figure must be computed, for gates and for comparisons; a gate does not ask
    it of cases with nothing to measure."""

    @model_validator(mode="after")
    def _below_the_whole(self) -> BaselineRules:
        drops = {
            "max_drop": self.max_drop,
            **{f"critical.{name}": one for name, one in self.critical.items()},
        }
        for name, drop in drops.items():
            if not drop >= 0:  # NaN too
                raise ValueError(f"{name} must be 0 or more, not {drop:g}")
            if not self.absolute and drop >= 1:
                raise ValueError(
                    f"{name} = {drop:g} is a share of the baseline's figure: give one below 1 "
                    f"({drop / 100:g} for {drop:g} %), or absolute = true"
                )
        return self


@dataclass(frozen=True, slots=True)
class Gates:
    """The gates of a file."""

    everywhere: Mapping[str, Gate]
    """Metric to gate over all cases."""
    categories: Mapping[str, Mapping[str, Gate]] = field(default_factory=dict)
    """Category to its gates."""
    baseline: BaselineRules = field(default_factory=BaselineRules)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Every metric that is gated, each once."""
        inner = (name for gates in self.categories.values() for name in gates)
        return tuple(dict.fromkeys([*self.everywhere, *inner]))

    def unheld(self, source: object = "the gates") -> str:
        """What to tell of rules for a baseline where there is none; empty where none are left out.

        Args:
            source: where they stand, for messages.

        Raises:
            UsageError: there is no gate beside them, so that nothing would be asked. Caller.
        """
        if not self.metrics:
            raise UsageError(f"{source}: holds no gate, only rules for a baseline: name one with --baseline")
        # The least coverage is asked of gates too.
        left = [name for name in BaselineRules.model_fields if name in self.baseline.model_fields_set]
        names = ", ".join(name for name in left if name != "min_coverage")
        return f"{source}: [baseline] {names} left out: name a baseline with --baseline" if names else ""


@dataclass(frozen=True, slots=True)
class GateResult:
    """What became of one gate."""

    metric: str
    category: str | None
    gate: Gate
    aggregate: Aggregate | None
    """None where the run does not have the metric or the category."""
    status: Status
    detail: str
    missing: tuple[str, ...] = ()
    """Ids of the cases without a figure, where these are too many."""

    def __str__(self) -> str:
        """Status, what was asked and what was found, on one line."""
        where = "" if self.category is None else f" (category {self.category})"
        return f"{self.status:<12}  {self.metric}{where} {self.gate}: {self.detail}"


def read_gates(path: Path | str) -> Gates:
    """The gates of a TOML file.

    Raises:
        InputFileError: it is none, or has neither a gate nor rules for a baseline; names the place. Caller.
    """
    return read_toml(path, _some_gates)


def _some_gates(found: Mapping[str, Any]) -> Gates:
    gates = gates_from(found)
    if not gates.metrics and not found.get("baseline"):
        raise WrongPlaceError("gates", "holds no gate: nothing would be asked, and everything would pass")
    return gates


def gates_from(found: Mapping[str, Any]) -> Gates:
    """The gates of a mapping as a file has it.

    Raises:
        ValueError: it is none; names the place.
    """
    for name in found:
        if name not in ("gates", "baseline"):
            raise WrongPlaceError(name, unknown(name, ("gates", "baseline")))
    everywhere: dict[str, Gate] = {}
    categories: dict[str, dict[str, Gate]] = {}
    given = found.get("gates", {})
    if not isinstance(given, Mapping):
        raise WrongPlaceError("gates", "must be a table")
    for name, value in given.items():
        if not isinstance(value, Mapping):
            raise WrongPlaceError(f"gates.{name}", "must be a table such as { min = 0.85 }")
        if "=" in name:
            slice_, _, category = name.partition("=")
            if slice_ != "category":
                raise WrongPlaceError(
                    f"gates.{name}", 'gates over slices go by category: [gates."category=…"]'
                )
            categories[category] = {m: _gate(f"gates.{name}.{m}", m, one) for m, one in value.items()}
        else:
            everywhere[name] = _gate(f"gates.{name}", name, value)
    return Gates(everywhere, categories, built(BaselineRules, "baseline", found.get("baseline", {})))


def _gate(place: str, metric: str, value: object) -> Gate:
    gate = built(Gate, place, value)
    if why := pointless(metric, gate.min, gate.max):
        raise WrongPlaceError(place, why)
    return gate


def pointless(metric: str, least: float | None, most: float | None) -> str:
    """Why bounds of a metric of the catalogue cannot do what they are for; empty where they can.

    A bound out of the metric's range is a slip, mostly a per cent for a share; one at its end asks that there
    is a figure at all. A single bound on the side on which the figure is good passes what is bad.
    """
    from streamverify.evaluate.metrics import CATALOGUE  # noqa: PLC0415 - the whole catalogue, for this alone

    known = CATALOGUE.get(metric)
    if known is None:
        return ""
    low, high = known.range
    for name, bound in (("min", least), ("max", most)):
        if bound is not None and (bound < low or (high is not None and bound > high)):
            lies = f"is {low:g} or more" if high is None else f"lies between {low:g} and {high:g}"
            return f"{name} = {bound:g}, and {metric} {lies}"
    if known.higher_is_better and least is None:
        return f"{metric} is better the higher it is: give min"
    if not known.higher_is_better and most is None:
        return f"{metric} is better the lower it is: give max"
    return ""


def decide(run: Run, gates: Gates) -> tuple[GateResult, ...]:
    """What becomes of every gate, in the file's order."""
    return tuple(_decided(run, gates))


def _decided(run: Run, gates: Gates) -> Iterator[GateResult]:
    for metric, gate in gates.everywhere.items():
        yield _result(run, metric, None, gate, gates.baseline.min_coverage)
    for category, own in gates.categories.items():
        for metric, gate in own.items():
            yield _result(run, metric, category, gate, gates.baseline.min_coverage)


def _result(run: Run, metric: str, category: str | None, gate: Gate, min_coverage: float) -> GateResult:
    def told(
        status: Status, detail: str, found: Aggregate | None, missing: tuple[str, ...] = ()
    ) -> GateResult:
        return GateResult(metric, category, gate, found, status, detail, missing)

    if metric not in run.header.metrics:
        return told("not computed", "the run does not have this metric", None)
    if category is not None and category not in run.categories:
        return told("not computed", "the run has no case of this category", None)
    found = run[metric] if category is None else run.categories[category][metric]
    status, detail = decide_figure(found, gate, min_coverage)
    if not _covers(found, gate, min_coverage):
        cases = [case for case in run.cases if category is None or case.category == category]
        gaps = [(case.id, case[metric]) for case in cases]
        missing = tuple(id_ for id_, gap in gaps if isinstance(gap, NotComputed) and not gap.nothing)
        return told(status, detail, found, missing)
    return told(status, detail, found)


def decide_figure(found: Aggregate, gate: Gate, min_coverage: float) -> tuple[Status, str]:
    """What becomes of a gate on one figure, and why.

    Args:
        found: the figure.
        gate: its bounds.
        min_coverage: least share of cases that must be computed, unless the gate has its own.
    """
    if not _covers(found, gate, min_coverage):
        asked = f"{_least(gate, min_coverage):.0%} of the cases with something to measure must be computed"
        return "not computed", f"{found}; {asked}"
    held = _held(found, gate)
    if isinstance(held, NotComputed):
        return "not computed", f"no {gate.on} end: {held.reason}"
    fits = (gate.min is None or held >= gate.min) and (gate.max is None or held <= gate.max)
    return "passed" if fits else "failed", f"{shown(held)} of {found}" if gate.on != "value" else str(found)


def _least(gate: Gate, min_coverage: float) -> float:
    return gate.min_coverage if gate.min_coverage is not None else min_coverage


def _covers(found: Aggregate, gate: Gate, min_coverage: float) -> bool:
    """Whether there is a figure, over enough cases."""
    coverage = found.coverage
    if isinstance(found.figure, NotComputed) or isinstance(coverage, NotComputed):
        return False
    return coverage >= _least(gate, min_coverage)


def _held(found: Aggregate, gate: Gate) -> Figure:
    if gate.on == "value":
        return found.figure
    if not isinstance(found.interval, Interval):
        return found.interval
    return found.interval.low if gate.on == "low" else found.interval.high


def responsible(run: Run, result: GateResult, worst: int) -> tuple[CaseResult, ...]:
    """The cases by which a gate came out as it did, in the order to look at them.

    Those without a figure where these are too many; else those whose own figure misses the bound, worst
    first; else the `worst` ones, because no single case need miss what all of them together miss.
    """
    if result.missing:
        gaps = frozenset(result.missing)
        return tuple(case for case in run.cases if case.id in gaps)
    if result.metric not in run.header.metrics:
        return ()
    held = [
        case
        for case in run.worst(result.metric, len(run.cases))
        if result.category is None or case.category == result.category
    ]
    least, most = result.gate.min, result.gate.max
    wrong = [
        case
        for case in held
        if isinstance(figure := case[result.metric], float)
        and ((least is not None and figure < least) or (most is not None and figure > most))
    ]
    return tuple(wrong or held[:worst])
