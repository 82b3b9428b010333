"""How much memory encoded windows may take: what the passages that a process knows leave of a whole.

Before: `premise_cached.py` has tokenised a stream's passages. After: its cache holds no more than is left.

Two hundred streams about passages of their own have far more windows than any cache holds, and the words,
numbers and places that are read off their passages take as much memory as the windows that are kept. Passages
that wait to be prepared count too, or the windows of the first streams would take what the others need.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol
from weakref import WeakSet

CACHE_BYTES = 512 * 2**20
"""Of encoded windows, unless said otherwise, as long as few passages are known."""
SHARED_BYTES = 512 * 2**20
"""Of the windows that processes share, unless said otherwise."""
FREE_TOKENS = 40_000
"""Of passages, whose encoded windows nearly fit: a hundred and fifty of 200 words."""
LESS_BYTES = 4_000
"""By how much the bound falls for each token beyond: four times what is read off it, so that a process with
two hundred streams stays below 600 MiB (docs/decisions/memory.md)."""
CHARACTERS_A_TOKEN = 4
"""Of passages that nobody has tokenised yet; a little fewer than there are."""
FLOOR_BYTES = 60 * 2**20
"""What encoded windows keep whatever passages take."""


def left(tokens: int) -> int:
    """Bytes for encoded windows where passages of so many tokens are known."""
    return max(CACHE_BYTES - LESS_BYTES * max(tokens - FREE_TOKENS, 0), FLOOR_BYTES)


class Counted(Protocol):
    """What is kept of a set of passages as long as anybody knows them; can be referred to weakly."""

    @property
    def tokens(self) -> int:
        """Of all its windows."""
        ...


class Room:
    """Tells a cache its bound whenever a set of passages comes; safe to use from several threads."""

    def __init__(self, resize: Callable[[int], object]) -> None:
        """No passages are known.

        Args:
            resize: takes the bound in bytes.
        """
        self._resize = resize
        self._sets: WeakSet[Counted] = WeakSet()
        self._lock = threading.Lock()
        self._expected: Counter[str] = Counter()
        self._arrivals = threading.Lock()  # of its own: whoever expects texts must not wait for `resize`

    def add(self, passages: Counted) -> None:
        """A set of passages is known from now on, until nobody refers to it any more."""
        with self._lock:
            self._sets.add(passages)
            self._resize(left(sum(one.tokens for one in self._sets) + self.expected))

    @contextmanager
    def expect(self, texts: Sequence[str]) -> Iterator[None]:
        """These texts will be known; until then they count from the next set on, equal ones once."""
        with self._arrivals:
            self._expected.update(texts)
        try:
            yield
        finally:
            with self._arrivals:
                self._expected.subtract(texts)
                for text in {*texts}:
                    if not self._expected[text]:
                        del self._expected[text]

    @property
    def expected(self) -> int:
        """Tokens of the texts that are expected, about."""
        with self._arrivals:
            return sum(map(len, self._expected)) // CHARACTERS_A_TOKEN
