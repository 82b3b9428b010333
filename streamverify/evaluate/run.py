"""What an evaluation found: what was measured with what, one result a case, the aggregates.

Before: `runner.py` measured. After: gates, comparison and reports read.

A run's file holds figures only, no clock and no text of an answer: equal input gives equal bytes. Answers,
evidence and times stand in the journal, from which a result's `report` is read when it is asked for.
"""

from __future__ import annotations

import hashlib
import heapq
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from streamverify._lazy import cached_property
from streamverify.errors import InputFileError, UsageError
from streamverify.evaluate import stats
from streamverify.evaluate.journal import JOURNAL, read_journal
from streamverify.evaluate.protocol import Measured
from streamverify.evaluate.records import FORMAT, CaseRecord, Header, MetricRecord, Record
from streamverify.evaluate.result import CaseResult, to_json
from streamverify.figure import Aggregate, Figure, Interval, NotComputed, Spread
from streamverify.files.written import write_whole

MAX_BYTES = 1 << 30
"""Of a run's file; one of a million cases holds half of that."""


@dataclass(frozen=True)
class Run:
    """A finished evaluation."""

    header: Header
    cases: tuple[CaseResult, ...]
    """In the dataset's order."""

    @cached_property
    def aggregates(self) -> Mapping[str, Aggregate]:
        """By metric, over all cases."""
        return {name: self._aggregate(name, self.cases, "") for name in self.header.metrics}

    @cached_property
    def categories(self) -> Mapping[str, Mapping[str, Aggregate]]:
        """By category, then by metric; only cases that have one."""
        names = sorted({case.category for case in self.cases if case.category is not None})
        held = {name: [case for case in self.cases if case.category == name] for name in names}
        return {
            name: {one: self._aggregate(one, cases, name) for one in self.header.metrics}
            for name, cases in held.items()
        }

    def __getitem__(self, metric: str) -> Aggregate:
        """The aggregate of a metric.

        Raises:
            UsageError: the run has no such metric. Caller.
        """
        if metric not in self.header.metrics:
            raise UsageError(f"the run has no metric {metric!r}; it has {', '.join(self.header.metrics)}")
        return self.aggregates[metric]

    @property
    def errors(self) -> tuple[CaseResult, ...]:
        """Cases that went wrong."""
        return tuple(case for case in self.cases if case.error)

    def worst(self, metric: str, count: int) -> tuple[CaseResult, ...]:
        """The cases with the worst figures of a metric, worst first; those without one are left out."""
        sign = 1 if self.header.metrics[metric].higher_is_better else -1
        held = [
            (sign * figure, case.number, case)
            for case in self.cases
            if isinstance(figure := case[metric], float)
        ]
        return tuple(case for *_, case in heapq.nsmallest(count, held, key=lambda entry: entry[:2]))

    def rows(self) -> list[dict[str, Any]]:
        """A flat dict a case, for any data frame: figures by name, reasons under `name.not_computed`."""
        return [_flat(case) for case in self.cases]

    @property
    def digest(self) -> str:
        """SHA-256 of what `write` writes."""
        found = hashlib.sha256()
        for part in self._parts():
            found.update(part.encode())
        return found.hexdigest()

    def text(self) -> str:
        """The run as JSON, one case a line; equal runs give equal text."""
        return "".join(self._parts())

    def _parts(self) -> Iterator[str]:
        head = self.header.model_dump(mode="json")
        figures = {name: _written(aggregate) for name, aggregate in self.aggregates.items()}
        categories = {
            category: {name: _written(aggregate) for name, aggregate in found.items()}
            for category, found in self.categories.items()
        }
        yield (
            f'{{"header": {to_json(head)},\n"figures": {to_json(figures)},\n'
            f'"categories": {to_json(categories)},\n"cases": [\n'
        )
        for place, case in enumerate(self.cases):
            record = to_json(case.record().model_dump(mode="json", exclude_defaults=True))
            yield f",\n{record}" if place else record
        yield "\n]}\n"

    def write(self, path: Path | str) -> None:
        """Write the run's file.

        Raises:
            UsageError: it cannot be written. Caller.
        """
        write_whole(path, self._parts())

    def html(
        self,
        path: Path | str,
        *,
        gates: Sequence[Any] = (),
        comparison: Any = None,
    ) -> None:
        """Write the report page.

        Args:
            path: of one HTML file that needs nothing else.
            gates: what `decide` gave.
            comparison: what `compare` gave.

        Raises:
            UsageError: it cannot be written. Caller.
            MissingExtraError: the extra `eval` is not installed. Caller.
        """
        # By name, because reports read runs, and a run is read without them.
        import_module(f"{__package__}.report.page").write(path, self, gates=gates, comparison=comparison)

    @classmethod
    def read(cls, path: Path | str) -> Run:
        """The run of a file that `write` wrote, or of a journal that was finished.

        Raises:
            InputFileError: the file holds no whole run. Caller.
        """
        try:
            with Path(path).open("rb") as file:
                start = file.read(len(JOURNAL))
                rest = b"" if start == JOURNAL else file.read(MAX_BYTES + 1)
        except OSError as error:
            raise InputFileError(path, f"cannot be read: {error.strerror or error}") from None
        if start == JOURNAL:
            return cls(*read_journal(Path(path)))
        if len(rest) > MAX_BYTES:  # a device may have no end
            raise InputFileError(path, f"not a run: longer than {MAX_BYTES >> 20} MiB")
        return cls.from_text(start + rest, path)

    @classmethod
    def from_text(cls, text: str | bytes, path: Path | str = "run") -> Run:
        """The run that `text` gave.

        Args:
            text: JSON.
            path: where it stood, for what is said of a wrong one.

        Raises:
            InputFileError: it is no whole run. Caller.
        """
        try:
            return cls._from(_WholeRun.model_validate_json(text))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise InputFileError(path, f"not a run: {first['msg']}", field=place or None) from None
        except ValueError as error:
            raise InputFileError(path, f"not a run: {error}") from None

    @classmethod
    def _from(cls, whole: _WholeRun) -> Run:
        if whole.header.format != FORMAT:
            raise ValueError(f"its format is {whole.header.format}, this library reads {FORMAT}")
        if problem := whole.header.incomplete([record.number for record in whole.cases]):
            raise ValueError(f"{problem}; write it again from its journal")
        if problem := next(filter(None, map(whole.header.impossible, whole.cases)), ""):
            raise ValueError(f"{problem}; write it again from its journal")
        return cls(whole.header, tuple(CaseResult.of(record) for record in whole.cases))

    def _aggregate(self, name: str, cases: Iterable[CaseResult], category: str) -> Aggregate:
        seed = stats.seed_of(self.header.dataset, name, category)
        return aggregate(self.header.metrics[name], [case.figures[name] for case in cases], seed)


