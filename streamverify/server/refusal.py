"""Errors of requests, told the way OpenAI's clients read them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_NONE: Mapping[str, str] = MappingProxyType({})


class RefusedError(Exception):
    """A request that gets an error for an answer."""

    def __init__(self, status: int, kind: str, message: str, headers: Mapping[str, str] = _NONE) -> None:
        """Say what to answer; the message is for the client."""
        super().__init__(message)
        self.status, self.kind, self.message, self.headers = status, kind, message, headers

    @property
    def body(self) -> dict[str, object]:
        """As JSON."""
        return {"error": {"message": self.message, "type": self.kind, "param": None, "code": None}}
