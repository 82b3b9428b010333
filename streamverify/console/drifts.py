"""What `streamverify monitor drift` found, on a page: a table a look, then what people's labels say.

Before: `monitor.py` looked. After: the terminal, or a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from streamverify.figure import Figure, Interval, NotComputed
from streamverify.text.printing import counted

if TYPE_CHECKING:
    from streamverify.monitor.drift import Look, Shift
    from streamverify.monitor.promises import CalibrationError, PromiseCheck
    from streamverify.monitor.traffic import Window

_COLUMNS = ("of", "before", "now", "test", "p", "distance", "moved", "PSI", "")


def show_drift(
    console: Console, looks: Sequence[Look], error: CalibrationError, checked: PromiseCheck | None
) -> None:
    """Print the looks, the calibration error, and what became of a guarantee where one was asked for."""
    plain = not console.encoding.lower().startswith("utf")
    for look in looks:
        console.print(_look(look, plain=plain))
    told = [_calibration(error)]
    told += [] if checked is None else [f"guarantee {checked.status}: {checked.detail}"]
    for line in told:
        console.print(Text(line))


def _look(look: Look, *, plain: bool) -> RenderableType:
    table = Table(
        box=box.ASCII2 if plain else box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for name in _COLUMNS:
        table.add_column(name, justify="left" if name in ("of", "test", "") else "right", no_wrap=True)
    for shift in look.shifts:
        table.add_row(*_row(shift))
    title = Text(f"look {look.number}: {_stretch(look.window)}", style="bold")
    return Group(title, table, *(Text(note, style="dim") for note in _notes(look)), Text())


def _row(shift: Shift) -> Iterator[Text]:
    psi = _figure(shift.psi)
    drawn = Text("drifted", style="bold red") if shift.drifted else Text("no drift")
    tested = not isinstance(shift.p, NotComputed)
    for cell in (
        shift.name,
        f"{shift.rows[0]:,}",
        f"{shift.rows[1]:,}",
        shift.test,
        _figure(shift.p, "{:.3g}"),
        _figure(shift.distance),
        _figure(shift.wasserstein),
        psi if shift.psi_means_something or psi == "-" else f"({psi})",
    ):
        yield Text(cell)
    yield drawn if tested else Text("not computed", style="cyan")


def _notes(look: Look) -> Iterator[str]:
    """What the cells leave out, each thing once."""
    reasons: dict[str, list[str]] = {}
    for shift in look.shifts:
        if isinstance(shift.p, NotComputed):
            reasons.setdefault(shift.p.reason, []).append(shift.name)
    for reason, names in reasons.items():
        yield f"{', '.join(names)}: {reason}"
    if any(isinstance(one.psi, float) and not one.psi_means_something for one in look.shifts):
        yield "PSI in brackets: fewer than 500 rows, so that the index means nothing"


def _calibration(error: CalibrationError) -> str:
    if isinstance(error.error, NotComputed):
        return f"calibration error: not computed: {error.error.reason}"
    text = f"calibration error: {error.error:.3f}"
    if isinstance(error.interval, Interval):
        text += f" [{error.interval.low:.3f}, {error.interval.high:.3f}]"
    if isinstance(error.by_chance, float):
        text += f", up to {error.by_chance:.3f} by chance"
    labels = counted(error.labels, "labelled sentence")
    verdict = "scores are no probabilities any more" if error.drifted else "no drift"
    return f"{text}, over {labels} of {counted(error.answers, 'answer')}: {verdict}"


def _figure(value: Figure, shape: str = "{:.3f}") -> str:
    return "-" if isinstance(value, NotComputed) else shape.format(value)


def _stretch(window: Window) -> str:
    since, until = (f"{moment:%Y-%m-%d %H:%M}" for moment in (window.since, window.until))
    return f"{since} to {until} {window.since:%Z}".rstrip()
