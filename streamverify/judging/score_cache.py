"""Scores of claims that were put to the same passages before: an answer that repeats itself is scored once.

Before: `premises.py` is about to put a claim to the scorer. After: it need not.

By the contract of scorers a score depends on the claim and its windows and on nothing else; what stands
around the sentence is in the claim as it is read.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from streamverify.scorers.protocol import Claim, ClaimScore, Window

CAPACITY = 1024
"""Claims that are remembered; with the risks of a hundred tokens each that is about 20 MB."""


class ScoreKey(NamedTuple):
    """What a score depends on."""

    windows: bytes
    text: str
    focus: tuple[int, ...]
    only_focus: bool
    together: tuple[tuple[int, ...], ...]
    hints: tuple[str, ...]
    hurried: bool = False


def score_key(windows: bytes, claim: Claim) -> ScoreKey:
    """The key of a claim put to windows with this `digest`."""
    return ScoreKey(
        windows, claim.text, claim.focus, claim.only_focus, claim.together, claim.hints, claim.hurried
    )


def digest(windows: Sequence[Window]) -> bytes:
    """Tells windows apart by all that a scorer sees of them."""
    told = blake2b(digest_size=16)
    for window in windows:
        for part in (f"{window.passage} {window.start} {window.end}", window.title, window.text):
            data = part.encode("utf-8", "surrogatepass")
            told.update(len(data).to_bytes(8, "big"))
            told.update(data)
    return told.digest()


class ScoreCache:
    """The scores used last; safe to use from several threads.

    Two threads that miss the same key at once both compute it.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        """Empty.

        Args:
            capacity: entries; the one used longest ago goes first.
        """
        self._capacity = capacity
        self._lock = threading.Lock()
        self._scores: OrderedDict[ScoreKey, ClaimScore] = OrderedDict()

    def get(self, key: ScoreKey) -> ClaimScore | None:
        """The score, if it is remembered."""
        with self._lock:
            score = self._scores.get(key)
            if score is not None:
                self._scores.move_to_end(key)
            return score

    def put(self, key: ScoreKey, score: ClaimScore) -> None:
        """Remember a score."""
        with self._lock:
            self._scores[key] = score
            self._scores.move_to_end(key)
            while len(self._scores) > self._capacity:
                self._scores.popitem(last=False)
