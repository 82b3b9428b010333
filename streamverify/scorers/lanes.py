"""How many runs the passes of one claim are spread over: as many as there are cores without another claim.

Alone, a claim takes all cores, and its verdict comes that much sooner; among others it takes one, where
passes together cost least. The scores are the same however they are spread.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Lanes:
    """Counts the claims that are being scored; safe to use from several threads."""

    def __init__(self, threads: int) -> None:
        """Share out so many threads, at least 1."""
        self._threads, self._claims, self._changed = threads, 0, threading.Condition()

    @contextmanager
    def claim(self) -> Iterator[None]:
        """One more claim is being scored meanwhile."""
        with self._changed:
            self._claims += 1
        try:
            yield
        finally:
            with self._changed:
                self._claims -= 1
                self._changed.notify_all()

    @property
    def free(self) -> int:
        """Threads for each claim that is being scored, at least 1."""
        with self._changed:
            return max(1, self._threads // max(1, self._claims))

    @property
    def encoders(self) -> int:
        """Threads that may encode what one claim lacks, at least 1."""
        return self.free

    def idle(self, seconds: float) -> bool:
        """Whether no claim is being scored; waits so long for that."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._claims, seconds)


class SharedLanes(Lanes):
    """For a graph that gathers what is asked for: nothing is won by taking turns, or by asking in parts."""

    @property
    def free(self) -> int:
        """One run for all passes of a claim."""
        return 1

    @property
    def encoders(self) -> int:
        """All of a claim's windows are asked for at once."""
        return self._threads

    def idle(self, seconds: float) -> bool:
        """Windows are encoded in runs of their own, whoever is scored meanwhile."""
        del seconds
        return True
