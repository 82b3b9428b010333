"""How a running function tells its stream which passages it retrieved."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Protocol, TypeVar

from streamverify.errors import StreamStateError
from streamverify.passages import passages_from
from streamverify.types import Passage

T = TypeVar("T")


class PassageSink(Protocol):
    """Whatever is being verified where this code runs."""

    def add_passages(self, passages: Sequence[Passage]) -> None:
        """Take more passages; safe from any thread."""
        ...


SINK: ContextVar[PassageSink | None] = ContextVar("streamverify_sink", default=None)
"""What is being verified in this context; set by the pump and the decorator around the user's code."""


def retrieved(documents: T) -> T:
    """Tell the stream that runs around this call what was retrieved, and return it unchanged.

    Args:
        documents: an iterable of what `Verifier.stream` accepts as passages. Several calls add up;
            a sentence is judged against what was told before it closed.

    Raises:
        PassageError: something in `documents` cannot be read as a passage.
        StreamStateError: nothing is being verified here, so the passages would be lost.
    """
    sink = SINK.get()
    if sink is None:
        raise StreamStateError("retrieved() was called outside of a function decorated with @verified")
    sink.add_passages(passages_from(documents))  # type: ignore[arg-type] # checked by shape at run time
    return documents
