"""How long a Python thread keeps others waiting, and how often it looks for garbage, while all cores work.

The scorer's runs need no interpreter lock but to begin and to end, and end every few milliseconds in several
threads. Python gives a thread that waits for the lock its turn after 5 ms, longer than a run takes: one claim
that is being read holds up several runs, and a processor idles. The interval is the whole process's, so only
the program sets it, which owns its process; the library leaves it alone.

So are the garbage collector's thresholds. Python looks through the youngest objects whenever 700 more were
made than freed, and each tenth time through older ones too. What reading a claim makes is freed when it is
read, or is kept with its passages until others take their place, and is never garbage in a circle
(`tests/judging/test_known_premises.py`); the looking takes a tenth of what an evaluation costs beside the
scorer, most of it for what is kept.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

TURN = 0.0005
"""Seconds."""
YOUNG, OLDER = 200_000, 50
"""Objects that may be made and not freed before the collector looks through them, some twenty megabytes; and
how often it does so before it looks through all that came since the last time."""


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


@contextmanager
def rare_collections() -> Iterator[None]:
    """Inside, Python looks through objects once in `YOUNG`, through older ones each `OLDER`th time."""
    before = gc.get_threshold()
    if not 0 < before[0] < YOUNG:  # it is off, or rarer already
        yield
        return
    gc.set_threshold(YOUNG, max(OLDER, before[1]), before[2])
    try:
        yield
    finally:
        gc.set_threshold(*before)
