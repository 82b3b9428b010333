"""Questions to the records, each answered within what the requester may see.

Before: an auditor, by command or in Python. After: `requester.py` adds its conditions to every question.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from streamverify.errors import UsageError
from streamverify.records import questions, runs, schema
from streamverify.records.answers import (
    AccessRow,
    BlamedRow,
    CitedRow,
    ContentRow,
    DependencyRow,
    DocumentRow,
    FailureRow,
    JudgmentRow,
    RunFigureRow,
    RunRow,
    ScopeRow,
    SentenceRow,
    StreamRow,
    WithheldRow,
)
from streamverify.records.conditions import counts, of_sentence, opened
from streamverify.records.database import Database
from streamverify.records.graph.edges import graph_of
from streamverify.records.graph.kinds import Graph
from streamverify.records.latest import failures, said, withheld
from streamverify.records.requester import Requester


class Reader:
    """Answers questions for one requester."""

    def __init__(self, database: Database, requester: Requester) -> None:
        """Nothing is asked yet.

        Args:
            database: of records.
            requester: whose rights bound every answer.
        """
        self._database, self._requester = database, requester

    def streams(
        self,
        *,
        limit: int = 50,
        user: str | None = None,
        domain: str | None = None,
        run: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[StreamRow]:
        """The streams that fit, the latest first.

        Args:
            limit: how many, 1 or more.
            user: who asked.
            domain: as the context said.
            run: as the context said.
            since: opened then or later.
            until: opened before.
        """
        streams = schema.streams
        asked = self._listed().order_by(streams.c.opened_at.desc(), streams.c.id).limit(limit)
        given = {streams.c.requester: user, streams.c.domain: domain, streams.c.run: run}
        asked = asked.where(*(column == value for column, value in given.items() if value is not None))
        asked = asked.where(*opened(since, until))
        return [StreamRow(**row) for row in self._rows(asked)]

    def stream(self, stream: uuid.UUID) -> StreamRow:
        """One stream.

        Raises:
            UsageError: there is none of that id, or not for this requester. Caller.
        """
        found = self._rows(self._listed().where(schema.streams.c.id == stream))
        if not found:
            raise UsageError(f"there is no stream {stream} that this requester may see")
        return StreamRow(**found[0])

    def content(self, stream: uuid.UUID) -> ContentRow | None:
        """What a domain read of a stream's answer; None where none did, or the requester may not see it."""
        content, streams = schema.content, schema.streams
        asked = (
            sa.select(content.c.domain, content.c.version, content.c.output)
            .join(streams, streams.c.id == content.c.stream_id)
            .where(content.c.stream_id == stream, self._requester.sees_stream())
        )
        return next((ContentRow(**row) for row in self._rows(asked)), None)

    def sentences(self, stream: uuid.UUID) -> list[SentenceRow]:
        """The sentences of a stream, in order, each with the judgment that counts."""
        sentences, actions, judgments = schema.sentences, schema.actions, schema.judgments
        asked = (
            sa.select(
                sentences.c.number,
                sa.case((self._requester.sees_text(), sentences.c.text)).label("text"),
                actions.c.action,
                judgments.c.label,
                judgments.c.score,
                judgments.c.source,
                actions.c.replacement,
            )
            .select_from(said(self._requester))
            .join(
                judgments,
                of_sentence(judgments, schema.sentences, "number")
                & (judgments.c.criterion == "grounding")
                & counts(judgments),
            )
            .where(sentences.c.stream_id == stream)
            .order_by(sentences.c.number)
        )
        return [SentenceRow(**row) for row in self._rows(asked)]

    def documents(self, stream: uuid.UUID, sentence: int | None = None) -> list[DocumentRow]:
        """The documents that stood behind a sentence, or that were retrieved for a whole stream.

        Args:
            stream: id of the stream.
            sentence: its number, from 0; None for all that was retrieved.
        """
        if sentence is None:
            items = schema.retrieval_items
            own = items.c.stream_id == stream
            return self._documents(items, "retrieved", own, sentence=sa.null(), label=sa.null())
        evidence, cited, passages = schema.evidence, schema.citations, schema.citation_passages
        own = (evidence.c.stream_id == stream) & (evidence.c.sentence == sentence)
        found = self._documents(
            evidence, "evidence", own, sentence=evidence.c.sentence, label=evidence.c.label
        )
        same = (cited.c.stream_id == passages.c.stream_id) & (cited.c.number == passages.c.citation)
        return found + self._documents(
            passages,
            "cited",
            (cited.c.stream_id == stream) & (cited.c.sentence == sentence),
            sentence=cited.c.sentence,
            label=cited.c.finding,
            through=passages.join(cited, same),
            score=cited.c.score,
        )

    def who_could_see(self, stream: uuid.UUID) -> list[AccessRow]:
        """What was retrieved for a stream, and who could see it then."""
        items, accesses, documents = schema.retrieval_items, schema.accesses, schema.documents
        streams, chunks = schema.streams, schema.chunks
        asked = (
            sa.select(
                items.c.passage,
                documents.c.uri,
                accesses.c.id,
                accesses.c.visibility,
                accesses.c.owner,
                streams.c.requester,
            )
            .join(accesses, accesses.c.id == items.c.access_id)
            .join(chunks, chunks.c.id == items.c.chunk_id)
            .join(documents, documents.c.id == chunks.c.document_id)
            .join(streams, streams.c.id == items.c.stream_id)
            .where(
                items.c.stream_id == stream, self._requester.sees_stream(), self._requester.sees_document()
            )
            .order_by(items.c.number, items.c.rank)
        )
        rows = self._rows(asked)
        roles = schema.access_roles
        found = self._rows(sa.select(roles).where(roles.c.access_id.in_({row["id"] for row in rows})))
        own = schema.stream_roles
        held = frozenset(
            row["role"] for row in self._rows(sa.select(own.c.role).where(own.c.stream_id == stream))
        )
        told = []
        for row in rows:
            named = frozenset(said["role"] for said in found if said["access_id"] == row["id"])
            could = (
                row["visibility"] == "public"
                or (row["requester"] is not None and row["visibility"] == "internal")
                or (row["requester"] is not None and row["owner"] == row["requester"])
                or bool(named & held)
            )
            told.append(
                AccessRow(
                    row["passage"], row["uri"], row["visibility"], row["owner"], tuple(sorted(named)),
                    row["requester"], tuple(sorted(held)), could,
                )
            )  # fmt: skip
        return told

    def withheld(self, *, limit: int = 50, stream: uuid.UUID | None = None) -> list[WithheldRow]:
        """Sentences that were not shown as they were generated, the latest streams first."""
        return withheld(self._rows, self._requester, limit, stream)

    def judgments(
        self,
        stream: uuid.UUID | None = None,
        *,
        criterion: str | None = None,
        failed: bool = False,
        limit: int = 1_000,
    ) -> list[JudgmentRow]:
        """Judgments, in the order in which they were made; also superseded ones.

        Of failures those that count alone, and the latest first where they are of the whole history.

        Their details may quote what was withheld, so an auditor alone sees them.

        Args:
            stream: of this stream alone.
            criterion: of this criterion alone, e.g. `grounding`, `number_mismatch`.
            failed: those that count and say that something failed.
            limit: how many.
        """
        judgments = schema.judgments
        asked = self._judged(known=failed and stream is None)
        if stream is not None:
            asked = asked.where(judgments.c.stream_id == stream)
        if criterion is not None:
            asked = asked.where(judgments.c.criterion == criterion)
        if failed:
            asked = asked.where(judgments.c.passed.is_(False), counts(judgments))
        order = (judgments.c.sentence, judgments.c.id)
        if not failed or stream is not None:
            asked = asked.order_by(judgments.c.at, *order).limit(limit)
            return [JudgmentRow(**row) for row in self._rows(asked)]
        asked = asked.order_by(judgments.c.at.desc(), *order)
        found: list[JudgmentRow] = []
        for page in failures(self._rows, criterion):
            rows = self._rows(asked.where(judgments.c.id.in_(page)).limit(limit - len(found)))
            found += [JudgmentRow(**row) for row in rows]
            if len(found) == limit:
                break
        return found

    def _judged(self, *, known: bool) -> sa.Select[Any]:
        """Judgments with what may be told of them."""
        judgments, streams = schema.judgments, schema.streams
        apart = ("stream", "current", "detail")
        names = [field for field in JudgmentRow.__slots__ if field not in apart]
        audits = sa.true() if self._requester.audits else sa.false()
        return (
            sa.select(
                *(judgments.c[name] for name in names),
                judgments.c.stream_id.label("stream"),
                sa.case((audits, judgments.c.detail)).label("detail"),
                counts(judgments).label("current"),
            )
            .join(streams, streams.c.id == judgments.c.stream_id)
            .where(self._requester.sees_stream(known=known))
        )

    # These read all streams of their time: seconds for each gigabyte. `since` and `until` are of the opening.

    def cited(
        self, *, limit: int = 50, since: datetime | None = None, until: datetime | None = None
    ) -> list[CitedRow]:
        """Documents by how often they are cited correctly, the most often first."""
        asked = questions.cited(self._requester, *opened(since, until)).limit(limit)
        return [CitedRow(**row) for row in self._rows(asked)]

    def scopes(
        self, *, limit: int = 50, since: datetime | None = None, until: datetime | None = None
    ) -> list[ScopeRow]:
        """Scopes by how often their documents were retrieved for somebody who may not see them."""
        asked = questions.scopes(self._requester, *opened(since, until)).limit(limit)
        return [ScopeRow(**row) for row in self._rows(asked)]

    def dependencies(
        self, *, limit: int = 50, since: datetime | None = None, until: datetime | None = None
    ) -> list[DependencyRow]:
        """Pairs of documents where one is cited and the other holds what is said, the most frequent first."""
        asked = questions.dependencies(self._requester, *opened(since, until)).limit(limit)
        return [DependencyRow(**row) for row in self._rows(asked)]

    def failures(
        self, criterion: str | None = None, *, since: datetime | None = None, until: datetime | None = None
    ) -> list[FailureRow]:
        """How each criterion went in each run, the earliest run first.

        Args:
            criterion: this one alone, e.g. `grounding`.
            since: of streams opened then or later.
            until: of streams opened before.
        """
        asked = questions.failures(self._requester, *opened(since, until), criterion=criterion)
        return [FailureRow(**row) for row in self._rows(asked)]

    def blamed(
        self, *, limit: int = 50, since: datetime | None = None, until: datetime | None = None
    ) -> list[BlamedRow]:
        """Documents behind most contradicted sentences and fabricated citations."""
        asked = questions.blamed(self._requester, *opened(since, until)).limit(limit)
        return [BlamedRow(**row) for row in self._rows(asked)]

    def runs(self, *, limit: int = 50) -> list[RunRow]:
        """Evaluations whose figures were added, the latest first; they are of no tenant, and for auditors."""
        if not self._requester.audits:
            return []
        with self._database.reading() as connection:
            return runs.runs(connection, limit)

    def run_figures(self, run: uuid.UUID) -> list[RunFigureRow]:
        """The figures of one of them, by metric.

        Raises:
            UsageError: there is none of that id, or not for this requester. Caller.
        """
        with self._database.reading() as connection:
            found = runs.run_figures(connection, run) if self._requester.audits else []
        if not found:
            raise UsageError(f"there is no run {run} that this requester may see")
        return found

    def graph(self) -> Graph:
        """All of it as nodes and edges; held in memory."""
        with self._database.reading() as connection:
            return graph_of(connection, self._requester.sees_stream(), self._requester.sees_document())

    def _listed(self) -> sa.Select[Any]:
        streams, conclusions = schema.streams, schema.conclusions
        own = ("id", "opened_at", "requester", "domain", "run", "policy", "question")
        ended = ("outcome", "grounding_score", "released")
        return (
            sa.select(*(streams.c[name] for name in own), *(conclusions.c[name] for name in ended))
            .outerjoin(conclusions, conclusions.c.stream_id == streams.c.id)
            .where(self._requester.sees_stream())
        )

    def _documents(
        self,
        table: sa.Table,
        role: str,
        own: sa.ColumnElement[bool],
        *,
        sentence: sa.ColumnElement[Any],
        label: sa.ColumnElement[Any],
        through: sa.FromClause | None = None,
        score: sa.ColumnElement[Any] | None = None,
    ) -> list[DocumentRow]:
        chunks, documents, streams = schema.chunks, schema.documents, schema.streams
        number = table.c.get("number", table.c.get("citation", table.c.rank))
        asked = (
            sa.select(
                sentence.label("sentence"),
                table.c.passage,
                documents.c.uri,
                documents.c.checksum,
                documents.c.title,
                chunks.c.page,
                chunks.c.section,
                table.c.rank,
                (table.c.score if score is None else score).label("score"),
                label.label("label"),
                chunks.c.text,
            )
            .select_from(table if through is None else through)
            .join(chunks, chunks.c.id == table.c.chunk_id)
            .join(documents, documents.c.id == chunks.c.document_id)
            .join(streams, streams.c.id == table.c.stream_id)
            .where(own, self._requester.sees_stream(), self._requester.sees_document())
            .order_by(number, table.c.rank)
        )
        return [DocumentRow(role=role, **row) for row in self._rows(asked)]

    def _rows(self, asked: sa.Select[Any]) -> Sequence[dict[str, Any]]:
        with self._database.reading() as connection:
            try:
                return [dict(row) for row in connection.execute(asked).mappings()]
            except (ValueError, LookupError) as error:  # of a moment, an id or a label; not of the database
                raise UsageError(
                    f"{self._database.name} holds a value that cannot be read ({error}): streamverify audit "
                    "verify says which"
                ) from None
