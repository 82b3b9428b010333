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
class CitationKey:
    """One thing a marker refers to, as written; `resolve.py` says which passages it means.

    `number`: counts passages in prompt order. `id`: looks like a passage id. `word`: a word and a
    number, `Source 3`. `title` and `author`: with `year` where one is given. `label`: a footnote's.
    `url`: a link's target. `position`: an index from 0 that a provider gave. `file`: a provider's
    file id or name.
    """

    kind: KeyKind
    value: str
    year: str = ""


# A run of blanks gives none back: nothing that may follow it begins with one.
_RANGE = r"\^?\d{1,3}(?:\s*[-–—‑−]\s*\^?\d{1,3})?"
_SEPARATOR = r"\s*+(?:[,;、，]\s*+(?:and\b|&)|[,;、，&]|\band\b)\s*+"
_NUMBERS = re.compile(rf"{_RANGE}(?>(?:{_SEPARATOR}{_RANGE})*)")
_ITEM = re.compile(r"(\^?)(\d{1,3})(?:\s*[-–—‑−]\s*\^?(\d{1,3}))?")
_LOCATOR = re.compile(
    r"(?:[,:;]?\s*+(?:pp?\.|§+|secs?\.|paras?\.|ch\.|chap\.|lines?)"
    r"|[,:;]\s*+(?:pages?|sections?|paragraphs?|chapters?|slides?))"  # "Landing page 4" may be a title
    r"\s*+\d+(?>(?:\.\d+)*)(?:\s*+[-–—]\s*+\d+)?\s*+$",
    re.IGNORECASE,
)
_FRAGMENT = re.compile(
    r"(?<![/\s])(\.[A-Za-z]\w{1,4})(?:#[\w=.&-]{1,40}|:(?:L|p\.?)?\d{1,5}(?:[-–:]\d{1,5})?)\s*+$"
)
"""A place within a file: `refunds.pdf#page=2`, `refunds.md:12`."""
_LEAD = re.compile(
    r"(?:see(?: also)?|cf\.?|e\.g\.,?|from|per|sources?:|quelle:|files?:(?!//)|@)\s*", re.IGNORECASE
)
_SAYS_SOURCE = re.compile(r"(?:see |cf\.? )?(?:sources?|quelle|files?):(?!//)", re.IGNORECASE)
_SOURCE_NAME = re.compile(r"[^\W_][^\[\]\n;!?]{0,78}+")
_NO_SOURCE = re.compile(
    r"(?:(?:our |my )?own|true|false|null|none|nil|internal|external|unknown|unspecified|n/?a|yes|no|self|me"
    r"|us|author(?:'s|’s|s)?|various|personal|general|common|public|private|todo|tbd)\b",
    re.IGNORECASE,
)
"""How what stands behind `Source:` begins where it names none."""
_WORD = (
    r"(?:doc(?:ument)?s?|sources?|passages?|ref(?:erence)?s?|chunks?|contexts?|excerpts?|snippets?"
    r"|cite|citations?)"
)
# In round brackets these are prose: "(result 2)", "(ID: 12)".
_SQUARE_WORD = rf"(?:{_WORD}|results?|web|ids?)"
_WORD_ITEM = re.compile(rf"{_WORD}[ .:#_-]{{0,2}}\d{{1,3}}", re.IGNORECASE)
_SQUARE_WORD_ITEM = re.compile(rf"{_SQUARE_WORD}[ .:#_-]{{0,2}}\d{{1,3}}", re.IGNORECASE)
_WORD_NUMBERS = re.compile(
    rf"({_SQUARE_WORD}[ .:#]{{1,2}})(\d{{1,3}}(?:{_SEPARATOR}\d{{1,3}})+)", re.IGNORECASE
)
_WORD_RANGES = re.compile(rf"({_SQUARE_WORD}(?<=s) )({_RANGE}(?>(?:{_SEPARATOR}{_RANGE})*))", re.IGNORECASE)
"""Of several: `Sources 1-3`; a `Document 2-1` is one."""
_WORD_NAME = re.compile(rf"{_SQUARE_WORD}(?:\s*:\s*|[ #]{{1,2}})(?=\S)", re.IGNORECASE)
_LETTER_ITEM = re.compile(r"[pPsSdD]\d{1,3}")
_NAMED_NUMBER = re.compile(
    rf"(?P<source>(?P<word>{_SQUARE_WORD}[ .:#_-]{{0,2}})?\d{{1,3}}|[pPsSdD]\d{{1,3}})"
    r"\s*+(?P<parted>[:,|–—-])\s++(?P<name>.++)",
    re.IGNORECASE,
)
_FILE = re.compile(r"[^\s,;:|<>()\[\]\"](?:[^,;:|<>()\[\]\"\n]{0,200}[^\s,;:|<>()\[\]\"])?\.[A-Za-z]\w{1,4}")
_ADDRESS = re.compile(r"<?(https?://[^\s<>]{1,300}+)>?", re.IGNORECASE)
_LABEL = re.compile(r"\^[^\s\[\]^]{1,60}")
_SPLIT = re.compile(_SEPARATOR)

