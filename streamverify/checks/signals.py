"""All checks of one claim: findings for people, numbers for the calibrated verdict.

Before: `index.py` holds the sources. After: the judge adds the signals to the model's score. A finding
says what was seen; none of them is a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from streamverify.checks import coverage
from streamverify.checks.aligned import (
    CLEAR,
    Place,
    PlacedNumber,
    Reader,
    contrast,
    date_places,
    number_places,
)
from streamverify.checks.bounding import bounding
from streamverify.checks.counted import alike, other_count, other_days
from streamverify.checks.dates import Date, DateKind, dates, same, spans
from streamverify.checks.derived import derivable, reachable
from streamverify.checks.former import former, of_then
from streamverify.checks.index import ALIGNED_WHOLE, Near, Source, SourceIndex, SourceView
from streamverify.checks.moved import CLEAR as MOVED
from streamverify.checks.moved import moved
from streamverify.checks.names import Name, missing, names
from streamverify.checks.negation import mismatch
from streamverify.checks.numbers import allowances, rival
from streamverify.checks.outcome import Checked, Signals
from streamverify.checks.phones import listed, phones
from streamverify.checks.quantities import quantities
from streamverify.checks.quantity import Quantity
from streamverify.checks.quotes import near_miss, occurs, quotations
from streamverify.checks.replaced import closest, other_unit
from streamverify.checks.scales import scaled
from streamverify.checks.supposed import conditional, exemplary, of_some_case
from streamverify.scorers.protocol import Claim
from streamverify.types import Finding, FindingKind, Span

_LOOKED_UP = 12
"""Values of a claim that are nowhere and whose place is looked for: each costs what the claim is long."""
READ_CLOSELY = 200_000
"""Characters of near sources above which word order and polarity are not compared: give windows."""


def check(claim: Claim, index: SourceIndex, *, near: Iterable[Near] = ()) -> Checked:
    """Hold a claim's numbers, dates, quotations, names and wording against the sources.

    Args:
        claim: as `claims.reader.read` gives it; nothing is found in borrowed characters (offset -1).
        index: the stream's sources.
        near: the windows that speak to the claim, best first; without any, all sources are near.

    Returns:
        Findings and signals. Equal arguments give equal results.
    """
    return _Check(claim, index, index.near(near)).run()


class _Check:
    """One run of the checks: the claim, the sources, and the findings so far."""

    def __init__(self, claim: Claim, index: SourceIndex, near: SourceView) -> None:
        self._claim = claim
        self._text = claim.text
        self._index = index
        self._all = index.everything
        self._near = near
        self._findings: list[Finding] = []
        self._against: list[Near] = []
        self._dialled = phones(self._text)
        self._nowhere: list[Quantity | Date] = []
        """Numbers and dates that no source holds or gives."""

    def run(self) -> Checked:
        found_dates = [date for date in dates(self._text) if self._own(date.start, date.end)]
        aside = sorted((*spans(found_dates), *(Span(one.start, one.end) for one in self._dialled)))
        numbers = [q for q in quantities(self._text, skip=aside) if not q.implied]
        signals: dict[str, float] = {}
        signals |= self._numbers(numbers, found_dates)
        signals |= self._dates(found_dates)
        signals |= self._aligned(numbers, found_dates)
        signals |= self._names()
        signals |= self._quotes()
        signals |= self._negation()
        closely = self._near.size <= READ_CLOSELY
        signals |= coverage.wording(self._text, self._near, self._all, closely=closely)
        signals |= self._versions()
        ordered = sorted(self._findings, key=lambda finding: (finding.start, finding.end, finding.kind))
        return Checked(tuple(ordered), Signals(**signals), tuple(self._against))

    def _own(self, start: int, end: int) -> bool:
        """Whether the range holds a character of the answer itself."""
        offsets = self._claim.offsets
        return not offsets or any(offset >= 0 for offset in offsets[start:end])

    def _find(self, kind: FindingKind, start: int, end: int, detail: str) -> None:
        offsets = self._claim.offsets
        if offsets:
            own = [offset for offset in offsets[start:end] if offset >= 0]
            if not own:
                return
            start, end = min(own), max(own) + 1
        self._findings.append(Finding(kind=kind, start=start, end=end, detail=detail))

    def _numbers(self, numbers: Sequence[Quantity], found_dates: Sequence[Date]) -> dict[str, float]:
        found = [quantity for quantity in numbers if self._own(quantity.start, quantity.end)]
        telling = [quantity for quantity in found if not quantity.weak]
        counts = [quantity for quantity in found if quantity.weak]
        nowhere = absent_near = rivals = units = 0.0
        for quantity in telling:
            if self._holds_number(self._near, quantity):
                days = other_days(quantity, [candidate for _, candidate in self._all.quantities])
                if days is not None and any(candidate is days for _, candidate in self._near.quantities):
                    nowhere, absent_near, units = nowhere + 1, absent_near + 1, units + 1
                    self._find(
                        FindingKind.NUMBER_MISMATCH,
                        quantity.start,
                        quantity.end,
                        self._contrast(quantity, days),
                    )
                continue
            others = [other for other in found if other is not quantity]
            derived = self._derivable(quantity, self._near, others, found_dates)
            other = rival(quantity, [candidate for _, candidate in self._near.quantities])
            absent_near += 0.5 if derived else 1.0
            rivals += other is not None and not derived
            if self._holds_number(self._all, quantity):
                continue
            if derived or self._derivable(quantity, self._all, others, found_dates):
                continue
            if of_some_case(self._text, quantity.start, quantity.end):
                continue
            nowhere += 1
            swapped = other_unit(quantity, [candidate for _, candidate in self._near.quantities])
            units += swapped is not None
            other = swapped or other
            if not exemplary(self._text, quantity.start):
                self._lost(quantity)
                self._find(
                    FindingKind.NUMBER_MISMATCH, quantity.start, quantity.end, self._contrast(quantity, other)
                )
        lost = sum(not self._near.quantity_pool.holds(quantity) for quantity in counts)
        self._counted(counts, found)
        return {
            "number_missing": _share(nowhere, telling),
            "number_missing_near": _share(absent_near, telling),
            "number_rival": _share(rivals, telling),
            "unit_replaced": _share(units, telling),
            "count_missing": _share(lost, counts),
        }

    def _counted(self, counts: Sequence[Quantity], found: Sequence[Quantity]) -> None:
        """Tell the small counts of which the sentence that says nearly the same has another."""
        if not counts or self._near.size > READ_CLOSELY:
            return
        beside = alike(self._text, self._near.statements)
        if beside is None:
            return
        source, statement = beside
        start = source.text.find(statement.text)
        theirs = [
            other
            for holder, other in self._near.quantities
            if holder is source and start <= other.start < start + len(statement.text)
        ]
        everywhere = [other for _, other in self._all.quantities]
        for quantity in counts:
            other = other_count(quantity, source.text, theirs, everywhere, found)
            if other is None or of_some_case(self._text, quantity.start, quantity.end):
                continue
            if not conditional(self._text, quantity.start):
                detail = self._instead(quantity, other, source)
                self._find(FindingKind.NUMBER_MISMATCH, quantity.start, quantity.end, detail)

    def _lost(self, value: Quantity | Date) -> None:
        if len(self._nowhere) < _LOOKED_UP:
            self._nowhere.append(value)

    def _holds_number(self, view: SourceView, quantity: Quantity) -> bool:
        """Whether sources hold a number, as it stands or in the scale that its text counts in."""
        return view.quantity_pool.holds(quantity) or any(
            text.quantity_pool.holds(scaled(quantity, scale)) for text in view.texts for scale in text.scales
        )

    def _derivable(
        self, quantity: Quantity, view: SourceView, others: Sequence[Quantity], when: Sequence[Date]
    ) -> bool:
        numbers = [*(found for _, found in view.quantities), *others]
        moments = [*(date for _, date in view.dates), *when]
        return derivable(quantity, numbers, moments)

    def _contrast(self, quantity: Quantity, other: Quantity | None) -> str:
        if other is None:
            return f"{quantity.text} is in no passage"
        source = next(source for source, candidate in self._near.quantities if candidate is other)
        return self._instead(quantity, other, source)

    def _instead(self, value: Quantity | Date, other: Quantity | Date | Place, source: Source) -> str:
        """What a finding says of a value in whose place a source has another."""
        if source.offset >= 0:
            self._against.append((source.passage, source.offset + other.start, source.offset + other.end))
        return f"{value.text} here, {other.text} in {self._index.name(source.passage)}"

    def _dates(self, found: Sequence[Date]) -> dict[str, float]:
        nowhere = absent_near = 0.0
        for date in found:
            if self._holds(self._near, date):
                continue
            absent_near += 1
            if self._holds(self._all, date) or self._bounding(date):
                continue
            nowhere += 1
            if not exemplary(self._text, date.start) and not self._derived(date):
                self._lost(date)
                self._find(FindingKind.DATE_MISMATCH, date.start, date.end, self._other_date(date))
        return {"date_missing": _share(nowhere, found), "date_missing_near": _share(absent_near, found)}

    def _bounding(self, date: Date) -> bool:
        """Whether a date only bounds those that the sources have."""
        return bounding(self._text, date, ((source.text, other) for source, other in self._all.dates))

    def _holds(self, view: SourceView, date: Date) -> bool:
        if view.date_pool.holds(date):
            return True
        if date.kind is not DateKind.YEAR:
            return False
        number = quantities(date.text)
        return bool(number) and view.quantity_pool.holds(number[0])

    def _derived(self, date: Date) -> bool:
        """Whether a date is another one plus a time span, both of which the sources name."""
        return any(
            reachable(date, [other for _, other in view.dates], [quantity for _, quantity in view.quantities])
            for view in (self._near, self._all)
        )

    def _other_date(self, date: Date) -> str:
        for source, other in self._near.dates:
            if other.kind is date.kind and source.passage >= 0:
                return self._instead(date, other, source)
        return f"{date.text} is in no passage"

    def _aligned(self, numbers: Sequence[Quantity], found_dates: Sequence[Date]) -> dict[str, float]:
        """Whether the values that the sources hold are held of what the claim speaks of."""
        if not numbers and not found_dates:
            return {}
        view = self._all if self._all.size <= ALIGNED_WHOLE else self._near
        if view.size > READ_CLOSELY:
            return {}
        reader = Reader(self._text)
        of_now = not of_then(self._text)
        widest = nearest = 0.0
        for value, (holders, rivals) in self._placed(numbers, found_dates, view):
            if any(value is lost for lost in self._nowhere) and not conditional(self._text, value.start):
                nearest = max(nearest, closest(value, rivals, reader, view.ground))
            present = [one for one in rivals if not (of_now and self._former(one, view))]
            seen = contrast(value, holders, present, reader, view.ground)
            if seen is None:
                continue
            widest = max(widest, seen.gap)
            small = isinstance(value, Quantity) and value.weak
            if seen.gap >= CLEAR and not small and not conditional(self._text, value.start):
                kind = FindingKind.DATE_MISMATCH if isinstance(value, Date) else FindingKind.NUMBER_MISMATCH
                detail = self._instead(value, seen.other, view.sources[seen.other.source])
                self._find(kind, value.start, value.end, detail)
        return {"value_unaligned": widest, "value_replaced": nearest}

    def _former(self, place: Place, view: SourceView) -> bool:
        return former(view.sources[place.source].text, place.start, place.end)

    def _placed(
        self, numbers: Sequence[Quantity], found_dates: Sequence[Date], view: SourceView
    ) -> Iterable[tuple[Quantity | Date, tuple[list[Place], list[Place]]]]:
        """The claim's own values with the places that hold them, if any, and those that hold rivals."""
        allowed = [(one.counts, allowances(one)) for one in numbers]

        @cache  # each value of the claim asks it of each source
        def named_number(other: PlacedNumber) -> bool:
            return any(other.within(one) and not (other.measured and counts) for counts, one in allowed)

        @cache
        def named_date(other: Date) -> bool:
            return any(same(one, other) for one in found_dates)

        for number in numbers:
            held = view.quantity_pool.holds(number) or any(number is lost for lost in self._nowhere)
            if held and self._own(number.start, number.end):
                yield number, number_places(number, named_number, view.number_places)
        for date in found_dates:
            yield date, date_places(date, named_date, view.date_places)

    def _names(self) -> dict[str, float]:
        found = [
            name for name in names(self._text) if self._own(name.start, name.end) and not self._opens(name)
        ]
        dialled = [one for one in self._dialled if self._own(one.start, one.end)]
        figures = [text.undivided for text in self._all.texts] if dialled else []
        lost = [one for one in dialled if not listed(one, self._all.phones, figures)]
        for one in lost:
            detail = f"{self._text[one.start : one.end]} is in no passage"
            self._find(FindingKind.NUMBER_MISMATCH, one.start, one.end, detail)
        nowhere = absent_near = len(lost)
        held: list[Name] = []
        for name in found:
            if not missing(name, self._near):
                held.append(name)
                continue
            absent_near += 1
            absent = missing(name, self._all)
            nowhere += bool(absent)
            if not absent:
                held.append(name)
            for start, end in absent:
                self._find(
                    FindingKind.NAME_NOT_FOUND, start, end, f"{self._text[start:end]} is in no passage"
                )
        told = (*found, *dialled)
        shares = {"name_missing": _share(nowhere, told), "name_missing_near": _share(absent_near, told)}
        return shares | self._moved(held)

    def _moved(self, held: Sequence[Name]) -> dict[str, float]:
        if self._near.size > READ_CLOSELY:
            return {}
        place = moved(self._text, held, self._near.statements)
        if place is None:
            return {}
        if place.share >= MOVED and not place.pronoun:
            source = next(one for one, sentence in self._near.statements if sentence is place.statement)
            detail = f"{place.name.text} here, {place.other} in {self._index.name(source.passage)}"
            self._find(FindingKind.NAME_NOT_FOUND, place.name.start, place.name.end, detail)
        return {"name_moved": place.weight}

    def _opens(self, name: Name) -> bool:
        """Whether the name is only the first word of a list item that its lead-in was put before."""
        offsets = self._claim.offsets
        return bool(offsets) and name.start > 0 and " " not in name.text and offsets[name.start - 1] < 0

    def _quotes(self) -> dict[str, float]:
        found = [
            quotation for quotation in quotations(self._text) if self._own(quotation.start, quotation.end)
        ]
        lost = 0
        for quotation in found:
            if occurs(quotation, self._all.plain):
                continue
            lost += 1
            miss = near_miss(quotation, self._all.plain)
            detail = "quoted words are in no passage"
            if miss is not None:
                source = self._all.sources[miss.source]
                detail = f"{miss.difference} ({self._index.name(source.passage)})"
            self._find(FindingKind.QUOTE_MISMATCH, quotation.start, quotation.end, detail)
        return {"quote_missing": _share(lost, found)}

    def _negation(self) -> dict[str, float]:
        if self._near.size > READ_CLOSELY:
            return {}
        turned = mismatch(self._text, [sentence for _, sentence in self._near.statements])
        if turned is None or not self._own(turned.start, turned.end):
            return {}
        source = next(source for source, sentence in self._near.statements if sentence is turned.theirs)
        detail = f"{self._index.name(source.passage)}: {_short(turned.theirs.text)}"
        self._find(FindingKind.NEGATION_MISMATCH, turned.start, turned.end, detail)
        if turned.opposite:
            return {"opposite": max(2 * turned.shared - 1, 0.0)}
        return {"negation_mismatch": turned.shared}

    def _versions(self) -> dict[str, float]:
        followed = self._index.versions.followed(self._text)
        if followed is None:
            return {"superseded": 0.0}
        newer, older = self._index.name(followed.newer), self._index.name(followed.older)
        detail = f"{older} says so; {newer}, which is later: {_short(followed.sentence)}"
        self._find(FindingKind.SUPERSEDED, 0, len(self._text), detail)
        return {"superseded": 1.0}


def _short(text: str) -> str:
    """A sentence for a finding, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= 120 else line[:119] + "…"


def _share(count: float, of: Sequence[object]) -> float:
    return count / len(of) if of else 0.0
