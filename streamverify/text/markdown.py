"""Text without its markdown, every character still knowing where in the answer it stands.

Before: `sentences/segmenter.py` cut the answer. After: `claims/reader.py` reads what is left as a claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from streamverify.text.list_marks import marks_end
from streamverify.types import Span

BORROWED = -1
"""Offset of a character that was put in from the context."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """A text and, for each of its characters, its offset in the answer (`BORROWED` for none)."""

    text: str
    offsets: tuple[int, ...]

    @classmethod
    def at(cls, text: str, start: int) -> Self:
        """A stretch of the answer that begins at `start`."""
        return cls(text, tuple(range(start, start + len(text))))

    @classmethod
    def borrowed(cls, text: str) -> Self:
        """Text that does not stand in the sentence."""
        return cls(text, (BORROWED,) * len(text))

    def __add__(self, other: Aligned) -> Aligned:
        return Aligned(self.text + other.text, self.offsets + other.offsets)

    def cut(self, start: int, end: int | None = None) -> Aligned:
        """The characters `[start, end)`."""
        return Aligned(self.text[start:end], self.offsets[start:end])

    def without(self, ranges: Iterable[tuple[int, int]]) -> Aligned:
        """The text with these ranges taken out."""
        gone = sorted((start, end) for start, end in ranges if start < end)
        if not gone:
            return self
        texts: list[str] = []
        offsets: list[int] = []
        at = 0
        for start, end in (*gone, (len(self.text), len(self.text))):
            texts.append(self.text[at : max(start, at)])
            offsets += self.offsets[at : max(start, at)]
            at = max(end, at)
        return Aligned("".join(texts), tuple(offsets))

    def squeezed(self) -> Aligned:
        """The text with each run of blanks as one space, none at the ends or before a closing mark."""
        kept: list[int] = []
        blank = False
        for place, char in enumerate(self.text):
            if char.isspace():
                blank = bool(kept)
                continue
            if blank and char not in ",.;:!?)]":
                kept.append(place - 1)
            blank = False
            kept.append(place)
        text = "".join(" " if self.text[place].isspace() else self.text[place] for place in kept)
        return Aligned(text, tuple(self.offsets[place] for place in kept))


INLINE: dict[str, re.Pattern[str]] = {
    "link": re.compile(r"!?\[([^\[\]\n]*+)\]\((?>(?:[^()\s]++|\([^()]*+\))*)(?:\s++\"[^\"]*+\")?\)"),
    "code": re.compile(r"`{1,3}([^`\n]+)`{1,3}"),
    "strong em": re.compile(r"\*{3}([^*\n]+)\*{3}"),
    "strong": re.compile(r"\*\*([^*\n]+?)\*\*"),
    "strong, underlined": re.compile(r"(?<!\w)__([^_\n]+?)__(?!\w)"),
    "em": re.compile(r"(?<![\w*])\*(?![\s*])([^*\n]+?)(?<!\s)\*(?![\w*])"),
    "em, underlined": re.compile(r"(?<![\w_])_(?![\s_])([^_\n]+?)(?<!\s)_(?![\w_])"),
    "del": re.compile(r"~~([^~\n]+?)~~"),
    "tag": re.compile(
        r"</?(?:b|i|em|strong|u|sup|sub|code|span|p|br|li|ul|ol|div|h[1-6])\s*/?>()", re.IGNORECASE
    ),
    "stray": re.compile(r"\*\*()"),
}
"""What sets type inside a line, in the order of reading; group 1 stays, all else of a match goes."""


def is_bold(text: str) -> bool:
    """Whether the whole text is set in bold, as stand-in headings are."""
    bare = text.strip()
    return (
        len(bare) > 4
        and bare.startswith(("**", "__"))
        and bare.endswith(("**", "__"))
        and bare.count("**") <= 2
    )


def plain(text: str, start: int, *, markers: Sequence[Span] = ()) -> Aligned:
    """A stretch of the answer without block marks, emphasis, links' addresses and citation markers.

    Args:
        text: the stretch.
        start: its offset in the answer.
        markers: spans of citation markers in the answer; those elsewhere are ignored.
    """
    aligned = Aligned.at(text, start)
    inside = [(span.start - start, span.end - start) for span in markers]
    aligned = aligned.without(
        (max(first, 0), last) for first, last in inside if first < len(text) and last > 0
    )
    aligned = aligned.cut(marks_end(aligned.text))
    aligned = hide_escaped(aligned)
    for pattern in INLINE.values():
        aligned = aligned.without(around(pattern, aligned.text))
    return show_hidden(aligned).squeezed()


_ESCAPED = re.compile(r"\\([\\*_`#\[\]()|~>-])")
# Escaped characters must survive the patterns above: meanwhile they are private-use characters.
_HIDDEN = {ord(char): 0xF7000 + ord(char) for char in "\\*_`#[]()|~>-"}
_SHOWN = {hidden: char for char, hidden in _HIDDEN.items()}


def hide_marks(aligned: Aligned, ranges: Iterable[tuple[int, int]]) -> Aligned:
    """The same with the marks in these ranges as characters that no pattern knows; see `show_hidden`."""
    chars = list(aligned.text)
    for start, end in ranges:
        chars[start:end] = "".join(chars[start:end]).translate(_HIDDEN)
    return Aligned("".join(chars), aligned.offsets)


def hide_escaped(aligned: Aligned) -> Aligned:
    """The same without the backslashes that escape a mark, and with those marks hidden."""
    escaped = [match.start() for match in _ESCAPED.finditer(aligned.text)]
    if not escaped:
        return aligned
    hidden = hide_marks(aligned, [(place + 1, place + 2) for place in escaped])
    return hidden.without((place, place + 1) for place in escaped)


def show_hidden(aligned: Aligned) -> Aligned:
    """The same with what was hidden as it was."""
    return Aligned(aligned.text.translate(_SHOWN), aligned.offsets)


def around(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """What of the pattern's matches goes."""
    ranges: list[tuple[int, int]] = []
    for match in pattern.finditer(text):
        kept = match.span(1)
        if kept[0] >= match.end():
            kept = (match.end(), match.end())
        ranges += [(match.start(), kept[0]), (kept[1], match.end())]
    return ranges


_RULE = re.compile(r"^[\s|:+-]*-{2,}[\s|:+-]*$")


def cells(text: str, start: int, *, markers: Sequence[Span] = ()) -> list[list[Aligned]]:
    """The rows of a table as cells, rules (`|---|`) left out; empty cells are kept in their place."""
    rows: list[list[Aligned]] = []
    offset = start
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if bare and not _RULE.match(bare):
            rows.append(_row(line, offset, markers))
        offset += len(line)
    return rows


def _row(line: str, offset: int, markers: Sequence[Span]) -> list[Aligned]:
    row: list[Aligned] = []
    position = 0
    for part in re.split(r"(?<!\\)\|", line):
        row.append(plain(part, offset + position, markers=markers))
        position += len(part) + 1
    if row and not row[0].text:
        row = row[1:]
    if row and not row[-1].text:
        row = row[:-1]
    return row
