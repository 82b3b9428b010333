"""Checked by mypy and pyright, never run: what the decorator makes of each kind of function."""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, assert_type

from streamverify import (
    CheckedAnswer,
    Event,
    Flag,
    Observer,
    VerifiedPieces,
    VerifiedSyncPieces,
    Verifier,
    retrieved,
    verified,
)


@verified(passages="docs", policy=Flag())
async def stream(question: str, docs: list[str]) -> AsyncIterator[str]:
    yield question


@verified(passages="docs")
def pieces(question: str, *, docs: list[str]) -> Iterator[str]:
    yield question


@verified()
async def whole(question: str) -> str:
    return question


@verified()
async def handed_on(question: str) -> AsyncIterator[str]:
    return stream(question, [])


@verified()
def plain(question: str, limit: int = 3) -> str:
    return question


async def use() -> None:
    assert_type(stream("q", ["d"]), VerifiedPieces)
    assert_type(pieces("q", docs=[]), VerifiedSyncPieces)
    assert_type(await whole("q"), CheckedAnswer)
    assert_type(await handed_on("q"), VerifiedPieces)
    assert_type(plain("q", limit=2), CheckedAnswer)
    assert_type(retrieved(["text"]), list[str])
    assert_type((await whole("q")).text, str)
    async for piece in stream("q", []):
        assert_type(piece, str)


kept: Callable[[str], Coroutine[Any, Any, CheckedAnswer]] = whole


class Watches(Observer):
    def event(self, stream: str, event: Event) -> None:
        assert_type(stream, str)


watching = Verifier(observers=[Watches()])
"""Derived from `Observer`, what is of no interest may be left out."""
