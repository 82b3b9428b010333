"""What one step of arithmetic over the sources gives: sums, shares, growth, the time between two dates.

Before: `quantities.py` and `dates.py` read the values. After: `signals.py` accuses no number that follows.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from itertools import combinations, permutations
from math import isclose

from streamverify.checks.currencies import is_currency
from streamverify.checks.dates import Date, DateKind
from streamverify.checks.numbers import bounds
from streamverify.checks.quantity import NumberReading, Quantity

_ADDED_FROM = 80
"""Most numbers of which sums and differences are looked for: the work is quadratic."""
_DERIVED_FROM = 40
"""Most that are multiplied and divided, too: of many numbers something would always fit."""
_FIGURES = 12
"""Spoons of a recipe up to which nothing is worked out but a sum."""
_DAY = 86_400.0
_IN_A_YEAR = {("months", 1.0): 12.0, ("seconds", 7 * _DAY): 52.0}
_LAST_DAYS = 28
_NO_MEASURES = frozenset({"", "ratio", "times", "point"})
_LEAP = 2000
"""The year of days of which no year is known."""


def derivable(quantity: Quantity, sources: Sequence[Quantity], when: Sequence[Date] = ()) -> bool:
    """Whether one step of arithmetic over the sources gives this number.

    Sums of up to four numbers, differences, products and quotients of two, a share of one, the time
    between two dates. Products and quotients are looked for among 40 numbers, the rest among 80; of longer
    sources nothing is derived: something would always fit.
    """
    if len(sources) > _ADDED_FROM or len(when) > _ADDED_FROM:
        return False
    for reading in quantity.readings:
        low, high = _reach(quantity, reading)
        if reading.dimension == "spoons" and abs(reading.value) <= _FIGURES:
            results = _sums(sources, reading.dimension)  # by more steps any small figure is made of others
        else:
            results = [
                *_combined(sources, reading.dimension),
                *_unit_elsewhere(sources, reading),
                *_elapsed(when, reading.dimension),
            ]
        if any(low <= result <= high for result in results):
            return True
    return False


def proportional(quantity: Quantity, others: Sequence[Quantity], sources: Sequence[Quantity]) -> bool:
    """Whether another number of the claim is as many times one of the sources as this one is of another.

    Recipes and doses: 4 spoons for 300 grams, where the sources have 2 for 150.
    """
    if len(sources) > _DERIVED_FROM:
        return False
    grown = {dimension: _times(quantity, sources, dimension) for dimension in _measures(quantity)}
    for other in others:
        for dimension in _measures(other):
            for own, times in grown.items():
                also = _times(other, sources, dimension) if own != dimension else ()
                if any(time != 1 and isclose(time, one, rel_tol=1e-3) for time in times for one in also):
                    return True
    return False


def _measures(quantity: Quantity) -> set[str]:
    return {reading.dimension for reading in quantity.readings if reading.dimension not in _NO_MEASURES}


def _times(quantity: Quantity, sources: Sequence[Quantity], dimension: str) -> list[float]:
    """How many times each number of the sources of this kind it is."""
    own = _read_as(quantity, dimension)
    theirs = [read.base for one in sources if (read := _read_as(one, dimension)) is not None and read.base]
    return [own.base / base for base in theirs] if own is not None else []


def reachable(date: Date, when: Sequence[Date], sources: Sequence[Quantity]) -> bool:
    """Whether another date, later or earlier by a time span that the sources name, is this one."""
    if len(sources) > _ADDED_FROM or len(when) > _ADDED_FROM or date.kind is DateKind.DECADE:
        return False
    spans = {
        dimension: [r.base for q in sources for r in q.readings if r.dimension == dimension]
        for dimension in ("seconds", "months")
    }
    if date.minute is not None:
        minutes = [span / 60 for span in spans["seconds"]]
        distances = [abs(date.minute - other.minute) for other in when if other.minute is not None]
        return any(distance % 720 == span % 720 for distance in distances for span in minutes)
    if date.year is None:
        return False
    months = [*spans["months"], *(span / 2_629_800 for span in spans["seconds"])]
    return any(
        _lands(date, other, sign * span)
        for other in when
        if other.year is not None
        for span in months
        for sign in (1, -1)
    )


def _lands(date: Date, start: Date, months: float) -> bool:
    """Whether so many months from one date lead to the other, as finely as both are known."""
    assert start.year is not None
    assert date.year is not None
    if start.month is None:
        return date.month is None and months % 12 == 0 and start.year + months / 12 == date.year
    place = start.year * 12 + start.month - 1 + months
    if date.month is None:
        return place // 12 == date.year
    apart = date.year * 12 + date.month - 1 - place
    if start.day == 1 and (date.day or 0) >= _LAST_DAYS and -2 < apart <= -1:
        return True  # a term from the first of a month on ends with another month
    return abs(apart) < 1


def _reach(quantity: Quantity, reading: NumberReading) -> tuple[float, float]:
    """Smallest and largest result of arithmetic, in the dimension's base unit, that is this number."""
    low, high = (bound * reading.factor for bound in bounds(quantity, reading))
    # A result is rounded to the decimals that are written; to whole numbers it mostly comes out even.
    rounded = quantity.step * reading.factor / 2 if quantity.step < 1 else 0.0
    return low - abs(low) * 1e-4 - rounded, high + abs(high) * 1e-4 + rounded


