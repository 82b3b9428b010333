"""Whether a claim negates what its best evidence affirms, or the other way round.

Compared are the claim and the one source sentence that holds most of its content words. They disagree
when only one of them has a negation in the stretch that both share, or when one uses the other's
opposite beside the same words. Where a sentence restricts ("only", "unless", "except") its polarity
cannot be read off the surface, and nothing is said. A hint beside the model, never a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from streamverify._lazy import cached_property
from streamverify.text.caseless import Caseless
from streamverify.text.sentence_ends import SENTENCE_END
from streamverify.text.words import STOP_WORDS, WORD, listed, stem, stems_of, tokens

_CUES = frozenset(
    listed("""
    not no never cannot nor neither none nobody nothing nowhere hardly barely scarcely rarely seldom
    without
    """)
)
_IDIOMS = Caseless.of(
    r"\b(?:no (?:later|more|less|fewer|earlier|longer than|sooner|greater|higher|lower|larger|smaller"
    r"|matter|doubt|one else|\d+)"
    r"|not (?:later|more|less|fewer|earlier|only|just|least|exceed(?:ing)?|until|necessarily|all|every|yet)"
    r"|nothing (?:but|more|less)"
    r"|whether or not|no\. ?\d|nos\. ?\d|without (?:delay|exception|further ado|limit|doubt)|never before"
    r"|none other"
    # A bound, however it is put: "never costs more than", "does not go above".
    r"|(?:not|never|\w+n['’]t)(?: \w+){0,2} (?:(?:more|less|fewer|longer|higher|lower|later|earlier|larger"
    r"|smaller|greater) than|(?:above|below|over|under)(?= [€$£]?\d)|exceed(?:ing|s)?))\b"
)
"""Negations that negate no statement: "no later than" is a bound, "not only" an addition."""
_RESTRICTING = Caseless.of(
    r"\b(?:unless|except(?:ed|ing|ions?)?|save for|only|instead|rather|other than|apart from|but not"
    r"|exclu\w+|lack\w*"
    r"|fail\w*|refus\w+|den(?:y|ies|ied)|prevent\w*|prohibit\w*|forb\w+|ban(?:s|ned|ning)?|void|invalid"
    r"|unlawful|illegal|un\w{5,}"
    r"|impossible|insufficient|unable|refrain|stop\w*|free of|free from|limited|limit\w*|until|too|avoid\w*"
    r"|exempt\w*|outside"
    r"|beyond|absen\w+|miss\w*|less|neither|off|difference|otherwise|against|out of|no need|drop\w*"
    r"|reject\w*|revers\w+|if|whether|would)\b"
)
"""Words that turn or narrow a statement without a plain negation."""
_CONJUNCTIONS = frozenset(stem(word) for word in listed("and but or while whereas then"))
LEAST_SHARED = 0.6
"""Share of the claim's content words that a sentence must hold to be compared with it."""
_LEAST_WORDS = 3
"""Content words that both must have in common; two where the sentence has `_FEW` at most."""
_FEW = 4

