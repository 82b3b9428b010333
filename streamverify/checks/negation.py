"""Whether a claim negates what its best evidence affirms, or the other way round.

Compared are the claim and the one source sentence that holds most of its content words. They disagree
when only one of them has a negation in the stretch that both share, or when one uses the other's
opposite beside the same words. Where a sentence restricts ("only", "unless", "except") its polarity
cannot be read off the surface, and nothing is said. A hint beside the model, never a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

from streamverify._lazy import cached_property
from streamverify.checks.bounds import BOUNDING, Bounds, digits
from streamverify.checks.denied import denied, denying
from streamverify.checks.opposites import OPPOSITE_OF, WAYS, clashes, phrases
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
    r"|(?:not|never|\w+n['’]t)(?: be \w+ to| have to)?(?: \w+){0,2}"
    r" (?:(?:more|less|fewer|longer|higher|lower|later|earlier|larger|smaller|greater)(?: of(?: \w+){1,3})?"
    r" than|(?:above|below|over|under)(?= [€$£]?\d)|exceed(?:ing|s)?))\b"
)
"""Negations that negate no statement: "no later than" is a bound, "not only" an addition."""
_INSIDE = Caseless.of(r"\bincluding(?: \w+){0,3} (?:not|never|non)\b|\bor not(?=[,.;:!?)]|$)")
"""A negation that ends here negates what is listed, or leaves open: "including those not notified"."""
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
_EXCEPTING = Caseless.of(
    r"\b(?:except(?:ed|ing|ions?)?|apart from|other than|only|unless|save for|but not"
    r"|others?|else|otherwise|older|younger|the rest|remaining)\b"
)
LEAST_SHARED = 0.6
"""Share of the claim's content words that a sentence must hold to be compared with it."""
_LEAST_WORDS = 3
"""Content words that both must have in common; two where the sentence has `_FEW` at most."""
_FEW = 4

_OURS, _THEIRS = (0.4, 0), (0.3, 1)
"""Where the claim negates, or the source: how alike both must be, as the share of all their content words
that both have, and how many content words may stand between the negation and a shared one. A right claim
often tells by a negation what its source affirms in other words; the other way round it is rarer."""
_OF_A_PART = frozenset(stems_of(("no", "nobody")))
"""In a claim they may negate what its source leaves out: it must be as alike as `_ALL_BUT`."""
_ALL_BUT = 0.7

_STOP = re.compile(r"[,;:()\n]")
_MOST = frozenset(stems_of(listed("maximum minimum most least")))
"""Opposites that a sentence may have of two figures: they clash beside the same one."""
_FIGURE_BEHIND = 7
_FIGURE_BEFORE = 4
"""Words behind and before such a word within which its figure stands, itself counted."""

_NO_NON = frozenset(listed("nonetheless nonsense nonstop nonchalant"))
_LEAST_NON = 8
"""Letters of a word that begins with "non" and negates what follows: nonprofit, and non-profit likewise."""


def _negates(word: str) -> bool:
    if word in _CUES or word.endswith("n't") or word == "non":
        return True
    return word.startswith("non") and len(word) >= _LEAST_NON and word not in _NO_NON


