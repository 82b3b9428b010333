"""Cuts an answer into sentences while it streams.

    piece ─▶ feed ─▶ [line break] what does the next line open?   blocks.py
                     [stop]       does it end its sentence?       stops.py
                     [bracket]    where does it close?
                     ─▶ closed sentences;  flush ─▶ the tail

Three laws hold for every text and every way of cutting it into pieces. Joining the sentences gives the
text back. Every character stands in exactly one sentence: blanks belong to the sentence before them, at
the start of the answer to the first. The sentences depend on the text alone; every decision is taken
through a `View`, which refuses to be asked about text that has not come yet.

A sentence closes as soon as the text proves it: with the first letter of the next sentence (with its
first word where an abbreviation may stand before the stop), or with the first character of the next
block. What waits for a bracket or a quote to close waits at most `_REACH` characters.

Before: stream.py feeds the pieces. After: verifier.py judges the closed sentences.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple, Protocol

from streamverify.abbreviations import Abbreviations
from streamverify.blocks import BLANKS, Block, first_line, next_line
from streamverify.errors import PieceError, StreamStateError, UsageError
from streamverify.lookahead import Undecided, View
from streamverify.stops import Stops
from streamverify.trailing import (
    CLOSING,
    HARD_STOPS,
    SOFT_STOPS,
    STOPS,
    SUPERSCRIPTS,
    read_stop,
    trailing_marks,
)
from streamverify.types import Sentence, SentenceKind

if TYPE_CHECKING:
    from collections.abc import Iterable

_REACH = 240
"""Characters within which a bracket or quote must close on its line to hold the sentences in it together."""
_LOOK_AHEAD = 1000
"""Characters behind the longest allowed sentence that may decide where it ends."""
_SHORTEST_LIMIT = 16

_CLOSERS = {
    "(": ")", "[": "]", "（": "）", "【": "】", "“": "”", "„": "“”", "«": "»", "「": "」", "『": "』",
    "《": "》", "〈": "〉", '"': '"', "`": "`",
}  # fmt: skip
_EVENT = re.compile(
    rf"[\r\n{HARD_STOPS}{re.escape(''.join(_CLOSERS))}]|[{SOFT_STOPS}](?![^\W_{SUPERSCRIPTS}])"
)
_LINE_BREAK = re.compile(r"[\r\n]")
_INLINE_BLANKS = re.compile(r"[ \t]*")
_FENCES = {"`": re.compile(r"`*"), "~": re.compile(r"~*")}
_TICKS = re.compile(r"`+")
_TICKS_OR_BREAK = re.compile(r"`+|[\r\n]")
_CLOSING_OR_BREAK = {
    opener: re.compile(rf"[{re.escape(opener + closer)}\r\n]") for opener, closer in _CLOSERS.items()
}
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONGEST_TITLE = 100
_LONGEST_GRAPHEME = 32


class Segmenter(Protocol):
    """Cuts one answer into sentences; feed it the pieces in order, then flush it once.

    An implementation keeps the laws of this module: lossless, every character in one sentence, and
    blind to how the text was cut into pieces.
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
                view = View(text, min(len(text), horizon), self._finished or len(text) >= horizon)
                block, cut = self._next_cut(view, start, limit)
                if cut is None:
                    break
                closed.append(self._close(start, cut, block))
                start = cut
        except Undecided:
            pass
        if start:
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

    def _next_cut(self, view: View, start: int, limit: int) -> tuple[Block, int | None]:
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
            if step is None:
                step = _forced(view.text, start, limit, block)
            elif step.cut is None:
                self._at, self._block = step.at, step.block
                continue
            elif step.cut > limit and view.text[limit : step.cut].isspace():
                broken = _LINE_BREAK.search(view.text, limit, step.cut) is not None
                cut = limit - _joined(view.text[limit - 1], view.text[limit])
                self._at, self._block, self._line_start = cut, block._replace(unread=broken), False
                return block, cut
            elif step.cut > limit:
                step = _forced(view.text, start, limit, block)
            cut = limit if step.cut is None else step.cut
            self._at, self._block = step.at, step.block
            self._line_start = view.text[cut - 1] in "\r\n"
            return block, cut

    def _read_code(self, view: View, start: int, limit: int, block: Block) -> _Step | None:
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

    def _read_text(self, view: View, start: int, limit: int, block: Block) -> _Step | None:
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
        return self._read_opener(view, start, at, block)

    def _read_break(self, view: View, start: int, at: int, block: Block) -> _Step:
        """A line break without a stop before it."""
        text = view.text
        invited = text[max(start, at - 16) : at].rstrip(" \t*_").endswith((":", "："))
        line = next_line(
            view, at, block, invited=invited, underlines=self._may_be_title(text, start, at, block)
        )
        if line is None:
            return _Step(view.end, block, view.end)
        if line.opens or (invited and not view.char(line.content).islower()):
            return _Step(line.content, line.block, line.start)
        return _Step(line.content, line.block)

    def _may_be_title(self, text: str, start: int, end: int, block: Block) -> bool:
        line = text[start:end].strip() if end - start <= _LONGEST_TITLE else ""
        return (
            block.kind is SentenceKind.PROSE
            and self._line_start
            and bool(line)
            and not _LINE_BREAK.search(line)
        )

    def _read_stop(self, view: View, start: int, at: int, block: Block, inside: int = 0) -> _Step:
        """A stop; `inside` is the offset behind the bracket or quote that closes around it, or 0."""
        stop = read_stop(view, start, at, inside)
        on = _Step(max(stop.end, inside), block)
        tail, marked = stop.tail, stop.marked
        follows = view.skip(BLANKS, tail)
        if (
            follows == tail
            and not stop.hard
            and not (marked and view.char(tail).isupper())
            and view.char(tail)
        ):
            return on
        if not _LINE_BREAK.search(view.text, tail, follows) and (marks := trailing_marks(view, follows)):
            tail, marked = marks, True
            follows = view.skip(BLANKS, tail)
        cut, opened = follows, block
        if _LINE_BREAK.search(view.text, tail, follows):
            line = next_line(view, tail, block)
            if line is None:
                return _Step(view.end, block, view.end)
            cut, follows, opened = line.start, line.content, line.block
            if line.opens:
                return _Step(follows, opened, cut)
        if not view.char(follows):
            return _Step(view.end, block, view.end)
        ends = self._stops.ends_sentence(view, start, stop, follows, marked=marked)
        return _Step(follows, opened, cut) if ends else on

    def _read_opener(self, view: View, start: int, at: int, block: Block) -> _Step:
        """A bracket or quote: when it closes soon, the text in it stays together."""
        text = view.text
        if text[at] == "`":
            opened, close = _closing_ticks(view, at)
            return _Step(close or opened, block)
        close = _closing(view, start, at)
        if close is None:
            return _Step(at + 1, block)
        inner = close - 1
        while inner > at + 1 and text[inner - 1] in CLOSING:
            inner -= 1
        last = inner
        while inner > at + 1 and text[inner - 1] in STOPS:
            inner -= 1
        return (
            _Step(close, block) if inner == last else self._read_stop(view, start, inner, block, inside=close)
        )