_OPPOSITES = """
increase decrease|increase reduce|rise fall|rise decline|grow shrink|gain lose|higher lower|highest lowest
more fewer|more less|most least|maximum minimum|at_most at_least|allow prohibit|allow forbid
permit prohibit|accept reject|allow forbidden|permit forbidden|allow ban|permit ban
approve reject|include exclude|required optional|mandatory optional|mandatory voluntary|compulsory voluntary
always never|everyone nobody|above below|internal external|public private|safe unsafe|safe dangerous
possible impossible|able unable|legal illegal|lawful unlawful|valid invalid|correct incorrect|success failure
succeed fail|positive negative|strong weak|stronger weaker|faster slower|longer shorter|larger smaller
bigger smaller
heavier lighter|warmer cooler|warmer colder|hotter colder|older younger|cheaper dearer|enable disable
add remove
import export|agree disagree|support oppose|confirm deny|affirm reverse|guilty innocent|survive die
better worse|best worst|improve worsen|common rare|rarer commoner|permanent temporary|direct indirect
active inactive
visible invisible|known unknown|secured unsecured|fixed variable|upper lower|northern southern|eastern western
largest smallest|oldest youngest|longest shortest|ascending descending|upheld overturned|arrive depart
profit loss|surplus deficit|employer employee|landlord tenant|buyer seller|earlier later|before after
high low|large small|long short|old new|newer older|thick thin|deep shallow|easy difficult|easy hard
empty full|north south|east west|north-west south-east|first last|front back|top bottom|inside outside
major minor|primary secondary|same different|all most|all some|all half|whole part|always usually
always sometimes|often rarely|often seldom|often never|majority minority|rise drop|climb fall|climb drop
gain fall|raise lower|raise reduce|raise cut|lengthen shorten|widen narrow|arrival departure
entry exit|weekday weekend|morning evening|morning afternoon|summer winter|spring autumn|hot cold|wet dry
male female|man woman|men women|boy girl|father mother|son daughter|husband wife
"""


_NO_NON = frozenset(listed("nonetheless nonsense nonstop nonchalant"))
_LEAST_NON = 8
"""Letters of a word that begins with "non" and negates what follows: nonprofit, and non-profit likewise."""
_WEAKER = {
    stem("all"): frozenset(stems_of(listed("some most half"))),
    stem("whole"): frozenset({stem("part")}),
}
"""What follows from the stronger word: only the stronger one in a claim is opposed."""


def _negates(word: str) -> bool:
    if word in _CUES or word.endswith("n't") or word == "non":
        return True
    return word.startswith("non") and len(word) >= _LEAST_NON and word not in _NO_NON


def _opposites() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for pair in _OPPOSITES.replace("\n", "|").split("|"):
        if pair:
            one, other = pair.split()
            table.setdefault(stem(one), set()).add(stem(other))
            table.setdefault(stem(other), set()).add(stem(one))
    return {word: frozenset(others) for word, others in table.items()}


_OPPOSITE_OF = _opposites()


@dataclass(frozen=True)
class Statement:
    """A sentence as far as its polarity is concerned, read when first asked for."""

    text: str

    @cached_property
    def _words(self) -> list[str]:
        return tokens(_IDIOMS.blanked(self.text))

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """Of all words, in order."""
        return tuple(stems_of(self._words))

    @cached_property
    def content(self) -> frozenset[str]:
        """Stems that carry content."""
        telling = {word for word in self._words if len(word) > 1} - STOP_WORDS
        return frozenset(stems_of(telling))

    def apart(self, other: Statement) -> frozenset[str]:
        """Stems of which the other has an opposite instead: beside a negation they may say the same."""
        theirs = frozenset(other.stems)
        return frozenset(
            root
            for root in _OPPOSITE_OF.keys() & self.stems
            if root not in theirs and not _OPPOSITE_OF[root].isdisjoint(theirs)
        )

    @cached_property
    def cues(self) -> tuple[int, ...]:
        """Indices of the words that negate."""
        return tuple(place for place, word in enumerate(self._words) if _negates(word))

    @cached_property
    def restricted(self) -> bool:
        """It holds a word that turns or narrows a statement in a way that is not read here."""
        return _RESTRICTING.search(self.text)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Where a claim and its best evidence disagree in polarity."""

    start: int
    """Offset in the claim's text."""
    end: int
    theirs: Statement
    """The evidence sentence."""
    shared: float
    """Share of the claim's content words that the evidence sentence holds, 0-1."""
    opposite: bool
    """The evidence has the opposite of this word; else only one of the two is negated."""


def statements(text: str) -> list[Statement]:
    """The sentences of a source text; the cost is linear in its length."""
    return [Statement(part) for part in SENTENCE_END.split(text) if part and not part.isspace()]


