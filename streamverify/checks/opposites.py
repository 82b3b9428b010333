"""Opposites: words of which a claim has one and its evidence the other, and what two words are together.

Before: `negation.py` has both as stems. After: it looks whether the same words stand beside both. The tables
hold those that turn at least three times as many wrong sentences as right ones, and some that turn no right
one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from streamverify.checks.number_words import CARDINALS
from streamverify.text.words import listed, stem, stems_of

_OPPOSITES = """
increase decrease|increase reduce|rise fall|rise decline|grow shrink|gain lose|higher lower|highest lowest
more fewer|more less|most least|maximum minimum|allow prohibit|allow forbid
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
empty full|north south|east west|first last|front back|top bottom|inside outside
major minor|primary secondary|same different|all most|all some|all half|whole part|always usually
always sometimes|often rarely|often seldom|often never|majority minority|rise drop|climb fall|climb drop
gain fall|raise lower|raise reduce|raise cut|lengthen shorten|widen narrow|arrival departure
entry exit|weekday weekend|morning evening|morning afternoon|summer winter|spring autumn|hot cold|wet dry
male female|man woman|men women|boy girl|father mother|son daughter|husband wife|gross net|win lose
"""

_WEAKER = {
    stem("all"): frozenset(stems_of(listed("some most half"))),
    stem("whole"): frozenset({stem("part")}),
}
"""What follows from the stronger word: only the stronger one in a claim is opposed."""

_TOGETHER = """
under_# over_#|with_meals before_meals|with_meals after_meals|before_meals after_meals
during_meals before_meals|during_meals after_meals|full_time part_time|on_by off_by|beat_ lost_to
left_ right_|true_ false_|synchronous_ asynchronous_
synchronously_ asynchronously_|paid_ unpaid_|sender_ recipient_|sender_ receiver_|lender_ borrower_
credited_ debited_|went_up went_down
"""
"""Words that are opposites before a figure (#), before another word, or just as they are written ("unpaid",
not "pay"). Not "open" and "closed", "within" and "after", "monthly" and "yearly": right sentences turn them
round ("closed on Sundays" of "open every day but Sunday")."""
WAYS = frozenset({"went_up", "went_down"})
"""Those whose second word may stand alone in the other text: "up in April and down in May"."""
_AS = {
    **dict.fromkeys(
        listed("""
        edge edges edged edging go goes gone going move moves moved moving tick ticks ticked ticking inch
        inched creep creeps crept creeping drift drifts drifted drifting nudged trended
        """),
        "went",
    ),
    "above": "over",
    "below": "under",
    "defeated": "beat",
    "food": "meals",
    "meal": "meals",
}
"""Words that are the same as others there."""


def _pairs(table: str) -> Iterator[tuple[str, str]]:
    for pair in table.replace("\n", "|").split("|"):
        if pair:
            one, other = pair.split()
            yield one, other


def _opposites() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    pairs = [(stem(one), stem(other)) for one, other in _pairs(_OPPOSITES)]
    for one, other in (*pairs, *_pairs(_TOGETHER)):
        table.setdefault(one, set()).add(other)
        table.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in table.items()}


OPPOSITE_OF = _opposites()
"""By stem, or by what `phrases` gives, its opposites."""
_BEGIN = frozenset(phrase.split("_")[0] for phrase in OPPOSITE_OF if "_" in phrase)


def phrases(words: Sequence[str]) -> list[str]:
    """For each word what it is with the next one, as `OPPOSITE_OF` has it; else an empty text."""
    alike = [_AS.get(word, word) for word in words]
    found = []
    for word, after in zip(alike, [*alike[1:], ""], strict=False):
        phrase = ""
        if word in _BEGIN:
            figure = after[:1].isdigit() or after in CARDINALS
            ways = (f"{word}_{'#' if figure else after}", f"{word}_")
            phrase = next((way for way in ways if way in OPPOSITE_OF), "")
        found.append(phrase)
    return found


def clashes(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where words stand of which the one text has only the one, and the other only its opposite."""
    own = frozenset(ours)
    first = dict(zip(reversed(theirs), reversed(range(len(theirs))), strict=True))
    for place, word in enumerate(ours):
        if word not in OPPOSITE_OF or word in first:
            continue
        for opposite in OPPOSITE_OF[word]:
            if opposite in first and opposite not in own and word not in _WEAKER.get(opposite, ()):
                yield place, first[opposite]
