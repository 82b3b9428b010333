"""A day of recorded traffic, made fast: streams of the bundled cases, copied in SQL to moments of their own.

At noon a release goes wrong and more answers say what no source says; it is taken back at three. The chain's
hashes are copied too and fit no longer: `audit verify` is not for such a file.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from streamverify import Flag, Label, Passage, Redact, Verifier
from streamverify.calibration import Calibration
from streamverify.demo import Case, case_ids, load_case
from streamverify.evaluate import Case as EvaluatedCase
from streamverify.evaluate import evaluate
from streamverify.records import Database, Reader, Records, Requester, add_run, judge, schema

USERS = ("ann", "ben", "chloe", "dev", "emil", "fay", "gus")
NOON, BACK = 12.0, 15.0
"""Hours of the day between which the wrong release answered."""
READ_WELL = ("docs", "clinical", "conflict", "finance", "history", "hr")
"""Cases whose right answers the model mostly supports."""
AUDITOR = Requester(roles=frozenset({"auditor"}))


def right_answer(case: Case) -> str:
    """The case's answer without what a careful reader calls wrong."""
    kept = (Label.SUPPORTED, Label.NO_CLAIM)
    return " ".join(one.text for one in case.sentences if one.label in kept)


def record_base(path: Path) -> list[tuple[str, bool]]:
    """Check every case, as it is and without its errors; gives each stream's id, and whether it is wrong."""
    # With a lower bar for contradictions than the model comes with, so that a page has some to show.
    shipped = Calibration.read(Path(str(resources.files("streamverify") / "model" / "calibration.json")))
    calibration = shipped.model_copy(update={"contradiction_threshold": 0.4, "contradiction_about": 0.3})
    told = []
    with Records(path) as records:
        with Verifier(observers=[records], calibration=calibration) as verifier:
            for number, name in enumerate(case_ids() * 3):
                case = load_case(name)
                for wrong in (False, True) if name in READ_WELL else (True,):
                    told.append(wrong)
                    verifier.check_sync(
                        case.answer if wrong else right_answer(case),
                        [_sourced(case, passage) for passage in case.sources()],
                        policy=Redact() if number % 3 == 2 else Flag(),
                        question=case.question,
                        context={
                            "user": USERS[number % len(USERS)],
                            "domain": case.domain,
                            "run": "prompt-42" if wrong else "prompt-41",
                        },
                    )
            assert verifier.drain_observers(600)
        newest = Reader(records.database, AUDITOR).streams(limit=len(told))
    return list(zip([str(row.id) for row in reversed(newest)], told, strict=True))


def _sourced(case: Case, passage: Passage) -> Passage:
    metadata = {**passage.metadata, "uri": f"{case.id}/{passage.id}", "tags": [case.domain]}
    return Passage(passage.id, passage.text, passage.title, metadata)


def copies(streams: int, base: int, end: datetime) -> Iterator[tuple[int, float, int]]:
    """Number, seconds before the end, and of how many wrong streams one is copied; fewer by night."""
    count, day = streams / (base * 0.43), 86_400.0
    weights = [1.2 - math.cos((hour / 24) * 2 * math.pi) for hour in range(24)]
    whole, number = sum(weights), 0
    for hour, weight in enumerate(weights):
        own = round(count * weight / whole)
        for place in range(own):
            before = day - 3_600 * (hour + (place + 0.5) / own)
            moment = end - timedelta(seconds=before)
            clock = moment.hour + moment.minute / 60
            yield number, before, 2 if NOON <= clock < BACK else 12
            number += 1


