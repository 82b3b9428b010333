"""What happens on the day, on a terminal: a line an hour, and one for whatever somebody should know.

Before: `replay.py` tells each quarter of an hour. After: a person.

On a terminal the last line shows how far the day has come; anywhere else there is nothing to redraw.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.text import Text

from streamverify.console.transcript import safe
from streamverify.demo_day.replay import LOOK, REFERENCE, Day, Told
from streamverify.demo_day.visits import BAD_RELEASE, GOOD_RELEASE
from streamverify.figure import shown
from streamverify.monitor.alerts import Alert
from streamverify.monitor.drift import Look, Shift
from streamverify.monitor.firing import Change
from streamverify.monitor.traffic import Bucket
from streamverify.types import Label

_BAR = 24
_HOUR = timedelta(hours=1)
_NAMED = 2
"""Streams of an alert that are named; the records know five."""


class DayView:
    """Shows one day on one console."""

    def __init__(self, console: Console, records: Path, rules: Path, visits: int) -> None:
        """Nothing is shown yet.

        Args:
            console: any; what it cannot draw has plain words.
            records: where the day is recorded.
            rules: file of the alert rules.
            visits: planned for the day.
        """
        self._console, self._records, self._rules, self._visits = console, records, rules, visits
        self._unicode = console.encoding.lower().startswith("utf")
        self._firing: set[tuple[str, str | None]] = set()
        self._live: Live | None = None

    @contextmanager
    def showing(self) -> Iterator[None]:
        """Say what is to be seen, and keep a line for how far the day has come."""
        where = safe(str(self._records))
        self._print(Text(f"{self._visits} questions of one day, through the proxy into {where}.", "dim"))
        self._print(Text("At noon a bad release goes out; in the evening the retriever changes.", "dim"))
        if not self._console.is_terminal or self._console.is_dumb_terminal:
            yield
            return
        self._live = Live(console=self._console, transient=True, auto_refresh=False)
        with self._live:
            yield
        self._live = None

    def tell(self, told: Told) -> None:
        """Show a quarter of an hour."""
        for change in told.changes:
            key = change.firing.key
            (self._firing.add if change.kind == "fired" else self._firing.discard)(key)
        if told.hour is not None:
            self._print(self._hour(told.hour))
        for change in told.changes:
            self._print(self._change(change, told.now))
        if told.look is not None:
            self._print(self._look(told.look))
        if self._live is not None:
            done = f" {told.now:%H:%M}  {told.visits} of {self._visits} answers verified"
            self._live.update(Text(done, "bold"), refresh=True)

    def end(self, day: Day) -> None:
        """Show what somebody who comes in now should know, and where to look."""
        for title, parts in (
            ("What alerted, and why", list(_alerts(day))),
            ("What drifted", [self._look(look) for look in day.looks]),
            ("What the proxy answers under /metrics", [Text(f" {_told_by(day.metrics)}")]),
            ("Look closer", [Text(f" {command}", "cyan") for command in self._commands(day)]),
        ):
            self._print(Text(f"\n{title}", "bold"))
            for part in parts:
                self._print(part)

    def _hour(self, hour: Bucket) -> Text:
        claims = sum(hour.labels[one] for one in (Label.SUPPORTED, Label.CONTRADICTED, Label.UNSUPPORTED))
        share = hour.labels[Label.SUPPORTED] / claims if claims else None
        filled = round(_BAR * (share or 0.0))
        full, empty, dash = ("█", "░", "–") if self._unicode else ("#", ".", "-")
        line = Text(f" {hour.since:%H}{dash}{hour.since + _HOUR:%H}  ")
        line.append(full * filled + empty * (_BAR - filled), "red" if self._firing else "green")
        said = "nothing was claimed" if share is None else f"{share:4.0%} of claims supported"
        line.append(f"  {said}  {hour.streams:3} answers")
        if hour.failed:
            line.append(f"  {hour.failed} broke off", "red")
        return line

    def _change(self, change: Change, now: datetime) -> Text:
        alert, fired = change.alert, change.kind == "fired"
        mark = ("▲" if fired else "▽") if self._unicode else ("!" if fired else "-")
        line = Text(f" {now:%H:%M} {mark} ", "bold red" if fired else "bold green")
        line.append(f"{'alert' if fired else 'over '}  {alert.figure}", "bold")
        line.append(f" {_why(alert)}")
        if not fired:
            line.append(f"; on since {change.firing.since:%H:%M}")
        return line

    def _look(self, look: Look) -> Text:
        mark = "≈" if self._unicode else "~"
        since, until = look.window.since, look.window.until
        line = Text(f" {until:%H:%M} {mark} ", "bold yellow" if look.drifted else "dim")
        if look.drifted:
            line.append("drift  ", "bold")
            line.append("; ".join(_moved(shift) for shift in look.drifted))
        elif any(isinstance(shift.p, float) for shift in look.shifts):
            line.append("no drift", "dim")
        else:
            line.append("too few answers to tell", "dim")
        line.append(f" (since {since:%H:%M}, against the first {REFERENCE // _HOUR} hours)", "dim")
        return line

    def _commands(self, day: Day) -> Iterator[str]:
        records, rules = shlex.quote(str(self._records)), shlex.quote(str(self._rules))
        fired = [change for change in day.changes if change.kind == "fired"]
        for look in day.looks[:1]:
            since = look.window.since
            midnight, until = since - REFERENCE, since - REFERENCE + timedelta(days=1)
            against = f"--window {LOOK // _HOUR}h --reference {midnight:%Y-%m-%d}..{since:%Y-%m-%dT%H:%M} "
            alerting = f"; --at {fired[-1].firing.since:%Y-%m-%dT%H:%M} while it alerts" if fired else ""
            yield (
                f"streamverify dashboard --records {records} --rules {rules} {against}--at {until:%Y-%m-%d}"
                f"   # as of the end of the day{alerting}"
            )
            yield (
                f"streamverify monitor drift --records {records} {against}"
                f"--now {since:%Y-%m-%dT%H:%M}..{until:%Y-%m-%d}"
            )
        for change in fired[:1]:
            for stream in change.alert.open[:1]:
                yield f"streamverify audit show {stream} --records {records}"
            at = f"{change.firing.since:%Y-%m-%dT%H:%M}"
            yield f"streamverify monitor check --records {records} --rules {rules} --at {at}"
        yield f"streamverify ab decide {GOOD_RELEASE} {BAD_RELEASE} --records {records}"

    def _print(self, line: Text) -> None:
        # What a reader may copy stays whole, however narrow the terminal is.
        self._console.print(line, soft_wrap=True)


def _alerts(day: Day) -> Iterator[Text]:
    """Each alert with how long it was on, why, and the streams to open."""
    ends = {(one.firing.key, one.firing.since): one.firing.until for one in day.changes}
    for change in day.changes:
        if change.kind == "fired":
            since, until = change.firing.since, ends[change.firing.key, change.firing.since]
            line = Text(f" {change.alert.figure}", "bold red")
            line.append(f" from {since:%H:%M}" + (f" to {until:%H:%M}" if until else " on"), "bold")
            line.append(f": {_why(change.alert)}")
            yield line
            yield Text(f"   open {', '.join(str(stream) for stream in change.alert.open[:_NAMED])}", "dim")
    if not day.changes:
        yield Text(" nothing")


def _why(alert: Alert) -> str:
    """The figure, the bound and the number of answers, in words."""
    return f"{shown(alert.value)}, asked for {alert.rule} ({alert.streams} answers)"


def _moved(shift: Shift) -> str:
    """What differs, and by how much."""
    return f"{shift.name} by {shown(shift.distance)} of 1"


def _told_by(metrics: Mapping[str, float]) -> str:
    """The streams by outcome and the sentences by label."""

    def total(family: str, label: str, word: str) -> int:
        asked = f'{label}="{word}"'
        return int(sum(v for name, v in metrics.items() if name.startswith(f"{family}{{") and asked in name))

    streams = [
        f"{total('streamverify_streams_total', 'outcome', word)} {word}" for word in ("finished", "failed")
    ]
    sentences = [
        f"{count} {label.value}"
        for label in Label
        if (count := total("streamverify_sentences_total", "label", label.value))
    ]
    return f"answers: {', '.join(streams)}; sentences: {', '.join(sentences)}"
