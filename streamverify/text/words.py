"""Words as the checks compare them: folded, lightly stemmed, the empty ones left out.

Everything here is a table or a pure function. Stems serve comparison only, they are never shown.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
"""A run of letters and digits; an apostrophe inside it belongs to it."""

_WITHOUT_LINES = re.compile(r"\w+(?:['’]\w+)*")
"""The same for a text without underlines, in half of the time."""


def listed(words: str) -> list[str]:
    """The words of a table written as a text."""
    return words.split()


STOP_WORDS = frozenset(
    listed("""
    a about above after again against all also although am an and any are aren't as at be because been before
    being below between both but by can can't cannot could couldn't did didn't do does doesn't doing don't
    down
    during each either else ever every few for from further get gets got had hadn't has hasn't have haven't
    having
    he her here hers herself him himself his how however i if in into is isn't it it's its itself just let
    like
    made make makes many may me might more most much must my myself neither no nor not now of off often on
    once
    one only onto or other others our ours out over own per quite rather same shall she should shouldn't
    since so
    some still such than that that's the their theirs them themselves then there there's therefore these they
    this those though through thus to too two under until up upon us very via was wasn't we well were weren't
    what when where whether which while who whom whose why will with within without won't would wouldn't
    yet you
    your yours yourself
    """)
)
"""Words that carry grammar rather than content (folded, apostrophes kept)."""

_MARKS = re.compile("[\u0300-\u036f]+")
_LATIN_EXTRA = str.maketrans(
    {"ø": "o", "ß": "ss", "æ": "ae", "œ": "oe", "đ": "d", "ð": "d", "ł": "l", "þ": "th", "ı": "i", "’": "'"}
)


class Word(NamedTuple):
    """A word of a text: as written, where it starts and its folded form without a possessive ending."""

    text: str
    start: int
    end: int
    folded: str


def fold(text: str) -> str:
    """Lower case without diacritics and with plain apostrophes; the length may change."""
    if text.isascii():
        return text.lower()
    return _MARKS.sub("", unicodedata.normalize("NFKD", text.casefold())).translate(_LATIN_EXTRA)


def words(text: str) -> Iterator[Word]:
    """The words of a text in order."""
    for match in WORD.finditer(text):
        yield Word(match[0], match.start(), match.end(), strip_possessive(fold(match[0])))


def _word(text: str) -> re.Pattern[str]:
    return WORD if "_" in text else _WITHOUT_LINES


def split_words(text: str) -> list[str]:
    """Every word of a text as it is written."""
    return _word(text).findall(text)


def placed_words(text: str) -> list[tuple[int, str]]:
    """Where each of the words of `words` starts, and its folded form."""
    if even(text):
        folded = fold(text)
        found = [(match.start(), match[0]) for match in _word(folded).finditer(folded)]
        if "'" not in folded:
            return found
    else:
        found = [(match.start(), fold(match[0])) for match in WORD.finditer(text)]
    return [(start, strip_possessive(word) if "'" in word else word) for start, word in found]


def strip_possessive(folded: str) -> str:
    """A folded word without `'s` or a closing apostrophe."""
    return folded.removesuffix("'s").removesuffix("'")


# Longest first; each with the shortest stem it may leave.
_SUFFIXES: tuple[tuple[str, str, int], ...] = (
    ("ization", "ize", 3),
    ("isation", "ize", 3),
    ("iveness", "ive", 3),
    ("fulness", "ful", 3),
    ("ations", "ate", 3),
    ("ation", "ate", 3),
    ("ements", "e", 3),
    ("ement", "e", 3),
    ("ments", "", 4),
    ("ment", "", 4),
    ("ingly", "", 3),
    ("edly", "", 3),
    ("ities", "e", 3),
    ("ness", "", 4),
    ("ions", "", 4),
    ("ising", "ize", 3),
    ("ised", "ize", 3),
    ("ises", "ize", 3),
    ("ity", "e", 4),
    ("ies", "y", 2),
    ("ied", "y", 2),
    ("ion", "", 4),
    ("ing", "", 3),
    ("ers", "", 4),
    ("ors", "", 4),
    ("ous", "", 4),
    ("ed", "", 3),
    ("es", "", 3),
    ("er", "", 4),
    ("or", "", 4),
    ("al", "", 5),
    ("ly", "", 4),
    ("s", "", 3),
)

_IRREGULAR: dict[str, str] = {
    form: base
    for base, forms in {
        "begin": "began begun",
        "bring": "brought",
        "build": "built",
        "buy": "bought",
        "child": "children",
        "choose": "chose chosen",
        "come": "came",
        "drive": "drove driven",
        "fall": "fell fallen",
        "find": "found",
        "give": "gave given",
        "go": "went gone",
        "grow": "grew grown growth",
        "hold": "held",
        "keep": "kept",
        "know": "knew known",
        "lead": "led",
        "leave": "left",
        "lose": "lost loss",
        "man": "men",
        "pay": "paid",
        "person": "people persons",
        "rise": "rose risen",
        "say": "said",
        "see": "saw seen",
        "sell": "sold sale sales",
        "send": "sent",
        "shrink": "shrank shrunk",
        "speak": "spoke spoken",
        "spend": "spent",
        "stand": "stood",
        "take": "took taken",
        "tell": "told",
        "think": "thought",
        "tooth": "teeth",
        "win": "won",
        "woman": "women",
        "write": "wrote written",
    }.items()
    for form in forms.split()
}

_DOUBLED = re.compile(r"([bdfgmnprt])\1$")


def stem(folded: str) -> str:
    """What is left of a folded word when its inflection is taken off.

    Two forms of a word nearly always share it; two words sometimes do. Words with digits are kept.
    """
    return _STEMS[folded]


def stems_of(folded: Iterable[str]) -> list[str]:
    """`stem` of each."""
    return [*map(_STEMS.__getitem__, folded)]


class _Stems(dict[str, str]):
    """The stems of words seen; a word that is known costs one look-up, without a step in Python."""

    def __missing__(self, folded: str) -> str:
        root = _root(folded)
        # Numbers and what somebody made up have no end and no bound: they may neither fill the memory nor
        # drive the words of a language out of it.
        if len(folded) <= _LONGEST and folded.isalpha():
            if len(self) >= _MOST:
                self.clear()  # the words in use are back soon
            self[folded] = root
        return root


def _root(folded: str) -> str:
    folded = _IRREGULAR.get(folded, folded)
    if len(folded) < 4 or not folded.isalpha() or folded.endswith("ss"):
        return folded
    root = folded
    for suffix, replacement, least in _SUFFIXES:
        if root.endswith(suffix) and len(root) - len(suffix) >= least:
            root = root[: len(root) - len(suffix)] + replacement
            break
    if len(root) > 3 and _DOUBLED.search(root):
        root = root[:-1]
    # A silent e comes and goes (cause, causing): neither form may keep it.
    return root.removesuffix("e") if len(root) > 3 else root


_LONGEST = 40
"""Letters of a word whose stem is remembered."""
_MOST = 65536
"""Words whose stem is remembered."""
_STEMS = _Stems()


def tokens(text: str) -> list[str]:
    """The words of the folded text, possessive endings taken off.

    Of an `even` text these are the words of `words`; of another one folding may split words and join them.
    """
    return without_possessives(split_words(fold(text)))


def without_possessives(folded: Iterable[str]) -> list[str]:
    """Folded words, `strip_possessive` done to each."""
    return [strip_possessive(word) if "'" in word else word for word in folded]


def content_stems(text: str) -> list[str]:
    """Stems of the words that carry content, in order, with repetitions; numbers are not among them."""
    return stems_of_content(tokens(text))


def stems_of_content(found: Iterable[str]) -> list[str]:
    """`content_stems` of words that `tokens` found."""
    return stems_of(
        [word for word in found if word not in STOP_WORDS and len(word) > 1 and not word[0].isdigit()]
    )


def even(text: str) -> bool:
    """Whether folding leaves every character of a text in its place, and words where they were.

    Then the words of the folded text are the folded words of the text, at the same places: whoever needs
    both reads the text once.
    """
    return text.isascii() or all(map(_even, set(_BEYOND_ASCII.findall(text))))


_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")


@lru_cache(maxsize=4096)
def _even(char: str) -> bool:
    forms = (char, char.lower(), fold(char))
    alike = all(len(form) == 1 for form in forms) and fold(forms[1]) == forms[2]
    return alike and len({(WORD.match(form) is None, form in "'’") for form in forms}) == 1


def folded_words(text: str) -> list[str]:
    """What `words` finds, folded, in order and without the places: sooner."""
    if even(text):
        return tokens(text)
    return [strip_possessive(fold(word)) for word in split_words(text)]


def alternatives(phrases: Iterable[str]) -> str:
    """A regular expression for any of these words, by first letters: tried quickly where none begins."""
    groups: dict[str, list[str]] = {}
    for phrase in sorted(phrases, key=len, reverse=True):
        groups.setdefault(phrase[:1], []).append(phrase[1:])
    if set(groups) == {""}:
        return ""
    parts = []
    for first, rest in groups.items():
        if len(rest) == 1:
            parts.append(re.escape(first + rest[0]))
        elif len(rest) > 3:
            parts.append(f"{re.escape(first)}(?:{alternatives(rest)})")
        else:
            parts.append(f"{re.escape(first)}(?:{'|'.join(re.escape(part) for part in rest)})")
    return "|".join(parts)
