"""What a domain read of an answer, beside the stream that it came with.

Before: `domains/` checked the answer, and the stream's end was stored. After: `Reader.content`.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from streamverify.domains import DomainResult
from streamverify.errors import UsageError
from streamverify.figure import NotComputed
from streamverify.pii import PiiDetector, Recognisers, blocked
from streamverify.records import chain, schema
from streamverify.records.database import Database
from streamverify.records.digests import cleaned, digest


def add_content(
    database: Database,
    stream: uuid.UUID | str,
    result: DomainResult[Any],
    *,
    at: datetime | None = None,
    detector: PiiDetector | None = None,
) -> None:
    """Store an answer's structured block, and what the domain said of it, as judgments.

    Args:
        database: of records; the stream must be in it: call it behind `Verifier.drain_observers`.
        stream: its id, `DomainStream.id`.
        result: of the same answer.
        at: when; now by default.
        detector: finds personal data, where the stream is kept without; by default the own.

    Raises:
        UsageError: there is no such stream, its texts were erased, or it has content already. Caller.
    """
    identity, now = uuid.UUID(str(stream)), at or datetime.now(UTC)
    with database.writing() as connection:
        head = chain.head_for_appending(connection)
        streams, content = schema.streams, schema.content
        found = connection.execute(
            sa.select(streams.c.salt, streams.c.kept).where(streams.c.id == identity)
        ).first()
        if found is None:
            raise UsageError(f"there is no stream {identity} in {database.name}: drain the observers first")
        if found.salt is None:
            raise UsageError(f"the texts of stream {identity} were erased")
        if connection.execute(sa.select(content.c.stream_id).where(content.c.stream_id == identity)).first():
            raise UsageError(f"stream {identity} has content already")
        kept = _Kept(found.salt, found.kept, detector)
        block = "" if result.block is None else result.block.text
        row = {
            "stream_id": identity,
            "domain": cleaned(result.domain),
            "version": cleaned(result.version),
            **kept.text("output", block),
            "kept_digest": None,
        }
        said = [("content", identity, kept.sealed("content", row))]
        rows = [kept.judgment(identity, result, place, now) for place in range(len(result.outcomes))]
        said += [("judgment", row["id"], kept.sealed("judgments", row)) for row in rows]
        connection.execute(sa.insert(content), [row])
        connection.execute(sa.insert(schema.judgments), rows)
        chain.append(connection, head, now, said)


class _Kept:
    """How one stream keeps texts."""

    def __init__(self, salt: str, keep: str, detector: PiiDetector | None) -> None:
        self._salt, self._keep = salt, keep
        self._detector: PiiDetector = detector if detector is not None else Recognisers()

    def text(self, name: str, text: str) -> dict[str, str | None]:
        clean = cleaned(text)
        shown = blocked(clean, self._detector) if self._keep == "redacted" else clean
        kept = None if self._keep == "hashes" or not clean else shown
        return {name: kept, f"{name}_digest": digest(clean, self._salt)}

    def sealed(self, table: str, row: dict[str, Any]) -> str:
        if self._keep == "redacted":
            row["kept_digest"] = chain.kept_digest({table: [row]}, self._salt)
        return chain.content_digest({table: [row]})

    def judgment(
        self, stream: uuid.UUID, result: DomainResult[Any], place: int, at: datetime
    ) -> dict[str, Any]:
        told = result.outcomes[place]
        label = "not_computed" if told.passed is None else "passed" if told.passed else "failed"
        return {
            "id": uuid.uuid4(),
            "stream_id": stream,
            "sentence": None,
            "at": at,
            "source": "rule",
            "by": cleaned(f"{result.domain} {result.version}"),
            "criterion": cleaned(told.criterion),
            "label": label,
            "passed": told.passed,
            "score": None if isinstance(told.score, NotComputed) else told.score,
            "severity": None,
            **self.text("detail", told.detail),
            "supersedes": None,
            "kept_digest": None,
        }