@dataclass(frozen=True)
class Statement:
    """A sentence as far as its polarity is concerned, read when first asked for."""

    text: str

    @cached_property
    def blanked(self) -> str:
        """The text with blanks in the place of negations that negate no statement."""
        text = _IDIOMS.blanked(self.text)
        parts: list[str] = []
        end = 0
        for found in _INSIDE.finditer(text):
            last = found.start() + found[0].rindex(" ")
            parts += (text[end:last], " " * (found.end() - last))
            end = found.end()
        return "".join([*parts, text[end:]])

    @cached_property
    def _words(self) -> list[str]:
        return tokens(self.blanked)

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """Of all words, in order."""
        return tuple(stems_of(self._words))

    @cached_property
    def phrases(self) -> tuple[str, ...]:
        """For each word what it is together with the next one, where that is in the table of opposites."""
        return tuple(phrases(self._words))

    @cached_property
    def figures(self) -> frozenset[str]:
        """The figures that its words begin with: 4 of "4m", as of "4 million"."""
        return frozenset(digits(word) for word in self._words if word[0].isdigit())

    @cached_property
    def bounds(self) -> Bounds:
        """The bounds it names."""
        return Bounds.of(self.text)

    @cached_property
    def denying(self) -> frozenset[str]:
        """Stems of its words that say without a negation that something is not so."""
        return denying(self._words)

    def figure_at(self, place: int) -> str:
        """The figure that is nearest to a word, the one behind it of two; empty without one in reach."""
        near = [*range(place + 1, place + _FIGURE_BEHIND), *range(place - 1, place - _FIGURE_BEFORE, -1)]
        near.sort(key=lambda at: abs(at - place))
        words = (self._words[at] for at in near if 0 <= at < len(self._words))
        return next((figure for word in words if (figure := digits(word))), "")

    def supposes(self, place: int) -> bool:
        """Whether the stretch between stops that a word stands in says what would be."""
        found = next(islice(WORD.finditer(self.blanked), place, None), None)
        if found is None:  # folding split a word in two
            return False
        before = _STOP.split(self.blanked[: found.start()])[-1]
        return "would" in tokens(before + _STOP.split(self.blanked[found.start() :])[0])

    @cached_property
    def excepting(self) -> bool:
        """It holds a word for what a statement is not true of, which may turn an opposite round."""
        return _EXCEPTING.search(self.text)

    @cached_property
    def content(self) -> frozenset[str]:
        """Stems that carry content."""
        telling = {word for word in self._words if len(word) > 1} - STOP_WORDS
        return frozenset(stems_of(telling))

    def apart(self, other: Statement) -> set[str]:
        """Stems of which the other has an opposite instead: beside a negation they may say the same."""
        theirs = frozenset(other.stems)
        found = {
            root
            for root in OPPOSITE_OF.keys() & self.stems
            if root not in theirs and not OPPOSITE_OF[root].isdisjoint(theirs)
        }
        return found | ({self.stems[place] for place, _ in clashes(self.phrases, other.phrases)} - theirs)

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
    denied: bool
    """This very word is negated in one of the two, of the same thing."""


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
        None when no sentence holds `LEAST_SHARED` of the claim's content words or denies its verb, when the
        nearest one agrees with it, or when either restricts in a way that is not read here.
    """
    own = Statement(claim)
    found_at = nearest_to(own, evidence)
    if found_at is None:
        return None
    whole = evidence[found_at]
    verb = denied(own.blanked, whole.blanked)
    nearest = _part(own, whole)
    content = own.content - own.apart(nearest)
    common = content & nearest.content
    shared = len(common) / max(len(content), 1)
    least = _LEAST_WORDS if len(nearest.content) > _FEW else 2
    alike = shared >= LEAST_SHARED and len(common) >= least
    place = _opposed(own, nearest, common) if alike else None
    opposite = place is not None
    if place is None:
        place = verb
    if place is None and alike and not own.apart(nearest) and not own.restricted and not nearest.restricted:
        place = _negated(own, nearest, common)
    if place is None or (not opposite and own.bounds.turned_in(whole.bounds)):
        return None
    found = list(WORD.finditer(own.blanked))
    if place >= len(found):  # folding split a word in two (½): its place is lost
        return None
    return Mismatch(*found[place].span(), whole, shared, opposite, verb is not None and not opposite)


def _part(own: Statement, whole: Statement) -> Statement:
    """The part of a sentence between semicolons that holds all of the claim but figures, if one does."""
    return _holding({root for root in own.content if not root[0].isdigit()}, whole)


def _holding(stems: set[str | None], whole: Statement) -> Statement:
    """The first part of a sentence between semicolons that holds all of these words, or the sentence."""
    if ";" not in whole.text or not stems <= whole.content:
        return whole
    parts = map(Statement, whole.text.split(";"))
    return next((part for part in parts if stems <= part.content), whole)


def _negated(own: Statement, theirs: Statement, common: frozenset[str]) -> int | None:
    """Index of the claim's word at which only one of the two sentences has a negation."""
    ours = _cues_among(own, common)
    others = _cues_among(theirs, common)
    if len(ours) % 2 == len(others) % 2 or (ours and others):
        return None
    cue, affirming, negating = (ours[0], theirs, own) if ours else (others[0], own, theirs)
    behind = [root for root in negating.stems[cue + 1 :] if root in negating.content]
    passed = next((at for at, root in enumerate(behind) if root in common), None)
    least, most = _OURS if ours else _THEIRS
    if ours and own.stems[cue] in _OF_A_PART:
        least = _ALL_BUT
    alike = len(common) / len(own.content | theirs.content)
    if passed is None or passed > most or alike < least:
        return None
    negated = behind[passed]
    if _holding({negated}, affirming).denying - frozenset(negating.stems):
        return None
    if ours:
        return cue
    return own.stems.index(negated) if negated in own.stems else None


def _cues_among(sentence: Statement, common: frozenset[str]) -> list[int]:
    """The negations in the stretch from the first to the last shared word, and three words before it."""
    places = [place for place, root in enumerate(sentence.stems) if root in common]
    return [cue for cue in sentence.cues if places[0] - 3 <= cue < places[-1]]


def _opposed(own: Statement, theirs: Statement, common: frozenset[str]) -> int | None:
    """Index of a word of the claim whose opposite stands beside the same words in the evidence."""
    if len(own.cues) % 2 != len(theirs.cues) % 2:
        return None
    found = [*clashes(own.stems, theirs.stems)]
    if not own.excepting and not theirs.excepting and own.figures <= theirs.figures:
        moves = clashes(own.phrases, theirs.phrases)
        found += [
            (place, other)
            for place, other in moves
            if own.phrases[place] not in WAYS or own.stems[place + 1] not in theirs.stems
        ]
    opposed = [place for place, other in found if _clash(own, place, theirs, other, common)]
    if own.bounds.turned_in(theirs.bounds) and any(not _bounding(own, place) for place in opposed):
        return None
    return next(iter(opposed), None)


def _clash(own: Statement, place: int, theirs: Statement, other: int, common: frozenset[str]) -> bool:
    """Whether two opposites stand beside the same words, the other one not as what only would be."""
    if "would" not in own.stems and theirs.supposes(other):
        return False
    if own.stems[place] in _MOST and own.figure_at(place) != theirs.figure_at(other):
        return False
    beside = _beside(own.stems, place, common) & _beside(theirs.stems, other, common)
    return bool(beside) and not _turned_round(own.stems, place, theirs.stems, other, common)


def _bounding(own: Statement, place: int) -> bool:
    """Whether a word says from which side a bound is meant."""
    return own.stems[place] in BOUNDING


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
