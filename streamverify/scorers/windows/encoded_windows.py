"""Windows as keys and values: kept in a cache, encoded while nobody needs the cores, or when a claim asks.

    ahead     window ── no claim? ── cache? ── encode        in threads of its own, nobody waits
    of_claim  window ── cache? ── encode                     the claim waits; alone, on all cores

Before: `premise_cached.py` has read a stream's windows, or chosen those that a claim is shown.
After: its passes read them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from threading import Lock
from typing import NamedTuple, Protocol

from streamverify.scorers.lanes import Lanes
from streamverify.scorers.protocol import Abort
from streamverify.scorers.selection import LexicalIndex
from streamverify.scorers.windows.blocks import Blocks
from streamverify.scorers.windows.cache import ByteBoundedCache, CacheStatistics
from streamverify.scorers.windows.keys_values import CachePrecision, KeysValues, pack
from streamverify.scorers.windows.window_room import SHARED_BYTES, Room, left

_LOOK = 0.5
"""Seconds after which who waits for the cores looks whether the window is still wanted."""
_PROMISED = 0.75
"""Share of the cache that running streams may have encoded ahead: more would drive out each other's."""


class WindowKey(NamedTuple):
    """What a window is encoded from, and what it is known by."""

    ids: tuple[int, ...]
    """Its tokens."""
    digest: bytes


class Encodes(Protocol):
    """What makes keys and values of windows: `premise_graph.py` or `batched_graph.py`."""

    def encode(self, ids: Sequence[int], *, abort: Abort, blocks: Blocks | None = None) -> KeysValues:
        """Keys and values of a window's tokens."""
        ...

    def bytes_of(self, tokens: int, precision: str) -> int:
        """Memory of an encoded window of so many tokens."""
        ...


