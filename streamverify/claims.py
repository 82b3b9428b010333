"""From a sentence of the answer to the claim that is put to the passages, or the reason why there is none.

Before: `segment.py` closes a sentence and `citations` finds its markers. After: the scorer reads
`Reading.claim`, the judge the rest. Reading only looks back: it never changes when more text arrives.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from streamverify import nonclaims, referents
from streamverify.checks.dates import dates
from streamverify.checks.quantities import quantities
from streamverify.markup import BORROWED, Aligned, cells, is_bold, is_item, plain
from streamverify.nonclaims import Reason
from streamverify.scorers.protocol import Claim
from streamverify.types import Sentence, SentenceKind, Span

LOOK_BACK = 12
"""Sentences before this one that may hold its referent or its lead-in."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One sentence, read."""

    claim: Claim | None
    """What to put to the passages; None when the sentence claims nothing."""
    reason: Reason | None = None
    """Why it claims nothing; None when it claims something."""
    abstains: bool = False
    """It says that the sources do not tell. With a claim, it says something else as well."""
    abstained_topic: Claim | None = None
    """What it says they do not tell, as a text to put to the passages: they may tell after all."""
    has_number: bool = False
    """The claim holds a number or a date of its own."""
    hedged: bool = False
    """The claim is put as possible, likely or approximate."""
    attributed: bool = False
    """The sentence names where the claim comes from ("according to the report")."""
    list_item: bool = False
    dangling: bool = False
    """It leans on a sentence before it: a pronoun, "this", a bare list item."""
    resolved: bool = False
    """What it leans on was put into the claim; always False when it is not `dangling`."""


def read(sentence: Sentence, *, previous: Sequence[Sentence] = (), markers: Sequence[Span] = ()) -> Reading:
    """What a sentence claims, with everything taken off that is not part of the claim.

    Args:
        sentence: one sentence of the answer.
        previous: sentences before it, oldest first; the last `LOOK_BACK` are looked at.
        markers: citation markers in the answer, of any sentence.

    Returns:
        A reading whose claim has an offset for each character: into the answer, or -1 where it was put
        in from the context.
    """
    if sentence.kind is SentenceKind.CODE:
        return Reading(None, Reason.CODE)
    if sentence.kind is SentenceKind.TABLE:
        return _read_table(sentence, previous, markers)
    text = plain(sentence.text, sentence.start, markers=markers)
    if sentence.kind is SentenceKind.HEADING or _looks_like_heading(sentence, markers):
        return Reading(None, Reason.HEADING)
    return _read_prose(text, sentence, previous[-LOOK_BACK:], markers)


def _looks_like_heading(sentence: Sentence, markers: Sequence[Span]) -> bool:
    """Whether a sentence is a line in bold with nothing after it, which answers use as a heading."""
    if sentence.kind is SentenceKind.LIST_ITEM:
        return False
    cited = any(sentence.start <= marker.start < sentence.end for marker in markers)
    bare = sentence.text.strip()
    return not cited and is_bold(bare) and not bare.strip("*_ ").endswith((".", "!", "?"))


def _read_prose(
    text: Aligned, sentence: Sentence, previous: Sequence[Sentence], markers: Sequence[Span]
) -> Reading:
    item = sentence.kind is SentenceKind.LIST_ITEM or is_item(sentence.text)
    text = _after(_LABEL, text.cut(nonclaims.opening(text.text)))
    silent = nonclaims.abstention(text.text)
    if silent is not None:
        return _abstaining(text, silent, list_item=item)
    reason = nonclaims.reason(text.text)
    if reason is not None:
        return Reading(None, reason, list_item=item)
    text, attributed = _without_frame(text)
    if not text.text:
        return Reading(None, Reason.META, list_item=item)
    text, dangling, resolved = _in_context(text, item, previous, markers)
    if not any(own >= 0 and char.isalnum() for char, own in zip(text.text, text.offsets, strict=True)):
        return Reading(None, Reason.EMPTY, list_item=item)  # "It", cut off: nothing is said of it
    return _reading(text, attributed=attributed, list_item=item, dangling=dangling, resolved=resolved)


