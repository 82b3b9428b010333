"""What stands on the first page and on the page of documents: figures of whole hours, and how they went.

Before: `monitor/hours.py`, `records/listing.py`. After: `templates/`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from streamverify.dashboard import charts
from streamverify.dashboard.rendering import percent
from streamverify.errors import UsageError
from streamverify.monitor.hours import HOUR, HourlyTraffic, Hours, hours_before
from streamverify.monitor.traffic import Window
from streamverify.records import Database, Requester
from streamverify.records.listing import Lister

WINDOWS = {"24h": (24, 1, 4), "7d": (168, 6, 4), "30d": (720, 24, 5)}
"""Name to hours, hours in one column, and columns to one time written below."""
_WORDS = {"24h": "24 hours", "7d": "7 days", "30d": "30 days"}
NEWEST = 12
BLAMED = 6
_LEAST, _MOST = 0.0005, 10.0
"""Changes of a share below it are none; with so many times more answers nobody had asked before."""
PARTS = ("supported", "unverified", "unsupported", "contradicted")
"""Labels of a column, the lowest first."""


@dataclass(frozen=True, slots=True)
class Tile:
    """One figure with how it went."""

    name: str
    value: str
    change: str
    """Against the time before; empty where there is nothing to hold it against."""
    good: bool | None
    """Whether the change is for the better; None for neither."""
    spark: str
    detail: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What a page is narrowed to."""

    window: str = "24h"
    domain: str | None = None
    run: str | None = None

    def __post_init__(self) -> None:
        """Refuse a window that is none."""
        if self.window not in WINDOWS:
            raise UsageError(f"window must be one of {', '.join(WINDOWS)}, not {self.window!r}")

    def link(self, path: str, **more: str | None) -> str:
        """A path with what is asked, and more."""
        given = {"window": self.window, "domain": self.domain, "run": self.run, **more}
        told = {name: value for name, value in given.items() if value is not None}
        if told.get("window") == "24h":
            del told["window"]
        return f"{path}?{urlencode(told)}" if told else path


def overview(database: Database, requester: Requester, asked: Asked, now: datetime) -> dict[str, Any]:
    """The first page."""
    hours, length, every = WINDOWS[asked.window]
    window = hours_before(now, hours)
    traffic = HourlyTraffic(database, requester, domain=asked.domain, run=asked.run)
    series = traffic.series(window, length * HOUR)
    before = traffic.total(Window(window.since - hours * HOUR, window.since))
    total = sum_of(series, window.since)
    everything = HourlyTraffic(database, requester)
    lister = Lister(database, requester)
    return {
        "asked": asked,
        "windows": _WORDS,
        "total": total,
        "tiles": _tiles(series, total, before),
        "line": _line(series, before, asked, length),
        "columns": _columns(series, asked, length, every),
        "newest": lister.streams(limit=NEWEST, domain=asked.domain, run=asked.run).streams,
        "documents": everything.documents(window, BLAMED),
        "domains": everything.domains(window),
        "runs": HourlyTraffic(database, requester, domain=asked.domain).runs(window),
        "every": length,
    }


def documents(database: Database, requester: Requester, asked: Asked, now: datetime) -> dict[str, Any]:
    """The page of documents."""
    window = hours_before(now, WINDOWS[asked.window][0])
    traffic = HourlyTraffic(database, requester)
    total = traffic.total(window)
    found = traffic.documents(window, 100)
    most = max((one.contradicted + one.fabricated for one in found), default=0)
    return {"asked": asked, "windows": _WORDS, "documents": found, "total": total, "most": most}


def sum_of(series: Sequence[Hours], since: datetime) -> Hours:
    """Stretches of time in one."""
    names = [name for name in Hours.__slots__ if name != "since"]
    return Hours(since, **{name: sum(getattr(one, name) for one in series) for name in names})


def _tiles(series: Sequence[Hours], total: Hours, before: Hours) -> list[Tile]:
    def tile(
        name: str, figure: Callable[[Hours], float | None], detail: str, *, more: bool, plain: bool = False
    ) -> Tile:
        now, then = figure(total), figure(before)
        change, good = "", None
        if now is not None and then is not None and before.streams:
            if plain:
                moved = (now - then) / then if then else 0.0
                change = f"{moved:+.0%}".replace("%", " %") if moved < _MOST else ""
            elif abs(now - then) >= _LEAST:
                change, good = f"{100 * (now - then):+.1f}", (now > then) is more
        value = f"{now:,.0f}" if plain and now is not None else percent(now)
        told = [figure(one) for one in series]
        return Tile(name, value, change, good, charts.spark(told, told=f"{name} over time"), detail)

    return [
        tile("Answers", lambda one: float(one.streams), f"{total.claims:,} claims", more=True, plain=True),
        tile("Supported", lambda one: one.faithfulness, "of claims", more=True),
        tile(
            "Contradicted", lambda one: one.contradiction_rate, f"{total.contradicted:,} claims", more=False
        ),
        tile("Not checked", lambda one: one.unverified_rate, f"{total.unverified:,} sentences", more=False),
        tile("Citations right", lambda one: one.citation_accuracy, "mean of answers", more=True),
        tile("Failed", lambda one: one.error_rate, f"{total.failed:,} answers", more=False),
    ]


def _places(series: Sequence[Hours], asked: Asked, length: int) -> list[charts.Place]:
    found = []
    for one in series:
        until = one.since + length * HOUR
        told = (
            f"{one.since:%d %b %H:%M} UTC: {one.streams:,} answers, {percent(one.faithfulness)} of claims "
            f"supported, {one.contradicted:,} contradicted, {one.unsupported:,} not in sources, "
            f"{one.unverified:,} not checked"
        )
        before = (until - timedelta(microseconds=1)).isoformat()
        found.append(charts.Place(one.since, told, asked.link("/answers", window=None, before=before)))
    return found


def _line(series: Sequence[Hours], before: Hours, asked: Asked, length: int) -> str:
    values = [one.faithfulness for one in series]
    known = [value for value in values if value is not None]
    lowest = min(known, default=1.0)
    floor = next((step for step in (0.8, 0.6, 0.4, 0.2) if lowest > step + 0.02), 0.0)
    told = f"share of claims that are supported, {percent(lowest if known else None)} at the lowest"
    return charts.line(
        values, _places(series, asked, length), floor=floor, told=told, before=before.faithfulness
    )


def _columns(series: Sequence[Hours], asked: Asked, length: int, every: int) -> str:
    rows = [{name: getattr(one, name) for name in PARTS} for one in series]
    told = "sentences by verdict over time"
    return charts.columns(rows, _places(series, asked, length), told=told, every=every)
