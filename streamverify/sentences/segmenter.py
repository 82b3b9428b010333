"""Cuts an answer into sentences while it streams.

    piece ─▶ feed ─▶ [line break] what does the next line open?   blocks.py
                     [stop]       does it end its sentence?       stops.py
                     [bracket]    where does it close?            brackets.py
                     [tag]        does it end a block of HTML?    trailing.py
                     ─▶ closed sentences;  flush ─▶ the tail

Three laws hold for every text and every way of cutting it into pieces. Joining the sentences gives the
text back. Every character stands in exactly one sentence: blanks belong to the sentence before them, at
the start of the answer to the first. The sentences depend on the text alone; every decision is taken
through a `Lookahead`, which refuses to be asked about text that has not come yet.

A sentence closes as soon as the text proves it: with the first letter of the next sentence (with its
first word where an abbreviation may stand before the stop), or with the first character of the next
block. What waits for a bracket or a quote to close waits at most 240 characters.

Before: stream.py feeds the pieces. After: verifier.py judges the closed sentences.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple, Protocol

from streamverify.errors import PieceError, StreamStateError, UsageError
from streamverify.sentences.abbreviations import Abbreviations
from streamverify.sentences.blocks import BLANKS, LABEL, Block, Line, first_line, next_line
from streamverify.sentences.brackets import OPENERS, closing
from streamverify.sentences.lookahead import Lookahead, Undecided
from streamverify.sentences.stops import Stops
from streamverify.sentences.trailing import (
    BLOCK_END,
    CLOSING,
    HARD_STOPS,
    QUOTES,
    SOFT_STOPS,
    STOPS,
    SUPERSCRIPTS,
    read_stop,
    trailing_marks,
)
from streamverify.types import Sentence, SentenceKind

if TYPE_CHECKING:
    from collections.abc import Iterable

_LOOK_AHEAD = 1000
"""Characters behind the longest allowed sentence that may decide where it ends."""
_SHORTEST_LIMIT = 16

_EVENT = re.compile(rf"[\r\n<{HARD_STOPS}{re.escape(OPENERS)}]|[{SOFT_STOPS}](?![^\W_{SUPERSCRIPTS}])")
_LINE_BREAK = re.compile(r"[\r\n]")
_INLINE_BLANKS = re.compile(r"[ \t]*")
_FENCES = {"`": re.compile(r"`*"), "~": re.compile(r"~*")}
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONGEST_TITLE = 100
_LONGEST_GRAPHEME = 32


class Segmenter(Protocol):
    """Cuts one answer into sentences; feed it the pieces in order, then flush it once.

    An implementation keeps the laws of this module: lossless, every character in one sentence, and
    blind to how the text was cut into pieces. A stream is failed by one that breaks the first two.
    """

    def feed(self, text: str, /) -> list[Sentence]:
        """The sentences that `text` proves to be complete, in order."""
        ...

    def flush(self) -> list[Sentence]:
        """The sentences that only the end of the answer completes; nothing may be fed afterwards."""
        ...


class _Step(NamedTuple):
    """How far the text was read, the block it stands in now, and where the open sentence ends, if it does."""

    at: int
    block: Block
    cut: int | None = None


class SentenceSegmenter:
    """Sentences of one streamed answer, markdown blocks respected.

    Args:
        language: ISO 639 code of the answer's language, for its abbreviations.
        max_chars: No sentence is longer than this many characters; a longer one is cut at the last blank
            in the second half of what is allowed (in code and tables: at the last line break), or in the
            middle of a word where there is no blank. At least 16.

    Raises:
        UsageError: `max_chars` is too small. Caller.
    """

    def __init__(self, language: str = "en", *, max_chars: int = 2000) -> None:
        if max_chars < _SHORTEST_LIMIT:
            raise UsageError(f"max_chars must be at least {_SHORTEST_LIMIT}, not {max_chars}")
        self._stops = Stops(Abbreviations(language))
        self._max_chars = max_chars
        self._text = ""  # from the start of the open sentence on
        self._offset = 0  # where that start lies in the answer
        self._at = 0  # everything before it is decided
        self._block = Block(unread=True)
        self._decided: dict[object, int] = {}  # see Lookahead
        self._idle = False  # all of the text was read as prose, and nothing waits for more
        self._line_start = True  # the open sentence begins at the start of a line
        self._closed = 0
        self._finished = False

    def feed(self, text: str, /) -> list[Sentence]:
        """The sentences that `text` proves to be complete, in order; often none.

        Raises:
            PieceError: `text` is not a string, or holds half a surrogate pair. Whoever wrote the source.
            StreamStateError: the answer was flushed already. Caller.
        """
        if self._finished:
            raise StreamStateError("this segmenter was flushed; every answer needs its own")
        if not isinstance(text, str):
            raise PieceError(f"a piece of an answer must be a string, not {type(text).__name__}")
        if not text.isascii() and (half := _SURROGATE.search(text)):
            raise PieceError(
                f"a piece holds half a surrogate pair ({half[0]!r}); decode the source as a whole"
            )
        self._text += text
        if self._idle and len(self._text) <= self._max_chars and not _EVENT.search(text):
            self._at = len(self._text)  # the common case: nothing waits and nothing can happen in this piece
            return []
        return self._advance()

    def flush(self) -> list[Sentence]:
        """The sentences that only the end of the answer completes: none for an empty answer.

        Raises:
            StreamStateError: the answer was flushed already. Caller.
        """
        if self._finished:
            raise StreamStateError("this segmenter was flushed; every answer needs its own")
        self._finished = True
        closed = self._advance()
        if self._text:
            closed.append(self._close(0, len(self._text), self._block))
            self._text = ""
        return closed

    def _advance(self) -> list[Sentence]:
        """Every sentence that the text received so far completes."""
        closed: list[Sentence] = []
        text, start = self._text, 0
        self._idle = False
        try:
            while start < len(text):
                limit = start + self._max_chars
                horizon = limit + _LOOK_AHEAD
                ended = self._finished or len(text) >= horizon
                view = Lookahead(text, min(len(text), horizon), ended, self._decided)
                block, cut = self._next_cut(view, start, limit)
                if cut is None:
                    break
                closed.append(self._close(start, cut, block))
                start = cut
        except Undecided:
            pass
        if start:
            self._decided.clear()  # offsets into a text that is cut now
            self._text = text[start:]
            self._at -= start
            self._offset += start
        return closed

    def _close(self, start: int, end: int, block: Block) -> Sentence:
        first, last = self._offset + start, self._offset + end
        kind = SentenceKind.PROSE if block.unread else block.kind
        sentence = Sentence(index=self._closed, text=self._text[start:end], start=first, end=last, kind=kind)
        self._closed += 1
        return sentence

    def _next_cut(self, view: Lookahead, start: int, limit: int) -> tuple[Block, int | None]:
        """The block of the open sentence and where it ends; no end where it is the answer's last.

        Raises:
            Undecided: the text so far does not tell.
        """
        while True:
            if self._block.unread:
                line = first_line(view, self._at, self._block)
                self._at, self._block = line.content, line.block
            block = self._block
            step = (self._read_code if block.fence else self._read_text)(view, start, limit, block)
            if step is None and view.end <= limit:
                return block, None
            if step and step.cut is None:
                self._at, self._block = step.at, step.block
                continue
            cut = step.cut if step else None
            if step is None or cut is None or cut > limit:
                step, cut = _overlong(view.text, start, limit, cut, block)
            self._at, self._block = step.at, step.block
            self._line_start = view.text[cut - 1] in "\r\n"
            return block, cut

    def _read_code(self, view: Lookahead, start: int, limit: int, block: Block) -> _Step | None:
        """Reads up to the line that closes the code; None where there is none within the limit."""
        text, fence = view.text, block.fence
        reach = min(view.end, limit + len(fence) - 1)
        while (found := text.find(fence, self._at, reach)) >= 0:
            self._at = found
            ticks = view.skip(_FENCES[fence[0]], found)
            behind = view.skip(_INLINE_BLANKS, ticks)
            if view.char(behind) in ("", "\r", "\n") and self._begins_line(text, start, found):
                return _Step(behind, block._replace(fence="", one_line=True))
            self._at = ticks
        self._at = max(self._at, min(view.end, limit) - len(fence) + 1)
        if view.end <= limit and not view.closed:
            raise Undecided
        return None

    def _begins_line(self, text: str, start: int, at: int) -> bool:
        while at > start and text[at - 1] in " \t":
            at -= 1
        return text[at - 1] in "\r\n" if at > start else self._line_start

    def _read_text(self, view: Lookahead, start: int, limit: int, block: Block) -> _Step | None:
        """Reads to the next place where something may end or open; None: there is none within the limit."""
        end = min(view.end, limit)
        found = (_LINE_BREAK if block.one_line else _EVENT).search(view.text, self._at, end)
        if not found:
            self._at = max(self._at, end)
            if view.end <= limit and not view.closed:
                self._idle = True
                raise Undecided
            return None
        self._at = at = found.start()
        char = view.text[at]
        if char in "\r\n":
            return self._read_break(view, start, at, block)
        if char in STOPS:
            return self._read_stop(view, start, at, block)
        if char == "<":
            return self._read_tag(view, at, block)
        return self._read_opener(view, start, at, block)

    def _read_break(self, view: Lookahead, start: int, at: int, block: Block) -> _Step:
        """A line break without a stop before it."""
        text = view.text
        invited = text[max(start, at - 16) : at].rstrip(" \t*_").endswith((":", "："))
        line = next_line(
            view,
            at,
            block,
            invited=invited,
            underlines=self._may_be_title(text, start, at, block),
            spoken=at > start and text[at - 1] in QUOTES,
        )
        if line is None:
            return _Step(view.end, block, view.end)
        if line.opens or (invited and not view.char(line.content).islower()):
            return _Step(line.content, line.block, line.start)
        if self._labelled(view, start, at) and view.match(LABEL, line.content):
            return _Step(line.content, line.block, line.start)
        return _Step(line.content, line.block)

    def _labelled(self, view: Lookahead, start: int, at: int) -> bool:
        """Whether the open sentence is a line `Label: value`, which one of its like does not carry on."""
        first = BLANKS.match(view.text, start, at)
        label = LABEL.whole.match(view.text, first.end() if first else start, at)
        return self._line_start and label is not None

    def _may_be_title(self, text: str, start: int, end: int, block: Block) -> bool:
        if block.kind is not SentenceKind.PROSE or not self._line_start or end - start > _LONGEST_TITLE:
            return False
        line = text[start:end].strip()
        return bool(line) and not _LINE_BREAK.search(line)

    def _read_stop(self, view: Lookahead, start: int, at: int, block: Block, inside: int = 0) -> _Step:
        """A stop; `inside` is the offset behind the bracket or quote that closes around it, or 0."""
        stop = read_stop(view, start, at, inside)
        on = _Step(max(stop.end, inside), block)
        char = view.char(stop.tail)
        blank = not char or char.isspace()
        if not (blank or stop.hard or (stop.marked and char.isupper())):
            return on
        spoken = not QUOTES.isdisjoint(view.text[stop.end : stop.tail])
        line, marked = _behind(view, stop.tail, block, spoken=spoken), stop.marked
        if line and not line.opens and (marks := trailing_marks(view, line.content)):
            line, marked = _behind(view, marks, block, spoken=spoken), True
        if line is None:
            return _Step(view.end, block, view.end)
        if line.opens or self._stops.ends_sentence(view, start, stop, line.content, marked=marked):
            return _Step(line.content, line.block, line.start)
        return on

    def _read_tag(self, view: Lookahead, at: int, block: Block) -> _Step:
        """A tag of HTML; one that ends a block ends the sentence, which then is markup and all behind it."""
        key = ("tags", at)
        end = view.decided.get(key, at)
        while True:
            behind = view.skip(BLANKS, end) if end > at else at
            if _LINE_BREAK.search(view.text, end, behind) or not (tag := view.match(BLOCK_END, behind)):
                break
            end = tag.end()
            if not view.closed:
                view.decided[key] = end
        if end == at:
            return _Step(at + 1, block)
        line = _behind(view, end, block)
        return _Step(line.content, line.block, line.start) if line else _Step(view.end, block, view.end)

    def _read_opener(self, view: Lookahead, start: int, at: int, block: Block) -> _Step:
        """A bracket, a quote or inline code: when it closes soon, the text in it stays together."""
        text = view.text
        inside, close = closing(view, start, at)
        if close is None or text[at] == "`":
            return _Step(close or inside, block)
        inner = close - 1
        while inner > inside and text[inner - 1] in CLOSING:
            inner -= 1
        last = inner
        while inner > inside and text[inner - 1] in STOPS:
            inner -= 1
        if inner == last:
            return _Step(close, block)
        return self._read_stop(view, start, inner, block, inside=close)


def segment(text: str | Iterable[str], *, language: str = "en", max_chars: int = 2000) -> list[Sentence]:
    """The sentences of a whole answer, given as one text or as its pieces.

    Raises:
        PieceError: a piece is not a string, or holds half a surrogate pair.
    """
    segmenter = SentenceSegmenter(language, max_chars=max_chars)
    pieces = [text] if isinstance(text, str) else text
    return [sentence for piece in pieces for sentence in segmenter.feed(piece)] + segmenter.flush()


def _behind(view: Lookahead, at: int, block: Block, *, spoken: bool = False) -> Line | None:
    """What follows the blanks at `at`, on the same line or on a later one; None where nothing does."""
    follows = view.skip(BLANKS, at)
    if _LINE_BREAK.search(view.text, at, follows):
        return next_line(view, at, block, spoken=spoken)
    return Line(follows, follows, block, opens=False) if view.char(follows) else None


def _overlong(text: str, start: int, limit: int, end: int | None, block: Block) -> tuple[_Step, int]:
    """Where a sentence is cut that would end behind its limit, or that nothing ends before it.

    Args:
        text: The answer so far; it goes on behind `limit`.
        start: Offset of the sentence.
        limit: The last offset at which it may end.
        end: Where it would end, if that is known.
        block: Its block.
    """
    if end is not None and text[limit:end].isspace():
        # Only blanks are too many; the rest of them begins the next sentence.
        cut = limit - _joined(text[limit - 1], text[limit])
        return _Step(cut, block._replace(unread=bool(_LINE_BREAK.search(text, limit, end))), cut), cut
    cut = _last_break(text, start + (limit - start) // 2, limit, block)
    return _Step(cut, block, cut), cut


def _last_break(text: str, floor: int, limit: int, block: Block) -> int:
    """The best place above `floor`, and at most at `limit`, to cut a text that has no end in sight."""
    cuts = range(limit, floor, -1)
    if block.kind in (SentenceKind.CODE, SentenceKind.TABLE):
        for cut in cuts:
            if text[cut - 1] in "\r\n" and not _joined(text[cut - 1], text[cut]):
                return cut
    for cut in cuts:
        if text[cut - 1].isspace() and not _joined(text[cut - 1], text[cut]):
            return cut
    return next((cut for cut in cuts[:_LONGEST_GRAPHEME] if not _joined(text[cut - 1], text[cut])), limit)


def _joined(before: str, after: str) -> bool:
    """Whether a reader sees both characters as one."""
    if before == "\r":
        return after == "\n"
    if before == "\u200d" or after in "\u200d\u20e3" or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    if "\U0001f1e6" <= before <= "\U0001f1ff":
        return "\U0001f1e6" <= after <= "\U0001f1ff"
    return unicodedata.category(after).startswith("M")
