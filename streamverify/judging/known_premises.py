"""Passages that other streams were prepared for: cut, indexed and tokenised once for all of them.

Before: `assessor.py` is about to prepare a stream's passages. After: it need not read them again.

What is kept holds no verdict and no keys and values: those are the scorer's, which is asked for whatever its
own cache has lost meanwhile.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TypeVar

from streamverify.passages import told_dates
from streamverify.types import Passage

CHARACTERS = 1_000_000
"""Characters of passages that are remembered; indices of them take some 200 bytes a character."""

T = TypeVar("T")

Key = tuple[tuple[tuple[str | None, ...], ...], str | None]
"""Id, title, text and told date of each passage, and the question: all that is read off them."""


class KnownPremises:
    """What was prepared last, by content; safe to use from several threads.

    Two threads that miss the same passages at once both prepare them, and the first stays.
    """

    def __init__(self, characters: int = CHARACTERS) -> None:
        """Empty.

        Args:
            characters: bound of the texts, titles and questions remembered; sets used longest ago go first.
        """
        self._limit = characters
        self._lock = threading.Lock()
        self._known: OrderedDict[Key, tuple[object, int]] = OrderedDict()
        self._characters = 0

    def get(self, passages: Sequence[Passage], question: str | None, make: Callable[[], T]) -> tuple[T, bool]:
        """What is known of these passages, or what `make` makes of them; and whether it was known.

        The same ids, titles and texts in the same order under the same question are known. Of metadata what
        tells the later of two versions counts: nothing else is read off them.
        """
        key = _key(passages, question)
        with self._lock:
            held = self._known.get(key)
            if held is not None:
                self._known.move_to_end(key)
                return held[0], True  # type: ignore[return-value] # one instance keeps values of one kind
        made = make()
        size = _characters(key)
        if size > self._limit // 2:  # a huge set would drive out everybody else's
            return made, False
        with self._lock:
            if key not in self._known:
                self._known[key] = made, size
                self._characters += size
            while self._characters > self._limit:
                _, (_, freed) = self._known.popitem(last=False)
                self._characters -= freed
        return made, False

    def knows(self, passages: Sequence[Passage], question: str | None) -> bool:
        """Whether `get` would find them."""
        with self._lock:
            return _key(passages, question) in self._known

    @property
    def characters(self) -> int:
        """Characters of what is remembered now."""
        with self._lock:
            return self._characters


def _key(passages: Sequence[Passage], question: str | None) -> Key:
    return tuple((one.id, one.title, one.text, *told_dates(one)) for one in passages), question


def _characters(key: Key) -> int:
    passages, question = key
    return sum(len(part or "") for passage in passages for part in passage) + len(question or "") + 1
