"""The marks a line begins with: of quotes, headings, bullets, numbers and letters of a list.

The one table of them. `sentences/blocks.py` reads an answer's lines with it while they arrive; `layout.py`,
`markdown.py` and `citations/` take the marks off a sentence that is closed.
"""

from __future__ import annotations

import re

STROKES = "-+*–—→·"
"""Bullets that need a blank behind them: each has another meaning without one."""
SIGNS = "•◦▪‣●▸►"
"""Bullets that are nothing else."""
EMOJI = (
    "\u2600-\u27bf\u2b50\u2b55\U0001f000-\U0001faff"  # symbols and pictographs
    "\ufe0e\ufe0f\u200d\u20e3\U000e0020-\U000e007f"  # what joins, styles and frames them
)
"""Characters of emoji sequences, for use inside a character class."""
TICKS = "☐☑☒✅✓✔✗✘✖❌❎➔➜➡➤▶►👉🔹🔸🔷🔶🔘🔴🟠🟡🟢🔵🟣⚪⚫🟩🟥⭐📌⚠ℹ💡\ufe0e\ufe0f\u20e3"
"""Emoji that mark items. Any other, in front of a sentence, may be part of what it says: "🙂 wrong."."""
KEYCAP = "[0-9]\ufe0f?\u20e3"
"""A digit in a frame."""
CIRCLED = "[①-⑳]"
"""A number in a circle."""
LETTERS = "[a-z]|[ivx]{2,5}"
"""What numbers the items of a list with letters."""
_COUNTED = (
    "M(?:illi|io|rd|bps|eter)|B(?:illi|ps)|Trilli|Thousand|Hundred|Euro|Percent|Prozent|Uhr|Tag|Jahr|Stunde|Minute|Liter"
    "|Grad|Kilo|Zenti|Times"
)
SECTION = rf"[1-9]\d?(?:\.[1-9]\d?){{1,4}}(?:\.|(?=[ \t]+(?!{_COUNTED})[A-Z][a-z]))"
"""The number of a section, `1.1.` or `2.3.1`; without its own stop only before a word with a capital that
does not say what is counted, as in `1.5 Million`."""

_BLANK = r"[^\S\r\n]"
_BULLET = rf"(?:[{re.escape(STROKES)}](?={_BLANK})|[{SIGNS}]|[{EMOJI}]++)"
_NUMBER = (
    rf"(?:(?:\d{{1,3}}[.)]|\(\d{{1,3}}\)|(?:{LETTERS})\)|\((?:{LETTERS})\)|{SECTION}){_BLANK}++(?=\S)"
    rf"|\d{{1,3}}(?::|{_BLANK}[-–—]){_BLANK}++(?=[^\W\d_])"
    rf"|(?:{KEYCAP}|{CIRCLED}){_BLANK}*+(?=\S)|(?:[a-z]\.|[A-Z]\)){_BLANK}++(?=[A-Z])"
    rf"|[a-d]\.{_BLANK}++(?=[a-z]{{3}}))"
)
_UNNUMBERED = re.compile(
    rf"\s*+(?>(?:(?:>|\#{{1,6}}(?={_BLANK})|(?P<bullet>{_BULLET}))\s*+)*)(?(bullet)(?:\[[ xX]\]{_BLANK}++)?)"
)
_NUMBERED = re.compile(_NUMBER)


def marks_end(text: str, *, numbered: bool = True) -> int:
    """Length of the blanks and marks at a text's beginning; 0 when it begins with what it says.

    Args:
        text: a line, or a sentence of an answer.
        numbered: whether a number or a letter may be a mark here. It is one only in front of something
            and below 1000: `1999.` is a year, and a lone `12.` says twelve.
    """
    return _read(text, numbered=numbered)[0]


def is_item(text: str) -> bool:
    """Whether a text begins with the bullet, the number or the letter of a list, in front of something."""
    end, item = _read(text, numbered=True)
    return item and bool(text[end:].strip())


def _read(text: str, *, numbered: bool) -> tuple[int, bool]:
    """Where the marks end, and whether one of them is a list's."""
    match = _UNNUMBERED.match(text)
    end = match.end() if match else 0
    number = _NUMBERED.match(text, end) if numbered else None
    return number.end() if number else end, bool((match and match["bullet"]) or number)
