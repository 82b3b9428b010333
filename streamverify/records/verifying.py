"""Whether the records are as they were written.

Before: `audit verify`. After: `chain.py` says what belongs to an entry, `spelling.py` how values are stored.

Found are: an entry or a row that was changed, taken out or put in; a text that is not the one whose digest
stands beside it, or that is gone without an erasure; a document, an access or a part of one that is not what
its id says; a value that is not spelled as the library writes it. A row with such a value is told and then
left out, so that the walk goes on: what it belonged to is found changed.

Somebody who can write the database can also write a whole new chain: keep the head (`audit verify` prints
it) somewhere else now and then, and hand it in.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from streamverify.records import chain, schema
from streamverify.records.database import Database
from streamverify.records.digests import START, digest, link
from streamverify.records.sources import SourceAccess, SourceDocument, chunk_id
from streamverify.records.spelling import Spelling

_PORTION = 200
"""Entries read at once, so that years of records fit into memory."""


_REFERENCES = (
    ("retrieval_items", "chunk_id", "chunks"),
    ("retrieval_items", "access_id", "accesses"),
    ("chunks", "document_id", "documents"),
)
"""Table and column that name a source, and the table of that source."""


@dataclass(frozen=True, slots=True)
class Head:
    """The last entry of a chain: keep it elsewhere, and nobody can rewrite what came before."""

    number: int
    hash: str

    def __str__(self) -> str:
        """As it is handed in: `1234:9f2c…`."""
        return f"{self.number}:{self.hash}"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not as it was written."""

    what: str
    """One sentence."""
    subject: uuid.UUID | None = None
    """Id of the stream, judgment, document …; None where it is the chain itself."""
    entry: int | None = None
    """Number of the entry."""

    def __str__(self) -> str:
        """On one line."""
        where = f"entry {self.entry}: " if self.entry is not None else ""
        return f"{where}{self.what}" + (f" ({self.subject})" if self.subject is not None else "")


@dataclass(frozen=True, slots=True)
class Verification:
    """What `verify` found."""

    entries: int
    head: Head
    problems: tuple[Problem, ...]

    @property
    def passed(self) -> bool:
        """Whether everything is as it was written."""
        return not self.problems


def verify(database: Database, known: Head | None = None, *, most: int = 1_000) -> Verification:
    """Walk the whole chain and every row behind it; changes nothing.

    Args:
        database: of records.
        known: a head that was kept elsewhere; its entry must still be what it was.
        most: problems after which it stops looking.
    """
    with database.reading() as connection:
        walk = _Walk(connection, known)
        found = tuple(itertools.islice(walk.problems(), most))
        return Verification(walk.number, Head(walk.number, walk.last), found)


