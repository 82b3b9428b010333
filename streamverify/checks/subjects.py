"""What a sentence or a title is about, so that what is said of two things is not taken for two words on one.

"The Berlin office is open from 8:00" and "The Munich office is open from 9:00" share nearly every word, and
neither says anything against the other. What stands before the verb and what is written in capitals names
the thing; of two texts whose names each lack the other's, nothing can be told of which holds.

Before: `versions.py` and the judge have two statements. After: they compare them, or leave them alone.
"""

from __future__ import annotations

import re

from streamverify.text.calendar import DAYS, MONTHS, SHORT_MONTHS
from streamverify.text.sentence_ends import SENTENCE_END
from streamverify.text.words import content_stems, fold, listed, stems_of

_FIRST = 6
"""Words at a sentence's beginning in which its subject stands, where no verb comes before."""
_HEAD = 160
"""Characters that are read for them."""
_VERB = re.compile(
    r"(?<=\w)\s(?:is|are|was|were|be|has|have|had|do|does|did|must|may|might|can|could|shall|should|will|would"
    r"|(?:cost|last|take|get|pay|need|start|end|open|close|apply|begin|require|allow|include|receive|cover"
    r"|charge|offer|earn|hold|run|use|make|give|grow|rise|fall|set)s?|applies|rose|fell|grew|went|won|lost"
    r"|beat|made|gave|held|took|paid|begins|began)\b",
    re.IGNORECASE,
)
_CAPITALISED = re.compile(r"(?<=[\w,;:/(-] )[A-Z][\w'’.-]*\w|(?<=[A-Za-z]-)[A-Z]\w+")
_OF_VERSIONS = frozenset(
    stems_of(
        [
            *DAYS,
            *MONTHS,
            *SHORT_MONTHS,
            *listed("""
    version edition revision revised updated update old older new newer current former previous earlier later
    latest draft final approved archived archive superseded withdrawn deprecated outdated obsolete valid
    effective amended issue release expired repealed replaced replaces replace replacing supersedes force
    policy policies rule rules handbook guide guideline manual document documentation page leaflet terms
    notice memo bulletin text sheet faq overview summary notes copy last year quarter spring summer autumn
    winter euro euros dollar dollars pound pounds eur usd gbp cent cents percent day days week weeks month
    months hour hours minute minutes
    """),
        ]
    )
)
"""What tells a version, a date or an amount, and no thing that is spoken of."""

OF_COMPANIES = frozenset(
    stems_of(
        listed("""
    staff employee employees hr holiday holidays company team internal general information department people
    working work leave
    """)
    )
)
"""What documents of companies are called by, whatever they are on."""
_SPEAKER = re.compile(
    r"(?:[A-Z][\w.'’-]{0,30}\s){1,4}?(?:[A-Z][\w.'’-]{0,30}, ?[^,.:;]{1,60}, ?)?"
    r"(?:says|said|informs|informed|writes|wrote|announces|announced|explains|explained|reports|reported"
    r"|states|stated|confirms|confirmed)\b[:,]?"
)
"""Who tells something, at the beginning of a text: "Jane Miller, Head of HR, informs:"."""

_V = re.compile(r"v\d{1,3}")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b(?![.,]\d)")
_FIGURE = re.compile(r"\d++(?>(?:[.,]\d++)*)")
_NUMBERED = re.compile(
    r"\b(?:Room|Unit|Part|Plan|Building|Floor|Level|Tier|Phase|Zone|Line|Route|Lot|House|Flat|Class|Model|Type"
    r"|Section|Chapter|Article|Annex|Group|Team|Site|Gate|Hall)\s(?:\d{1,4}|[A-Z])\b"
)
"""Things that are told apart by a number or a letter."""


def subject(text: str) -> frozenset[str]:
    """Stems of the words that say what a sentence is about: those before its verb, and names."""
    head = text[:_HEAD]
    verb = _VERB.search(head)
    first = content_stems(head[: verb.start()])[:_FIRST] if verb else content_stems(head)[: _FIRST // 2]
    return (frozenset(first) - _OF_VERSIONS) | named(text)


def named(text: str) -> frozenset[str]:
    """Stems of the names within a text; a sentence's first word, which any sentence has, is none."""
    words = frozenset(content_stems(" ".join(_CAPITALISED.findall(text)))) - _OF_VERSIONS
    return words | frozenset(map(fold, _NUMBERED.findall(text)))


def without_speaker(text: str) -> str:
    """A text without who says it."""
    return _SPEAKER.sub("", text, count=1) if _SPEAKER.match(text) else text


def title_subject(title: str) -> frozenset[str]:
    """Stems of the words of a title, without those that tell a version."""
    words = frozenset(word for word in content_stems(title) if _V.fullmatch(word) is None)
    return (words - _OF_VERSIONS) | frozenset(map(fold, _NUMBERED.findall(title)))


def of_another(claim: str, title: str, text: str) -> bool:
    """Whether a text speaks of something else than a claim, where it is nearest to it.

    It lacks a word or the year of the claim's subject, has others there, and says something else of them:
    where all but the subject is the same, who or when is what the two disagree about.

    Args:
        claim: what is said.
        title: of the text.
        text: what seems to be against it.
    """
    ours, known = _topic(claim), _stated(claim)
    if ours <= _stated(text) | _stated(title):
        return False
    parts = [part for part in SENTENCE_END.split(text) if part.strip()]
    if not parts:
        return False
    near = max(parts, key=lambda part: len(_stated(part) & known))
    theirs = _topic(near)
    if not (theirs | title_subject(title)) - known:
        return False
    mine, other = known - ours - theirs, _stated(near) - ours - theirs
    return bool(mine - other and other - mine)


def _topic(text: str) -> frozenset[str]:
    """A sentence's subject, and the years that stand before its verb: "In 2022 revenue …"."""
    head = text[:_HEAD]
    verb = _VERB.search(head)
    return subject(text) | frozenset(_YEAR.findall(head[: verb.start()] if verb else ""))


def _stated(text: str) -> frozenset[str]:
    """Stems of a text's content words, and its figures."""
    figures = (figure.replace(",", "") for figure in _FIGURE.findall(text))
    return frozenset(content_stems(text)) | frozenset(figures) | frozenset(map(fold, _NUMBERED.findall(text)))
