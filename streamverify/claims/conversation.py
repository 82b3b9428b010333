"""Sentences about the conversation: what the assistant does, what the reader may do, what the texts lack.

Before: `nonclaims.py` knows sentences by their opening words. Here a sentence is cut into clauses, and it
claims nothing where every one of them is talk: wishes, apologies, offers, turns to the next point, advice
to ask somebody, limits of the answer, silence of the sources. One clause about the world makes it a claim,
so what stands behind a courtesy or an offer ("…, which ends on 31 March") is not lost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from streamverify.claims import phrases, silence
from streamverify.claims.coreference import VERBS


class Talk(StrEnum):
    """What a clause that says nothing of the world is there for."""

    WISH = "wish"
    REMARK = "remark"
    OFFER = "offer"
    CONDITION = "condition"
    """"If you like", "once I know the year": leans on another clause."""
    ADVICE = "advice"
    CAVEAT = "caveat"
    """"Prices may have changed": leans on advice."""
    DISCLAIMER = "disclaimer"
    SILENCE = "silence"
    PLAIN = "plain"
    """No verb, no figure: goes with whatever stands before it."""


# --- cutting -------------------------------------------------------------------------------------------

_SPLIT = re.compile(
    r"(?<![.!?…])[.!?…]++[\"'”’)]*+\s+|;\s+"
    r"|(?<!\bnext up)(?<!\bup next)(?<!\bcoming up):\s+|\s+[-–—]+\s+|—|,\s+"
    r"|\s+(?=(?:but|yet|because|whereas|although|though|so (?=i|we|let|please|it'?s best)"
    r"|and (?=(?:i|we|i'm|i'll|let|please|do|enjoy|just|feel|then)\b"
    r"|(?:(?:the|this|that|my|your|its|their|these|those) )?[\w'-]+ (?:can|could|will|would|should|is"
    r"|are|was|were|may|must|has"
    r"|have|does|do)\b))\b)",
    re.IGNORECASE,
)
_OPENER = re.compile(
    r"(?:(?:and|but|so|or|yet|well|also|anyway|still|too|then|however|though|although|alas|sadly"
    r"|regrettably"
    r"|unfortunately|hmm+|ah+|oh(?: dear)?|oops|hey|hi|okay|ok|sure(?: thing)?|of course|certainly"
    r"|absolutely|alright|first|next(?! up)|now|careful"
    r"|all right|right|yes|yeah|no|indeed|actually|really|just|please|do|kindly|again|finally|lastly|as"
    r" always"
    r"|for now|otherwise|perhaps|maybe|by the way|that said|in any case|either way|to be honest|honestly"
    r"|frankly|i'm afraid(?: that)?|i am afraid(?: that)?|i fear(?: that)?|as far as i can (?:see|tell)"
    r"|as i said|since|because|as|which means(?: that)?|this means(?: that)?|that means(?: that)?"
    r"|keep in mind that|bear in mind that|note that|be aware that|remember that"
    r"|let's see|sorry(?: to say)?|i'm sorry(?: to say)?(?: but)?)\b[\s,]*)+",
    re.IGNORECASE,
)
EMOJI = re.compile(r"[\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F\u200D]+")
_PLACE = re.compile(
    r"\b(?:page|pages|pp?\.|chapter|section|clause|law|art(?:icle|\.)?|step|part|type|option|source|passage"
    r"|document|version|item|point|question|table|figure|paragraph|stage|no\.|number|day|phase|level)"
    r" ?\d[\d.]*"
    r"|\[\d+\]",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d|[€$£%]|\b(?:hundred|thousand|million|billion|percent|dozens?)\b", re.IGNORECASE)
_AUXILIARIES = (
    r"\b(?:is|are|was|were|has|had|does|did|can|could|may|might|must|shall|should|will|would|isn't"
    r"|aren't|wasn't|weren't|hasn't"
    r"|hadn't|doesn't|don't|didn't|can't|cannot|couldn't|won't|wouldn't|mustn't)\b|['’](?:re|ve|ll)\b"
    r"|\b(?:it|he|she|that|there|which|who|what)['’]s\b"
)
_AUXILIARY = re.compile(_AUXILIARIES, re.IGNORECASE)
_FINITE = re.compile(
    _AUXILIARIES + r"|\b(?:comes?|ends?|begins?|takes?|lets?|keeps?|needs?|costs?|eats?|lasts?|pays?)\b",
    re.IGNORECASE,
)
RELATIVE = re.compile(r"(?:(?:of|to|in|for|with|from) )?(?:which|who|whose|where|when|whom)\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause and how it hangs on the one before it."""

    text: str
    loose: bool
    """A comma stands before it: without a verb it belongs to what stands before."""


