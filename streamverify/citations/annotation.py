"""Writes a correct marker into a supported sentence that has none.

Before: `judging/verdict.py` found the sentence supported, and by which passages. After: a policy releases the
annotated text, a front end shows the suggestion.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from streamverify.citations.bibliography import bare
from streamverify.citations.markers import find_markers
from streamverify.citations.masks import covers, masked
from streamverify.types import Evidence, Label, SentenceKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from streamverify.citations.resolve import Resolver

Style = Literal["[1]", "[^1]", "[p1]", "(Title)", "superscript"]
"""How a suggested marker looks; what would be mistaken in it falls back to `[1]`, then to `[id]`."""
Place = Literal["before", "after"]
"""Whether a marker stands before the final stop (`… grew [1].`) or after it (`… grew. [1]`)."""

_END = re.compile(r"(?P<stop>[.!?…。！？।;:,]+)(?P<close>[\"'”’»)\]*_~]*)\s*\Z")
_ABBREVIATION = re.compile(r"(?:\b\w\.)+\w\Z")
_QUOTES = re.compile(r"[\"'”’»)\]]")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_FENCE = re.compile(r"[ \t>]*(?:`{3}|~{3})[^`]*\n")
_TAIL = 24
"""How much of a sentence's end is looked at, in characters."""
_WIDE = "。！？；："
_KINDS = frozenset({SentenceKind.PROSE, SentenceKind.LIST_ITEM, SentenceKind.QUOTE})


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A marker that could stand in a sentence."""

    at: int
    """Offset in the sentence's text where it goes."""
    text: str
    """What goes there, the blank before it included."""
    passages: tuple[str, ...]
    """What it means."""


def insertion_point(
    text: str, kind: SentenceKind = SentenceKind.PROSE, *, place: Place = "before"
) -> int | None:
    """Where a marker belongs in a sentence; None in headings, tables and code.

    Before the final stop or behind it, never behind the closing blanks, inside code or an address, or
    inside a closing quotation mark or bracket. An abbreviation keeps its stop (`at 5 p.m. [1]`).
    """
    body = len(text.rstrip())
    if kind not in _KINDS or not body:
        return None
    hidden = masked(text)
    if any(start < body <= end and _FENCE.match(text, start) for start, end in hidden):
        return None
    match = _END.search(text, max(0, body - _TAIL))
    if place == "after" or match is None or covers(hidden, match.start()):
        return body
    before = text[max(0, match.start() - _TAIL) : match.start()]
    abbreviation = match["stop"] == "." and _ABBREVIATION.search(before)
    return body if abbreviation or _QUOTES.search(match["close"]) else len(text[: match.start()].rstrip())


def suggest(
    text: str,
    label: Label,
    evidence: Sequence[Evidence],
    resolver: Resolver,
    *,
    kind: SentenceKind = SentenceKind.PROSE,
    style: Style = "[1]",
    place: Place = "before",
    sources: int = 1,
) -> Suggestion | None:
    """The marker for a supported sentence without one; None where there is nothing to add.

    Only evidence that itself supports the sentence is cited, at most `sources` passages, best first.
    Read again with the same resolver, the annotated sentence has exactly this marker, and it means
    exactly these passages.
    """
    supporting = (e.passage for e in evidence if e.label is Label.SUPPORTED and e.passage in resolver.ids)
    ids = tuple(dict.fromkeys(supporting))[:sources]
    at = insertion_point(text, kind, place=place)
    if label is not Label.SUPPORTED or not ids or at is None or find_markers(text, known=resolver):
        return None
    for candidate in (style, "[1]", "[p1]"):
        for written in _written(candidate, ids, resolver):
            suggestion = Suggestion(at, _spaced(text, at, written), ids)
            if _means(apply(text, suggestion), ids, resolver):
                return suggestion
    return None


def apply(text: str, suggestion: Suggestion) -> str:
    """The sentence with the marker in it."""
    return text[: suggestion.at] + suggestion.text + text[suggestion.at :]


def annotate(
    text: str,
    label: Label,
    evidence: Sequence[Evidence],
    resolver: Resolver,
    *,
    kind: SentenceKind = SentenceKind.PROSE,
    style: Style = "[1]",
    place: Place = "before",
    sources: int = 1,
) -> str:
    """The sentence with a correct marker, or as it was when `suggest` has nothing to add."""
    suggestion = suggest(
        text, label, evidence, resolver, kind=kind, style=style, place=place, sources=sources
    )
    return apply(text, suggestion) if suggestion else text


def _means(annotated: str, ids: tuple[str, ...], resolver: Resolver) -> bool:
    found = [resolver.resolve(marker) for marker in find_markers(annotated, known=resolver)]
    return tuple(id_ for meant in found for id_ in meant) == ids


def _written(style: Style, ids: tuple[str, ...], resolver: Resolver) -> Iterator[str]:
    """The marker for these passages, where the style has one."""
    base = 0 if resolver.numbering == "zero" else 1
    numbers = [str(resolver.ids.index(id_) + base) for id_ in ids]
    match style:
        case "[1]":
            yield "".join(f"[{number}]" for number in numbers)
        case "[^1]":
            yield "".join(f"[^{number}]" for number in numbers)
        case "[p1]":
            yield "".join(f"[{id_}]" for id_ in ids)
        case "superscript":
            yield ",".join(number.translate(_SUPERSCRIPTS) for number in numbers)
        case "(Title)":
            titles = [resolver.title(id_) for id_ in ids]
            if all(titles):
                yield " ".join(f"({_cited(title)})" for title in titles if title)


def _cited(title: str) -> str:
    """`Title (2021)` is cited as `Title, 2021`."""
    name, year = bare(title)
    return f"{name}, {year}" if year else title


def _spaced(text: str, at: int, written: str) -> str:
    tight = written.startswith("[^") or written[0] in "⁰¹²³⁴⁵⁶⁷⁸⁹"
    wide = any(char in _WIDE for char in text[max(at - 1, 0) : at + 1])
    return written if tight or wide else f" {written}"
