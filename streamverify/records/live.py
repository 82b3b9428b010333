"""The sentences of answers that are still being written, as they are judged, for whoever watches.

Before: `store.py` hands over each event. After: the dashboard, in this process or another, reads the table.

    live_sentences    one row a sentence of a running stream; gone in the transaction that
                      writes its end

No record: the rows are in no entry of the chain, change while the sentence is judged, and vanish. They are
written by a thread of their own, at most every `EVERY` seconds and many streams in one transaction, so that
what records cost does not depend on how many sentences there are; what does not fit or cannot be written is
dropped and counted, and the stream's record has it all the same.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from streamverify.events import Event, SentenceClosed, SentenceJudged, SentenceRevised, TextReleased
from streamverify.records import chain, schema
from streamverify.records.database import Database, DatabaseError
from streamverify.records.requester import Requester
from streamverify.records.rows import OpenStream
from streamverify.types import Action

_LOG = logging.getLogger("streamverify.records")

EVERY = 0.25
"""Seconds between two writes, at least."""
WAITING = 10_000
"""Sentences that may wait to be written."""
_PORTION = 500
_SEEN = frozenset({Action.RELEASE, Action.FLAG})
"""What leaves a sentence's text as it was generated."""

live_sentences = sa.Table(
    "live_sentences",
    schema.metadata,
    sa.Column("stream_id", sa.Uuid(), primary_key=True),
    sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
    sa.Column("text", sa.Text()),
    sa.Column("label", sa.String(16)),
    sa.Column("score", sa.Float()),
    sa.Column("shown", sa.Boolean(), nullable=False),
    sa.Column("changed", schema.Number, nullable=False),
)
# No foreign key: an opening may be written after the first sentence, and an end takes these rows away first.


@dataclass(frozen=True, slots=True)
class LiveSentence:
    """A sentence of an answer that is being written."""

    number: int
    text: str | None
    """None where no text is kept before the end, or where the requester may not see it yet."""
    label: str | None
    """None while it is being judged."""
    score: float | None


@dataclass(slots=True)
class _Running:
    """What later events of one stream need to know."""

    keeps: bool
    released: int = 0
    """Up to where the answer was shown as it was generated, in characters."""
    hidden: list[tuple[int, int]] = field(default_factory=list)
    """Parts that readers never saw."""
    unseen: list[tuple[int, int, int]] = field(default_factory=list)
    """Number, start and end of sentences that readers have not seen in whole."""


