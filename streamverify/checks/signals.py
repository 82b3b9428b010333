"""All checks of one claim: findings for people, numbers for the calibrated verdict.

Before: `index.py` holds the sources. After: the judge adds the signals to the model's score. A finding
says what was seen; none of them is a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, cached_property

from streamverify.checks import coverage
from streamverify.checks.aligned import CLEAR, Place, Reader, contrast
from streamverify.checks.bounding import bounding
from streamverify.checks.compared import difference
from streamverify.checks.counted import alike, other_count, other_days
from streamverify.checks.counterpart import other_date, other_number
from streamverify.checks.currencies import foreign
from streamverify.checks.dates import Date, dates, same, spans
from streamverify.checks.derived import derivable, proportional, reachable
from streamverify.checks.exchanged import Exchange
from streamverify.checks.former import former, of_then
from streamverify.checks.index import ALIGNED_WHOLE, Near, SourceIndex, SourceView
from streamverify.checks.misquoted import misquoted
from streamverify.checks.names import Name, missing, names
from streamverify.checks.nearest import Nearest
from streamverify.checks.numbers import allowances, as_good, of_its_kind
from streamverify.checks.outcome import Checked, Signals
from streamverify.checks.phones import listed, phones
from streamverify.checks.places import PlacedNumber, date_places, number_places
from streamverify.checks.quantities import quantities
from streamverify.checks.quantity import Hedge, Quantity
from streamverify.checks.ranges import within_range
from streamverify.checks.replaced import closest, other_unit
from streamverify.checks.scales import scaled
from streamverify.checks.supposed import conditional, exemplary, of_some_case, supposed
from streamverify.checks.told import Told, on_one_line
from streamverify.checks.weekdays import outside
from streamverify.checks.years import stray
from streamverify.scorers.protocol import Claim
from streamverify.types import FindingKind, Span

_FIGURES = re.compile(r"\w++(?:[.,]\w++){0,6}")
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


def unheld(claim: Claim, index: SourceIndex) -> Signals:
    """What of a claim's numbers, dates and names no source holds or gives; every other signal is 0."""
    return _Check(claim, index, index.everything, telling=False).values()


