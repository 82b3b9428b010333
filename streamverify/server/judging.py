"""The judging page: a person says of recorded sentences whether they are correct, how bad it is, and why.

Before: `cli.py` mounts it under `/judge` beside the proxy. After: `records/` keeps the judgment, which takes
the place of the one that counted; that one stays.

Whoever shows the token of this page reads and judges as an auditor of one tenant; it is not the token of the
proxy's clients. The page takes it from the part of its address that a browser never sends. Pages of other
origins are refused as everywhere (`guard.py`).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from streamverify.records import Database, Reader, Requester, judge
from streamverify.records.changes import Opinion, Severity
from streamverify.records.database import DatabaseError
from streamverify.records.requester import AUDITOR
from streamverify.server.drain import Drain
from streamverify.server.errors import HTTPRefusal, bad_request
from streamverify.server.guard import Guard, read_body
from streamverify.server.pages import HEADERS, asked, packaged, refuse
from streamverify.server.settings import Limits, ServeSettings

PATH = "/judge"
"""Where the page is mounted."""

_TYPES = {"judge.js": "text/javascript", "make.js": "text/javascript", "label.css": "text/css"}
_MAX_BODY = 2**16
_LISTED = 50
"""Streams on one page of the list."""

T = TypeVar("T")


class Judgment(BaseModel):
    """What a person hands back about a sentence."""

    model_config = ConfigDict(extra="forbid")

    stream: uuid.UUID
    sentence: int = Field(ge=0, le=2**31 - 1)
    opinion: Opinion
    by: str = Field(min_length=1, max_length=200)
    severity: Severity | None = None
    note: str = Field("", max_length=10_000)


def judging_app(database: Database, *, token: str, tenant: str = "", drain: Drain | None = None) -> Starlette:
    """The page, what it shows and what it hands back; to be mounted at `PATH`.

    Args:
        database: of records; open.
        token: what a request must show; 16 characters or more.
        tenant: whose data is shown.
        drain: of the server it is a part of.
    """
    requester = Requester(roles=frozenset({AUDITOR}), tenant=tenant)
    reader = Reader(database, requester)

    async def index(_request: Request) -> Response:
        return await packaged("judge.html", "text/html")

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        return await packaged(name, _TYPES[name]) if name in _TYPES else Response(status_code=404)

    async def listed(request: Request) -> Response:
        until = moment_of(request.query_params.get("before"))
        found = await _asked(lambda: reader.streams(limit=_LISTED, until=until))
        streams = [
            {"id": str(one.id), "opened_at": one.opened_at.isoformat(), "question": one.question}
            for one in found
        ]
        return JSONResponse({"streams": streams, "whole": len(found) < _LISTED}, headers=HEADERS)

    async def one(request: Request) -> Response:
        identity = request.path_params["stream"]
        return JSONResponse(await _asked(lambda: _shown(reader, identity)), headers=HEADERS)

    async def decide(request: Request) -> Response:
        told = await read_judgment(request)

        def add() -> dict[str, Any]:
            keep_judgment(database, requester, told)
            return _shown(reader, told.stream)

        return JSONResponse(await _asked(add), headers=HEADERS)

    settings = ServeSettings(token=token, demo=True)
    guard = Middleware(
        Guard, settings=settings, drain=drain if drain is not None else Drain(), guarded=(f"{PATH}/api/",)
    )
    return Starlette(
        routes=[
            Route("/", index),
            Route("/static/{name}", static),
            Route("/api/streams", listed),
            Route("/api/stream/{stream:uuid}", one),
            Route("/api/judgment", decide, methods=["POST"]),
        ],
        middleware=[guard],
        exception_handlers={HTTPRefusal: refuse},
    )


async def read_judgment(request: Request) -> Judgment:
    """The judgment in a request's body.

    Raises:
        HTTPRefusal: it is none. Client.
    """
    body = await read_body(request, _MAX_BODY, Limits().body_seconds)
    try:
        return Judgment.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise bad_request(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def keep_judgment(database: Database, requester: Requester, told: Judgment) -> None:
    """Add it; the one that counted is superseded and stays.

    Raises:
        UsageError: there is no such sentence for this requester. Client.
    """
    judge(
        database,
        requester,
        told.stream,
        told.sentence,
        told.opinion,
        by=told.by,
        severity=told.severity,
        note=told.note,
    )


def _shown(reader: Reader, identity: uuid.UUID) -> dict[str, Any]:
    """One stream: its sentences, each with all judgments of its grounding and what stood behind it."""
    stream = reader.stream(identity)
    judged: dict[int | None, list[dict[str, Any]]] = {}
    for row in reader.judgments(identity, criterion="grounding"):
        told = {
            name: getattr(row, name) for name in ("source", "by", "label", "severity", "detail", "current")
        }
        judged.setdefault(row.sentence, []).append({**told, "at": row.at.isoformat()})
    documents = [
        {
            "passage": row.passage,
            "uri": row.uri,
            "title": row.title,
            "text": row.text,
        }
        for row in reader.documents(identity)
    ]
    sentences = []
    for said in reader.sentences(identity):
        behind = {
            found.passage for found in reader.documents(identity, said.number) if found.label in _BEHIND
        }
        sentences.append({**asdict(said), "judgments": judged.get(said.number, []), "behind": sorted(behind)})
    return {
        "id": str(stream.id),
        "opened_at": stream.opened_at.isoformat(),
        "question": stream.question,
        "requester": stream.requester,
        "sentences": sentences,
        "documents": documents,
    }


_BEHIND = ("supported", "contradicted", "correct", "partial")
"""Labels of evidence and findings of citations whose passages are marked."""


async def _asked(work: Callable[[], T]) -> T:
    return await asked(work, broken=(DatabaseError,))


def moment_of(text: str | None) -> datetime | None:
    """The moment in a request's `before`; None for none.

    Raises:
        HTTPRefusal: it is no moment with a time zone. Client.
    """
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
        if found.tzinfo is not None:
            found = found.astimezone(UTC)  # as a database asks it, for which there may be no such year
    except (ValueError, OverflowError):
        raise bad_request("before must be a moment, as the list tells it") from None
    if found.tzinfo is None:
        raise bad_request("before must say its time zone")
    return found