_ATTRIBUTE = re.compile(
    r"\b(?:ids?|refs?|docs?|documents?|sources?|index|name|key)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'/>]+))",
    re.IGNORECASE,
)
_POSITIONS = re.compile(r":\s*(\d{1,3}(?:\s*,\s*\d{1,3})*)\s*")
_TOKENS = re.compile(r"[\w.:-]+(?:\s+[\w.:-]+)*")

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
    r"|guide(?:lines?)?|handbook|index|journal|law|leaflet|letter|manual|memo(?:randum)?|minutes|monograph"
    r"|notes?|notice|order|overview|paper|policy|press release|protocol|regulations?|report|resolution|review"
    r"|rules|specification|standard|statement|study|summary|survey|terms|update)\b",
    re.IGNORECASE,
)


def plain(content: str) -> str:
    """The content without a leading `see`, `cf.`, `@` and without a trailing page or section."""
    content = content.strip()
    if lead := _LEAD.match(content):
        content = content[lead.end() :]
    if not _ADDRESS.match(content):
        content = _FRAGMENT.sub(r"\1", content)
    return _LOCATOR.sub("", content).strip()


def numbers(content: str) -> tuple[CitationKey, ...]:
    """`1`, `1, 3`, `1-3`, `^2`, `1, p. 5`: numbers of at most three digits, ranges written out."""
    content = plain(content)
    if not _NUMBERS.fullmatch(content):
        return ()
    keys: list[CitationKey] = []
    for caret, first, last in _ITEM.findall(content):
        low, high = int(first), int(last or first)
        if high < low or len(keys) + high - low >= MAX_KEYS:
            return ()
        kind: KeyKind = "label" if caret else "number"
        # Alone it stays as it is written: ids may have zeros in front.
        written = [str(number) for number in range(low, high + 1)] if last or caret else [first]
        keys += [CitationKey(kind, number) for number in written]
    return tuple(dict.fromkeys(keys))


def label(content: str) -> tuple[CitationKey, ...]:
    """`^climate`: a footnote that is not numbered."""
    return (CitationKey("label", content[1:]),) if _LABEL.fullmatch(content) else ()


def split(content: str) -> list[str]:
    """The parts of a list, at commas, semicolons, `and` and `&`."""
    return [part.strip() for part in _SPLIT.split(plain(content))]


def is_year(content: str) -> bool:
    """`2021`, `2021a`: a year from 1500 to 2099."""
    return bool(re.fullmatch(_YEAR, content))


def attributes(written: str, *, positions: bool) -> tuple[CitationKey, ...]:
    """The attributes of a citation tag: `id="p1"`, `refs="1, 3"`; with `positions` also `: 0,1`."""
    if positions and (counted := _POSITIONS.fullmatch(written)):
        return tuple(CitationKey("position", number) for number in re.findall(r"\d+", counted[1]))
    keys: list[CitationKey] = []
    for match in _ATTRIBUTE.finditer(written):
        value = (match[1] or match[2] or match[3] or "").strip()
        # "p1 p3" lists two ids; a title with spaces has words without a digit.
        listed = bool(_TOKENS.fullmatch(value)) and all(re.search(r"\d", token) for token in value.split())
        names = value.split() if listed else re.split(r"\s*[,;]\s*", value)
        keys += [
            CitationKey("number" if re.fullmatch(r"\d{1,3}", name) else "id", name) for name in names if name
        ]
    return tuple(dict.fromkeys(keys))[:MAX_KEYS]


