"""The seam to the upstream's API.

Before: `chat.py` and `responses.py`. After: an OpenAI-compatible server.
"""

from __future__ import annotations

import string
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from types import TracebackType
from typing import Any, Self, cast
from urllib.parse import quote

import anyio

from streamverify.errors import MissingExtraError
from streamverify.files.jsonl import strict_json
from streamverify.server.errors import HTTPRefusal, bad_upstream
from streamverify.server.fields import error_in
from streamverify.server.settings import Limits
from streamverify.server.traces import HEADERS

try:
    import httpx2
except ModuleNotFoundError as error:
    raise MissingExtraError("server", error.name or "httpx2", "streamverify serve") from error

_FORWARDED = ("openai-organization", "openai-project", *HEADERS)
"""Request headers that mean something to the upstream, besides the key."""

_IN_QUERIES = string.punctuation.replace("#", "")
"""What stays as the client wrote it, `%` included."""

IN_LOOP = 65_536
"""Longest JSON that is parsed in the event loop, in bytes; longer ones are parsed in a thread."""


class UpstreamError(Exception):
    """The upstream's own error in the middle of its answer."""

    def __init__(self, error: object) -> None:
        """Keep what a client may be told of it."""
        super().__init__("the upstream ended its answer with an error")
        self.error = error_in(error)


class Answer:
    """A response of the upstream whose body has not been read."""

    def __init__(self, response: httpx2.Response, limit: int) -> None:
        """Read nothing.

        Args:
            response: with its status and headers.
            limit: most bytes of a whole body, or of one event.
        """
        self._response, self._limit = response, limit
        self.status: int = response.status_code
        self.done = False
        """Whether the stream ended with `[DONE]`."""

    @property
    def ok(self) -> bool:
        """Whether this is an answer, and no error, redirection or the like."""
        return 200 <= self.status < 300

    def header(self, name: str) -> str | None:
        """A response header."""
        value: str | None = self._response.headers.get(name)
        return value

    async def read(self) -> bytes:
        """The whole body.

        Raises:
            HTTPRefusal: 502, it is longer than the limit; 504, nothing came for too long.
        """
        body = bytearray()
        with _in_time():
            async for part in self._response.aiter_bytes():
                body += part
                if len(body) > self._limit:
                    raise bad_upstream(
                        "upstream_too_large", f"the upstream's answer is longer than {self._limit:,} bytes"
                    )
        return bytes(body)

    async def json(self) -> dict[str, Any]:
        """The body, an object of JSON.

        Raises:
            HTTPRefusal: 502, it is something else. Operator.
        """
        value = await read_json(await self.read())
        if not isinstance(value, dict):
            raise bad_upstream("upstream_no_json", "the upstream's answer is no JSON object")
        return value

    async def events(self) -> AsyncGenerator[dict[str, Any], None]:
        """The JSON of every server-sent event, up to `[DONE]` or the end.

        Raises:
            UpstreamError: the upstream told an error.
            HTTPRefusal: it sent something that is no stream of JSON objects, or nothing for too long.
        """
        kind = (self.header("content-type") or "").partition(";")[0].strip().lower()
        if kind != "text/event-stream":
            raise bad_upstream("upstream_no_stream", "the upstream was asked for a stream and sent none")
        source = httpx2.EventSource(self._response, max_event_size=self._limit)
        frames = cast("AsyncGenerator[httpx2.ServerSentEvent, None]", source.__aiter__())
        with _in_time():
            async with aclosing(frames):
                async for frame in frames:
                    data = frame.data.strip()
                    if data == "[DONE]":
                        self.done = True
                        return
                    if data:
                        yield _event(await read_json(data))


@contextmanager
def _in_time() -> Iterator[None]:
    try:
        yield
    except httpx2.TimeoutException:
        message = "the upstream did not answer in time"
        raise HTTPRefusal(504, "upstream_timeout", message, code="upstream_timeout") from None


def _event(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise bad_upstream("upstream_no_json", "the upstream sent an event that is no JSON object")
    if value.get("type") == "error":
        raise UpstreamError(value.get("error") or value)
    if value.get("error") and "choices" not in value and "type" not in value:
        raise UpstreamError(value["error"])
    return value


async def read_json(data: bytes | str) -> object:
    """The JSON value; None where it is none, or nested too deeply to be read."""
    if len(data) > IN_LOOP:
        return await anyio.to_thread.run_sync(_json, data)
    return _json(data)


def _json(data: bytes | str) -> object:
    try:
        return strict_json(data)
    except (ValueError, RecursionError):
        return None


class Upstream:
    """Connections to one API; open it where the application starts."""

    def __init__(self, address: str, key: str | None, limits: Limits) -> None:
        """Nothing is connected yet."""
        self._address, self._key, self._limits = address.rstrip("/"), key, limits
        self._client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(limits.idle_seconds, connect=limits.connect_seconds),
            limits=httpx2.Limits(max_connections=limits.concurrent + 8),
        )

    async def __aenter__(self) -> Self:
        """Open the pool of connections."""
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        await self._client.aclose()

    @asynccontextmanager
    async def ask(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        *,
        query: bytes = b"",
    ) -> AsyncGenerator[Answer, None]:
        """The upstream's answer; the connection is given back at the end of the block.

        Args:
            method: of HTTP.
            path: below the upstream's address, with its slash.
            headers: of the client's request; only what the upstream needs is passed on.
            body: JSON.
            query: of the client's request, without its question mark.

        Raises:
            HTTPRefusal: 502 or 504, the upstream could not be reached. Operator.
        """
        sent = {"content-type": "application/json", "user-agent": "streamverify"}
        sent |= {name: headers[name] for name in _FORWARDED if name in headers}
        authorization = f"Bearer {self._key}" if self._key is not None else headers.get("authorization")
        if authorization is not None:
            sent["authorization"] = authorization
        # In a server's eyes the bytes of a header are Latin-1: what the client sent goes on, byte for byte.
        raw = {name.encode(): value.encode("latin-1") for name, value in sent.items()}
        address = f"{self._address}{path}"
        if query:
            address += f"?{quote(query, safe=_IN_QUERIES)}"
        request = self._client.build_request(method, address, headers=raw, content=body)
        try:
            with _in_time():
                response = await self._client.send(request, stream=True)
        except httpx2.TransportError as error:
            problem = f"the upstream could not be reached: {type(error).__name__}"
            raise HTTPRefusal(502, "upstream_unreachable", problem, code="upstream_unreachable") from None
        try:
            yield Answer(response, self._limits.answer_bytes)
        finally:
            await response.aclose()
