"""The heap of a process that serves: what is large in it goes back to the system when it is let go of.

glibc takes a large block from the system by itself, until the first one of its size is let go of: from then
on such blocks come from its heaps, one for nearly every thread, where what outlives them keeps their pages. A
model is loaded through blocks of tens of megabytes, whose pages nobody uses again. A bound that is set stays.

Only `launch.py` asks for it: the setting is the whole process's, and a library is a guest in somebody else's.
"""

from __future__ import annotations

import ctypes
import os
import platform

LARGE = 2**20
"""Bytes from which on a block is taken from the system by itself."""
_MMAP_THRESHOLD = -3
_OWN = ("MALLOC_MMAP_THRESHOLD_", "glibc.malloc.mmap_threshold")


def give_large_blocks_back() -> bool:
    """Bound the size of blocks in the heap at `LARGE`; whether it was done.

    It is not where the C library is another one than glibc, or whoever started the process set a bound.
    """
    own, tunables = _OWN
    if own in os.environ or tunables in os.environ.get("GLIBC_TUNABLES", ""):
        return False
    if platform.libc_ver()[0] != "glibc":
        return False
    return bool(ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, LARGE))