class _Walk:
    def __init__(self, connection: sa.Connection, known: Head | None) -> None:
        self._connection, self._known = connection, known
        self._spelling = Spelling(connection)
        self.number, self.last = 0, START

    def problems(self) -> Iterator[Problem]:
        yield from self._spelled()
        yield from self._entries()
        yield from self._unentered()
        yield from self._sources()
        yield from self._references()

    def _spelled(self) -> Iterator[Problem]:
        for found in self._spelling.wrong():
            what = f"{found.table}.{found.column} holds {found.value}, which the library does not write"
            yield Problem(what, found.subject, found.entry)

    def _entries(self) -> Iterator[Problem]:
        table = schema.entries
        readable = self._spelling.right(*table.c)
        while True:
            asked = sa.select(table).where(table.c.number > self.number, readable)
            asked = asked.order_by(table.c.number).limit(_PORTION)
            portion = self._connection.execute(asked).mappings().all()
            if not portion:
                break
            for entry in portion:
                yield from self._entry(entry)
            yield from self._contents(portion)
        heads = schema.heads.c
        told = sa.select(heads.number, heads.hash).where(heads.id == 1, self._spelling.right(*heads))
        head = self._connection.execute(told).first()
        if head is None or tuple(head) != (self.number, self.last):
            yield Problem("the chain does not end where its head says: entries at its end are missing")
        if self._known is not None and self._known.number > self.number:
            yield Problem(f"the head handed in is entry {self._known.number}, and the chain is shorter")

    def _entry(self, entry: Mapping[Any, Any]) -> Iterator[Problem]:
        number = entry["number"]
        if number != self.number + 1:
            yield Problem("entries before this one are missing", entry=number)
        said = (number, entry["at"], entry["kind"], entry["subject"], entry["digest"])
        if link(self.last, *said) != entry["hash"]:
            yield Problem("the entry does not follow the one before it", entry["subject"], number)
        self.number, self.last = number, entry["hash"]
        known = self._known
        if known is not None and known.number == number and known.hash != entry["hash"]:
            yield Problem("the entry is not the head handed in: the chain was written anew", entry=number)

    def _contents(self, portion: Sequence[Mapping[Any, Any]]) -> Iterator[Problem]:
        for kind in chain.PARTS:
            entries = [entry for entry in portion if entry["kind"] == kind]
            if not entries:
                continue
            subjects = [entry["subject"] for entry in entries]
            contents = chain.content_of(self._connection, kind, subjects, self._spelling)
            texts = _Texts(self._connection, contents, self._spelling)
            nameless = self._nameless(subjects) if kind == "judgment" else {}
            for entry in entries:
                rows = contents[entry["subject"]]
                if chain.content_digest(rows) != nameless.get(entry["subject"], entry["digest"]):
                    tables = ", ".join(chain.PARTS[kind])
                    what = f"the {kind} was changed after it was written (one of {tables})"
                    yield Problem(what, entry["subject"], entry["number"])
                yield from texts.problems(rows, entry)

    def _nameless(self, judgments: Sequence[uuid.UUID]) -> dict[uuid.UUID, str]:
        """Of judgments whose name was erased, the digest of what was left; an erasure's entry tells it."""
        erased = schema.erased_judgments.c
        asked = sa.select(erased.judgment_id, erased.digest).where(
            erased.judgment_id.in_(judgments), self._spelling.right(*erased)
        )
        return {row.judgment_id: row.digest for row in self._connection.execute(asked)}

    def _unentered(self) -> Iterator[Problem]:
        """Rows that no entry stands for: they were put in later."""
        for kind, tables in chain.PARTS.items():
            for name, belongs in tables.items():
                table = schema.metadata.tables[name]
                subject = table.c[chain.subject_column(kind, name)]
                entered = sa.exists().where(
                    schema.entries.c.subject == subject, schema.entries.c.kind == kind
                )
                readable = self._spelling.right(subject)
                for (found,) in self._connection.execute(
                    sa.select(subject).where(belongs, ~entered, readable).distinct()
                ):
                    yield Problem(f"a row of {name} was put in without an entry", found)

    def _sources(self) -> Iterator[Problem]:
        for document, tags in self._grouped(schema.documents, schema.document_tags, "document_id", "tag"):
            said = {name: value for name, value in document.items() if name != "id"}
            if SourceDocument(**said, tags=frozenset(tags)).id != document["id"]:
                yield Problem("the document was changed after it was written", document["id"])
        for access, roles in self._grouped(schema.accesses, schema.access_roles, "access_id", "role"):
            told = SourceAccess(access["visibility"], access["owner"], frozenset(roles))
            if told.id(access["document_id"], access["number"], access["at"]) != access["id"]:
                yield Problem("who may see a document was changed after it was written", access["id"])
        for chunk, _ in self._grouped(schema.chunks, None, "", ""):
            parts = [chunk[name] for name in ("document_id", "digest", "chars", "page", "section")]
            text = chunk["text"]
            kept = chunk["kept_digest"]
            stored = chunk["digest"] if kept is None else kept
            if chunk_id(*parts, kept=kept) != chunk["id"] or (text is not None and digest(text) != stored):
                yield Problem("a part of a document was changed after it was written", chunk["id"])

    def _references(self) -> Iterator[Problem]:
        """Sources that nothing retrieved, and retrievals whose sources are gone."""
        tables = schema.metadata.tables
        for name, column, of in _REFERENCES:
            source, referring = tables[of], tables[name].c[column]
            told = sa.exists().where(referring == source.c.id)
            readable = self._spelling.right(source.c.id)
            for (found,) in self._connection.execute(sa.select(source.c.id).where(~told, readable)):
                yield Problem(f"a row of {of} was put in: no row of {name} names it", found)
            there = sa.exists().where(source.c.id == referring)
            readable = self._spelling.right(referring)
            gone = sa.select(referring).where(referring.is_not(None), ~there, readable).distinct()
            for (found,) in self._connection.execute(gone):
                yield Problem(f"a row of {of} was taken out: {name} names it", found)

    def _grouped(
        self, table: sa.Table, beside: sa.Table | None, key: str, word: str
    ) -> Iterator[tuple[Mapping[Any, Any], list[str]]]:
        """Every row of a table with its words in the table beside it."""
        after: uuid.UUID | None = None
        readable = self._spelling.right(*table.c)
        while True:
            asked = sa.select(table).where(readable).order_by(table.c.id).limit(_PORTION)
            rows = (
                self._connection.execute(asked if after is None else asked.where(table.c.id > after))
                .mappings()
                .all()
            )
            if not rows:
                return
            words: dict[uuid.UUID, list[str]] = {row["id"]: [] for row in rows}
            if beside is not None:
                found = sa.select(beside.c[key], beside.c[word]).where(
                    beside.c[key].in_(list(words)), self._spelling.right(*beside.c)
                )
                for owner, said in self._connection.execute(found):
                    words[owner].append(said)
            for row in rows:
                yield row, words[row["id"]]
            after = rows[-1]["id"]


