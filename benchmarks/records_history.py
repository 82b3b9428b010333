"""Years of records in one SQLite file, and what is asked of them.

Before: `records.py --history`. After: tables in `docs/benchmarks.md`.

Some streams are recorded, and copied with `INSERT … SELECT` until there are gigabytes of them: each copy with
ids of its own, spread evenly as random ones are, at moments of its own within a year that have nothing to do
with where its rows lie, so that a time is read from all over the file. Copies share their documents.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from records_cost import ANSWER, told
from streamverify import Label, Passage, Redact, Verifier
from streamverify.records import Database, Reader, Records, Requester, schema
from streamverify.testing import ScriptedScorer

WRONG, INVENTED = "The wrong mill stands in Paris [p2]. ", "It is said to be old [99]. "
KINDS = (ANSWER, WRONG + ANSWER, INVENTED + ANSWER)
USERS, RUNS, DOCUMENTS = 7, 5, 50
BASE = 60
"""Streams that are recorded and then copied."""
TRIAL = 50
"""Copies after which the size of one is known."""


def history(gigabytes: float, path: Path, repeats: int) -> None:
    """Make a history of this size where there is none, record beside it, ask everything; all is printed."""
    if not path.exists():
        with Records(path) as records:
            recorded(records)
        began = time.perf_counter()
        streams = multiply(path, int(gigabytes * 2**30))
        print(f"{streams} streams, made in {time.perf_counter() - began:.0f} s")
    print(f"{path.stat().st_size / 2**30:.2f} GB", flush=True)
    with Records(path) as records, Records(path, live=False) as plain:
        told(records, plain, repeats, 100)
    with Database(path) as database:
        print("| question | processor, all in all | again |\n|---|---|---|")
        for name, ask in questions(database):
            taken = []
            for _ in range(2):
                began, used = time.perf_counter(), time.process_time()
                ask()
                taken.append((time.process_time() - used, time.perf_counter() - began))
                if taken[0][1] > 20:
                    break
            again = [f"{used:.3f} s, {whole:.3f} s" for used, whole in taken] + ["–"]
            print(f"| {name} | {again[0]} | {again[1]} |", flush=True)


def recorded(records: Records) -> None:
    """Streams of several users, runs and documents, some of them with something wrong."""
    scorer = ScriptedScorer({"wrong": Label.CONTRADICTED, "said": Label.UNSUPPORTED})
    with Verifier(scorer, policy=Redact(), observers=[records]) as verifier:
        for number in range(BASE):
            passages = [
                Passage(
                    f"p{n}",
                    f"Employees of house {(number + n) % DOCUMENTS} have {n} days of leave. " * 30,
                    metadata={
                        "uri": f"house/{(number + n) % DOCUMENTS}",
                        "checksum": "v1",
                        "visibility": ("public", "internal", "restricted")[n % 3],
                        "tags": [f"scope {n % 4}"],
                    },
                )
                for n in range(10)
            ]
            context = {"user": f"u{number % USERS}", "run": f"r{number % RUNS}", "roles": ["hr"]}
            verifier.check_sync(KINDS[number % len(KINDS)], passages, context=context)
        assert verifier.drain_observers(600)


def multiply(path: Path, wanted: int) -> int:
    """Copy what was recorded until the file has about this many bytes; how many streams there are then.

    The chain's hashes are copied too and fit no longer: `verify` is not measured here.
    """
    connection = sqlite3.connect(path, isolation_level=None)
    for setting in ("foreign_keys=off", "synchronous=off", "journal_mode=off", "cache_size=-1000000"):
        connection.execute(f"PRAGMA {setting}").fetchall()
    before = path.stat().st_size
    _copy(connection, range(1, TRIAL + 1))
    copies = max(TRIAL, round(TRIAL * (wanted - before) / (path.stat().st_size - before)))
    kept = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    indices = connection.execute(kept).fetchall()
    for name, _ in indices:
        connection.execute(f"DROP INDEX {name}")
    for first in range(TRIAL + 1, copies + 1, TRIAL):
        _copy(connection, range(first, min(first + TRIAL, copies + 1)))
    for _, made in indices:
        connection.execute(made)
    connection.execute("UPDATE heads SET number = (SELECT max(number) FROM entries)")
    connection.execute("PRAGMA journal_mode=wal")
    connection.close()
    return BASE * (copies + 1)


def _copy(connection: sqlite3.Connection, numbers: range) -> None:
    tables = [one for one in schema.metadata.sorted_tables if one.name == "streams" or "stream_id" in one.c]
    connection.execute("BEGIN")
    listed = ", ".join(f"({number}, {_spread(number)})" for number in numbers)
    connection.execute("CREATE TEMP TABLE copy (number INTEGER, spread INTEGER)")
    connection.execute(f"INSERT INTO temp.copy VALUES {listed}")
    for table in (*tables, schema.entries):
        if not connection.execute(
            "SELECT 1 FROM temp.sqlite_master WHERE name = ?", [_base(table)]
        ).fetchone():
            connection.execute(f"CREATE TEMP TABLE {_base(table)} AS SELECT * FROM {table.name}")
        values = ", ".join(_copied(table, column) for column in table.c)
        connection.execute(f"INSERT INTO {table.name} SELECT {values} FROM temp.copy, {_base(table)} AS base")
    connection.execute("DROP TABLE temp.copy")
    connection.execute("COMMIT")


def _spread(number: int) -> int:
    """The first eight digits of a copy's ids: apart from each other, and rising, which is quick to write."""
    return number * (2**32 // 2**16)


def _base(table: sa.Table) -> str:
    return f"base_{table.name}"


def _copied(table: sa.Table, column: sa.Column[Any]) -> str:
    name = f'base."{column.name}"'
    if table.name == "entries" and column.name == "number":
        return f"{name} + copy.number * (SELECT max(number) FROM {_base(table)})"
    if isinstance(column.type, sa.Uuid) and (
        column.name in ("stream_id", "subject")
        or table.name == "judgments"
        or (table.name == "streams" and column.name == "id")
    ):
        return f"CASE WHEN {name} IS NULL THEN NULL ELSE printf('%08x', copy.spread) || substr({name}, 9) END"
    if isinstance(column.type, schema.Moment):
        within = "copy.number * 7919 % 525600"  # minutes of a year
        return f"strftime('%Y-%m-%d %H:%M:%f000', {name}, '-' || ({within}) || ' minutes')"
    return name


def questions(database: Database) -> Iterator[tuple[str, Callable[[], object]]]:
    """Name and question: what takes the same whatever the size, then what reads a day, a month, all."""
    reader = Reader(database, Requester(roles=frozenset({"auditor"})))
    own = Reader(database, Requester(user="u1", roles=frozenset({"hr"})))
    stream = reader.streams(limit=1)[0].id
    yield "the latest 50 streams", reader.streams
    yield "of one user, as an auditor", lambda: reader.streams(user="u1")
    yield "of one user, as that user", own.streams
    yield "of one day", lambda: reader.streams(since=datetime.now(UTC) - timedelta(days=1))
    yield "one stream's sentences", lambda: reader.sentences(stream)
    yield "documents behind a sentence", lambda: reader.documents(stream, 0)
    yield "who could see", lambda: reader.who_could_see(stream)
    yield "the latest 50 withheld", reader.withheld
    yield "the latest 50 withheld, as a user", own.withheld
    yield "the latest 50 failed judgments", lambda: reader.judgments(failed=True, limit=50)
    asked = {
        "most often cited correctly": reader.cited,
        "scopes refused": reader.scopes,
        "behind contradictions": reader.blamed,
        "failures by run": reader.failures,
        "dependencies": reader.dependencies,
    }
    for days, time_of in ((1, "a day"), (30, "a month"), (None, "all")):
        since = None if days is None else datetime.now(UTC) - timedelta(days=days)
        for name, ask in asked.items():
            yield f"{name}, {time_of}", lambda ask=ask, since=since: ask(since=since)