class _WholeRun(Record):
    header: Header
    figures: dict[str, Any]
    """Computed again from the cases: a figure that was edited in the file changes nothing."""
    categories: dict[str, Any]
    cases: tuple[CaseRecord, ...]


def aggregate(metric: MetricRecord, figures: Iterable[Measured], seed: int) -> Aggregate:
    """The cases' figures as one, with its interval and its gaps.

    Args:
        metric: says how they are combined.
        figures: one a case.
        seed: of the bootstrap.
    """
    held, gaps, nothing = [], dict[str, int](), 0
    for measured in figures:
        if isinstance(measured.figure, NotComputed):
            nothing += measured.figure.nothing
            gaps[measured.figure.reason] = gaps.get(measured.figure.reason, 0) + 1
        else:
            held.append((measured.figure, measured.parts))
    gaps = dict(sorted(gaps.items()))
    values = [value for value, _ in held]
    if not values:
        reason = "; ".join(gaps) or "no case"
        return Aggregate(NotComputed(reason), NotComputed(reason), 0, gaps, nothing=nothing)
    spread = Spread.of(values, *metric.range)
    figure: Figure
    interval: Interval | NotComputed
    if metric.combination == "sum":
        figure, interval = math.fsum(values), NotComputed("a sum has no interval")
    elif metric.combination == "pooled":
        parts = [pair for _, pair in held if pair is not None and pair[1] > 0]
        whole = sum(pair[1] for pair in parts)
        figure = sum(pair[0] for pair in parts) / whole if whole else NotComputed("the metric tells no parts")
        interval = stats.pooled_interval(parts, seed)
    else:
        figure = math.fsum(values) / len(values)
        interval = stats.mean_interval(values, seed, binary=metric.range == (0, 1))
    return Aggregate(figure, interval, len(values), gaps, spread, nothing)


def _written(found: Aggregate) -> dict[str, Any]:
    record: dict[str, Any] = {"computed": found.computed}
    if found.not_computed:
        record["gaps"] = dict(found.not_computed)
    if found.nothing:
        record["nothing_to_measure"] = found.nothing
    if isinstance(found.figure, NotComputed):
        return {**record, "not_computed": found.figure.reason}
    record["value"] = found.figure
    if isinstance(found.interval, Interval):
        record |= {"low": found.interval.low, "high": found.interval.high, "method": found.interval.method}
    else:
        record["interval_not_computed"] = found.interval.reason
    if (spread := found.spread) is not None:
        record |= {
            "median": spread.median,
            "min": spread.smallest,
            "max": spread.largest,
            "p95": spread.p95,
            "histogram": list(spread.histogram),
        }
        if not isinstance(spread.deviation, NotComputed):
            record["sd"] = spread.deviation
    return record


def _flat(case: CaseResult) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": case.id,
        "category": case.category,
        "outcome": case.outcome,
        "error": case.error,
    }
    row |= {f"count.{label}": count for label, count in case.counts.items()}
    for name, measured in case.figures.items():
        gap = isinstance(measured.figure, NotComputed)
        row[name] = None if gap else measured.figure
        row[f"{name}.not_computed"] = (
            measured.figure.reason if isinstance(measured.figure, NotComputed) else None
        )
    return row
