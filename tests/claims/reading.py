"""Sentences in a row, and what is read of the last: shared by the tests of claims."""

from __future__ import annotations

from streamverify.claims.reader import read
from streamverify.types import Sentence, SentenceKind, Span


def sentences(*texts: str, kinds: dict[int, SentenceKind] | None = None) -> list[Sentence]:
    """Sentences of an answer in a row; those with a bullet are list items."""
    found: list[Sentence] = []
    start = 0
    for index, text in enumerate(texts):
        item = text.startswith(("- ", "* ", "1. ", "2. "))
        kind = (kinds or {}).get(index, SentenceKind.LIST_ITEM if item else SentenceKind.PROSE)
        found.append(
            Sentence(index=index, text=text + " ", start=start, end=start + len(text) + 1, kind=kind)
        )
        start += len(text) + 1
    return found


def reading(*texts: str, markers: tuple[str, ...] = (), kinds: dict[int, SentenceKind] | None = None):
    """The reading of the last of these sentences."""
    answer = "".join(text + " " for text in texts)
    spans = [Span(answer.index(marker), answer.index(marker) + len(marker)) for marker in markers]
    *before, last = sentences(*texts, kinds=kinds)
    return read(last, previous=before, markers=spans)


def claim(*texts: str, markers: tuple[str, ...] = ()) -> str | None:
    found = reading(*texts, markers=markers).claim
    return found.text if found else None
