"""One text of a provider's stream: its pieces go to a `VerifiedStream`, its releases become chunks again."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterable, Callable, Sequence
from typing import Generic, TypeVar

from streamverify.adapters.translator import ChannelKey, TextDelta
from streamverify.citations import Marker
from streamverify.events import Event, TextReleased
from streamverify.stream import VerifiedStream
from streamverify.streaming.pipe import Pipe

T = TypeVar("T")

_AHEAD = 16
"""Texts of a channel that may wait to be read by its stream."""


class Channel(Generic[T]):
    """One text of the stream, from its pieces to its releases."""

    def __init__(self, open_stream: Callable[[AsyncIterable[str]], VerifiedStream]) -> None:
        """Without text; `key` is None until the first comes."""
        self.key: ChannelKey | None = None
        self.pieces: Pipe[str] = Pipe(_AHEAD)
        self.stream = open_stream(self.pieces)
        self.opened = False
        self.ended = False
        self.shown: float = 0
        """How many characters were decided on; half of one less while more may come at the same place."""
        self.told = 0
        """How many characters the releases cover."""
        self.passing = False
        self.length = 0
        self.answer: list[str] = []
        self.releases: list[TextReleased] = []
        self.early: list[Event] = []
        self.markers: list[Marker] = []
        self.parts: deque[tuple[int, TextDelta[T]]] = deque()
        self.last: TextDelta[T] | None = None
        """The last of the parts that were released whole."""

    def end(self, failure: Exception | None = None) -> None:
        """No more text comes; again does nothing."""
        if not self.ended:
            self.ended = True
            self.pieces.end(failure)

    def cite(self, markers: Sequence[Marker]) -> None:
        """Have citations checked, as soon as the stream is open."""
        if self.opened:
            self.stream.cite(markers)
        else:
            self.markers += markers

    def cut(self, event: TextReleased) -> list[tuple[float, T]]:
        """The released text in chunks, with the place in the answer where each begins.

        What a policy writes between two characters, such as a marker, belongs to the one before.
        """
        parts = [(start, words) for start, words in self.parts if start < event.span.end]
        while self.parts and self.parts[0][0] + len(self.parts[0][1].text) <= event.span.end:
            _, self.last = self.parts.popleft()
        pieces: list[tuple[float, TextDelta[T], str]] = []
        for start, words in parts:
            text = words.text[max(event.span.start - start, 0) : event.span.end - start]
            if pieces and pieces[-1][1].slot == words.slot:
                place, first, before = pieces[-1]
                pieces[-1] = (place, first, before + text)
            else:
                pieces.append((max(start, event.span.start), words, text))
        if "".join(text for _, _, text in pieces) != event.text:
            place = event.span.start - (0.5 if event.span.start == event.span.end else 0)
            pieces = [(place, self._words(pieces), event.text)]
        return [(place, words.make(text)) for place, words, text in pieces if text and words.make is not None]

    def _words(self, pieces: Sequence[tuple[float, TextDelta[T], str]]) -> TextDelta[T]:
        """Whose chunk says what was put in place of these pieces, or where there is none of them."""
        if pieces:
            return pieces[0][1]
        return self.last if self.last is not None else self.parts[0][1]
