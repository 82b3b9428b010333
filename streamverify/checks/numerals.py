"""Numerals in digits: where they stand, what they may be worth, and which belong to a name instead."""

from __future__ import annotations

import re

# Repetitions are bounded: a longer numeral is a key anyway, and each start is looked at once.
_DIGITS = re.compile(
    r"\d{1,3}(?:[ \u00a0\u2009\u202f'’]\d{3}){1,12}(?!\d)(?:[.,]\d+)?"
    r"|\d{1,2}(?:,\d{2}){1,16},\d{3}(?!\d)"
    r"|\d{1,3}(?:,\d{3}){1,12}(?!\d)(?:\.\d+)?"
    r"|\d{1,3}(?:\.\d{3}){2,12}(?!\d)(?:,\d+)?"
    r"|\d{1,3}\.\d{3},\d+"
    r"|\d+(?:[.,]\d+)?"
)
_GROUPING = re.compile("[ \u00a0\u2009\u202f'’]")
_MOST_DIGITS = 40
"""Characters of a numeral above which it is a key or a hash, not a number."""
_MORE_GROUPS = re.compile(r"(?>(?:[ \u00a0\u2009\u202f'’.,]\d{2,3}(?!\d))*)")
_PREFIXES = frozenset({"mid", "sub", "non", "pre", "post", "early", "late", "under", "over"})


VULGAR = {
    "½": 1 / 2, "⅓": 1 / 3, "⅔": 2 / 3, "¼": 1 / 4, "¾": 3 / 4,
    "⅕": 1 / 5, "⅛": 1 / 8, "⅜": 3 / 8, "⅝": 5 / 8, "⅞": 7 / 8,
}  # fmt: skip
"""Fractions of one character."""
_PART = re.compile(
    rf"[ \u00a0-]?(?P<vulgar>[{''.join(VULGAR)}])"
    r"|[ \u00a0-](?P<n>\d)/(?P<of>\d{1,2})(?![\d/]|[.,]\d)"
)
_PARTS_OF = frozenset({2, 3, 4, 5, 6, 8, 10, 12, 16, 32, 64})
"""What wholes are divided by in practice: 5 3/7 is rather a list."""

_SIGN = re.compile(r"(?:(?<![^\s(\[\"“'~≈:=/,–])[-−–]|\b(?:minus|negative) )$", re.IGNORECASE)
"""A minus before a figure. One that stands behind a letter or a figure makes a range: 5-10, HR-14."""
_AFTER_A_FIGURE = re.compile(r"[\d°CF%]\s$")
"""What stands before a dash that is one of a range, though set like a minus: 5 –10."""
_BELOW_ZERO = re.compile(r"\s+below (?:zero|0)\b", re.IGNORECASE)


def sign_before(text: str, start: int) -> int:
    """Where the minus of the figure that starts here stands; `start` itself where it has none."""
    sign = _SIGN.search(text, max(start - 9, 0), start)
    if sign is None or _AFTER_A_FIGURE.search(text, max(sign.start() - 2, 0), sign.start()):
        return start
    return sign.start()


def below_zero(text: str, end: int) -> bool:
    """Whether "below zero" follows here."""
    return _BELOW_ZERO.match(text, end) is not None


def numeral_at(text: str, start: int) -> tuple[str, int]:
    """The numeral that starts with this digit, and where it ends; empty where it is a key or a hash."""
    match = _DIGITS.match(text, start)
    assert match is not None  # a digit stands there
    end = match.end()
    if end - start <= _MOST_DIGITS:
        return match[0], end
    more = None if match[0].isdecimal() else _MORE_GROUPS.match(text, end)
    return "", more.end() if more else end


def decimal_point_before(text: str, start: int) -> int:
    """Where the digits begin with their point, if nothing stands before it: .5 mg; else `start` itself."""
    if start == 0 or text[start - 1] != ".":
        return start
    before = text[start - 2] if start > 1 else " "
    return start if before.isalnum() or before in "._/\\)]" else start - 1


