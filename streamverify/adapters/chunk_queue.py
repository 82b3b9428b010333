"""The order in which chunks may pass: released text, and what must wait for text before it; pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from streamverify.adapters.translator import ChannelKey

T = TypeVar("T")


@dataclass(slots=True)
class Waiting(Generic[T]):
    """A chunk that waits until the text before it was decided."""

    needs: Mapping[ChannelKey, int]
    make: Callable[[], T]
    barrier: bool = False


@dataclass(slots=True)
class ChunkQueue(Generic[T]):
    """Puts what was released and what must wait for it into one order; pure."""

    entries: list[Waiting[T]] = field(default_factory=list)

    def add(self, entry: Waiting[T]) -> None:
        """Put it behind all others."""
        self.entries.append(entry)

    def insert(self, key: ChannelKey, place: int, chunk: T) -> None:
        """Text of a channel: behind what came before it, in front of what came after."""
        at = next((i for i, e in enumerate(self.entries) if e.needs.get(key, -1) > place), len(self.entries))
        self.entries.insert(at, Waiting({key: place}, lambda: chunk))

    def forget(self, key: ChannelKey) -> None:
        """Drop what would wait for a channel that shows nothing any more."""
        self.entries = [e for e in self.entries if key not in e.needs and not e.barrier]

    def ready(self, shown: Callable[[ChannelKey], float]) -> list[T]:
        """Take out the chunks whose turn has come, in order.

        Args:
            shown: how many characters of a channel's text were decided on.
        """
        chunks: list[T] = []
        left: list[Waiting[T]] = []
        blocked: set[ChannelKey] = set()
        closed = False
        for entry in self.entries:
            waits = blocked.intersection(entry.needs) or any(shown(k) < at for k, at in entry.needs.items())
            if closed or waits or (entry.barrier and left):
                left.append(entry)
                blocked.update(entry.needs)
                closed = closed or entry.barrier
            else:
                chunks.append(entry.make())
        self.entries = left
        return chunks
