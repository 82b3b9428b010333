"""Alerts that last: told once when they fire, on until their figure meets the bound, told again then.

Before: `alerts.py` says what is on now. After: `sinks.py` is told what has changed, and a file remembers it.

    off ──on──► firing ──the figure meets the bound, or the rule is gone──► resolved ──all sinks told──► off
                  └ on, too few streams, or a miss that chance explains: nothing new, and nobody is told again

That a figure misses its bound by chance alone turns no alert on, and turns none off: else one at the edge
would come and go with every look. What `for` asks is told by the records, not remembered here.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Literal

from pydantic import AwareDatetime, Field, ValidationError

from streamverify.errors import InputFileError
from streamverify.evaluate.file_lock import lock
from streamverify.evaluate.records import Record
from streamverify.figure import NotComputed
from streamverify.monitor.alerts import Alert, Rule

GONE = "the rule is gone"


class Firing(Record):
    """An alert that is on, or was and not everybody knows yet that it no longer is."""

    figure: str
    domain: str | None
    rule: Rule
    since: AwareDatetime
    until: AwareDatetime | None = None
    """When it was resolved; None while it is on."""
    untold: tuple[str, ...] = ()
    """Sinks that could not be told of the last change."""

    @property
    def key(self) -> tuple[str, str | None]:
        """What tells the alerts of one file apart."""
        return self.figure, self.domain


@dataclass(frozen=True, slots=True)
class Change:
    """An alert that fired or was resolved, and whom to tell."""

    alert: Alert
    firing: Firing

    @property
    def kind(self) -> Literal["fired", "resolved"]:
        """Which of the two."""
        return "fired" if self.firing.until is None else "resolved"

    def __str__(self) -> str:
        """What changed, and the alert, on one line."""
        since, until = self.firing.since, self.firing.until
        ends = (
            f"at {since.isoformat()}"
            if until is None
            else f"at {until.isoformat()}, on since {since.isoformat()}"
        )
        return f"{self.kind} {ends}: {self.alert}"


@dataclass(frozen=True, slots=True)
class Step:
    """What one look at all rules makes of what fired before."""

    alerts: tuple[Alert, ...]
    """As they were found; one that stays on is `on`, with the reason in its detail."""
    firing: tuple[Firing, ...]
    """All that is on, and what was resolved just now or is still to be told; in the rules' order."""
    changes: tuple[Change, ...]
    """What somebody has to be told of."""


def step(before: Sequence[Firing], alerts: Sequence[Alert], now: datetime, sinks: Sequence[str]) -> Step:
    """Hold what was found against what fired before.

    Args:
        before: as the last step left it.
        alerts: what became of every rule now.
        now: the moment of what changes.
        sinks: names of those that are told of changes.
    """
    known = {one.key: one for one in before}
    shown: list[Alert] = []
    firing: list[Firing] = []
    changes: list[Change] = []
    for found in alerts:
        held = known.pop((found.figure, found.domain), None)
        was_on = held is not None and held.until is None
        alert, is_on = _seen(found, firing=was_on)
        shown.append(alert)
        if is_on and not was_on:
            held = Firing(
                figure=found.figure, domain=found.domain, rule=found.rule, since=now, untold=tuple(sinks)
            )
        elif held is not None:
            held = held.model_copy(update={"rule": found.rule})
            if was_on and not is_on:
                held = held.model_copy(update={"until": now, "untold": tuple(sinks)})
        if held is not None:
            firing.append(held)
            changes += [Change(alert, held)] if _changed(held, now) else []
    for held in known.values():
        gone = held if held.until is not None else _ended(held, now, sinks)
        firing.append(gone)
        nothing = NotComputed(GONE)
        alert = Alert(held.figure, held.domain, held.rule, "not computed", nothing, nothing, 0, detail=GONE)
        changes += [Change(alert, gone)] if _changed(gone, now) else []
    return Step(tuple(shown), tuple(firing), tuple(changes))


