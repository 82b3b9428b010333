"""Quotations of a claim that no source holds, told with what differs where a source nearly has them.

Before: `quotes.py` finds and compares quotations. After: `signals.py` hands the share on.
"""

from __future__ import annotations

from streamverify.checks.index import SourceIndex, SourceView
from streamverify.checks.quotes import near_miss, occurs, quotations
from streamverify.checks.told import Told
from streamverify.types import FindingKind


def misquoted(text: str, view: SourceView, told: Told, index: SourceIndex) -> float:
    """The share (0-1) of a claim's own quotations that no source holds; each of them is told."""
    found = [quotation for quotation in quotations(text) if told.own(quotation.start, quotation.end)]
    lost = 0
    for quotation in found:
        if occurs(quotation, view.plain):
            continue
        lost += 1
        miss = near_miss(quotation, view.plain)
        detail = "quoted words are in no passage"
        if miss is not None:
            detail = f"{miss.difference} ({index.name(view.sources[miss.source].passage)})"
        told.find(FindingKind.QUOTE_MISMATCH, quotation.start, quotation.end, detail)
    return lost / len(found) if found else 0.0
