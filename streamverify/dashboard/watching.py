"""Beside the pages: sums are brought up to date, alerts and drift are looked at now and then.

Before: `app.py` runs it as long as it serves. After: pages show what was found last, and when.

Alerts and drift read rows, which takes longer than a page may; so they are looked at in threads, one tenant
after the other.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from streamverify.errors import StreamVerifyError
from streamverify.monitor import alerts, drift
from streamverify.monitor.firing import AlertMemory, Firing, Step, known, remembered, remembering, step
from streamverify.monitor.traffic import Traffic, Window
from streamverify.records import Database, Requester, add_up
from streamverify.records.database import DatabaseError
from streamverify.records.requester import AUDITOR

_LOG = logging.getLogger("streamverify.dashboard")

PULSE = 2.0
"""Seconds between two looks at whether something was added."""
_OVER = 20
"""Alerts that are over and still shown."""
_SETTLED = timedelta(hours=1)
"""After which no stream of a window is still running."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What is looked at."""

    rules: alerts.Rules
    alert_seconds: float = 30.0
    reference: Window | None = None
    """What later windows are held against; None for no drift."""
    length: timedelta = timedelta(hours=24)
    drift_seconds: float = 900.0
    memory: Path | None = None
    """File that remembers what is on, over the dashboard's own life; None to begin anew each time."""
    checks: Path | None = None
    """Memory of `streamverify monitor check`, which may know since when."""
    asked: str = ""
    """Which rules, for the memory."""


@dataclass(frozen=True, slots=True)
class Found:
    """What was found for one tenant, and when; None where nothing was looked at yet."""

    alerts: tuple[alerts.Alert, ...] | None = None
    firing: Mapping[tuple[str, str | None], Firing] = field(default_factory=dict)
    """By figure and domain, what is on, and since when."""
    over: tuple[Firing, ...] = ()
    """What was on and is not any more, the latest first; as long as this dashboard runs."""
    alerts_at: datetime | None = None
    looks: tuple[drift.Look, ...] | None = None
    looks_at: datetime | None = None
    problem: str = ""
    """Why the last look failed; empty where it did not."""


