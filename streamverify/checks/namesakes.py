"""Two people of one surname: "Elio Tessaro" where the sources know Bruno Tessaro alone.

Before: `names.py` and `moved.py` have a name whose surname stands in the sources. After: they tell it where
the surname stands behind other given names only. Anything else before it (a title, an initial, an article,
a verb) leaves open who is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from streamverify.checks.given_names import GIVEN_NAMES, may_be_one
from streamverify.text.sentence_ends import opens_sentence
from streamverify.text.words import STOP_WORDS, fold, listed

_TWO_WORDS = re.compile(r"([A-Z][^\W\d_]{2,30}) ([A-Z][^\W\d_]{2,30})(?:['’]s?)?")
_BEFORE = re.compile(r"(?<![\w.'’-])(?:[A-Z][\w.'’-]{0,30} ){1,3}$")
_SURNAME = re.compile(r" [A-Z]")
_FARTHEST = 100
"""Characters before a surname within which given names are looked for."""
TITLES = frozenset(
    listed("""
    mr mrs ms miss dr prof professor sir lady lord king queen prince princess duke pope bishop father judge
    justice president chancellor minister senator governor mayor councillor secretary ambassador general
    colonel captain officer director chair chairman chairwoman manager coach
    """)
)
"""What stands before a name and is none."""
_NO_GIVEN_NAMES = frozenset(
    listed("""
    dame count countess baron baroness duchess saint rabbi imam sheikh sultan emperor sister brother mother
    uncle aunt cousin nurse sergeant corporal major lieutenant admiral marshal private cardinal reverend chief
    head dean deputy vice former late young old big little famous great casa villa studio team house family
    group lake mount mont monte port fort cape hotel street road avenue bridge castle new east west north
    south upper lower inner outer central greater
    """)
)
_OF_OFFICES = re.compile(r"(?:er|or|man|woman|ist|ian|ant|ent|ish|ese|ing)$")
"""How offices, peoples and adjectives end; it counts for words that are no common given names."""


def namesake(name: str, texts: Iterable[str]) -> str | None:
    """Whom the texts have of a name's surname, if nobody who may be the same; None where that is open.

    Args:
        name: as it stands in the claim; only a common given name and a surname are looked for.
        texts: where the surname is looked for.
    """
    match = _TWO_WORDS.fullmatch(name)
    if match is None or fold(match[1]) not in GIVEN_NAMES:
        return None
    given, surname = match[1], match[2]
    found = ""
    for text in texts:
        if any(_SURNAME.match(text, place.end()) is None for place in _whole(given).finditer(text)):
            return None  # "Bruno Tessaro and his son Elio"
        for others in _given_before(surname, text):
            if not others or any(may_be_one(given, other) for other in others):
                return None
            found = found or f"{others[-1]} {surname}"
    return found or None


def _given_before(surname: str, text: str) -> Iterator[list[str]]:
    """The given names before a surname, for each place it stands at; none where something else is there."""
    for place in _whole(surname).finditer(text):
        start = place.start()
        before = _BEFORE.search(text, max(start - _FARTHEST, 0), start)
        several = before[0].split() if before else []
        if before is None or place[1] or any("." in word for word in several):
            yield []
        else:
            last = start - len(several[-1]) - 1
            yield several if _is_given(several[-1], opens=opens_sentence(text, last)) else []


def _is_given(word: str, *, opens: bool) -> bool:
    """Whether a capitalised word before a surname is a given name: "Visit Tessaro" is nobody."""
    folded = fold(word)
    if folded in GIVEN_NAMES:
        return True
    if opens or word.isupper() or not word.isalpha() or _OF_OFFICES.search(folded):
        return False
    return folded not in STOP_WORDS | TITLES | _NO_GIVEN_NAMES


@lru_cache(maxsize=256)
def _whole(name: str) -> re.Pattern[str]:
    """A name; the group holds what makes several people of it, or joins it to another word."""
    return re.compile(rf"(?<!\w){re.escape(name)}(s\b|-|\b)", re.IGNORECASE)
