"""Whether a claim is copied from a source, and which strong words only the claim has.

The strong words are those a source must have said for a claim to be faithful: "most", "because",
"probably".
"""

from __future__ import annotations

from collections.abc import Iterable

from streamverify.checks.index import SourceView
from streamverify.checks.quotes import plain
from streamverify.text.caseless import Caseless

GENERAL = Caseless.of(
    r"\b(?:most|mostly|usual(?:ly)?|normal(?:ly)?|general(?:ly)?|typical(?:ly)?|often|common(?:ly)?"
    r"|rare(?:ly)?"
    r"|many|majority|main(?:ly)?|largely|frequent(?:ly)?|hardly|ever|widely|almost|nearly all|tend(?:s"
    r"|ed)? to"
    r"|in practice|one of the|best|worst|leading|well[- ]known|famous(?:ly)?|popular|considered|regarded)\b"
)
CAUSAL = Caseless.of(
    r"\b(?:because|therefore|thus|hence|since|so that|so as to|in order to|due to|owing to|thanks to"
    r"|caus(?:e[sd]?|ing)"
    r"|led to|lead(?:s|ing)? to|result(?:s|ed|ing)? (?:in|from|of)|as a result|consequently|consequence"
    r"|reason|why"
    r"|made? (?:it )?possible|trigger(?:s|ed)?|drove|driven by|responsible for|account(?:s|ed)? for"
    r"|means that|as the|as its?"
    r"|follows from|prompted|which is why|to (?:protect|avoid|prevent|ensure|reduce|improve|save))\b"
)
TENTATIVE = Caseless.of(
    r"\b(?:probabl[ey]|likely|perhaps|maybe|possibl[ey]|presumabl[ey]|apparently|seem(?:s|ed)?|appears?"
    r"|expected|should"
    r"|might|could|suggest(?:s|ed|ing)?|estimated|believed|thought to|reportedly|would|will)\b"
)


def wording(text: str, near: SourceView, *, closely: bool) -> dict[str, float]:
    """Signals of a claim's words, by their names in `Signals`; copies are looked for `closely` only."""
    texts = [source.text for source in near.sources]
    strong = {
        "general_missing": GENERAL,
        "causal_missing": CAUSAL,
        "tentative_missing": TENTATIVE,
    }
    missing = {name: float(strong_missing(pattern, text, texts)) for name, pattern in strong.items()}
    return {"verbatim": float(closely and plain(text) in near.plain_sentences)} | missing


def strong_missing(pattern: Caseless, claim: str, texts: Iterable[str]) -> bool:
    """Whether the claim has a word of this kind and none of the texts has any."""
    return pattern.search(claim) and not any(pattern.search(text) for text in texts)
