"""Finds citation markers in the text of one closed sentence.

Before: `sentences/segmenter.py` closed the sentence, its trailing markers included. After: `resolve.py` says
which passages a marker means, `check.py` whether they support the sentence.

One scan from left to right: at every character that can open a marker the form that opens there is read,
or passed over. Contents are bounded, so the scan is linear. A marker depends on the sentence's text (and
on `known`) alone, not on how the stream was cut. `docs/reference/citations.md` lists the forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from streamverify.citations import context, forms
from streamverify.citations.attributions import Asked, named_sources
from streamverify.citations.forms import MAX_CONTENT, CitationKey
from streamverify.citations.masks import covers, find_definitions, masked
from streamverify.types import Span

Form = Literal[
    "number", "footnote", "id", "title", "author", "lenticular", "tag", "superscript", "link", "native"
]
Read = tuple[tuple[CitationKey, ...], Form]

_OPENERS = re.compile(r"[\[［(（【<]|[⁰¹²³⁴-⁹]+|\\cite(?=[a-z*\[{])")
_SQUARE = re.compile(rf"[\[［]([^\[\]［］\n]{{1,{MAX_CONTENT}}}+)[\]］]")
_ESCAPED = re.compile(r"\[([^\[\]\n\\]{1,60})\\\]")
_ROUND = re.compile(
    rf"[(（]((?>(?:[^()（）\n]|\([^()（）\n]{{0,{MAX_CONTENT}}}+\)){{1,{MAX_CONTENT}}}))[)）]"
)
_TARGET = re.compile(
    r"\(\s*<?([^\s()<>]{1,2000}+(?>(?:\([^\s()<>]{0,200}+\)[^\s()<>]{0,2000}+)?))>?"
    r"(?:\s+\"[^\"\n]{0,200}\")?\s*\)"
)
_LATEX = re.compile(r"\\cite[a-z]{0,8}+\*?(?:\[[^\[\]\n]{0,100}+\]){0,2}\{([^{}\n]{1,300}+)\}")
_AUTOLINK = re.compile(r"<(https?://[^\s<>]{1,300}+)>", re.IGNORECASE)
_LENTICULAR = re.compile(r"【\s*(?:(\d{1,3})\s*[::]\s*)?(\d{1,3})(?:\s*†([^【】\n]{0,200}))?】")
_LINES = re.compile(r"L\d+(?:-L?\d+)?")
_TAG = re.compile(r"<(cite|citation|ref|co|source|sup)\b([^<>\n]{0,300})>", re.IGNORECASE)
_TAGGED = re.compile(r"([^<>\n]{1,60})</(?:cite|citation|ref|source|sup)\s*>", re.IGNORECASE)
_CLOSING = {
    name: re.compile(rf"</{name}\b[^<>\n]{{0,300}}>", re.IGNORECASE)
    for name in ("cite", "citation", "ref", "co", "source")
}
_POWER = re.compile(r"([⁰¹²³⁴-⁹]+)(?:⁻([¹²³⁴-⁹]{1,2}))?")
_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_TAG_REACH = 4000
"""How far behind an opening tag its closing tag is looked for, in characters."""


class KnownPassages(Asked, Protocol):
    """What the scan asks of the stream's passages; `resolve.Resolver` answers."""

    def title(self, passage: str) -> str | None:
        """The title of the passage with this id."""

    def has_author(self, name: str) -> bool:
        """Whether a passage's metadata names this author."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation as it was written.

    The span never covers prose: of `<cite id="p1">words</cite>` it is the opening tag, of a link
    whose words belong to the sentence it is `(address)`; `scope` says where the words stand.
    """

    text: str
    """As written: `text[start:end]` of what was searched; empty for a citation handed in beside the text."""
    start: int
    end: int
    keys: tuple[CitationKey, ...]
    """What it refers to, in the order written."""
    form: Form
    scope: Span | None = None
    """The words the marker itself says it covers; None where its place in the sentence must tell."""
    around: tuple[Span, ...] = ()
    """Markup that belongs to the marker and stands apart from it: a closing tag, a link's brackets."""

    def moved(self, offset: int) -> Marker:
        """The same marker, `offset` characters further on."""
        scope = _moved(self.scope, offset) if self.scope else None
        around = tuple(_moved(span, offset) for span in self.around)
        return Marker(self.text, self.start + offset, self.end + offset, self.keys, self.form, scope, around)


