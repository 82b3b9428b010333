"""Streams with random faults, as many as wanted: nothing lost, nothing leaked, nothing left behind.

    python benchmarks/soak.py --streams 100000 --seed 1
    python benchmarks/soak.py --minutes 10

Sources are slow, hang, raise, block a thread; readers leave early, are cancelled, forget their handle;
scorers hang, ignore that they were called off, raise, and have their process killed; the records' disk is
full, their database locked or gone. A small share goes through the real model. After every round of streams
all must be as before it: tasks, threads, descriptors; memory is measured after `malloc_trim`, and what it may
grow by over the second half is bounded.

What every stream must keep to is in `soak_laws.py`. Exit 0 where all of it held, 1 where it did not.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import gc
import json
import logging
import os
import random
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import anyio
import sqlalchemy as sa

from machine import describe
from soak_laws import PASSAGES, Plan, Tally, followed, planned
from soak_scorers import DoubleScorer, KilledScorer
from streamverify import Verifier
from streamverify.events import Event, StreamFailed, StreamFinished, StreamHalted
from streamverify.observe import Observer, Opening
from streamverify.records import Records, schema, verify

_POOLS = ("streamverify-encode", "streamverify-pass")
"""Threads of the model's pools, which begin when they are first needed and stay; one a core."""
DISASTERS = ("none", "full", "locked", "gone")
SETTLE_SECONDS, QUIET_SECONDS = 120.0, 3.0
MEMORY_MIB = 24.0
"""That resident memory may grow by over the second half of a run: allocators never are quite flat."""


class Level(NamedTuple):
    """What a process holds."""

    tasks: int
    threads: int
    descriptors: int
    resident_mib: float
    blocks: int
    """Of Python's allocator, about one an object: memory that grows while these do not is held by nobody."""


class Watch(Observer):
    """Counts openings and ends; every opened stream must tell its end."""

    def __init__(self) -> None:
        self.opened_count = self.ended_count = 0

    def opened(self, opening: Opening) -> None:
        del opening
        self.opened_count += 1

    def event(self, stream: str, event: Event) -> None:
        del stream
        self.ended_count += isinstance(event, StreamFinished | StreamHalted | StreamFailed)


def level() -> Level:
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library keeps what was freed as it likes
        ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Level(
        len(asyncio.all_tasks()),
        sum(not thread.name.startswith(_POOLS) for thread in threading.enumerate()),
        len(list(Path("/proc/self/fd").iterdir())),
        round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 2),
        sys.getallocatedblocks(),
    )


async def settled(before: Level | None, rest: Callable[[], object]) -> Level:
    """The level once it is no higher than before, or after a while as it is.

    With nothing before, once it has not changed for as long as the slowest check takes to end.

    Args:
        before: the level that counts.
        rest: gives back what the next use makes anew; called before each look, because a thread may still
            have used it since the last one.
    """

    def rested() -> Level:
        rest()
        return level()

    if before is None:
        known, since = rested()[:3], time.monotonic()
        while time.monotonic() - since < QUIET_SECONDS:
            await anyio.sleep(0.1)
            if (now := rested()[:3]) != known:
                known, since = now, time.monotonic()
    until = time.monotonic() + SETTLE_SECONDS
    while True:
        now = rested()
        if (
            before is None
            or time.monotonic() > until
            or all(a <= b for a, b in zip(now[:3], before, strict=False))
        ):
            return now
        await anyio.sleep(0.05)