def _reading(
    text: Aligned, *, attributed: bool, list_item: bool, dangling: bool = False, resolved: bool = False
) -> Reading:
    own = Aligned(
        "".join(c if o != BORROWED else " " for c, o in zip(text.text, text.offsets, strict=True)), ()
    )
    return Reading(
        Claim(text.text, text.offsets),
        has_number=bool(dates(own.text)) or any(not quantity.implied for quantity in quantities(own.text)),
        hedged=_HEDGED.search(own.text) is not None,
        attributed=attributed,
        list_item=list_item,
        dangling=dangling,
        resolved=resolved,
    )


_HEDGED = re.compile(
    r"\b(?:may|might|could|perhaps|maybe|possibl[ey]|probabl[ey]|likely|apparently|presumably|seem(?:s|ed)?"
    r"|appears? to"
    r"|suggests?|about|around|roughly|approximately|estimated|expected|should|usually|generally|typically"
    r"|tends? to|some)\b",
    re.IGNORECASE,
)

# --- what is taken off the front -----------------------------------------------------------------------

_LABEL = re.compile(
    r"(?:(?:(?:short|quick|brief|direct|final) )?(?:answer|version|summary)|in short|in brief|tl;dr|note|nb"
    r"|please note|important"
    r"|tip|hint|caution|warning|conclusion|summary)\s*[:–—-]\s+(?=\S)",
    re.IGNORECASE,
)
_YES = re.compile(
    r"(?:yes|no|yep|nope|sure|certainly|of course|correct|exactly|indeed|right|absolutely|definitely"
    r"|ok(?:ay)?|well|good question"
    r"|great question|not (?:quite|exactly|really|necessarily))\s*[,.:;!–—-]+\s+(?=\S)",
    re.IGNORECASE,
)
_CONNECTIVE = re.compile(
    r"(?:however|moreover|furthermore|additionally|in addition|besides|also|overall|in summary|in short"
    r"|in brief|to sum up"
    r"|in conclusion|finally|importantly|notably|specifically|in particular|for example|for instance"
    r"|similarly|likewise|meanwhile"
    r"|first|firstly|second|secondly|third|thirdly|next|lastly|on the other hand|in contrast|by contrast"
    r"|that said|of course"
    r"|in fact|as mentioned(?: above| earlier)?|as noted(?: above)?|basically|essentially|reassuringly"
    r"|interestingly|unfortunately"
    r"|fortunately|luckily|in other words|generally speaking|put simply|all in all),\s+(?=\S)",
    re.IGNORECASE,
)
_REMINDER = re.compile(
    r"(?:please )?(?:note|keep in mind|bear in mind|remember|be aware|be advised|it (?:is|should be|'s"
    r"|’s) (?:also )?(?:worth )?"
    r"(?:noted?|noting|mentioning|remember(?:ed)?|pointing out)|i (?:think|believe|understand|see|can see"
    r"|can confirm)|it (?:seems|appears)|as you can see,?)"
    r"(?: also)?,?\s+that\s+(?=\S)",
    re.IGNORECASE,
)
_ACCORDING = re.compile(
    rf"(?:according to|based on|as (?:stated|described|explained|noted|mentioned|set out|shown|per|reported"
    rf"|specified|outlined|defined) (?:in|by)"
    rf"|as per|per|from|going by|judging by|under)\s*(?:{nonclaims.SOURCES}(?:\s+(?:provided|given|above"
    rf"|you (?:gave|sent|shared)|i was given))?)?\s*,\s+(?=\S)",
    re.IGNORECASE,
)
_AS_SAYS = re.compile(
    rf"as {nonclaims.SOURCES} (?:say|says|state|states|explains?|shows?|notes?|mentions?|puts? it),\s+(?=\S)",
    re.IGNORECASE,
)
_SAYS = (
    r"(?:(?:also|clearly|explicitly|specifically|only|further|both|all) )?(?:says?|states?|notes?|explains?"
    r"|confirms?|mentions?|indicates?|shows?|reports?|specif(?:y|ies)|adds?"
    r"|points? out|makes? (?:it )?clear|tells? (?:us|you)|suggests?|stresses?|agrees?)(?: (?:clearly"
    r"|explicitly|only))?"
)
_STATES = re.compile(rf"(?:{nonclaims.SOURCES}|they|it)?\s*{_SAYS}\s+that\s+(?=\S)", re.IGNORECASE)
_IN_TEXT = re.compile(
    rf",?\s*(?:according to|as (?:stated|described|noted|mentioned|set out) (?:in"
    rf"|by))\s*(?:{nonclaims.SOURCES})?\s*(?=[.!]?$)",
    re.IGNORECASE,
)
_ATTRIBUTED = re.compile(
    rf"\b(?:according to|as (?:stated|reported|described) (?:in|by)|reported(?:ly)?|per the)\b"
    rf"|^{nonclaims.SOURCES}\s+{_SAYS}\b"
    r"|\b(?:says|said|states|stated|claims|claimed|argues|argued|told|announced)\b",
    re.IGNORECASE,
)


