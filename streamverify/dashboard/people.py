"""Whose token is shown, and what they may see.

Before: a TOML file, or one token for everybody. After: `app.py` asks for each request.

    [ann]
    token_sha256 = "9f86d081884c7d65…"
    roles = ["auditor"]
    [ben]
    token_sha256 = "60303ae22b998861…"
    roles = ["hr"]

The file holds digests, so that whoever reads it can show no token: `printf %s TOKEN | sha256sum`.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import field_validator
from starlette.datastructures import Headers

from streamverify.errors import UsageError
from streamverify.evaluate.records import Record
from streamverify.evaluate.toml_files import WrongPlaceError, built, read_toml
from streamverify.records import Requester
from streamverify.server.guard import TOKEN_HEADER

_DIGEST = re.compile(r"[0-9a-f]{64}")
LEAST_CHARS = 16
"""Of a token."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who looks."""

    requester: Requester
    digest: str
    """SHA-256 of their token, in hexadecimal digits."""
    name: str | None = None
    """Whose judgments theirs are; None where several share a token and say it themselves."""


class _Entry(Record):
    token_sha256: str
    roles: tuple[str, ...] = ()
    tenant: str = ""

    @field_validator("token_sha256")
    @classmethod
    def _hexadecimal(cls, value: str) -> str:
        if _DIGEST.fullmatch(value) is None:
            raise ValueError("must be a SHA-256 of 64 hexadecimal digits")
        return value


class People:
    """Everybody who may look."""

    def __init__(self, people: Sequence[Person]) -> None:
        """Nobody has looked yet.

        Raises:
            UsageError: there is nobody, or two have one token. Operator.
        """
        if not people:
            raise UsageError("nobody may look: name a token")
        if len({one.digest for one in people}) < len(people):
            raise UsageError("two people have the same token: then nobody can tell who judged")
        self.everybody = tuple(people)

    def of(self, headers: Headers) -> Person | None:
        """Who shows their token; None for nobody known."""
        shown = digest_of(headers.get(TOKEN_HEADER, ""))
        found = None
        for one in self.everybody:  # all of them, so that the time tells nothing
            if hmac.compare_digest(shown, one.digest):
                found = one
        return found

    def knows(self, headers: Headers) -> bool:
        """Whether somebody known asks."""
        return self.of(headers) is not None


def one_for_all(token: str, requester: Requester) -> People:
    """Whoever shows the token, with the same rights.

    Raises:
        UsageError: the token is too short. Operator.
    """
    if len(token) < LEAST_CHARS:
        raise UsageError(f"the token must have {LEAST_CHARS} characters or more")
    return People([Person(requester, digest_of(token))])


def read_people(path: Path | str) -> People:
    """The people of a TOML file.

    Raises:
        InputFileError: it is none; names the place. Operator.
        UsageError: there is nobody in it, or two have one token. Operator.
    """
    return read_toml(path, _people_from)


def digest_of(token: str) -> str:
    """SHA-256 of a token, in hexadecimal digits."""
    return hashlib.sha256(token.encode()).hexdigest()


def _people_from(found: Mapping[str, Any]) -> People:
    people = []
    for name, value in found.items():
        if not name.strip():
            raise WrongPlaceError(name, "a person needs a name")
        entry = built(_Entry, name, value)
        requester = Requester(user=name, roles=frozenset(entry.roles), tenant=entry.tenant)
        people.append(Person(requester, entry.token_sha256, name))
    return People(people)
