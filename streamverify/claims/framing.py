"""Words around a claim that add nothing to it: where it comes from, that it is true, that it matters.

A small reader takes "It is true that …" for part of what is claimed and judges another sentence. What is
taken off here is a closed list of forms, each of which leaves a whole clause behind; an attribution to
somebody in particular ("according to Dr Sable, …") says something of its own and stays.
"""

from __future__ import annotations

import re

from streamverify.claims.nonclaims import SOURCES

_MOST = 4
"""Frames taken off one sentence: "In short, it is true that, as the text says, …"."""
_LONGEST = 160
"""Characters of a frame."""
_LEAST = 10
"""Characters that must be left."""

_ADVERB = (
    r"(?:(?:also|clearly|plainly|certainly|definitely|absolutely|explicitly|expressly|specifically|indeed"
    r"|again|further"
    r"|thus|therefore|quite|well|simply|directly|briefly|both|all|itself|themselves)\s+)?"
)
"""Adverbs that add nothing themselves: "not", "hardly" or "probably" would."""
_SAY = (
    r"(?:says?|said|states?|stated|notes?|noted|explains?|explained|confirms?|confirmed|mentions?"
    r"|mentioned|indicates?"
    r"|shows?|reports?|reported|specif(?:y|ies)|specified|adds?|writes?|tells?(?: us| you)?|describes?"
    r"|holds?|records?"
    r"|lists?|reveals?|makes? (?:it )?(?:clear|plain)|points? out|sets? out|spells? out|puts? it|has it"
    r"|have it|agrees?"
    r"|emphasi[sz]es?|stress(?:es)?|suggests?|demonstrates?|establish(?:es)?|provides?|supports?)"
)
_TOLD = (
    r"(?:stated|said|noted|mentioned|explained|described|written|documented|recorded|reported|confirmed"
    r"|established"
    r"|specified|shown|indicated|set out|pointed out|outlined|given|spelled out|laid down|known)"
)
_TRUE = (
    r"(?:true|correct|right|accurate|certain|clear|evident|apparent|obvious|plain|important|essential"
    r"|useful|helpful"
    r"|interesting|noteworthy|a fact|an established fact|the case|common knowledge|no secret)"
)
_PLACE = rf"(?:\s+(?:in|by|from|across|within)\s+{SOURCES})?"
_THAT = r"(?:\s+here)?(?:\s+to\s+(?:note|know|mention|add|say|remember|understand))?,?\s+that\s+"

_FRONT = tuple(
    re.compile(pattern + r"(?=\S)", re.IGNORECASE)
    for pattern in (
        (
            rf"it(?:\s+is|['’]s|\s+was)\s+{_ADVERB}(?:(?:worth\s+)?(?:noting|mentioning|remembering|knowing"
            rf"|stressing)|{_TRUE}|{_TOLD}){_PLACE}{_THAT}"
        ),
        (
            rf"it\s+(?:can|may|should|must|could)\s+{_ADVERB}be\s+{_ADVERB}"
            rf"(?:{_TOLD}|added|stressed|seen|concluded|remembered|emphasi[sz]ed){_PLACE}{_THAT}"
        ),
        rf"it\s+(?:turns\s+out|follows|has\s+been\s+{_TOLD}){_PLACE}{_THAT}",
        (
            rf"(?:we|you|one|i)\s+(?:can\s+|may\s+|should\s+)?{_ADVERB}"
            rf"(?:see|read|learn|know|confirm|find|tell|note|say|conclude|add)(?:\s+(?:in|from|here"
            rf"|by)\s+{SOURCES})?{_THAT}"
        ),
        (
            rf"(?:(?:one|each|some|several) of )?{SOURCES}\s+{_ADVERB}{_SAY}(?:\s+(?:clearly"
            rf"|explicitly))?,?\s+that\s+"
        ),
        rf"(?:what|as)\s+{SOURCES}\s+{_ADVERB}{_SAY}(?:\s+(?:clear|plain|out))?\s*(?:is\s+that\s+|,\s+)",
        rf"{SOURCES}\s+{_ADVERB}{_SAY}\s*:\s+",
        rf"as\s+(?:is\s+|was\s+)?{_TOLD}{_PLACE}(?:\s+(?:above|earlier|before|below))?,\s+",
        (
            rf"(?:in|from|per|as per|based on|according to|going by|judging by)\s+{SOURCES}"
            rf"(?:\s+(?:provided|given|above|supplied|at hand|retrieved))?,\s+"
        ),
        (
            r"(?:(?:please|kindly|do|also|just)\s+){0,2}(?:note|bear in mind|keep in mind|remember|be aware"
            r"|recall"
            r"|be advised|consider)(?:\s+also)?,?\s+that\s+"
        ),
        (
            r"(?:the\s+(?:short\s+|simple\s+|direct\s+)?(?:answer|fact|truth|point|bottom line|upshot"
            r"|takeaway)\s+is"
            r"|there\s+is\s+no\s+(?:doubt|question)|rest\s+assured"
            r"|i\s+can\s+(?:also\s+)?(?:confirm|tell\s+you))(?:,?\s+that"
            r"|[:,])\s+"
        ),
        (
            r"(?:here(?:['’]s|\s+is|\s+are)\s+(?:what\s+\w+(?:\s+\w+){0,3}|the\s+(?:short\s+)?answer)"
            r"|to\s+answer\s+(?:this|that"
            r"|you|your\s+question|the\s+question)(?:\s+(?:directly|briefly|plainly|simply))?"
            r"|in\s+answer\s+to\s+your\s+question|in\s+a\s+nutshell|bottom\s+line"
            r"|long\s+story\s+short|for\s+(?:the\s+record|clarity|your\s+information|your\s+reference|context"
            r"|reference))[,:]\s+"
        ),
        (
            r"(?:in\s+(?:short|brief|summary|essence|sum|conclusion|fact|other\s+words)|to\s+(?:sum\s+up"
            r"|summari[sz]e|conclude"
            r"|be\s+(?:clear|precise|exact))|all\s+in\s+all|put\s+(?:simply|differently|briefly)|simply\s+put"
            r"|briefly(?:\s+put)?"
            r"|overall|basically|essentially|importantly|notably|of\s+course|needless\s+to\s+say"
            r"|as\s+(?:it\s+happens|you\s+(?:can\s+see"
            r"|asked|know)))[,:]\s+"
        ),
    )
)
_BACK = tuple(
    re.compile(pattern + r"(?=[.!]?$)", re.IGNORECASE)
    for pattern in (
        (
            rf",?\s+(?:according to|as per|per|going by)\s+{SOURCES}(?:\s+(?:provided|given|above|supplied"
            rf"|at hand|retrieved))?"
        ),
        rf",\s+(?:as\s+)?{SOURCES}\s+{_ADVERB}{_SAY}(?:\s+(?:clear|plain|out))?",
        rf",?\s+as\s+(?:is\s+|was\s+)?{_TOLD}(?:{_PLACE}|\s+(?:above|earlier|before|here))",
        rf"\s+\((?:see|cf\.?|source:)\s+{SOURCES}\)",
        r"\s+[–—-]\s+(?:as\s+(?:noted|mentioned|stated|described)\s+)?(?:see\s+)?above",
        (
            r",\s+(?:of course|as you can see|as it happens|as you (?:asked|know)|for your (?:information"
            r"|reference))"
        ),
    )
)
_QUOTED = re.compile(r"[\"“”«„][^\"“”«»„]+[\"”“»][.!]?$")


