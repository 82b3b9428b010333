"""Headings and lead-ins, which claim nothing, told from those that state something.

Before: `conversation.py` knows clauses. After: `reader.py` and `nonclaims.py` ask.
"""

from __future__ import annotations

import re

from streamverify.claims.conversation import (
    EMOJI,
    RELATIVE,
    Clause,
    clauses,
    has_figure,
    has_verb,
    states,
    talk,
    without_opener,
)


def heading_claims(text: str) -> bool:
    """Whether a heading states something: "Logging is off by default", "Illness: not covered"."""
    words = text.split()
    if len(words) < _HEADLINE or _TOPIC.match(text):
        return False
    mark = re.search(r":\s+|\s+[-–—]\s+", text)
    rest = text[mark.end() :] if mark else ""
    if rest[:1].islower() and not _TOPIC.match(rest) and not _GENERIC.search(rest):
        return True
    return states(text) or any(sign.search(text) for sign in (_LIMIT, _PAST, _SHARE))


_HEADLINE = 3
"""Words of the shortest heading that can state something."""
_SHARE = re.compile(r"\d\s?%|[€$£]\s?\d")
_TOPIC = re.compile(
    r"(?:how|what|why|when|where|who|which|if|before|after|to|whether|step|on|in|at|for|about|\w+ed"
    r" (?:on|in|by|at))\b",
    re.IGNORECASE,
)
_GENERIC = re.compile(
    r"\b(?:pros|cons|overview|summary|comparison|basics|facts|key|points|steps|guide|tips|details|glance"
    r"|brief|advantages)\b",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"\b(?:no|not|only|never|mandatory|compulsory|forbidden|prohibited|required|free|excluded|always)\b",
    re.IGNORECASE,
)
_PAST = re.compile(r"\b\w{3,}ed (?:the|a|an|its|their|all|two|three|four|five|by|\w+ly|\d+)\b", re.IGNORECASE)


def is_title(text: str) -> bool:
    """Whether a line without a full stop has the shape of a heading, though no markup says so."""
    bare = EMOJI.sub("", text).strip()
    if not bare or bare[-1] in ".!?:;" or has_figure(bare) or len(bare.split()) > _TITLE:
        return False
    if re.match(r"how to \w+", bare, re.IGNORECASE):
        return True
    if has_verb(bare):
        return False
    # Behind a line an emoji is a tone: "We ship to Canada and Mexico 😀".
    return EMOJI.match(text.strip()) is not None or _PAIR.fullmatch(bare) is not None


_TITLE = 6
"""Words of the longest line that is taken for a heading by its shape."""
_PAIR = re.compile(r"[A-Z][\w'-]*(?:, [\w'-]+)* & [\w'-]+(?: [\w'-]+)?")
ABSTRACT = re.compile(r"[A-Z]\w+(?:ion|ment|ing|ance|ence|ity|ness|ics|ysis|ure)s?")
"""A word for a matter, not for a thing or a name: "Formation"."""


def lead_in_claims(text: str) -> bool:
    """Whether a sentence that ends in a colon says something before it points ahead."""
    parts = clauses(text)
    for place, part in enumerate(parts):
        bare = without_opener(part.text)
        if not bare or _PRESENTS.match(bare):
            continue
        if has_figure(_WHEN.sub("", bare)) or (place < len(parts) - 1 and _tells_before(part, bare)):
            return True
    return False


def _tells_before(part: Clause, bare: str) -> bool:
    """Whether a clause before the one that points ahead says something of its own."""
    size = len(bare.split())
    if RELATIVE.match(part.text) and has_verb(part.text):
        return True
    if _CONTRAST.match(part.text):
        return size > _SHORT
    points = _AHEAD.match(bare) or _AHEAD.match(part.text)
    return not points and size >= _SHORT and talk(part) is None


_SHORT = 4
"""Words that a clause with a subject and a verb of its own has at least."""
_CONTRAST = re.compile(r"(?:although|though|since|because|while|whereas)\b", re.IGNORECASE)
_PRESENTS = re.compile(
    r"(?:here(?:'s| is| are)|below|let me|these are|this is|there (?:is|are))\b", re.IGNORECASE
)
_WHEN = re.compile(
    r"\b\d{1,2}(?:st|nd|rd|th)? (?:of )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*(?:"
    r" \d{4})?|\b(?:19|20)\d\d\b"
    r"|\b(?:in|for|of|from|to) \d+(?:\.\d+)+\b|\b(?:\w+-\d+|\w+\d)\b(?=,|$| (?:says|states|reads))",
    re.IGNORECASE,
)
_AHEAD = re.compile(
    r"(?:in|on|at|by|for|from|with|under|of|to|as|per|according|based|looking|drawing|going|judging"
    r"|using|leaving|regarding"
    r"|concerning|if|when|before|after|once|where|whenever|unless|depending|taken|given|apart|besides"
    r"|including|that)\b(?! (?:the )?(?:\w+(?:st|nd|rd|th)) month)",
    re.IGNORECASE,
)
