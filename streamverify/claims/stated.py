"""Facts that sound like talk: what a house does or does not do, what one is entitled to, where to write.

"We do not offer gift cards" sounds like an abstention and denies a fact, "You are eligible for a refund!"
like a wish, "Please write to help@example.com" like advice, and the address may be made up. English only.

Before: `reader.py` is about to take a sentence for talk. After: it is a claim all the same.
"""

from __future__ import annotations

import re

from streamverify.claims.silence import TEXTS

_ADVERBS = (
    r"(?:(?:currently|also|generally|normally|usually|yet|still|ever|actually|therefore|\w+ly)\s+){0,3}"
)
_DEALS = (
    r"(?:offer|ship|deliver|accept|sell|support|provide|charge|refund|allow|permit|cover|take|require"
    r"|guarantee|store|stock|carry|share|serve|operate|process|repair|replace|exchange|pay|reimburse|issue|have|keep|use"
    r"|rent|include|match|honou?r|grant|install|track|collect|close|open)"
)
"""What a house does for its customers."""
_KNOWING = (
    r"(?:(?:any|the|that|this|such|these|those|enough|sufficient|more|further|specific|exact|an?|detailed|other"
    r"|additional|reliable|clear|full|complete|your|much|precise|current|up-to-date|relevant|official|personal"
    r"|medical|legal|financial|tax)\s+){0,4}"
    r"(?:(?:it|them|that|this|anything|enough|one)\b|(?:[\w-]+\s+){0,3}?"
    r"(?:information|details?|figures?|data|answers?|guidance|advice|evidence|access|knowledge"
    r"|documents?|passages?|sources?|records?|numbers?|explanations?|context|idea|clue|insight|instructions?"
    r"|specifics|mention|statements?|recommendations?|comparisons?|updates?|forecasts?|estimates?|help"
    r"|opinions?|diagnos\w+)\b)"
)
"""What somebody lacks who only does not know."""
_COMMITS = re.compile(
    rf"\bwe\s+{_ADVERBS}(?:(?:do|did|will|can|could|would)(?:\s+not|n['’]t)|cannot|can['’]t|won['’]t|never"
    rf"|no\s+longer)\s+{_ADVERBS}{_DEALS}\s++(?!{_KNOWING})"
    r"|\byou(?:\s+are|['’]re)\s+(?:(?:not|also|fully|therefore|now|indeed)\s+){0,2}"
    r"(?:eligible|entitled|covered|required|exempt|allowed|permitted|obliged)\b(?!\s+to\s+(?:ask|contact|your\s+own))"
    r"|\byou\s+(?:(?:do\s+not|don['’]t|also|now)\s+)?qualify\s+for\b",
    re.IGNORECASE,
)
_SORRY = re.compile(r"\b(?:sorry|afraid|unable)\b", re.IGNORECASE)
"""What regrets not to know, not to sell."""
_IN_TEXTS = re.compile(
    rf"\b(?:in|from|within)\s+(?:the|these|those|my|our|any|your)\s+(?:[\w-]+\s+){{0,2}}{TEXTS}\b|\bhere\W*$",
    re.IGNORECASE,
)
_CONTACT = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,63}\.\w|(?<![\w.])\+?\(?\d[\d().\s/-]{5,18}\d(?![\w%])|\b(?:https?://|www\.)\w",
    re.IGNORECASE,
)
_DIGITS = 7
"""Digits that a telephone number has at least."""
_COURTESY = re.compile(
    r"(?:(?:please|just|also|and|so|then)\s+)*(?:(?:feel\s+free|do\s+not\s+hesitate|don['’]t\s+hesitate"
    r"|you(?:\s+are|['’]re)\s+welcome)\s+to\s+|please\s+)",
    re.IGNORECASE,
)


def commits(text: str) -> bool:
    """Whether a text says what a house does or does not do, or what one is entitled to or must do."""
    return (
        _COMMITS.search(text) is not None and _IN_TEXTS.search(text) is None and _SORRY.search(text) is None
    )


def contact(text: str) -> bool:
    """Whether a text holds an address, a web page or a telephone number beside other words."""
    for found in _CONTACT.finditer(text):
        if any(char.isalpha() for char in found.group()) or sum(map(str.isdecimal, found.group())) >= _DIGITS:
            return any(char.isalpha() for char in text[: found.start()])
    return False


def courtesy(text: str) -> int:
    """Length of "feel free to", "please" in front of what is told."""
    found = _COURTESY.match(text)
    return found.end() if found else 0
