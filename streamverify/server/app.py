"""The application behind `streamverify serve`: a verifying proxy, and a demo page.

POST /v1/chat/completions, /v1/responses    chat.py, responses.py
GET  /v1/models                             the upstream's
GET  /healthz, /readyz                      the process runs; the model is loaded, and it is not stopping
GET  /, /demo/…, /static/…                  demo_page.py
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from streamverify.errors import MissingExtraError
from streamverify.server.asked import read_request
from streamverify.server.refusal import RefusedError
from streamverify.server.runs import Runs
from streamverify.server.settings import ServeSettings
from streamverify.verifier import Verifier

try:
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route
    from starlette.types import Receive, Scope, Send
except ModuleNotFoundError as error:
    raise MissingExtraError("server", error.name or "starlette", "streamverify serve") from error

from streamverify.server.chat import relay_chat
from streamverify.server.demo_page import demo_routes
from streamverify.server.drain import Answering, Drain
from streamverify.server.guard import Guard, read_body
from streamverify.server.outlet import Outlet, answer
from streamverify.server.relay import Relay, pass_on
from streamverify.server.responses import relay_responses
from streamverify.server.upstream import Upstream


def create_app(
    settings: ServeSettings, verifier: Verifier | None = None, drain: Drain | None = None
) -> Starlette:
    """The application, for any ASGI server.

    Args:
        settings: see `ServeSettings`. The application trusts that without a token no other machine can
            reach it.
        verifier: in place of one with the embedded model; opened and closed with the application.
        drain: for whoever stops the server, so that answers end in order (`drain.py` has the steps).

    Raises:
        MissingExtraError: the server's packages are not installed. Operator.
    """
    drain = drain if drain is not None else Drain()
    server = _Server(settings, verifier if verifier is not None else Verifier(policy=settings.policy), drain)
    routes = [Route("/healthz", server.healthz), Route("/readyz", server.readyz)]
    if settings.upstream is not None:
        routes += [
            Route("/v1/chat/completions", server.chat, methods=["POST"]),
            Route("/v1/responses", server.responses, methods=["POST"]),
            Route("/v1/models", server.models),
        ]
    if settings.demo:
        routes += demo_routes(server.verifier, server.runs, settings.limits.drain_seconds)
    return Starlette(
        routes=routes,
        lifespan=server.lifespan,
        middleware=[Middleware(Guard, settings=settings, drain=drain, guarded=("/v1/", "/demo/"))],
        exception_handlers={RefusedError: _refused},
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

    async def chat(self, request: Request) -> Response:
        return await self._proxy(request, relay_chat)

    async def responses(self, request: Request) -> Response:
        return await self._proxy(request, relay_responses)

    async def models(self, request: Request) -> Response:
        async def work(outlet: Outlet, _answering: Answering) -> None:
            assert self._upstream is not None
            async with self._upstream.ask("GET", "/models", request.headers) as found:
                await pass_on(outlet, found)

        return self._answered(work)

    async def _proxy(self, request: Request, work: Callable[[Relay, Outlet], Awaitable[None]]) -> Response:
        limits = self._settings.limits
        asked = read_request(await read_body(request, limits.body_bytes), self._settings.policy)
        assert self._upstream is not None
        upstream = self._upstream

        async def relayed(outlet: Outlet, answering: Answering) -> None:
            await work(Relay(self.verifier, upstream, request.headers, asked, answering), outlet)

        return self._answered(relayed)

    def _answered(self, work: _Work) -> Response:
        return _Written(work, self._drain, self._settings.limits.total_seconds)


_Work = Callable[[Outlet, Answering], Awaitable[None]]


class _Written(Response):
    """A response that does its own writing."""

    def __init__(self, work: _Work, drain: Drain, total_seconds: float) -> None:
        super().__init__()
        self._work, self._drain, self._seconds = work, drain, total_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's signature
        """Answer one request."""
        with self._drain.answering() as answering:
            await answer(
                receive, send, lambda outlet: self._work(outlet, answering), answering, self._seconds
            )


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    return JSONResponse(error.body, error.status, dict(error.headers))
