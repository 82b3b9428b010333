"""From a sentence of the answer to the claim that is put to the passages, or the reason why there is none.

Before: `sentences/segmenter.py` closes a sentence and `citations` finds its markers. After: the scorer reads
`ClaimReading.claim`, the judge the rest. Reading only looks back: it never changes when more text arrives.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from streamverify.claims import conversation, coreference, framing, headings, nonclaims, stated
from streamverify.claims.nonclaims import Reason
from streamverify.claims.tables import read_table
from streamverify.scorers.protocol import Claim
from streamverify.text.language import detect
from streamverify.text.list_marks import EMOJI, is_item
from streamverify.text.markdown import Aligned, is_bold, plain
from streamverify.types import Sentence, SentenceKind, Span

LOOK_BACK = 12
"""Sentences before this one that may hold its referent or its lead-in."""


@dataclass(frozen=True, slots=True)
class ClaimReading:
    """One sentence, read."""

    claim: Claim | None
    """What to put to the passages; None when the sentence claims nothing."""
    reason: Reason | None = None
    """Why it claims nothing; None when it claims something."""
    abstains: bool = False
    """It says that the sources do not tell. With a claim, it says something else as well."""
    abstained_topic: Claim | None = None
    """What it says they do not tell, as a text to put to the passages: they may tell after all."""


def read(
    sentence: Sentence,
    *,
    previous: Sequence[Sentence] = (),
    markers: Sequence[Span] = (),
    learned: bool = True,
) -> ClaimReading:
    """What a sentence claims, with everything taken off that is not part of the claim.

    Args:
        sentence: one sentence of the answer.
        previous: sentences before it, oldest first; the last `LOOK_BACK` are looked at.
        markers: citation markers in the answer, of any sentence.
        learned: whether what was learned of claims may overrule the rules, which is so wherever a verdict
            is given; off to measure what the rules do alone.

    Returns:
        A reading whose claim has an offset for each character: into the answer, or -1 where it was put
        in from the context.
    """
    if sentence.kind is SentenceKind.CODE:
        return ClaimReading(None, Reason.CODE)
    if sentence.kind is SentenceKind.TABLE:
        rows = read_table(sentence, previous, markers)
        return (
            ClaimReading(None, rows)
            if isinstance(rows, Reason)
            else ClaimReading(Claim(rows.text, rows.offsets))
        )
    text = plain(sentence.text, sentence.start, markers=markers)
    if _is_heading(sentence, text.text, previous, markers):
        ruled = ClaimReading(None, Reason.HEADING)
    else:
        ruled = _read_prose(text, sentence, previous[-LOOK_BACK:], markers)
    if not learned or ruled.reason is Reason.EMPTY or nonclaims.ANSWER.fullmatch(text.text.strip()):
        return ruled  # there is nothing to weigh
    return _weighed(ruled, text, sentence, previous[-LOOK_BACK:], markers)


def load() -> None:
    """Load what was learned, a tenth of a second once; else the first sentence in doubt waits for it."""
    from streamverify.claims import linear, network  # noqa: PLC0415 - as in `_weighed`

    linear.installed()
    network.installed()


_DOUBT = 4.0
"""Log odds of the weighted sum on either side of even within which the network is asked as well."""
_BARS = {
    Reason.ABSTENTION: inf,
    Reason.ADVICE: 3.0,
    Reason.QUESTION: 3.0,
    Reason.REFERENCE: 3.0,
    Reason.HEADING: 4.0,
    Reason.LEAD_IN: -0.5,
}
"""Log odds that a sentence must reach to be a claim against the rules, by the reason they give. What an
abstention is about is put to the passages anyway; the next three are hardly ever wrong; of headings with a
name or a year too little was learned; of lead-ins more than the rules know."""
_BAR = 0.0
"""Likewise for the other reasons."""
_FLOOR = -1.5
"""Log odds at which what the rules take for a claim is none. Well below even odds: a claim that nobody checks
is worse than a courtesy that is checked, and ordinary answers are nearly all claims."""


def _weighed(
    ruled: ClaimReading,
    text: Aligned,
    sentence: Sentence,
    previous: Sequence[Sentence],
    markers: Sequence[Span],
) -> ClaimReading:
    """What the rules made of a sentence, or what it is where what was learned says otherwise."""
    from streamverify.claims import linear  # noqa: PLC0415 - as in `_log_odds`

    before = previous[-1].text if previous else ""
    log_odds = _log_odds(sentence.text, sentence.kind, before)
    bar = _FLOOR if ruled.reason is None else _BARS.get(ruled.reason, _BAR)
    if (log_odds > bar) == (ruled.claim is not None):
        return ruled
    if detect(text.text) not in (None, "en"):
        return ruled  # that was not learned; asked late, since it takes longer than all the rest
    if ruled.claim is not None:
        if len(text.text.split()) == 1 or conversation.adds_fact(text.text):
            return ruled  # a word may be the whole answer; a fact behind a courtesy is never lost
        plainly = _plainly(sentence.text)
        toned = plainly != sentence.text.rstrip() and _log_odds(plainly, sentence.kind, before) > bar
        if toned or ruled.abstains or stated.commits(text.text) or stated.contact(text.text):
            return ruled  # nor is what an abstention adds, a denial or an address
        reason = linear.installed().reason(sentence.text, sentence.kind, before)
        return ClaimReading(None, reason, abstains=reason is Reason.ABSTENTION)
    item = sentence.kind is SentenceKind.LIST_ITEM or is_item(sentence.text)
    text = _in_context(_without_frame(text), item, previous, markers)
    return ClaimReading(Claim(text.text, text.offsets)) if _own(text) else ruled


def _log_odds(text: str, kind: SentenceKind, before: str) -> float:
    """Of a claim, as the weighted sum has it or, in doubt, the network as well."""
    from streamverify.claims import linear, network  # noqa: PLC0415 - they load numpy and the runtime

    log_odds = linear.installed().log_odds(text, kind, before)
    return log_odds + network.installed().log_odds(text) if abs(log_odds) < _DOUBT else log_odds


_TONE = re.compile(rf"[\s!…{EMOJI}]")


def _plainly(text: str) -> str:
    """A sentence with a full stop in place of the tag, exclamation mark, dots or emoji at its end.

    They are frequent in talk, and say nothing of whether something is claimed: "Aspirin cures it, right?"
    """
    text = text.rstrip()
    end = framing.tag(text)
    while end and _TONE.match(text, end - 1):
        end -= 1
    bare = text[:end]
    return bare if bare == text or bare.endswith((".", "?")) else f"{bare}."


def _is_heading(sentence: Sentence, text: str, previous: Sequence[Sentence], markers: Sequence[Span]) -> bool:
    """Whether a sentence is a heading, by its markup or its shape, that only names what follows."""
    bare = sentence.text.strip()
    if any(sentence.start <= marker.start < sentence.end for marker in markers):
        return sentence.kind is SentenceKind.HEADING
    if is_item(bare):
        alone = not any(other.text.strip() for other in previous)
        return alone and bare[:1].isdigit() and headings.ABSTRACT.fullmatch(text.strip()) is not None
    marked = is_bold(bare) or _ITALIC.fullmatch(bare) is not None
    if sentence.kind is SentenceKind.HEADING or (marked and not text.strip().endswith((".", "!", "?"))):
        return not headings.heading_claims(text.strip())
    return headings.is_title(bare)


_ITALIC = re.compile(r"[*_](?![*_\s])[^*_\n]{2,60}[*_]")


def _read_prose(
    text: Aligned, sentence: Sentence, previous: Sequence[Sentence], markers: Sequence[Span]
) -> ClaimReading:
    if nonclaims.ANSWER.fullmatch(text.text.strip()):
        return ClaimReading(None, Reason.META)
    item = sentence.kind is SentenceKind.LIST_ITEM or is_item(sentence.text)
    text = text.cut(0, framing.tag(text.text)).cut(framing.front(text.text))
    text = _after(_LABEL, text.cut(nonclaims.opening(text.text)))
    commits = stated.commits(text.text)
    silent = None if commits else nonclaims.abstention(text.text)
    if silent is not None:
        return _abstaining(text, silent)
    reason = nonclaims.reason(text.text)
    if (commits and reason in _DENIALS) or (reason in _NOT_IN_LISTS and stated.contact(text.text)):
        text, reason = text.cut(stated.courtesy(text.text)), None
    if reason is not None and not (item and reason in _NOT_IN_LISTS):
        return ClaimReading(None, reason, abstains=reason is Reason.ABSTENTION)
    text = _without_frame(text)
    if not text.text:
        return ClaimReading(None, Reason.META)
    text = _in_context(text, item, previous, markers)
    if not _own(text):
        return ClaimReading(None, Reason.EMPTY)  # "It", cut off: nothing is said of it
    return ClaimReading(Claim(text.text, text.offsets))


def _own(text: Aligned) -> bool:
    """Whether something of the sentence itself is left in a text."""
    return any(own >= 0 and char.isalnum() for char, own in zip(text.text, text.offsets, strict=True))


_DENIALS = frozenset({Reason.ABSTENTION, Reason.GREETING, Reason.ADVICE, Reason.META})
"""What a sentence that binds a house is taken for, mostly for its "we do not"."""
_NOT_IN_LISTS = frozenset({Reason.ADVICE, Reason.OFFER})
"""What a list item is not: "check for regrowth" in a list is the answer's own content."""


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
_STATES_CLAUSE = re.compile(
    r"\s*(?:says|states|notes|explains|confirms)\s+"
    r"(?=(?:the|an?|all|any|each|every|there|it|they|you|we|no)\s)"
)
"""What is left of "Source 1 states the fee is …" without its source."""
_IN_TEXT = re.compile(
    rf"(?:,?\s*(?:according to|as per|as (?:stated|described|noted|mentioned|set out) (?:in"
    rf"|by))\s*(?:{nonclaims.SOURCES})?|,\s*per|\s[–—-]\s*see)\s*(?=[.!]?$)",
    re.IGNORECASE,
)


