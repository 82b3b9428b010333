"""What every form of a report says: the verdict, the figures side by side with the baseline's, which cases.

Before: a run, its gates, its comparison. After: `page.py`, `markdown.py`, `junit.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from streamverify.evaluate.comparison import Comparison, Difference
from streamverify.evaluate.gates import GateResult, responsible
from streamverify.evaluate.records import MetricRecord
from streamverify.evaluate.result import CaseResult
from streamverify.evaluate.run import Run
from streamverify.figure import Aggregate, Figure, Interval, NotComputed

State = Literal["error", "failed", "unclear", "passed"]

STATES: dict[State, str] = {
    "error": "went wrong",
    "failed": "failed",
    "unclear": "not checked",
    "passed": "passed",
}
"""State of a case to its word, the worst first."""

NAMED = 8
"""Cases that stand beside a figure or a gate."""

LISTED = 2000
"""Cases that a page lists beside those that did not pass."""


def state_of(case: CaseResult) -> State:
    """What became of a case; what could not be told did not pass."""
    if case.error:
        return "error"
    return "unclear" if case.passed is None else "passed" if case.passed else "failed"


def number(value: Figure, record: MetricRecord | None = None) -> str:
    """A figure for people: three places, none where it counts or is large."""
    if isinstance(value, NotComputed):
        return "not computed"
    if abs(value) >= 100 or (record is not None and record.combination == "sum" and value == int(value)):
        return f"{value:,.0f}"
    return f"{value:.3f}"


def coverage(found: Aggregate) -> str:
    """On how many cases a figure rests, and why not on all."""
    text = f"{found.computed:,} of {found.cases:,}"
    if found.not_computed:
        reasons = "; ".join(
            f"{reason} ({count:,})" if len(found.not_computed) > 1 else reason
            for reason, count in sorted(found.not_computed.items())
        )
        text += f", {sum(found.not_computed.values()):,} not computed: {reasons}"
    return text


def _few(names: Sequence[str]) -> str:
    """Names for a head line; a table below has them all."""
    left = len(names) - 3
    return ", ".join(names) if left < 2 else f"{', '.join(names[:3])} and {left} more"


def _against_baseline(found: Comparison) -> list[str]:
    """What is worse and what was to be compared and is not, for a head line."""
    failed = {name: one for name, one in found.differences.items() if one.failed}
    gaps = [*(name for name, one in failed.items() if isinstance(one.difference, NotComputed)), *found.owed]
    worse = [name for name in failed if name not in gaps]
    told = [f"{_few(worse)} worse than the baseline"] if worse else []
    told += [f"{_few(gaps)} not compared with the baseline"] if gaps else []
    return told or ["no worse than the baseline"]


def _is_gap(figure: Figure) -> bool:
    return isinstance(figure, NotComputed) and not figure.nothing


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A metric over all cases, beside the baseline's."""

    name: str
    record: MetricRecord
    found: Aggregate
    difference: Difference | None
    not_compared: str
    """Why the baseline's figure cannot be set beside it; empty without a baseline."""

    @property
    def value(self) -> str:
        """The figure."""
        return number(self.found.figure, self.record)

    @property
    def why(self) -> str:
        """Why there is no figure; empty where there is one."""
        return self.found.figure.reason if isinstance(self.found.figure, NotComputed) else ""

    @property
    def interval(self) -> str:
        """Its ends, or why there are none."""
        if isinstance(self.found.interval, Interval):
            low, high = (
                number(one, self.record) for one in (self.found.interval.low, self.found.interval.high)
            )
            return f"{low} – {high}"
        return "" if self.why else self.found.interval.reason

    @property
    def has_interval(self) -> bool:
        """Whether `interval` is one."""
        return isinstance(self.found.interval, Interval)

    @property
    def coverage(self) -> str:
        """See `coverage`."""
        return coverage(self.found)

    @property
    def before(self) -> str:
        """The baseline's figure; empty where there is none."""
        if self.difference is None or isinstance(self.difference.before, NotComputed):
            return ""
        return number(self.difference.before, self.record)

    @property
    def change(self) -> str:
        """After - before, signed; empty where it cannot be told."""
        if self.difference is None or isinstance(self.difference.difference, NotComputed):
            return ""
        text = f"{self.difference.difference:+.3f}"
        return "0.000" if text in ("+0.000", "-0.000") else text

    @property
    def change_interval(self) -> str:
        """The ends of the difference's interval; empty where there is none."""
        if self.difference is None or not isinstance(self.difference.interval, Interval):
            return ""
        return f"{self.difference.interval.low:+.3f} to {self.difference.interval.high:+.3f}"


