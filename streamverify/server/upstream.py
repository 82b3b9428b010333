"""The seam to the upstream's API, over whichever HTTP client is installed.

Before: `chat.py` and `responses.py`. After: an OpenAI-compatible server.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from types import ModuleType, TracebackType
from typing import Any, Self

from streamverify.errors import MissingExtraError
from streamverify.server.refusal import RefusedError
from streamverify.server.settings import Limits

_FORWARDED = ("openai-organization", "openai-project")
"""Request headers that mean something to the upstream, besides the key."""


class Answer:
    """A response of the upstream whose body has not been read."""

    def __init__(self, response: Any) -> None:
        self._response = response
        self.status: int = response.status_code

    def header(self, name: str) -> str | None:
        """A response header."""
        value: str | None = self._response.headers.get(name)
        return value

    async def read(self) -> bytes:
        """The whole body."""
        body: bytes = await self._response.aread()
        return body

    async def events(self) -> AsyncGenerator[dict[str, Any], None]:
        """The JSON of every server-sent event, up to `[DONE]` or the end.

        Raises:
            UpstreamError: the upstream told an error, or something that is no JSON object.
        """
        lines: AsyncIterator[str] = self._response.aiter_lines()
        async for line in lines:
            if not line.startswith("data:"):
                continue
            data = line.removeprefix("data:").strip()
            if data == "[DONE]":
                return
            try:
                event = json.loads(data)
            except ValueError:
                raise UpstreamError(
                    {"type": "upstream_error", "message": "the upstream sent no JSON"}
                ) from None
            if not isinstance(event, dict):
                raise UpstreamError({"type": "upstream_error", "message": "the upstream sent no JSON object"})
            if event.get("error") and "choices" not in event and "type" not in event:
                raise UpstreamError(event["error"])
            yield event


class UpstreamError(Exception):
    """The upstream's own error in the middle of its answer."""

    def __init__(self, error: object) -> None:
        """Keep the error as told."""
        super().__init__("the upstream ended its answer with an error")
        self.error = error


class Upstream:
    """Connections to one API; open it where the application starts."""

    def __init__(self, address: str, key: str | None, limits: Limits) -> None:
        """Nothing is connected yet.

        Raises:
            MissingExtraError: neither httpx2 nor httpx is installed. Operator.
        """
        self._address, self._key, self._limits = address.rstrip("/"), key, limits
        self._library = _library()
        self._client: Any = None

    async def __aenter__(self) -> Self:
        """Make the pool of connections."""
        limits = self._limits
        self._client = self._library.AsyncClient(
            timeout=self._library.Timeout(limits.idle_seconds, connect=limits.connect_seconds),
            limits=self._library.Limits(max_connections=limits.concurrent + 8),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        await self._client.aclose()

    @asynccontextmanager
    async def ask(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> AsyncGenerator[Answer, None]:
        """The upstream's answer; the connection is given back at the end of the block.

        Args:
            method: of HTTP.
            path: below the upstream's address, with its slash.
            headers: of the client's request; only what the upstream needs is passed on.
            body: JSON.

        Raises:
            RefusedError: 502 or 504, the upstream could not be reached. Operator.
        """
        sent = {"content-type": "application/json", "user-agent": "streamverify"}
        sent |= {name: headers[name] for name in _FORWARDED if name in headers}
        authorization = f"Bearer {self._key}" if self._key is not None else headers.get("authorization")
        if authorization is not None:
            sent["authorization"] = authorization
        request = self._client.build_request(method, self._address + path, headers=sent, content=body)
        try:
            response = await self._client.send(request, stream=True)
        except self._library.TimeoutException:
            raise RefusedError(504, "upstream_timeout", "the upstream did not answer in time") from None
        except self._library.TransportError as error:
            problem = f"the upstream could not be reached: {type(error).__name__}"
            raise RefusedError(502, "upstream_unreachable", problem) from None
        try:
            yield Answer(response)
        finally:
            await response.aclose()


def _library() -> ModuleType:
    """The installed HTTP client; both offer the same calls."""
    for name in ("httpx2", "httpx"):
        try:
            return import_module(name)
        except ModuleNotFoundError:
            continue
    raise MissingExtraError("server", "httpx2", "streamverify serve")
