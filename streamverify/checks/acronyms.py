"""Acronyms of a claim and what they stand for in its sources: FDA and the Food and Drug Administration.

Before: `index.py` holds the sources. After: `respelled.py` puts the claim to the model with the form that the
sources have. An acronym is written out only where the sources do not have it, and a name shortened only where
they have its acronym and not the name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from streamverify.checks.index import SourceView
from streamverify.text.words import STOP_WORDS, fold

_ACRONYM = re.compile(r"(?<![\w.&/-])[A-Z]{2,6}(?![\w&]|[-/.]\w)")
_NAME = re.compile(r"\b[A-Z][\w’']+(?:\s(?:(?:of|the|and|for|on|in|&)\s){0,2}[A-Z][\w’']+){1,6}")
_BETWEEN = r"(?:[\s-]+(?:of|and|the|for|on|in|&)){0,2}[\s-]+"
_ARTICLES = frozenset({"the", "a", "an"})
_SHOUTED = 0.5
"""Share of a claim's words in capitals above which capitals tell no acronym."""


def in_other_forms(text: str, view: SourceView) -> Iterator[tuple[int, int, str]]:
    """Acronyms and names of a text that the passages have in the other form alone: where, and that form."""
    words = text.split()
    if sum(word.isupper() and len(word) > 1 for word in words) > _SHOUTED * len(words):
        return
    for match in _ACRONYM.finditer(text):
        if not view.mentions(fold(match[0])) and (long := _written_out(match[0], view)) is not None:
            yield match.start(), match.end(), long
    for match in _NAME.finditer(text):
        start, name = match.start(), match[0]
        first, _, rest = name.partition(" ")
        if first.lower() in _ARTICLES:
            start, name = start + len(first) + 1, rest
        parts = name.split()
        short = "".join(part[0] for part in parts if part[0].isupper())
        if len(short) > 1 and fold(parts[-1]) not in view.words and view.mentions(fold(short)):
            yield start, match.end(), short


def _written_out(acronym: str, view: SourceView) -> str | None:
    """The first words of a passage that begin with these letters, in a row; None without any.

    Two letters ask for a name in capitals, more for words that are no mere grammar.
    """
    pattern = _pattern(acronym)
    for source in view.sources:
        if source.passage < 0:
            continue
        for match in pattern.finditer(source.text):
            if not any(fold(part) in STOP_WORDS for part in match.groups()):
                return match[0]
    return None


@lru_cache(maxsize=256)
def _pattern(acronym: str) -> re.Pattern[str]:
    parts = [rf"({letter}[a-z]{{2,}})" for letter in acronym]
    if len(acronym) > 2:
        parts = [rf"([{letter}{letter.lower()}][a-z]{{2,}})" for letter in acronym]
    return re.compile(r"\b" + _BETWEEN.join(parts) + r"\b")
