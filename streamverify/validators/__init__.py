"""Rules that a whole answer must keep: deterministic, and the same live and offline.

    outcomes = validate([MustCiteIfClaims(), CitationExists()], answer)

Before: a stream has ended. After: `Records(url, rules=…)` keeps the outcomes as judgments.
"""

from streamverify.validators.protocol import Answer, Outcome, Rule, validate, validate_sentences
from streamverify.validators.rules import (
    CitationExists,
    FormatOk,
    FreshnessOk,
    MustCiteIfClaims,
    PolicyScopeAllowed,
    RetrievalRelevance,
)

__all__ = [
    "Answer",
    "CitationExists",
    "FormatOk",
    "FreshnessOk",
    "MustCiteIfClaims",
    "Outcome",
    "PolicyScopeAllowed",
    "RetrievalRelevance",
    "Rule",
    "validate",
    "validate_sentences",
]