def _after(pattern: re.Pattern[str], text: Aligned) -> Aligned:
    match = pattern.match(text.text)
    return text.cut(match.end()) if match and match.end() else text


def _without_frame(text: Aligned) -> tuple[Aligned, bool]:
    """The claim without courtesies, connectives and phrases that only say where it comes from."""
    attributed = _ATTRIBUTED.search(text.text) is not None
    for pattern in (_YES, _CONNECTIVE, _LABEL, _REMINDER, _ACCORDING, _AS_SAYS, _STATES, _CONNECTIVE):
        text = _after(pattern, text)
    tail = _IN_TEXT.search(text.text)
    if tail and tail.start() > 10:
        text = text.without([tail.span()])
    return text, attributed


def _abstaining(text: Aligned, silent: nonclaims.Abstention, *, list_item: bool) -> Reading:
    topic = _topic(sum((text.cut(*part) for part in silent.topic), Aligned("", ())))
    if silent.rest is not None:
        rest, attributed = _without_frame(text.cut(silent.rest))
        if rest.text and nonclaims.reason(rest.text) is None and nonclaims.abstention(rest.text) is None:
            reading = _reading(rest, attributed=attributed, list_item=list_item)
            return Reading(
                reading.claim,
                abstains=True,
                abstained_topic=topic,
                has_number=reading.has_number,
                hedged=reading.hedged,
                attributed=attributed,
                list_item=list_item,
            )
    return Reading(None, Reason.ABSTENTION, abstains=True, abstained_topic=topic, list_item=list_item)


_ASKING = re.compile(
    r"(?:(?:any |an? |the |specific |further |more )*(?:information|details?|guidance|mention|data"
    r"|instructions?|indication|anything|something|much) )?(?:on |about |of |for |regarding "
    r"|as to )?(?:whether (?:or not )?|if |what |which |how (?:much|many|long|often|far|old) |how |when "
    r"|where |why |that |to )?",
    re.IGNORECASE,
)
_WHO = re.compile(r"who\s+", re.IGNORECASE)


def _topic(text: Aligned) -> Claim | None:
    """The topic of an abstention as a statement: "whether it runs on Windows" → "it runs on Windows"."""
    who = _WHO.match(text.text)
    text = Aligned.borrowed("someone ") + text.cut(who.end()) if who else _after(_ASKING, text)
    text = text.squeezed()
    return Claim(text.text, text.offsets) if any(char.isalnum() for char in text.text) else None


# --- what is put in from the context -------------------------------------------------------------------


