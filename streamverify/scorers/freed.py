"""What loading a model used and let go of goes back to the system.

Before: `graphs/premise_graph.py` and the reader of claims have read files of tens of megabytes, several
times over. After: the process holds what it needs. glibc keeps what is let go of for later, of which there
is none here: a model is loaded once.
"""

from __future__ import annotations

import ctypes
import platform


def give_back() -> bool:
    """Return free pages of the heap, some milliseconds once; whether the C library can."""
    if platform.libc_ver()[0] != "glibc":
        return False
    ctypes.CDLL(None).malloc_trim(0)
    return True
