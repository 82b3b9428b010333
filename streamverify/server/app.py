"""The application behind `streamverify serve`: a verifying proxy, and a demo page.

POST /v1/chat/completions, /v1/responses    chat.py, responses.py
GET  /v1/models…, POST /v1/embeddings, …    the upstream's, as they are: they hold no generated text
GET  /healthz, /readyz                      the process runs; the model is loaded, and it is not stopping
GET  /metrics                               for Prometheus, where it was asked for
GET  /, /demo/…, /static/…                  demo_page.py
     /judge/…                               judging.py, where there are records and it was asked for
"""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

import anyio

from streamverify.errors import MissingExtraError
from streamverify.pii.policy import RedactPii
from streamverify.server.errors import HTTPRefusal
from streamverify.server.request import read_request
from streamverify.server.runs import Runs
from streamverify.server.settings import ServeSettings
from streamverify.server.traces import traced
from streamverify.verifier import Verifier

try:
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import BaseRoute, Mount, Route
    from starlette.types import ASGIApp, Receive, Scope, Send
except ModuleNotFoundError as error:
    raise MissingExtraError("server", error.name or "starlette", "streamverify serve") from error

from streamverify.server.chat import relay_chat
from streamverify.server.demo_page import demo_routes
from streamverify.server.drain import Answering, Drain
from streamverify.server.exchange import ProxyExchange, fail, pass_through
from streamverify.server.guard import Guard, read_body, shows
from streamverify.server.response import ResponseWriter, answer
from streamverify.server.responses import relay_responses
from streamverify.server.upstream import IN_LOOP, Upstream

_LOG = logging.getLogger("streamverify.server")

_NOTHING = re.compile(r"(?!)")
_WITHOUT_ANSWERS = defaultdict(
    lambda: _NOTHING,
    GET=re.compile(r"/models(?:/\w[\w.:@+-]*)*", re.ASCII),
    POST=re.compile(r"/(?:embeddings|moderations|rerank|score|tokenize|detokenize)"),
)
"""Paths of the upstream whose answers hold nothing that a model wrote."""


def create_app(
    settings: ServeSettings,
    verifier: Verifier | None = None,
    drain: Drain | None = None,
    *,
    judging: ASGIApp | None = None,
) -> Starlette:
    """The application, for any ASGI server.

    Args:
        settings: see `ServeSettings`. The application trusts that without a token no other machine can
            reach it.
        verifier: in place of one with the embedded model and the settings' observers; opened and closed with
            the application.
        drain: for whoever stops the server, so that answers end in order (`drain.py` has the steps).
        judging: the page of `judging.py`, shown under `/judge/`.

    Raises:
        MissingExtraError: the server's packages are not installed. Operator.
    """
    drain = drain if drain is not None else Drain()
    verifier = verifier if verifier is not None else verifier_for(settings)
    server = _Server(settings, verifier, drain)
    routes: list[BaseRoute] = [Route("/healthz", server.healthz), Route("/readyz", server.readyz)]
    if settings.metrics is not None:
        settings.metrics.watch(verifier)
        routes.append(Route("/metrics", server.metrics))
    if settings.upstream is not None:
        routes += [
            Route("/v1/chat/completions", server.chat, methods=["POST"]),
            Route("/v1/responses", server.responses, methods=["POST"]),
            Route("/v1/{path:path}", server.other, methods=["GET", "POST", "PUT", "PATCH", "DELETE"]),
        ]
    if settings.demo:
        routes += demo_routes(
            server.verifier, server.runs, settings.limits.drain_seconds, redact_pii=settings.redact_pii
        )
    if judging is not None:
        routes.append(Mount("/judge", judging))
    return Starlette(
        routes=routes,
        lifespan=server.lifespan,
        middleware=[Middleware(Guard, settings=settings, drain=drain, guarded=("/v1/", "/demo/"))],
        exception_handlers={HTTPRefusal: _refused},
    )


def verifier_for(settings: ServeSettings) -> Verifier:
    """What judges the answers, with the settings' observers; nothing is loaded yet."""
    return Verifier(
        model=settings.model,
        preset=settings.preset,
        max_lag=settings.max_lag,
        policy=RedactPii(settings.policy) if settings.redact_pii else settings.policy,
        on_unverified=settings.on_unverified,
        observers=(*settings.observers, *filter(None, [settings.metrics])),
        share=settings.share,
    )


