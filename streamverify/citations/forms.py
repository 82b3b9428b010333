"""What stands between brackets, read as citation keys; no knowledge of the passages is needed here.

Each reader takes the content of one pair of brackets, at most `MAX_CONTENT` characters, and returns
its keys, or an empty tuple when it is not of that form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

MAX_CONTENT = 300
"""Longest content of a marker, in characters; bounds the work on hostile text."""
MAX_KEYS = 100
"""A list or range that names more passages than this is not a citation."""

KeyKind = Literal["number", "id", "word", "title", "author", "label", "url", "position", "file"]


@dataclass(frozen=True, slots=True)
class Key:
    """One thing a marker refers to, as written; `resolve.py` says which passages it means.

    `number`: counts passages in prompt order. `id`: looks like a passage id. `word`: a word and a
    number, `Source 3`. `title` and `author`: with `year` where one is given. `label`: a footnote's.
    `url`: a link's target. `position`: an index from 0 that a provider gave. `file`: a provider's
    file id or name.
    """

    kind: KeyKind
    value: str
    year: str = ""


_RANGE = r"\^?\d{1,3}(?:\s*[-–—‑−]\s*\^?\d{1,3})?"
_SEPARATOR = r"\s*(?:[,;、，&]|\band\b)\s*"
_NUMBERS = re.compile(rf"{_RANGE}(?:{_SEPARATOR}{_RANGE})*+")
_ITEM = re.compile(r"(\^?)(\d{1,3})(?:\s*[-–—‑−]\s*\^?(\d{1,3}))?")
_LOCATOR = re.compile(
    r"[,:;]?\s*(?:pp?\.|§+|secs?\.|paras?\.|ch\.|chap\.|lines?)\s*\d+(?:\s*[-–—]\s*\d+)?\s*$", re.IGNORECASE
)
_LEAD = re.compile(r"(?:see(?: also)?|cf\.?|e\.g\.,?|from|per|source:|sources:|quelle:|@)\s*", re.IGNORECASE)
_WORD = r"(?:doc(?:ument)?s?|sources?|passages?|refs?|references?|chunks?|contexts?|excerpts?|citations?|snippets?)"
_WORD_ITEM = re.compile(rf"{_WORD}[ .:#_-]{{0,2}}\d{{1,3}}", re.IGNORECASE)
_WORD_NUMBERS = re.compile(rf"({_WORD}[ .:#]{{1,2}})(\d{{1,3}}(?:{_SEPARATOR}\d{{1,3}})+)", re.IGNORECASE)
_LETTER_ITEM = re.compile(r"[pPsSdD]\d{1,3}")
_LABEL = re.compile(r"\^[^\s\[\]^]{1,60}")
_SPLIT = re.compile(_SEPARATOR)

_YEAR = r"(?:1[5-9]|20)\d\d[a-z]?"
_NAME = r"[A-ZÀ-ÖØ-Þ][\w'’.-]{0,40}(?: (?:[A-Z]\.|[A-ZÀ-ÖØ-Þ][\w'’-]{1,40})){0,2}"
_AUTHORS = re.compile(
    rf"(?P<first>{_NAME})(?P<more>(?:, {_NAME}){{0,6}},? (?:and|&|und|et) {_NAME}| et al\.?| u\. a\.)?"
    rf"(?:,? (?P<bracket>\()?(?P<year>{_YEAR})(?(bracket)\)))"
)
_TITLE_YEAR = re.compile(rf"(?P<title>[^\W\d_][^;]{{1,200}}?),? (?:\()?(?P<year>{_YEAR})\)?")
_DATES = re.compile(
    r"(?:jan|feb|mar|apr|may|june?|july?|aug|sep|sept|oct|nov|dec)[a-z]*\.?(?: \d{1,2}(?:st|nd|rd|th)?)?"
    r"|(?:spring|summer|autumn|fall|winter|early|late|mid|since|in|by|until|before|after|around|circa|from)\b.*"
    r"|q[1-4]",
    re.IGNORECASE,
)
_DOCUMENT = re.compile(
    r"\b(?:act|announcement|article|bulletin|calendar|circular|codes?|directive|documentation|faq|fact ?sheet"
    r"|guide(?:lines?)?|handbook|index|journal|law|leaflet|letter|manual|memo(?:randum)?|minutes|monograph|notes?|notice"
    r"|order|overview|paper|policy|press release|protocol|regulations?|report|resolution|review|rules|specification"
    r"|standard|statement|study|summary|survey|terms|update)\b",
    re.IGNORECASE,
)


def plain(content: str) -> str:
    """The content without a leading `see`, `cf.`, `@` and without a trailing page or section."""
    content = content.strip()
    if lead := _LEAD.match(content):
        content = content[lead.end() :]
    return _LOCATOR.sub("", content).strip()


def numbers(content: str) -> tuple[Key, ...]:
    """`1`, `1, 3`, `1-3`, `^2`, `1, p. 5`: numbers of at most three digits, ranges written out."""
    content = plain(content)
    if not _NUMBERS.fullmatch(content):
        return ()
    keys: list[Key] = []
    for caret, first, last in _ITEM.findall(content):
        low, high = int(first), int(last or first)
        if high < low or len(keys) + high - low >= MAX_KEYS:
            return ()
        kind: KeyKind = "label" if caret else "number"
        keys += [Key(kind, str(number)) for number in range(low, high + 1)]
    return tuple(dict.fromkeys(keys))


def label(content: str) -> tuple[Key, ...]:
    """`^climate`: a footnote that is not numbered."""
    return (Key("label", content[1:]),) if _LABEL.fullmatch(content) else ()


def words(content: str, *, letters: bool) -> tuple[Key, ...]:
    """`Source 3`, `Doc 1, Doc 2`, `Documents 1 and 3`; with `letters` also `p1`, `S2`, `p1, p3`."""
    content = plain(content)
    if group := _WORD_NUMBERS.fullmatch(content):
        return tuple(Key("word", f"{group[1].strip()} {number}") for number in _SPLIT.split(group[2]))
    keys = []
    for item in _SPLIT.split(content):
        if letters and _LETTER_ITEM.fullmatch(item):
            keys.append(Key("id", item))
        elif _WORD_ITEM.fullmatch(item):
            keys.append(Key("word", item))
        else:
            return ()
    return tuple(keys[:MAX_KEYS])


@dataclass(frozen=True, slots=True)
class Reference:
    """One part of `(Smith and Lee 2020; Kim 2019)`."""

    key: Key
    strong: bool
    """Whether it can only be a reference: `et al.`, `&`, several names, or a title that names a kind of document."""


def references(content: str) -> tuple[Reference, ...]:
    """Author-year and title-year references, parted by semicolons; empty when any part is neither."""
    found = []
    for part in plain(content).split(";"):
        reference = _reference(plain(part))
        if reference is None:
            return ()
        found.append(reference)
    return tuple(found)


def _reference(part: str) -> Reference | None:
    if authors := _AUTHORS.fullmatch(part):
        first = authors["first"]
        if _DATES.fullmatch(first):
            return None
        document = bool(_DOCUMENT.search(first))
        if authors["more"] or not document:
            strong = bool(authors["more"]) and not _DOCUMENT.search(authors["more"])
            return Reference(Key("author", first, authors["year"]), strong)
    titled = _TITLE_YEAR.fullmatch(part)
    if titled is None or _DATES.fullmatch(titled["title"]) or not titled["title"][0].isupper():
        return None
    strong = len(titled["title"].split()) > 1 and bool(_DOCUMENT.search(titled["title"]))
    return Reference(Key("title", titled["title"].rstrip(" ,"), titled["year"]), strong)