@contextmanager
def disaster(kind: str, records: Records, folder: Path) -> Iterator[None]:
    """Something happens to the database while the block runs."""
    path = folder / "records.db"
    if kind == "full":
        engine = records.database._engines.here  # noqa: SLF001 - the disk of the records

        def limit(connection: sa.Connection) -> None:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

        def lift(connection: sa.Connection) -> None:
            connection.exec_driver_sql("PRAGMA max_page_count = 1073741823")

        sa.event.listen(engine, "begin", limit)
        yield
        sa.event.remove(engine, "begin", limit)
        sa.event.listen(engine, "begin", lift)
    elif kind == "locked":
        other = sqlite3.connect(path, isolation_level=None, timeout=60)
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.close()
    elif kind == "gone":
        records.database.close()
        away = folder.with_name(folder.name + "-away")
        folder.rename(away)
        yield
        away.rename(folder)
    else:
        yield


class Soak:
    """One run: verifiers, rounds of streams, what was counted."""

    def __init__(self, asked: argparse.Namespace, folder: Path, stack: ExitStack) -> None:
        self.asked, self.folder = asked, folder
        self.random = random.Random(asked.seed)
        self.tally = Tally()
        self.disasters: Counter[str] = Counter()
        self.watch, self.double, self.killed = Watch(), DoubleScorer(), KilledScorer()
        stack.callback(self.killed.close)
        self.records = Records(folder / "records.db", patience=0.2)
        self.records.database.close()
        engine = self.records.database._engines.here  # noqa: SLF001 - a lock is noticed soon
        sa.event.listen(engine, "connect", lambda made, _: made.execute("PRAGMA busy_timeout=100"))
        options = {"verdict_timeout": 0.5, "observers": [self.watch]}
        self.recorded = Verifier(self.double, verdict_timeout=0.5, observers=[self.watch, self.records])
        self.verifiers = {
            "double": Verifier(self.double, **options),
            "recorded": self.recorded,
            "killed": Verifier(self.killed, **options),
            "real": Verifier(observers=[self.watch], verdict_timeout=60.0),
        }

    async def one_round(self, first: int, count: int) -> None:
        """Run some streams at once, `--concurrent` of them at any time."""
        limiter = anyio.CapacityLimiter(self.asked.concurrent)
        shares = {
            "double": 1 - self.asked.real - 0.2,
            "recorded": 0.15,
            "killed": 0.05,
            "real": self.asked.real,
        }

        async def one(number: int) -> None:
            async with limiter:
                await self.one_stream(planned(self.asked.seed, number, shares))

        async with anyio.create_task_group() as group:
            for number in range(first, first + count):
                group.start_soon(one, number)

    async def one_stream(self, plan: Plan) -> None:
        try:
            await followed(plan, self.verifiers[plan.verifier], self.tally)
        except Exception as error:  # noqa: BLE001 - told with what makes it happen again
            self.tally.broken.append(f"stream {plan.number}: {type(error).__name__}: {error}")

    def rest(self) -> None:
        """Keep neither connections, which are as many as the last disaster left, nor a process."""
        self.records.database.close()
        self.killed.rest()

    async def run(self) -> tuple[list[dict], int]:
        asked, rows, begun, done = self.asked, [], time.perf_counter(), 0
        before: Level | None = None
        for verifier in self.verifiers.values():  # what is loaded at first use stays
            await verifier.check("The mill was built in 1804.", PASSAGES)
        until = begun + asked.minutes * 60 if asked.minutes else None
        while done < asked.streams and (until is None or time.perf_counter() < until):
            count = min(asked.round, asked.streams - done)
            kind = self.random.choice(DISASTERS)
            self.disasters[kind] += 1
            with disaster(kind, self.records, self.folder):
                await self.one_round(done, count)
                await anyio.to_thread.run_sync(self.recorded.drain_observers, 60.0)
            done += count
            now = await settled(before, self.rest)
            if before is not None:
                for name in ("tasks", "threads", "descriptors"):
                    if getattr(now, name) > getattr(before, name):
                        left = sorted(task.get_name() for task in asyncio.all_tasks())
                        threads = sorted(thread.name for thread in threading.enumerate())
                        self.tally.broken.append(
                            f"round at {done}: {name} {before} -> {now}; {left} {threads}"
                        )
            before = before if before is not None else now
            row = {"streams": done, "seconds": round(time.perf_counter() - begun, 1), **now._asdict()}
            rows.append(row)
            print(json.dumps({**row, "disaster": kind}), flush=True)
        return rows, done


