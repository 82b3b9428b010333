"""Errors of requests, told the way OpenAI's clients read them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_NONE: Mapping[str, str] = MappingProxyType({})


class HTTPRefusal(Exception):  # noqa: N818 - an answer, which the handler sends as it is
    """A request that gets an error for an answer."""

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        headers: Mapping[str, str] = _NONE,
        *,
        code: str | None = None,
    ) -> None:
        """Say what to answer; the message is for the client, the code for its program."""
        super().__init__(message)
        self.status, self.kind, self.message, self.headers, self.code = status, kind, message, headers, code

    @property
    def body(self) -> dict[str, object]:
        """As JSON."""
        error = {"message": self.message, "type": self.kind, "param": None, "code": self.code}
        return {"error": error}


def bad_request(message: str, code: str | None = None) -> HTTPRefusal:
    """The client asked for what cannot be: 400."""
    return HTTPRefusal(400, "invalid_request_error", message, code=code)


def bad_upstream(code: str, message: str) -> HTTPRefusal:
    """The upstream's answer cannot be used: 502, or an error event where the answer has begun."""
    return HTTPRefusal(502, "upstream_error", message, code=code)
