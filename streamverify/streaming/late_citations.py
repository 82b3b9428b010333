"""Citations that a provider handed in beside the text, and which of them a check has covered.

A sentence closes, and is judged, before its provider may tell all that it cites: what comes later is
checked apart, and `uncovered` tells what no check ever ended well for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from streamverify.citations import Marker
from streamverify.streaming.session import StreamState
from streamverify.types import Sentence


class NativeCitations:
    """Those of one stream, by the sentence they stand in."""

    def __init__(self, session: StreamState) -> None:
        """None were handed in yet; the session knows which sentences have closed."""
        self._session = session
        self._markers: list[Marker] = []
        self._covered: dict[int, int] = {}  # of each sentence told: how many of those handed in are in it

    def add(self, markers: Sequence[Marker]) -> list[Sentence]:
        """Keep them; returns the closed sentences they belong to, in the order of the markers."""
        self._markers += markers
        return self._closed(markers)

    def of(self, sentence: Sentence) -> list[Marker]:
        """Those that stand in a sentence, as far as they are known."""
        return [m for m in self._markers if sentence.start < m.end <= sentence.end]

    def told(self, sentence: Sentence, count: int) -> None:
        """The sentence's verdict was told with the first `count` of them, unless a later check had more."""
        self._covered.setdefault(sentence.index, count)

    def covers_more(self, sentence: Sentence, count: int) -> bool:
        """Note a later check, of the first `count`; False where one of more has ended before it."""
        if count < self._covered.get(sentence.index, 0):
            return False
        self._covered[sentence.index] = count
        return True

    def uncovered(self) -> Iterator[tuple[Sentence, list[Marker]]]:
        """The sentences with markers that no check covered, and these."""
        for sentence in self._closed(self._markers):
            if rest := self.of(sentence)[self._covered.get(sentence.index, 0) :]:
                yield sentence, rest

    def _closed(self, markers: Sequence[Marker]) -> list[Sentence]:
        found = {s.index: s for m in markers if (s := self._session.closed_at(m.end)) is not None}
        return list(found.values())
