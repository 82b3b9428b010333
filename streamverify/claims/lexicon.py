"""Words that carry grammar, and classes of content words, for the learned part of the reader.

The classes say what a word is there for in an answer about texts: to tell, to look up, to offer, to count. A
word that no class holds is content like any other; nothing is decided by a class alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from streamverify.claims.phrases import AUTHORITY
from streamverify.claims.silence import TEXTS
from streamverify.text.calendar import DAYS, MONTHS

FUNCTION = frozenset(
    """
    a an the of to in on at for from by with about as into over under and or but if so than then that this
    these those it its he she they them his her their i me my we us our you your yours mine is are was were
    be been being am do does did done has have had can could will would shall should may might must not no
    nor none nothing never nobody nowhere neither either any anything some something all both each few many
    much more most other another such only also just still yet too even please what which who whom whose
    when where why whether how here there below above because since although though while whereas unless
    until before after once yes okay ok well let let's sorry thanks thank again very quite really first next
    now don't doesn't didn't isn't aren't wasn't weren't won't can't cannot couldn't wouldn't shouldn't
    hasn't haven't hadn't i'm i'll i'd i've you're you'll you'd you've we're we'll we've it's that's
    there's here's what's they're one two three four five six seven eight nine ten
    """.split()
)

_CLASSES: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "tell": """
            say says said saying state states stated mention mentions mentioned tell tells told specify
            specifies specified explain explains explained address addresses addressed disclose discloses
            reveal reveals revealed indicate indicates discuss discusses discussed describe describes clarify
            name names named define defines record records list lists listed give gives given giving contain
            contains provide provides provided include includes cover covers covered covering offer offers
            answer answers answered settle settles elaborate note notes quote quotes report reports show
            shows spell spelled touch touches go goes deal deals speak speaks leaves left omits skips
            """,
        "news": """
            information info detail details figure figures mention data guidance clue clues hint indication
            explanation evidence number numbers date dates price prices reference word words reason rule
            answer statement entry
            """,
        "search": """
            find found locate see saw determine tell say confirm know look looked search searched check
            checked work verify establish identify infer gather read reading went gone skimmed compared
            """,
        "speak": """
            help explain show list draft write summarise summarize compare give provide walk dig rewrite
            rephrase convert translate expand elaborate add sketch send share answer outline calculate
            suggest redo rework adjust adapt recap repeat simplify clarify look check describe quote turn
            start begin stick keep put sort mark group use take leave assume skip
            """,
        "ask": """
            ask contact consult check confirm call ring phone speak talk refer see visit verify email
            double-check look seek discuss run
            """,
        "wish": """
            hope enjoy luck congratulations congrats welcome happy glad pleased delighted wish wishes
            wishing cheers regards sincerely apologies apologise apologize pardon appreciate understand
            understood noted agreed fair point mistake bad error oops great good nice lovely wonderful
            """,
        "time": f"""
            {" ".join(DAYS)} {" ".join(month for month in MONTHS if month != "may")}
            day days week weeks month months year years
            hour hours minute minutes second seconds noon midnight daily weekly monthly yearly annually
            century
            """,
        "unit": """
            percent kg g mg km m cm mm ml l litre litres liter liters metre metres meter meters mile miles
            euro euros dollar dollars pound pounds franc francs degrees watts gb mb tonnes inches feet
            """,
        "count": """
            hundred thousand million billion half third quarter double twice thrice dozen eleven twelve
            twenty thirty forty fifty sixty seventy eighty ninety
            """,
        "follow": """
            following follows below steps step reasons points ways options examples causes conditions
            requirements rules key main
            """,
    }.items()
}
_PATTERNS = (
    ("text", re.compile(rf"(?:{TEXTS}|messages?|question|reply|leaflets?|brochures?|prospectus|recipes?)$")),
    ("office", re.compile(rf"{AUTHORITY}$")),
)
"""A word for a text, and one for somebody to ask, as the rules for silence and advice know them."""
_LONGEST = 40
"""Letters of the longest word that is looked up."""


@cache
def _by_word() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, words in _CLASSES.items():
        for word in words:
            found[word] = (*found.get(word, ()), name)
    return found


@lru_cache(maxsize=8192)
def classes(word: str) -> tuple[str, ...]:
    """The classes of a word in small letters, the most telling one first; mostly none."""
    if len(word) > _LONGEST or not word[0].isalpha():
        return ()
    matched = {name for name, pattern in _PATTERNS if pattern.match(word)}
    first = ("text",) if "text" in matched else ()
    last = ("office",) if "office" in matched else ()
    return (*first, *_by_word().get(word, ()), *last)