def _in_context(
    text: Aligned, item: bool, previous: Sequence[Sentence], markers: Sequence[Span]
) -> tuple[Aligned, bool, bool]:
    """The claim with its referent or lead-in put in; whether it leans on one; whether one was found."""
    place = referents.pronoun(text.text)
    if not item and place is None:
        return text, referents.demonstrative(text.text), False
    # Read only where they are needed: most sentences stand alone.
    before = [plain(other.text, other.start, markers=markers) for other in previous]
    if item:
        framed = _in_frame(text, previous, before)
        if framed is not None:
            return framed, True, True
    if place is not None:
        return _with_referent(text, place, before)
    return text, referents.demonstrative(text.text), False


_CONTRACTED = {"'s": "is", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}


def _with_referent(
    text: Aligned, place: tuple[int, int], before: Sequence[Aligned]
) -> tuple[Aligned, bool, bool]:
    start, end = place
    bodies = [_without_frame(other.cut(nonclaims.opening(other.text)))[0].text for other in before]
    phrase = referents.referent(text.text[start:end], bodies)
    if phrase is None:
        return text, True, False
    if referents.is_possessive(text.text, start, end):
        phrase += "'" if phrase.endswith("s") else "'s"
    # "It's" keeps its verb: "The museum's" would read as a possessive.
    verb = _CONTRACTED.get(text.text[end : end + 3].replace("’", "'").rstrip())
    if verb is not None and not referents.is_possessive(text.text, start, end):
        rest = text.cut(end + len(text.text[end : end + 3].rstrip()))
        return text.cut(0, start) + Aligned.borrowed(f"{phrase} {verb}") + rest, True, True
    return text.cut(0, start) + Aligned.borrowed(phrase) + text.cut(end), True, True


def _in_frame(text: Aligned, previous: Sequence[Sentence], before: Sequence[Aligned]) -> Aligned | None:
    """A list item with what its lead-in gives it; None when there is none or it needs nothing."""
    for other, words in zip(reversed(previous), reversed(before), strict=True):
        if other.kind is SentenceKind.LIST_ITEM or is_item(other.text):
            continue
        if not words.text.endswith((":", "：")):
            return None
        parts = referents.frame(words.text, text.text)
        if parts is None:
            return None
        first, last = parts
        body = text.cut(0, len(text.text.rstrip(".;,")))
        return Aligned.borrowed(first) + body + Aligned.borrowed(last)
    return None


# --- tables --------------------------------------------------------------------------------------------


def _read_table(sentence: Sentence, previous: Sequence[Sentence], markers: Sequence[Span]) -> Reading:
    """A table's rows as "header: cell, header: cell"; the header row alone claims nothing."""
    rows = cells(sentence.text, sentence.start, markers=markers)
    first = _first_of_table(previous)
    if first is None:
        header, rows = rows[:1], rows[1:]
    else:
        header = cells(first.text, first.start, markers=markers)[:1]
    if not header and not rows:
        return Reading(None, Reason.EMPTY)
    names = [cell.text for cell in header[0]] if header else []
    lines = [line for line in (_row_text(row, names) for row in rows) if line.text]
    if not lines:
        return Reading(None, Reason.HEADING if first is None else Reason.EMPTY)
    text = lines[0]
    for line in lines[1:]:
        text = text + Aligned.borrowed("; ") + line
    return _reading(text, attributed=False, list_item=False)


def _first_of_table(previous: Sequence[Sentence]) -> Sentence | None:
    """The sentence with which the table that ends right before begins; None when there is none."""
    first = None
    for other in reversed(previous):
        if other.kind is not SentenceKind.TABLE:
            break
        first = other
    return first


def _row_text(row: Sequence[Aligned], names: Sequence[str]) -> Aligned:
    line = Aligned("", ())
    for place, cell in enumerate(row):
        if not cell.text:
            continue
        name = names[place] if place < len(names) else ""
        lead = (", " if line.text else "") + (f"{name}: " if name else "")
        line = line + Aligned.borrowed(lead) + cell
    return line
