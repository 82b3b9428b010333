"""What the learned part looks at in a sentence: its words, their classes, its clauses and its shape.

Before: `reader.py` has a sentence and those before it. After: `linear.py` weighs what is found here. A
feature is a short text with a number, 1 for what stands out and less for what there is much of. The classes
stand in for words, so that what was learned of "the leaflet gives no price" holds of a brochure too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from math import sqrt
from typing import NamedTuple

from streamverify.claims import alike, conversation
from streamverify.claims.lexicon import FUNCTION, classes
from streamverify.text.list_marks import is_item
from streamverify.types import SentenceKind

_TOKENS = re.compile(r"\d[\d.,:]*+|[^\W\d_]++(?:'[^\W\d_]++)?|[^\w\s]")
_FIRST, _LAST = 60, 30
"""Tokens of a long sentence that are looked at: it bounds the time."""
_CLAUSES = 6
_LONGEST = 2000
"""Characters that are looked at."""
_NOT = frozenset("not no nothing none neither nor never silent unclear nowhere cannot without".split())
_ME = frozenset("i me my i'm i've i'd i'll we".split())
_NAME = re.compile(r"(?<![.!?:“\"'*#\d.-] )(?<!^)(?<![*#\d.-])\b[A-Z][a-z]+")
_BOLD = ("**", "__")


def features(text: str, kind: SentenceKind = SentenceKind.PROSE, before: str = "") -> dict[str, float]:
    """What stands out in a sentence, by name.

    Args:
        text: the sentence as it stands in the answer, with its markup.
        kind: as the segmenter closed it.
        before: the sentence before it; empty where there is none.
    """
    text = text.strip()[:_LONGEST]
    tokens = _tokens(text)
    if len(tokens) > _FIRST + _LAST:
        tokens = tokens[:_FIRST] + tokens[-_LAST:]
    found: dict[str, float] = defaultdict(float)
    _of_words(found, tokens)
    _of_ends(found, tokens)
    _of_silence(found, tokens)
    _of_shape(found, text, tokens, kind, before)
    _of_clauses(found, text)
    return found


def _tokens(text: str) -> list[str]:
    """Words in small letters, each figure as "0", and every other mark by itself."""
    return [
        "0" if token[0].isdecimal() else token for token in _TOKENS.findall(text.lower().replace("’", "'"))
    ]


class _Token(NamedTuple):
    """What a token is written as: a word that carries grammar stays, one that carries content is replaced."""

    blanked: str
    """By one mark for all."""
    classed: str
    """By its first class in the lexicon, where it has one."""
    alike: str
    """By its family of groups of words."""
    own: tuple[str, ...]
    """Names of features of the word by itself."""


@lru_cache(maxsize=8192)
def _known(token: str) -> _Token:
    if not token[0].isalpha():
        return _Token(token, token, token, ())
    group = alike.installed().of(token)
    own = () if group is None else (f"g{group[0]}", f"f{group[1]}")
    if len(token) > 4:
        own = (*own, "x" + token[-3:], *(["p" + token[:4]] if len(token) > 5 else []))
    if token in FUNCTION:
        return _Token(token, token, token, own)
    return _Token("_", next(iter(classes(token)), "_"), "#" if group is None else f"#{group[1]}", own)


def _of_words(found: dict[str, float], tokens: Sequence[str]) -> None:
    share = 1 / sqrt(max(len(tokens), 1))
    known = [*map(_known, tokens)]
    blanked = ["<", *(one.blanked for one in known), ">"]
    classed = ["<", *(one.classed for one in known), ">"]
    akin = ["<", *(one.alike for one in known), ">"]
    for count, name, sequence, weight in (
        (1, "w", ["<", *tokens, ">"], 1.5 * share),
        (2, "w", ["<", *tokens, ">"], 1.5 * share),
        (3, "s", blanked, share),
        (3, "k", classed, share),
        (4, "k", classed, share),
        (2, "a", akin, share),
        (3, "a", akin, share),
    ):
        for group in map(" ".join, zip(*(sequence[place:] for place in range(count)), strict=False)):
            found[name + group] += weight
    for one in known:
        for name in one.own:
            found[name] += 1.5 * share if name[0] == "g" else share
    for name in {name for token in tokens for name in classes(token)}:
        found["has " + name] += 0.5


def _of_ends(found: dict[str, float], tokens: Sequence[str]) -> None:
    first, last = tokens[:4], tokens[-4:]
    begin, end = [*map(_known, first)], [*map(_known, last)]
    for name, sequence, weight in (
        ("^", first, 1.0),
        ("~^", [one.blanked for one in begin], 1.0),
        ("k^", [one.classed for one in begin], 1.0),
        ("a^", [one.alike for one in begin], 1.0),
    ):
        for count in range(1, 5):
            found[name + " ".join(sequence[:count])] += weight
    for name, sequence, weight in (
        ("$", last, 0.7),
        ("~$", [one.blanked for one in end], 0.5),
        ("a$", [one.alike for one in end], 0.5),
    ):
        for count in range(1, 5):
            found[name + " ".join(sequence[-count:])] += weight


def _of_silence(found: dict[str, float], tokens: Sequence[str]) -> None:
    """Whether a word for a text, one of denial and one for the assistant stand in it, in which order."""
    denied = [place for place, token in enumerate(tokens) if token in _NOT or token.endswith("n't")]
    texts = [place for place, token in enumerate(tokens) if "text" in classes(token)]
    me = any(token in _ME for token in tokens)
    found[f"not {bool(denied)} text {bool(texts)} me {me}"] += 1
    if texts:
        found["text after " + (tokens[texts[0] - 1] if texts[0] else "<")] += 0.7
        found[f"text at {min(texts[0], 4)}"] += 0.5
        if denied:
            found["text before not" if texts[0] < denied[0] else "not before text"] += 1


def _of_shape(
    found: dict[str, float], text: str, tokens: Sequence[str], kind: SentenceKind, before: str
) -> None:
    words = [token for token in tokens if token[0].isalpha()]
    content = sum(token not in FUNCTION for token in words)
    item = is_item(text)
    end = text.rstrip('*_ "”)')[-1:]
    before = before.strip()
    for name in (
        f"words {min(len(words) // 3, 10)}",
        f"content {min(content, 8)}",
        f"figure {'0' in tokens}",
        f"names {min(len(_NAME.findall(text)), 3)}",
        f"bold {text.startswith(_BOLD) and text.endswith(_BOLD)}",
        f"heading {text.startswith('#')}",
        f"item {item}",
        f"kind {kind.value}",
        f"end {'w' if end.isalnum() else end}",
        f"colon {': ' in text}",
        f"seam {any(seam in text for seam in (';', ' – ', ' — ', ' - '))}",
        f"commas {min(text.count(','), 3)}",
        f"before {before[-1:]}{' item' if item else ''}",
    ):
        found[name] += 1
    found["content share"] += 2 * content / (len(words) + 1)
    found["any"] += 1


def _of_clauses(found: dict[str, float], text: str) -> None:
    """What each clause begins with and, by the rules for talk, what it is there for."""
    clauses = conversation.clauses(text)[:_CLAUSES]
    purposes: list[str] = []
    before: conversation.Talk | None = None
    for place, clause in enumerate(clauses):
        talk = conversation.talk(clause, before)
        before = talk or before
        purpose = talk.value if talk is not None else "world"
        purposes.append(purpose)
        tokens = _tokens(clause.text[:_LONGEST])
        classed = [_known(token).classed for token in tokens[:3]]
        side = "later " if place else "first "
        for count in (1, 2, 3):
            found[side + " ".join(classed[:count])] += 0.6
        figure = " figure" if "0" in tokens else ""
        verb = " verb" if conversation.has_verb(clause.text) else ""
        found[f"{side}{purpose}{figure}{verb}"] += 0.6
        found["talk " + purpose] += 0.5
    found[f"clauses {min(len(clauses), 4)}"] += 1
    found["talks " + " ".join(dict.fromkeys(purposes))] += 1
    if clauses:
        relative = " relative" if conversation.RELATIVE.match(clauses[-1].text) else ""
        found[f"last {purposes[-1]}{relative}"] += 1
