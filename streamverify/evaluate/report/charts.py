"""Charts as inline SVG: no library, no style attribute, the same bytes for the same figures.

Before: `page.py` hands over finite numbers. After: the page's style sheet colours the classes.

Positions along a bar are percentages, so that a chart takes the width it gets and its strokes stay round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

BAR, GAP, HEIGHT = 18, 2, 56
"""Of a histogram, in the units of its view box."""


def _percent(share: float) -> str:
    return f"{100 * min(max(share, 0.0), 1.0):.2f}".rstrip("0").rstrip(".") + "%"


def interval_bar(
    value: float,
    interval: tuple[float, float] | None,
    scale: tuple[float, float],
    *,
    told: str,
    before: float | None = None,
) -> str:
    """A figure on its scale, with its interval and the baseline's figure.

    Args:
        value: finite.
        interval: its ends; None where there is none.
        scale: where the bar begins and ends; what lies outside is drawn at its edge.
        told: the same in words, for who cannot see it.
        before: the baseline's figure.
    """
    start, end = scale

    def at(number: float) -> float:
        return (number - start) / (end - start) if end > start else 0.5

    parts = ['<line class="track" x1="0" x2="100%" y1="9" y2="9"/>']
    if interval is not None:
        low, high = (min(max(at(one), 0.0), 1.0) for one in interval)
        width = _percent(high - low)
        parts.append(f'<rect class="range" x="{_percent(low)}" width="{width}" y="5" height="8" rx="2"/>')
    if before is not None:
        place = _percent(at(before))
        parts.append(f'<line class="before" x1="{place}" x2="{place}" y1="1" y2="17"/>')
    parts.append(f'<circle class="point" cx="{_percent(at(value))}" cy="9" r="4"/>')
    return f'<svg class="interval" height="18" role="img" aria-label="{escape(told)}">{"".join(parts)}</svg>'


def histogram(counts: Sequence[int], start: float, end: float, *, told: str) -> str:
    """How many cases lie in each of the equally wide bins of `[start, end]`.

    Args:
        counts: 0 or more each.
        start: where the first bin begins.
        end: where the last ends.
        told: the same in words.
    """
    most, step = max(counts, default=0), (end - start) / len(counts) if counts else 0.0
    bars = []
    for place, count in enumerate(counts):
        height = max(2.0, HEIGHT * count / most) if count else 0.0
        low = start + place * step
        title = f"{low:.4g} to {low + step:.4g}: {count}"
        bars.append(
            f'<rect x="{place * (BAR + GAP)}" y="{HEIGHT - height:.2f}" width="{BAR}" height="{height:.2f}">'
            f"<title>{title}</title></rect>"
        )
    width = len(counts) * (BAR + GAP) - GAP
    base = f'<line class="base" x1="0" x2="{width}" y1="{HEIGHT + 1}" y2="{HEIGHT + 1}"/>'
    return (
        f'<svg class="histogram" viewBox="0 0 {width} {HEIGHT + 2}" role="img" aria-label="{escape(told)}">'
        f"{''.join(bars)}{base}</svg>"
    )


def strip(counts: Mapping[str, int], *, told: str) -> str:
    """Parts of a whole beside each other.

    Args:
        counts: class of a part to its size, 0 or more, in the order in which they are drawn.
        told: the same in words.
    """
    whole, before, parts = sum(max(count, 0) for count in counts.values()), 0, []
    for name, count in counts.items():
        if count > 0:  # a damaged journal may say less, which is no part
            x, width = _percent(before / whole), _percent(count / whole)
            parts.append(f'<rect class="{escape(name)}" x="{x}" width="{width}" height="6"/>')
            before += count
    return f'<svg class="strip" height="6" role="img" aria-label="{escape(told)}">{"".join(parts)}</svg>'