def _moved(span: Span, offset: int) -> Span:
    return Span(span.start + offset, span.end + offset)


def find_markers(text: str, *, known: KnownPassages | None = None) -> tuple[Marker, ...]:
    """The citation markers of a closed sentence, in order, without overlap.

    Args:
        text: the sentence; spans of the result are offsets into it, the caller adds its start.
        known: the passages of the stream. Titles, ids and addresses are found only with it, and it
            settles some doubtful cases; without it every form that shows by itself is found.
    """
    return _Scan(text, known).run()


def markup(markers: Iterable[Marker]) -> tuple[Span, ...]:
    """What to take off a sentence to read it as prose: the markers and what stands around them.

    In order, without overlap.
    """
    spans = (span for marker in markers for span in (Span(marker.start, marker.end), *marker.around))
    apart: list[Span] = []
    for span in sorted(span for span in spans if span.start < span.end):
        if apart and span.start < apart[-1].end:
            apart[-1] = Span(apart[-1].start, max(apart[-1].end, span.end))
        else:
            apart.append(span)
    return tuple(apart)


class _Scan:
    """The scan over one sentence."""

    def __init__(self, text: str, known: KnownPassages | None) -> None:
        self._text, self._known = text, known
        self._hidden = masked(text)
        self._found: list[Marker] = []
        self._refused = -1  # end of the last square bracket that was not a marker

    def run(self) -> tuple[Marker, ...]:
        text = self._text
        defined = {definition.start for definition in find_definitions(text)}
        position = 0
        named: list[Span] = []
        if self._known is not None:
            for (start, end), keys, form, around in named_sources(text, self._known):
                if not covers(self._hidden, start) or form == "link":
                    self._add(start, end, (keys, form), around=around)
                    named.append(Span(start, end))
        while match := _OPENERS.search(text, position):
            start = match.start()
            position = match.end()
            if inside := [span.end for span in named if span.start <= start < span.end]:
                position = inside[0]
            elif not covers(self._hidden, start) and start not in defined:
                position = max(position, self._read(match))
        return tuple(sorted(self._found, key=lambda marker: marker.start))

    def _read(self, match: re.Match[str]) -> int:
        """Read the form that opens here; returns where the scan goes on."""
        start = match.start()
        match match[0]:
            case "[" | "［":
                return self._square(start)
            case "(" | "（":
                return self._round(start)
            case "【":
                return self._lenticular(start)
            case "<":
                return self._tag(start)
            case "\\cite":
                return self._latex(start)
            case _:
                return self._superscript(start)

    def _add(
        self, start: int, end: int, read: Read, scope: Span | None = None, around: tuple[Span, ...] = ()
    ) -> int:
        keys, form = read
        self._found.append(Marker(self._text[start:end], start, end, keys, form, scope, around))
        return end

    def _square(self, start: int) -> int:
        text = self._text
        if text[start - 1 : start] == "\\" and (escaped := _ESCAPED.match(text, start)):
            keys = forms.numbers(escaped[1])
            return self._add(start - 1, escaped.end(), (keys, "number")) if keys else start + 1
        match = _SQUARE.match(text, start)
        if match is None:
            return start + 1
        end = match.end()
        if text[end : end + 1] == "(" and (target := _TARGET.match(text, end)):
            return self._link(start, match[1], target)
        return self._bracket(start, end, match[1].strip())

    def _bracket(self, start: int, end: int, content: str) -> int:
        """A square bracket that is no link."""
        read = self._bracketed(content)
        if read is None or context.is_checkbox(self._text, start, content):
            if content.strip(".… ").lower() not in {"", "sic"}:
                self._refused = end
            return start + 1
        behind_address = start > 0 and covers(self._hidden, start - 1)
        if start == self._refused or (not behind_address and context.is_index(self._text, start, end)):
            self._refused = end
            return end
        keys, form = read
        counted = self._known is not None and all(map(self._known.resolve_key, keys))
        if form == "number" and context.is_interval(self._text, start, content, counted=counted):
            return end
        return self._add(start, end, read)

    def _bracketed(self, content: str) -> Read | None:
        """Keys and form of what stands between square brackets."""
        if keys := forms.numbers(content):
            return keys, "footnote" if keys[0].kind == "label" else "number"
        if keys := forms.label(content):
            return keys, "footnote"
        if keys := forms.words(content, square=True):
            return keys, "id"
        name = forms.source_name(content) if self._known else ""  # what no passage is called
        return (
            self._named(content)
            or self._listed(content)
            or self._numbered(content)
            or self._address(content)
            or self._file(content)
            or self._referred(content)
            or (((CitationKey("id", name),), "id") if name else None)
        )

    def _named(self, content: str) -> Read | None:
        """A passage's id, title or file name, or something of the shape of this stream's ids."""
        if self._known is None:
            return None
        plain = forms.plain(content)
        for name in dict.fromkeys((plain, content, forms.unworded(plain))):
            if key := self._known.name_key(name):
                return (key,), "title" if key.kind == "title" else "id"
        return None

    def _listed(self, content: str) -> Read | None:
        """`kb-1, kb-7`: several names, each of which would do alone."""
        if self._known is None:
            return None
        names = [self._known.name_key(name) for name in forms.split(content)]
        keys = tuple(key for key in names if key)
        return (keys, "id") if len(keys) == len(names) > 1 else None

    def _numbered(self, content: str, *, shows: bool = True) -> Read | None:
        """`Source 2, Refund FAQ`, `2: Refund FAQ`: the number counts, the name tells that it is one.

        A name that no passage has must be part of that passage's title, or at least be written like one and
        a word stand before the number (`shows`).
        """
        found = forms.named_number(content)
        if found is None:
            return None
        known = self._known is not None and (
            self._named(found.name) or self._address(found.name) or self._titled(found)
        )
        written = found.name[0].isupper() and not re.search(r"\d\s*:|[.!?;]\s", found.name)
        return ((found.key,), "id") if known or (shows and found.shows and written) else None

    def _titled(self, found: forms.NamedNumber) -> bool:
        """Whether the name is some words of the title of the passage that the number means."""
        known = self._known
        return known is not None and any(
            found.within(known.title(one) or "") for one in known.resolve_key(found.key)
        )

    def _address(self, content: str) -> Read | None:
        """A bare address between brackets: a passage's, or behind `Source:` where passages have some."""
        address = forms.address(content)
        if self._known is None or not address:
            return None
        key = CitationKey("url", address)
        cited = self._known.resolve_key(key) or (forms.says_source(content) and self._known.may_be(key))
        return ((key,), "link") if cited else None

    def _file(self, content: str, *, shows: bool = True) -> Read | None:
        """The name of a file like those of the passages that is none of theirs."""
        name = forms.file_name(content)
        key = CitationKey("file", name)
        shows = shows or forms.says_source(content) or forms.has_locator(content)
        return ((key,), "id") if self._known and name and shows and self._known.may_be(key) else None

    def _referred(self, content: str) -> Read | None:
        """`Smith et al., 2021`; `Leave Manual, 2023`; several of them parted by semicolons."""
        references = forms.references(content)
        if not references or not all(self._is_reference(reference) for reference in references):
            return None
        keys = tuple(reference.key for reference in references)
        return keys, "author" if keys[0].kind == "author" else "title"

    def _is_reference(self, reference: forms.Reference) -> bool:
        return reference.strong or (self._known is not None and self._known.may_be(reference.key))

    def _link(self, start: int, content: str, target: re.Match[str]) -> int:
        image = self._text[start - 1 : start] == "!"
        address = CitationKey("url", target[1])
        keys = forms.numbers(content)
        if keys and not image and target[1].startswith("#"):
            return self._add(start, target.end(), (keys, "number"))  # it leads to a list below the answer
        if keys and not image:
            return self._add(start, target.end(), ((address, *keys), "link"))
        if not image and self._known and self._known.resolve_key(address):
            words = Span(start + 1, target.start() - 1)
            brackets = (Span(start, words.start), Span(words.end, target.start()))
            return self._add(target.start(), target.end(), ((address,), "link"), words, brackets)
        return target.end()

    def _round(self, start: int) -> int:
        # Brackets within count too: without an end the content could be 300 pairs of 300 characters.
        match = _ROUND.match(self._text, start, start + MAX_CONTENT + 2)
        if match is None:
            return start + 1
        content, end = match[1].strip(), match.end()
        read: Read | None
        if forms.is_year(content):
            read = self._narrated(start, content)
        elif keys := forms.words(content, square=False):
            read = keys, "id"
        else:
            read = self._parenthesis(content)
        return self._add(start, end, read) if read else start + 1

    def _narrated(self, start: int, year: str) -> Read | None:
        """The year of `Smith et al. (2021) found …`; the names belong to the sentence."""
        names = context.names_before(self._text, start)
        if names is None:
            return None
        certain = names.certain or (self._known is not None and self._known.has_author(names.name))
        return ((CitationKey("author", names.name, year),), "author") if certain else None

    def _parenthesis(self, content: str) -> Read | None:
        """Round brackets are common in prose: a name in them must be unmistakable."""
        read = self._named(content) or self._listed(content)
        if read and (forms.says_source(content) or all(map(forms.is_no_word, read[0]))):
            return None if content.isdigit() else read
        return (
            self._numbered(content, shows=False)
            or self._address(content)
            or self._file(content, shows=False)
            or self._referred(content)
        )

    def _lenticular(self, start: int) -> int:
        match = _LENTICULAR.match(self._text, start)
        if match is None:
            return start + 1
        message, number, name = match.groups()
        # `4:0` counts results from 0 within message 4; a bare number counts passages as `[4]` does.
        keys = [CitationKey("position" if message else "number", number)]
        if name and name.lower() != "source" and not _LINES.fullmatch(name):
            keys.insert(0, CitationKey("file", name))
        return self._add(start, match.end(), (tuple(keys), "lenticular"))

    def _latex(self, start: int) -> int:
        r"""`\cite{p1, p3}`, where one of the names is a passage's or looks so."""
        match = _LATEX.match(self._text, start)
        if match is None:
            return start + 1
        names = forms.cited(match[1])
        if any(forms.words(name, square=True) or self._named(name) for name in names):
            keys = tuple(CitationKey("number" if name.isdecimal() else "id", name) for name in names)
            return self._add(start, match.end(), (keys, "id"))
        return match.end()

    def _tag(self, start: int) -> int:
        if link := _AUTOLINK.match(self._text, start):
            read = self._address(link[1])
            return self._add(start, link.end(), read) if read else link.end()
        match = _TAG.match(self._text, start)
        if match is None:
            return start + 1
        name, attributes, end = match[1].lower(), match[2], match.end()
        inner = _TAGGED.match(self._text, end)
        if inner and (read := self._bracketed(inner[1].strip(" []"))) and read[1] != "title":
            power = name == "sup" and context.is_exponent(self._text, start)
            form: Form = "superscript" if name == "sup" else "tag"
            return inner.end() if power else self._add(start, inner.end(), (read[0], form))
        keys = forms.attributes(attributes, positions=name == "co")
        if not keys or name == "sup":
            return end
        close = _CLOSING[name].search(self._text, end, end + _TAG_REACH)
        if close is None:
            return self._add(start, end, (keys, "tag"))
        return self._add(start, end, (keys, "tag"), Span(end, close.start()), (Span(*close.span()),))

    def _superscript(self, start: int) -> int:
        match = _POWER.match(self._text, start)
        assert match is not None  # the opener is its first part
        if context.is_exponent(self._text, start):
            return match.end()
        first, last = match[1].translate(_DIGITS), (match[2] or "").translate(_DIGITS)
        keys = forms.numbers(f"{first}-{last}" if last else self._digits(first))
        return self._add(start, match.end(), (keys, "superscript")) if keys else match.end()

    def _digits(self, digits: str) -> str:
        """`¹²` is twelve, unless only one and two are passages."""
        if (
            self._known is None
            or not 1 < len(digits) <= 3
            or self._known.resolve_key(CitationKey("number", digits))
        ):
            return digits
        each = all(self._known.resolve_key(CitationKey("number", digit)) for digit in digits)
        return ",".join(digits) if each else digits
