"""What a page lists: the newest streams with their verdicts, sentences that wait for people, a stream opened.

Before: the dashboard. After: `requester.py` adds its conditions to every question.

However much was recorded, a list looks at the newest `LOOKED` streams only, and says how far it came.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

import sqlalchemy as sa

from streamverify.records import schema
from streamverify.records.answers import StreamRow
from streamverify.records.conditions import counts, of_sentence
from streamverify.records.database import Database
from streamverify.records.histograms import drawn
from streamverify.records.live import LiveSentence, said_so_far
from streamverify.records.requester import Requester
from streamverify.records.rows import GROUNDING

LOOKED = 5_000
"""Streams among which a list looks for those that fit."""
_WAITING = 1_000
"""Streams among which sentences wait for a person."""

Trouble = Literal["contradicted", "unsupported", "unverified", "fabricated", "failed", "halted"]
"""What a list of streams can be narrowed to."""
TROUBLES: tuple[Trouble, ...] = get_args(Trouble)


@dataclass(frozen=True, slots=True)
class Listed:
    """One stream, with the verdict that counts on each of its sentences, in order."""

    stream: StreamRow
    labels: tuple[str, ...]
    """While it runs, of the sentences that were judged so far."""
    live: tuple[LiveSentence, ...] = ()
    """Of a running stream, in order."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of streams, the latest first."""

    streams: tuple[Listed, ...]
    older: datetime | None
    """Before which moment the next page begins; None where there is none."""


