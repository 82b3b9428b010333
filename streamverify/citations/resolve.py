"""Says which passages a marker means.

Before: `markers.py` found it. After: `check.py` asks whether those passages support the sentence.

Precedence, for a number: the passage whose id is that number; then the passage at that place in
prompt order. Where the ids are exactly the numbers 0…n-1 or 1…n, only ids count. For a footnote
label: its definition, an id, a number. For a name: an id, a title, a file name. A title with a year
means the title `Title (year)`, or the title and the year in the metadata; a passage whose year is
unknown also answers to its title with any year. An ambiguous name means every candidate.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, assert_never

from streamverify.citations.bibliography import (
    addresses_of,
    authors_of,
    bare,
    files_of,
    normal,
    normal_address,
    year_of,
)
from streamverify.citations.forms import CitationKey
from streamverify.citations.markers import Marker, find_markers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from streamverify.citations.masks import Definition
    from streamverify.types import Passage

Numbering = Literal["auto", "one", "zero"]

_NUMBERED = re.compile(r"(.*?)(\d{1,9})")


@dataclass(frozen=True, slots=True)
class _Names:
    """Everything the passages of a stream answer to; built once."""

    ids: tuple[str, ...]
    exact: Mapping[str, tuple[str, ...]]
    """Normal form of an id, a title or a file name, with a year where one is known, to ids."""
    titles: Mapping[str, tuple[str, ...]]
    """Normal form of a title without its year, to ids."""
    authors: Mapping[str, tuple[str, ...]]
    addresses: Mapping[str, tuple[str, ...]]
    years: Mapping[str, str]
    """Id to year; empty where it is unknown."""
    shapes: re.Pattern[str] | None
    """Matches whatever looks like one of the ids with other digits."""
    endings: frozenset[str]
    """Of the passages' files."""
    dated: bool
    """Whether a title and a year are a way to cite here."""


