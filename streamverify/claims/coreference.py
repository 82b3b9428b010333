"""What "it", "they" or a bare list item refers to, found in the sentences before.

Only the referent is taken, a noun phrase or the frame of a lead-in: never what was asserted of it, so a
claim cannot borrow the support of the sentence before. There is no parser: a subject is what stands
before the first verb, and where that is unsure nothing is taken.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from streamverify.text.calendar import DAYS, MONTHS
from streamverify.text.words import listed

_AUXILIARY = (
    "is are was were has have had can could may might must shall should will would do does did isn't "
    "aren't wasn't weren't "
    "hasn't haven't hadn't can't cannot couldn't mustn't shouldn't won't wouldn't don't doesn't didn't"
)
VERBS = frozenset(
    (
        _AUXILIARY
        + """
        accepts adds affects aims allows appeared appears applies apply asks became become becomes began
        begins belongs
        blocks bought brings brought builds built called calls came caused causes changed changes charges
        checks closed
        closes comes concerns consists contains continues costs counts covers created creates cut dates
        declined decided
        decides depends died differs does drops earned earns employs ended ends enters exceeded exceeds
        expires fails fell
        fits follows found gave gets gives goes got grew grows held helps holds hosts improves includes
        increased increases
        keeps kept knows lacks lasts launched leads leaves led left lets lies limits lists listens lives
        lost loses lowers
        made makes means measures met moved moves needs offers opened opens owes owns paid passed pays
        permits plays
        prevents produced produces prohibits promises protects provides published raised ran reached
        reaches receives
        recommends reduces refers refused rejected released remained remains replaced replaces reported
        reports requires
        returned returns rises rose runs said sailed sat saved saves says sells sends served serves set
        sets showed shows
        sits sold spans spent stands started starts stated states stayed stays stood stops sued supports
        takes tells tests
        thinks told took treats triggered triggers turned turns used warns warned uses varies visited wants
        weighs went won works
        worked wrote permit need require apply cost cover include last expire receive pay get contain
        remain split sit take carry make give go
        use work fall rise run read spend drive
        """
    ).split()
)
_NOUN_LIKE = frozenset(
    listed("costs reports states needs uses works tests changes limits lists runs calls checks returns")
)
_PRONOUNS = {
    "it": "thing", "its": "thing", "they": "any", "their": "any", "them": "any", "he": "person",
        "his": "person",
    "him": "person", "she": "person", "her": "person", "theirs": "any",
}  # fmt: skip
_POSSESSIVE = frozenset({"its", "their", "his"})
_DETERMINERS = frozenset(
    listed("the a an this that these those its their his her our your each every all any some no both")
)
_OPENING = re.compile(
    r"(?:(?:also|but|and|so|then|thus|yet|still|however|moreover|in addition|additionally|furthermore"
    r"|instead|besides|overall"
    r"|finally|similarly|likewise|therefore|consequently|as a result|in total|at best|at most|by default"
    r"|normally|usually|typically"
    r"|originally|initially|later|afterwards|today|now|currently|first|second|third|next|last|(?:in|since"
    r"|by|until|after|before|from|during|on|at) (?:[\w.]+ ){0,3}?[\w.]*\d[\w.]*"
    r"|for (?:this|that) reason|in (?:that|this|each|both) cases?|after that|before that|if not|if so"
    r"|on request|in practice)\b,?\s+)?",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"it(?:'s|’s| is| was| would be| may be| seems| appears| follows| takes| makes sense| doesn't matter"
    r"| does not matter"
    r"| remains| is also| is not| isn't| became| can be| sounds)\s*(?:also |not |very |therefore |now )?"
    r"(?:possible|important|worth|clear|unclear|likely|unlikely|necessary|required|recommended|advisable"
    r"|best|better|easy|hard|difficult"
    r"|safe|fine|sufficient|enough|up to|true|that|because|allowed|forbidden|mandatory|optional|unknown"
    r"|time|sufficient|said|believed"
    r"|thought|expected|estimated|helpful|useful|good|common|known|planned|permitted|prohibited|impossible"
    r"|who|whether)\b"
    r"|it (?:is|was|will be|would be|'s) (?:[\w.'’-]+ ){1,5}(?:who|that|which)\b|it would be\b"
    r"|it (?:takes|depends|matters|sounds like|doesn't matter|makes sense|means that|follows that"
    r"|appears that|seems that)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\s,;:()]+")
_TITLE_NAME = re.compile(
    r"\b(?:(?:Mr|Mrs|Ms|Dr|Prof|Sir|Justice|Judge|President|Minister|Professor|Constable|Captain|King|Queen"
    r"|Saint)\.? )"
    r"[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)?|\b[A-Z][a-zà-ÿ]+(?: [A-Z]\.)?(?: (?:van|von|de|der|la|al"
    r"|bin))? [A-Z][a-zà-ÿ][\w’'-]*"
)
_PARTS = re.compile(
    r",? (?:which|who|whom|whose|that|where|when|because|if|provided|unless)\b|[,;:(]| [-–—] "
)
_PLURALS = frozenset({"people", "children", "men", "women", "staff", "police", "data", "media", "criteria"})
_THERE = re.compile(r"there(?:'s|’s| is| are| was| were| will be| must be)\s+", re.IGNORECASE)
_NO_PHRASE = frozenset(
    listed("""
    on in at by for with from to of under over after before since until where when why yes no not seen
    given note keep
    please also so if as than like unlike about between during without within per via
    register use add remove open close click press wait make fill take call check sign let let's otherwise
    don't do
    """)
) | {*DAYS, *MONTHS}
_INNER = frozenset({"their", "its", "his", "them", "it", "you", "into", "they", "we"})
_LONGEST_OPENING = 300
"""Characters in which an opening ends: blanks and digits without end would be read again and again."""
_LONGEST = 9
"""Words of the longest phrase taken as a subject."""


def pronoun(text: str) -> tuple[int, int] | None:
    """Where a sentence's subject is a pronoun that points out of it; None when it stands on its own.

    A short opening ("In 2019, ", "However, ") may come before it; "it" without meaning ("it is possible
    to …") points nowhere.
    """
    opening = _OPENING.match(text, 0, _LONGEST_OPENING)
    start = opening.end() if opening else 0
    word = re.compile(r"[A-Za-z]+").match(text, start)
    if word is None or word[0].lower() not in _PRONOUNS or _EXPLETIVE.match(text, start):
        return None
    # "Her" and "his" open a phrase of their own; "her" as an object never opens a sentence.
    return word.start(), word.end()


def is_possessive(text: str, start: int, end: int) -> bool:
    """Whether the pronoun owns the noun behind it: "its fee", not "it"."""
    word = text[start:end].lower()
    return word in _POSSESSIVE or (word == "her" and end < len(text))


def referent(word: str, previous: Sequence[str]) -> str | None:
    """The noun phrase that a pronoun stands for; None when no sentence before offers one.

    Args:
        word: the pronoun.
        previous: plain texts of the sentences before, oldest first.
    """
    wanted = _PRONOUNS.get(word.lower(), "any")
    for text in reversed(previous[-4:]):
        if wanted == "person":
            names = {f[0] for f in _TITLE_NAME.finditer(text) if not _after_article(text, f)}
            names = {name for name in names if not _of_the_other(word.lower(), name)}
            if names:
                return names.pop() if len(names) == 1 else None
            continue
        phrase = subject(text)
        if phrase is not None:
            return phrase if _agrees(word.lower(), phrase) else None
        if len(text.split()) > _SHORT and pronoun(text) is None:
            return None  # it speaks of something else, which cannot be told
    return None


_SHORT = 3
"""Words of a remark, which speaks of nothing: "Yes, of course."."""
_HIS = re.compile(r"(?:Mr|Sir|King)\b")
_HER = re.compile(r"(?:Mrs|Ms|Queen)\b")


def _of_the_other(word: str, name: str) -> bool:
    """Whether the title before a name says that the pronoun is not theirs."""
    other = _HER if word in {"he", "him", "his"} else _HIS if word in {"she", "her", "hers"} else None
    return other is not None and other.match(name) is not None


def _after_article(text: str, found: re.Match[str]) -> bool:
    """Whether "the" stands before a name, which people do not have: the Arctic Ocean."""
    return text[: found.start()].rstrip().lower().endswith(("the", "a", "an"))


def _agrees(word: str, phrase: str) -> bool:
    """Whether the phrase may have the pronoun's number: "they" for the tablets, "it" for the tablet."""
    head = re.split(r"\s(?:of|in|for|with|at|on|from|to|by|under|made|without)\s", phrase)[0]
    last = head.split()[-1].lower()
    plural = (
        " and " in head or (last.endswith("s") and not last.endswith(("ss", "us", "is"))) or last in _PLURALS
    )
    plural = plural or head.split()[0].lower() in {
        "both",
        "these",
        "those",
        "many",
        "most",
        "several",
        "two",
        "three",
    }
    if word in {"they", "their", "these", "those"}:
        return plural or all(part[0].isupper() for part in head.split())
    named = len(head.split()) > 1 and all(part[0].isupper() for part in head.split())
    return not plural or (named and " and " not in head)


def subject(text: str) -> str | None:
    """The noun phrase before a sentence's first verb; None when it is a pronoun or cannot be told."""
    opening = _OPENING.match(text, 0, _LONGEST_OPENING)
    rest = text[opening.end() :] if opening else text
    rest = _skip_clause(rest)
    there = _THERE.match(rest)
    if there:
        return _clean(" ".join(rest[there.end() :].rstrip(".").split()[:_LONGEST]))
    taken: list[str] = []
    end = 0
    for match in _WORD.finditer(rest):
        word = match[0].strip("\"“”'’.").lower()
        if (
            word in VERBS
            and taken
            and not (word in _NOUN_LIKE and len(taken) == 1 and taken[0].lower() in _DETERMINERS)
        ):
            phrase = rest[:end].strip()
            return _clean(phrase)
        if taken and _participle_or_verb(word, taken, rest[match.end() :]):
            return _clean(rest[:end].strip())
        taken.append(word)
        end = match.end()
        if len(taken) > _LONGEST:
            return None
    return None


_BASE_VERBS = frozenset(
    listed(
        "belong leave stay go come run start end lose keep hold show provide work live sit fit expire "
        "hide follow lie move open "
        "close help want count arrive agree differ depend grow ask serve stand vary cause become enter join "
        "save send bring "
        "reach produce remain return support reduce increase improve prevent protect offer need"
    )
)
_AFTER_PARTICIPLE = frozenset(
    listed("by in to for from on at of with before after since until under as via")
) | frozenset(_AUXILIARY.split())


def _participle_or_verb(word: str, taken: Sequence[str], rest: str) -> bool:
    """Whether a word that is not in the table of verbs is the verb all the same, by form and place."""
    following = rest.split()[:1]
    if word in _BASE_VERBS:
        return taken[-1].endswith("s") and taken[-1] not in _DETERMINERS
    if not word.endswith("ed") or taken[-1] in _DETERMINERS or len(word) < 5:
        return False
    return bool(following) and following[0].lower() not in _AFTER_PARTICIPLE


def _skip_clause(text: str) -> str:
    """The main clause of "If/When/After …, X does Y"."""
    if re.match(
        r"(?:if|when|once|after|before|since|while|as|although|though|until|unless|because|with|without|for"
        r"|in|on|at|under|from|by|during|according to|to|besides|between|despite)\b",
        text,
        re.IGNORECASE,
    ):
        comma = text.find(", ")
        if 0 < comma < 120:
            return text[comma + 2 :]
    return text


def _clean(phrase: str) -> str | None:
    cut = _PARTS.search(phrase)
    head = phrase[: cut.start()] if cut and cut.start() else phrase
    words = head.split()
    while words and words[-1].lower() in {
        "also",
        "now",
        "then",
        "only",
        "usually",
        "normally",
        "still",
        "always",
        "never",
        "typically",
        "both",
        "all",
        "each",
        "therefore",
        "thus",
        "merely",
        "no",
        "not",
    }:
        words.pop()
    if not words:
        return None
    first = words[0].lower()
    if (
        first in _NO_PHRASE
        or first.endswith(("ly", "ing"))
        or first[0].isdecimal()
        or (len(words) == 1 and words[0].islower())
    ):
        return None
    if first in _PRONOUNS or first in {
        "you",
        "we",
        "i",
        "there",
        "here",
        "this",
        "that",
        "these",
        "those",
        "what",
        "who",
        "which",
        "how",
        "nothing",
        "none",
        "anyone",
        "everyone",
        "someone",
        "one",
    }:
        return None
    if (len(words) == 1 and first in _DETERMINERS) or len(words) > _LONGEST:
        return None
    if any(word.lower() in _INNER for word in words[1:]):
        return None
    return " ".join(words)


_PURPOSE = re.compile(r"^to \w+", re.IGNORECASE)
_NO_FRAME = re.compile(
    r"\b(?:here|following|below|points?|steps?|summary|overview|follows|this|answer|details?|as follows"
    r"|list|questions?|things?"
    r"|reasons?|say|says|said|according to)\b",
    re.IGNORECASE,
)
_OPEN_END = frozenset(
    listed("""
    covers cover includes include including contains contain requires require need needs must should can
    may is are was were
    for to of with by from at on in as about against between be contains provide provides offers offer
    lists list allows
    allow excludes exclude accepts accept supports support receive receives get gets bring state give
    prohibits want have has
    had use uses involves involve means mean comprises comprise when if
    """)
)


def frame(lead_in: str, item: str) -> tuple[str, str] | None:
    """What a list item takes from its lead-in: text before it and text after it; None when it needs nothing.

    "The leave covers:" + "dental visits" → ("The leave covers ", ""); "The following are covered:" gives
    ("", " are covered"); "To reset it:" gives ("To reset it, ", "").
    """
    lead = lead_in.rstrip().removesuffix(":").removesuffix("：").strip()
    if not lead or len(lead) > 160:
        return None
    passive = re.match(
        r"^(?:the following(?: \w+){0,3}?|these(?: \w+){0,2}?)\s+((?:are|is|will|must|can|may|should|cannot"
        r"|were|was)\b.*)$",
        lead,
        re.IGNORECASE,
    )
    if passive and not has_verb(item) and not _NO_FRAME.search(passive[1]):
        return "", f" {passive[1]}"
    if _PURPOSE.match(lead):
        purpose = lead.split(",", maxsplit=1)[0]
        own = item.split(maxsplit=1)[0].lower() if item.split() else ""
        return None if own in _DETERMINERS or own in _PRONOUNS else (f"{purpose}, ", "")
    last = lead.split()[-1].lower().strip(",")
    if has_verb(item) or _NO_FRAME.search(lead):
        return None
    return (f"{lead} ", "") if last in _OPEN_END else None


def has_verb(text: str) -> bool:
    """Whether a text holds a finite verb that this module knows, so that it may stand alone."""
    words = [word.strip("\"“”'’.,;:()").lower() for word in text.split()]
    clause_end = next(
        (
            place
            for place, word in enumerate(words)
            if word in {"that", "which", "who", "when", "if", "where"} and place
        ),
        len(words),
    )
    return any(word in VERBS and word not in _NOUN_LIKE for word in words[1:clause_end])
