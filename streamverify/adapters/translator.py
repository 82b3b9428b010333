"""What an adapter for a provider's stream says about its chunks: the vocabulary of `multiplexer.py`.

A stream carries one or more texts, each a channel named by a `ChannelKey`. A `Translator` turns every chunk
into moves: text (`TextDelta`), citations beside it (`CitationDelta`), the end of a text (`TextEnd`), anything
else (`PassThrough`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar

from streamverify.events import TextReleased

T = TypeVar("T")

ChannelKey: TypeAlias = int | tuple[int, int]
"""Names a channel: the index of a choice, or of an output and its content part."""

Released: TypeAlias = "Callable[[ChannelKey], Shown]"
"""What a reader may see of a channel so far."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a reader may see of a channel's text so far."""

    releases: Sequence[TextReleased] = ()

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(release.text for release in self.releases)

    def place(self, offset: int, *, end: bool = False) -> int:
        """Where an offset into the answer as generated stands in what is shown.

        In text that was replaced that is the replacement's start or, for the `end` of a span, its end.
        """
        at = 0
        for release in self.releases:
            start, stop = release.span
            if start <= offset < stop or (end and start < offset <= stop):
                if stop - start == len(release.text):
                    return at + offset - start
                return at + (len(release.text) if end else 0)
            at += len(release.text)
        return at


@dataclass(frozen=True, slots=True)
class TextDelta(Generic[T]):
    """Text that a chunk adds to a channel."""

    key: ChannelKey
    text: str
    make: Callable[[str], T] | None
    """A chunk like the one that came, with another text; None where the text is repeated elsewhere."""
    slot: int = 0
    """Released text that spans several slots is divided between them, unless it was changed."""


@dataclass(frozen=True, slots=True)
class CitationDelta:
    """Citations handed in beside a channel's text, up to here."""

    key: ChannelKey
    citations: Sequence[object]
    start: int | None = None
    """Where the cited block begins, in characters of the channel; None where the citations tell."""


@dataclass(frozen=True, slots=True)
class TextEnd:
    """A channel's text is complete: text that comes for it later is refused."""

    key: ChannelKey


@dataclass(frozen=True, slots=True)
class PassThrough(Generic[T]):
    """What is not text, and keeps its place in the order."""

    make: Callable[[], T]
    """Called when its turn has come, so that it can repeat what was released."""
    key: ChannelKey | None = None
    """The channel it belongs to; None to wait for all of them, and have all wait for it."""


Move: TypeAlias = TextDelta[T] | CitationDelta | TextEnd | PassThrough[T]


class Translator(Protocol[T]):
    """Says what a provider's chunks mean; one for each stream."""

    def read(self, chunk: T, released: Released) -> Iterable[Move[T]]:
        """What this chunk does, in order. Together the moves say all that the chunk says."""
        ...

    def sent(self, chunk: T) -> None:
        """Told every chunk that goes out to the reader."""
        ...

    def halted(self, released: Released) -> Iterable[T]:
        """Chunks that end the stream properly where a policy stopped it."""
        ...
