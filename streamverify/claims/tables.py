"""Rows of a table as statements: "header: cell, header: cell".

Before: the segmenter found the table and cuts it row by row. After: `reader.py` makes
a claim of what is said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from streamverify.claims.nonclaims import Reason
from streamverify.text.markdown import Aligned, cells
from streamverify.types import Sentence, SentenceKind, Span


def read_table(sentence: Sentence, previous: Sequence[Sentence], markers: Sequence[Span]) -> Aligned | Reason:
    """A table's rows as "header: cell, header: cell"; the header row alone claims nothing.

    Unless it has two cells and an amount in the second: a row without any above it.
    """
    rows = cells(sentence.text, sentence.start, markers=markers)
    first = _first_of_table(previous)
    if first is None:
        header, rows = rows[:1], rows[1:]
    else:
        header = cells(first.text, first.start, markers=markers)[:1]
    if not header and not rows:
        return Reason.EMPTY
    names = [cell.text for cell in header[0]] if header else []
    lines = [line for line in (_row_text(row, names) for row in rows) if line.text]
    if first is None and not lines and len(names) == 2 and _AMOUNT.fullmatch(names[1].strip()):
        name, amount = header[0]
        lines = [name + Aligned.borrowed(": ") + amount]  # a row without any above it
    if not lines:
        return Reason.HEADING if first is None else Reason.EMPTY
    text = lines[0]
    for line in lines[1:]:
        text = text + Aligned.borrowed("; ") + line
    return text


_AMOUNT = re.compile(r"[€$£]\s?\d[\d.,]*|\d[\d.,]*\s?(?:[€$£%]|[a-z]+)", re.IGNORECASE)


def _first_of_table(previous: Sequence[Sentence]) -> Sentence | None:
    """The sentence with which the table that ends right before begins; None when there is none."""
    first = None
    for other in reversed(previous):
        if other.kind is not SentenceKind.TABLE:
            break
        first = other
    return first


def _row_text(row: Sequence[Aligned], names: Sequence[str]) -> Aligned:
    line = Aligned("", ())
    for place, cell in enumerate(row):
        if not cell.text:
            continue
        name = names[place] if place < len(names) else ""
        lead = (", " if line.text else "") + (f"{name}: " if name else "")
        line = line + Aligned.borrowed(lead) + cell
    return line