class LiveBoard:
    """Writes the sentences of running streams; one for a `Records`."""

    def __init__(self, database: Database) -> None:
        """The thread is started by the first sentence."""
        self._database = database
        self._running: dict[uuid.UUID, _Running] = {}
        self._waiting: dict[uuid.UUID, dict[int, dict[str, Any]]] = {}
        """By stream and number: a whole row, or what has changed of one that was written."""
        self._count = 0
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._missed = 0

    @property
    def missed(self) -> int:
        """Changes of sentences that nobody could watch."""
        return self._missed

    def told(self, stream: OpenStream, event: Event) -> None:
        """Take what changes a sentence; never waits for the database."""
        match event:
            case SentenceClosed(sentence=sentence):
                running = self._running.setdefault(stream.id, _Running(stream.keep == "text"))
                seen = sentence.end <= running.released and not _within(
                    running.hidden, sentence.start, sentence.end
                )
                if not seen:
                    running.unseen.append((sentence.index, sentence.start, sentence.end))
                # Personal data is found in the whole: until there is one, nothing is kept of it.
                text = stream.kept(sentence.text) if running.keeps else None
                new = {"text": text, "label": None, "score": None, "shown": seen}
                self._put(stream.id, {sentence.index: new})
            case SentenceJudged() | SentenceRevised():
                self._put(stream.id, {event.index: {"label": event.label.value, "score": event.score}})
            case TextReleased():
                self._put(stream.id, self._released(stream, event))
            case _:
                pass

    def ended(self, stream: uuid.UUID) -> None:
        """Forget what waits of a stream; whoever writes its end takes its rows away (`forget`)."""
        self._running.pop(stream, None)
        with self._changed:
            self._count -= len(self._waiting.pop(stream, ()))

    def close(self, seconds: float = 5.0) -> None:
        """Write nothing more; waits for a write that runs, for so many seconds."""
        with self._changed:
            self._closing.set()
            self._waiting, self._count = {}, 0
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(seconds)

    def _released(self, stream: OpenStream, event: TextReleased) -> dict[int, dict[str, Any]]:
        running = self._running.setdefault(stream.id, _Running(stream.keep == "text"))
        if event.action in _SEEN:
            running.released = max(running.released, event.span.end)
        else:
            running.hidden.append((event.span.start, event.span.end))
        if not running.unseen or running.unseen[0][2] > running.released:
            return {}
        done = [one for one in running.unseen if one[2] <= running.released]
        running.unseen = [one for one in running.unseen if one[2] > running.released]
        return {number: {"shown": True} for number, *ends in done if not _within(running.hidden, *ends)}

    def _put(self, stream: uuid.UUID, told: dict[int, dict[str, Any]]) -> None:
        if not told:
            return
        missed = 0
        with self._changed:
            for number, new in told.items():
                held = self._waiting.setdefault(stream, {})
                if number in held:
                    held[number].update(new)
                elif self._count < WAITING and not self._closing.is_set():
                    held[number] = dict(new)
                    self._count += 1
                else:
                    missed += 1
            if self._count and (self._thread is None or not self._thread.is_alive()):
                # A daemon: what it writes is of no use to a process that ends.
                self._thread = threading.Thread(target=self._work, name="streamverify-live", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        if missed:
            self._miss(missed, "there are too many")

    def _work(self) -> None:
        while not self._closing.is_set():
            with self._changed:
                self._changed.wait_for(lambda: bool(self._count) or self._closing.is_set())
            try:
                self._write()
            except DatabaseError as error:  # it may come back; the next sentences are tried again
                self._miss(1, type(error).__name__)
            except Exception:  # noqa: BLE001 - logged: the thread is there for the next sentences
                _LOG.exception("sentences of running answers cannot be shown")
                self._miss(1, "an error")
            self._closing.wait(EVERY)

    def _write(self) -> None:
        with self._database.writing() as connection:
            # Who appends an end waits for this transaction, and takes the rows away that it has written.
            chain.head_for_appending(connection)
            with self._changed:
                waiting, self._waiting, self._count = self._waiting, {}, 0
            now = time.time_ns() // 1_000
            rows = [
                {"stream_id": stream, "number": number, "changed": now, **told}
                for stream, changed in waiting.items()
                for number, told in changed.items()
            ]
            _upsert(connection, [row for row in rows if "text" in row])
            _update(connection, [row for row in rows if "text" not in row])

    def _miss(self, count: int, why: str) -> None:
        before, self._missed = self._missed, self._missed + count
        if len(str(self._missed)) > len(str(before)) or not before:  # 1, 10, 100 …
            _LOG.warning("sentences of running answers are not shown: %s (%d so far)", why, self._missed)


def forget(connection: sa.Connection, streams: Sequence[uuid.UUID]) -> None:
    """Take the rows of streams away, which have ended or whose texts were erased."""
    for place in range(0, len(streams), _PORTION):
        some = streams[place : place + _PORTION]
        connection.execute(sa.delete(live_sentences).where(live_sentences.c.stream_id.in_(some)))


def said_so_far(
    database: Database, requester: Requester, streams: Sequence[uuid.UUID]
) -> dict[uuid.UUID, tuple[LiveSentence, ...]]:
    """The sentences of running streams, in order; of those alone that the requester sees."""
    if not streams:
        return {}
    own = live_sentences.c
    text = own.text if requester.audits else sa.case((own.shown, own.text))
    asked = (
        sa.select(own.stream_id, own.number, text.label("text"), own.label, own.score)
        .join(schema.streams, schema.streams.c.id == own.stream_id)
        .where(own.stream_id.in_(streams), requester.sees_stream(known=True))
        .order_by(own.stream_id, own.number)
    )
    found: dict[uuid.UUID, list[LiveSentence]] = defaultdict(list)
    with database.reading() as connection:
        for stream, *said in connection.execute(asked):
            found[stream].append(LiveSentence(*said))
    return {stream: tuple(said) for stream, said in found.items()}


def mark(database: Database) -> tuple[int, int]:
    """How many sentences there are, and when the last one changed, in microseconds from 1970; 0 for none."""
    asked = sa.select(sa.func.count(), sa.func.max(live_sentences.c.changed))
    with database.reading() as connection:
        count, last = connection.execute(asked).one()
    return count, last or 0


def _within(parts: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    return any(one < end and other > start for one, other in parts)


def _upsert(connection: sa.Connection, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    dialect: Any = postgresql if connection.dialect.name == "postgresql" else sqlite
    adding = dialect.insert(live_sentences)
    key = [column.name for column in live_sentences.primary_key]
    told = {name: adding.excluded[name] for name in live_sentences.c.keys() if name not in key}  # noqa: SIM118
    connection.execute(adding.on_conflict_do_update(index_elements=key, set_=told), rows)


def _update(connection: sa.Connection, rows: list[dict[str, Any]]) -> None:
    own = live_sentences.c
    for row in rows:
        told = {name: value for name, value in row.items() if name not in ("stream_id", "number")}
        which = (own.stream_id == row["stream_id"]) & (own.number == row["number"])
        connection.execute(sa.update(live_sentences).where(which).values(told))