def _after(pattern: re.Pattern[str], text: Aligned) -> Aligned:
    match = pattern.match(text.text)
    return text.cut(match.end()) if match and match.end() else text


def _without_frame(text: Aligned) -> Aligned:
    """The claim without courtesies, connectives and phrases that only say where it comes from."""
    text = _unframed(text)
    for pattern in (
        _YES,
        _CONNECTIVE,
        _LABEL,
        _REMINDER,
        _ACCORDING,
        _AS_SAYS,
        _STATES,
        _STATES_CLAUSE,
        _CONNECTIVE,
    ):
        text = _after(pattern, text)
    tail = _IN_TEXT.search(text.text)
    if tail and tail.start() > 10:
        text = text.without([tail.span()])
    return _unframed(text)


def _unframed(text: Aligned) -> Aligned:
    """The claim without words that add nothing to it, on either side, and without quotation marks."""
    text = text.without(framing.pointers(text.text)).cut(framing.front(text.text))
    if (behind := framing.back(text.text)) is not None:
        text = text.without([behind])
    if (inside := framing.quoted(text.text)) is not None:
        text = text.cut(*inside)
    return text


def _abstaining(text: Aligned, silent: nonclaims.Abstention) -> ClaimReading:
    topic = _topic(sum((text.cut(*part) for part in silent.topic), Aligned("", ())))
    if silent.rest:
        *of, last = (text.cut(*part) for part in silent.rest)
        # Of a relative clause or a bracket: what it speaks of, as a statement.
        if of:
            seam = "" if last.text.startswith(" ") else ": "
            last = _after(_ASKING, of[0]) + Aligned.borrowed(seam) + last
        rest = _without_frame(last)
        if rest.text and nonclaims.reason(rest.text) is None and nonclaims.abstention(rest.text) is None:
            return ClaimReading(Claim(rest.text, rest.offsets), abstains=True, abstained_topic=topic)
    return ClaimReading(None, Reason.ABSTENTION, abstains=True, abstained_topic=topic)


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


