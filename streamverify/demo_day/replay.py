"""One day, a quarter of an hour after the other: visitors ask the proxy, and what came of it is looked at.

Before: `visits.py` plans. After: `view.py` shows what is told here.

    visitors ──► proxy (server/app.py) ──► model.py          real servers on loopback, real streams
                   └ observers ──► records, /metrics          each visit told as of its planned moment
    every quarter  monitor/alerts.py, monitor/firing.py       what fired, what was resolved
    every 4 hours  monitor/drift.py                           against the night and the early morning
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import httpx2

from streamverify.demo_day.model import model_app
from streamverify.demo_day.serving import served
from streamverify.demo_day.visits import Visit
from streamverify.errors import StreamStateError
from streamverify.events import Event, StreamFailed, StreamFinished, StreamHalted
from streamverify.monitor import PrometheusObserver, alerts, drift, firing
from streamverify.monitor.traffic import Bucket, Traffic, Window
from streamverify.observe import Observer, Opening
from streamverify.records import Records
from streamverify.server import ServeSettings, create_app
from streamverify.types import Passage
from streamverify.verifier import Verifier

QUARTER = timedelta(minutes=15)
REFERENCE, LOOK = timedelta(hours=8), timedelta(hours=4)
"""From midnight on, what later hours are held against; and how many of them at a time."""
_AT_ONCE = 8
"""Visitors who are waiting for an answer at a time."""
_PATIENCE = 300.0
"""Seconds: a busy machine must not change what is found."""
_IDS = uuid.UUID("6f0f2c1e-94c4-4f7e-9a35-3b3f5b0b8a11")


@dataclass(frozen=True, slots=True)
class Told:
    """What has happened by a moment of the day."""

    now: datetime
    visits: int
    """Answered so far."""
    hour: Bucket | None = None
    """The hour that has just ended; None where none has, or nobody came."""
    changes: tuple[firing.Change, ...] = ()
    look: drift.Look | None = None
    """Where four hours have ended that were held against the reference."""


@dataclass(frozen=True, slots=True)
class Day:
    """All that came of a day."""

    changes: tuple[firing.Change, ...]
    looks: tuple[drift.Look, ...]
    metrics: Mapping[str, float]
    """What the proxy's `/metrics` answered at the end: `name{label="value"}` to the value."""
    recorded: int
    """Openings and ends of streams in the records."""


class PlannedMoments(Observer):
    """Tells another observer of each visit under the id and at the moment that were planned for it."""

    def __init__(self, inner: Observer, visits: Sequence[Visit]) -> None:
        """Nothing was told yet."""
        self._inner, self._visits = inner, visits
        self._ids: dict[str, str] = {}

    def opened(self, opening: Opening) -> None:
        """Put the visit's id and moment in."""
        visit = self._visits[int(opening.context.tags["visit"])]
        identity = str(uuid.uuid5(_IDS, f"{visit.at.isoformat()} {visit.number}"))
        self._ids[opening.stream] = identity
        self._inner.opened(dataclasses.replace(opening, stream=identity, at=visit.at))

    def retrieved(self, stream: str, passages: Sequence[Passage]) -> None:
        """Put the visit's id in."""
        self._inner.retrieved(self._ids[stream], passages)

    def event(self, stream: str, event: Event) -> None:
        """Put the visit's id in."""
        self._inner.event(self._ids[stream], event)
        if isinstance(event, StreamFinished | StreamHalted | StreamFailed):
            del self._ids[stream]

    def idle(self) -> None:
        """Pass it on."""
        self._inner.idle()