class Watcher:
    """Looks again and again, until its task is cancelled."""

    def __init__(
        self, database: Database, tenants: Sequence[str], watched: Watched, clock: Callable[[], datetime]
    ) -> None:
        """Nothing is looked at yet."""
        self._database, self._tenants, self._watched, self._clock = database, tenants, watched, clock
        self._lock, self._summed = threading.Lock(), threading.Event()
        self._firing: dict[str, tuple[Firing, ...]] = {}
        self._found: dict[str, Found] = {tenant: Found() for tenant in tenants}
        self._drifts = {tenant: _Drift(self._traffic(tenant), watched) for tenant in tenants}

    def found(self, tenant: str) -> Found:
        """What was found last."""
        with self._lock:
            return self._found[tenant]

    @property
    def reference(self) -> Window | None:
        """What later windows are held against."""
        return self._watched.reference

    @property
    def seconds(self) -> float:
        """Between two looks at alerts."""
        return self._watched.alert_seconds

    async def run(self) -> None:
        """Look, and again after a while; a database that cannot be used is tried again."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._again, self._sums_and_alerts)
            if self._watched.reference is not None:
                # By itself: a look at a long window takes longer than sums may wait.
                group.start_soon(self._again, self._every_drift)

    async def _again(self, look: Callable[[], None]) -> None:
        while True:
            await anyio.to_thread.run_sync(look)
            await anyio.sleep(PULSE)

    def _sums_and_alerts(self) -> None:
        try:
            add_up(self._database)
            self._summed.set()
        except DatabaseError as error:
            self._failed(error, self._tenants)
            return
        for tenant in self._tenants:
            now = self._clock()
            if _due(self.found(tenant).alerts_at, now, self._watched.alert_seconds):
                self._guarded(tenant, partial(self._look_for_alerts, tenant, now))

    def _look_for_alerts(self, tenant: str, now: datetime) -> None:
        found = alerts.check(lambda domain: self._traffic(tenant, domain), self._watched.rules, now)
        told = self._remembered(tenant, found, now)
        firing = {one.key: one for one in told.firing if one.until is None}
        over = [change.firing for change in told.changes if change.kind == "resolved"]
        over += self.found(tenant).over
        self._keep(
            tenant,
            alerts=told.alerts,
            firing=firing,
            over=tuple(over[:_OVER]),
            alerts_at=now,
            problem="",
        )

    def _remembered(self, tenant: str, found: Sequence[alerts.Alert], now: datetime) -> Step:
        """What is on and since when, by the memory of this dashboard; at first by that of the checks."""
        file, asked = self._watched.memory, {"dashboard": self._watched.asked, "tenant": tenant}
        try:
            with nullcontext(AlertMemory()) if file is None else remembering(file, asked) as memory:
                told = step(memory.firing or self._begun(tenant, found), found, now, ())
                memory.firing = self._firing[tenant] = remembered(told.firing, ())
        except StreamVerifyError as error:  # another dashboard has it just now, or it cannot be written
            _LOG.warning("what is on is not remembered in a file: %s", error)
            told = step(self._begun(tenant, found), found, now, ())
            self._firing[tenant] = remembered(told.firing, ())
        return told

    def _begun(self, tenant: str, found: Sequence[alerts.Alert]) -> tuple[Firing, ...]:
        if tenant in self._firing or self._watched.checks is None or tenant:
            return self._firing.get(tenant, ())
        on = {(one.figure, one.domain, one.rule) for one in found if one.status == "on"}
        held = {one.key: one for one in known(self._watched.checks) if (*one.key, one.rule) in on}
        return tuple(one.model_copy(update={"untold": ()}) for one in held.values())

    def _every_drift(self) -> None:
        if not self._summed.is_set():
            return  # what the sums do not hold yet would be missing from the reference for good
        for tenant in self._tenants:
            now = self._clock()
            if _due(self.found(tenant).looks_at, now, self._watched.drift_seconds):
                self._guarded(tenant, partial(self._look_for_drift, tenant, now))

    def _look_for_drift(self, tenant: str, now: datetime) -> None:
        looks: tuple[drift.Look, ...] = ()
        for looks in self._drifts[tenant].looks(now):
            self._keep(tenant, looks=looks)  # what is there is shown while the next is looked at
        self._keep(tenant, looks=looks, looks_at=now)

    def _traffic(self, tenant: str, domain: str | None = None) -> Traffic:
        auditor = Requester(roles=frozenset({AUDITOR}), tenant=tenant)
        return Traffic(self._database, auditor, domain=domain, sums=True)

    def _guarded(self, tenant: str, look: Callable[[], None]) -> None:
        try:
            look()
        except (DatabaseError, StreamVerifyError) as error:
            self._failed(error, [tenant])

    def _keep(self, tenant: str, **told: Any) -> None:
        with self._lock:
            self._found[tenant] = replace(self._found[tenant], **told)

    def _failed(self, error: Exception, tenants: Sequence[str]) -> None:
        text = str(error) if isinstance(error, StreamVerifyError) else "the records cannot be used now"
        if any(self.found(tenant).problem != text for tenant in tenants):  # once, not every two seconds
            _LOG.warning("could not look at what was recorded: %s", type(error).__name__)
        for tenant in tenants:
            self._keep(tenant, problem=text)


class _Drift:
    """The looks at one tenant; a window that ended a while ago is looked at once."""

    def __init__(self, traffic: Traffic, watched: Watched) -> None:
        self._traffic, self._watched = traffic, watched
        self._before: drift.Sample | None = None
        self._looks: dict[int, drift.Look] = {}

    def looks(self, now: datetime) -> Iterator[tuple[drift.Look, ...]]:
        """The looks so far, after each one that was new."""
        reference, length = self._watched.reference, self._watched.length
        assert reference is not None, "nothing is looked at without a reference"
        if now < reference.until + length:
            return
        if self._before is None:
            self._before = drift.sample(self._traffic, reference)
        told: list[drift.Look] = []
        for number, window in enumerate(Window(reference.until, now).parts(length), 1):
            look = self._looks.get(number)
            if look is None:
                look = drift.look(number, window, self._before, drift.sample(self._traffic, window))
                if now - window.until > _SETTLED:
                    self._looks[number] = look
            told.append(look)
            yield tuple(told)


def utc_now() -> datetime:
    """This machine's clock."""
    return datetime.now(UTC)


def _due(last: datetime | None, now: datetime, seconds: float) -> bool:
    return last is None or (now - last).total_seconds() >= seconds
