"""The own detector: every kind's recogniser, and one list of items without overlap.

Before: `numbers.py`, `people.py`. After: whoever takes a detector.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence

from streamverify.errors import UsageError
from streamverify.pii import numbers, people
from streamverify.pii.items import BLOCK, KINDS, LONGEST, PiiItem, PiiKind, barriers, replaced

_RECOGNISERS: tuple[tuple[frozenset[str], Callable[[str], Iterator[PiiItem]]], ...] = (
    (frozenset({"email"}), numbers.emails),
    (frozenset({"iban"}), numbers.ibans),
    (frozenset({"card"}), numbers.cards),
    (frozenset({"national_id"}), numbers.national_ids),
    (frozenset({"passport", "driving_licence"}), people.papers),
    (frozenset({"birth_date"}), people.birth_dates),
    (frozenset({"phone"}), numbers.phones),
    (frozenset({"ip_address"}), numbers.hosts),
    (frozenset({"address"}), people.addresses),
    (frozenset({"person"}), people.persons),
)
"""Kinds and what finds them; where two overlap the first names the kind of both."""

_ROUNDS = 4
"""Searches of one text: what was found no longer stands between a label and the next item."""


class Recognisers:
    """Finds personal data by form, check digits and labels; no model, in time that grows like the text.

    An item is at most 240 characters long, and none goes on behind a line or a sentence.
    """

    def __init__(self, kinds: Collection[PiiKind] | None = None) -> None:
        """Nothing is read yet.

        Args:
            kinds: to look for; None for all.

        Raises:
            UsageError: there is no such kind. Caller.
        """
        wanted = frozenset(KINDS if kinds is None else kinds)
        if unknown := sorted(wanted - set(KINDS)):
            raise UsageError(f"there is no kind {unknown[0]!r}; choose from {', '.join(KINDS)}")
        self.kinds = wanted
        """What is looked for."""
        self._finders = tuple(finder for kinds_of, finder in _RECOGNISERS if kinds_of & wanted)

    @property
    def name(self) -> str:
        """`recognisers`."""
        return "recognisers"

    def __call__(self, text: str, /) -> Sequence[PiiItem]:
        """The items in a text, in its order, without overlap."""
        found: list[PiiItem] = []
        left = text
        for _ in range(_ROUNDS):
            more = self._search(left)
            if not more:
                break
            found += more
            left = replaced(left, more, lambda item: BLOCK * (item.end - item.start))
        return tuple(sorted(found, key=lambda item: item.start))

    def _search(self, text: str) -> list[PiiItem]:
        given = [
            item
            for finder in self._finders
            for item in finder(text)
            if item.kind in self.kinds and item.end - item.start <= LONGEST
        ]
        if not given:
            return []
        ends = barriers(text)
        order = {kind: rank for rank, kind in enumerate(KINDS)}
        merged: list[PiiItem] = []
        for item in sorted(_whole(given, ends), key=lambda item: (item.start, -item.end)):
            if merged and item.start < merged[-1].end:
                last = merged.pop()
                kind = min(last.kind, item.kind, key=order.__getitem__)
                item = PiiItem(kind, last.start, max(last.end, item.end))  # noqa: PLW2901 - grown to the union
            merged.append(item)
        return merged


def _whole(items: list[PiiItem], ends: list[int]) -> Iterator[PiiItem]:
    """Those that lie within one sentence of one line."""
    for item in items:
        if bisect_right(ends, item.start) == bisect_right(ends, item.end - 1):
            yield item
