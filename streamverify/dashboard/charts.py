"""Charts over time as inline SVG: no library, no style attribute; what they show stands in words too.

Before: `overview.py` hands over figures. After: the page's style sheet colours the classes.

Positions across are percentages, so that a chart takes the width it gets and its words keep their shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape

HEIGHT = 132
"""Of a chart's plot, in pixels."""
_BELOW = 20
_SPARK = 28
_GAP = 0.16


@dataclass(frozen=True, slots=True)
class Place:
    """One stretch of time on a chart."""

    since: datetime
    told: str
    """What happened then, in words."""
    href: str = ""
    """Where it leads."""


def line(
    values: Sequence[float | None], places: Sequence[Place], *, floor: float, told: str, before: float | None
) -> str:
    """A share over time; where there is none, the line is broken.

    Args:
        values: 0-1 each.
        places: as many.
        floor: where the scale begins.
        told: the same in words, for who cannot see it.
        before: the same share in the time before, drawn across.
    """
    count = len(values)
    marks = "".join(_mark(share, floor) for share in _ticks(floor))
    old = ""
    if before is not None and before >= floor:
        y = _y(before, floor)
        old = f'<line class="before" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>'
    dots = "".join(
        f'<circle cx="{_across(place, count)}" cy="{_y(value, floor):.1f}" r="2.5"/>'
        for place, value in enumerate(values)
        if value is not None
    )
    return (
        f'<svg class="chart line" height="{HEIGHT + 2}" role="img" aria-label="{escape(told)}">{marks}{old}'
        f'<svg viewBox="0 0 {count} {HEIGHT}" width="100%" height="{HEIGHT}" preserveAspectRatio="none">'
        f"{_curves(values, floor)}</svg>{dots}{_touch(places)}</svg>"
    )


def columns(rows: Sequence[dict[str, int]], places: Sequence[Place], *, told: str, every: int) -> str:
    """Parts on top of each other over time, with the time below.

    Args:
        rows: class of a part to its size, the lowest first.
        places: as many.
        told: the same in words.
        every: how many places have one time written below.
    """
    count, most = len(rows), max((sum(row.values()) for row in rows), default=0)
    bars, width = [], 100 / count * (1 - _GAP)
    for place, row in enumerate(rows):
        y = float(HEIGHT)
        for name, size in row.items():
            if size:
                height = max(HEIGHT * size / most, 0.8)
                y -= height
                x = 100 / count * (place + _GAP / 2)
                bars.append(
                    f'<rect class="{escape(name)}" x="{x:.3f}%" width="{width:.3f}%" y="{y:.1f}" '
                    f'height="{height:.1f}"/>'
                )
    times = "".join(
        f'<text class="{"" if place else "first"}" x="{_across(place, count) if place else 0}" '
        f'y="{HEIGHT + 15}" data-time="{one.since.isoformat()}">'
        f"{one.since:%H:%M}</text>"
        for place, one in enumerate(places)
        if place % every == 0
    )
    top = f'<text class="scale" x="100%" y="10">{most:,}</text>' if most else ""
    base = f'<line class="grid" x1="0" x2="100%" y1="{HEIGHT}" y2="{HEIGHT}"/>'
    return (
        f'<svg class="chart columns" height="{HEIGHT + _BELOW}" role="img" aria-label="{escape(told)}">'
        f"{base}{''.join(bars)}{times}{top}{_touch(places)}</svg>"
    )


def spark(values: Sequence[float | None], *, told: str) -> str:
    """A small line without a scale: how something went."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return ""
    low, high = min(known), max(known)
    span, lowest = (high - low, _SPARK - 3.0) if high > low else (1.0, _SPARK / 2)
    ys = [None if value is None else lowest - (_SPARK - 6) * (value - low) / span for value in values]
    curve = "".join(f'<polyline points="{_points(run)}"/>' for run in _runs(ys))
    return (
        f'<svg class="spark" viewBox="0 0 {len(values)} {_SPARK}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(told)}">{curve}</svg>'
    )


def _ticks(floor: float) -> tuple[float, ...]:
    return (floor, (1 + floor) / 2, 1.0)


def _mark(share: float, floor: float) -> str:
    y = _y(share, floor)
    return (
        f'<line class="grid" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text class="scale" x="100%" y="{min(y + 12, HEIGHT - 3) if share > floor else HEIGHT - 3:.1f}">'
        f"{100 * share:g} %</text>"
    )


def _y(share: float, floor: float) -> float:
    """Where a share stands, 1 at the top."""
    return 1 + (HEIGHT - 2) * (1 - (max(share, floor) - floor) / (1 - floor))


def _curves(values: Sequence[float | None], floor: float) -> str:
    parts = []
    for run in _runs([None if value is None else _y(value, floor) for value in values]):
        points = _points(run)
        first, last = run[0][0] + 0.5, run[-1][0] + 0.5
        parts.append(f'<polygon points="{first},{HEIGHT} {points} {last},{HEIGHT}"/>')
        parts.append(f'<polyline points="{points}"/>')
    return "".join(parts)


def _runs(values: Sequence[float | None]) -> list[list[tuple[int, float]]]:
    """Stretches without a gap, as place and value."""
    runs: list[list[tuple[int, float]]] = [[]]
    for place, value in enumerate(values):
        if value is not None:
            runs[-1].append((place, value))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _points(run: Sequence[tuple[int, float]]) -> str:
    return " ".join(f"{x + 0.5},{y:.1f}" for x, y in run)


def _across(place: int, count: int) -> str:
    return f"{100 / count * (place + 0.5):.3f}%"


def _touch(places: Sequence[Place]) -> str:
    """Columns of air over the plot, which tell what stands there and lead on."""
    count, parts = len(places), []
    for number, one in enumerate(places):
        air = (
            f'<rect class="air" x="{100 / count * number:.3f}%" width="{100 / count:.3f}%" y="0" '
            f'height="{HEIGHT}"><title>{escape(one.told)}</title></rect>'
        )
        parts.append(f'<a href="{escape(one.href)}" tabindex="-1">{air}</a>' if one.href else air)
    return "".join(parts)
