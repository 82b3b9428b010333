"""Bounds of a rule, and from which side each is said: "above £250", "up to £250", "12 and over".

"Expenses above £250 require approval" and "expenses up to £250 need no approval" are one rule said from
both sides: the bound is turned round, and the negation with it. Before: `negation.py` found what only one of
two sentences negates, or an opposite. After: it tells it unless the bound turns it back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from streamverify.checks.number_words import CARDINALS
from streamverify.text.calendar import MONTHS
from streamverify.text.words import listed, stems_of, tokens

_UP = frozenset(
    listed("above over exceed exceeds exceeded exceeding after since past beyond minimum least following")
)
_DOWN = frozenset(listed("under below until till before within maximum most"))
_UP_THAN = frozenset(
    listed("more greater larger longer higher older bigger later heavier taller wider farther further faster")
)
_DOWN_THAN = frozenset(
    listed("less fewer smaller shorter lower younger earlier lighter narrower nearer slower sooner")
)
_UP_BEHIND = frozenset(
    listed("more over above older up upwards longer later larger higher heavier taller onwards")
)
_DOWN_BEHIND = frozenset(listed("less under below fewer younger shorter earlier smaller lower lighter"))
BOUNDING = frozenset(stems_of(_UP | _DOWN | _UP_THAN | _DOWN_THAN | _UP_BEHIND | _DOWN_BEHIND))
"""Stems of words that say from which side a bound is meant."""
_AT_ALL = {"least": True, "minimum": True, "earliest": True, "most": False, "maximum": False, "latest": False}
"""Behind a figure, what makes a bound of it: "12 at least"."""
_PASSED_OVER = frozenset(
    listed("""
    the a an of age ages aged and including about around first my your their his her its our
    eur usd gbp chf sek nok dkk jpy cad aud inr us
    """)
)
"""Words between a bound and its figure."""
_MONTHS = frozenset(MONTHS)
_NEGATIONS = frozenset(listed("no not never cannot nor"))
_BRIDGE = 4
"""Words between a bound and its figure at most."""
_BEHIND = 3
"""Words between a figure and what makes a bound of it behind it: "12 years of age or older"."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds in a sentence: each figure or date as its words, and whether what lies above it is meant."""

    found: tuple[tuple[tuple[str, ...], bool], ...]

    @classmethod
    def of(cls, text: str) -> Bounds:
        """Those of a text."""
        return cls(tuple(_bounds(tokens(text))))

    def turned_in(self, other: Bounds) -> bool:
        """Whether some figure bounds from the one side here and from the other side there."""
        for figure, _ in self.found:
            ours, theirs = self._ways(figure), other._ways(figure)
            if len(ours) == len(theirs) == 1 and ours != theirs:
                return True
        return False

    def _ways(self, figure: tuple[str, ...]) -> frozenset[bool]:
        return frozenset(up for one, up in self.found if _same(one, figure))


def _same(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two figures or dates are the same; of two dates one may leave the year out."""
    if _MONTHS.isdisjoint(one) or _MONTHS.isdisjoint(other):
        return one == other
    return set(one) <= set(other) or set(other) <= set(one)


def _bounds(words: Sequence[str]) -> Iterator[tuple[tuple[str, ...], bool]]:
    place = 0
    while place < len(words):
        begin = place
        while place < len(words) and _of_figure(words, place, begin):
            place += 1
        figure = tuple(digits(word, beside=True) for word in words[begin:place])
        if not any(part[0].isdigit() for part in figure):
            place = max(place, begin + 1)
            continue
        up = _before(words[max(begin - _BRIDGE - 2, 0) : begin], figure)
        if up is None:
            up = _behind(words[place : place + _BEHIND + 2])
        if up is not None:
            yield figure, up


def _of_figure(words: Sequence[str], place: int, begin: int) -> bool:
    """Whether a word belongs to a figure or a date that begins here or before; "may" beside a figure only."""
    beside = place > begin or (place + 1 < len(words) and words[place + 1][0].isdigit())
    return bool(digits(words[place], beside=beside))


def digits(word: str, *, beside: bool = False) -> str:
    """A word of a figure or a date as it is compared, digits for a number; empty for another one."""
    if word in CARDINALS:
        return str(CARDINALS.index(word))
    if word[:1].isdigit():
        return word[: len(word) - len(word.lstrip("0123456789"))] or word
    return word if word in _MONTHS and (beside or word != "may") else ""


def _before(words: Sequence[str], figure: tuple[str, ...]) -> bool | None:
    """What the words before a figure make of it: True where what lies above is meant, None for no bound."""
    at = len(words) - 1
    while at >= 0 and len(words) - 1 - at < _BRIDGE and words[at] in _PASSED_OVER:
        at -= 1
    passed = words[at + 1 :]
    if at < 0:
        return False if "first" in passed else None
    word, before = words[at], words[at - 1] if at else ""
    negated, up = before, None
    if word == "than" and before in _UP_THAN | _DOWN_THAN:
        negated, up = words[at - 2] if at > 1 else "", before in _UP_THAN
    elif word == "to" and before in {"up", "prior"}:
        up = False
    elif word in _UP or word in _DOWN:
        up = word in _UP
    elif word == "from" and ("age" in passed or "aged" in passed or _dated(figure)):
        up = True
    elif (word == "by" and _dated(figure)) or "first" in passed:
        up = False
    if up is None:
        return None
    return up != (negated in _NEGATIONS or negated.endswith("n't"))


def _behind(words: Sequence[str]) -> bool | None:
    for at, word in enumerate(words):
        if word in {"or", "and"} and at + 1 < len(words):
            after = words[at + 1]
            return True if after in _UP_BEHIND else False if after in _DOWN_BEHIND else None
        if word in {"onwards", "upwards"}:
            return True
        if word == "at" and at + 1 < len(words) and words[at + 1] != "the":
            return _AT_ALL.get(words[at + 1])
        if word == "the":
            return _AT_ALL.get(words[at + 1]) if at + 1 < len(words) else None
    return None


def _dated(figure: tuple[str, ...]) -> bool:
    return not _MONTHS.isdisjoint(figure) or any(
        len(part) == 4 and part[:2] in {"19", "20"} for part in figure
    )