@dataclass(frozen=True, slots=True)
class Behind:
    """A passage behind a sentence."""

    sentence: int
    passage: str
    uri: str
    title: str | None
    label: str
    score: float
    text: str | None
    """The passage; None where no text is kept."""
    start: int
    end: int
    """Where the part that decided stands in it."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation of a sentence."""

    sentence: int
    marker: str
    finding: str
    better: str | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A sentence that no person has judged yet."""

    stream: uuid.UUID
    opened_at: datetime
    question: str | None
    sentence: int
    text: str | None
    """None where no text is kept, or where it was withheld from the requester."""
    label: str
    score: float | None
    behind: tuple[Behind, ...] = ()


class Lister:
    """Lists for one requester."""

    def __init__(self, database: Database, requester: Requester) -> None:
        """Nothing is asked yet.

        Args:
            database: of records.
            requester: whose rights bound every answer.
        """
        self._database, self._requester = database, requester

    def head(self) -> int:
        """Number of the chain's last entry: as long as it stays, nothing was added."""
        heads = schema.heads
        return int(self._database.rows(sa.select(heads.c.number).where(heads.c.id == 1))[0]["number"])

    def streams(
        self,
        *,
        limit: int = 50,
        before: datetime | None = None,
        domain: str | None = None,
        run: str | None = None,
        trouble: Trouble | None = None,
    ) -> Listing:
        """The streams that fit, the latest first, among the newest `LOOKED`.

        Args:
            limit: how many, 1 or more.
            before: opened before.
            domain: as the context said.
            run: likewise.
            trouble: with such a sentence or citation, or of that outcome.
        """
        streams, ended = schema.streams, schema.conclusions
        newest = self._newest(LOOKED, before)
        own = ("id", "opened_at", "requester", "domain", "run", "policy", "question")
        asked = (
            sa.select(
                *(streams.c[name] for name in own),
                *(ended.c[name] for name in ("outcome", "grounding_score", "released")),
            )
            .join(newest, newest.c.id == streams.c.id)
            .outerjoin(ended, ended.c.stream_id == streams.c.id)
            .order_by(streams.c.opened_at.desc(), streams.c.id)
            .limit(limit)
        )
        given = {streams.c.domain: domain, streams.c.run: run}
        asked = asked.where(*(column == value for column, value in given.items() if value is not None))
        if trouble is not None:
            asked = asked.where(_has(trouble))
        found = [StreamRow(**row) for row in self._database.rows(asked)]
        labels = self.labels([row.id for row in found])
        live = self.live([row.id for row in found if row.outcome is None])
        told = tuple(_listed(row, labels.get(row.id, ()), live.get(row.id, ())) for row in found)
        return Listing(told, found[-1].opened_at if len(found) == limit else self._end_of(newest))

    def live(self, streams: Sequence[uuid.UUID]) -> dict[uuid.UUID, tuple[LiveSentence, ...]]:
        """What running streams have said so far, by stream."""
        return said_so_far(self._database, self._requester, streams)

    def labels(self, streams: Sequence[uuid.UUID]) -> dict[uuid.UUID, tuple[str, ...]]:
        """Each stream's labels that count, by sentence; streams the requester sees, for this asks nothing."""
        judgments = schema.judgments
        asked = (
            sa.select(judgments.c.stream_id, judgments.c.label)
            .where(judgments.c.stream_id.in_(streams), _of_sentences(judgments), counts(judgments))
            .order_by(judgments.c.stream_id, judgments.c.sentence)
        )
        found: dict[uuid.UUID, list[str]] = defaultdict(list)
        for row in self._database.rows(asked) if streams else ():
            found[row["stream_id"]].append(row["label"])
        return {stream: tuple(told) for stream, told in found.items()}

    def waiting(self, *, limit: int = 30) -> list[Waiting]:
        """Sentences that the model did not find supported and no person has judged, the newest first."""
        judgments = schema.judgments
        newest = self._newest(_WAITING, None)
        asked = (
            self._judged(newest)
            .where(judgments.c.source == "model", judgments.c.label.in_(("contradicted", "unsupported")))
            .order_by(newest.c.opened_at.desc(), newest.c.id, judgments.c.sentence)
            .limit(limit)
        )
        return self._with_passages([Waiting(**row) for row in self._database.rows(asked)])

    def sampled(self, since: datetime, *, limit: int = 30) -> list[Waiting]:
        """One judged claim of each of some streams, both by chance, none of which a person has judged.

        Judgments of these say how good the model is; those of `waiting` do not.

        Args:
            since: opened then or later.
            limit: how many.
        """
        streams, judgments = schema.streams, schema.judgments
        later = judgments.alias()
        fits: sa.ColumnElement[bool] = sa.and_(self._requester.sees_stream(), streams.c.opened_at >= since)
        if self._requester.audits:  # most streams fit: in the order of ids the first few are found at once
            fits = sa.case((fits, 1), else_=0) == 1
        # Ids of streams are drawn by chance, so their order is a sample.
        drawn = (
            sa.select(streams.c.id, streams.c.opened_at, streams.c.question)
            .where(
                fits,
                ~sa.exists().where(later.c.stream_id == streams.c.id, later.c.source == "human"),
            )
            .order_by(streams.c.id)
            .limit(2 * limit)
            .subquery()
        )
        asked = (
            self._judged(drawn)
            .where(judgments.c.source == "model", judgments.c.passed.is_not(None))
            .order_by(drawn.c.id, judgments.c.sentence)
        )
        groups: dict[uuid.UUID, list[Waiting]] = defaultdict(list)
        for row in self._database.rows(asked):
            groups[row["stream"]].append(Waiting(**row))
        one = [min(group, key=_drawn) for group in groups.values()]
        return self._with_passages(one[:limit])

    def behind(
        self, sentences: Iterable[tuple[uuid.UUID, int | None]]
    ) -> dict[tuple[uuid.UUID, int], list[Behind]]:
        """The passages behind sentences, best first; of every sentence of a stream for None."""
        evidence, chunks, documents = schema.evidence, schema.chunks, schema.documents
        streams, wanted = schema.streams, set(sentences)
        asked = (
            sa.select(
                evidence.c.stream_id.label("stream"),
                *(evidence.c[name] for name in ("sentence", "passage", "label", "score", "start", "end")),
                *(documents.c[name] for name in ("uri", "title")),
                chunks.c.text,
            )
            .join(chunks, chunks.c.id == evidence.c.chunk_id)
            .join(documents, documents.c.id == chunks.c.document_id)
            .join(streams, streams.c.id == evidence.c.stream_id)
            # By the stream alone: pairs of stream and sentence take SQLite's planner off the index.
            .where(
                evidence.c.stream_id.in_({stream for stream, _ in wanted}),
                self._requester.sees_stream(),
                self._requester.sees_document(),
            )
            .order_by(evidence.c.stream_id, evidence.c.sentence, evidence.c.rank)
        )
        found: dict[tuple[uuid.UUID, int], list[Behind]] = defaultdict(list)
        for row in self._database.rows(asked) if wanted else ():
            stream = row.pop("stream")
            if (stream, row["sentence"]) in wanted or (stream, None) in wanted:
                found[stream, row["sentence"]].append(Behind(**row))
        return found

    def markers(self, stream: uuid.UUID) -> list[Marker]:
        """The citations of a stream, in order."""
        cited, streams = schema.citations, schema.streams
        asked = (
            sa.select(*(cited.c[name] for name in Marker.__slots__))
            .join(streams, streams.c.id == cited.c.stream_id)
            .where(cited.c.stream_id == stream, self._requester.sees_stream())
            .order_by(cited.c.number)
        )
        return [Marker(**row) for row in self._database.rows(asked)]

    def _newest(self, count: int, before: datetime | None) -> sa.Subquery:
        streams = schema.streams
        asked = (
            sa.select(streams.c.id, streams.c.opened_at, streams.c.question)
            .where(self._requester.sees_stream())
            .order_by(streams.c.opened_at.desc())
            .limit(count)
        )
        return (asked if before is None else asked.where(streams.c.opened_at < before)).subquery()

    def _end_of(self, newest: sa.Subquery) -> datetime | None:
        """Where the looking ended; None where it came to the end."""
        first = sa.func.min(newest.c.opened_at, type_=schema.Moment())
        columns: list[sa.ColumnElement[Any]] = [sa.func.count().label("count"), first.label("first")]
        (row,) = self._database.rows(sa.select(*columns).select_from(newest))
        return row["first"] if row["count"] == LOOKED else None

    def _judged(self, streams: sa.Subquery) -> sa.Select[Any]:
        """The sentences of some streams, with the judgment that counts."""
        judgments, sentences, actions = schema.judgments, schema.sentences, schema.actions
        of_it = (sentences.c.stream_id == judgments.c.stream_id) & (
            sentences.c.number == judgments.c.sentence
        )
        done = of_sentence(judgments, actions)
        return (
            sa.select(
                streams.c.id.label("stream"),
                streams.c.opened_at,
                streams.c.question,
                judgments.c.sentence,
                sa.case((self._requester.sees_text(), sentences.c.text)).label("text"),
                judgments.c.label,
                judgments.c.score,
            )
            .select_from(streams.join(judgments, judgments.c.stream_id == streams.c.id))
            .join(sentences, of_it)
            .join(actions, done)
            .where(_of_sentences(judgments), counts(judgments))
        )

    def _with_passages(self, found: Sequence[Waiting]) -> list[Waiting]:
        behind = self.behind((one.stream, one.sentence) for one in found)
        names = [name for name in Waiting.__slots__ if name != "behind"]
        return [
            Waiting(
                **{name: getattr(one, name) for name in names},
                behind=tuple(behind.get((one.stream, one.sentence), ())[:2]),
            )
            for one in found
        ]


def _of_sentences(judgments: sa.FromClause) -> sa.ColumnElement[bool]:
    # Most judgments are of this criterion: its index, which SQLite would take, is the longest way round.
    return (judgments.c.criterion.concat("") == GROUNDING) & judgments.c.sentence.is_not(None)


def _has(trouble: Trouble) -> sa.ColumnElement[bool]:
    ended = schema.conclusions
    if trouble in ("failed", "halted"):
        return ended.c.outcome == trouble
    told = ended.c.figures["citations" if trouble == "fabricated" else "counts"]
    return sa.and_(told[trouble].as_integer() > 0)


def _listed(row: StreamRow, labels: tuple[str, ...], live: tuple[LiveSentence, ...]) -> Listed:
    return Listed(row, labels or tuple(one.label for one in live if one.label is not None), live)


def _drawn(one: Waiting) -> bytes:
    return drawn(one.stream, one.sentence)
