"""What stands on the page of runs: evaluations side by side with their gates, and what ran live.

Before: `records/runs.py`, `monitor/hours.py`. After: `templates/runs.html`.

Two evaluations of the same cases are compared case by case, as `streamverify compare` does, beside the page
(`pairing.py`); where records hold no cases of one, the page says that nothing is paired.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from streamverify.dashboard.overview import WINDOWS, Asked
from streamverify.dashboard.pairing import Pair, Pairing, Unpaired
from streamverify.errors import UsageError
from streamverify.evaluate.comparison import Comparison, Difference
from streamverify.evaluate.gates import Gates, Status, decide_figure
from streamverify.evaluate.report.charts import interval_bar
from streamverify.figure import Aggregate, Interval, NotComputed
from streamverify.monitor.hours import HourlyTraffic, hours_before
from streamverify.records import Database, Reader, Requester, RunFigureRow, RunRow


@dataclass(frozen=True, slots=True)
class Row:
    """A metric in both evaluations."""

    metric: str
    after: RunFigureRow | None
    before: RunFigureRow | None
    bar: str
    gate: str
    """In words; empty for none."""
    status: Status | None
    """Of the gate, for the later one."""
    paired: Difference | None = None
    """Over the cases that both have."""
    why_not: str = ""
    """Why it is not paired, where others are."""

    @property
    def change(self) -> float | None:
        """After - before: over the pairs where there are some; None where one of them is missing."""
        if self.paired is not None and isinstance(self.paired.difference, float):
            return self.paired.difference
        if self.after is None or self.before is None:
            return None
        if self.after.value is None or self.before.value is None:
            return None
        return self.after.value - self.before.value


def runs(
    database: Database,
    requester: Requester,
    asked: Asked,
    now: datetime,
    *,
    gates: Gates | None,
    pairing: Pairing,
    chosen: str | None,
    against: str | None,
) -> dict[str, Any]:
    """The page of runs.

    Raises:
        UsageError: a run's id is none, or there is no such run. Client.
    """
    reader = Reader(database, requester)
    listed = reader.runs()
    after = _chosen(listed, chosen, 0)
    before = _chosen(listed, against, 1)
    live = HourlyTraffic(database, requester).runs(hours_before(now, WINDOWS[asked.window][0]))
    figures = [
        {row.metric: row for row in reader.run_figures(one.id)} if one is not None else {}
        for one in (after, before)
    ]
    both = after is not None and before is not None and after.id != before.id
    pair: Pair = pairing.of(before.id, after.id) if both and before and after else Unpaired("")
    return {
        "asked": asked,
        "live": [one for one in live if one.name is not None],
        "listed": listed,
        "after": after,
        "before": before,
        "rows": _rows(figures[0], figures[1], gates, pair if isinstance(pair, Comparison) else None),
        "pair": pair,
        "unpaired": pair.why if isinstance(pair, Unpaired) else "",
        "gated": gates is not None,
    }


def _chosen(listed: list[RunRow], given: str | None, place: int) -> RunRow | None:
    if given is None:
        return listed[place] if len(listed) > place else None
    try:
        identity = uuid.UUID(given)
    except ValueError:
        raise UsageError(f"{given!r} is no id of a run") from None
    found = next((one for one in listed if one.id == identity), None)
    if found is None:
        raise UsageError(f"there is no run {given} among the latest {len(listed)}")
    return found


def _rows(
    after: dict[str, RunFigureRow],
    before: dict[str, RunFigureRow],
    gates: Gates | None,
    pair: Comparison | None,
) -> list[Row]:
    paired, why_not = (pair.differences, pair.not_comparable) if pair is not None else ({}, {})
    asked = gates.everywhere if gates is not None else {}
    least = gates.baseline.min_coverage if gates is not None else 1.0
    rows = []
    for metric in sorted({*after, *before, *asked}):
        own, gate = after.get(metric), asked.get(metric)
        status: Status | None = None
        if gate is not None:
            status = "not computed" if own is None else decide_figure(_aggregate(own), gate, least)[0]
        rule = str(gate).replace(">=", "≥").replace("<=", "≤") if gate is not None else ""
        bar, why = _bar(own, before.get(metric)), why_not.get(metric, "")
        rows.append(Row(metric, own, before.get(metric), bar, rule, status, paired.get(metric), why))
    # What misses its gate or got worse first, then what is gated, then what was computed.
    order = {"failed": 0, "not computed": 1, "passed": 2, None: 3}
    return sorted(
        rows,
        key=lambda row: (
            order[row.status],
            not (row.paired is not None and row.paired.status == "failed"),
            row.after is None or row.after.value is None,
        ),
    )


def _aggregate(row: RunFigureRow) -> Aggregate:
    why = NotComputed(row.not_computed or "it was not computed")
    return Aggregate(
        figure=why if row.value is None else row.value,
        interval=(
            Interval(row.low, row.high, "bca")
            if row.low is not None and row.high is not None
            else NotComputed("there is no interval")
        ),
        computed=row.computed,
        not_computed=row.gaps,
        nothing=row.nothing,
    )


def _bar(row: RunFigureRow | None, before: RunFigureRow | None) -> str:
    if row is None or row.value is None:
        return ""
    old = before.value if before is not None else None
    held = [value for value in (row.value, row.low, row.high, old) if value is not None]
    scale = (min(0.0, *held), max(1.0, *held))
    ends = (row.low, row.high) if row.low is not None and row.high is not None else None
    told = f"{row.value:.3f}" + (f", 95 % interval {ends[0]:.3f} to {ends[1]:.3f}" if ends else "")
    return interval_bar(row.value, ends, scale, told=told, before=old)
