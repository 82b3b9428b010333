"""Where markers are never looked for: code, formulas and bare addresses; and footnote definitions.

Before: a closed sentence (or a whole answer) as text. After: `markers.py` scans what is left.

Every search that fails is remembered, so hostile text costs one pass.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from streamverify.types import Span

_OPENER = re.compile(
    r"""
      ^[ \t>]*(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})     # a fence opens a line; its info has no backtick
    | (?P<ticks>`+)
    | <(?P<tag>code|pre|kbd)\b
    | (?P<display>\$\$|\\\(|\\\[)
    | (?P<dollar>\$(?![\s\d$])[^$\n]{1,200}(?<!\s)\$(?!\d))
    | (?P<url>\bhttps?://[^\s<>\[\]【】"`]++)
    """,
    re.MULTILINE | re.IGNORECASE | re.VERBOSE,
)
_TICKS = re.compile(r"`+")
_ESCAPED_NUMBER = re.compile(r"\\\[\s*\^?\d[\d\s,;–-]*\\\]")
_DISPLAY_CLOSERS = {"$$": "$$", "\\(": "\\)", "\\[": "\\]"}
_DEFINITION = re.compile(
    r"^[ \t]*\[(?P<label>\^[^\[\]\s]{1,60}|\d{1,3})\]:[ \t]+(?P<target>[^\n]+)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Definition:
    """What a footnote says it stands for: `[^2]: Annual Report, p. 4`."""

    label: str
    """The label without brackets and caret."""
    target: str
    """The text behind the colon, up to the end of the line."""
    start: int
    """Offset of the line's bracket in the text."""
    end: int


def find_definitions(text: str) -> tuple[Definition, ...]:
    """The footnote definitions of a text, in order, those in code left out."""
    hidden = masked(text, addresses=False)
    found = []
    for match in _DEFINITION.finditer(text):
        start = match.start("label") - 1
        if not covers(hidden, start):
            label = match["label"].removeprefix("^")
            found.append(Definition(label, match["target"].strip(), start, match.end()))
    return tuple(found)


def covers(spans: tuple[Span, ...], position: int) -> bool:
    """Whether a position lies in one of these spans, which are in order and do not overlap."""
    index = bisect_right(spans, position, key=lambda span: span.start) - 1
    return index >= 0 and position < spans[index].end


def masked(text: str, *, addresses: bool = True) -> tuple[Span, ...]:
    r"""Fences, code spans, `<code>`, `<pre>`, `<kbd>`, TeX formulas and bare addresses, in text order.

    A fence without an end runs to the end of the text; any other opener without its closer masks
    nothing. A dollar before a digit is money, never a formula. `\[1\]` is an escaped marker.

    Args:
        text: a sentence or a whole answer.
        addresses: whether bare `http(s)` addresses are masked too.
    """
    return _Masker(text, addresses=addresses).run()


class _Masker:
    """One pass over one text."""

    def __init__(self, text: str, *, addresses: bool) -> None:
        self._text = text
        self._addresses = addresses
        self._absent: set[str] = set()  # closers that do not occur any more
        self._runs: dict[int, list[int]] = {}  # backtick runs by length, as start offsets
        for run in _TICKS.finditer(text):
            self._runs.setdefault(len(run[0]), []).append(run.start())

    def run(self) -> tuple[Span, ...]:
        spans, position = [], 0
        while match := _OPENER.search(self._text, position):
            end = self._closed(match)
            if end is None:
                position = match.end()
            else:
                spans.append(Span(match.start(), end))
                position = end
        return tuple(spans)

    def _closed(self, match: re.Match[str]) -> int | None:
        """Where the mask that opens here ends, or None when nothing opens."""
        text = self._text
        if fence := match["fence"]:
            closer = re.compile(rf"^[ \t>]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$", re.MULTILINE)
            found = closer.search(text, match.end())
            return found.end() if found else len(text)
        if ticks := match["ticks"]:
            return self._closing_run(match.end(), len(ticks))
        if opener := match["tag"] or match["display"]:
            escaped = _ESCAPED_NUMBER.match(text, match.start())
            ending = _DISPLAY_CLOSERS.get(opener, f"</{opener.lower()}>")
            return None if escaped else self._after(ending, match.end())
        return None if match["url"] and not self._addresses else match.end()

    def _closing_run(self, position: int, length: int) -> int | None:
        runs = self._runs[length]
        index = bisect_right(runs, position - 1)
        if index == len(runs) or "\n\n" in self._text[position : runs[index]]:
            return None  # a code span does not cross a blank line
        return runs[index] + length

    def _after(self, closer: str, position: int) -> int | None:
        if closer in self._absent:
            return None
        found = self._text.find(closer, position)
        if found < 0:
            self._absent.add(closer)
            return None
        return found + len(closer)
