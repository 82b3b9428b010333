"""Deterministic checks: numbers, dates, quotations, names, negation and wording against the passages.

Read in this order: `index.py` (what is known of the sources), `quantity.py`, `quantities.py` and
`dates.py` (what a text says), `numbers.py`, `derived.py`, `aligned.py`, `replaced.py`, `quotes.py`,
`names.py`, `moved.py`, `negation.py`, `coverage.py` (how it compares), `outcome.py` and
`signals.py` (all of it for one claim), `respelled.py` (equal values made to look equal).
"""

from streamverify.checks.index import Near, SourceIndex
from streamverify.checks.outcome import Checked, Signals
from streamverify.checks.respelled import Spelling
from streamverify.checks.signals import check, unheld

__all__ = ["Checked", "Near", "Signals", "SourceIndex", "Spelling", "check", "unheld"]
