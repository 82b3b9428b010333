"""Figures of whole answers that somebody computed after they had streamed: judgments of a judge.

Before: `monitor/online.py`. After: `chain.py` appends an entry for each.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime

import sqlalchemy as sa

from streamverify.errors import UsageError
from streamverify.figure import Figure, NotComputed
from streamverify.records import chain, schema
from streamverify.records.conditions import counts
from streamverify.records.database import Database
from streamverify.records.digests import cleaned

SCORED, NOT_COMPUTED = "scored", "not_computed"
"""Labels of such a judgment: with a score, or without one."""


def add_scores(
    database: Database,
    stream: uuid.UUID,
    scores: Mapping[str, Figure],
    *,
    by: str,
    at: datetime | None = None,
) -> bool:
    """Add a judgment of a whole answer for each criterion; one that counted before is superseded.

    Args:
        database: of records.
        stream: id of the stream.
        scores: criterion to its figure, or to why there is none.
        by: what judged, e.g. a model's name.
        at: when; now by default.

    Returns:
        False where the records have no such stream, or not yet.

    Raises:
        UsageError: nobody is named. Caller.
    """
    if not by.strip():
        raise UsageError("say what judges: by must not be empty")
    now = at or datetime.now(UTC)
    streams, judgments = schema.streams, schema.judgments
    with database.writing() as connection:
        head = chain.head_for_appending(connection)
        found = connection.execute(
            sa.select(streams.c.kept, streams.c.salt).where(streams.c.id == stream)
        ).first()
        if found is None:
            return False
        said = []
        for criterion, figure in scores.items():
            counted = sa.select(judgments.c.id).where(
                judgments.c.stream_id == stream,
                judgments.c.sentence.is_(None),
                judgments.c.criterion == cleaned(criterion),
                counts(judgments),
            )
            missing, identity = isinstance(figure, NotComputed), uuid.uuid4()
            row = {
                "id": identity,
                "stream_id": stream,
                "sentence": None,
                "at": now,
                "source": "judge",
                "by": cleaned(by),
                "criterion": cleaned(criterion),
                "label": NOT_COMPUTED if missing else SCORED,
                "passed": None,
                "score": None if missing else figure,
                "severity": None,
                "detail": None,
                "detail_digest": None,
                "supersedes": connection.execute(counted.limit(1)).scalar(),
                "kept_digest": None,
            }
            if found.kept == "redacted" and found.salt is not None:
                row["kept_digest"] = chain.kept_digest({"judgments": [row]}, found.salt)
            connection.execute(sa.insert(judgments), [row])
            said.append(("judgment", identity, chain.content_digest({"judgments": [row]})))
        chain.append(connection, head, now, said)
    return True
