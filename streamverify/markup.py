"""Text without its markdown, every character still knowing where in the answer it stands.

Before: `segment.py` cut the answer. After: `claims.py` reads what is left as a claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

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
        gone = set[int]()
        for start, end in ranges:
            gone.update(range(start, end))
        kept = [place for place in range(len(self.text)) if place not in gone]
        return Aligned(
            "".join(self.text[place] for place in kept), tuple(self.offsets[place] for place in kept)
        )

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


_BLOCK = re.compile(
    r"\s*(?:>\s?)*(?:#{1,6}\s+|[-*+•–]\s+(?:\[[ xX]\]\s+)?|\(?\d{1,3}[.)]\s+(?=\S)"
    r"|\(?[a-zA-Z][.)]\s+(?=[A-Z]))?"
)
_ITEM = re.compile(r"\s*(?:>\s?)*(?:[-*+•–]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+\S")
# In order; group 1 is what stays, all else of a match goes.
_INLINE = (
    re.compile(r"!?\[([^\]\n]*)\]\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]*\")?\)"),
    re.compile(r"`{1,3}([^`\n]+)`{1,3}"),
    re.compile(r"\*{3}([^*\n]+)\*{3}"),
    re.compile(r"\*\*([^*\n]+?)\*\*"),
    re.compile(r"(?<!\w)__([^_\n]+?)__(?!\w)"),
    re.compile(r"(?<![\w*])\*(?![\s*])([^*\n]+?)(?<!\s)\*(?![\w*])"),
    re.compile(r"(?<![\w_])_(?![\s_])([^_\n]+?)(?<!\s)_(?![\w_])"),
    re.compile(r"~~([^~\n]+?)~~"),
    re.compile(r"</?(?:b|i|em|strong|u|sup|sub|code|span|p|br)\s*/?>()", re.IGNORECASE),
    re.compile(r"\*\*()"),
)


def is_item(text: str) -> bool:
    """Whether a sentence's text begins with a bullet or a number of a list."""
    return _ITEM.match(text) is not None


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
    block = _BLOCK.match(aligned.text)
    if block:
        aligned = aligned.cut(block.end())
    aligned = _hide_escaped(aligned)
    for pattern in _INLINE:
        aligned = aligned.without(_around(pattern, aligned.text))
    return Aligned(aligned.text.translate(_SHOWN), aligned.offsets).squeezed()


_ESCAPED = re.compile(r"\\([\\*_`#\[\]()|~>-])")
# Escaped characters must survive the patterns above: meanwhile they are private-use characters.
_HIDDEN = {ord(char): 0xF7000 + ord(char) for char in "\\*_`#[]()|~>-"}
_SHOWN = {hidden: char for char, hidden in _HIDDEN.items()}


def _hide_escaped(aligned: Aligned) -> Aligned:
    escaped = [match.start() for match in _ESCAPED.finditer(aligned.text)]
    chars = list(aligned.text)
    for place in escaped:
        chars[place + 1] = chars[place + 1].translate(_HIDDEN)
    return Aligned("".join(chars), aligned.offsets).without((place, place + 1) for place in escaped)


def _around(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
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