_SUPERSCRIPTS = str.maketrans("⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹", "-+0123456789")
_POWER = re.compile(
    r"\s?[×x·*]\s?10(?:(?:\^|\*\*)\(?(?P<caret>[-−–+]?\d{1,2})\)?(?!\d)|(?P<raised>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2}))"
    r"|[eE](?P<e>[-−+]?\d{1,2})(?!\w)"
)


def power_of_ten(text: str, end: int) -> tuple[float, int] | None:
    """By what a numeral that ends here is multiplied (2 × 10^11, 2 × 10¹¹, 1.2e6), and where that ends."""
    match = _POWER.match(text, end)
    if match is None:
        return None
    told = match["caret"] or match["e"] or match["raised"].translate(_SUPERSCRIPTS)
    return 10.0 ** int(told.replace("−", "-").replace("–", "-")), match.end()


def in_name(text: str, start: int, end: int, prefix: str) -> bool:
    """Whether digits belong to an identifier, a version or an address."""
    before = text[start - 1] if start else " "
    if before.isalpha():
        return not prefix
    if before == "." and start > 1 and text[start - 2].isdecimal():
        return True
    if before in "_+.-/#:" and _within_identifier(text, start):
        return True
    after = text[end : end + 2]
    return after[:1] == "_" or (len(after) == 2 and after[0] == "." and after[1].isdecimal())


def _within_identifier(text: str, start: int) -> bool:
    """Whether digits after a joining sign belong to a name (HR-14, C++17), not to a range (3-5, 140/90)."""
    first = start
    while first > max(start - 24, 0) and (text[first - 1].isalnum() or text[first - 1] in "_+.-/#:"):
        first -= 1
    run = text[first:start].lstrip("+.-/#:")
    return bool(run) and not run[0].isdecimal() and run.rstrip("-") not in _PREFIXES


def values_of(digits: str) -> list[float]:
    """What a numeral may mean, likeliest first: 1.200 is 1.2, or 1200 where the dot groups."""
    if digits.isdecimal():
        return [float(digits)]
    plain = _GROUPING.sub("", digits)
    comma, dot = plain.rfind(","), plain.rfind(".")
    if comma >= 0 and dot >= 0:
        decimal = "," if comma > dot else "."
        grouping = "." if decimal == "," else ","
        return [float(plain.replace(grouping, "").replace(decimal, "."))]
    mark = "," if comma >= 0 else "."
    position = max(comma, dot)
    if position < 0:
        return [float(plain)]
    grouped = len(plain) - position - 1 == 3 and not plain.startswith(("0", "."))
    if plain.count(mark) > 1:
        return [float(plain.replace(mark, ""))]
    decimal_value, grouped_value = float(plain.replace(mark, ".")), float(plain.replace(mark, ""))
    if not grouped or position > 3:
        return [decimal_value]
    return [grouped_value] if mark == "," else [decimal_value, grouped_value]


def step_of(digits: str) -> float:
    """Value of the last significant digit: 1,200 was perhaps rounded to hundreds, 1.2 to tenths."""
    value = values_of(digits)[0]
    if value != int(value):
        return 10.0 ** -(len(digits) - max(digits.rfind("."), digits.rfind(",")) - 1)
    whole = str(int(value))
    return 10.0 ** (len(whole) - len(whole.rstrip("0"))) if whole != "0" else 0.0


def mixed_with(text: str, end: int) -> tuple[float, int] | None:
    """The fraction that goes with a whole number that ends here (2½, 2 1/2, 2-1/2), and where it ends."""
    part = _PART.match(text, end)
    if part is None:
        return None
    if part["vulgar"]:
        return VULGAR[part["vulgar"]], part.end()
    share, of = int(part["n"]), int(part["of"])
    return (share / of, part.end()) if 0 < share < of and of in _PARTS_OF else None