class _Texts:
    """The texts of some entries against their digests."""

    def __init__(
        self,
        connection: sa.Connection,
        contents: Mapping[uuid.UUID, Mapping[str, list[dict[str, Any]]]],
        spelling: Spelling,
    ) -> None:
        streams = {
            row.get("stream_id", row.get("id"))
            for rows in contents.values()
            for table in (*schema.ERASABLE, "streams")
            for row in rows.get(table, ())
        }
        own = schema.streams.c
        columns = (own.id, own.salt, own.kept)
        asked = sa.select(*columns).where(own.id.in_(streams), spelling.right(*columns))
        self._streams = {identity: (salt, kept) for identity, salt, kept in connection.execute(asked)}
        erased = sa.select(schema.erased_streams.c.stream_id).where(
            schema.erased_streams.c.stream_id.in_(streams), spelling.right(*schema.erased_streams.c)
        )
        self._erased = set(connection.execute(erased).scalars())

    def problems(
        self, rows: Mapping[str, list[dict[str, Any]]], entry: Mapping[Any, Any]
    ) -> Iterator[Problem]:
        yield from self._sealed(rows, entry)
        for table in rows.keys() & schema.ERASABLE.keys():
            for row in rows[table]:
                stream = row["id"] if table == "streams" else row["stream_id"]
                salt, kept = self._streams.get(stream, (None, "text"))
                may_be_gone = kept == "hashes" or stream in self._erased
                for name in schema.ERASABLE[table]:
                    redacted = kept == "redacted"
                    if wrong := _wrong(row, name, salt, may_be_gone=may_be_gone, redacted=redacted):
                        yield Problem(f"{table}.{name} {wrong}", entry["subject"], entry["number"])

    def _sealed(
        self, rows: Mapping[str, list[dict[str, Any]]], entry: Mapping[Any, Any]
    ) -> Iterator[Problem]:
        """Texts that are stored without personal data, against the digest of what was stored."""
        for row in rows.get(schema.KEPT.get(entry["kind"], ""), ())[:1]:
            stream = row["id"] if entry["kind"] == "opening" else row["stream_id"]
            salt, kept = self._streams.get(stream, (None, "text"))
            if kept != "redacted" or salt is None:  # what is gone is told where texts are compared
                continue
            if chain.kept_digest(rows, salt) != row["kept_digest"]:
                yield Problem("a text is not the one that was written", entry["subject"], entry["number"])


def _wrong(row: Mapping[str, Any], name: str, salt: str | None, *, may_be_gone: bool, redacted: bool) -> str:
    text, kept = row[name], row["digest" if name == "text" else f"{name}_digest"]
    if text is None:
        # Nothing and the empty text have one digest: there may have been none.
        nothing = kept is None or (salt is not None and digest("", salt) == kept)
        return "" if may_be_gone or nothing else "is gone, and no erasure says so"
    if salt is None:
        return "is there, and the salt of its digest is gone"
    # A text without its personal data is compared together with all others of its entry.
    return "" if redacted or digest(text, salt) == kept else "is not the text that was written"