def _read_as(quantity: Quantity, dimension: str) -> NumberReading | None:
    """The first reading of a number as one of this kind, if it is stated as such."""
    # Of units a second reading is as likely as the first: pounds, degrees.
    readings = quantity.readings[:1] if dimension in {"", "ratio"} else quantity.readings
    return next((r for r in readings if r.dimension == dimension and not quantity.implied), None)


def _all_read_as(quantity: Quantity, dimension: str) -> list[NumberReading]:
    """Likewise all of them, where one amount may be read twice: €489.000 in either way of writing."""
    first = _read_as(quantity, dimension)
    if first is None or not is_currency(dimension):
        return [] if first is None else [first]
    return [reading for reading in quantity.readings if reading.dimension == dimension]


def _sums(pool: Sequence[Quantity], dimension: str) -> list[float]:
    """What two numbers of a kind make together."""
    own = [read.base for q in pool if (read := _read_as(q, dimension)) is not None]
    return [sum(parts) for parts in combinations(own, 2)]


def _combined(pool: Sequence[Quantity], dimension: str) -> list[float]:
    own = [read.base for q in pool for read in _all_read_as(q, dimension)]
    results = [
        sum(parts)
        for count in (2, 3, 4)
        if len(own) <= 12 or count == 2
        for parts in combinations(own, count)
    ]
    results += [abs(first - second) for first, second in combinations(own, 2)]
    if dimension == "ratio":
        results += [1 - share for share in own]
    told = _periods(pool)
    results += [value * periods for value in own for periods in told]
    if len(pool) > _DERIVED_FROM:
        return results
    return [*results, *_multiplied(pool, dimension)]


def _multiplied(pool: Sequence[Quantity], dimension: str) -> list[float]:
    """Products and quotients of two numbers, shares and growth.

    A number said twice is one number: by itself it would give its own square, 1, and twelve years of 12
    months.
    """
    unique = list({quantity.readings: quantity for quantity in pool}.values())
    own = [(place, read.base) for place, q in enumerate(unique) for read in _all_read_as(q, dimension)]
    factors = {(place, q.readings[0].value) for place, q in enumerate(unique)}
    factors |= {
        (place, r.base) for place, q in enumerate(unique) for r in q.readings if r.dimension == "ratio"
    }
    pairs = [(value, by) for at, value in own for place, by in factors if by and place != at]
    results = [value * by for value, by in pairs] + [value / by for value, by in pairs]
    results += [value * (1 + sign * by) for value, by in pairs if 0 < by < 1 for sign in (1, -1)]
    if dimension in {"", "ratio", "times", "point"}:
        alike: dict[str, list[float]] = {}
        for quantity in unique:
            alike.setdefault(quantity.readings[0].dimension, []).append(quantity.readings[0].base)
        for values in alike.values():
            quotients = [first / second for first, second in permutations(values, 2) if second]
            results += quotients
            if dimension == "ratio":
                results += [abs(quotient - 1) for quotient in quotients]
            if dimension == "point":
                results += [abs(first - second) * 100 for first, second in combinations(values, 2)]
    return results


