"""What the learned part looks at in a sentence: its words, their classes, its clauses and its shape.

Before: `reader.py` has a sentence and those before it. After: `linear.py` weighs what is found here. A
feature is a short text with a number, 1 for what stands out and less for what there is much of. The classes
stand in for words, so that what was learned of "the leaflet gives no price" holds of a brochure too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from math import sqrt

from streamverify.claims import conversation
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


def _blanked(token: str) -> str:
    """A word that carries grammar, or the mark for one that carries content."""
    return token if token in FUNCTION or not token[0].isalpha() else "_"


def _classed(token: str) -> str:
    """Likewise, with the class of a content word where it has one."""
    if token in FUNCTION or not token[0].isalpha():
        return token
    return next(iter(classes(token)), "_")


def _of_words(found: dict[str, float], tokens: Sequence[str]) -> None:
    share = 1 / sqrt(max(len(tokens), 1))
    blanked = ["<", *map(_blanked, tokens), ">"]
    classed = ["<", *map(_classed, tokens), ">"]
    for count, name, sequence, weight in (
        (1, "w", ["<", *tokens, ">"], 1.5 * share),
        (2, "w", ["<", *tokens, ">"], 1.5 * share),
        (2, "s", blanked, share),
        (3, "s", blanked, share),
        (2, "k", classed, share),
        (3, "k", classed, share),
        (4, "k", classed, share),
    ):
        for place in range(len(sequence) - count + 1):
            found[name + " ".join(sequence[place : place + count])] += weight
    for token in tokens:
        if token[0].isalpha() and len(token) > 4:
            found["x" + token[-3:]] += share
            if len(token) > 5:
                found["p" + token[:4]] += share
    for name in {name for token in tokens for name in classes(token)}:
        found["has " + name] += 0.5


def _of_ends(found: dict[str, float], tokens: Sequence[str]) -> None:
    first, last = tokens[:4], tokens[-4:]
    blanked, end, classed = [*map(_blanked, first)], [*map(_blanked, last)], [*map(_classed, first)]
    for count in range(1, 5):
        found["^" + " ".join(first[:count])] += 1
        found["~^" + " ".join(blanked[:count])] += 1
        found["k^" + " ".join(classed[:count])] += 1
        found["$" + " ".join(last[-count:])] += 0.7
        found["~$" + " ".join(end[-count:])] += 0.5


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
        classed = [*map(_classed, tokens[:3])]
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