def _in_context(text: Aligned, item: bool, previous: Sequence[Sentence], markers: Sequence[Span]) -> Aligned:
    """The claim with its referent or lead-in put in, where it leans on one that is found."""
    place = coreference.pronoun(text.text)
    if not item and place is None:
        return text
    # Read only where they are needed: most sentences stand alone.
    before = [plain(other.text, other.start, markers=markers) for other in previous]
    if item:
        framed = _in_frame(text, previous, before)
        if framed is not None:
            return framed
    return text if place is None else _with_referent(text, place, before)


_CONTRACTED = {"'s": "is", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}


def _with_referent(text: Aligned, place: tuple[int, int], before: Sequence[Aligned]) -> Aligned:
    start, end = place
    bodies = [_without_frame(other.cut(nonclaims.opening(other.text))).text for other in before]
    phrase = coreference.referent(text.text[start:end], bodies)
    if phrase is None:
        return text
    if coreference.is_possessive(text.text, start, end):
        phrase += "'" if phrase.endswith("s") else "'s"
    # "It's" keeps its verb: "The museum's" would read as a possessive.
    verb = _CONTRACTED.get(text.text[end : end + 3].replace("’", "'").rstrip())
    if verb is not None and not coreference.is_possessive(text.text, start, end):
        rest = text.cut(end + len(text.text[end : end + 3].rstrip()))
        return text.cut(0, start) + Aligned.borrowed(f"{phrase} {verb}") + rest
    return text.cut(0, start) + Aligned.borrowed(phrase) + text.cut(end)


def _in_frame(text: Aligned, previous: Sequence[Sentence], before: Sequence[Aligned]) -> Aligned | None:
    """A list item with what its lead-in gives it; None when there is none or it needs nothing."""
    for other, words in zip(reversed(previous), reversed(before), strict=True):
        if other.kind is SentenceKind.LIST_ITEM or is_item(other.text):
            continue
        if not words.text.endswith((":", "：")):
            return None
        parts = coreference.frame(words.text, text.text)
        if parts is None:
            return None
        first, last = parts
        body = text.cut(0, len(text.text.rstrip(".;,")))
        return Aligned.borrowed(first) + body + Aligned.borrowed(last)
    return None
