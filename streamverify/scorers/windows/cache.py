"""A content-addressed cache, bounded in bytes, that computes a value once however many ask for it.

    fetch(key) ── held ──────────────────────────────► value          hit
        │
        ├─ being computed by another thread ── wait ─► its value      hit
        │                                         ├──► its error      all who waited get it
        │                                         └──► it was called off: start over
        └─ neither ── compute, keep ─────────────────► value          miss

An error is never kept: the next one to ask computes again.

    newcomers ── asked for by another stream ──► known, half of the bytes at most
        ▲                                          │
        └────────── least recently used ───────────┘
        └─ least recently used ─► dropped, before any that is known

So windows that one stream brings and nobody asks for again do not drive out those that many use.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from streamverify.errors import ScoringError
from streamverify.scorers.protocol import Abort

ValueT = TypeVar("ValueT")


KNOWN = 0.5
"""Share of the bytes that values which came again may hold against newcomers. The rest is for the streams
that run: what they bring is read by each of their claims."""


class CacheStatistics(NamedTuple):
    """Counters since the cache was made, and what it holds now."""

    hits: int
    """Fetches answered without computing, those that waited for another thread included."""
    misses: int
    """Fetches that computed."""
    evicted: int
    """Values dropped to make room, and values too large to be kept at all."""
    entries: int
    bytes: int


class _Pending(Generic[ValueT]):
    """A value that one thread computes while others wait."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self.wake: dict[object, Callable[[], None]] = {}
        self.value: ValueT | None = None
        self.error: BaseException | None = None
        self.called_off = False


class ByteBoundedCache(Generic[ValueT]):
    """The values used last, and before them those that came again, at most `limit` bytes of them all.

    Safe to share between threads.
    """

    def __init__(self, limit: int, size: Callable[[ValueT], int]) -> None:
        """Make an empty cache.

        Args:
            limit: bytes, 0 or more; with 0 nothing is kept, and threads asking at once still share.
            size: bytes a value takes; asked once a value.
        """
        if limit < 0:
            raise ValueError(f"a cache's limit is 0 bytes or more, not {limit}")
        self.limit = limit
        self._size = size
        self._lock = threading.Lock()
        self._new: OrderedDict[bytes, tuple[ValueT, int]] = OrderedDict()
        self._known: OrderedDict[bytes, tuple[ValueT, int]] = OrderedDict()
        self._pending: dict[bytes, _Pending[ValueT]] = {}
        self._bytes = self._bytes_known = self._hits = self._misses = self._evicted = 0

    def statistics(self) -> CacheStatistics:
        """The counters as they are now."""
        with self._lock:
            entries = len(self._new) + len(self._known)
            return CacheStatistics(self._hits, self._misses, self._evicted, entries, self._bytes)

    def clear(self) -> None:
        """Drop every value; computations under way end as usual."""
        with self._lock:
            self._new.clear()
            self._known.clear()
            self._bytes = self._bytes_known = 0

    def resize(self, limit: int) -> None:
        """Hold so many bytes at most from now on, 0 or more; what goes for that goes in the usual order."""
        with self._lock:
            self.limit = limit
            self._demote()
            self._drop()

    def close(self) -> None:
        """As `clear`."""
        self.clear()

    def holds(self, key: bytes) -> bool:
        """Whether the value is here now; asking is no use of it."""
        with self._lock:
            return key in self._known or key in self._new

    def fetch(
        self, key: bytes, compute: Callable[[], ValueT], *, abort: Abort, anew: bool = False
    ) -> tuple[ValueT, bool]:
        """The value of `key`, and whether it cost nothing.

        Args:
            key: equal keys must mean equal values.
            compute: makes the value; runs in this thread, without a lock held.
            abort: of this caller; when set while another thread computes, waiting ends.
            anew: asked for by somebody new, and not once more by who brought it: a value found so is known.

        Raises:
            ScoringError: `abort` was set.
            Exception: whatever `compute` raised, here or in the thread waited for.
        """
        while True:
            with self._lock:
                held = self._known.get(key) or self._new.get(key)
                if held is not None:
                    self._use(key, anew=anew)
                    self._hits += 1
                    return held[0], True
                pending = self._pending.get(key)
                if pending is None:
                    mine = self._pending[key] = _Pending()
                    self._misses += 1
                    break
            if (value := self._wait(pending, abort)) is not None:
                return value, True
        return self._compute(key, mine, compute, abort), False

    def _compute(
        self, key: bytes, mine: _Pending[ValueT], compute: Callable[[], ValueT], abort: Abort
    ) -> ValueT:
        try:
            mine.value = compute()
        except BaseException as error:
            mine.error = error
            # Being called off is this caller's fate; those who wait still want the value.
            mine.called_off = abort.is_set or not isinstance(error, Exception)
            raise
        finally:
            with self._lock:
                del self._pending[key]
                if mine.value is not None:
                    self._keep(key, mine.value)
                waiting = list(mine.wake.values())
                mine.ended.set()
            for wake in waiting:
                wake()
        return mine.value

    def _wait(self, pending: _Pending[ValueT], abort: Abort) -> ValueT | None:
        woken = threading.Event()
        token = object()
        with self._lock:
            if pending.ended.is_set():
                woken.set()
            else:
                pending.wake[token] = woken.set
        detach = abort.attach(woken.set)
        woken.wait()
        detach()
        with self._lock:
            pending.wake.pop(token, None)
        if not pending.ended.is_set():
            raise ScoringError("stopped: the check was called off")
        if pending.value is not None:
            with self._lock:
                self._hits += 1
            return pending.value
        if pending.called_off or pending.error is None:
            return None
        raise pending.error

    def _use(self, key: bytes, *, anew: bool) -> None:
        """A value that is held was asked for."""
        if key in self._known:
            self._known.move_to_end(key)
            return
        if not anew:
            self._new.move_to_end(key)
            return
        self._known[key] = entry = self._new.pop(key)
        self._bytes_known += entry[1]
        self._demote()

    def _demote(self) -> None:
        while self._bytes_known > KNOWN * self.limit:
            old, entry = self._known.popitem(last=False)
            self._bytes_known -= entry[1]
            self._new[old] = entry

    def _keep(self, key: bytes, value: ValueT) -> None:
        size = self._size(value)
        if size > self.limit:
            self._evicted += 1
            return
        self._new[key] = (value, size)
        self._bytes += size
        self._drop()

    def _drop(self) -> None:
        while self._bytes > self.limit:
            if len(self._new) > 1 or not self._known:
                _, (_, freed) = self._new.popitem(last=False)
            else:
                _, (_, freed) = self._known.popitem(last=False)
                self._bytes_known -= freed
            self._bytes -= freed
            self._evicted += 1