def _periods(pool: Sequence[Quantity]) -> list[float]:
    """How many months or weeks a year has, where something is told by the month or the week."""
    told = {(reading.dimension, reading.base) for quantity in pool for reading in quantity.readings}
    return [count for span, count in _IN_A_YEAR.items() if span in told]


def _unit_elsewhere(pool: Sequence[Quantity], reading: NumberReading) -> list[float]:
    """Differences of two numbers, one of which has its unit elsewhere: 2,940 tonnes, 3,310 the year before.

    In tables neither has one; of a number without a unit the sources may say it of either.
    """
    own: list[tuple[float, bool]] = []
    for quantity in pool:
        first = quantity.readings[0]
        if quantity.implied:
            continue
        if not first.dimension:
            own.append((first.value * reading.factor, True))
        elif not reading.dimension:
            own.append((first.value, False))
        elif reading.dimension == "point" and first.dimension == "ratio":
            own.append((first.base * 100, False))
        elif reading.dimension == "ratio" and first.dimension == "point":
            own.append((first.base / 100, True))
        elif (alike := _read_as(quantity, reading.dimension)) is not None:
            own.append((alike.base, False))
    return [abs(one - other) for (one, bare), (other, also) in combinations(own, 2) if bare or also]


def _days_between(when: Sequence[Date]) -> list[float]:
    """Seconds from one day to another, and with both days counted; a day without a year is of the other's."""
    days = [date for date in when if date.day is not None and date.month is not None]
    found: list[float] = []
    for one, other in combinations(days, 2):
        years = one.year or other.year or _LEAP, other.year or one.year or _LEAP
        try:
            first, second = (
                dt.date(year, date.month or 1, date.day or 1)
                for year, date in zip(years, (one, other), strict=True)
            )
        except ValueError:  # 30 February
            continue
        apart = abs((first - second).days)
        found += [apart * _DAY, (apart + 1) * _DAY]
    return found


def _elapsed(when: Sequence[Date], dimension: str) -> list[float]:
    dated = [date for date in when if date.year is not None and date.kind is not DateKind.DECADE]
    timed = [date.minute for date in when if date.minute is not None]
    if dimension == "seconds":
        minutes = [abs(first - second) * 60.0 for first, second in combinations(timed, 2)]
        overnight = [_DAY - span for span in minutes if span]
        return [*minutes, *overnight, *_days_between(when)]
    years = [abs((first.year or 0) - (second.year or 0)) for first, second in combinations(dated, 2)]
    if dimension == "months":
        return [*(year * 12.0 for year in years), *_months_between(dated)]
    return [float(year) for year in years] if not dimension else []


def _months_between(dated: Sequence[Date]) -> list[float]:
    """Months from one date to another; from the first of a month to the end of one, that month too."""
    found: list[float] = []
    for first, second in combinations(dated, 2):
        if first.month is None or second.month is None:
            continue
        years = (first.year or 0) - (second.year or 0)
        apart = float(abs(years * 12 + first.month - second.month))
        days = sorted((first.day or 0, second.day or 0))
        found += [apart, apart + 1] if days[0] == 1 and days[1] >= _LAST_DAYS else [apart]
    return found
