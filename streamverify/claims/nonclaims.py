"""Sentences that claim nothing: courtesies, offers, questions, lead-ins, abstentions, remarks.

Every rule reads the text that `markdown.plain` left. A sentence that adds a fact to a courtesy is a claim.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from streamverify.claims import asides, conversation, headings
from streamverify.claims.conversation import Talk


class Reason(StrEnum):
    """Why a sentence makes no claim."""

    EMPTY = "empty"
    CODE = "code"
    HEADING = "heading"
    QUESTION = "question"
    GREETING = "greeting"
    OFFER = "offer"
    LEAD_IN = "lead_in"
    META = "meta"
    ABSTENTION = "abstention"
    ADVICE = "advice"
    """Where to ask or to look: "Please check the current prices on the website."."""
    REFERENCE = "reference"
    """An entry of a list of sources, a bare link."""


_SOURCE = (
    r"(?:passages?|documents?|docs|documentation|sources?|texts?|context|excerpts?|snippets?|materials?"
    r"|search results?"
    r"|results?|articles?|reports?|papers?|pages?|websites?|notes?|minutes|guides?|guidelines?|handbook"
    r"|manuals?|policy|policies"
    r"|code|act|leaflet|bulletin|rules?|information|records?|files?|data ?sheet|summary|study|faq"
    r"|agreements?|contract|letter)"
)
SOURCES = (
    r"(?:(?:the|these|those|this|that|your|both|all|any of the|none of the|neither of the|either of the"
    rf"|either)\s+)?(?:[\w-]+\s+){{0,2}}?{_SOURCE}"
)
"""A phrase for what the answer was written from: "the provided documents", "both passages"."""

_GREETING = re.compile(
    r"(?:hi|hello|hey|good (?:morning|afternoon|evening)|dear \w+|welcome|thanks|thank you|sure(?: thing)?"
    r"|of course|certainly"
    r"|absolutely|great|good|excellent|interesting|you(?:'re| are) welcome|happy to (?:help|explain|answer)"
    r"|glad to help"
    r"|(?:i'm|i am|we're|we are) (?:very |so |really )?(?:sorry|glad|happy)|sorry|no problem"
    r"|congratulations|don't worry"
    r"|that's a |that is a |i understand|this is easy|(?:the|your) \w+ sounds like|cheers"
    r"|best (?:regards|wishes)|good luck|good news)\b",
    re.IGNORECASE,
)
_COURTESY_REST = re.compile(
    r"(?:there|to [\w-]+|again|all|everyone|question|point|idea|for (?:your|the|asking|reaching|wanting"
    r"|sharing)[\w\s,']*|to (?:hear|the)[\w\s,']*"
    r"|about[\w\s,']*|that[\w\s,']*|you[\w\s,'-]*|this[\w\s,']*|with[\w\s,']*|from you[\w\s,']*|luck|news"
    r"|to (?:help|explain|answer|compare|you)[\w\s,']*|worrying[\w\s]*"
    r"|is worrying|to explain|a treat|stressful situation[\w\s,']*|situation|thing|welcome)",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"(?:please |just |also |and |if [^,]{3,80}, )?(?:let me know|feel free|do(?:n't| not) hesitate|i(?:'d"
    r"| would| will|'ll)? (?:can |could )?"
    r"(?:also )?(?:be )?(?:happy|glad) to|happy to (?:help|compare|explain|go)|i can (?:also )?(?:help"
    r"|provide|give|show|explain|look|draft|summari[sz]e|go into|list|share|walk)"
    r"|would you like|shall i|should i|do you (?:want|need)|i hope (?:this|that|it) helps|hope (?:this"
    r"|that) helps"
    r"|just ask|ask me|reach out|say the word|contact me)\b",
    re.IGNORECASE,
)
_META = re.compile(
    r"(?:(?:ok|okay|sure|of course|well|so|hello|hi there|hi|certainly|good question|great question"
    r"|thanks[^.!,]*|sorry[^.!,;]*|i'm sorry[^.!,;]*|good news)[,!.;:]?\s+)*"
    r"(?:here(?:'s| is| are)\b|let me\b(?! know)|let's (?!say|assume|suppose)|below (?:is|are|you)\b"
    r"|i(?:'ll| will| am going to|'m going to) (?:summari|explain|answer|list|go|outline|compare|start|try"
    r"|walk|give)"
    r"|i(?:'ve| have) (?:looked|gone|read|checked|reviewed|searched|summari|listed|compared|gathered)"
    r"|i found the following|i only have\b|i looked\b"
    r"|(?:in (?:short|brief|summary)|to (?:summari[sz]e|sum up)|short (?:answer|version)|quick (?:answer"
    r"|summary|overview)|summary|overview|conclusion|answer|note)\s*[:.]?\s*$"
    r"|(?:this|that|it) depends(?: on [\w\s]{1,30})?\.?$|that can have several reasons"
    r"|there (?:are|is) (?:a few|a couple of|several|some|two|three|four|five|a number of|various"
    r"|many) (?:[\w-]+ )?(?:things|points|stages|steps|ways|reasons|aspects|factors|layers|changes|options"
    r"|parts|sides|answers|cases|possibilities|considerations)\b[^,;]{0,40}$"
    r"|(?:a few|some|two|three|four|five|several) (?:[\w-]+ )?(?:things|points|questions?|answers|pointers"
    r"|ideas|reasons|steps)\b[^.;]{0,40}$"
    r"|the (?:answer|short answer|deadline is what|following|main points|key points|key figures"
    r"|procedure is as follows|picture is mixed)\b[^.;]{0,60}(?:depends[^.;]*|has two sides[^.;]*|follows?"
    r"|apply|below|here|are)?:?$"
    r"|as an ai\b|i can(?:'t|not) (?:give|offer|provide) (?:medical|legal|financial|tax) advice|(?:good"
    r"|nice) to know\b|one question first|generally speaking, (?:yes|no)|(?:yes|no|maybe|correct|exactly"
    r"|right|not (?:quite|really|exactly|normally))\W*$"
    r"|the (?:documents|sources|passages) (?:give|offer|provide|contain|describe) (?:these|the following"
    r"|quite a few|some|several|a few)\b[^,;]*$"
    r"|(?:possible reasons|key (?:duties|points|figures|facts)|quick checklist|next steps|steps|background"
    r"|in detail|details)\b[^.]{0,60}$)",
    re.IGNORECASE,
)
_BASED_ONLY = re.compile(
    rf"(?:based on|according to|from|as per|looking at|regarding|in"
    rf"|judging by)\s+{SOURCES}(?:\s+(?:provided|given|above|you (?:gave|sent|shared)))?\W*$",
    re.IGNORECASE,
)
_POINTED = re.compile(
    rf"(?:(?:good|great) question, )?(?:both|all|these|those|the) (?:\w+ )?(?:points|questions|details"
    rf"|parts|answers|topics)? ?(?:is|are) (?:all )?(?:covered|answered|explained|described|listed"
    rf"|found) in {SOURCES}\W*$",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"(?:(?:sources?|references?|see also|further reading|citations?)[\s:,;.&]*(?:and[\s,;.]*)?$"
    r"|https?://\S+$)",
    re.IGNORECASE,
)

_REASONS = (
    (_REFERENCE, Reason.REFERENCE),
    (_OFFER, Reason.OFFER),
    (_META, Reason.META),
    (_BASED_ONLY, Reason.META),
    (_POINTED, Reason.META),
)

ANSWER = re.compile(
    r"(?:yes|no|yeah|yep|nope|indeed|exactly|correct|right|maybe|perhaps|sure|certainly|absolutely|definitely"
    r"|true|false|see|cf)[\s.!,:;…]*",
    re.IGNORECASE,
)
"""A word that only the question makes a statement, or that only points: it claims nothing by itself."""

_TELLS = (
    r"(?:say|state|mention|specify|tell|reveal|disclose|indicate|clarify|address|discuss|explain|answer"
    r"|define|detail|note|record|report|describe|comment"
    r"|make clear|make (?:any |no )?mention|touch on|go into|speak (?:to|about|of)|refer to|elaborate"
    r"|confirm|name|cite|quantify)"
)
_HOLDS = r"(?:include|provide|give|contain|cover|list|offer|have|hold|present|supply|show)"
_INFORMATION = (
    r"(?:any |an? |the |specific |exact |further |more |enough |sufficient |explicit "
    r"|clear )*(?:[\w-]+ ){0,3}?"
    r"(?:information|details?|figures?|guidance|mention|answers?|data|instructions?|numbers?|rates?"
    r"|explanation|indication|statement|evidence|specifics|reference)"
)
_ADVERB = (
    r"(?:explicitly |specifically |directly |clearly |actually |also |however |really |seem to |appear to "
    r"|themselves )*"
)
_ABSTENTIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # The documents do not say how much it costs.
        (
            rf"^(?P<who>(?:[\w'’-]+\s+){{0,6}}?{_SOURCE}(?:\s+(?:i (?:have|was given)|provided|available"
            rf"|here"
            rf"|given))?)\s+{_ADVERB}(?:do|does|did)(?:n['’]t| not)\s+{_ADVERB}{_TELLS}\s*(?P<topic>.*)$"
        ),
        (
            rf"^(?P<who>they|it)\s+(?:do|does|did)(?:n['’]t| not)\s+{_ADVERB}(?:say|state|mention"
            rf"|specify)\s+(?P<topic>(?:what|whether|how|which|who|when|where|why|if|anything|the)\b.*)$"
        ),
        (
            rf"^(?P<who>{SOURCES})\s+{_ADVERB}(?:do|does|did)(?:n['’]t"
            rf"| not)\s+{_ADVERB}{_HOLDS}\s+(?P<topic>{_INFORMATION}\b.*)$"
        ),
        (
            rf"^(?P<who>{SOURCES})\s+(?:say|says|said|contain|contains|give|gives|provide|provides|make"
            rf"|makes"
            rf"|offer|offers)\s+(?:nothing|no (?:mention|information|indication|details?|guidance|figures?"
            rf"|statement|answer|data))(?:\s+(?:on|about|of|for|regarding|as to))?\s*(?P<topic>.*)$"
        ),
        rf"^(?:none|neither) of {SOURCES}\s+{_TELLS}s?\s*(?P<topic>.*)$",
        rf"^(?P<who>{SOURCES})\s+(?:is|are|remains?)\s+silent\s+(?:on|about|as to)\s+(?P<topic>.*)$",
        rf"^what {SOURCES} leaves? open is\s+(?P<topic>.*)$",
        # I could not find guidance on ...
        (
            r"^(?:unfortunately,? |sorry,? (?:but )?|i'm sorry,? (?:but )?|i'm afraid )?(?:i|we)"
            r" (?:could|can"
            r"|did|do|was|were|am|are)(?: not|n['’]t|not)\s+(?:been )?(?:able to |unable to )?(?:find|see"
            r"|locate|determine|tell|say|answer|confirm|know|establish|verify|identify|have)\b\s*(?:any "
            r"|specific )*(?:information |details? |guidance |anything |mention |data )?(?:on |about |of "
            r"|for |regarding )?(?P<topic>.*)$"
        ),
        (
            r"^(?:unfortunately,? )?(?:i|we) (?:was|were|am|are) unable to (?:find|determine|answer|confirm"
            r"|locate)\s*(?P<topic>.*)$"
        ),
        r"^(?:unfortunately,? )?(?:i|we) (?:found|find|see|have|saw) (?:nothing|no (?:information|mention"
        r"|guidance|details?|instructions?|data|evidence|figures?|answer|indication"
        r"|reference))\b(?:\s+in\s+"
        + SOURCES
        + r")?(?:\s+(?:on|about|of|for|regarding|as to))?\s*(?P<topic>.*)$",
        # ... is not mentioned; there is no information on ...
        (
            rf"^(?P<topic>.{{3,120}}?)\s+(?:is|are|was|were|has|have)(?: not"
            rf"|n['’]t)\s+(?:been )?{_ADVERB}(?:(?:mentioned|stated|specified|discussed|disclosed"
            rf"|addressed)(?:\s+(?:anywhere\s+)?(?:in|by|from)\s+{SOURCES})?|(?:documented|explained"
            rf"|recorded"
            rf"|given|provided|described|covered|clear)\s+(?:anywhere\s+)?(?:in|by|from)\s+{SOURCES})\W*$"
        ),
        (
            rf"^there (?:is|are|was|were)(?:n['’]t| not)? (?:no|any|nothing) (?:[\w-]+ )?(?:information"
            rf"|mention|indication|details?|guidance|data|figures?"
            rf"|answer)\b(?:\s+in\s+{SOURCES})?(?:\s+(?:on|about|of"
            rf"|for|regarding|as to|in))?\s*(?P<topic>.*)$"
        ),
        (
            rf"^(?:no|nothing) (?:information|details?|mention|figures?|guidance"
            rf"|data)\b(?P<topic>.{{0,120}}?)\s+(?:is|are|was|were) (?:given|provided|available|mentioned"
            rf"|included|found)(?:\s+in\s+{SOURCES})?\W*$"
        ),
        (
            r"^(?P<topic>.{3,80}?)(?:n['’]t| not)(?P<more>\s+[\w\s'’-]{1,80}?)\s+in (?:these|the"
            r"|any of the|the (?:provided|given|available)) (?:passages|documents|sources|texts|excerpts"
            r"|materials|search results)\W*$"
        ),
        (
            rf"^it (?:is|remains) (?:unclear|not clear|not stated|not specified|(?:unknown|not known)(?="
            rf" from {SOURCES}))"
            rf"(?: from {SOURCES})?,?\s*(?P<topic>.*)$"
        ),
    )
)
_TAIL = re.compile(
    rf"\s*(?:(?:anywhere\s+)?(?:in|from|based on|with|within)\s+{SOURCES}(?:\s+(?:provided|given"
    rf"|above))?)\W*$",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"[,;]\s*(?:but|however|although|though|only|yet|while|whereas|instead)\b,?\s*|;\s+", re.IGNORECASE
)
_PARTS = re.compile(
    r"(?<=[.!?])\s+(?=[A-Z\"“'])|, so (?=let me|here)|; (?=here|let me)|, (?=here(?:'s| is| are) )"
)


@dataclass(frozen=True, slots=True)
class Abstention:
    """An honest "the documents do not say": where its topic stands and where another claim follows."""

    topic: tuple[tuple[int, int], ...]
    """Ranges in the text that make up the topic; all empty when it names none."""
    rest: asides.Ranges = ()
    """Those that claim something after all ("…, but the fee was $240"); two where the first is what the
    second speaks of."""


def abstention(text: str) -> Abstention | None:
    """How a text says that the sources do not tell; None when it does not say so."""
    more = _MORE.search(text)
    head = text[: more.start()] if more else text
    for pattern in _ABSTENTIONS:
        match = pattern.match(head.strip())
        if match is None:
            continue
        start, end = match.span("topic")
        rest: asides.Ranges = ((more.end(), len(text)),) if more and len(text) - more.end() > 12 else ()
        if not more and (found := asides.aside(text, start, end)) is not None:
            end, rest = found
        tail = _TAIL.search(head, start, end)
        end = tail.start() if tail else end
        while end > start and head[end - 1] in " .!,;":
            end -= 1
        ranges = [(start, max(start, end))]
        if "more" in pattern.groupindex:
            ranges.append(match.span("more"))
        return Abstention(tuple(ranges), rest)
    return None


def opening(text: str) -> int:
    """Length of the parts at a text's beginning that claim nothing: "Good question! ", "Sure. "."""
    end = 0
    for match in _PARTS.finditer(text):
        if _part_reason(text[end : match.start()]) is None:
            break
        end = match.end()
    return end


