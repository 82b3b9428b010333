"""Personal data in text: found by form, check digits and labels, and replaced by what kind it is.

    marked("Write to ann@example.org.", Recognisers())      # Write to [email].

Before: a text. After: `records/` and reports store it, `pii/policy.py` shows it.

What has no form of its own is not found: names without a title or label before them, addresses without a
street's name, birthdays that nobody calls so.
"""

from streamverify.pii.items import KINDS, PiiDetector, PiiItem, PiiKind, blocked, marked
from streamverify.pii.presidio import PresidioDetector
from streamverify.pii.recognisers import Recognisers
from streamverify.pii.reports import redacted_report

__all__ = [
    "KINDS",
    "PiiDetector",
    "PiiItem",
    "PiiKind",
    "PresidioDetector",
    "Recognisers",
    "blocked",
    "marked",
    "redacted_report",
]