class _Server:
    """The endpoints, and what they hold while the application runs."""

    def __init__(self, settings: ServeSettings, verifier: Verifier, drain: Drain) -> None:
        self.verifier, self.runs = verifier, Runs()
        drain.also(self.runs.interrupt)
        self._settings, self._drain = settings, drain
        self._upstream: Upstream | None = None
        self._ready = False

    @asynccontextmanager
    async def lifespan(self, _app: Starlette) -> AsyncGenerator[None, None]:
        settings = self._settings
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self.verifier)
            await stack.enter_async_context(self.runs)
            if settings.upstream is not None:
                upstream = Upstream(settings.upstream, settings.upstream_key, settings.limits)
                self._upstream = await stack.enter_async_context(upstream)
            self._ready = True
            try:
                yield
            finally:
                self._ready = False

    async def healthz(self, _request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def readyz(self, _request: Request) -> Response:
        checks, ready = self.verifier.statistics(), self._ready and not self._drain.begun
        body = {
            "ready": ready,
            "stopping": self._drain.begun,
            "answers": self._drain.requests,
            "checks_running": checks.running,
            "checks_waiting": checks.waiting,
        }
        return JSONResponse(body, 200 if ready else 503)

    async def metrics(self, request: Request) -> Response:
        # Beside the guard, whose bounds are for answers: a busy or a stopping server still tells how it is.
        metrics, token = self._settings.metrics, self._settings.token
        assert metrics is not None
        if token is not None and not shows(request.headers, token):
            refused = "send the token as Authorization: Bearer"
            raise HTTPRefusal(401, "invalid_token", refused, {"www-authenticate": "Bearer"})
        text, kind = await anyio.to_thread.run_sync(metrics.exposition)
        return Response(text, headers={"content-type": kind})

    async def chat(self, request: Request) -> Response:
        return await self._proxy(request, relay_chat)

    async def responses(self, request: Request) -> Response:
        return await self._proxy(request, relay_responses)

    async def other(self, request: Request) -> Response:
        limits, path = self._settings.limits, f"/{request.path_params['path']}"
        if not _WITHOUT_ANSWERS[request.method].fullmatch(path):
            message = f"{request.method} /v1{path} is not passed on: what it answers would not be verified"
            raise HTTPRefusal(404, "invalid_request_error", message, code="path_not_verified")
        posted = request.method == "POST"
        body = await read_body(request, limits.body_bytes, limits.body_seconds) if posted else None

        async def work(writer: ResponseWriter, _answering: Answering) -> None:
            assert self._upstream is not None
            with traced(self._settings.observers, request.headers) as headers:
                try:
                    async with self._upstream.ask(
                        request.method, path, headers, body, query=_query(request)
                    ) as found:
                        await pass_through(writer, found)
                except Exception as error:  # noqa: BLE001 - as in `_proxy`
                    await fail(writer, error)

        return self._answered(work)

    async def _proxy(
        self, request: Request, work: Callable[[ProxyExchange, ResponseWriter], Awaitable[None]]
    ) -> Response:
        limits = self._settings.limits
        data = await read_body(request, limits.body_bytes, limits.body_seconds)
        given = (data, self._settings.policy, self._settings.passages)
        if len(data) > IN_LOOP:
            asked = await anyio.to_thread.run_sync(read_request, *given)
        else:
            asked = read_request(*given)
        if self._settings.redact_pii:
            asked = replace(asked, policy=RedactPii(asked.policy))
        assert self._upstream is not None
        upstream = self._upstream

        async def relayed(writer: ResponseWriter, answering: Answering) -> None:
            if not asked.passages:
                _LOG.warning("a request came without passages: nothing in its answer can be verified")
                writer.warn("no_passages")
            with traced(self._settings.observers, request.headers) as headers:
                exchange = ProxyExchange(self.verifier, upstream, headers, _query(request), asked, answering)
                try:
                    await work(exchange, writer)
                except Exception as error:  # noqa: BLE001 - whatever it was, the client is told
                    await fail(writer, error)

        return self._answered(relayed)

    def _answered(self, work: _Work) -> Response:
        return _Written(work, self._drain, self._settings.limits.total_seconds)


_Work = Callable[[ResponseWriter, Answering], Awaitable[None]]


class _Written(Response):
    """A response that does its own writing."""

    def __init__(self, work: _Work, drain: Drain, total_seconds: float) -> None:
        super().__init__()
        self._work, self._drain, self._seconds = work, drain, total_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's signature
        """Answer one request."""
        with self._drain.answering() as answering:
            await answer(
                receive, send, lambda writer: self._work(writer, answering), answering, self._seconds
            )


def _query(request: Request) -> bytes:
    found: bytes = request.scope["query_string"]
    return found


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPRefusal)
    return JSONResponse(error.body, error.status, dict(error.headers))
