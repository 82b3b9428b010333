"""What keeping records costs a stream, and how fast rows are written; both printed.

Before: `records.py` opens the records, `records_history.py` a history of them.
"""

from __future__ import annotations

import statistics
import time
import uuid
from collections.abc import AsyncGenerator

import anyio
import sqlalchemy as sa

from streamverify import Passage, Redact, Verifier
from streamverify.events import StreamFinished
from streamverify.observe import Observer, Opening
from streamverify.records import Database, Records, schema
from streamverify.testing import ScriptedScorer

SENTENCES = 20
ANSWER = "Employees of the mill have thirty days of leave in every year [p1]. " * SENTENCES
PASSAGES = [Passage(f"p{n}", f"Employees have {n} days of leave. " * 30) for n in range(10)]


async def _paced(seconds: float) -> AsyncGenerator[str, None]:
    for word in ANSWER.split(" "):
        await anyio.sleep(seconds)
        yield f"{word} "


async def stream(observers: list[Observer], seconds: float) -> tuple[float, float, float]:
    """Whole time, the loop thread's processor time and the process's of one stream, in seconds."""
    async with Verifier(ScriptedScorer(), policy=Redact(), observers=observers) as verifier:
        await verifier.check("Warm.", PASSAGES)
        began, used, all_used = time.perf_counter(), time.thread_time(), time.process_time()
        async with verifier.stream(_paced(seconds), PASSAGES, context={"user": "u1"}) as running:
            async for _ in running:
                pass
        await anyio.to_thread.run_sync(verifier.drain_observers, 60.0)
        whole, own = time.perf_counter() - began, time.thread_time() - used
        return whole, own, time.process_time() - all_used


class _Remembers(Observer):
    def __init__(self) -> None:
        self.opening: Opening | None = None
        self.last: StreamFinished | None = None

    def opened(self, opening: Opening) -> None:
        self.opening = opening

    def event(self, stream: str, event: object) -> None:  # noqa: ARG002 - there is but one
        if isinstance(event, StreamFinished):
            self.last = event


def rows_a_second(records: Records, streams: int) -> tuple[int, float]:
    """Rows written and the seconds it took, from what an observer is told to what is committed."""
    seen = _Remembers()
    with Verifier(ScriptedScorer(), policy=Redact(), observers=[seen]) as verifier:
        verifier.check_sync(ANSWER, PASSAGES, context={"user": "u1"})
    assert seen.opening is not None
    assert seen.last is not None
    names, began = [str(uuid.uuid4()) for _ in range(streams)], time.perf_counter()
    for name in names:
        records.opened(Opening(**{f: getattr(seen.opening, f) for f in Opening.__slots__} | {"stream": name}))
        records.event(name, seen.last)
    records.flush()
    seconds = time.perf_counter() - began
    return streams * rows_of(records.database, uuid.UUID(names[-1])), seconds


def rows_of(database: Database, stream: uuid.UUID) -> int:
    """Of one stream, in all tables, with its two entries of the chain."""
    with database.reading() as connection:
        return 2 + sum(
            connection.execute(
                sa.select(sa.func.count()).where(
                    table.c["id" if name == "streams" else "stream_id"] == stream
                )
            ).scalar_one()
            for name, table in schema.metadata.tables.items()
            if name == "streams" or "stream_id" in table.c
        )


def told(records: Records, plain: Records, repeats: int, streams: int) -> None:
    """What recording costs, printed; `plain` shows no sentences of running streams."""
    pairs = []
    for _ in range(repeats):
        pairs.append([anyio.run(stream, given, 0.01) for given in ([records], [], [plain])])
    ratio = statistics.median(kept[0] / bare[0] for kept, bare, _ in pairs)
    loop = statistics.median(kept[1] - bare[1] for kept, bare, _ in pairs) / SENTENCES
    live = statistics.median(kept[1] - without[1] for kept, _, without in pairs) / SENTENCES
    process = [statistics.median(row[place][2] for row in pairs) / SENTENCES * 1e3 for place in range(3)]
    used = time.process_time()
    written, seconds = rows_a_second(records, streams)
    used = time.process_time() - used
    kept = records.statistics
    print(f"whole time with records / without: {ratio:.3f} (median of {repeats} pairs)")
    print(f"processor time of the event loop's thread for records: {loop * 1e3:.3f} ms a sentence")
    print(f"of it for sentences of running answers: {live * 1e3:.3f} ms a sentence")
    print(
        f"processor time of the whole process: {process[1]:.2f} ms a sentence without records, "
        f"{process[2]:.2f} with, {process[0]:.2f} with sentences of running answers"
    )
    print(f"{written} rows in {seconds:.2f} s: {written / seconds:.0f} rows/s ({used:.2f} s of a processor)")
    print(f"{kept.stored} openings and ends of streams stored, {kept.dropped} dropped", flush=True)
