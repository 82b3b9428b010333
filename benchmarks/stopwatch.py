"""The processor time of one run, measured where others work beside it."""

from __future__ import annotations

import gc
import re
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from streamverify.claims.conversation import worded
from streamverify.text import words


@dataclass(frozen=True, slots=True)
class Subject:
    """Something that meets text: a pattern as it is used, or a function."""

    name: str
    run: Callable[[str], object]


def seconds(run: Callable[[str], object], text: str, limit: float, repeats: int = 1) -> float:
    """This thread's processor time of the shortest of some runs, at most `limit`: a longer one is broken off.

    Waiting for a processor does not count; sharing its caches does, which the shortest run had least of.
    """
    collecting = gc.isenabled()
    gc.disable()  # what other tests left in memory is not this run's to look through
    try:
        best = _once(run, text, limit)
        for _ in range(repeats - 1):
            forget()
            best = min(best, _once(run, text, limit))
        return best
    finally:
        if collecting:
            gc.enable()


def forget() -> None:
    """Empty the caches that would make the second run on a text another work than the first."""
    re.purge()
    words._STEMS.clear()  # noqa: SLF001 - of stems; no other code is to empty it
    worded.cache_clear()


def _once(run: Callable[[str], object], text: str, limit: float) -> float:
    previous = signal.signal(signal.SIGVTALRM, _break_off)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, limit)  # which a regular expression asks for now and then
        begin = time.thread_time()
        try:
            run(text)
            return min(time.thread_time() - begin, limit)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except _TooLongError:
        return limit
    finally:
        signal.signal(signal.SIGVTALRM, previous)


class _TooLongError(Exception):
    pass


def _break_off(_number: int, _frame: object) -> NoReturn:
    raise _TooLongError