class Resolver:
    """Turns markers into passage ids; immutable, so a stream's later findings never change earlier ones.

    Args:
        passages: in prompt order.
        numbering: whether `[1]` is the first passage or the second. `auto` counts from 0 when the ids
            end in 0, 1, 2 … in order, or once `after` was told of a `[0]`.
        definitions: what footnotes say at the end of the answer, where that is known already.
    """

    def __init__(
        self,
        passages: Sequence[Passage],
        *,
        numbering: Numbering = "auto",
        definitions: Iterable[Definition] = (),
    ) -> None:
        self._passages = tuple(passages)
        self._names = _names(self._passages)
        zero = numbering == "auto" and _counts_from_zero(self._names.ids)
        self._numbering: Numbering = "zero" if zero else numbering
        self._definitions = tuple(definitions)
        self._targets = {definition.label: definition.target for definition in self._definitions}

    @property
    def ids(self) -> tuple[str, ...]:
        """The passages' ids in prompt order."""
        return self._names.ids

    def title(self, passage: str) -> str | None:
        """The title of a passage of this stream."""
        return self._passages[self.ids.index(passage)].title

    @property
    def numbering(self) -> Numbering:
        """`one` or `zero` where that is settled; `auto` counts from one until a `[0]` is seen."""
        return self._numbering

    def resolve(self, marker: Marker) -> tuple[str, ...]:
        """The ids a marker means, in the order written, without repeats; empty when it is fabricated.

        Of a link, of `【4†name】` and of a provider's citation the keys are several ways to say the
        same: the first that resolves counts. A linked number whose address is no passage's is
        fabricated when the passages do have addresses, and read as the number when they have none.
        """
        if marker.form == "link" and self._names.addresses:
            return self.resolve_key(marker.keys[0])
        found = [self.resolve_key(key) for key in marker.keys]
        if marker.form in {"link", "lenticular", "native"}:
            return next((ids for ids in found if ids), ())
        return tuple(dict.fromkeys(id_ for ids in found for id_ in ids))

    def unresolved(self, marker: Marker) -> tuple[CitationKey, ...]:
        """The keys of a marker that mean no passage: of `[1, 9]` the 9."""
        if marker.form in {"link", "lenticular", "native"}:
            return () if self.resolve(marker) else marker.keys
        return tuple(key for key in marker.keys if not self.resolve_key(key))

    def resolve_key(self, key: CitationKey) -> tuple[str, ...]:
        """The ids one key means; several when it is ambiguous, none when it means nothing here."""
        match key.kind:
            case "number":
                found = self._number(key.value)
            case "position":
                found = self._place(int(key.value))
            case "label":
                found = self._label(key.value)
            case "url":
                found = self._names.addresses.get(normal_address(key.value), ())
            case "word":
                found = self._named(key.value) or self._number(re.sub(r"\D", "", key.value))
            case "title" | "author":
                found = self._work(key.value, key.year)
            case "id" | "file":
                found = self._named(key.value)
            case _:
                assert_never(key.kind)
        return found

    def after(self, markers: Iterable[Marker]) -> Resolver:
        """The resolver for a sentence with these markers and for all later ones.

        Settles `auto`: a `[0]` among the markers means counting from 0, the number of the last
        passage from 1 (both at once: from 1). What earlier sentences meant does not change.
        """
        if self._numbering != "auto":
            return self
        seen = {int(key.value) for marker in markers for key in marker.keys if key.kind == "number"}
        if self.ids and len(self.ids) in seen:
            return Resolver(self._passages, numbering="one", definitions=self._definitions)
        if 0 in seen:
            return Resolver(self._passages, numbering="zero", definitions=self._definitions)
        return self

    def with_definitions(self, definitions: Iterable[Definition]) -> Resolver:
        """A resolver that knows what footnotes say at the end of an answer."""
        return Resolver(self._passages, numbering=self._numbering, definitions=definitions)

    def name_key(self, name: str) -> CitationKey | None:
        """The key for a name that means a passage, or that has the shape of this stream's ids."""
        names = self._names
        if name in names.ids or (names.shapes and names.shapes.fullmatch(name)):
            return CitationKey("id", name)
        if self._named(name):
            return CitationKey("title", name)
        return None

    def has_author(self, name: str) -> bool:
        """Whether a passage's metadata names this author."""
        return normal(name) in self._names.authors

    def may_be(self, key: CitationKey) -> bool:
        """Whether a doubtful reference such as `(Smith, 2021)` is one among these passages.

        It is when the name is known whatever the year, when the passages name their authors, for a title of
        several words when titles come with years here, for an address when passages have one, and for a
        file when a passage's has the same ending.
        """
        if self.resolve_key(CitationKey(key.kind, key.value)):
            return True
        if key.kind == "url":
            return bool(self._names.addresses)
        if key.kind == "file":
            return key.value.rpartition(".")[2].lower() in self._names.endings
        if key.kind == "author":
            return bool(self._names.authors)
        return self._names.dated and len(key.value.split()) > 1

    def mentions(self, words: str) -> bool:
        """Whether a passage itself speaks of it in these words."""
        return any(words in passage.text for passage in self._passages)

    def _number(self, written: str) -> tuple[str, ...]:
        ids = self._names.ids
        number = int(written)
        for candidate in (written, str(number)):
            if candidate in ids:
                return (candidate,)
        padded = [one for one in ids if one.isdecimal() and len(one) < _LONGEST_NUMBER and int(one) == number]
        if len(padded) == 1:
            return (padded[0],)
        if ids and _is_run(ids):
            return ()
        return self._place(number if self._numbering == "zero" else number - 1)

    def _place(self, index: int) -> tuple[str, ...]:
        return (self.ids[index],) if 0 <= index < len(self.ids) else ()

    def _label(self, label: str) -> tuple[str, ...]:
        target = self._targets.get(label)
        if target is not None and (found := self._defined(target)) is not None:
            return found
        return self._number(label) if label.isdecimal() else self._named(label)

    def _defined(self, target: str) -> tuple[str, ...] | None:
        """What a footnote's text means: a name, an address, a marker, a title in it; or None."""
        if named := self._named(target):
            return named
        for address in re.findall(r"https?://[^\s<>\])]+", target):
            if found := self._names.addresses.get(normal_address(address.rstrip(".,;"))):
                return found
        # Without the definitions, or a footnote that mentions itself would never end.
        plain = Resolver(self._passages, numbering=self._numbering)
        if markers := find_markers(target, known=plain):
            return tuple(dict.fromkeys(id_ for marker in markers for id_ in plain.resolve(marker)))
        words = f" {normal(target)} "
        # A lone word of the prose may be an id by chance; a title's words in a row are not.
        names = {
            **self._names.titles,
            **{name: ids for name, ids in self._names.exact.items() if " " in name},
        }
        held = [(len(name), ids) for name, ids in names.items() if f" {name} " in words]
        return max(held)[1] if held else None

    def _named(self, name: str) -> tuple[str, ...]:
        if name in self._names.ids:
            return (name,)
        form = normal(name)
        return self._names.exact.get(form) or self._names.titles.get(form, ())

    def _work(self, name: str, year: str) -> tuple[str, ...]:
        """Passages of this title or author and year; a year that is unknown excludes nothing."""
        names = self._names
        if found := names.exact.get(normal(f"{name} {year}")):
            return found
        form = normal(name)
        found = names.titles.get(form) or names.authors.get(form, ())
        return tuple(id_ for id_ in found if not year or names.years[id_] in {"", year[:4]})