def reason(text: str) -> Reason | None:
    """Why a text claims nothing; None when some part of it claims something (abstentions aside)."""
    rest = text[opening(text) :]
    found = _part_reason(rest)
    if found in _ENTICING and conversation.adds_fact(rest):
        return None
    if found is Reason.QUESTION and conversation.asks_with_fact(rest):
        return None
    if found is Reason.LEAD_IN and headings.lead_in_claims(rest):
        return None
    if found is None and (talk := conversation.purpose(text)) is not None:
        return _TALK[talk]
    return found


_ENTICING = frozenset({Reason.OFFER, Reason.META, Reason.GREETING})
"""Sentences that may carry a fact along: "I can help with the form; it pays 30 cents a kilometre."."""
_TALK = {
    Talk.SILENCE: Reason.ABSTENTION,
    Talk.WISH: Reason.GREETING,
    Talk.OFFER: Reason.OFFER,
    Talk.ADVICE: Reason.ADVICE,
    Talk.DISCLAIMER: Reason.META,
    Talk.REMARK: Reason.META,
}


def _part_reason(text: str) -> Reason | None:
    bare = text.strip(" \"'“”‘’()*_")
    if not any(char.isalnum() for char in bare):
        return Reason.EMPTY
    if bare.rstrip(")”\"'").endswith(("?", "？", "؟")):
        return Reason.QUESTION
    if _is_courtesy(bare):
        return Reason.GREETING
    for pattern, why in _REASONS:
        if pattern.match(bare):
            return why
    return Reason.LEAD_IN if bare.endswith((":", "：")) else None


def _is_courtesy(text: str) -> bool:
    """Whether every part of the text is a politeness: "Hi there!", "Thanks for asking!"."""
    parts = [part.strip() for part in re.split(r"[.!,;–—]+\s*", text) if part.strip()]
    return bool(parts) and all(_courteous(part) for part in parts)


def _courteous(part: str) -> bool:
    match = _GREETING.match(part)
    if match is None:
        return False
    rest = part[match.end() :].strip()
    return not rest or (_COURTESY_REST.fullmatch(rest) is not None and not re.search(r"\d", rest))
