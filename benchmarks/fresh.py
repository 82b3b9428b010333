"""Passages and answers that never repeat, made by rule from the bundled cases.

Where streams repeat ten answers a cache answers most of them, and a load looks lighter than it is. Here every
name and every figure of a case's passages is another one for each seed, the same throughout the passages of
that seed; the answer's sentences are taken from them, one of six figures is another than theirs.
"""

from __future__ import annotations

import random
import re
from typing import NamedTuple

from streamverify import Passage
from streamverify.demo import case_ids, load_case, tokens
from streamverify.text.calendar import DAYS, MONTHS

_FIGURE = re.compile(r"\d+")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}")
_SENTENCE = re.compile(r"[A-Z][^\[\]\n*`:;?!.]{40,200}\.")
_ONSETS, _NUCLEI, _CODAS = (
    "b d f g k l m n p r s t v z br dr gr kl st".split(),
    "aeiou",
    "l m n r s t nd rk".split(),
)
_KEPT = frozenset(name.capitalize() for name in (*MONTHS, *DAYS))
WRONG = 6
"""Of the sentences with a figure one in so many has another than its passage."""


class Material(NamedTuple):
    """What one stream is about."""

    passages: list[Passage]
    sentences: list[str]
    """In the order of the answer, no two alike; each is in a passage, but for the wrong ones."""
    wrong: frozenset[int]
    """Which of them are."""

    def pieces(self, count: int) -> list[str]:
        """The answer, cut like tokens: at most so many."""
        return tokens(" ".join(self.sentences))[:count]


def fresh(seed: int, sentences: int, most: int | None = None, *, wrong: bool = True) -> Material:
    """As many passages as hold that many plain sentences, and the answer made of them.

    Args:
        seed: another one, other names, figures and order.
        sentences: of the answer, at least 1.
        most: passages that are told; sentences of the others are then supported by none. None for all.
        wrong: whether some sentences have another figure than their passage.
    """
    generator = random.Random(f"fresh {seed}")
    cases = [load_case(name) for name in case_ids()]
    given = [(passage.title, passage.text) for case in cases for passage in case.passages]
    passages: list[Passage] = []
    plain: list[str] = []
    while len(plain) < sentences:
        generator.shuffle(given)
        renamed: dict[str, str] = {}  # another one each time round, so that no sentence comes twice
        for title, text in given:
            made = _renamed(text, renamed, generator)
            passages.append(Passage(f"p{len(passages) + 1}", made, title))
            known = set(plain)
            plain += [one for one in re.split(r"(?<=\.)\s+", made) if _plain(one) and one not in known]
            if len(plain) >= sentences:
                break
    generator.shuffle(plain)
    told = plain[:sentences]
    able = [at for at, one in enumerate(told) if _FIGURE.search(one)]
    changed = frozenset(able[WRONG - 1 :: WRONG] if wrong else ())
    answer = [_altered(one, generator) if at in changed else one for at, one in enumerate(told)]
    return Material(passages[:most], answer, changed)


def _plain(sentence: str) -> bool:
    """Whether it can be told by itself, and the rule changed something in it."""
    changed = _FIGURE.search(sentence) or _NAME.search(sentence)
    return changed is not None and _SENTENCE.fullmatch(sentence) is not None


def _renamed(text: str, known: dict[str, str], generator: random.Random) -> str:
    def figure(match: re.Match[str]) -> str:
        old = match.group()
        if old not in known:
            if len(old) == 4 and old[:2] in {"17", "18", "19", "20"}:
                known[old] = str(generator.randint(1700, 2029))
            else:
                rest = (generator.choice("0123456789") for _ in old[1:])
                known[old] = generator.choice("123456789") + "".join(rest)
        return known[old]

    def name(match: re.Match[str]) -> str:
        old = match.group()
        if old in _KEPT:
            return old
        if old not in known:
            syllables = (generator.choice(_ONSETS) + generator.choice("aeiou") for _ in range(2))
            known[old] = ("".join(syllables) + generator.choice(_CODAS)).capitalize()
        return known[old]

    return _NAME.sub(name, _FIGURE.sub(figure, text))


def _altered(sentence: str, generator: random.Random) -> str:
    """Another figure in place of one of them."""
    match = generator.choice(list(_FIGURE.finditer(sentence)))
    other = str(int(match.group()) * 2 + generator.randint(3, 9))
    return sentence[: match.start()] + other + sentence[match.end() :]
