"""Memory for encoded windows: taken from the system by itself, used again, and given back to the system.

    take ── a block that was let go of, and fits ─┬─► array ── nobody holds any of it ─► let go of
            a new one, from the system ───────────┘                                     │
            back to the system ◄── `SPARE` others were let go of since ◄────────────────┘

Encoded windows are large, of many sizes, and live as long as somebody asks for them. In a heap, the runtime's
or the C library's, they leave holes that nothing else fits into.
"""

from __future__ import annotations

import mmap
import weakref
from collections import deque

import numpy as np
from numpy.typing import NDArray

SPARE = 8
"""Blocks that are kept for the next windows: pages that are new cost a tenth of what encoding costs."""
_STEP = 64 * 1024
"""Bytes of which a block has a multiple."""
_LARGER = 1.25
"""Times its size that a block may have which an array is given."""
_UNUSED = getattr(mmap, "MADV_DONTNEED", None)
"""What tells the system that pages are not needed, where it can be told."""
_PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
"""Python's default shares the memory with children."""


class _Held:
    """What the arrays over a block hold on to, and so the block: NumPy asks for it by this attribute."""

    __slots__ = ("__array_interface__", "__weakref__")

    def __init__(self, block: mmap.mmap, size: int) -> None:
        address = np.frombuffer(block, np.uint8).__array_interface__["data"][0]
        self.__array_interface__ = {
            "version": 3,
            "shape": (size,),
            "typestr": "|u1",
            "data": (address, False),
        }


class Blocks:
    """Gives memory for arrays; safe to use from several threads."""

    def __init__(self, spare: int = SPARE) -> None:
        """Nothing is taken yet.

        Args:
            spare: blocks kept for reuse, 0 or more; those let go of first go back to the system first.
        """
        # A deque, because blocks are let go of whenever the last array goes, be it in the middle of `take`.
        self._spare: deque[mmap.mmap] = deque(maxlen=spare)

    @property
    def spare(self) -> int:
        """Bytes of blocks that nobody uses now."""
        return sum(map(len, self._spare.copy()))

    def take(self, size: int) -> NDArray[np.uint8]:
        """So many bytes, 1 or more, of any content; they are given to others once no array holds them."""
        block = self._fitting(size)
        if block is None:
            block = mmap.mmap(-1, _rounded(size, _STEP), **_PRIVATE)
        held = _Held(block, size)
        weakref.finalize(held, self._spare.append, block).atexit = False
        return np.asarray(held)

    def _fitting(self, size: int) -> mmap.mmap | None:
        for _ in range(len(self._spare)):
            try:
                block = self._spare.pop()  # used last: the processor may still have it at hand
            except IndexError:  # other threads took them
                return None
            if size <= len(block) <= _LARGER * _rounded(size, _STEP):
                rest = _rounded(size, mmap.PAGESIZE)
                if _UNUSED is not None and rest < len(block):
                    block.madvise(_UNUSED, rest)
                return block
            self._spare.appendleft(block)
        return None


def _rounded(size: int, step: int) -> int:
    """The least multiple of a step that is not below a size."""
    return -(-size // step) * step
