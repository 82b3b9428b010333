"""Texts made to be slow: one unit again and again, also with a beginning and an end that are different."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

_UNITS = {
    "letters": "a",
    "capitals": "A",
    "digits": "7",
    "blanks": " ",
    "wide blanks": "\u00a0",
    "tabs": "\t",
    "lines": "\n",
    "blank lines": "\n \n",
    "stops": ".",
    "commas": ",",
    "hyphens": "-",
    "dashes": "—",
    "quotes": '"',
    "apostrophes": "'",
    "curly quotes": "“a”",
    "open quotes": "“",
    "open round": "(",
    "open square": "[",
    "open corner": "【",
    "open angle": "<",
    "closed square": "]",
    "nested round": "(a(",
    "nested square": "[a[",
    "pairs": "()[]",
    "stars": "*",
    "starred": "*a* ",
    "half starred": "a *b ",
    "double stars": "**a ",
    "underscores": "_",
    "underscored": "a_b_",
    "backticks": "`",
    "ticked": "`a ",
    "fences": "```\n",
    "tildes": "~~",
    "backslashes": "\\",
    "pipes": "|",
    "table rows": "| a | b |\n",
    "table rules": "|---|:-:|\n",
    "headings": "# ",
    "quote marks": "> ",
    "list marks": "- ",
    "numbered": "1. ",
    "bracketed numbers": "(1) ",
    "tags": "<b>",
    "open tags": "<a href=",
    "closing tags": "</passage>",
    "passage tags": "<passage>",
    "source tags": "<source id=1>",
    "entities": "&amp;",
    "markers": "[1]",
    "markers with commas": "[1, 2, ",
    "links": "[a](b) ",
    "half links": "[a](",
    "images": "![a](",
    "footnotes": "[^1]: a\n",
    "superscripts": "¹²",
    "authors": "(Smith, 2021) ",
    "half authors": "(Smith et al., ",
    "addresses": "http://a.b/",
    "address starts": "http://",
    "mail": "a@b.c ",
    "words": "word ",
    "long words": "antidisestablishmentarianism",
    "capitals and hyphens": "Aa-",
    "capitals in a row": "Aa ",
    "capitals and joints": "Aa of ",
    "initials": "A.",
    "initials apart": "A. ",
    "grouped digits": "1,000,",
    "grouped pairs": "1,00,",
    "grouped by dots": "1.000.",
    "grouped by blanks": "1 000 ",
    "fractions": "1/2",
    "ranges": "1-2-",
    "percents": "1% ",
    "money": "$1 ",
    "units": "5 km ",
    "spelled": "two hundred and ",
    "spelled with hyphens": "twenty-one-",
    "dates": "3 May 2024 ",
    "slashed dates": "1/2/2024 ",
    "months": "May ",
    "years": "1999 ",
    "clock": "12:30 ",
    "not": "not ",
    "is not": "it is not ",
    "and": "a and ",
    "the": "the ",
    "because": "because ",
    "question": "who? ",
    "sentences": "It is so. ",
    "sentences without blanks": "It is so.",
    "short forms": "Dr. ",
    "colons": "a: ",
    "semicolons": "a; ",
    "slashes": "/a",
    "plus": "+1",
    "Chinese": "中",
    "Chinese stops": "中。",
    "Cyrillic": "д",
    "Arabic": "م",
    "Arabic digits": "٣",
    "Devanagari": "हि",
    "accents": "e\u0301",
    "marks alone": "\u0301",
    "emoji": "✅",
    "joined emoji": "👩\u200d",
    "zero width": "\u200b",
    "turned": "\u202e",
    "controls": "\x00\x1b[",
    "C1 controls": "\x9b",
    "JSON": '{"a": [',
    "JSON strings": '\\"',
    "SSE": "data: a\n\n",
    "CR": "\r",
    "mixed": "Aa-1,000 (b[c]*d*\n",
}


class Text(NamedTuple):
    """A hostile text of any length: `unit` again and again, behind `start` and before `end`."""

    name: str
    unit: str
    start: str = ""
    end: str = ""

    def of(self, size: int) -> str:
        """The text with `size` characters."""
        room = max(size - len(self.start) - len(self.end), 0)
        return (self.start + (self.unit * (room // len(self.unit) + 1))[:room] + self.end)[:size]


TEXTS: tuple[Text, ...] = (
    *(
        Text(f"{name}{which}", unit, start, end)
        for name, unit in _UNITS.items()
        for which, start, end in (("", "", ""), (" that end otherwise", "Report ", "\x7f!x"))
    ),
    *(Text(f"{unit!r} behind a stop", unit, "It is good. ") for unit in ("[1] ", "😀 ", "</p> ")),
)


def spoken_of(pattern: re.Pattern[str]) -> list[str]:
    """Characters that a pattern tells apart, for texts made against it alone."""
    kinds = "aA1 .\n\x7f"
    literal = [char for char in pattern.pattern if not char.isspace() and char not in string.ascii_letters]
    return list(dict.fromkeys([*kinds, *literal]))[:24]


def deep_texts(pattern: re.Pattern[str]) -> Iterator[Text]:
    """Every pair of the characters that a pattern speaks of, again and again."""
    chars = spoken_of(pattern)
    for one, other in product(chars, chars):
        yield Text(f"{one!r} {other!r}", one + other, end="\x7f!")
