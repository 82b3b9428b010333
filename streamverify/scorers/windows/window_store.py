"""Encoded windows that the processes of one machine share: a file each, mapped by whoever reads it.

    fetch(key) ── a file of that name ── mapped here before, or now; not copied ─► hit
        └─ none ── lock of the key ─┬─ another process wrote it meanwhile ───────► hit
                                    └─ compute, write, rename, make room ────────► miss

A window that another stream asks for, of whichever process, is known; its file says so by a bit of its mode.
Where room is made newcomers go first. Known windows hold half of the bytes at most, as in `cache.py`.

A file has its name only once it is whole, and what is mapped stays whole after its file was removed, so
readers need no lock. The locks are the system's and end with the process that holds them: a worker that is
killed while it computes holds nobody up.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import mmap
import os
import secrets
import stat
import struct
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from streamverify.errors import ScoringError
from streamverify.scorers.protocol import Abort
from streamverify.scorers.windows.cache import KNOWN, ByteBoundedCache, CacheStatistics
from streamverify.scorers.windows.keys_values import KeysValues

_HEADER = struct.Struct("<8s5q16x")
"""Magic; layers, heads, tokens, size of a head, bytes of a number. 64 bytes, so that numbers stay aligned."""
_LOG = logging.getLogger("streamverify")
_MAGIC = b"svwind01"
_LOCKS = "locks"
_ENDING, _PART = ".window", ".part"
_ROOM = 2**62
"""The byte whose lock is held while room is made; those of keys lie below."""
_KEPT = 4
"""Part of the limit, one in so many, that a process keeps mapped: what others remove it holds on to until it
computes a window itself."""
_BIT = stat.S_IXUSR
"""Nobody runs a window, so that this bit is free to tell known ones; reading a file leaves it alone."""
_NEWCOMER, _KNOWN = 0o600, 0o600 | _BIT
_WAIT, _PATIENCE = 0.002, 10.0
"""Seconds between two looks at a lock, and until a window is computed here too, whoever else is at it."""


class WindowStore:
    """The windows that processes with the same folder used last, and before them those that came again.

    At most `limit` bytes in all.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        """Use a folder.

        Args:
            folder: exists, holds nothing else, and no other user may write it; in memory (`/dev/shm`) or not.
            limit: bytes of all windows together, headers included; the same for every process.
        """
        self.limit = limit
        self._folder = folder
        self._computing = ByteBoundedCache[KeysValues](0, lambda value: value.nbytes)
        self._maps: OrderedDict[Path, KeysValues] = OrderedDict()
        self._mapped = 0
        self._lock = threading.Lock()
        self._making_room = threading.Lock()  # locks of the file exclude other processes, not threads
        self._hits = self._misses = self._evicted = 0
        self._full = False
        """Whether the last window could not be written, and that was told."""
        self._locks = os.open(folder / _LOCKS, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def statistics(self) -> CacheStatistics:
        """The counters of this process; entries and bytes of all."""
        sizes = [one.size for one in self._files()]
        with self._lock:
            return CacheStatistics(self._hits, self._misses, self._evicted, len(sizes), sum(sizes))

    def close(self) -> None:
        """Let go of the folder; its files stay, for the others."""
        with self._lock:
            self._maps.clear()
            self._mapped = 0
        locks, self._locks = self._locks, -1
        if locks >= 0:
            os.close(locks)

    def holds(self, key: bytes) -> bool:
        """Whether the window is here now; asking is no use of it."""
        return self._path(key).exists()

    def fetch(
        self,
        key: bytes,
        compute: Callable[[], KeysValues],
        *,
        abort: Abort,
        anew: bool = False,
    ) -> tuple[KeysValues, bool]:
        """The window of `key`, and whether it cost nothing; as `ByteBoundedCache.fetch`.

        Raises:
            ScoringError: `abort` was set.
            Exception: whatever `compute` raised, here or in the thread waited for.
        """
        path = self._path(key)
        if (held := self._held(path)) is not None:
            if anew:
                _mark(path, _KNOWN)
            with self._lock:
                self._hits += 1
            return held, True
        made = False

        def once() -> KeysValues:
            nonlocal made
            with self._claimed(key, path, abort) as written:
                if written is not None:
                    return written
                made = True
                value = compute()
                self._write(path, value)
                return value

        value, waited = self._computing.fetch(key, once, abort=abort)
        with self._lock:
            if made:
                self._misses += 1
            else:
                self._hits += 1
        return value, waited or not made

    def _path(self, key: bytes) -> Path:
        return self._folder / (key.hex() + _ENDING)

    def _held(self, path: Path) -> KeysValues | None:
        """The window in a file, which counts as used now; None where there is none."""
        try:
            _use(path)
        except FileNotFoundError:
            return None
        with self._lock:
            if (known := self._maps.get(path)) is not None:
                self._maps.move_to_end(path)
                return known
        found = _mapped(path)
        if found is not None:
            self._keep(path, found)
        return found

    def _keep(self, path: Path, found: KeysValues) -> None:
        """Keep a map, which costs a claim less than making it again; not of files that were removed since."""
        with self._lock:
            if path not in self._maps:
                self._maps[path] = found
                self._mapped += found.nbytes
            while self._mapped > self.limit // _KEPT:
                self._mapped -= self._maps.popitem(last=False)[1].nbytes

    @contextlib.contextmanager
    def _claimed(self, key: bytes, path: Path, abort: Abort) -> Iterator[KeysValues | None]:
        """Hold the key's lock; gives the window where another process wrote it meanwhile."""
        place = int.from_bytes(key[:7], "big")
        woken, waited, mine = threading.Event(), 0.0, False
        detach = abort.attach(woken.set)
        try:
            while not (mine := self._take(place)) and waited < _PATIENCE:
                if woken.wait(_WAIT):
                    raise ScoringError("stopped: the check was called off")
                waited += _WAIT
            yield self._held(path)
        finally:
            detach()
            if mine:
                fcntl.lockf(self._locks, fcntl.LOCK_UN, 1, place)

    def _take(self, place: int) -> bool:
        if self._locks < 0:
            raise ScoringError("the folder of encoded windows was let go of: the scorer is closed")
        try:
            fcntl.lockf(self._locks, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def _write(self, path: Path, value: KeysValues) -> None:
        size = _HEADER.size + value.nbytes
        if size > self.limit:
            with self._lock:
                self._evicted += 1
            return
        part = path.with_name(f"{secrets.token_hex(8)}{_PART}")
        try:
            with part.open("xb") as file:
                file.writelines(_parts(value))
            _use(part)
            part.replace(path)
        except OSError as error:  # no room, or the folder was taken away: the window is used all the same
            part.unlink(missing_ok=True)
            with self._lock:
                self._evicted += 1
                first, self._full = not self._full, True
            if first:
                _LOG.warning("encoded passages are not kept: %s: %s", self._folder, error.strerror or error)
            return
        with self._lock:
            self._full = False
            for removed in [known for known in self._maps if not known.exists()]:
                self._mapped -= self._maps.pop(removed).nbytes
        self._make_room()

    def _make_room(self) -> None:
        if not self._making_room.acquire(blocking=False):
            return  # another thread is at it
        try:
            if self._take(_ROOM):  # else another process is at it
                self._remove()
        finally:
            self._making_room.release()

    def _remove(self) -> None:
        try:
            files = self._files()
            size = sum(one.size for one in files)
            for one in self._to_go(files) if size > self.limit else ():
                one.path.unlink(missing_ok=True)
                size -= one.size
                with self._lock:
                    self._evicted += 1
                if size <= self.limit:
                    break
        finally:
            fcntl.lockf(self._locks, fcntl.LOCK_UN, 1, _ROOM)

    def _to_go(self, files: Sequence[_File]) -> list[_File]:
        """In the order in which they go; what is known of more than half of the bytes is known no more."""
        new: list[_File] = []
        known: list[_File] = []
        room = KNOWN * self.limit
        for one in sorted(files, reverse=True):
            room -= one.size if one.known else 0
            if one.known and room >= 0:
                known.append(one)
                continue
            if one.known:
                _mark(one.path, _NEWCOMER)
            new.append(one)
        # The newcomer that room is made for stays, even beside known ones alone.
        return [*new[:0:-1], *known[::-1], *new[:1]]

    def _files(self) -> list[_File]:
        found = []
        for path in self._folder.glob(f"*{_ENDING}"):
            with contextlib.suppress(FileNotFoundError):  # another process removed it
                told = path.stat()
                known = bool(told.st_mode & _BIT)
                found.append(_File(told.st_mtime_ns, told.st_size, path, known=known))
        return found


class _File(NamedTuple):
    """A window's file; the one used longest ago sorts first."""

    used: int
    size: int
    path: Path
    known: bool


def _mark(path: Path, mode: int) -> None:
    """Say of a window what it is."""
    # It may have gone, and a file system without modes has newcomers only: the one used longest ago goes.
    with contextlib.suppress(OSError):
        path.chmod(mode)


def _use(path: Path) -> None:
    """Say that a file was used now: the system's own clock for files has steps of some milliseconds."""
    now = time.time_ns()
    os.utime(path, ns=(now, now))


def _parts(value: KeysValues) -> Iterator[bytes | memoryview]:
    """What a file holds."""
    (keys, _), *_ = value.layers
    heads, tokens, width = keys.shape
    yield _HEADER.pack(_MAGIC, len(value.layers), heads, tokens, width, keys.itemsize)
    for pair in value.layers:
        for numbers in pair:
            yield np.ascontiguousarray(numbers).data


def _mapped(path: Path) -> KeysValues | None:
    """The window in a file; None where there is none."""
    try:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED | _POPULATE)
    except FileNotFoundError:
        return None
    magic, layers, heads, tokens, width, item = _HEADER.unpack_from(data)
    if magic != _MAGIC or len(data) != _HEADER.size + 2 * layers * heads * tokens * width * item:
        raise ScoringError(f"{path} is no encoded window: empty the folder that the processes share")
    shape, kind = (heads, tokens, width), np.dtype(f"f{item}")
    numbers = np.frombuffer(data, kind, offset=_HEADER.size).reshape(2 * layers, *shape)
    return KeysValues(tuple((numbers[2 * layer], numbers[2 * layer + 1]) for layer in range(layers)))


_POPULATE = getattr(mmap, "MAP_POPULATE", 0)
"""All pages at once where the system can: one call in place of a fault for each."""
