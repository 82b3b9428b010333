"""How far a claim's words stand in its sources, and which strong words only the claim has.

Pure counting over stems, bounded by the claim's length: no sentence is longer than a few hundred
words. The strong words are those a source must have said for a claim to be faithful: "all", "never",
"because", "probably".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from streamverify.checks.index import SourceView
from streamverify.checks.quotes import plain
from streamverify.text.caseless import Caseless
from streamverify.text.words import content_stems

ABSOLUTE = Caseless.of(
    r"\b(?:all|every|everyone|everybody|everything|everywhere|always|never|none|nobody|no one|entire(?:ly)?"
    r"|whole"
    r"|complete(?:ly)?|total(?:ly)?|any|anyone|anything|only|solely|exclusively|regardless|without exception"
    r"|fully|invariably|impossible|guarantee[sd]?)\b"
)
GENERAL = Caseless.of(
    r"\b(?:most|mostly|usual(?:ly)?|normal(?:ly)?|general(?:ly)?|typical(?:ly)?|often|common(?:ly)?"
    r"|rare(?:ly)?"
    r"|many|majority|main(?:ly)?|largely|frequent(?:ly)?|hardly|ever|widely|almost|nearly all|tend(?:s"
    r"|ed)? to"
    r"|in practice|one of the|best|worst|leading|well[- ]known|famous(?:ly)?|popular|considered|regarded)\b"
)
CAUSAL = Caseless.of(
    r"\b(?:because|therefore|thus|hence|since|so that|so as to|in order to|due to|owing to|thanks to"
    r"|caus(?:e[sd]?|ing)"
    r"|led to|lead(?:s|ing)? to|result(?:s|ed|ing)? (?:in|from|of)|as a result|consequently|consequence"
    r"|reason|why"
    r"|made? (?:it )?possible|trigger(?:s|ed)?|drove|driven by|responsible for|account(?:s|ed)? for"
    r"|means that|as the|as its?"
    r"|follows from|prompted|which is why|to (?:protect|avoid|prevent|ensure|reduce|improve|save))\b"
)
TENTATIVE = Caseless.of(
    r"\b(?:probabl[ey]|likely|perhaps|maybe|possibl[ey]|presumabl[ey]|apparently|seem(?:s|ed)?|appears?"
    r"|expected|should"
    r"|might|could|suggest(?:s|ed|ing)?|estimated|believed|thought to|reportedly|would|will)\b"
)

_LINKED = 12
"""Content words within which two words of a source count as said together."""


def wording(text: str, near: SourceView, everything: SourceView, *, closely: bool) -> dict[str, float]:
    """Signals of a claim's words, by their names in `Signals`; word order is looked at `closely` only."""
    stems = content_stems(text)
    texts = [source.text for source in near.sources]
    together, pairs = linked(stems, near.stem_runs) if stems and closely else (1.0, 1.0)
    strong = {
        "absolute_missing": ABSOLUTE,
        "general_missing": GENERAL,
        "causal_missing": CAUSAL,
        "tentative_missing": TENTATIVE,
    }
    return {
        "verbatim": float(closely and plain(text) in near.plain_sentences),
        "uncovered": 1 - covered(stems, near),
        "uncovered_all": 1 - covered(stems, everything),
        "scattered": 1 - together,
        "unlinked": 1 - pairs,
    } | {name: float(strong_missing(pattern, text, texts)) for name, pattern in strong.items()}


def strong_missing(pattern: Caseless, claim: str, texts: Iterable[str]) -> bool:
    """Whether the claim has a word of this kind and none of the texts has any."""
    return pattern.search(claim) and not any(pattern.search(text) for text in texts)


def covered(stems: Sequence[str], view: SourceView) -> float:
    """Share (0-1) of these stems that stand in the view; 1 when there are none."""
    return sum(stem in view.stems for stem in stems) / len(stems) if stems else 1.0


def linked(stems: Sequence[str], runs: Iterable[Sequence[str]]) -> tuple[float, float]:
    """How closely the claim's words stand together in the sources.

    Args:
        stems: of the claim's content words, in order.
        runs: for each source text the stems of its content words, in order.

    Returns:
        The largest share (0-1) of the claim's stems found within any stretch of `_LINKED` + the
        claim's own number of content words; and the share of neighbouring pairs, both of whose words
        occur, that occur within `_LINKED` content words of each other (1 when there are no such pairs).
    """
    wanted = set(stems)
    pairs = {(one, other) for one, other in pairwise(stems) if one != other}
    best = 0.0
    near: set[tuple[str, str]] = set()
    seen_anywhere: set[str] = set()
    for run in runs:
        places = [(place, root) for place, root in enumerate(run) if root in wanted]
        seen_anywhere.update(root for _, root in places)
        best = max(best, _densest(places, _LINKED + len(stems)) / len(wanted))
        near |= _pairs_within(places, pairs)
    both = [pair for pair in pairs if pair[0] in seen_anywhere and pair[1] in seen_anywhere]
    return best, sum(pair in near for pair in both) / len(both) if both else 1.0


def _densest(places: Sequence[tuple[int, str]], reach: int) -> int:
    """The most different stems that stand within `reach` words of each other."""
    best = first = 0
    inside: dict[str, int] = {}
    for place, root in places:
        inside[root] = inside.get(root, 0) + 1
        while places[first][0] < place - reach:
            gone = places[first][1]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            first += 1
        best = max(best, len(inside))
    return best


def _pairs_within(places: Sequence[tuple[int, str]], pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    last: dict[str, int] = {}
    for place, stem in places:
        for other, seen in last.items():
            if place - seen <= _LINKED:
                found.update({(other, stem), (stem, other)} & pairs)
        last[stem] = place
    return found
