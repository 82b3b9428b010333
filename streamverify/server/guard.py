"""Who may ask, and how much at once; pure ASGI, so that streams pass through untouched."""

from __future__ import annotations

import hmac
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from streamverify.server.drain import Drain, stopping
from streamverify.server.refusal import RefusedError
from streamverify.server.settings import LOOPBACK, ServeSettings

TOKEN_HEADER = "x-streamverify-token"  # noqa: S105 - a header's name


class Guard:
    """Lets a request through, or refuses it.

    Without a token only names of this machine are accepted as the request's host, so that a page that
    points its own name here cannot ask; a page of another origin cannot send the content type of JSON.
    """

    def __init__(
        self, app: ASGIApp, settings: ServeSettings, drain: Drain, *, guarded: Iterable[str]
    ) -> None:
        """Guard the paths that begin with one of `guarded`; others pass, but for the host's name."""
        self._app, self._settings, self._drain, self._guarded = app, settings, drain, tuple(guarded)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            guarded = scope["path"].startswith(self._guarded)
            self._admit(Headers(scope=scope), guarded=guarded, posted=scope["method"] == "POST")
            await self._bounded(scope, receive, send, guarded=guarded)
        except RefusedError as refused:
            await JSONResponse(refused.body, refused.status, dict(refused.headers))(scope, receive, send)

    def _admit(self, headers: Headers, *, guarded: bool, posted: bool) -> None:
        if self._settings.token is None:
            name = headers.get("host", "").rsplit("@")[-1]
            host = name[1 : name.find("]")] if name.startswith("[") else name.partition(":")[0]
            if host.lower() not in LOOPBACK:
                raise RefusedError(421, "invalid_host", "this server answers under a loopback name only")
        elif guarded and not self._shows_token(headers, self._settings.token):
            raise RefusedError(
                401, "invalid_token", f"send the token in {TOKEN_HEADER}", {"www-authenticate": "Bearer"}
            )
        if guarded and posted and not headers.get("content-type", "").lower().startswith("application/json"):
            raise RefusedError(415, "invalid_request_error", "the content type must be application/json")

    def _shows_token(self, headers: Headers, token: str) -> bool:
        shown = [headers.get(TOKEN_HEADER, "")]
        if self._settings.upstream_key is not None:
            # With a key of its own the server has no other use for the client's.
            shown.append(headers.get("authorization", "").removeprefix("Bearer "))
        return any(hmac.compare_digest(one.encode(), token.encode()) for one in shown)

    async def _bounded(self, scope: Scope, receive: Receive, send: Send, *, guarded: bool) -> None:
        if not guarded:
            await self._app(scope, receive, send)
            return
        if self._drain.begun:
            raise stopping()
        running = self._drain.requests
        if running >= self._settings.limits.concurrent:
            message = f"{running} answers are in progress, the most this server allows"
            raise RefusedError(429, "too_many_requests", message, {"retry-after": "1"})
        with self._drain.request():
            await self._app(scope, receive, send)


async def read_body(request: Request, limit: int) -> bytes:
    """The body of a request.

    Raises:
        RefusedError: 413, it is longer than `limit` bytes; 400, the client went away. Client.
    """
    refused = RefusedError(413, "request_too_large", f"the body is longer than {limit:,} bytes")
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > limit:
        raise refused
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > limit:
                raise refused
    except ClientDisconnect:
        raise RefusedError(400, "invalid_request_error", "the client went away") from None
    return bytes(body)
