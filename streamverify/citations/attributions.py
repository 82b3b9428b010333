"""Sources that are named without any bracket: in what introduces a sentence, or alone on a line.

Before: `markers.py` got a closed sentence of a stream whose passages are known. After: it reads the brackets.

Running text is prose first. `Source 2` is a citation in it only where the words around it say so:
`According to Source 2, …`, `Document 2 says that …`, `…, according to Source 2.`; and only a number that
means a passage, or the number of a `Source` or a `Passage`, which nothing else has. Where a passage itself
speaks of its `Document 2`, the answer may too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, Protocol

from streamverify.citations import forms
from streamverify.citations.forms import CitationKey
from streamverify.types import Span

_Form = Literal["id", "number", "title", "link"]


class Named(NamedTuple):
    """A source that is named without brackets."""

    span: Span
    keys: tuple[CitationKey, ...]
    form: _Form
    around: tuple[Span, ...] = ()
    """What says nothing without the name."""


_SOURCE = (
    r"(?P<source>(?:[Ss]ource|[Dd]ocument|[Dd]oc|[Pp]assage|[Rr]esult)s?"
    r" \d{1,3}(?>(?:(?:, and|,| and| &) \d{1,3}){0,8}))(?!\d)"
)
_WORDS = re.compile(_SOURCE)
_MARKS = r"[\s\W_]{0,24}"
_FRAMED = re.compile(
    rf"{_MARKS}(?:According to|Based on|As per|Per|From|As (?:stated|described|explained|noted|mentioned"
    rf"|set out|shown|reported|specified|outlined|defined) (?:in|by)) {_SOURCE}(?=[,:]\s)"
)
_SAYING = re.compile(
    rf"{_MARKS}{_SOURCE}(?= (?:also |clearly |explicitly |both )?(?:says?|states?|notes?|explains?|confirms?"
    r"|mentions?|indicates?|shows?|reports?|specif(?:y|ies)|adds?) that\s"
    r"| (?:says|states|notes|explains|confirms) (?:the|an?|all|any|each|every|there|it|they|you|we|no)\s"
    r"(?:[\w'’$€£%.,-]+\s){0,12}?(?:is|are|was|were|has|have|can|may|must|will|should|costs?|takes?|gets?"
    r"|pays?|needs?|applies|apply)\s)"
)
_CLOSING = re.compile(
    rf"(?:according to|as per|(?<=, )per|(?<=[–—-] )see|as (?:stated|described|noted|mentioned|set out)"
    rf" (?:in|by)) {_SOURCE}[.!?]?\s*\Z"
)
_TAIL = 100
"""How much of a sentence's end is looked at, in characters."""
_NEVER_ELSE = ("source", "passage")
_LINE = re.compile(
    rf"{_MARKS}(?:sources?|references?|citations?|quellen?)[*_]{{0,2}}:[*_]{{0,2}}[ \t]*"
    r"(?P<named>\S[^\n]{0,300})",
    re.IGNORECASE,
)
_ADDRESS = re.compile(rf"{_MARKS}(?P<named>https?://\S{{1,300}})\s*\Z", re.IGNORECASE)
_BRACKETS = re.compile(r"[\[\](){}<>【】（）［］]")
_BETWEEN = re.compile(r"[,;]\s++(?:and\s++)?|(?<!\s)\s++and\s++")


class Asked(Protocol):
    """What is asked of the stream's passages."""

    def resolve_key(self, key: CitationKey) -> tuple[str, ...]:
        """The ids of the passages that a key means."""

    def name_key(self, name: str) -> CitationKey | None:
        """The key for a name that means a passage, or that has the shape of the passages' ids."""

    def may_be(self, key: CitationKey) -> bool:
        """Whether a doubtful reference is one among these passages."""

    def mentions(self, words: str) -> bool:
        """Whether a passage itself speaks of it in these words."""


def named_sources(text: str, known: Asked) -> Iterator[Named]:
    """The sources a sentence names without brackets, in order."""
    if found := _FRAMED.match(text) or _SAYING.match(text):
        yield from _attributed(found, known)
    elif line := _LINE.match(text):
        yield from _listed(line, known)
    elif (lone := _ADDRESS.match(text)) and known.resolve_key(CitationKey("url", lone["named"])):
        yield from _listed(lone, known)
    else:
        at = max(0, len(text) - _TAIL)
        if closing := _CLOSING.search(text, at):
            yield from _attributed(closing, known)


def in_words(marker: str) -> bool:
    """Whether a marker is words of its sentence (`Source 2`), which reads wrongly without them."""
    return bool(_WORDS.fullmatch(marker))


def _attributed(found: re.Match[str], known: Asked) -> Iterator[Named]:
    written = found["source"]
    keys = forms.words(written, square=True)
    here = all(map(known.resolve_key, keys)) or written.lower().startswith(_NEVER_ELSE)
    if keys and here and not known.mentions(written):
        named = Span(*found.span("source"))
        colon = found.string[named.end : named.end + 1] == ":"  # `Per Document 2: …`
        around = (Span(found.start(), named.start), Span(named.end, named.end + 1)) if colon else ()
        yield Named(named, keys, "id", around)


def _listed(line: re.Match[str], known: Asked) -> Iterator[Named]:
    """What stands behind `Sources:`, or an address alone; nothing where a part of it cannot be read."""
    named, start = line["named"].rstrip(" \t.*_"), line.start("named")
    if _BRACKETS.search(named) or line.end() < len(line.string.rstrip()):
        return
    whole = _read(named, known)
    if whole is not None:
        stop = Span(start + len(named), len(line.string.rstrip()))
        yield Named(Span(start, stop.start), *whole, (stop,) if stop.start < stop.end else ())
        return
    cuts = [Span(*cut.span()) for cut in _BETWEEN.finditer(named)]
    ends = zip([0, *(cut.end for cut in cuts)], [*(cut.start for cut in cuts), len(named)], strict=True)
    read = [(Span(start + first, start + last), _read(named[first:last], known)) for first, last in ends]
    if all(one is not None for _, one in read) and any(
        known.resolve_key(key) for _, one in read if one is not None for key in one[0]
    ):
        yield from (Named(place, *one) for place, one in read if one is not None)


def _read(name: str, known: Asked) -> tuple[tuple[CitationKey, ...], _Form] | None:
    """A number, an id, a title, an address, or a file like those of the passages."""
    if keys := forms.numbers(name):
        return (keys, "number") if any(map(known.resolve_key, keys)) else None
    if key := known.name_key(forms.plain(name)):
        return (key,), "title" if key.kind == "title" else "id"
    address, file = CitationKey("url", forms.address(name)), CitationKey("file", forms.file_name(name))
    if address.value:
        return ((address,), "link") if known.may_be(address) else None
    return ((file,), "id") if file.value and known.may_be(file) else None