def segment(text: str | Iterable[str], *, language: str = "en", max_chars: int = 2000) -> list[Sentence]:
    """The sentences of a whole answer, given as one text or as its pieces.

    Raises:
        PieceError: a piece is not a string, or holds half a surrogate pair.
    """
    segmenter = SentenceSegmenter(language, max_chars=max_chars)
    pieces = [text] if isinstance(text, str) else text
    return [sentence for piece in pieces for sentence in segmenter.feed(piece)] + segmenter.flush()


def _closing(view: View, start: int, at: int) -> int | None:
    """The offset behind the bracket or quote that closes the one at `at`; None where none does in reach."""
    text, opener = view.text, view.text[at]
    closer = _CLOSERS[opener]
    if opener == '"':
        before = text[at - 1] if at > start else " "
        opens = before.isspace() or before in "([{—–-*_“" or before >= "\u2e80"
        if not opens or not view.char(at + 1).strip():
            return None
    depth, reach = 1, at + 1 + _REACH
    if all(text.find(char, at + 1, min(reach, view.end)) < 0 for char in closer):
        if view.end < reach and not view.closed:
            raise Undecided
        return None
    for found in _CLOSING_OR_BREAK[opener].finditer(text, at + 1, min(reach, view.end)):
        if found[0] in closer:
            depth -= 1
        elif found[0] == opener:
            depth += 1
        else:
            return None
        if not depth:
            return found.end()
    if view.end < reach and not view.closed:
        raise Undecided
    return None


def _closing_ticks(view: View, at: int) -> tuple[int, int | None]:
    """The offset behind the backticks at `at`, and behind the run that ends the code if one is in reach."""
    opened = view.skip(_TICKS, at)
    reach = opened + _REACH
    for found in _TICKS_OR_BREAK.finditer(view.text, opened, min(reach, view.end)):
        if found.end() == view.end and not view.closed:
            raise Undecided
        if found[0] in "\r\n":
            return opened, None
        if found.end() - found.start() == opened - at:
            return opened, found.end()
    if view.end < reach and not view.closed:
        raise Undecided
    return opened, None


def _forced(text: str, start: int, limit: int, block: Block) -> _Step:
    """Where a sentence that reached its longest length is cut; the text goes on behind `limit`."""
    half = range(limit, start + (limit - start) // 2, -1)
    kept = "\r\n" if block.kind in (SentenceKind.CODE, SentenceKind.TABLE) else ""
    for cut in half if kept else ():
        if text[cut - 1] in kept and not _joined(text[cut - 1], text[cut]):
            return _Step(cut, block, cut)
    for cut in half:
        if text[cut - 1].isspace() and not _joined(text[cut - 1], text[cut]):
            return _Step(cut, block, cut)
    for cut in half[:_LONGEST_GRAPHEME]:
        if not _joined(text[cut - 1], text[cut]):
            return _Step(cut, block, cut)
    return _Step(limit, block, limit)


def _joined(before: str, after: str) -> bool:
    """Whether a reader sees both characters as one."""
    if before == "\r":
        return after == "\n"
    if before == "\u200d" or after in "\u200d\u20e3" or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    if "\U0001f1e6" <= before <= "\U0001f1ff":
        return "\U0001f1e6" <= after <= "\U0001f1ff"
    return unicodedata.category(after).startswith("M")
