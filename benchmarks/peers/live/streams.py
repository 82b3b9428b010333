"""What every library is given, and how it is watched: standard library alone, it runs in all environments.

Answers of twenty sentences, in each of which four facts may be planted that no passage has; a source that
writes them at a steady rate and knows when it was closed; a checker that remembers what it was asked; a
reader that notes when text came.
"""

from __future__ import annotations

import asyncio
import gc
import json
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from pathlib import Path

SENTENCES, PLANTED = 20, (4, 9, 13, 18)
WITHHELD = "[withheld]"
_TOKEN = re.compile(r"\s*\w{1,7}|\s*[^\w\s]|\s+")


@dataclass(frozen=True)
class Workload:
    """Answers, each about passages of its own that no other answer has, and facts that none of them has."""

    answers: list[dict[str, list[str]]]
    planted: list[str]

    @classmethod
    def read(cls, path: Path) -> Workload:
        """As `run.py` wrote it."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    def passages(self, number: int) -> list[str]:
        """Of one answer."""
        return self.answers[number]["passages"]

    def sentences(self, number: int, *, planted: bool = False) -> list[str]:
        """Of one answer: all are in its passages, but for planted ones."""
        found = list(self.answers[number]["sentences"])
        for at, place in enumerate(PLANTED if planted else ()):
            found[place] = self.planted[(number + at) % len(self.planted)]
        return found


@dataclass
class Source:
    """One answer at `rate` pieces a second on a fixed schedule, as a model would write it."""

    sentences: list[str]
    rate: float
    pieces: list[str] | None = None
    first_at: float = 0.0
    ended_at: list[float] = field(default_factory=list)
    """When each sentence's last character was written."""
    written: int = 0
    closed_at: float = 0.0

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self.pieces) if self.pieces is not None else " ".join(self.sentences)

    async def read(self) -> AsyncGenerator[str, None]:
        """The pieces, once."""
        ends, at = [], 0
        for sentence in self.sentences:
            ends.append(at + len(sentence))
            at = ends[-1] + 1
        start = time.perf_counter()
        try:
            for index, piece in enumerate(self.pieces or _TOKEN.findall(self.text)):
                await asyncio.sleep(max(start + (index + 1) / self.rate - time.perf_counter(), 0))
                now = time.perf_counter()
                self.first_at = self.first_at or now
                self.written += len(piece)
                while len(self.ended_at) < len(ends) and self.written >= ends[len(self.ended_at)]:
                    self.ended_at.append(now)
                yield piece
        finally:
            self.closed_at = time.perf_counter()


class Checker:
    """Says of a text whether it passes, and remembers what it was asked; one a stream."""

    def __init__(self, judge: Callable[[str], bool], later: Callable[[str], Awaitable[bool]]) -> None:
        """Nothing was asked.

        Args:
            judge: blocking.
            later: the same for those who wait in an event loop.
        """
        self._judge, self._later = judge, later
        self.asked: list[str] = []
        self.broken = False

    def __call__(self, text: str) -> bool:
        """Blocking."""
        self._note(text)
        return self._judge(text)

    async def ask(self, text: str) -> bool:
        """The event loop goes on meanwhile."""
        self._note(text)
        return await self._later(text)

    def _note(self, text: str) -> None:
        self.asked.append(text)
        if self.broken:
            raise RuntimeError("the checker is broken")


def sleeping(seconds: float, planted: list[str]) -> Checker:
    """A checker that takes its time, like one across a network, and knows the planted facts by their ends."""
    ends = [fact.rstrip(".")[-25:] for fact in planted]

    def judge(text: str) -> bool:
        time.sleep(seconds)  # noqa: TID251 - it is what this is for
        return not any(end in text for end in ends)

    async def later(text: str) -> bool:
        await asyncio.sleep(seconds)
        return not any(end in text for end in ends)

    return Checker(judge, later)


Opened = Callable[[Source], AsyncGenerator["str | tuple[str, float | None]", None]]
"""What a library makes of a source: text, or, beside the text, a sentence and the moment of its verdict, None
where it says that it could not check it."""


@dataclass
class Reading:
    """What came to one reader."""

    parts: list[tuple[float, str]] = field(default_factory=list)
    told: dict[str, float] = field(default_factory=dict)
    """Sentence to the moment of its verdict, where a library tells it beside the text."""
    unchecked: int = 0
    """Sentences told as not checked."""
    error: str = ""

    @property
    def text(self) -> str:
        """All that was shown."""
        return "".join(part for _, part in self.parts)

    def known_at(self, sentence: str) -> float | None:
        """When the reader had its verdict, or, where none is told, its last character."""
        if self.told:
            return self.told.get(sentence)
        place, length = self.text.find(sentence), 0
        for moment, part in self.parts if place >= 0 else []:
            length += len(part)
            if length >= place + len(sentence):
                return moment
        return None


async def followed(source: Source, opened: Opened) -> Reading:
    """Read one stream to its end, whatever it ends in."""
    reading = Reading()
    try:
        async with aclosing(opened(source)) as pieces:
            async for piece in pieces:
                if isinstance(piece, str):
                    if piece:
                        reading.parts.append((time.perf_counter(), piece))
                elif piece[1] is None:
                    reading.unchecked += 1
                else:
                    reading.told.setdefault(*piece)
    except Exception as error:  # noqa: BLE001 - told as what became of the stream
        reading.error = f"{type(error).__name__}: {error}"[:200]
    return reading


async def bare(sources: list[Source]) -> float:
    """Seconds that reading the sources takes when nobody checks them."""

    async def read(source: Source) -> None:
        async for _ in source.read():
            pass

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for source in sources:
            group.create_task(read(source))
    return time.perf_counter() - began


async def left(source: Source, opened: Opened, *, close: bool) -> dict[str, float | None]:
    """Leave after the first text; is the source ended, and how much is read of it, within two seconds?

    Args:
        source: the one that is read.
        opened: the library's stream of it.
        close: whether the reader closes the stream, or forgets it.
    """
    pieces = opened(source)
    async for piece in pieces:
        if isinstance(piece, str) and piece:
            break
    at, written = time.perf_counter(), source.written
    if close:
        with suppress(Exception):
            await pieces.aclose()
    del pieces
    gc.collect()
    for _ in range(200):
        if source.closed_at:
            break
        await asyncio.sleep(0.01)
    ended = round((source.closed_at - at) * 1000, 1) if source.closed_at else None
    return {"ended_after_ms": ended, "characters_read_on": source.written - written}
