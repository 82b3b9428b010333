"""What is added to the records after a stream has ended: judgments by people, and erasures.

Before: `audit judge`, `audit erase`. After: `chain.py` appends an entry for each.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal, get_args

import sqlalchemy as sa

from streamverify.errors import UsageError
from streamverify.pii import PiiDetector, Recognisers, blocked
from streamverify.records import chain, hours, live, schema
from streamverify.records.database import Database
from streamverify.records.digests import cleaned, digest
from streamverify.records.requester import Requester
from streamverify.records.rows import GROUNDING

Opinion = Literal["correct", "incorrect"]
Severity = Literal["minor", "major", "critical"]

_PORTION = 500


def judge(
    database: Database,
    requester: Requester,
    stream: uuid.UUID,
    sentence: int,
    opinion: Opinion,
    *,
    by: str,
    criterion: str = GROUNDING,
    severity: Severity | None = None,
    note: str = "",
    at: datetime | None = None,
    detector: PiiDetector | None = None,
) -> uuid.UUID:
    """Add a person's judgment; it takes the place of the one that counted, which stays.

    Args:
        database: of records.
        requester: must be able to see the stream.
        stream: id of the stream.
        sentence: its number, from 0.
        opinion: whether the sentence is as it should be.
        by: who says so.
        criterion: what is judged, e.g. `grounding`.
        severity: how bad it is.
        note: why.
        at: when; now by default.
        detector: finds personal data in the note of a stream that is kept without; by default the own.

    Returns:
        The judgment's id.

    Raises:
        UsageError: there is no such sentence for this requester, or a word is not known. Caller.
    """
    for word, words in ((opinion, get_args(Opinion)), (severity, (None, *get_args(Severity)))):
        if word not in words:
            raise UsageError(f"{word!r} is none of {', '.join(filter(None, words))}")
    if not by.strip():
        raise UsageError("say who judges: by must not be empty")
    now, identity = at or datetime.now(UTC), uuid.uuid4()
    with database.writing() as connection:
        head = chain.head_for_appending(connection)
        streams, sentences, judgments = schema.streams, schema.sentences, schema.judgments
        found = connection.execute(
            sa.select(streams.c.salt, streams.c.kept)
            .join(sentences, sentences.c.stream_id == streams.c.id)
            .where(streams.c.id == stream, sentences.c.number == sentence, requester.sees_stream())
        ).first()
        if found is None:
            raise UsageError(f"stream {stream} has no sentence {sentence} that this requester may see")
        later = judgments.alias()
        counted = connection.execute(
            sa.select(judgments.c.id)
            .where(
                judgments.c.stream_id == stream,
                judgments.c.sentence == sentence,
                judgments.c.criterion == criterion,
                ~sa.exists().where(later.c.supersedes == judgments.c.id),
            )
            .order_by(judgments.c.at.desc())
            .limit(1)
        ).scalar()
        text = cleaned(note)
        # The texts of an erased stream are gone, and so is their salt: no new text comes in its place.
        kept = text and found.kept != "hashes" and found.salt is not None
        redacted = found.kept == "redacted"
        note_kept = (blocked(text, detector or Recognisers()) if redacted else text) if kept else None
        row = {
            "id": identity,
            "stream_id": stream,
            "sentence": sentence,
            "at": now,
            "source": "human",
            "by": cleaned(by),
            "criterion": cleaned(criterion),
            "label": opinion,
            "passed": opinion == "correct",
            "score": None,
            "severity": severity,
            "detail": note_kept,
            "detail_digest": digest(text, found.salt) if text and found.salt is not None else None,
            "supersedes": counted,
            "kept_digest": None,
        }
        if found.kept == "redacted" and found.salt is not None:
            row["kept_digest"] = chain.kept_digest({"judgments": [row]}, found.salt)
        connection.execute(sa.insert(judgments), [row])
        said = ("judgment", identity, chain.content_digest({"judgments": [row]}))
        chain.append(connection, head, now, [said])
    return identity


def erase(
    database: Database,
    *,
    reason: str,
    user: str | None = None,
    before: datetime | None = None,
    tenant: str = "",
    by: str | None = None,
    at: datetime | None = None,
) -> int:
    """Take the texts out of streams: question, answer, sentences, notes, and who asked. The rest stays.

    What is left are figures, labels, spans and digests; the salt of the digests goes too, so that no text
    can be told from them. Texts of documents go where `before` is given and no other stream retrieved them.
    The name of a user goes out of judgments that they made of any stream too; the judgments stay and count.
    Their entries keep the digests that they had with the name, which have no salt: who guesses the name and
    can read the records can still find it confirmed.

    Args:
        database: of records.
        reason: why, for the record.
        user: the streams of this requester, and judgments by them.
        before: the streams opened before; together with `user`, what both say, and judgments made before.
        tenant: whose data it is.
        by: who does it.
        at: when; now by default.

    Returns:
        How many streams lost their texts.

    Raises:
        UsageError: neither a user nor a moment was named, the moment is still to come, or there is no reason.
            Caller.
    """
    if user is None and before is None:
        raise UsageError("name whose texts to erase, or before which moment")
    now, count = at or datetime.now(UTC), 0
    _refuse(reason, before, now)
    streams = schema.streams
    asked = (
        sa.select(streams.c.id).where(streams.c.tenant == tenant, streams.c.salt.is_not(None)).limit(_PORTION)
    )
    if user is not None:
        asked = asked.where(streams.c.requester == user)
    if before is not None:
        asked = asked.where(streams.c.opened_at < before)
    if user is not None:
        erase_judge(database, user=user, reason=reason, before=before, tenant=tenant, by=by, at=now)
    while True:
        with database.writing() as connection:
            head = chain.head_for_appending(connection)
            found = connection.execute(asked.order_by(streams.c.opened_at)).scalars().all()
            if not found:
                return count
            identity = uuid.uuid4()
            erasure = {"id": identity, "at": now, "by": by, "reason": cleaned(reason), "streams": len(found)}
            erased = [{"erasure_id": identity, "stream_id": stream} for stream in found]
            connection.execute(sa.insert(schema.erasures), [erasure])
            connection.execute(sa.insert(schema.erased_streams), erased)
            whose = hours.requesters(connection, found)
            _take_out(connection, found)
            hours.leave_out(connection, whose)
            if before is not None:
                _take_out_documents(connection, found)
            content = chain.content_digest({"erasures": [erasure], "erased_streams": erased})
            chain.append(connection, head, now, [("erasure", identity, content)])
        count += len(found)


def erase_judge(
    database: Database,
    *,
    user: str,
    reason: str,
    before: datetime | None = None,
    tenant: str = "",
    by: str | None = None,
    at: datetime | None = None,
) -> int:
    """Take a user's name out of the judgments that they made, on whosever streams; `erase` does so too.

    Args:
        database: of records.
        user: who judged.
        reason: why, for the record.
        before: judgments made before; all of them if None.
        tenant: of the streams that were judged.
        by: who does it.
        at: when; now by default.

    Returns:
        How many judgments lost the name.

    Raises:
        UsageError: the moment is still to come, or there is no reason. Caller.
    """
    judgments, streams, now, count = schema.judgments, schema.streams, at or datetime.now(UTC), 0
    _refuse(reason, before, now)
    asked = (
        sa.select(judgments)
        .join(streams, streams.c.id == judgments.c.stream_id)
        .where(streams.c.tenant == tenant, judgments.c.by == cleaned(user), judgments.c.source == "human")
        .order_by(judgments.c.at)
        .limit(_PORTION)
    )
    if before is not None:
        asked = asked.where(judgments.c.at < before)
    while True:
        with database.writing() as connection:
            head = chain.head_for_appending(connection)
            found = connection.execute(asked).mappings().all()
            if not found:
                return count
            identity = uuid.uuid4()
            erasure = {"id": identity, "at": now, "by": by, "reason": cleaned(reason), "streams": 0}
            erased = [
                {
                    "erasure_id": identity,
                    "judgment_id": row["id"],
                    "digest": chain.content_digest({"judgments": [{**row, "by": None}]}),
                }
                for row in found
            ]
            connection.execute(sa.insert(schema.erasures), [erasure])
            connection.execute(sa.insert(schema.erased_judgments), erased)
            gone = judgments.c.id.in_([row["id"] for row in found])
            connection.execute(sa.update(judgments).where(gone).values(by=None))
            content = chain.content_digest({"erasures": [erasure], "erased_judgments": erased})
            chain.append(connection, head, now, [("erasure", identity, content)])
        count += len(found)


def _refuse(reason: str, before: datetime | None, now: datetime) -> None:
    if not reason.strip():
        raise UsageError("say why: the reason must not be empty")
    if before is not None and before > now:
        raise UsageError(f"{before.isoformat()} is still to come: it would erase what is recorded until then")


def _take_out(connection: sa.Connection, streams: Sequence[uuid.UUID]) -> None:
    live.forget(connection, streams)
    for name, columns in schema.ERASABLE.items():
        table = schema.metadata.tables[name]
        key = table.c.id if name == "streams" else table.c.get("stream_id")
        if key is None:
            continue
        gone = (*columns, "salt") if name in schema.SALTED else columns
        connection.execute(sa.update(table).where(key.in_(streams)).values(dict.fromkeys(gone)))


def _take_out_documents(connection: sa.Connection, streams: Sequence[uuid.UUID]) -> None:
    """The texts that no stream which still has its own retrieved."""
    items, chunks, own = schema.retrieval_items, schema.chunks, schema.streams
    retrieved = connection.execute(
        sa.select(items.c.chunk_id).where(items.c.stream_id.in_(streams)).distinct()
    )
    chosen = iter(retrieved.scalars().all())
    kept = sa.exists().where(
        items.c.chunk_id == chunks.c.id, items.c.stream_id == own.c.id, own.c.salt.is_not(None)
    )
    while some := list(itertools.islice(chosen, _PORTION)):
        connection.execute(sa.update(chunks).where(chunks.c.id.in_(some), ~kept).values(text=None))