def slope_kib(rows: list[dict]) -> float:
    """KiB of resident memory a thousand streams, least squares."""
    xs, ys = [row["streams"] / 1000 for row in rows], [row["resident_mib"] * 1024 for row in rows]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / spread if spread else 0.0


async def soak(asked: argparse.Namespace, folder: Path) -> dict:
    with ExitStack() as stack:
        run = Soak(asked, folder, stack)
        for verifier in run.verifiers.values():
            stack.enter_context(verifier)
        rows, done = await run.run()
        broken = run.tally.broken
        await anyio.to_thread.run_sync(run.recorded.drain_observers, 60.0)
        told = [one for verifier in run.verifiers.values() for one in verifier.observer_statistics()]
    if any(one.dropped or one.failed for one in told):
        broken.append(f"observers: {told}")
    if run.watch.opened_count != run.watch.ended_count:
        broken.append(f"{run.watch.opened_count} streams opened, {run.watch.ended_count} told their end")
    if run.tally.sources_begun != run.tally.sources_ended:
        broken.append(f"{run.tally.sources_begun} sources begun, {run.tally.sources_ended} ended")
    run.records.close()
    stored, dropped, waiting = run.records.statistics
    delivered = told[2].delivered  # of the records: the second observer of the second verifier
    with run.records.database as database:
        with database.reading() as connection:
            entries = connection.execute(sa.select(sa.func.count()).select_from(schema.entries)).scalar_one()
        problems = [str(problem) for problem in verify(database).problems]
    if entries != stored or waiting or problems:
        broken.append(f"records: {stored} said to be stored, {entries} are; {waiting} wait; {problems[:3]}")
    later = rows[len(rows) // 2 :]
    grown = later[-1]["resident_mib"] - later[0]["resident_mib"]
    if grown > MEMORY_MIB:
        broken.append(f"memory grew by {grown:.1f} MiB over the second half")
    return {
        "streams": done,
        "seed": asked.seed,
        "seconds": rows[-1]["seconds"],
        "processor_seconds": round(time.process_time(), 1),
        **run.tally.counts(),
        "disasters": dict(run.disasters),
        "scorers_killed": run.killed.deaths,
        "records": {"stored": stored, "dropped": dropped, "calls": delivered},
        "resident_mib": {"first_round": rows[0]["resident_mib"], "last": rows[-1]["resident_mib"]},
        "second_half": {
            "rounds": len(later),
            "grown_mib": round(grown, 2),
            "slope_kib_per_1000": round(slope_kib(later), 1),
        },
        "held": {
            name: [rows[0][name], rows[-1][name]] for name in ("tasks", "threads", "descriptors", "blocks")
        },
        "rounds": rows,
        "machine": {**describe(), "load": round(os.getloadavg()[0], 1)},
        "broken": broken[:20],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=1_000_000_000, help="how many at most")
    parser.add_argument(
        "--minutes", type=float, default=0.0, help="begin no round after so many; 0 for no limit"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--round", type=int, default=1000, help="streams between two measurements")
    parser.add_argument("--concurrent", type=int, default=64)
    parser.add_argument("--real", type=float, default=0.002, help="share that goes through the model")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    asked = parser.parse_args()
    if asked.streams == 1_000_000_000 and not asked.minutes:
        parser.error("say when to end: --streams or --minutes")
    logging.getLogger("streamverify.records").setLevel(logging.CRITICAL)  # what is dropped is counted below
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "records"
        place.mkdir()
        figures = anyio.run(soak, asked, place)
    if asked.json is not None:
        asked.json.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps({name: figure for name, figure in figures.items() if name != "rounds"}, indent=2))
    return 1 if figures["broken"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
