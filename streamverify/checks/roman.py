"""Roman numbers behind names, and the other forms of the same: Henry VIII, Henry the Eighth, Super Bowl 58.

Before: any text, or a word of a name. After: `names.py` finds a name in whichever form its number has, and
`index.py` holds the numbers of a text that are written so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from streamverify.checks.number_words import CARDINALS, ORDINALS
from streamverify.checks.quantity import NumberReading, Quantity

_ROMAN = re.compile(r"(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_DIGITS = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_BEHIND_A_NAME = re.compile(
    r"(?<![\w'’])(?:(?!Sizes? )[A-Z][\w'’]*+ (?P<several>[CLXVI]{2,8})"
    r"|(?:Alexander|Alfonso|Baldwin|Charles|Christian|Clement|Edward|Ferdinand|Frederick|George|Gregory|Gustav"
    r"|Henry|Innocent|James|John|Leo|Louis|Mehmed|Mohammed|Murad|Napoleon|Otto|Paul|Peter|Philip|Pius|Ptolemy"
    r"|Ramesses|Richard|Robert|Urban|William"
    r"|Chapter|Part|Book|Volume|Act|Phase|Article|Section|Super Bowl|World War) (?P<one>[LXVI]))(?![\w'’])"
)
"""One letter may be a size, a model or an initial: it counts only behind what is numbered so."""
_WRITTEN = ((90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))


def roman(part: str) -> int:
    """The value of a Roman number up to 99, in capitals; 0 of anything else."""
    if _ROMAN.fullmatch(part) is None:
        return 0
    digits = [_DIGITS[letter] for letter in part.lower()]
    following = [*digits[1:], 0]
    return sum(-digit if digit < after else digit for digit, after in zip(digits, following, strict=True))


def number_of(part: str) -> int:
    """What a word tells as the number of a name: VIII, Eighth, Eight; 0 where it tells none.

    A lone I is a word of its own.
    """
    value = roman(part)
    if value:
        return value if value > 1 else 0
    folded = part.lower()
    return ORDINALS.get(folded) or (CARDINALS.index(folded) if folded in CARDINALS else 0)


def forms(value: int) -> Iterator[str]:
    """The small forms in which a number may stand behind a name, without "the"."""
    yield str(value)
    yield from CARDINALS[value : value + 1]
    yield from (word for word, number in ORDINALS.items() if number == value)
    yield from (f"{value}{ending}" for ending in ("st", "nd", "rd", "th"))
    written, rest = "", value
    for worth, letters in _WRITTEN:
        count, rest = divmod(rest, worth)
        written += letters * count
    yield written


def romans(text: str) -> Iterable[Quantity]:
    """The Roman numbers that stand behind names in a text, as far as they are two or more."""
    for match in _BEHIND_A_NAME.finditer(text):
        name = match.lastgroup or "one"
        value = roman(match[name])
        if value > 1:
            reading = NumberReading(float(value), float(value))
            yield Quantity(*match.span(name), match[name], (reading,), weak=True, implied=True)
