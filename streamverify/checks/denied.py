"""What a claim says of a thing and its evidence denies, or the other way round, with the same verb.

"Leave that was bought can be carried over" where the handbook says that it cannot. `negation.py` counts the
negations of two sentences that share most of their words; here the negated word itself has to stand in both,
behind the same subject and before the same rest of its clause, and whatever else might turn the one or the
other round keeps it silent. Before: `negation.py` found the nearest sentence. After: it tells it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from streamverify.checks.number_words import CARDINALS
from streamverify.text.calendar import DAYS, MONTHS
from streamverify.text.words import STOP_WORDS, WORD, fold, listed, stems_of, without_possessives

SUBJECT = 0.75
"""Share of the content words before the claim's verb that stand before the evidence's."""
REST = 0.5
"""Share of those behind it, up to the end of the clause, that stand in the evidence sentence."""
CONDITION = 0.6
"""Share of the words of a condition behind either clause that the other sentence holds."""
_REACH = 4
"""Words behind a negation among which the negated one is looked for."""
_LONGEST = 1000
"""Characters of a sentence that is read: a longer one is a table, or no sentence."""

_STOP = re.compile(r"[,;:()\n]|\s[-–—]\s")
_LINKS = frozenset(
    listed("""
    but whereas while although though because since as if unless when whenever until whether before after
    which who that so and or once provided
    """)
)
_CONDITIONS = frozenset(listed("if unless when whenever whether until before provided or once"))
"""Behind these a clause states nothing by itself."""
_LIMITS = frozenset(listed("before until unless"))
"""A denial with one of these behind it says when or in which case, and is a statement: "not before April"."""
_NEGATIONS = frozenset(listed("not never cannot"))
_PASSED_OVER = STOP_WORDS | frozenset(
    listed("""
    been need needs yet still even ever always necessarily currently normally usually generally longer
    automatically
    """)
)
"""Words between a negation and what it negates."""
_PLACING = frozenset(listed("after before over under until during above below outside within on off"))
_QUANTIFIERS = frozenset(
    listed("""
    none all both half every each any some most other others another elsewhere
    first second third fourth fifth last next weekdays weekends
    """)
) | {*DAYS, *MONTHS} - {"may"}
"""Not the month whose name is mostly a verb."""
_TURNING = re.compile(
    r"(?:unable|refus\w*|fail\w*|lack\w*|exempt\w*|free|prevent\w*|from|too|without|only|except\w*|instead"
    r"|rather|mistake|mere\w*|hardly|rarely|no|none|nothing|nobody|would|yet|default|far|un\w{5,})"
)
"""Words that turn or narrow a clause without the negations above; both clauses have them, or neither."""
_DENYING = re.compile(
    r"(?<!not )(?<!n't )\b(?:"
    r"clos(?:e[ds]?|ing|ure)|barr(?:ed|ing)|bars?|bann(?:ed|ing)|bans?|forb\w+|prohibit\w*|discontinu\w+"
    r"|drop(?:s|ped|ping)?|end(?:s|ed|ing)|retir(?:e[ds]?|ing)|ceas\w+|stop\w*|withdr\w+|abolish\w*|scrap\w*"
    r"|suspend\w*|cancel\w*|terminat\w+|expir\w+|laps(?:e[ds]?|ing)|remov\w+|declin(?:e[ds]?|ing)|avoid\w*"
    r"|refrain\w*|waiv\w+|free"
    r"|(?:advi|warn|decid|vot|rul|recommend|counsel|caution|argu|urg)\w* (?:\w+ ){0,2}against)\b"
)
"""In folded words, what says that something is not so: "closed to visitors", "support was dropped",
"rent-free", "advised against". Not any "against": "it counts against the limit"."""
_ELSEWHERE = re.compile(
    r"\b(?:nor|neither|(?:but|and) not?|way (?:round|around)|vice versa|not true|myth)\b|n['’]t[,;.]",
    re.IGNORECASE,
)
"""What says the opposite of a clause in few words, behind it or before."""
_NOT_AS = re.compile(
    r"\bas (?:an? |the )?([\w-]+)(?:,| and|,? but) not (?:as )?(?:an? |the )?([\w-]+)", re.IGNORECASE
)
"""Something that is the one thing and not the other: "acts as an expert and not as an arbitrator"."""


@dataclass(frozen=True, slots=True)
class _Clause:
    words: tuple[str, ...]
    stems: tuple[str, ...]
    first: int
    """Index of its first word in the sentence."""
    led: str
    """The word that joins it to what is before; empty behind a comma."""

    def content(self, begin: int, end: int) -> list[str]:
        pairs = zip(self.words[begin:end], self.stems[begin:end], strict=True)
        return [root for word, root in pairs if word not in STOP_WORDS and len(word) > 1]

    @property
    def limits(self) -> frozenset[str]:
        """Stems that carry content, or tell when and where."""
        pairs = zip(self.words, self.stems, strict=True)
        return frozenset(r for w, r in pairs if w in _PLACING or (w not in STOP_WORDS and len(w) > 1))

    @property
    def figures(self) -> frozenset[str]:
        return frozenset(word for word in self.words if _counts(word))

    @property
    def negations(self) -> list[int]:
        return [place for place, word in enumerate(self.words) if _negates(word)]

    @property
    def turning(self) -> frozenset[str]:
        return frozenset(word for word in self.words if _TURNING.fullmatch(word))

    @property
    def denying(self) -> frozenset[str]:
        """Stems of the words that say without a negation that something is not so."""
        return denying(self.words)


def denying(words: Iterable[str]) -> frozenset[str]:
    """Stems of those folded words that say without a negation that something is not so."""
    return frozenset(stems_of(" ".join(_DENYING.findall(" ".join(words))).split()))


def denied(claim: str, evidence: str) -> int | None:
    """Which word of the claim is negated in the one sentence and stands in the other without negation.

    Args:
        claim: a sentence; idioms such as "no later than" blanked.
        evidence: the sentence of a source that shares most words with it, likewise.

    Returns:
        The index among the claim's words of its negation, or of the verb where the evidence negates it; None
        when nothing is to be told.
    """
    if max(len(claim), len(evidence)) > _LONGEST:
        return None
    excluded = _as_another(claim, evidence)
    if excluded is not None:
        return excluded
    if any(found.search(text) for found in (_ELSEWHERE, _NOT_AS) for text in (claim, evidence)):
        return None
    ours, theirs = _clauses(claim), _clauses(evidence)
    for mine, place, other, at in _pairs(ours, theirs):
        if not _same(mine, place, other, at, theirs) or _apart(mine, other, ours, theirs):
            continue
        if _holds_condition(ours, mine, theirs) and _holds_condition(theirs, other, ours):
            return mine.first + (mine.negations or [place])[0]
    return None


def _as_another(claim: str, evidence: str) -> int | None:
    """Which word of the claim says "as" what a thing is not by the evidence, which names what it is."""
    for excluded in _NOT_AS.finditer(evidence):
        instead, other = fold(excluded[1]), fold(excluded[2])
        held = set(stems_of(fold(match[0]) for match in WORD.finditer(evidence, 0, excluded.start())))
        before: list[str] = []
        last = ["", ""]
        for place, match in enumerate(WORD.finditer(claim)):
            word = fold(match[0])
            if word == instead or _negates(word) or _TURNING.fullmatch(word):
                break
            if word == other and "as" in last:
                if len(before) > 1 and held.issuperset(stems_of(before)):
                    return place
                break
            if word not in STOP_WORDS and len(word) > 1:
                before.append(word)
            last = [last[1], word]
    return None


def _pairs(ours: Sequence[_Clause], theirs: Sequence[_Clause]) -> Iterator[tuple[_Clause, int, _Clause, int]]:
    """Clauses of which one negates a word that the other has without, and where it stands in each."""
    for negating, others, own in ((ours, theirs, True), (theirs, ours, False)):
        for one in negating:
            place = _negated(one)
            if place is None:
                continue
            for other in others:
                if other.led in _CONDITIONS or other.negations or other.turning != one.turning:
                    continue
                if other.denying - frozenset(one.stems):
                    continue
                if one.stems[place] in other.stems:
                    at = other.stems.index(one.stems[place])
                    yield (one, place, other, at) if own else (other, at, one, place)


def _same(mine: _Clause, place: int, other: _Clause, at: int, theirs: Sequence[_Clause]) -> bool:
    """Whether two clauses say something of the same thing."""
    if mine.figures != other.figures:
        return False
    subject = mine.content(0, place)
    rest = mine.content(place + 1, len(mine.words))
    anywhere = {root for clause in theirs for root in clause.stems}
    return (
        bool(subject)
        and _share(subject, set(other.content(0, at))) >= SUBJECT
        and _share(rest, anywhere) >= REST
    )


def _apart(mine: _Clause, other: _Clause, ours: Sequence[_Clause], theirs: Sequence[_Clause]) -> bool:
    """Whether each clause has a word that the other sentence lacks: "on weekends" and "on weekdays"."""
    own, held = ({root for clause in clauses for root in clause.stems} for clauses in (ours, theirs))
    return bool(mine.limits - held) and bool(other.limits - own)


def _holds_condition(clauses: Sequence[_Clause], one: _Clause, others: Sequence[_Clause]) -> bool:
    """Whether the other sentence holds the condition that stands behind a clause, if one does."""
    following = clauses.index(one) + 1
    if following == len(clauses) or clauses[following].led not in _CONDITIONS:
        return True
    condition = clauses[following]
    if condition.led in _LIMITS and one.negations:
        return False
    held = {root for clause in others for root in clause.stems}
    return _share(condition.content(0, len(condition.words)), held) >= CONDITION


def _negated(clause: _Clause) -> int | None:
    """Where the word that the clause's only negation negates stands."""
    cues = clause.negations
    if len(cues) != 1 or clause.led in _CONDITIONS:
        return None
    for place in range(cues[0] + 1, min(cues[0] + _REACH, len(clause.words))):
        word = clause.words[place]
        if word not in _PASSED_OVER and len(word) > 1:
            return None if _counts(word) else place
    return None


def _clauses(sentence: str) -> list[_Clause]:
    found: list[_Clause] = []
    words: list[str] = []
    led, end, index = "", 0, -1
    for index, match in enumerate(WORD.finditer(sentence)):
        word = fold(match[0])
        if _STOP.search(sentence, end, match.start()):
            found += _clause(words, index, led)
            words, led = [], ""
        if word in _LINKS:
            found += _clause(words, index, led)
            words, led = [], word
        else:
            words.append(word)
        end = match.end()
    return [*found, *_clause(words, index + 1, led)]


def _clause(words: Sequence[str], end: int, led: str) -> list[_Clause]:
    plain = tuple(without_possessives(words))
    return [_Clause(plain, tuple(stems_of(plain)), end - len(plain), led)] if plain else []


def _negates(word: str) -> bool:
    return word in _NEGATIONS or word.endswith("n't")


def _counts(word: str) -> bool:
    return word[0].isdigit() or word in CARDINALS or word in _QUANTIFIERS


def _share(of: Sequence[str], held: set[str]) -> float:
    return sum(root in held for root in of) / len(of) if of else 1.0
