"""Who may ask, and how much at once; pure ASGI, so that streams pass through untouched."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Iterable

import anyio
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from streamverify.server.drain import Drain, stopping
from streamverify.server.errors import HTTPRefusal
from streamverify.server.settings import LOOPBACK, ServeSettings

TOKEN_HEADER = "x-streamverify-token"  # noqa: S105 - a header's name

_HOST = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9.-]+))(?::[0-9]{1,5})?")


class Guard:
    """Lets a request through, or refuses it.

    Without a token only names of this machine are accepted as the request's host, so that a page that
    points its own name here cannot ask; a page of another origin cannot send the content type of JSON, and
    what a browser asks on its behalf is refused.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: ServeSettings,
        drain: Drain,
        *,
        guarded: Iterable[str],
        knows: Callable[[Headers], bool] | None = None,
    ) -> None:
        """Guard the paths that begin with one of `guarded`; others pass, but for the host's name.

        `knows` takes the place of the settings' token, where there are several.
        """
        self._app, self._settings, self._drain, self._guarded = app, settings, drain, tuple(guarded)
        self._knows = knows

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            guarded = scope["path"].startswith(self._guarded)
            self._admit(Headers(scope=scope), guarded=guarded, posted=scope["method"] == "POST")
            await self._bounded(scope, receive, send, guarded=guarded)
        except HTTPRefusal as refused:
            await JSONResponse(refused.body, refused.status, dict(refused.headers))(scope, receive, send)

    def _admit(self, headers: Headers, *, guarded: bool, posted: bool) -> None:
        if self._settings.token is None and self._knows is None:
            if not is_loopback(headers.get("host", "")):
                raise HTTPRefusal(421, "invalid_host", "this server answers under a loopback name only")
        elif guarded and not self._shows_token(headers):
            raise HTTPRefusal(
                401, "invalid_token", f"send the token in {TOKEN_HEADER}", {"www-authenticate": "Bearer"}
            )
        if guarded and _is_foreign(headers):
            raise HTTPRefusal(403, "foreign_origin", "pages of other origins may not ask this server")
        if guarded and posted and not headers.get("content-type", "").lower().startswith("application/json"):
            raise HTTPRefusal(415, "invalid_request_error", "the content type must be application/json")

    def _shows_token(self, headers: Headers) -> bool:
        if self._knows is not None:
            return self._knows(headers)
        token = self._settings.token
        assert token is not None
        # With a key of its own the server has no other use for the client's.
        return shows(headers, token, bearer=self._settings.upstream_key is not None)

    async def _bounded(self, scope: Scope, receive: Receive, send: Send, *, guarded: bool) -> None:
        if not guarded:
            await self._app(scope, receive, send)
            return
        if self._drain.begun:
            raise stopping()
        running = self._drain.requests
        if running >= self._settings.limits.concurrent:
            message = f"{running} answers are in progress, the most this server allows"
            raise HTTPRefusal(429, "too_many_requests", message, {"retry-after": "1"})
        with self._drain.request():
            await self._app(scope, receive, send)


def shows(headers: Headers, token: str, *, bearer: bool = True) -> bool:
    """Whether a request shows the token, in its own header or, where allowed, as a bearer's."""
    shown = [headers.get(TOKEN_HEADER, "")]
    if bearer:
        shown.append(headers.get("authorization", "").removeprefix("Bearer "))
    return any(hmac.compare_digest(one.encode(), token.encode()) for one in shown)


def is_loopback(host: str) -> bool:
    """Whether a `Host` header is a name of this machine, with or without a port, and nothing else."""
    found = _HOST.fullmatch(host)
    return found is not None and (found["six"] or found["name"]).lower() in LOOPBACK


def _is_foreign(headers: Headers) -> bool:
    """Whether a browser asks for a page of another origin; the token may not be all that stops it."""
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return True
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2].lower() != headers.get("host", "").lower()


async def read_body(request: Request, limit: int, seconds: float) -> bytes:
    """The body of a request.

    Raises:
        HTTPRefusal: 413, it is longer than `limit` bytes; 408, it has not arrived within `seconds`; 400, the
            client went away. Client.
    """
    late = HTTPRefusal(
        408, "request_timeout", f"the body has not arrived within {seconds:g} s", {"connection": "close"}
    )
    with anyio.move_on_after(seconds):
        return await _body(request, limit)
    raise late


async def _body(request: Request, limit: int) -> bytes:
    refused = HTTPRefusal(413, "request_too_large", f"the body is longer than {limit:,} bytes")
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
        raise HTTPRefusal(400, "invalid_request_error", "the client went away") from None
    return bytes(body)
