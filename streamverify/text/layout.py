"""What of a sentence is layout: blanks, list marks and tags of blocks, which say nothing."""

from __future__ import annotations

import re

from streamverify.text.list_marks import EMOJI, TICKS, marks_end
from streamverify.types import Sentence, SentenceKind, Span

_MARKED = frozenset({SentenceKind.LIST_ITEM, SentenceKind.HEADING, SentenceKind.QUOTE})
"""Blocks in which a number may be a mark; in prose it is a figure, and says something."""
_SAYS = re.compile(rf"(?![{TICKS}])[{EMOJI}]")
"""An emoji that is no item's mark."""

_FIGURE = re.compile(r"(?<!\d)\d{1,2}\.\d")
"""The number of a section, which a figure at a line's beginning looks like: "3.5 Stars were given"."""

_BLOCK = "(?:p|li|ul|ol|dl|d[dt]|div|tr|td|table|blockquote|h[1-6])"
_OPENING_TAGS = re.compile(rf"(?>(?:<{_BLOCK}>\s*+)+)", re.IGNORECASE)
_CLOSING_TAG = re.compile(rf"</{_BLOCK} ?>|<br ?/?>", re.IGNORECASE)
_LONGEST_TAG = 14
"""Characters of `</blockquote >`."""


def body(sentence: Sentence, *, sections: bool = True) -> Span:
    """The sentence without its layout: leading blanks and list marks, closing blanks, bare tags of HTML.

    The layout says nothing, and keeping it keeps lists and paragraphs in shape around a placeholder. A
    number is a mark only where a list may stand, in front of something, and below 1000: `1999.` is a year.
    An emoji is one only where it is used as one: a face in front of a rejected sentence goes with it.

    Args:
        sentence: any sentence of an answer.
        sections: whether the number of a section ("2.3 ") is layout too. What a figure says must not be
            shown of a sentence that was rejected, and at a line's beginning nothing tells the two apart.
    """
    text = sentence.text
    end = len(text.rstrip())
    lead = 0
    if sentence.kind not in (SentenceKind.CODE, SentenceKind.TABLE):
        lead = marks_end(text, numbered=sentence.kind in _MARKED)
        if any(map(str.isalnum, text[:lead])) and not any(map(str.isalnum, text[lead:])):
            lead = len(text) - len(text.lstrip())  # a framed digit is all it says
        elif said := _SAYS.search(text, 0, lead):
            lead = said.start()
        elif not sections and (figure := _FIGURE.search(text, 0, lead)):
            lead = figure.start()
    lead = min(lead, end)
    if sentence.kind is not SentenceKind.CODE and (inner := _within_tags(text, lead, end)):
        lead, end = inner
    return Span(sentence.start + lead, sentence.start + end)


def _within_tags(text: str, start: int, end: int) -> Span | None:
    """What stands between the tags that a text begins and ends with; None where that is nothing."""
    opening = _OPENING_TAGS.match(text, start, end)
    start = opening.end() if opening else start
    while end > start and text[end - 1] == ">":
        at = text.rfind("<", max(start, end - _LONGEST_TAG), end)
        if at < 0 or not _CLOSING_TAG.fullmatch(text, at, end):
            break
        end = at
        while end > start and text[end - 1].isspace():
            end -= 1
    return Span(start, end) if start < end else None