def nearest_to(own: Statement, evidence: Sequence[Statement]) -> int | None:
    """Which sentence holds most of the content words of another; the first of several, None without any."""
    shared = [len(own.content & other.content) for other in evidence]
    return max(range(len(shared)), key=shared.__getitem__, default=None)


def mismatch(claim: str, evidence: Sequence[Statement]) -> Mismatch | None:
    """Where the claim and the evidence sentence nearest to it disagree, if they do.

    Returns:
        None when no sentence holds `LEAST_SHARED` of the claim's content words, when the nearest one
        agrees with it, or when either restricts in a way that is not read here.
    """
    own = Statement(claim)
    found_at = nearest_to(own, evidence)
    if found_at is None:
        return None
    nearest = evidence[found_at]
    content = own.content - own.apart(nearest)
    common = content & nearest.content
    shared = len(common) / max(len(content), 1)
    least = _LEAST_WORDS if len(nearest.content) > _FEW else 2
    if shared < LEAST_SHARED or len(common) < least:
        return None
    place = _opposed(own, nearest, common)
    opposite = place is not None
    if place is None and not own.apart(nearest) and not own.restricted and not nearest.restricted:
        place = _negated(own, nearest, common)
    if place is None:
        return None
    found = list(WORD.finditer(_IDIOMS.blanked(claim)))
    if place >= len(found):  # folding split a word in two (½): its place is lost
        return None
    return Mismatch(*found[place].span(), nearest, shared, opposite)


def _negated(own: Statement, theirs: Statement, common: frozenset[str]) -> int | None:
    """Index of the claim's word at which only one of the two sentences has a negation."""
    ours = _cues_among(own, common)
    others = _cues_among(theirs, common)
    if len(ours) % 2 == len(others) % 2 or (ours and others):
        return None
    if ours:
        return ours[0]
    negated = next((root for root in theirs.stems[others[0] + 1 :] if root in common), None)
    return own.stems.index(negated) if negated in own.stems else None


def _cues_among(sentence: Statement, common: frozenset[str]) -> list[int]:
    """The negations in the stretch from the first to the last shared word, and three words before it."""
    places = [place for place, root in enumerate(sentence.stems) if root in common]
    return [cue for cue in sentence.cues if places[0] - 3 <= cue < places[-1]]


def _opposed(own: Statement, theirs: Statement, common: frozenset[str]) -> int | None:
    """Index of a word of the claim whose opposite stands beside the same words in the evidence."""
    if len(own.cues) % 2 != len(theirs.cues) % 2:
        return None
    for place, root in enumerate(own.stems):
        if root in theirs.stems:
            continue
        for opposite in _OPPOSITE_OF.get(root, ()):
            if opposite not in theirs.stems or opposite in own.stems or root in _WEAKER.get(opposite, ()):
                continue
            other = theirs.stems.index(opposite)
            beside = _beside(own.stems, place, common) & _beside(theirs.stems, other, common)
            if beside and not _turned_round(own.stems, place, theirs.stems, other, common):
                return place
    return None


def _turned_round(
    own: Sequence[str], place: int, theirs: Sequence[str], other: int, common: frozenset[str]
) -> bool:
    """Whether what stands before the one word stands behind the other: "a is above b", "b is below a"."""
    before, after = common.intersection(own[:place]), common.intersection(own[place + 1 :])
    first, last = common.intersection(theirs[:other]), common.intersection(theirs[other + 1 :])
    return bool(before & last and after & first)


def _beside(stems: Sequence[str], place: int, common: frozenset[str]) -> set[str]:
    """The shared words within four words of a place and on its side of a conjunction."""
    before, after = stems[max(place - 4, 0) : place][::-1], stems[place + 1 : place + 5]
    near = (*takewhile(_no_conjunction, before), *takewhile(_no_conjunction, after))
    return set(near) & common


def _no_conjunction(word: str) -> bool:
    return word not in _CONJUNCTIONS