def multiply(path: Path, told: list[tuple[str, bool]], streams: int, end: datetime) -> None:
    """Copy the recorded streams over the day before `end`."""
    connection = sqlite3.connect(path, isolation_level=None)
    tables = [t for t in schema.metadata.sorted_tables if t.name == "streams" or "stream_id" in t.c]
    for setting in ("foreign_keys = off", "synchronous = off", "temp_store = memory", "cache_size = -200000"):
        connection.execute(f"PRAGMA {setting}")
    connection.execute("CREATE TEMP TABLE which (id TEXT PRIMARY KEY, place INTEGER, wrong INTEGER)")
    rows = [(one.replace("-", ""), place, int(wrong)) for place, (one, wrong) in enumerate(told)]
    connection.executemany("INSERT INTO which VALUES (?, ?, ?)", rows)
    connection.execute("CREATE TEMP TABLE copy (number INTEGER, before REAL, every INTEGER)")
    connection.executemany("INSERT INTO copy VALUES (?, ?, ?)", list(copies(streams, len(told), end)))
    newest = connection.execute("SELECT max(opened_at) FROM streams").fetchone()[0]
    late = (end - datetime.fromisoformat(newest).replace(tzinfo=UTC)).total_seconds()
    for table in tables:
        connection.execute(f"CREATE TEMP TABLE base_{table.name} AS SELECT * FROM main.{table.name}")
    connection.execute("CREATE TEMP TABLE base_entries AS SELECT * FROM main.entries ORDER BY number")
    chosen = "(which.wrong = 0 OR (copy.number * 7 + which.place) % copy.every = 0)"
    connection.execute("BEGIN")
    for table in tables:
        key = "id" if table.name == "streams" else "stream_id"
        columns = ", ".join(_copied(table.name, column, late) for column in table.c)
        connection.execute(
            f"INSERT INTO main.{table.name} SELECT {columns} FROM copy, which "
            f"JOIN base_{table.name} AS base ON base.{key} = which.id WHERE {chosen}"
        )
    connection.execute(
        "INSERT INTO main.entries SELECT (SELECT max(number) FROM base_entries) + row_number() OVER (), "
        "base.at, base.kind, printf('%08x', copy.number + 1) || substr(base.subject, 9), base.digest, "
        f"base.hash FROM copy, which JOIN base_entries AS base ON base.subject = which.id WHERE {chosen}"
    )
    connection.execute("UPDATE heads SET number = (SELECT max(number) FROM entries)")
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(truncate)")
    connection.execute("ANALYZE")
    connection.close()


def _copied(table: str, column: sa.Column[Any], late: float) -> str:
    name = f'base."{column.name}"'
    own = column.name == "stream_id" or table == "judgments" or (table == "streams" and column.name == "id")
    if isinstance(column.type, sa.Uuid) and own:
        moved = f"printf('%08x', copy.number + 1) || substr({name}, 9)"
        return f"CASE WHEN {name} IS NULL THEN NULL ELSE {moved} END"
    if isinstance(column.type, schema.Moment):
        return f"strftime('%Y-%m-%d %H:%M:%f000', {name}, ({late} - copy.before) || ' seconds')"
    return name


def add_evaluations(database: Database) -> None:
    """The figures of two evaluations of the cases: as they are, and without their errors."""
    for name, answer in (("release 42", lambda case: case.answer), ("release 41", right_answer)):
        cases = [
            EvaluatedCase(
                id=c.id, question=c.question, answer=answer(c), passages=c.sources(), category=c.domain
            )
            for c in map(load_case, case_ids())
        ]
        with Verifier() as verifier:
            run = evaluate(cases, verifier=verifier)
        add_run(database, name, run.digest, run.aggregates, text=run.text())


def judge_some(database: Database, count: int) -> None:
    """A person's judgments of sentences of the latest streams."""
    reader = Reader(database, AUDITOR)
    for number, stream in enumerate(reader.streams(limit=count)):
        opinion = "incorrect" if number % 3 else "correct"
        judge(
            database,
            AUDITOR,
            stream.id,
            0,
            opinion,
            by="ann",
            note="" if number % 2 else "As the source says.",
        )


def make_day(path: Path, streams: int, end: datetime) -> None:
    """A file of records with so many streams in the 24 hours before `end`."""
    told = record_base(path)
    multiply(path, told, streams, end)
    with Database(path) as database:
        add_evaluations(database)
        judge_some(database, 12)