_NAME = (
    r"(?:(?:Mrs?|Ms|Mx|Dr|Prof)\.?\s)?[A-ZÀ-ÖØ-Þ][\w'’-]{0,40}(?:\s[A-ZÀ-ÖØ-Þ][\w'’-]{0,40}\.?){0,2}"
    r"(?:,|!|\s[–—-])\s+"
)
_NO_APPOSITION = r"(?!(?:an?|the|which|who|whose)\s[^,.;]{1,60},\s(?:is|was|were|are|has|had|will)\b)"
_ADDRESSED = re.compile(
    rf"(?:(?:[Hh]i|[Hh]ello|[Hh]ey|[Dd]ear|[Gg]ood (?:morning|afternoon|evening)),?\s{_NAME}{_NO_APPOSITION}"
    # "Sure, Berlin, Hamburg and Bonn": what may be a list of names is one.
    rf"|(?:Thanks|Thank you|Sure|Of course|Certainly),?\s{_NAME}{_NO_APPOSITION}"
    r"(?=[a-z]|(?:The|This|It|You|Your|We|Our|I|There|Yes|No|A|An)\b))(?=\S)"
)


def greeting(text: str) -> int:
    """Length of what greets somebody by name in front of a statement: "Hi Anna, the fee is …"."""
    found = _ADDRESSED.match(text[:_LONGEST])
    return found.end() if found and len(text) - found.end() >= _LEAST else 0


def front(text: str) -> int:
    """Characters at the start of a sentence that frame what follows; 0 where there are none."""
    at = greeting(text)
    for _ in range(_MOST):
        head = text[at : at + _LONGEST]
        taken = max((m.end() for pattern in _FRONT if (m := pattern.match(head))), default=0)
        if not taken or len(text) - at - taken < _LEAST:
            break
        at += taken
    return at


def back(text: str) -> tuple[int, int] | None:
    """Where a frame stands at the end of a sentence, its stop left out; None where there is none."""
    start = max(0, len(text) - _LONGEST)
    tail = text[start:]
    for pattern in _BACK:
        found = pattern.search(tail)
        if found and start + found.start() >= _LEAST:
            return start + found.start(), start + found.end()
    return None


_POINTER = re.compile(
    r"\s\((?:see|cf\.?)\s(?:also\s)?(?:sections?|sects?\.|secs?\.|§{1,2}|paragraphs?|paras?\.|pages?|pp?\.|chapters?"
    r"|ch\.|appendix|annex|tables?|figures?|fig\.|clauses?|articles?|art\.|steps?|parts?|items?)\s?"
    r"(?:\d{1,4}(?:\.\d{1,3}){0,4}|[A-Z])(?:\s?(?:[-–,]|and|to)\s?\d{1,4}(?:\.\d{1,3}){0,4})?"
    r"(?:\s(?:above|below))?\)",
    re.IGNORECASE,
)


def pointers(text: str) -> list[tuple[int, int]]:
    """Where brackets only point to a place: "(see Section 4.2)"; its number is none of the claim's."""
    return [found.span() for found in _POINTER.finditer(text)]


def quoted(text: str) -> tuple[int, int] | None:
    """What stands inside the marks of a sentence that is a quotation as a whole; None where it is none."""
    if not _QUOTED.match(text):
        return None
    end = len(text.rstrip(".!"))
    return 1, end - 1


_TAG = re.compile(
    r",\s+(?:correct|right|okay|ok|eh|no|yes|(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would"
    r"|should|must)(?:n['’]t)? (?:it|he|she|they|that|there))\s*\?\s*$",
    re.IGNORECASE,
)


def tag(text: str) -> int:
    """Where a tag begins that asks whether a statement is right: "It costs 50 euros, doesn't it?"."""
    found = _TAG.search(text, max(len(text) - 40, 0))
    return found.start() if found else len(text)
