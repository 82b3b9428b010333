"""Says which sentences a marker serves.

Before: `markers.py` found the markers of each sentence. After: `check.py` and the metrics.

A marker serves the sentence it stands in; a sentence of nothing but markers serves the one before
it. In a list the markers at the end of an item serve its sentences without one. With
`mode="paragraph"` the same holds for a paragraph. An item or a paragraph that is still open is
attached as far as it came: called live, an uncited sentence shows as uncited until the paragraph's
last sentence closes. Verdicts already told are not revised; the report's metrics attach anew.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from streamverify.text.list_marks import is_item
from streamverify.types import Sentence, SentenceKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from streamverify.citations.markers import Marker

Mode = Literal["sentence", "paragraph"]

_SILENT = frozenset({SentenceKind.CODE, SentenceKind.HEADING, SentenceKind.TABLE})
"""Kinds that neither take markers from a neighbour nor lend theirs."""


@dataclass(frozen=True, slots=True)
class Attached:
    """A marker and the sentence it stands in; offsets as in the markers given."""

    marker: Marker
    home: int
    """Index, in the sequence given, of the sentence the marker stands in."""
    own: bool
    """Whether it is the served sentence's own, or lent by the end of its paragraph or item."""


def attach(
    sentences: Sequence[Sentence], markers: Sequence[Sequence[Marker]], *, mode: Mode = "sentence"
) -> tuple[tuple[Attached, ...], ...]:
    """The markers that serve each sentence, in the order of the sentences.

    Args:
        sentences: in text order; closed so far, or the whole answer.
        markers: of each sentence, as many as there are sentences.
        mode: `sentence`, or `paragraph` to let the markers at a paragraph's end serve all of it.
    """
    own = [_standing(sentence, found) for sentence, found in zip(sentences, markers, strict=True)]
    served: list[tuple[Attached, ...]] = [
        tuple(Attached(marker, home, own=True) for marker in found) for home, found in enumerate(own)
    ]
    for block in _blocks(sentences):
        claims = [index for index in block if not _only_markers(sentences[index], own[index])]
        for index in block:
            if index not in claims and own[index] and (before := [i for i in claims if i < index]):
                served[before[-1]] += tuple(Attached(marker, index, own=True) for marker in own[index])
        shared = mode == "paragraph" or sentences[block[0]].kind is SentenceKind.LIST_ITEM
        if shared and claims and sentences[block[0]].kind not in _SILENT:
            lent = tuple(Attached(a.marker, a.home, own=False) for a in served[claims[-1]])
            for index in claims[:-1]:
                served[index] = served[index] or lent
    return tuple(served)


def _standing(sentence: Sentence, markers: Sequence[Marker]) -> Sequence[Marker]:
    return () if sentence.kind is SentenceKind.CODE else markers


def _only_markers(sentence: Sentence, markers: Sequence[Marker]) -> bool:
    """Whether nothing is left of a sentence without its markers."""
    written = sum(len(marker.text) for marker in markers)
    return bool(markers) and len(re.sub(r"[\W_]", "", sentence.text)) <= written - _marks(markers)


def _marks(markers: Sequence[Marker]) -> int:
    return sum(len(re.findall(r"[\W_]", marker.text)) for marker in markers)


def _blocks(sentences: Sequence[Sentence]) -> Iterator[list[int]]:
    """Indices of the sentences of one paragraph, or of one list item."""
    block: list[int] = []
    for index, sentence in enumerate(sentences):
        if block and _parted(sentences[block[-1]], sentence):
            yield block
            block = []
        block.append(index)
    if block:
        yield block


def _parted(before: Sentence, sentence: Sentence) -> bool:
    if before.kind is not sentence.kind or sentence.kind in _SILENT or _ends_blank(before.text):
        return True
    item = sentence.kind is SentenceKind.LIST_ITEM
    return item and before.text.endswith("\n") and is_item(sentence.text)


def _ends_blank(text: str) -> bool:
    """Whether a text ends in a blank line; one of nothing but quote marks is blank too."""
    body = text.rstrip()
    breaks = text.count("\n", len(body))
    _, broken, last = body.rpartition("\n")
    return breaks > 1 or bool(breaks and broken and not last.strip(" \t>"))
