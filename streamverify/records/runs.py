"""Figures of evaluations beside what was recorded live.

Before: `audit import` reads a run's file or journal. After: `chain.py` appends an entry for each run.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from streamverify.errors import UsageError
from streamverify.figure import Aggregate, Interval, NotComputed
from streamverify.records import chain, schema
from streamverify.records.answers import RunFigureRow, RunRow
from streamverify.records.database import Database
from streamverify.records.digests import cleaned


def add_run(
    database: Database,
    name: str,
    run_digest: str,
    figures: Mapping[str, Aggregate],
    *,
    text: str | None = None,
    at: datetime | None = None,
) -> tuple[uuid.UUID, bool]:
    """Add the figures of a finished evaluation; one that is there already is left as it is.

    Args:
        database: of records.
        name: of the run, as people call it; several may have one name.
        run_digest: SHA-256 of the run, 64 hexadecimal digits; tells one run from another.
        figures: by metric. One that was not computed stays so, with its reasons.
        text: the run as `Run.text()` gives it, which holds figures of each case and no texts: with it, two
            runs can be compared case by case.
        at: when; now by default.

    Returns:
        The run's id, and whether it is new.

    Raises:
        UsageError: the name is empty, the digest is none or not the text's, there are no figures, or one has
            a name that no database holds. Caller.
    """
    if not name.strip():
        raise UsageError("name the run: its name must not be empty")
    if len(run_digest) != 64:
        raise UsageError(f"{run_digest!r} is no SHA-256 digest of a run")
    if text is not None and hashlib.sha256(text.encode()).hexdigest() != run_digest:
        raise UsageError("the digest is not that of the run's text")
    if not figures:
        raise UsageError("the run has no figures")
    for metric in figures:
        if cleaned(metric) != metric:
            raise UsageError(f"{metric!r} is no name of a metric")
    now, identity = at or datetime.now(UTC), uuid.uuid4()
    with database.writing() as connection:
        head = chain.head_for_appending(connection)  # of two that add the same run, one waits
        table = schema.runs
        known = connection.execute(sa.select(table.c.id).where(table.c.digest == run_digest)).scalar()
        if known is not None:
            return known, False
        row = {"id": identity, "name": cleaned(name), "digest": run_digest, "imported_at": now}
        rows = [_figure(identity, metric, found) for metric, found in figures.items()]
        connection.execute(sa.insert(table), [row])
        connection.execute(sa.insert(schema.run_figures), rows)
        texts = [] if text is None else [{"run_id": identity, "text": text}]
        if texts:
            connection.execute(sa.insert(schema.run_texts), texts)
        content = chain.content_digest({"runs": [row], "run_figures": rows, "run_texts": texts})
        chain.append(connection, head, now, [("run", identity, content)])
    return identity, True


def run_text(database: Database, run: uuid.UUID) -> str | None:
    """A run with the figures of its cases; None where it was added without them."""
    asked = sa.select(schema.run_texts.c.text).where(schema.run_texts.c.run_id == run)
    with database.reading() as connection:
        found: str | None = connection.execute(asked).scalar()
    return found


def runs(connection: sa.Connection, limit: int) -> list[RunRow]:
    """The runs, the latest first."""
    table = schema.runs
    asked = sa.select(table).order_by(table.c.imported_at.desc(), table.c.id).limit(limit)
    return [RunRow(**row) for row in connection.execute(asked).mappings()]


def run_figures(connection: sa.Connection, run: uuid.UUID) -> list[RunFigureRow]:
    """The figures of a run, by metric; none where there is no such run."""
    table = schema.run_figures
    asked = sa.select(table).where(table.c.run_id == run).order_by(table.c.metric)
    found = []
    for row in connection.execute(asked).mappings():
        gaps = row["not_computed"]
        own = {name: row[name] for name in ("metric", "value", "low", "high", "computed")}
        found.append(
            RunFigureRow(**own, not_computed=gaps.get("figure"), gaps=gaps["cases"], nothing=gaps["nothing"])
        )
    return found


def _figure(run: uuid.UUID, metric: str, found: Aggregate) -> dict[str, Any]:
    interval = found.interval if isinstance(found.interval, Interval) else None
    told: dict[str, Any] = {
        "cases": {cleaned(reason): count for reason, count in found.not_computed.items()},
        "nothing": found.nothing,
    }
    if isinstance(found.figure, NotComputed):
        told["figure"] = cleaned(found.figure.reason)
    # SQLite keeps no sign of a zero: added to 0.0, none has one before its digest is made.
    return {
        "run_id": run,
        "metric": metric,
        "value": None if isinstance(found.figure, NotComputed) else found.figure + 0.0,
        "low": None if interval is None else interval.low + 0.0,
        "high": None if interval is None else interval.high + 0.0,
        "computed": found.computed,
        "not_computed": told,
    }