def words(content: str, *, square: bool) -> tuple[CitationKey, ...]:
    """`Source 3`, `Doc 1, Doc 2`, `Documents 1 and 3`.

    In square brackets also `p1`, `S2`, `p1, p3`, `passage p1`, `Result 2`, `web:2`; in round ones also
    `Sources: 1, 2`, which `numbers` reads between square ones.
    """
    if not square and says_source(content) and (listed := numbers(content)):
        return listed
    content = plain(content)
    if (group := _WORD_NUMBERS.fullmatch(content)) and (square or _WORD_ITEM.match(content)):
        return tuple(CitationKey("word", f"{group[1].strip()} {number}") for number in _SPLIT.split(group[2]))
    if (group := _WORD_RANGES.fullmatch(content)) and (square or _WORD_ITEM.match(content)):
        return tuple(CitationKey("word", f"{group[1].strip()} {key.value}") for key in numbers(group[2]))
    keys = []
    for item in _SPLIT.split(content):
        if square and _LETTER_ITEM.fullmatch(name := unworded(item)):
            keys.append(CitationKey("id", name))
        elif (_SQUARE_WORD_ITEM if square else _WORD_ITEM).fullmatch(item):
            keys.append(CitationKey("word", item))
        else:
            return ()
    return tuple(keys[:MAX_KEYS])


def unworded(name: str) -> str:
    """The name without the word that says what it names: of `passage p1` and `id: p1` the `p1`."""
    return _WORD_NAME.sub("", name, count=1) if _WORD_NAME.match(name) else name


def says_source(content: str) -> bool:
    """Whether it begins with `Source:`, so that what follows can be nothing but one."""
    return bool(_SAYS_SOURCE.match(content))


def source_name(content: str) -> str:
    """What `Source:` is followed by, where it is a name of at most eighty characters; else empty.

    A name has a capital in front, a digit or a file's ending.
    """
    name = plain(content)
    named = says_source(content) and _SOURCE_NAME.fullmatch(name) and not _ADDRESS.match(name)
    if not named or re.search(r"[.,]\s", name) or _NO_SOURCE.match(name):
        return ""
    written = name[0].isupper() or any(c.isdigit() for c in name) or _FILE.fullmatch(name)
    return name if written else ""


@dataclass(frozen=True, slots=True)
class NamedNumber:
    """`Source 2, Refund FAQ`; `2: Refund FAQ`: a source's number and what it is called."""

    key: CitationKey
    name: str
    shows: bool
    """Whether it can be nothing else, whatever the name: a word stands before the number."""

    def within(self, title: str) -> bool:
        """Whether the name is some words of a title."""
        words = rf"(?<!\w){re.escape(self.name)}(?!\w)"
        return len(self.name) > 3 and bool(re.search(words, title, re.IGNORECASE))


def named_number(content: str) -> NamedNumber | None:
    """A number or a letter of a passage with the name of the passage behind it; None for anything else."""
    found = _NAMED_NUMBER.fullmatch(plain(content))
    if found is None or (found["parted"] == "-" and not found["word"] and " - " not in content):
        return None
    source = found["source"]
    if found["word"]:
        key = CitationKey("word", source)
    else:
        key = CitationKey("number" if source.isdecimal() else "id", source)
    return NamedNumber(key, plain(found["name"]), shows=bool(_WORD_ITEM.match(source)))


def file_name(content: str) -> str:
    """The file name that it is, page and lead left out: `refunds.pdf, p. 4`; empty where it is none."""
    name = plain(content)
    return name if _FILE.fullmatch(name) else ""


def is_no_word(key: CitationKey) -> bool:
    """Whether a name cannot be a word in round brackets: it has a digit, a blank or a file's ending."""
    return any(c.isdigit() or c.isspace() for c in key.value) or bool(file_name(key.value))


def has_locator(content: str) -> bool:
    """Whether a page or a section closes it."""
    return bool(_LOCATOR.search(content) or _FRAGMENT.search(content))


def address(content: str) -> str:
    """The web address that it is, with or without `Source:` and pointed brackets; empty where it is none."""
    found = _ADDRESS.fullmatch(plain(content))
    return found[1] if found else ""


def cited(names: str) -> list[str]:
    r"""The keys of `\cite{p1, p3}`."""
    return [name.strip() for name in names.split(",") if name.strip()][:MAX_KEYS]


@dataclass(frozen=True, slots=True)
class Reference:
    """One part of `(Smith and Lee 2020; Kim 2019)`."""

    key: CitationKey
    strong: bool
    """Whether it can only be a reference: several names, or a title that names a kind of document."""


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
    authors = _AUTHORS.fullmatch(part)
    if authors and not _DATES.fullmatch(authors["first"]) and not _DOCUMENT.search(part):
        return Reference(
            CitationKey("author", authors["first"], authors["year"]), strong=bool(authors["more"])
        )
    titled = _TITLE_YEAR.fullmatch(part)
    if titled is None or _DATES.fullmatch(titled["title"]) or not titled["title"][0].isupper():
        return None
    title = titled["title"].rstrip(" ,")
    strong = " " in title and bool(_DOCUMENT.search(title))
    return Reference(CitationKey("title", title, titled["year"]), strong)
