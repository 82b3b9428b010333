"""Digests of texts, rows and what ids are made of; pure.

SHA-256 throughout, over UTF-8 or over JSON with sorted keys and without blanks.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

START = "0" * 64
"""What the first entry of a chain follows."""


def cleaned(text: str) -> str:
    """The text as every database can hold it: U+FFFD in place of NUL and of half surrogate pairs.

    One character for one, so that spans keep pointing at the same place.
    """
    return "".join("\ufffd" if char == "\0" or "\ud800" <= char <= "\udfff" else char for char in text)


def salt() -> str:
    """New randomness that makes the digests of short texts impossible to guess once it is gone."""
    return secrets.token_hex(16)


def digest(text: str, salted: str = "") -> str:
    """The digest of a text, as 64 hexadecimal digits."""
    return hashlib.sha256((salted + text).encode()).hexdigest()


def identity(*parts: object) -> uuid.UUID:
    """An id that says what it stands for: the same parts, the same id."""
    return uuid.UUID(bytes=hashlib.sha256(canonical(list(parts)).encode()).digest()[:16])


def canonical(value: object) -> str:
    """One spelling for equal values, whatever database they came from."""
    return json.dumps(
        value, allow_nan=False, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=_plain
    )


def digest_of_rows(rows: Mapping[str, Iterable[Mapping[str, object]]]) -> str:
    """The digest of rows by table; neither the order of tables nor that of rows matters."""
    return digest(canonical({table: sorted(map(canonical, held)) for table, held in rows.items()}))


def link(previous: str, *said: object) -> str:
    """The hash of one entry of the chain, over what it says and the hash before it."""
    return digest(canonical([previous, *said]))


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    if isinstance(value, uuid.UUID):
        return value.hex
    raise TypeError(f"{value!r} has no spelling")
