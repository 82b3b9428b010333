"""The order in which chunks may pass: released text, and what must wait for text before it; pure.

A chunk belongs to a channel, or is a barrier between all that came before it and all that comes after it:

    stretch ─ barrier ─ stretch ─ barrier ─ … ─ stretch
      └─ a lane for each channel: its released text, and between that what waits for its place

Every call costs what it lets pass: however many chunks wait, none of them is looked at again and again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from streamverify.adapters.translator import ChannelKey

T = TypeVar("T")

Shows = Callable[[ChannelKey], float]
"""How many characters of a channel's text were decided on."""


@dataclass(slots=True)
class _Lane(Generic[T]):
    """What waits of one channel, each with its place in the channel's text."""

    texts: deque[tuple[float, T]] = field(default_factory=deque)
    others: deque[tuple[int, Callable[[], T]]] = field(default_factory=deque)

    def __len__(self) -> int:
        return len(self.texts) + len(self.others)

    def ready(self, shown: float) -> Iterable[T]:
        """Take out what may pass: text, and what waits for no text that is still to be decided on."""
        while self:
            other_first = not self.texts or (self.others and self.others[0][0] <= self.texts[0][0])
            if not other_first:
                yield self.texts.popleft()[1]
            elif self.others[0][0] <= shown:
                yield self.others.popleft()[1]()
            else:
                return


@dataclass(eq=False, slots=True)
class _Stretch(Generic[T]):
    """What waits between two barriers, with the one behind it."""

    lanes: dict[ChannelKey, _Lane[T]] = field(default_factory=dict)
    needs: Mapping[ChannelKey, int] = field(default_factory=dict)
    make: Callable[[], T] | None = None
    following: _Stretch[T] | None = None
    passed: bool = False

    def lane(self, key: ChannelKey) -> _Lane[T]:
        return self.lanes.setdefault(key, _Lane())


class ChunkQueue(Generic[T]):
    """Puts what was released and what must wait for it into one order."""

    def __init__(self) -> None:
        """Nothing waits."""
        self._first: _Stretch[T] = _Stretch()
        self._last = self._first
        self._reached: dict[ChannelKey, _Stretch[T]] = {}
        """Where the released text of a channel stood last: what comes next stands there or behind it."""
        self._waiting = 0

    def __len__(self) -> int:
        """How many chunks wait."""
        return self._waiting

    def add(self, key: ChannelKey, place: int, make: Callable[[], T]) -> None:
        """What stands behind so much text of a channel, and may pass once that was decided on."""
        self._last.lane(key).others.append((place, make))
        self._waiting += 1

    def add_barrier(self, needs: Mapping[ChannelKey, int], make: Callable[[], T]) -> None:
        """What stands behind so much text of several channels, behind all others, and before all to come."""
        last = self._last
        last.needs, last.make, last.following = needs, make, _Stretch()
        self._last = last.following
        self._waiting += 1

    def insert(self, key: ChannelKey, place: float, chunk: T) -> None:
        """Released text of a channel: behind what came before it, in front of what came after.

        Args:
            key: of the channel.
            place: where it begins, in characters of the channel; never before that of the text before it.
            chunk: that says it.
        """
        stretch = self._reached.get(key, self._first)
        if stretch.passed:
            stretch = self._first
        while stretch.following is not None and stretch.needs.get(key, -1) <= place:
            stretch = stretch.following
        self._reached[key] = stretch
        stretch.lane(key).texts.append((place, chunk))
        self._waiting += 1

    def forget(self, key: ChannelKey) -> None:
        """Drop what would wait for a channel that shows nothing any more, barriers too."""
        rest: _Stretch[T] = _Stretch()
        stretch: _Stretch[T] | None = self._first
        while stretch is not None:
            for name, lane in stretch.lanes.items():
                if name != key:
                    rest.lane(name).texts += lane.texts
                rest.lane(name).others += (one for one in lane.others if name != key or one[0] == 0)
            stretch = stretch.following
        self._first = self._last = rest
        self._reached.clear()
        self._waiting = sum(map(len, rest.lanes.values()))

    def ready(self, shown: Shows, key: ChannelKey | None = None) -> list[T]:
        """Take out the chunks whose turn has come, in order.

        Args:
            shown: how far the channels are.
            key: of the only channel of which anything is new since the last call; None for any.
        """
        chunks: list[T] = []
        keys = [key] if key is not None else list(self._first.lanes)
        while True:
            first = self._first
            for name in keys:
                if (lane := first.lanes.get(name)) is not None:
                    chunks.extend(lane.ready(shown(name)))
                    if not lane:
                        del first.lanes[name]
            if first.lanes or first.following is None or first.make is None:
                break
            if any(shown(name) < place for name, place in first.needs.items()):
                break
            chunks.append(first.make())
            first.passed, self._first = True, first.following
            keys = list(self._first.lanes)
        self._waiting -= len(chunks)
        return chunks
