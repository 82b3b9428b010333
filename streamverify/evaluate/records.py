"""What stands in a run's file and in its journal: pydantic values, closed to unknown fields, without NaN.

Before: `run.py` and `journal.py` write. After: they read.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pydantic import BaseModel, ConfigDict

from streamverify.evaluate.protocol import Combination, Measured, Metric
from streamverify.figure import Figure, NotComputed
from streamverify.types import Fingerprint, Report

FORMAT = 1
_HAIR = 1e-9
"""What rounding may do to a figure at the end of its range."""


class Record(BaseModel):
    """Base of what stands in files of a run: frozen, closed to unknown fields, without NaN."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class MetricRecord(Record):
    """What a run says about a metric."""

    version: str
    higher_is_better: bool
    combination: Combination
    range: tuple[float, float | None]

    @classmethod
    def of(cls, metric: Metric) -> MetricRecord:
        """The metric's."""
        return cls(
            version=metric.version,
            higher_is_better=metric.higher_is_better,
            combination=metric.combination,
            range=metric.range,
        )


class Header(Record):
    """What was measured with what; two runs with equal headers have equal figures."""

    format: int = FORMAT
    version: str
    """Of this library."""
    dataset: str
    """Digest of the cases."""
    questions: str
    """Digest of what was asked and what is known to be right: runs with equal ones can be compared."""
    cases: int
    fingerprint: Fingerprint
    policy: str
    metrics: dict[str, MetricRecord]
    pack: str = ""
    """Name and digest of the pack; empty without one."""
    embedder: str = ""
    judge: str = ""

    def impossible(self, case: CaseRecord) -> str:
        """What no metric of this header could have measured of a case; empty where it all could be.

        A stage's score may lie a little below its range, as a cosine may lie below 0, and is not looked at.
        """
        for name, metric in self.metrics.items():
            if name not in case.figures:
                return f"case {case.id!r} has no figure {name!r}"
            figure, (low, high) = case.figures[name], metric.range
            parts = figure.parts
            shares = [parts[0] / parts[1]] if metric.combination == "pooled" and parts and parts[1] else []
            for value in (*shares, figure.value):
                if value is None or name.startswith("stage.") or name == "pack_score":
                    continue
                if value < low - _HAIR or (high is not None and value > high + _HAIR):
                    lies = f"is {low:g} or more" if high is None else f"lies between {low:g} and {high:g}"
                    return f"case {case.id!r}: {name} is {value:g}, and {lies}"
        return ""

    def incomplete(self, numbers: Collection[int]) -> str:
        """What is wrong with the cases that a file holds beside this header; empty where they are all there.

        Without those that fail, what is left could pass every gate.

        Args:
            numbers: of the cases, as the file has them.
        """
        held = len(set(numbers))
        if held == len(numbers) == self.cases:
            return ""
        twice = len(numbers) - held
        return f"it holds {held} of {self.cases} cases" + (f", {twice} of them twice" if twice else "")


class FigureRecord(Record):
    """A figure in a file: a value, or the reason why there is none."""

    value: float | None = None
    not_computed: str | None = None
    nothing: bool = False
    """See `NotComputed.nothing`."""
    parts: tuple[float, float] | None = None
    warning: str = ""
    details: dict[str, Any] | None = None

    @classmethod
    def of(cls, measured: Measured, *, details: bool) -> FigureRecord:
        """What was measured."""
        gap = measured.figure if isinstance(measured.figure, NotComputed) else None
        return cls(
            value=None if isinstance(measured.figure, NotComputed) else measured.figure,
            not_computed=gap.reason if gap is not None else None,
            nothing=gap is not None and gap.nothing,
            parts=measured.parts,
            warning=measured.warning,
            details=dict(measured.details) if details and measured.details else None,
        )

    def measured(self) -> Measured:
        """As it was.

        Raises:
            ValueError: it has both a value and a reason for having none, or neither.
        """
        if (self.value is None) == (self.not_computed is None):
            raise ValueError("a figure has either a value or a reason why it was not computed")
        if self.value is not None and self.nothing:
            raise ValueError("a figure with a value has something to measure")
        gap = NotComputed(self.not_computed or "unknown", self.nothing)
        figure: Figure = self.value if self.value is not None else gap
        return Measured(figure, self.parts, self.details or {}, self.warning)


class StageRecord(Record):
    """What became of one stage of a pack."""

    name: str
    status: str
    """`passed`, `failed`, `skipped` or `not computed`."""
    score: FigureRecord
    findings: tuple[str, ...] = ()
    duration_ms: float | None = None
    """In the journal only."""


class CaseRecord(Record):
    """A case in a run's file, or with more in a journal."""

    number: int
    id: str
    category: str | None = None
    question_digest: str = ""
    """See `Case`; empty in files of before there was one."""
    figures: dict[str, FigureRecord]
    counts: dict[str, int] = {}
    outcome: str = ""
    error: str = ""
    stages: tuple[StageRecord, ...] = ()
    question: str | None = None
    """In the journal only, as all that follows."""
    recorded: bool | None = None
    report: Report | None = None
    check_ms: float | None = None