def clauses(text: str) -> list[Clause]:
    """The clauses of a sentence, without the marks between them; none of them empty."""
    # One blank where there were several: the pattern that splits looks at each of them from each.
    bare = " ".join(_ASIDE.sub(" ", EMOJI.sub(" ", text.replace("’", "'"))).split())
    found: list[Clause] = []
    start, seam = 0, ""
    for match in [*_SPLIT.finditer(bare), None]:
        part = bare[start : match.start() if match else len(bare)].strip(" \"'“”()*_.,!?;:-–—…")
        if part:
            found.append(Clause(part, seam.startswith((",", " ")) and "-" not in seam and "–" not in seam))
        if match:
            start, seam = match.end(), match[0]
    return found


def has_figure(text: str) -> bool:
    """Whether a figure stands in the text that is not the number of a page, step or source."""
    return _FIGURE.search(_PLACE.sub("", text)) is not None


def has_verb(text: str) -> bool:
    """Whether a word that looks like a finite verb stands in the text; by table, so a hint only."""
    return _FINITE.search(text) is not None or any(
        word in VERBS for word in re.findall(r"[a-z']+", text.lower())
    )


# --- talk ----------------------------------------------------------------------------------------------


def _goes_along(part: Clause, bare: str) -> bool:
    """Whether a clause after a comma has no verb, name or figure: it goes with the talk before it."""
    if not part.loose or RELATIVE.match(part.text) or _REASON.match(part.text):
        return False
    named = any(word[0].isupper() and word not in ("I", "OK") for word in bare.split()[1:])
    return not (named or has_verb(bare) or has_figure(bare)) and len(bare.split()) <= _LOOSE


_LOOSE = 9
"""Words of the longest clause without a verb that goes with the one before it."""


_ORDER = (
    (phrases.DISCLAIMER, Talk.DISCLAIMER),
    (phrases.WISH, Talk.WISH),
    (silence.SILENCE, Talk.SILENCE),
    (phrases.ADVICE, Talk.ADVICE),
    (phrases.REMARK, Talk.REMARK),
    (phrases.OFFER, Talk.OFFER),
    (phrases.CONDITION, Talk.CONDITION),
    (phrases.CAVEAT, Talk.CAVEAT),
)
_THAT = re.compile(
    r"\b(?:(?:that|which|who|whose) (?:\w+(?:s|ed)|are|can|will|may|must|have|were) |because |since )",
    re.IGNORECASE,
)
"""Where a clause about the world hangs on a noun: "the limit that ends on …"."""
_ASIDE = re.compile(
    r",\s*(?:however|though|unfortunately|sadly|alas|regrettably|i'm afraid|by the way|of course|too),\s+",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"(?:yes|no|right|true|correct|exactly|indeed|sure|absolutely|in short|overall)$", re.IGNORECASE
)
_WEAK = frozenset({Talk.CONDITION, Talk.CAVEAT, Talk.PLAIN})
"""Clauses that need another one to be talk."""


def talk(part: Clause, before: Talk | None = None) -> Talk | None:
    """What a clause is there for; None when it says something of the world.

    Args:
        part: of `clauses`.
        before: what the clause before it is there for; None at the beginning.
    """
    clause = part.text
    if len(clause) > _LONGEST or (RELATIVE.match(clause) and has_figure(clause)):
        return None
    bare = without_opener(clause)
    if not bare:
        return before or Talk.CONDITION
    kind = _going_on(bare, before)
    if kind is not None:
        return kind
    kind, end = worded(clause, bare)
    if kind is not None:
        return None if _says_more(kind, clause, bare, end) else kind
    return Talk.PLAIN if before not in (None, Talk.CONDITION) and _goes_along(part, bare) else None


def without_opener(clause: str) -> str:
    """The clause without the words that only open it: "also", "sadly", "I'm afraid"."""
    opener = _OPENER.match(clause)
    return clause[opener.end() :] if opener else clause


def _going_on(bare: str, before: Talk | None) -> Talk | None:
    """What a clause is there for that only the one before it can tell."""
    if before is Talk.WISH and bare.lower().startswith("that "):
        return Talk.WISH
    asked = before is Talk.CONDITION and _ASK.match(bare) is not None
    return Talk.ADVICE if asked and not has_figure(bare) else None


