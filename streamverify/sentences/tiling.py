"""Holds any segmenter to its laws: its sentences, one behind the other, are the answer.

A segmenter may be anybody's code. Text that it leaves out would be shown and never judged, so that is an
error of the segmenter; and once it has failed, what stands in no sentence yet becomes one, which the report
then calls unverified.

Before: `streaming/session.py` feeds the pieces. After: it tells the sentences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamverify.errors import UsageError
from streamverify.types import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streamverify.sentences.segmenter import Segmenter


class TilingSegmenter:
    """A segmenter whose sentences are checked; one that failed is not asked again."""

    def __init__(self, inner: Segmenter) -> None:
        self._inner = inner
        self._open: list[str] = []
        """Pieces of what stands in no sentence yet."""
        self._index = self._end = 0
        """Number and start of the next sentence."""
        self._failed = self._flushed = False

    def feed(self, text: str, /) -> list[Sentence]:
        """The sentences that `text` completes.

        Raises:
            UsageError: they do not go on where the one before ended, with the answer's own text. Whoever
                wrote the segmenter.
        """
        self._open.append(text)
        return [] if self._failed else self._cut(lambda: self._inner.feed(text), last=False)

    def flush(self) -> list[Sentence]:
        """The last sentences; where the segmenter failed, what it left as one. Asked again, none.

        Raises:
            UsageError: as of `feed`, or they end before the answer does.
        """
        if not self._failed and not self._flushed:
            cut = self._cut(self._inner.flush, last=True)
            self._flushed = True
            return cut
        rest = "".join(self._open)
        if not rest:
            return []
        self._open = []
        return [Sentence(index=self._index, text=rest, start=self._end, end=self._end + len(rest))]

    def _cut(self, closing: Callable[[], Sequence[Sentence]], *, last: bool) -> list[Sentence]:
        try:
            cut = list(closing())
            if cut or last:
                self._advance(cut, last=last)
        except BaseException:
            self._failed = True
            raise
        return cut

    def _advance(self, cut: Sequence[Sentence], *, last: bool) -> None:
        """Go on behind these sentences; where one of them is wrong, behind none."""
        text, at = "".join(self._open), 0
        for index, sentence in enumerate(cut, self._index):
            start, size = self._end + at, len(sentence.text)
            if (sentence.index, sentence.start, sentence.end) != (index, start, start + size) or not size:
                told = f"{sentence.start} to {sentence.end} as number {sentence.index}"
                raise UsageError(f"the segmenter gave {told}; sentence {index} begins at {start}")
            if not text.startswith(sentence.text, at):
                raise UsageError(f"the segmenter gave text at {start} that the answer does not have there")
            at += size
        rest = text[at:]
        if last and rest:
            raise UsageError(f"the segmenter left the last {len(rest)} characters of the answer out")
        self._open = [rest] if rest else []
        self._index, self._end = self._index + len(cut), self._end + at
