"""What a passage can be called by: normal forms of titles, names, years and addresses.

Metadata is read by the usual key names of retrieval frameworks; whatever is absent or of another
type is passed over.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from streamverify.types import Passage

_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_TRAILING_YEAR = re.compile(r"((?:1[5-9]|20)\d\d)[a-z]?\)?\Z")
_LONGEST_YEAR = 6
"""Characters of a year with its letter and bracket."""
_NOT_WORD = re.compile(r"[\W_]+")
_AUTHOR_KEYS = ("author", "authors", "creator", "creators", "byline")
_YEAR_KEYS = ("year", "publication_year", "published", "published_at", "publication_date", "date")
_ADDRESS_KEYS = ("url", "source_url", "page_url", "link", "href", "uri", "permalink", "source", "web_url")
_FILE_KEYS = ("file_name", "filename", "file", "file_id", "file_path", "path", "source", "document_id")
_NAME_KEYS = ("family", "last", "last_name", "surname", "name")


def normal(name: str) -> str:
    """Lower-case words parted by one space; width, case, punctuation and brackets make no difference."""
    return _NOT_WORD.sub(" ", unicodedata.normalize("NFKC", name).casefold()).strip()


def bare(title: str) -> tuple[str, str]:
    """A title without its closing year, and that year (empty when there is none)."""
    whole = title.rstrip()
    match = _TRAILING_YEAR.search(whole, max(len(whole) - _LONGEST_YEAR, 0))
    name = end = match.start() if match else 0
    while name and (title[name - 1].isspace() or title[name - 1] in ",("):
        name -= 1
    return (title[:name], match[1]) if match and 0 < name < end else (title, "")


def normal_address(address: str) -> str:
    """Host and path of a web address; scheme, `www.`, fragment and a closing slash make no difference."""
    try:
        parts = urlsplit(address.strip())
    except ValueError:  # an unclosed bracket in the host
        return address.strip()
    host = (parts.netloc or "").lower().removeprefix("www.")
    query = f"?{parts.query}" if parts.query else ""
    return f"{host}{unquote(parts.path).rstrip('/')}{query}"


def year_of(passage: Passage) -> str:
    """The year in the title's end or in the metadata; empty when neither tells."""
    if year := bare(passage.title or "")[1]:
        return year
    for key in _YEAR_KEYS:
        value = passage.metadata.get(key)
        if value is not None and (match := _YEAR.search(str(getattr(value, "year", value)))):
            return match[0]
    return ""


def authors_of(passage: Passage) -> frozenset[str]:
    """Normal forms of the authors' surnames and of their names as given."""
    names: set[str] = set()
    for key in _AUTHOR_KEYS:
        for name in _names(passage.metadata.get(key)):
            names.add(normal(name))
            # "Smith, Ada" and "Ada Smith" have the same surname.
            names.add(normal(name.split(",")[0] if "," in name else name.split()[-1]))
    return frozenset(names - {""})


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        parts = re.split(r";|\band\b|&|\|", value)
        # "Smith, Lee, Kim" lists surnames; "Smith, Ada" is one author.
        if len(parts) == 1 and value.count(",") > 1:
            parts = value.split(",")
        yield from (part.strip() for part in parts if part.strip())
    elif isinstance(value, Mapping):
        yield from (str(value[key]).strip() for key in _NAME_KEYS if str(value.get(key) or "").strip())
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _names(item)


def addresses_of(passage: Passage) -> frozenset[str]:
    """Normal forms of the web addresses in the metadata."""
    values = (passage.metadata.get(key) for key in _ADDRESS_KEYS)
    return frozenset(
        normal_address(value)
        for value in values
        if isinstance(value, str) and re.match(r"https?://", value, re.IGNORECASE)
    )


def files_of(passage: Passage) -> frozenset[str]:
    """Normal forms of the file names and file ids in the metadata."""
    values = (passage.metadata.get(key) for key in _FILE_KEYS)
    names = {value for value in values if isinstance(value, str) and value and "://" not in value}
    names |= {PurePosixPath(name.replace("\\", "/")).name for name in names}
    return frozenset(map(normal, names)) - {""}
