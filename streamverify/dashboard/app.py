"""The application behind `streamverify dashboard`.

GET  /, /answers, /answers/ID, …    the same page without anything in it, for whoever asks
GET  /view/…                        what stands in it: HTML, for whoever shows a token
GET  /api/pulse                     a word that changes when something was added, or a sentence was judged
POST /api/judgment                  a person's judgment of a sentence
GET  /static/…                      the page's files

The page takes the token from the part of its address that a browser never sends and shows it in a header, as
the other pages of this package do: no cookie travels to another server of this machine, and no page of
another origin can ask in somebody's name (`guard.py`).
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from streamverify.dashboard import answers, overview, runs
from streamverify.dashboard.overview import Asked
from streamverify.dashboard.pairing import Pairing
from streamverify.dashboard.people import People, Person
from streamverify.dashboard.rendering import PACKAGE, environment, style
from streamverify.dashboard.watching import Watched, Watcher, utc_now
from streamverify.evaluate.gates import Gates
from streamverify.records import Database, StreamRow
from streamverify.records.database import DatabaseError
from streamverify.records.listing import Lister
from streamverify.records.live import mark
from streamverify.server.drain import Drain
from streamverify.server.errors import HTTPRefusal
from streamverify.server.guard import Guard
from streamverify.server.judging import keep_judgment, moment_of, read_judgment
from streamverify.server.pages import HEADERS, asked, packaged, refuse
from streamverify.server.settings import ServeSettings

PAGES = ("/", "/answers", "/answers/{stream:uuid}", "/review", "/documents", "/runs", "/drift", "/alerts")
_TYPES = {"dashboard.js": "text/javascript"}
_LONGEST = timedelta(hours=1)
"""That an answer is taken to run."""
_LIVELY = 30.0
"""Seconds since a sentence of a running answer changed, within which readers ask more often."""


def dashboard_app(
    database: Database,
    people: People,
    watched: Watched,
    *,
    gates: Gates | None = None,
    drain: Drain | None = None,
    clock: Callable[[], datetime] = utc_now,
) -> Starlette:
    """The application, for any ASGI server.

    Args:
        database: of records; open.
        people: who may look.
        watched: alerts and drift.
        gates: what evaluations are held against.
        drain: of the server it runs in.
        clock: where windows end.

    Raises:
        MissingExtraError: jinja2 is not installed. Operator.
    """
    tenants = sorted({one.requester.tenant for one in people.everybody})
    watcher = Watcher(database, tenants, watched, clock)
    pages = _Pages(database, people, watcher, gates, clock)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None, None]:
        async with anyio.create_task_group() as group:
            group.start_soon(watcher.run)
            try:
                yield
            finally:
                group.cancel_scope.cancel()

    settings = ServeSettings(demo=True)
    guard = Middleware(
        Guard,
        settings=settings,
        drain=drain if drain is not None else Drain(),
        guarded=("/view/", "/api/"),
        knows=people.knows,
    )
    return Starlette(
        routes=[
            *(Route(path, pages.shell) for path in PAGES),
            Route("/static/{name}", pages.static),
            Route("/view/", pages.overview),
            Route("/view/answers", pages.answers),
            Route("/view/answers/{stream:uuid}", pages.answer),
            Route("/view/review", pages.review),
            Route("/view/documents", pages.documents),
            Route("/view/runs", pages.runs),
            Route("/view/drift", pages.drift),
            Route("/view/alerts", pages.alerts),
            Route("/api/pulse", pages.pulse),
            Route("/api/judgment", pages.judgment, methods=["POST"]),
        ],
        middleware=[guard],
        exception_handlers={HTTPRefusal: refuse},
        lifespan=lifespan,
    )


class _Pages:
    """The endpoints."""

    def __init__(
        self,
        database: Database,
        people: People,
        watcher: Watcher,
        gates: Gates | None,
        clock: Callable[[], datetime],
    ) -> None:
        self._database, self._people, self._watcher = database, people, watcher
        self._gates, self._clock = gates, clock
        self._pairing = Pairing(database, gates.baseline if gates is not None else None)
        self._templates, self._style = environment(), style()

    async def shell(self, _request: Request) -> Response:
        return await packaged("index.html", "text/html", package=PACKAGE)

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name == "dashboard.css":
            return Response(self._style, media_type="text/css", headers=dict(HEADERS))
        if name not in _TYPES:
            return Response(status_code=404)
        return await packaged(name, _TYPES[name], package=PACKAGE)

    async def overview(self, request: Request) -> Response:
        given = _asked_for(request)
        return await self._shown(request, "overview.html", lambda who: self._overview(who, given))

    async def documents(self, request: Request) -> Response:
        given = _asked_for(request)
        return await self._shown(
            request,
            "documents.html",
            lambda who: overview.documents(self._database, who.requester, given(), self._clock()),
        )

    async def answers(self, request: Request) -> Response:
        before = moment_of(request.query_params.get("before"))
        told = {name: request.query_params.get(name) for name in ("domain", "run")}
        trouble = request.query_params.get("with") or None
        return await self._shown(
            request,
            "answers.html",
            lambda who: answers.answers(
                self._database, who.requester, before=before, trouble=trouble, **told
            ),
        )

    async def answer(self, request: Request) -> Response:
        stream = request.path_params["stream"]
        return await self._shown(
            request, "answer.html", lambda who: answers.answer(self._database, who.requester, stream)
        )

    async def review(self, request: Request) -> Response:
        queue = request.query_params.get("queue", "doubtful")
        return await self._shown(
            request,
            "review.html",
            lambda who: answers.review(self._database, who.requester, queue, self._clock()),
        )

    async def runs(self, request: Request) -> Response:
        given, query = _asked_for(request), request.query_params
        return await self._shown(
            request,
            "runs.html",
            lambda who: runs.runs(
                self._database,
                who.requester,
                given(),
                self._clock(),
                gates=self._gates,
                pairing=self._pairing,
                chosen=query.get("run"),
                against=query.get("against"),
            ),
        )

    async def drift(self, request: Request) -> Response:
        return await self._shown(request, "drift.html", self._watched)

    async def alerts(self, request: Request) -> Response:
        return await self._shown(request, "alerts.html", self._watched)

    async def pulse(self, request: Request) -> Response:
        person = self._person(request)

        def word() -> tuple[str, bool]:
            told = self._watcher.found(person.requester.tenant)
            looked = (told.alerts_at, told.looks_at, len(told.looks or ()), told.problem, self._pairing.done)
            live = mark(self._database)
            text = f"{Lister(self._database, person.requester).head()} {looked} {live}"
            return text, time.time() - live[1] / 1e6 < _LIVELY

        found, lively = await asked(word, broken=(DatabaseError,))
        told = {"pulse": found, "lively": lively, "name": person.name}
        return JSONResponse(told, headers=dict(HEADERS))

    async def judgment(self, request: Request) -> Response:
        told, person = await read_judgment(request), self._person(request)
        if person.name is not None:
            told = told.model_copy(update={"by": person.name})
        await asked(lambda: keep_judgment(self._database, person.requester, told), broken=(DatabaseError,))
        return JSONResponse({"by": told.by, "opinion": told.opinion}, headers=dict(HEADERS))

    def _overview(self, who: Person, given: Callable[[], Asked]) -> dict[str, Any]:
        told = overview.overview(self._database, who.requester, given(), self._clock())
        return self._watched(who) | told

    def _watched(self, who: Person) -> dict[str, Any]:
        """What is found out for a whole tenant, which is for its auditors."""
        audits = who.requester.audits
        found = self._watcher.found(who.requester.tenant) if audits else None
        return {
            "found": found,
            "audits": audits,
            "reference": self._watcher.reference,
            "every": self._watcher.seconds,
        }

    async def _shown(
        self, request: Request, template: str, told: Callable[[Person], dict[str, Any]]
    ) -> Response:
        person = self._person(request)

        def render() -> str:
            return str(
                self._templates.get_template(template).render(person=person, lost=self._lost, **told(person))
            )

        text = await asked(render, broken=(DatabaseError,))
        return Response(
            text.encode("utf-8", "backslashreplace"), media_type="text/html", headers=dict(HEADERS)
        )

    def _lost(self, stream: StreamRow) -> bool:
        """Whether a stream without an end is not running any more: whoever recorded it went away."""
        return stream.outcome is None and self._clock() - stream.opened_at > _LONGEST

    def _person(self, request: Request) -> Person:
        found = self._people.of(request.headers)
        assert found is not None, "the guard lets nobody through who is not known"
        return found


def _asked_for(request: Request) -> Callable[[], Asked]:
    query = request.query_params
    return lambda: Asked(query.get("window", "24h"), query.get("domain"), query.get("run"))