def remembered(firing: Sequence[Firing], untold: Collection[tuple[str, Change]]) -> tuple[Firing, ...]:
    """What the next step has to know.

    Args:
        firing: as a step left it.
        untold: sinks, and the changes that each of them could not be told.
    """
    missed = {(name, change.firing.key) for name, change in untold}
    kept = [
        one.model_copy(update={"untold": tuple(name for name in one.untold if (name, one.key) in missed)})
        for one in firing
    ]
    return tuple(one for one in kept if one.until is None or one.untold)


def _changed(held: Firing, now: datetime) -> bool:
    return bool(held.untold) or now in (held.since, held.until)


def _ended(held: Firing, now: datetime, sinks: Sequence[str]) -> Firing:
    return held.model_copy(update={"until": now, "untold": tuple(sinks)})


def _seen(found: Alert, *, firing: bool) -> tuple[Alert, bool]:
    """The alert as it is shown, and whether it is on."""
    if found.status == "on" or not firing:
        return found, found.status == "on"
    if isinstance(found.value, NotComputed):
        return dataclasses.replace(found, status="on", detail=f"was on; now {found.value.reason}"), True
    if found.rule.met(found.value):
        return found, False
    said = found.detail or "chance may explain the miss"
    return dataclasses.replace(found, status="on", detail=f"{said}; on until the bound is met"), True


def known(path: Path) -> tuple[Firing, ...]:
    """What is on by the memory of any check, as it stands in a file; none where there is none.

    Reads alone, and disturbs no check that runs: what is being written at this moment counts as none.
    """
    try:
        with path.open("rb") as file:
            held = _read(file, path)
    except (OSError, InputFileError):
        return ()
    return tuple(one for firing in held.checks.values() for one in firing if one.until is None)


class _File(Record):
    """What is on the disk."""

    format: Literal[1] = 1
    checks: dict[str, tuple[Firing, ...]] = Field(default_factory=dict)
    """Digest of what was asked to what fires of it."""


@dataclass(slots=True)
class AlertMemory:
    """What fires of one check, in a file that is locked while the check runs."""

    firing: tuple[Firing, ...] = ()
    """Of the last check; to be replaced by what the next one has to know."""


@contextmanager
def remembering(path: Path, asked: Mapping[str, str | None]) -> Iterator[AlertMemory]:
    """What fires, to be replaced inside the block; written at its end, unless the block raises.

    Args:
        path: of the file; made where there is none. Several checks may share it.
        asked: what tells this check from others: which rules, over which answers.

    Raises:
        InputFileError: the file is something else. Operator.
        UsageError: another check has it at this moment. Operator.
    """
    name = hashlib.sha256(json.dumps(dict(asked), sort_keys=True).encode()).hexdigest()[:16]
    try:
        file = path.open("a+b")
    except OSError as error:
        raise InputFileError(path, f"cannot be opened: {error.strerror or error}") from None
    with file:
        lock(file, path)
        held = _read(file, path)
        memory = AlertMemory(held.checks.get(name, ()))
        yield memory
        checks = {**held.checks, name: memory.firing}
        _write(file, _File(checks={key: one for key, one in checks.items() if one}))


def _read(file: BinaryIO | BufferedReader, path: Path) -> _File:
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):  # a device may have no end, and keeps nothing
        raise InputFileError(path, "is no file that could remember what is on")
    file.seek(0)
    data = file.read()
    if not data:
        return _File()
    try:
        return _File.model_validate_json(data)
    except ValidationError:
        raise InputFileError(
            path, "is no memory of alerts; name another file, or remove it to have all alerts told again"
        ) from None


def _write(file: BinaryIO, held: _File) -> None:
    file.seek(0)
    file.truncate()
    file.write(held.model_dump_json(indent=1).encode())
    file.flush()
    os.fsync(file.fileno())