class _Check:
    """One run of the checks: the claim, the sources, and the findings so far."""

    def __init__(self, claim: Claim, index: SourceIndex, near: SourceView, *, telling: bool = True) -> None:
        self._claim = claim
        self._telling = telling
        """Whether anybody is told what is found, and which value of the sources stands nearest to it."""
        self._text = claim.text
        self._index = index
        self._all = index.everything
        self._near = near
        self._told = Told(claim, index)
        self._dialled = phones(self._text)
        self._zoned: Sequence[Span] = ()
        """Times whose zones are compared with those of the sources, so that these are no names."""
        self._given: dict[tuple[int, str], bool] = {}
        """Which of its numbers follow from the sources' others, by view and text."""
        self._nowhere: list[Quantity | Date] = []  # no source holds or gives them
        self._held: Sequence[Name] = ()  # names that some source holds

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self._text)

    @property
    def _looking(self) -> Reader | None:
        return self._reader if self._telling and len(self._nowhere) < _LOOKED_UP else None

    def run(self) -> Checked:
        numbers, found_dates = self._read()
        signals: dict[str, float] = {}
        signals |= self._numbers(numbers, found_dates)
        signals |= self._dates(found_dates)
        signals |= self._aligned(numbers, found_dates)
        signals |= self._names()
        signals["quote_missing"] = misquoted(self._text, self._all, self._told, self._index)
        signals |= self._nearest()
        closely = self._near.size <= READ_CLOSELY
        signals |= coverage.wording(self._text, self._near, closely=closely)
        signals |= self._versions()
        return Checked(self._told.findings, Signals(**signals), self._told.against)

    def values(self) -> Signals:
        """The checks that look values up, and no other."""
        numbers, found_dates = self._read()
        told = self._numbers(numbers, found_dates) | self._dates(found_dates) | self._names()
        return Signals(**{name: told[name] for name in ("number_missing", "date_missing", "name_missing")})

    def _read(self) -> tuple[list[Quantity], list[Date]]:
        """The claim's own numbers and dates."""
        found_dates = [date for date in dates(self._text) if self._told.own(date.start, date.end)]
        aside = sorted((*spans(found_dates), *(Span(one.start, one.end) for one in self._dialled)))
        numbers = [q for q in quantities(self._text, skip=aside) if not q.implied]
        if any(date.zone for _, date in self._all.dates):
            self._zoned = spans([date for date in found_dates if date.zone])
        return numbers, found_dates

    def _numbers(self, numbers: Sequence[Quantity], found_dates: Sequence[Date]) -> dict[str, float]:
        found = [quantity for quantity in numbers if self._told.own(quantity.start, quantity.end)]
        telling = [quantity for quantity in found if not quantity.weak]
        counts = [quantity for quantity in found if quantity.weak]
        nowhere = beside = units = 0.0
        theirs = [candidate for _, candidate in self._near.quantities]
        for quantity in telling:
            # Money that the sources do not know is not theirs, even where the figure is.
            abroad = self._foreign(quantity)
            if not abroad and self._holds_number(self._near, quantity):
                days = other_days(quantity, (candidate for _, candidate in self._all.quantities))
                if days is not None and any(candidate is days for candidate in theirs):
                    nowhere, units = nowhere + 1, units + 1
                    other = other_number(quantity, self._near, self._looking, likely=days)
                    detail = self._told.beside(quantity, other)
                    self._told.find(FindingKind.NUMBER_MISMATCH, quantity.start, quantity.end, detail)
                continue
            others = [other for other in found if other is not quantity]
            derived = not abroad and self._derivable(quantity, self._near, others, found_dates)
            beside += not derived and bool(of_its_kind(quantity, theirs))
            if not abroad and self._holds_number(self._all, quantity):
                continue
            if derived or (not abroad and self._derivable(quantity, self._all, others, found_dates)):
                continue
            if of_some_case(self._text, quantity.start, quantity.end) or supposed(self._text, quantity.start):
                continue
            nowhere += 1
            swapped = other_unit(quantity, theirs)
            units += abroad or swapped is not None
            if not exemplary(self._text, quantity.start):
                self._lost(quantity)
                other = other_number(quantity, self._near, self._looking, likely=swapped)
                detail = self._told.beside(quantity, other)
                self._told.find(FindingKind.NUMBER_MISMATCH, quantity.start, quantity.end, detail)
        self._counted(counts, found)
        return {
            "number_missing": _share(nowhere, telling),
            "number_rival": _share(beside, telling),
            "unit_replaced": _share(units, telling),
        }

    def _foreign(self, quantity: Quantity) -> bool:
        numbers = (candidate for _, candidate in self._all.quantities)
        return foreign(quantity, self._all.currencies, numbers)

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
                detail = self._told.instead(quantity, other, source)
                self._told.find(FindingKind.NUMBER_MISMATCH, quantity.start, quantity.end, detail)

    def _lost(self, value: Quantity | Date) -> None:
        if len(self._nowhere) < _LOOKED_UP:
            self._nowhere.append(value)

    def _holds_number(self, view: SourceView, quantity: Quantity) -> bool:
        """Whether sources hold a number, as it stands or in the scale that its text counts in."""
        return view.quantity_pool.holds(quantity) or any(
            text.quantity_pool.holds(scaled(quantity, scale))
            for text, scales in zip(view.texts, view.scales, strict=True)
            for scale in scales
        )

    def _derivable(
        self, quantity: Quantity, view: SourceView, others: Sequence[Quantity], when: Sequence[Date]
    ) -> bool:
        asked = (id(view), quantity.text)  # a value said again leaves the same others
        if asked not in self._given:
            moments = [*(date for _, date in view.dates), *when]
            numbers = [*(found for _, found in view.quantities), *others]
            scales = {scale for found in view.scales for scale in found}
            self._given[asked] = (
                derivable(quantity, numbers, moments)
                or any(derivable(scaled(quantity, scale), numbers) for scale in scales)
                or proportional(quantity, others, numbers[: len(numbers) - len(others)])
            )
        return self._given[asked]

    def _dates(self, found: Sequence[Date]) -> dict[str, float]:
        nowhere = years = 0.0
        for date in found:
            if self._near.holds_date(date) or self._left_out(date):
                continue
            if self._all.holds_date(date) or self._bounding(date):
                continue
            nowhere += 1
            if not exemplary(self._text, date.start) and not self._derived(date):
                self._lost(date)
                detail = self._told.beside(date, other_date(date, self._near, self._looking))
                self._told.find(FindingKind.DATE_MISMATCH, date.start, date.end, detail)
                others = [*(other for _, other in self._all.dates), *found]
                dated = date.year in self._index.versions.years
                if not dated and stray(self._text, date, others, (text.text for text in self._all.texts)):
                    years = 1.0
        return {
            "date_missing": _share(nowhere, found),
            "year_missing": years,
        }

    def _bounding(self, date: Date) -> bool:
        """Whether a date only bounds those that the sources have, or lies between two that bound a range."""
        if bounding(self._text, date, ((source.text, other) for source, other in self._all.dates)):
            return True
        return within_range(date, ((text.text, text.dates) for text in self._all.texts))

    def _left_out(self, date: Date) -> bool:
        """Whether a day is said to be closed where the sources are open on others, or the other way round."""
        texts = zip(self._all.sources, self._all.texts, strict=True)
        return outside(self._text, date, ((source.text, text.dates) for source, text in texts))

    def _derived(self, date: Date) -> bool:
        """Whether a date is another one plus a time span, both of which the sources name."""
        return any(
            reachable(date, [other for _, other in view.dates], [quantity for _, quantity in view.quantities])
            for view in (self._near, self._all)
        )

    def _aligned(self, numbers: Sequence[Quantity], found_dates: Sequence[Date]) -> dict[str, float]:
        """Whether the values that the sources hold are held of what the claim speaks of."""
        if not numbers and not found_dates:
            return {}
        view = self._all if self._all.size <= ALIGNED_WHOLE else self._near
        if view.size > READ_CLOSELY:
            return {}
        reader = self._reader
        of_now = not of_then(self._text)
        widest = nearest = 0.0
        for value, (holders, rivals) in self._placed(numbers, found_dates, view):
            if any(value is lost for lost in self._nowhere) and not conditional(self._text, value.start):
                nearest = max(nearest, closest(value, rivals, reader, view.ground))
            present = [one for one in rivals if not (of_now and self._former(one, view))]
            seen = contrast(value, holders, present, reader, view.ground)
            if seen is None or (isinstance(value, Quantity) and self._compared(value, view)):
                continue
            widest = max(widest, seen.gap)
            small = isinstance(value, Quantity) and value.weak
            if seen.gap >= CLEAR and not small and not conditional(self._text, value.start):
                kind = FindingKind.DATE_MISMATCH if isinstance(value, Date) else FindingKind.NUMBER_MISMATCH
                detail = self._told.instead(value, seen.other, view.sources[seen.other.source])
                self._told.find(kind, value.start, value.end, detail)
        return {"value_unaligned": widest, "value_replaced": nearest}

    def _compared(self, value: Quantity, view: SourceView) -> bool:
        return difference(self._text, value, [number for _, number in view.quantities])

    def _former(self, place: Place, view: SourceView) -> bool:
        return former(view.sources[place.source].text, place.start, place.end)

    def _placed(
        self, numbers: Sequence[Quantity], found_dates: Sequence[Date], view: SourceView
    ) -> Iterable[tuple[Quantity | Date, tuple[list[Place], list[Place]]]]:
        """The claim's own values with the places that hold them, if any, and those that hold rivals."""
        alike = dict.fromkeys(replace(one, start=0, end=0) for one in numbers)  # one value may stand often
        allowed = [(one.counts, allowances(one)) for one in alike]

        @cache  # each value of the claim asks it of each source
        def named_number(other: PlacedNumber) -> bool:
            return any(other.within(one) and not (other.measured and counts) for counts, one in allowed)

        @cache
        def named_date(other: Date) -> bool:
            return any(same(one, other) for one in found_dates)

        places: dict[Quantity, tuple[list[Place], list[Place]]] = {}
        for number in numbers:
            held = view.quantity_pool.holds(number) or any(number is lost for lost in self._nowhere)
            if held and self._told.own(number.start, number.end):
                key = replace(number, start=0, end=0)
                if key not in places:
                    places[key] = number_places(number, named_number, view.number_places)
                yield number, places[key]
        for date in found_dates:
            yield date, date_places(date, named_date, view.date_places)

    def _names(self) -> dict[str, float]:
        found = [
            name
            for name in names(self._text)
            if self._told.own(name.start, name.end)
            and not self._opens(name)
            and not any(zoned.start <= name.start < zoned.end for zoned in self._zoned)
        ]
        dialled = [one for one in self._dialled if self._told.own(one.start, one.end)]
        figures = [text.undivided for text in self._all.texts] if dialled else []
        lost = [one for one in dialled if not listed(one, self._all.phones, figures)]
        for one in lost:
            detail = f"{self._text[one.start : one.end]} is in no passage"
            self._told.find(FindingKind.NUMBER_MISMATCH, one.start, one.end, detail)
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
                self._told.find(
                    FindingKind.NAME_NOT_FOUND, start, end, f"{self._text[start:end]} is in no passage"
                )
        told = (*found, *dialled)
        self._held = held
        return {"name_missing": _share(nowhere, told), "name_missing_near": _share(absent_near, told)}

    def _opens(self, name: Name) -> bool:
        """Whether the name is only the first word of a list item that its lead-in was put before."""
        offsets = self._claim.offsets
        return bool(offsets) and name.start > 0 and " " not in name.text and offsets[name.start - 1] < 0

    def _nearest(self) -> dict[str, float]:
        """What the one sentence that shares most words with the claim has otherwise."""
        if self._near.size > READ_CLOSELY:
            return {}
        nearest = Nearest(self._text, self._index, self._near, self._told)
        negated = nearest.negation(left_out=lambda: any(map(self._left_out, dates(self._text))))
        return nearest.moved(self._held) | negated | nearest.exchanged(follows=self._follows)

    def _follows(self, found: Exchange, sentence: str) -> bool:
        """Whether a number in the place of another is the same, worked out, or tells which case is meant."""
        held = [Span(date.start, date.end) for date in dates(self._text) if self._all.holds_date(date)]
        dialled = [Span(one.start, one.end) for one in self._dialled]
        if any(start <= found.start < end for start, end in (*dialled, *held)):
            return True
        if ":" in found.text:
            return False  # a time of day is no sum
        if former(sentence, found.there.start, found.there.end) and not of_then(self._text):
            return True
        numbers = quantities(self._text)
        own = [one for one in numbers if one.start < found.end and found.start < one.end]
        theirs = [] if found.text in _FIGURES.findall(sentence) else quantities(sentence)
        others = [one for one in numbers if one not in own]
        return any(
            conditional(self._text, one.start)
            or any(as_good(other, allowances(replace(one, hedge=Hedge.NONE))) for other in theirs)
            or not (self._holds_number(self._all, one) or not self._derivable(one, self._all, others, []))
            for one in own
        )

    def _versions(self) -> dict[str, float]:
        followed = self._index.versions.followed(self._text)
        if followed is None:
            return {"superseded": 0.0}
        newer, older = self._index.name(followed.newer), self._index.name(followed.older)
        detail = f"{older} says so; {newer}, which is later: {on_one_line(followed.sentence)}"
        self._told.find(FindingKind.SUPERSEDED, 0, len(self._text), detail)
        return {"superseded": 1.0}


def _share(count: float, of: Sequence[object]) -> float:
    return count / len(of) if of else 0.0
