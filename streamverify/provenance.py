"""What a passage's metadata says of the document it comes from, and who may see that.

`uri` (or `source`, `url`, `file_path`), `checksum` (or `version`), `visibility` (public, internal,
restricted), `owner`, `roles` (who may see a restricted one), `tags`, `topic`, `updated_at` (ISO), `page`,
`section`, `score` (or `relevance_score`). Metadata is foreign: what is not of its kind counts as not said,
and a visibility that means nothing is `restricted`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Literal, cast

from streamverify.context import StreamContext
from streamverify.types import Passage

Visibility = Literal["public", "internal", "restricted"]
"""Everybody · every requester who is known · the owner, and who has one of the document's roles."""

LONGEST = 2_000
"""Characters of one value that are read."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a passage comes from."""

    uri: str | None
    checksum: str | None
    topic: str | None
    tags: frozenset[str]
    updated_at: datetime | None
    page: str | None
    section: str | None
    score: float | None
    visibility: Visibility
    owner: str | None
    roles: frozenset[str]

    def visible_to(self, requester: StreamContext) -> bool:
        """Whether this requester may see the document."""
        if self.visibility == "public":
            return True
        known = requester.user is not None
        owns = known and requester.user == self.owner
        return owns or (known and self.visibility == "internal") or bool(self.roles & requester.roles)


def provenance_of(passage: Passage, unsaid: Visibility = "restricted") -> Provenance:
    """A passage's provenance, whatever its metadata holds.

    Args:
        passage: as given by the caller.
        unsaid: who may see a document that does not say so.
    """
    said = passage.metadata
    told = said.get("visibility", unsaid)
    # A word that means nothing here must not open a document to anybody.
    visibility = told if told in ("public", "internal", "restricted") else "restricted"
    return Provenance(
        uri=_text(said, "uri", "source", "url", "file_path"),
        checksum=_text(said, "checksum", "version"),
        topic=_text(said, "topic"),
        tags=_words(said.get("tags")),
        updated_at=_moment(said.get("updated_at")),
        page=_text(said, "page", "page_label"),
        section=_text(said, "section"),
        score=_finite(said.get("score", said.get("relevance_score"))),
        visibility=cast("Visibility", visibility),
        owner=_text(said, "owner"),
        roles=_words(said.get("roles")),
    )


def _moment(value: object) -> datetime | None:
    """A moment or a day; without a zone it is UTC."""
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        if isinstance(value, datetime):
            return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        if isinstance(value, date):
            return datetime(value.year, value.month, value.day, tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return None


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _text(said: Mapping[str, Any], *names: str) -> str | None:
    for name in names:
        value = said.get(name)
        if isinstance(value, str) and value.strip():
            return value[:LONGEST]
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18:
            return str(value)
    return None


def _words(value: object) -> frozenset[str]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple | set | frozenset):
        return frozenset()
    return frozenset(word[:LONGEST] for word in value if isinstance(word, str) and word.strip())