class EncodedWindows:
    """The keys and values of windows; safe to use from several threads."""

    def __init__(
        self,
        graph: Encodes,
        precision: CachePrecision,
        lanes: Lanes,
        threads: int,
        *,
        limit: int | None,
        shared: Path | None,
    ) -> None:
        """Nothing is encoded yet.

        Args:
            graph: encodes.
            precision: they are kept in.
            lanes: knows how many claims are being scored.
            threads: encode at once.
            limit: bytes; None for a bound that falls where many passages are known.
            shared: folder in which several processes keep them; None for a cache of this process's own.
        """
        self._graph, self._precision, self._lanes = graph, precision, lanes
        self._idle = ThreadPoolExecutor(threads, thread_name_prefix="streamverify-ahead")
        self._wanted = ThreadPoolExecutor(threads, thread_name_prefix="streamverify-encode")
        self._closed = False
        self._promised, self._lock = 0, Lock()
        self._blocks = Blocks()
        self._cache, self._room = _cache(limit, shared)

    def statistics(self) -> CacheStatistics:
        """Counters of the cache."""
        return self._cache.statistics()

    def close(self) -> None:
        """End the threads and empty the cache."""
        self._closed = True
        for threads in (self._idle, self._wanted):
            threads.shutdown(wait=True, cancel_futures=True)
        self._cache.close()

    def known(self, index: LexicalIndex) -> None:
        """Leave room for what finds a set of windows, as long as it is held."""
        if self._room is not None:
            self._room.add(index)

    def expect(self, texts: Sequence[str]) -> AbstractContextManager[None]:
        """Leave room for passages that wait to be read, for as long as the context is entered."""
        return nullcontext() if self._room is None else self._room.expect(texts)

    def held(self, windows: Sequence[WindowKey]) -> int:
        """How many of them are encoded now."""
        return sum(self._cache.holds(window.digest) for window in windows)

    def encode(self, windows: Sequence[WindowKey], abort: Abort) -> tuple[int, int]:
        """Encode what the cache lacks, several at once, until they would take more than half of it.

        Returns:
            How many of the windows were looked up, the first ones; and of all how many needed no work.

        Raises:
            ScoringError: the model failed, or `abort` was set.
        """
        first, looked_up = self._fitting(windows)
        found = self._together([(windows[place], True) for place in first], abort)
        free = {windows[place].digest for place, (_, held) in zip(first, found, strict=True) if held}
        return looked_up, sum(window.digest in free for window in windows)

    def ahead(self, windows: Sequence[WindowKey], asked: set[int], abort: Abort) -> None:
        """Encode what the cache lacks while no claim is scored, as far as there is room; returns at once.

        What fails fails again, and is told, when a claim asks for it.

        Args:
            windows: of a stream.
            asked: takes the places of those that were asked for on its behalf, here or by a claim.
            abort: set when the stream ends: nobody wants them any more.
        """

        def one(place: int) -> None:
            while not self._lanes.idle(_LOOK):
                if abort.is_set or self._closed:
                    return
            if place not in asked and not abort.is_set:
                asked.add(place)
                self._fetch(windows[place], abort, anew=True)

        for place in self._promise(windows, abort):
            self._idle.submit(one, place)

    def _promise(self, windows: Sequence[WindowKey], abort: Abort) -> list[int]:
        """Places of the windows to encode ahead; until `abort` is set their room is taken."""
        taken, places = 0, []
        with self._lock:
            room = int(self._cache.limit * _PROMISED) - self._promised
            for place in self._fitting(windows)[0]:
                if self._cache.holds(windows[place].digest):
                    continue
                taken += self._size(windows[place])
                if taken > room:
                    taken -= self._size(windows[place])
                    break
                places.append(place)
            self._promised += taken
        abort.attach(lambda: self._let_go(taken))
        return places

    def _let_go(self, taken: int) -> None:
        with self._lock:
            self._promised -= taken

    def _size(self, window: WindowKey) -> int:
        return self._graph.bytes_of(len(window.ids), self._precision)

    def _fitting(self, windows: Sequence[WindowKey]) -> tuple[list[int], int]:
        """The first place of each of the first different windows that fit; how many windows that covers."""
        budget, looked_up = self._cache.limit // 2, 0
        places: dict[bytes, int] = {}
        for place, window in enumerate(windows):
            if window.digest not in places:
                budget -= self._size(window)
                if budget < 0:
                    break
                places[window.digest] = place
            looked_up += 1
        return [*places.values()], looked_up

    def of_claim(
        self, asked: Sequence[tuple[WindowKey, bool]], abort: Abort, *, free: int
    ) -> list[KeysValues]:
        """The keys and values of some windows, in order.

        Args:
            asked: each with whether its stream asks for it the first time.
            abort: when set, the call ends soon with `ScoringError`.
            free: threads this claim may keep busy.

        Raises:
            ScoringError: the model failed, or `abort` was set.
        """
        lacking = 0 if free < 2 else sum(not self._cache.holds(window.digest) for window, _ in asked)
        if lacking > 1:
            return [found for found, _ in self._together(asked, abort)]
        return [self._fetch(window, abort, anew=anew)[0] for window, anew in asked]

    def _together(
        self, asked: Sequence[tuple[WindowKey, bool]], abort: Abort
    ) -> list[tuple[KeysValues, bool]]:
        running = [self._wanted.submit(self._fetch, window, abort, anew=anew) for window, anew in asked]
        try:
            return [future.result() for future in running]
        finally:
            for future in running:
                future.cancel()

    def _fetch(self, window: WindowKey, abort: Abort, *, anew: bool) -> tuple[KeysValues, bool]:
        """A window's keys and values, and whether they cost nothing."""

        def encode() -> KeysValues:
            found = self._graph.encode(window.ids, abort=abort, blocks=self._blocks)
            return pack(found, self._precision, self._blocks)

        return self._cache.fetch(window.digest, encode, abort=abort, anew=anew)


class _Cache(Protocol):
    """Encoded windows that are kept."""

    @property
    def limit(self) -> int: ...

    def holds(self, key: bytes) -> bool: ...

    def fetch(
        self, key: bytes, compute: Callable[[], KeysValues], *, abort: Abort, anew: bool
    ) -> tuple[KeysValues, bool]: ...

    def statistics(self) -> CacheStatistics: ...

    def close(self) -> None: ...


def _cache(limit: int | None, shared: Path | None) -> tuple[_Cache, Room | None]:
    """The cache, and what tells it its bound where that is not one for good."""
    if shared is None:
        made = ByteBoundedCache[KeysValues](left(0) if limit is None else limit, lambda entry: entry.nbytes)
        return made, Room(made.resize) if limit is None else None
    from streamverify.scorers.windows.window_store import WindowStore  # noqa: PLC0415 - needs POSIX

    return WindowStore(shared, SHARED_BYTES if limit is None else limit), None