@dataclass(frozen=True, slots=True)
class Way:
    """From a figure or a gate to the cases it came from."""

    cases: tuple[tuple[CaseResult, str], ...]
    """At most `NAMED`, in the order to look at them, each with its own figure or why it has none."""
    more: int
    """Others that have a figure, or are as much to blame."""


@dataclass(frozen=True, slots=True)
class View:
    """A run as reports tell it."""

    run: Run
    gates: tuple[GateResult, ...]
    comparison: Comparison | None

    @classmethod
    def of(cls, run: Run, gates: Sequence[GateResult], comparison: Comparison | None) -> View:
        """The view of a run."""
        return cls(run, tuple(gates), comparison)

    @property
    def failed(self) -> bool | None:
        """Whether a gate is not passed or the run is worse than its baseline; None without either."""
        if not self.gates and self.comparison is None:
            return None
        worse = self.comparison is not None and self.comparison.failed
        return worse or any(result.status != "passed" for result in self.gates)

    @property
    def verdict(self) -> str:
        """The head line."""
        told = []
        if self.gates:
            left = sum(result.status != "passed" for result in self.gates)
            count = len(self.gates)
            gates = "1 gate" if count == 1 else f"{count} gates"
            told.append(f"{left} of {gates} not passed" if left else f"{gates} passed")
        if self.comparison is not None:
            told += _against_baseline(self.comparison)
            if self.comparison.newly_failing:
                count = len(self.comparison.newly_failing)
                told.append("1 case newly failing" if count == 1 else f"{count:,} cases newly failing")
        text = "; ".join(told) or "No gates were asked for"
        return text[0].upper() + text[1:]

    @property
    def figures(self) -> tuple[FigureRow, ...]:
        """A row a metric, in the run's order."""
        compared = self.comparison
        rows = []
        for name, record in self.run.header.metrics.items():
            difference = compared.differences.get(name) if compared is not None else None
            why = compared.not_comparable.get(name, "") if compared is not None else ""
            rows.append(FigureRow(name, record, self.run[name], difference, why))
        return tuple(rows)

    def behind_figure(self, row: FigureRow) -> Way:
        """Some cases that lack the figure though there was something to measure, then the worst ones."""
        gaps = [case for case in self.run.cases if _is_gap(case[row.name])]
        held = self.run.worst(row.name, NAMED)
        return self._way((*gaps[: NAMED // 2], *held), len(gaps) + row.found.computed, row.name)

    def behind_gate(self, result: GateResult) -> Way:
        """The cases by which a gate came out as it did."""
        held = responsible(self.run, result, NAMED)
        return self._way(held, len(held), result.metric)

    def _way(self, cases: Sequence[CaseResult], count: int, metric: str) -> Way:
        record = self.run.header.metrics.get(metric)
        told = tuple((case, number(case[metric], record)) for case in cases[:NAMED])
        return Way(told, max(0, count - len(told)))

    @property
    def scorer(self) -> str:
        """What scored, in words."""
        mark = self.run.header.fingerprint
        each = ((one.model, one.revision, one.precision) for one in (mark, *mark.later))
        return ", then ".join(" ".join(filter(None, parts)) for parts in each)

    @property
    def newly_failing(self) -> frozenset[str]:
        """Ids."""
        return frozenset(self.comparison.newly_failing if self.comparison is not None else ())

    @property
    def states(self) -> dict[State, int]:
        """Cases by state, the worst first."""
        counts: dict[State, int] = dict.fromkeys(STATES, 0)
        for case in self.run.cases:
            counts[state_of(case)] += 1
        return counts

    def ordered(self) -> list[CaseResult]:
        """Every case, failing first: newly failing ones, then by state, then as in the dataset."""
        new, ranks = self.newly_failing, list(STATES)
        return sorted(
            self.run.cases, key=lambda one: (one.id not in new, ranks.index(state_of(one)), one.number)
        )

    def listed(self, named: Collection[str] = (), limit: int = LISTED) -> list[CaseResult]:
        """Every case that did not pass or is named; of the others what `limit` leaves room for, by hash.

        Args:
            named: ids of cases that the page leads to.
            limit: cases beside which only such are listed.
        """
        cases = self.ordered()
        if len(cases) <= limit:
            return cases
        wanted = self.newly_failing.union(named)
        bad = [case for case in cases if state_of(case) != "passed" or case.id in wanted]
        kept = {case.id for case in bad}
        seed = self.run.header.dataset
        good = sorted(
            (case for case in cases if case.id not in kept),
            key=lambda one: hashlib.sha256(f"{seed}\0{one.id}".encode(errors="backslashreplace")).digest(),
        )
        kept |= {case.id for case in good[: max(0, limit - len(bad))]}
        return [case for case in cases if case.id in kept]
