"""Whether a claim negates what its best evidence affirms, or the other way round.

A light reading: a negation reaches the next few content words of its clause; a word counts as turned
over when claim and evidence share it and only one of them negates it, or when one uses the other's
opposite. It is a hint beside the model, never a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from streamverify.checks.words import STOP_WORDS, stem, words

_CUES = frozenset(
    """
    not no never without cannot nor neither none nobody nothing nowhere hardly barely scarcely rarely seldom unless
    fails failed fail unable refuses refused lacks lack lacked lacking prevents prevented prevent avoids avoid
    excluded excludes exclude excluding except denied denies deny prohibited prohibits prohibit forbidden forbids
    banned ban bans instead
    """.split()
)
_REACH = 4
"""Content words after a negation that it reaches."""
_BREAK = re.compile(
    r"[,;:.!?()]|\s[-–—]\s|\b(?:but|although|though|however|while|whereas|and|or|because|which)\b"
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
LEAST_SHARED = 0.5
"""Share of the claim's content words that a sentence must hold to be compared with it."""

_OPPOSITES = """
increase decrease|increase reduce|increase fall|increase drop|rise fall|rise drop|rise decline|raise lower
raise cut|grow shrink|gain lose|gain loss|high low|higher lower|more less|more fewer|most least|maximum minimum
before after|earlier later|early late|first last|start end|begin end|open close|allow prohibit|allow forbid
allow ban|permit prohibit|permit forbid|allow refuse|accept reject|accept refuse|approve reject|grant refuse
grant deny|include exclude|required optional|mandatory optional|compulsory optional|mandatory voluntary
compulsory voluntary|always never|all none|everyone nobody|everything nothing|with without|above below|over under
up down|inside outside|internal external|public private|safe unsafe|safe dangerous|possible impossible|able unable
legal illegal|lawful unlawful|valid invalid|true false|right wrong|correct incorrect|win lose|won lost|pass fail
success failure|succeed fail|positive negative|strong weak|fast slow|faster slower|quick slow|long short
longer shorter|large small|larger smaller|big small|bigger smaller|heavy light|hot cold|warm cool|warmer cooler
warm cold|full empty|old new|older younger|older newer|young old|rich poor|cheap expensive|free paid|many few
enable disable|enabled disabled|on off|add remove|insert remove|create delete|push pull|buy sell|import export
import export|agree disagree|support oppose|confirm deny|upheld overturned|uphold overturn|affirm reverse
guilty innocent|alive dead|survive die|better worse|best worst|improve worsen|love hate|common rare|often rarely
frequent rare|permanent temporary|direct indirect|active inactive|visible invisible|known unknown|equal unequal
same different|similar different|clockwise anticlockwise|left right|north south|east west|northern southern
eastern western|male female|men women|man woman|mother father|parent child|employer employee|landlord tenant
buyer seller|plaintiff defendant|upper lower|top bottom|front back|oldest youngest|largest smallest
highest lowest|longest shortest|secured unsecured|fixed variable|fixed floating|joined left|arrive depart
arrival departure|lend borrow|save spend|profit loss|surplus deficit|asset liability|ascending descending
summer winter|spring autumn|morning evening|morning afternoon|day night|import export|married single|sunrise sunset
"""


def _opposites() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for pair in _OPPOSITES.replace("\n", "|").split("|"):
        if pair:
            one, other = pair.split()
            table.setdefault(stem(one), set()).add(stem(other))
            table.setdefault(stem(other), set()).add(stem(one))
    return {word: frozenset(others) for word, others in table.items()}


_OPPOSITE_OF = _opposites()


@dataclass(frozen=True, slots=True)
class _Polar:
    stem: str
    start: int
    end: int
    negated: bool


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A word of the claim that the evidence turns over."""

    start: int
    """Offset in the claim's text."""
    end: int
    source: int
    """Index of the source text."""
    theirs: str
    """How the evidence puts it: the sentence."""
    shared: float
    """Share of the claim's content words that the evidence sentence holds, 0-1."""


def _polar(text: str) -> list[_Polar]:
    """Content words and opposites of a text with their polarity."""
    found: list[_Polar] = []
    reach = 0
    flip = False
    last = 0
    for word in words(text):
        if _BREAK.search(text, last, word.start):
            reach = 0
        last = word.end
        if word.folded in _CUES or word.folded.endswith("n't"):
            flip = not (flip and reach > 0)
            reach = _REACH
            continue
        if word.folded in {
            "but",
            "although",
            "though",
            "however",
            "while",
            "whereas",
            "and",
            "or",
            "because",
            "which",
        }:
            reach = 0
        root = stem(word.folded)
        if word.folded not in STOP_WORDS or root in _OPPOSITE_OF:
            found.append(_Polar(root, word.start, word.end, flip and reach > 0))
            if word.folded not in STOP_WORDS:
                reach -= 1
    return found


def mismatch(claim: str, sources: Sequence[str]) -> Mismatch | None:
    """The word in which the best matching source sentence and the claim disagree, if there is one.

    Args:
        claim: the claim's text.
        sources: the texts of the evidence; the cost is linear in their length.

    Returns:
        None when no sentence holds `LEAST_SHARED` of the claim's content words, or none disagrees.
    """
    own = _polar(claim)
    content = {polar.stem for polar in own if polar.stem not in _OPPOSITE_OF} or {polar.stem for polar in own}
    if not content:
        return None
    best: tuple[float, int, str, list[_Polar]] | None = None
    for number, source in enumerate(sources):
        for sentence in _SENTENCE.split(source):
            theirs = _polar(sentence)
            shared = len(content & {polar.stem for polar in theirs}) / len(content)
            if shared >= LEAST_SHARED and (best is None or shared > best[0]):
                best = (shared, number, sentence, theirs)
    if best is None:
        return None
    shared, number, sentence, theirs = best
    turned = _turned(own, theirs)
    if turned is None:
        return None
    return Mismatch(turned.start, turned.end, number, sentence.strip(), shared)


def _turned(own: Sequence[_Polar], theirs: Sequence[_Polar]) -> _Polar | None:
    polarity: dict[str, set[bool]] = {}
    for polar in theirs:
        polarity.setdefault(polar.stem, set()).add(polar.negated)
    for polar in own:
        there = polarity.get(polar.stem)
        if there is not None:
            if polar.negated not in there:
                return polar
            continue
        for opposite in _OPPOSITE_OF.get(polar.stem, ()):
            if polar.negated in polarity.get(opposite, ()):
                return polar
    return None
