"""Texts of others, made safe to print and to put into a page."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def printable(text: str) -> str:
    """On one line, without what could move a cursor or turn the text around."""
    return "".join(char if char.isprintable() else "\ufffd" for char in " ".join(text.split()))


_UNSEEN = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def printable_json(text: str) -> str:
    """JSON of the same value that tells a terminal nothing: what moves a cursor or turns the text is escaped.

    Characters below U+0020 are escaped in all JSON.
    """
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def score_of(score: float | None) -> str:
    """A probability with two digits; nothing without one."""
    return "" if score is None else f"{score:.2f}"


def html_table(notes: Iterable[str], heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Paragraphs and a table as HTML; everything is escaped, and every last cell begins at the left."""

    def cell(text: str, *, last: bool) -> str:
        style = ' style="text-align:left"' if last else ""
        return f"<td{style}>{html.escape(printable(text))}</td>"

    told = "".join(f"<p>{html.escape(printable(note))}</p>" for note in notes)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in heads)
    body = "".join(
        f"<tr>{''.join(cell(text, last=at == len(row) - 1) for at, text in enumerate(row))}</tr>"
        for row in rows
    )
    return f"{told}<table><tr>{head}</tr>{body}</table>"


def headline(outcome: str, error: str | None, counts: Mapping[Any, int], grounding: float | None) -> str:
    """A report on one line: how the stream ended, and how many sentences have which label."""
    told = ", ".join(f"{count} {label}" for label, count in counts.items() if count)
    score = "" if grounding is None else f"; grounding score {grounding:.2f}"
    why = "" if error is None else f" ({printable(error)})"
    return f"{outcome}{why}: {told or 'no sentence'}{score}"


def counted(count: int, noun: str) -> str:
    """How many of something, in words: `1 case`, `2 cases`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
