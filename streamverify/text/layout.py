"""What of a sentence is layout: blanks and list marks, which say nothing."""

from __future__ import annotations

import re

from streamverify.text.list_marks import EMOJI, TICKS, marks_end
from streamverify.types import Sentence, SentenceKind, Span

_MARKED = frozenset({SentenceKind.LIST_ITEM, SentenceKind.HEADING, SentenceKind.QUOTE})
"""Blocks in which a number may be a mark; in prose it is a figure, and says something."""
_SAYS = re.compile(rf"(?![{TICKS}])[{EMOJI}]")
"""An emoji that is no item's mark."""


def body(sentence: Sentence) -> Span:
    """The sentence without its layout: leading blanks and list marks, closing blanks.

    The layout says nothing, and keeping it keeps lists and paragraphs in shape around a placeholder. A
    number is a mark only where a list may stand, in front of something, and below 1000: `1999.` is a year.
    An emoji is one only where it is used as one: a face in front of a rejected sentence goes with it.
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
    lead = min(lead, end)
    return Span(sentence.start + lead, sentence.start + end)
