"""Finds citation markers in the text of one closed sentence.

Before: `segment.py` closed the sentence, its trailing markers included. After: `resolve.py` says
which passages a marker means, `check.py` whether they support the sentence.

One scan from left to right: at every character that can open a marker the form that opens there is
read, or the character is passed over. Contents are bounded, so the scan is linear in the text. A
marker depends on the sentence's text (and on `known`) alone, never on how the stream was cut.
`docs/citations.md` lists every form and what is deliberately not one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from streamverify.citations import context, forms
from streamverify.citations.forms import MAX_CONTENT, Key
from streamverify.citations.masks import covers, find_definitions, masked
from streamverify.types import Span

if TYPE_CHECKING:
    from streamverify.citations.resolve import Resolver

Form = Literal[
    "number", "footnote", "id", "title", "author", "lenticular", "tag", "superscript", "link", "native"
]

_OPENERS = re.compile(r"[\[［(（【<]|[⁰¹²³⁴-⁹]+")
_SQUARE = re.compile(rf"[\[［]([^\[\]［］\n]{{1,{MAX_CONTENT}}}+)[\]］]")
_ESCAPED = re.compile(r"\[([^\[\]\n\\]{1,60})\\\]")
_ROUND = re.compile(rf"[(（]((?:[^()（）\n]|\([^()（）\n]{{0,{MAX_CONTENT}}}+\)){{1,{MAX_CONTENT}}}+)[)）]")
_TARGET = re.compile(
    r"\(\s*<?([^\s()<>]{1,2000}+(?:\([^\s()<>]{0,200}+\)[^\s()<>]{0,2000}+)?+)>?(?:\s+\"[^\"\n]{0,200}\")?\s*\)"
)
_LENTICULAR = re.compile(r"【\s*(?:(\d{1,3})\s*[::]\s*)?(\d{1,3})(?:†([^【】\n]{0,200}))?】")
_TAG = re.compile(r"<(cite|citation|ref|co|source|sup)\b:?([^<>\n]{0,300})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"\b(?:id|ids|ref|refs|doc|docs|source|sources|index|name|key)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'/>]+))",
    re.IGNORECASE,
)
_LINES = re.compile(r"L\d+(?:-L?\d+)?")
_SUPERSCRIPT_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation as it was written.

    The span never covers prose: of `<cite id="p1">words</cite>` it is the opening tag, of a link
    whose words belong to the sentence it is `(address)`; `scope` says where the words stand.
    """

    text: str
    """As written: `text[start:end]` of what was searched."""
    start: int
    end: int
    keys: tuple[Key, ...]
    """What it refers to, in the order written."""
    form: Form
    scope: Span | None = None
    """The words the marker itself says it covers; None where its place in the sentence must tell."""

    def moved(self, offset: int) -> Marker:
        """The same marker, `offset` characters further on."""
        scope = Span(self.scope.start + offset, self.scope.end + offset) if self.scope else None
        return Marker(self.text, self.start + offset, self.end + offset, self.keys, self.form, scope)


def find_markers(text: str, *, known: Resolver | None = None) -> tuple[Marker, ...]:
    """The citation markers of a closed sentence, in order, without overlap.

    Args:
        text: the sentence; spans of the result are offsets into it, the caller adds its start.
        known: the passages of the stream. Titles, ids and addresses are found only with it, and it
            settles some doubtful cases; without it every form that shows by itself is found.
    """
    return _Scan(text, known).run()


class _Scan:
    """The scan over one sentence."""

    def __init__(self, text: str, known: Resolver | None) -> None:
        self._text = text
        self._known = known
        self._found: list[Marker] = []
        self._refused = -1  # end of the last square bracket that was not a marker

    def run(self) -> tuple[Marker, ...]:
        text = self._text
        hidden = masked(text)
        defined = {definition.start for definition in find_definitions(text)}
        position = 0
        while match := _OPENERS.search(text, position):
            start = match.start()
            position = match.end()
            if covers(hidden, start) or start in defined:
                continue
            position = max(position, self._read(match))
        return tuple(self._found)

    def _read(self, match: re.Match[str]) -> int:
        """Read the form that opens here; returns where the scan goes on."""
        opener, start = match[0], match.start()
        if opener in "[［":
            return self._square(start)
        if opener in "(（":
            return self._round(start)
        if opener == "【":
            return self._lenticular(start)
        if opener == "<":
            return self._tag(start)
        return self._superscript(start, match.end())

    def _add(self, start: int, end: int, keys: tuple[Key, ...], form: Form, scope: Span | None = None) -> int:
        self._found.append(Marker(self._text[start:end], start, end, keys, form, scope))
        return end

    def _square(self, start: int) -> int:
        text, known = self._text, self._known
        if text[start - 1 : start] == "\\" and (escaped := _ESCAPED.match(text, start)):
            keys = forms.numbers(escaped[1])
            return self._add(start - 1, escaped.end(), keys, "number") if keys else start + 1
        match = _SQUARE.match(text, start)
        if match is None:
            return start + 1
        content, end = match[1].strip(), match.end()
        if text[end : end + 1] == "(" and (target := _TARGET.match(text, end)):
            return self._link(start, content, target)
        keys, form = self._bracketed(content)
        if not keys or context.is_checkbox(text, start, content):
            if content.strip(".… ").lower() not in {"", "sic"}:
                self._refused = end
            return start + 1
        if start == self._refused or context.is_index(text, start, end):
            self._refused = end
            return end
        counted = known is not None and all(known.resolve_key(key) for key in keys)
        if form == "number" and context.is_interval(text, start, content, counted=counted):
            return end
        return self._add(start, end, keys, form)

    def _bracketed(self, content: str) -> tuple[tuple[Key, ...], Form]:
        """Keys and form of what stands between square brackets."""
        if keys := forms.numbers(content):
            return keys, "footnote" if keys[0].kind == "label" else "number"
        if content.startswith("^"):
            return forms.label(content), "footnote"
        if keys := forms.words(content, letters=True):
            return keys, "id"
        return self._named(content) if self._known else ((), "id")

    def _named(self, content: str) -> tuple[tuple[Key, ...], Form]:
        """Ids, titles and references that only the passages can tell from prose."""
        return (), "id"

    def _link(self, start: int, content: str, target: re.Match[str]) -> int:
        image = self._text[start - 1 : start] == "!"
        address = Key("url", target[1])
        if not image and (keys := forms.numbers(content)):
            return self._add(start, target.end(), (address, *keys), "link")
        if not image and self._known and self._known.resolve_key(address):
            return self._add(
                target.start(), target.end(), (address,), "link", Span(start + 1, target.start() - 1)
            )
        return target.end()

    def _round(self, start: int) -> int:
        return start + 1

    def _lenticular(self, start: int) -> int:
        match = _LENTICULAR.match(self._text, start)
        if match is None:
            return start + 1
        message, number, name = match.groups()
        # `4:0` counts results from 0 within message 4; a bare number counts passages as `[4]` does.
        keys = [Key("position" if message else "number", number)]
        if name and name.lower() != "source" and not _LINES.fullmatch(name):
            keys.insert(0, Key("file", name))
        return self._add(start, match.end(), tuple(keys), "lenticular")

    def _tag(self, start: int) -> int:
        return start + 1

    def _superscript(self, start: int, end: int) -> int:
        return end
