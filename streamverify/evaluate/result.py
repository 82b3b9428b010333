"""What was measured about one case.

Before: `runner.py` measured. After: the journal holds all of it, a run its figures.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from streamverify.errors import UsageError
from streamverify.evaluate.protocol import Measured
from streamverify.evaluate.records import CaseRecord, FigureRecord, StageRecord
from streamverify.figure import Figure
from streamverify.types import Report

K = TypeVar("K")
V = TypeVar("V")

SCORE, PASSED = "pack_score", "pack_passed"
"""Figures that a pack adds to every case: its weighted score, and 1 where every stage was passed, else 0."""


def _nothing() -> CaseRecord | None:
    return None


class FigureTable(Mapping[str, Measured]):
    """Figures by name; thousands of cases share the names, which a dict each would not."""

    __slots__ = ("_measured", "_names")

    def __init__(self, names: tuple[str, ...], measured: tuple[Measured, ...]) -> None:
        self._names, self._measured = names, measured

    def __getitem__(self, name: str) -> Measured:
        """What was measured under this name."""
        try:
            return self._measured[self._names.index(name)]
        except ValueError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        """As a dict's."""
        return repr(dict(self))


_SHARED = 4096
"""Values kept to be shared, of each kind: most figures are a few small ratios and a few reasons."""


class Shelf:
    """Makes results small: whatever many cases have in common is there once, and details are left out."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._measured: dict[str, Measured] = {}
        self._counts: dict[tuple[tuple[str, int], ...], Mapping[str, int]] = {}

    def put(self, result: CaseResult) -> CaseResult:
        """The result, equal but for its details."""
        names = tuple(result.figures)
        return replace(
            result,
            figures=FigureTable(
                self._names.setdefault(names, names), tuple(map(self._lean, result.figures.values()))
            ),
            counts=_shared(self._counts, tuple(result.counts.items()), result.counts),
        )

    def _lean(self, measured: Measured) -> Measured:
        # By its text, because 0.0 and -0.0 are equal and are not written alike.
        key = repr((measured.figure, measured.parts, measured.warning))
        return _shared(self._measured, key, replace(measured, details={}) if measured.details else measured)


def _shared(held: dict[K, V], key: K, value: V) -> V:
    return held.setdefault(key, value) if len(held) < _SHARED else held.get(key, value)


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What was measured about one case."""

    number: int
    """Position in the dataset, from 0."""
    id: str
    category: str | None
    figures: Mapping[str, Measured]
    counts: Mapping[str, int] = field(default_factory=dict)
    """Sentences by label; empty where there was no answer to check."""
    outcome: str = ""
    """The report's; empty where there was no answer to check."""
    error: str = ""
    """What went wrong while it was checked or measured; empty where nothing did."""
    stages: tuple[StageRecord, ...] = ()
    question_digest: str = ""
    """Tells one question from another without its text; empty where the case has none."""
    load: Callable[[], CaseRecord | None] = field(default=_nothing, compare=False, repr=False)
    """Reads all of it from the journal; None where the run was read without one."""

    def __getitem__(self, metric: str) -> Figure:
        """The figure of a metric."""
        if metric not in self.figures:
            raise UsageError(
                f"case {self.id!r}: there is no figure {metric!r}; known are {', '.join(self.figures)}"
            )
        return self.figures[metric].figure

    @property
    def passed(self) -> bool | None:
        """Whether the case is fine: each stage of its pack passed, without one each statement is supported.

        None where that could not be told: what could not be checked did not pass.
        """
        verdict = self.figures.get(PASSED)
        if verdict is not None:
            return verdict.figure == 1 if isinstance(verdict.figure, float) else None
        if self.error or not self.counts or self.counts.get("unverified"):
            return None
        return not (self.counts.get("unsupported") or self.counts.get("contradicted"))

    @property
    def report(self) -> Report | None:
        """The live half's report, unchanged; None where the run was read without its journal."""
        record = self.load()
        return record.report if record is not None else None

    def details(self, metric: str) -> Mapping[str, Any]:
        """What a figure was made of; empty where the run was read without its journal."""
        record = self.load()
        return (record.figures[metric].details if record is not None else None) or {}

    def record(self, **more: Any) -> CaseRecord:
        """For a file; `more` is what only a journal holds."""
        journal = bool(more)
        stages = self.stages if journal else [s.model_copy(update={"duration_ms": None}) for s in self.stages]
        return CaseRecord(
            number=self.number,
            id=self.id,
            category=self.category,
            question_digest=self.question_digest,
            figures={n: FigureRecord.of(m, details=journal) for n, m in self.figures.items()},
            counts=dict(self.counts),
            outcome=self.outcome,
            error=self.error,
            stages=tuple(stages),
            **more,
        )

    @classmethod
    def of(cls, record: CaseRecord, load: Callable[[], CaseRecord | None] = _nothing) -> CaseResult:
        """The result that was written, without what `load` reads again.

        Raises:
            ValueError: a figure is none.
        """
        figures = {n: replace(figure.measured(), details={}) for n, figure in record.figures.items()}
        return cls(
            number=record.number,
            id=record.id,
            category=record.category,
            figures=figures,
            counts=record.counts,
            outcome=record.outcome,
            error=record.error,
            stages=record.stages,
            question_digest=record.question_digest,
            load=load,
        )


def to_json(value: object) -> str:
    """JSON on one line, keys sorted, without NaN."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)