@lru_cache(maxsize=512)
def worded(clause: str, bare: str) -> tuple[Talk | None, int]:
    """What the wording of a clause says it is there for, and where in `bare` that wording ends.

    Remembered: the rules ask it of a clause, and what was learned asks it again, for a hundred microseconds.

    Args:
        clause: `_LONGEST` characters at most.
        bare: the clause `without_opener`.
    """
    for pattern, kind in _ORDER:
        match = pattern.match(bare) or (pattern.match(clause) if bare != clause else None)
        if match is not None:
            return kind, min(match.end(), len(bare))
    turns = phrases.TURN.match(bare) or phrases.TURN.match(clause)
    return (Talk.REMARK, len(bare)) if turns and not states(bare) else (None, 0)


def _says_more(kind: Talk, clause: str, bare: str, end: int) -> bool:
    """Whether a clause worded as talk says something of the world all the same."""
    if kind is Talk.REMARK:
        return _THAT.search(bare, end) is not None
    if has_figure(clause) and not _CUTOFF.match(bare):
        return True
    return (
        (kind is Talk.WISH and _SUBJECT.match(bare) is not None)
        or (kind is Talk.ADVICE and (phrases.OFTEN.search(bare) or _COUNT.search(bare)) is not None)
        or (kind is Talk.OFFER and _THAT.search(bare, end) is not None)
    )


_LONGEST = 400
"""Characters of the longest clause that is looked at: it bounds the time of matching."""
_ASK = re.compile(
    rf"(?:please |just |always )?(?:ask|call|contact|consult|check with|speak to|talk to|see|get in"
    rf" touch with) .{{0,30}}\b{phrases.AUTHORITY}$",
    re.IGNORECASE,
)
_CUTOFF = re.compile(r"my (?:knowledge|training|data|information)\b", re.IGNORECASE)
_COUNT = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty)\b", re.IGNORECASE
)
_SUBJECT = re.compile(
    r"(?:welcome|good luck|hope|cheers|thanks|best wishes|happy|safe|clear|good|nice|great)(?: \w+)?"
    r" (?:is|are|was|were|has|had|can|will|must|stay|did)\b",
    re.IGNORECASE,
)
_REASON = re.compile(r"(?:since|because|as|so|or|otherwise|for)\b", re.IGNORECASE)


def purposes(text: str) -> list[Talk | None]:
    """For each clause what it is there for, up to the first that says something of the world (None)."""
    if _HOPE.match(text) and not has_figure(text):
        return [Talk.WISH]
    found: list[Talk | None] = []
    answered = False
    for part in clauses(text):
        kind = talk(part, found[-1] if found else None)
        if kind is None or (answered and kind is Talk.PLAIN):
            return [*found, None]
        found.append(kind)
        answered = _BARE.match(part.text) is not None
    return found


_HOPE = re.compile(
    r"(?:i |we )?(?:really |do )?hope\b(?!.*(?:[;:]|[.!?…]+\s+\S| [-–—] |\b(?:but|because|since"
    r"|which)\b))",
    re.IGNORECASE,
)


def purpose(text: str) -> Talk | None:
    """What a sentence is there for whose clauses are all talk, one of them by itself; None for a claim."""
    found = purposes(text)
    if not found or None in found:
        return None
    return next((kind for kind in found if kind is not None and kind not in _WEAK), None)


def asks_with_fact(text: str) -> bool:
    """Whether a relative clause after an offer put as a question says something of the world."""
    first, *rest = clauses(text) or [Clause("", loose=False)]
    return talk(first) is Talk.OFFER and any(_tells_more(part) for part in rest)


def _tells_more(part: Clause) -> bool:
    return RELATIVE.match(part.text) is not None and len(part.text.split()) > 2 and talk(part) is None


def adds_fact(text: str) -> bool:
    """Whether behind an offer or a courtesy stands a clause about the world.

    Of clauses that are no talk only those count that carry a figure, that begin with a relative word, or
    that have a verb behind a full seam: "…, which the city publishes", "…; it pays 30 cents".
    """
    before: Talk | None = None
    for place, part in enumerate(clauses(text)):
        kind = talk(part, before)
        before = kind or before
        if kind is not None:
            continue
        if place == 0:
            if has_figure(part.text) and _THAT.search(part.text):
                return True
        elif has_figure(part.text) or _tells_more(part) or (has_verb(part.text) and not part.loose):
            return True
    return False


def states(text: str) -> bool:
    """Whether a heading has a verb, and not only a word that may be one ("work", "causes")."""
    inner = text.lower().split()[1:]
    return _AUXILIARY.search(text) is not None or any(
        word in VERBS and word.endswith(("s", "ed", "t")) and word not in _NOUNS for word in inner
    )


_NOUNS = frozenset(
    "costs reports states needs uses works tests changes limits lists runs calls checks returns causes"
    " effects measures aims ends starts opens lives moves stands sales offers covers supports sets leads"
    " visits spent cost cut set split left last".split()
)
