"""How a running function tells its stream which passages it retrieved."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from threading import Lock
from typing import Protocol, TypeVar

from streamverify.errors import StreamStateError
from streamverify.passages import MAX_CHARS, passages_from, refuse_read_once
from streamverify.types import Passage

T = TypeVar("T")


class PassageSink(Protocol):
    """Whatever is being verified where this code runs."""

    def add_passages(self, passages: Sequence[Passage]) -> None:
        """Take more passages; safe from any thread."""
        ...


class Gathered:
    """The passages of one stream as they are told, each once; a call costs what it brings. For any thread."""

    def __init__(self, passages: Sequence[Passage] = ()) -> None:
        """Those known from the beginning."""
        self._all = list(passages)
        self._texts = {passage.id: passage.text for passage in passages}
        self._chars = sum(map(len, self._texts.values()))
        self._lock = Lock()

    def __len__(self) -> int:
        """How many are known."""
        return len(self._all)

    def add(self, passages: Sequence[Passage]) -> bool:
        """Take those that are new; whether there are any.

        Raises:
            PassageError: an id is known already, with another text, or all are too long. Caller.
        """
        told = passages_from([one for one in passages if self._texts.get(one.id) != one.text])
        with self._lock:
            new = [passage for passage in told if passage.id not in self._texts]
            chars = self._chars + sum(len(passage.text) for passage in new)
            if chars > MAX_CHARS or any(self._texts.get(one.id, one.text) != one.text for one in told):
                passages_from([*self._all, *told])  # which says what is wrong
            self._chars = chars
            self._texts |= {passage.id: passage.text for passage in new}
            self._all += new
        return bool(new)

    def since(self, number: int) -> tuple[Passage, ...]:
        """All but the first so many, in the order in which they came."""
        return tuple(self._all[number:])


SINK: ContextVar[PassageSink | None] = ContextVar("streamverify_sink", default=None)
"""What is being verified in this context; set by the pump and the decorator around the user's code."""


def retrieved(documents: T) -> T:
    """Tell the stream that runs around this call what was retrieved, and return it unchanged.

    Args:
        documents: an iterable of what `Verifier.stream` accepts as passages, which can be read more than
            once. Several calls add up; a sentence is judged against what was told before it closed.

    Raises:
        PassageError: something in `documents` cannot be read as a passage, or it can be read only once.
        StreamStateError: nothing is being verified here, so the passages would be lost.
    """
    sink = SINK.get()
    if sink is None:
        raise StreamStateError("retrieved() was called outside of a function decorated with @verified")
    refuse_read_once(documents)
    sink.add_passages(passages_from(documents))  # type: ignore[arg-type] # checked by shape at run time
    return documents
