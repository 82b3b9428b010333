"""Passages as rows: the document a passage comes from, who may see it, and the part that was retrieved; pure.

Before: `provenance.py` reads a passage's metadata. After: `writer.py` adds the rows that are new.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from streamverify.provenance import LONGEST, Visibility, provenance_of
from streamverify.records.digests import cleaned, digest, identity
from streamverify.types import Passage


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """One version of a document; `id` says all of it."""

    tenant: str
    uri: str
    checksum: str
    title: str | None
    topic: str | None
    updated_at: datetime | None
    tags: frozenset[str]

    @property
    def id(self) -> uuid.UUID:
        """From what it holds."""
        said = (self.tenant, self.uri, self.checksum, self.title, self.topic, self.updated_at)
        return identity("document", *said, sorted(self.tags))


@dataclass(frozen=True, slots=True)
class SourceAccess:
    """Who may see a document, as a passage said."""

    visibility: Visibility
    owner: str | None
    roles: frozenset[str]

    def id(self, document: uuid.UUID, number: int, at: datetime) -> uuid.UUID:
        """Of the access that is the document's `number`-th, told at this moment."""
        return identity("access", document, number, at, self.visibility, self.owner, sorted(self.roles))


@dataclass(frozen=True, slots=True)
class SourceChunk:
    """The part of a document that a passage is."""

    document: SourceDocument
    access: SourceAccess
    text: str
    """Cleaned."""
    page: str | None
    section: str | None
    score: float | None
    """The retriever's."""
    passage: str
    """Its id in the stream."""
    redacted: str | None = None
    """The text without personal data; None where it holds none, or nobody looked."""

    @property
    def digest(self) -> str:
        """Of the text."""
        return digest(self.text)

    @property
    def id(self) -> uuid.UUID:
        """From what it holds."""
        said = (len(self.text), self.page, self.section)
        return chunk_id(self.document.id, self.digest, *said, kept=self.kept_digest)

    @property
    def kept_digest(self) -> str | None:
        """Of the text as it is stored, where that is another."""
        return None if self.redacted is None else digest(self.redacted)


def chunk_id(document: uuid.UUID, text_digest: str, *said: object, kept: str | None = None) -> uuid.UUID:
    """The id of a part of a document; `said` are its characters, its page and its section."""
    return identity("chunk", document, text_digest, *said, *([] if kept is None else [kept]))


def passage_id(told: str) -> str:
    """A passage's id as it is stored."""
    return cleaned(told)[:LONGEST]


def chunk_from(
    passage: Passage,
    tenant: str,
    score: float | None,
    unsaid: Visibility,
    hide: Callable[[str], str] | None = None,
) -> SourceChunk:
    """A passage, read; whatever its metadata holds.

    Args:
        passage: as given by the caller.
        tenant: whose data it is.
        score: the retriever's; in place of the metadata's.
        unsaid: who may see a document that does not say so.
        hide: takes personal data out of a text; None where texts are kept as they are, or not at all.
    """
    said, text = provenance_of(passage, unsaid), cleaned(passage.text)
    hidden = text if hide is None else hide(text)
    document = SourceDocument(
        tenant=tenant,
        # A passage that names no document stands for itself.
        uri=_kept(said.uri) or f"passage:{passage_id(passage.id)}",
        checksum=_kept(said.checksum) or ("" if said.uri else digest(text)),
        title=_kept(passage.title),
        topic=_kept(said.topic),
        updated_at=said.updated_at,
        tags=frozenset(map(cleaned, said.tags)),
    )
    return SourceChunk(
        document=document,
        access=SourceAccess(said.visibility, _kept(said.owner), frozenset(map(cleaned, said.roles))),
        text=text,
        page=_kept(said.page),
        section=_kept(said.section),
        score=score if score is not None else said.score,
        passage=passage_id(passage.id),
        redacted=hidden if hidden != text else None,
    )


def _kept(text: str | None) -> str | None:
    return None if text is None else cleaned(text)[:LONGEST]
