"""How long one Python thread keeps the others waiting, in a command that has every processor to fill.

The scorer's runs need no interpreter lock but to begin and to end, and end every few milliseconds in several
threads. Python gives a thread that waits for the lock its turn after 5 ms, longer than a run takes: one claim
that is being read holds up several runs, and a processor idles. The interval is the whole process's, so only
the program sets it, which owns its process; the library leaves it alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

TURN = 0.0005
"""Seconds."""


@contextmanager
def short_turns() -> Iterator[None]:
    """Inside, no thread keeps another waiting for more than `TURN`; after, it is as it was."""
    before = sys.getswitchinterval()
    if before <= TURN:
        yield
        return
    sys.setswitchinterval(TURN)
    try:
        yield
    finally:
        sys.setswitchinterval(before + 5e-7)  # it is cut to whole microseconds: half of one keeps it
