"""Deterministic checks: numbers, dates, quotations, names, negation and wording against the passages.

Read in this order: `index.py` (what is known of the sources), `quantity.py`, `quantities.py` and
`dates.py` (what a text says), `numbers.py`, `quotes.py`, `names.py`, `negation.py`, `coverage.py`
(how it compares), `signals.py` (all of it for one claim), `respelled.py` (equal values made to look equal).
"""

from streamverify.checks.index import Near, SourceIndex
from streamverify.checks.respelled import Spelling
from streamverify.checks.signals import Checked, Signals, check

__all__ = ["Checked", "Near", "Signals", "SourceIndex", "Spelling", "check"]