def _names(passages: Sequence[Passage]) -> _Names:
    exact: defaultdict[str, list[str]] = defaultdict(list)
    titles: defaultdict[str, list[str]] = defaultdict(list)
    authors: defaultdict[str, list[str]] = defaultdict(list)
    addresses: defaultdict[str, list[str]] = defaultdict(list)
    years: dict[str, str] = {}
    endings: set[str] = set()
    for passage in passages:
        years[passage.id] = year = year_of(passage)
        exact[normal(passage.id)].append(passage.id)
        files = files_of(passage)
        for name in files:
            exact[name].append(passage.id)
        endings |= {name.rpartition(" ")[2] for name in files if " " in name}
        if passage.title:
            title = normal(bare(passage.title)[0])
            titles[title].append(passage.id)
            exact[f"{title} {year}".strip()].append(passage.id)
        for name in authors_of(passage):
            authors[name].append(passage.id)
        for address in addresses_of(passage):
            addresses[address].append(passage.id)
    return _Names(
        ids=tuple(passage.id for passage in passages),
        exact=_settled(exact),
        titles=_settled(titles),
        authors=_settled(authors),
        addresses=_settled(addresses),
        years=years,
        shapes=_shapes(passages),
        endings=frozenset(endings),
        dated=any(years[passage.id] and passage.title for passage in passages),
    )


def _settled(found: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(dict.fromkeys(ids)) for name, ids in found.items() if name}


def _shapes(passages: Sequence[Passage]) -> re.Pattern[str] | None:
    """`kb-12` stands for `kb-` and any number; ids without a letter or a digit have no shape of their own."""
    shapes = {
        re.sub(r"\d+", r"\\d+", re.escape(passage.id))
        for passage in passages
        if re.search(r"\d", passage.id) and re.search(r"[^\W\d_]", passage.id)
    }
    return re.compile("|".join(sorted(shapes))) if shapes else None


_LONGEST_NUMBER = 10
"""Digits from which on an id is no number that a marker could mean."""


def _is_run(ids: Sequence[str]) -> bool:
    """Whether the ids are the numbers 0…n-1 or 1…n, in any order."""
    if not all(id_.isdecimal() and len(id_) < _LONGEST_NUMBER for id_ in ids):
        return False
    numbers = sorted(map(int, ids))
    return numbers[0] <= 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _counts_from_zero(ids: Sequence[str]) -> bool:
    parts = [_NUMBERED.fullmatch(id_) for id_ in ids]
    numbered = [(part[1], int(part[2])) for part in parts if part]
    prefix = numbered[0][0] if numbered else ""
    return bool(ids) and numbered == [(prefix, place) for place in range(len(ids))]