class Replay:
    """One day through the proxy."""

    def __init__(
        self,
        visits: Sequence[Visit],
        records: Path,
        rules: alerts.Rules,
        verifier: Callable[[Sequence[Observer]], Verifier] | None = None,
    ) -> None:
        """Nothing runs yet.

        Args:
            visits: of one day, one or more.
            records: a new SQLite file.
            rules: for alerts.
            verifier: makes what judges, with the observers it is given; by default with the embedded model.
        """
        self._visits, self._records, self._rules = visits, records, rules
        self._made = verifier if verifier is not None else _verifier
        self._midnight = visits[0].at.replace(hour=0, minute=0, second=0, microsecond=0)
        self._now = self._midnight
        self._firing: tuple[firing.Firing, ...] = ()
        self._before: drift.Sample | None = None

    async def run(self, tell: Callable[[Told], None], *, seconds: float = 60.0) -> Day:
        """Replay the day.

        Args:
            tell: called in the event loop, with what each quarter of an hour brought.
            seconds: that the day takes at least; 0 for as fast as it goes.
        """
        changes: list[firing.Change] = []
        looks: list[drift.Look] = []
        with ExitStack() as stack:
            records = stack.enter_context(Records(self._records, clock=lambda: self._now))
            metrics = PrometheusObserver(records_dropped=lambda: records.statistics.dropped)
            verifier = self._made([PlannedMoments(records, self._visits), metrics])
            model = stack.enter_context(served(model_app(self._visits)))
            settings = ServeSettings(upstream=f"{model}/v1", metrics=metrics)
            proxy = stack.enter_context(served(create_app(settings, verifier)))
            client = httpx2.AsyncClient(base_url=proxy, timeout=httpx2.Timeout(_PATIENCE))
            async with client:
                begun, quarters = anyio.current_time(), timedelta(days=1) // QUARTER
                left = list(self._visits)
                for number in range(1, quarters + 1):
                    await anyio.sleep_until(begun + (number - 1) * seconds / quarters)
                    now = self._midnight + number * QUARTER
                    due = [visit for visit in left if visit.at < now]
                    del left[: len(due)]
                    await _asked(client, due)
                    self._now = now
                    told = await anyio.to_thread.run_sync(
                        self._looked, verifier, records, len(self._visits) - len(left)
                    )
                    changes += told.changes
                    looks += [told.look] if told.look is not None else []
                    tell(told)
                exposed = await client.get("/metrics")
            statistics = records.statistics
        return Day(tuple(changes), tuple(looks), _figures(exposed.text), statistics.stored)

    def _looked(self, verifier: Verifier, records: Records, answered: int) -> Told:
        """What the quarter of an hour brought that has just ended; blocking."""
        if not verifier.drain_observers(_PATIENCE):
            raise StreamStateError(f"the records were not written within {_PATIENCE:g} s")
        now, since = self._now, self._now - self._midnight
        traffic = Traffic(records.database)
        found = alerts.check(partial(_traffic, records), self._rules, now)
        step = firing.step(self._firing, found, now, ())
        self._firing = firing.remembered(step.firing, ())
        hour = None
        if not since % timedelta(hours=1):
            hour = next(iter(traffic.series(Window(now - timedelta(hours=1), now), timedelta(hours=1))), None)
        look = None
        if since > REFERENCE and not since % LOOK:
            if self._before is None:
                self._before = drift.sample(traffic, Window(self._midnight, self._midnight + REFERENCE))
            window = Window(now - LOOK, now)
            place = (since - REFERENCE) // LOOK
            look = drift.look(place, window, self._before, drift.sample(traffic, window))
        return Told(now, answered, hour, step.changes, look)


def _verifier(observers: Sequence[Observer]) -> Verifier:
    return Verifier(verdict_timeout=_PATIENCE, observers=observers)


def _traffic(records: Records, domain: str | None) -> Traffic:
    return Traffic(records.database, domain=domain)


async def _asked(client: httpx2.AsyncClient, visits: Sequence[Visit]) -> None:
    """Every visitor has an answer, a few at a time."""
    room = anyio.CapacityLimiter(_AT_ONCE)

    async def one(visit: Visit) -> None:
        async with room, client.stream("POST", "/v1/chat/completions", json=_request(visit)) as answer:
            async for _ in answer.aiter_bytes():
                pass
            answer.raise_for_status()

    async with anyio.create_task_group() as group:
        for visit in visits:
            group.start_soon(one, visit)


def _request(visit: Visit) -> dict[str, object]:
    """As an application would ask: the question for the model, the rest for the proxy."""
    return {
        "model": visit.release,
        "messages": [{"role": "user", "content": visit.question}],
        "metadata": {"visit": str(visit.number)},
        "stream": True,
        "streamverify": {
            "passages": [{"id": one.id, "title": one.title, "text": one.text} for one in visit.passages],
            "context": {
                "user": visit.user,
                "domain": visit.domain,
                "run": visit.release,
                "tags": {"visit": str(visit.number)},
            },
        },
    }


def _figures(exposed: str) -> dict[str, float]:
    """The samples of an exposition, as they are written."""
    rows = (line.rpartition(" ") for line in exposed.splitlines() if line and not line.startswith("#"))
    return {name: float(value) for name, _, value in rows}
