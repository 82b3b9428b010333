"""Numbers with their units, read out of a text: digits and words, magnitudes, money, shares, ranges.

Before: any text, read with `numerals.py`, `number_words.py`, `units.py` and `hedges.py`. After:
`numbers.py` compares what is found here. A number that can be read in two ways keeps both readings
("5m": metres or millions).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from streamverify.checks.hedges import hedged
from streamverify.checks.indefinite import indefinite
from streamverify.checks.joined import join, marked
from streamverify.checks.number_words import MAGNITUDES, NUMBER_WORDS, RUN, Spelled, spelled
from streamverify.checks.numerals import (
    VULGAR,
    decimal_point_before,
    in_name,
    mixed_with,
    numeral_at,
    power_of_ten,
    step_of,
    values_of,
)
from streamverify.checks.quantity import NumberReading, Quantity
from streamverify.checks.shared import spread
from streamverify.checks.units import (
    BETWEEN,
    BINARY,
    CODES_BEFORE,
    FIRST_WORDS,
    LONGEST,
    SYMBOLS_BEFORE,
    UNITS,
    Unit,
    unit_named,
)
from streamverify.text.caseless import Caseless
from streamverify.text.words import STOP_WORDS, alternatives, fold, listed, stem
from streamverify.types import Span

_RUN_OF_DIGITS = re.compile(r"\d+")
_VULGAR_RUN = re.compile(f"[{''.join(VULGAR)}]")
_MOST_WHOLES = 3
"""Digits of a whole number that a fraction goes with."""
_SHARE = re.compile(r"\s?/\s?(\d{1,2})(?![\d/.])")
_AGAIN = re.compile(r" \((?:\d{1,6}|[a-z-]{3,20})\)")
"""The same number once more, between it and its unit: thirty-six (36) months, 30 (thirty) days."""
_ORDINAL_END = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)
_MAGNITUDE = re.compile(r"(?:\s|-)?(hundred|thousand|million|billion|trillion|lakh|crore)\b", re.IGNORECASE)
_SHORT_MAGNITUDE = re.compile(r"\s?(k|K|m|M|mn|Mn|mm|bn|Bn|b|B|tn|T)\b(?![/²³])")
_SHORT_VALUES = {"k": 1e3, "m": 1e6, "mn": 1e6, "mm": 1e6, "bn": 1e9, "b": 1e9, "tn": 1e12, "t": 1e12}
_NEXT = re.compile(
    r"[\s\u00a0-]{0,2}([^\W\d_]+(?:\^?[23](?![\w.,-]*\d|\w))?[²³/]?[^\W\d_]*|[%％‰‱°℃℉€£$¢¥₹″′µ][A-Za-z]?|×(?!\s?\d))"
)
_OF_MANY = re.compile(
    r"(?:[\s-]+(?:of[\s-]+)?an?)?[\s-]+(thousand|million|billion|trillion)\b", re.IGNORECASE
)
"""Behind a share that is a number of its own: half a million."""
_OUT_OF = re.compile(
    r" (?:in|out of)(?: every)? (\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|twenty|hundred)\b"
)
"""Behind a number that is a share: one in three, 4 out of 5."""
_OF_A = re.compile(r"[\s-]an?\b|[\s-]of an?\b", re.IGNORECASE)
_DEGREES = re.compile(
    r"\s?([CF])(?![\w/+#&'’-])|\s(K)(?=\s*$|[.,;:)]|\s(?:and|or|to|in|at|for|while|when|is|was)\b)"
)
"""A bare letter that may be a scale of temperature, or a grade; K stands for thousands before a noun."""
_SYMBOLS_ALONE = frozenset("LAVWJs")
"""Units of one letter that name many things: behind a blank, units where nothing is named behind them."""
_ENDS = re.compile(
    r"\s*(?:$|[.,;:)!?](?!\w))|\s(?:and|or|to|in|at|for|from|while|when|is|was|are|of|per|on|with|by"
    r"|each|after|before|than|if)\b"
)
_LETTERS = {"C": ("celsius", True), "F": ("fahrenheit", False), "K": ("kelvin", True)}
_IMPLIED = {
    "hourly": (1.0, "hour"), "daily": (1.0, "day"), "nightly": (1.0, "day"), "weekly": (1.0, "week"),
    "fortnight": (2.0, "weeks"), "fortnightly": (2.0, "weeks"), "monthly": (1.0, "month"),
        "quarterly": (3.0, "months"),
    "yearly": (1.0, "year"), "annual": (1.0, "year"), "annually": (1.0, "year"), "biennial": (2.0, "years"),
    "both": (2.0, ""), "pair": (2.0, ""), "couple": (2.0, ""), "single": (1.0, ""), "sole": (1.0, ""),
        "dual": (2.0, ""),
    "bi": (2.0, ""), "trio": (3.0, ""), "duo": (2.0, ""), "quartet": (4.0, ""), "tenfold": (10.0, "times"),
    "decade": (1.0, "decade"), "century": (1.0, "century"), "noon": (12.0, ""), "midnight": (12.0, ""),
}  # fmt: skip
_SPANS = frozenset(
    listed("second minute hour day night week month quarter year metre meter kilometre mile litre")
)
_WORDED = Caseless.of(rf"\b(?:{alternatives({*NUMBER_WORDS, *_IMPLIED, *_SPANS})})\b")
_COUNTS = re.compile(r"[ \u00a0-](?:[a-z]{3,20}s|people|children|men|women)\b")
_EACH = re.compile(r"\b(?:an?|per|every|each|the (?:next|following|same)|one)[ -]$", re.IGNORECASE)
_IMPLIED_UNITS = {"quarter": (3.0, "months")}


def quantities(text: str, *, skip: Sequence[Span] = (), hedges: bool = True) -> tuple[Quantity, ...]:
    """Every number of a text in order, without overlap.

    Args:
        text: any text; the cost is linear in its length.
        skip: ranges in text order whose numbers are something else (dates, identifiers).
        hedges: whether to look for "about", "at least" and the like; of sources they are not asked.
    """
    found = [*_in_digits(text), *_in_words(text)]
    found.sort(key=lambda quantity: (quantity.start, quantity.implied, -quantity.end))
    kept: list[Quantity] = []
    end = 0
    skipped = iter((*skip, Span(len(text) + 1, len(text) + 1)))
    barrier = next(skipped)
    for quantity in found:
        while barrier.end <= quantity.start:
            barrier = next(skipped)
        if quantity.start >= end and quantity.end <= barrier.start:
            kept.append(quantity)
            end = quantity.end
    read = spread(text, join(text, kept))
    return tuple(hedged(text, quantity) for quantity in read) if hedges else tuple(read)


def _in_digits(text: str) -> list[Quantity]:
    found: list[Quantity] = []
    end = -1
    for run in _RUN_OF_DIGITS.finditer(text):
        if run.start() < end:
            continue
        digits, end = numeral_at(text, run.start())
        if digits:
            start = decimal_point_before(text, run.start())
            found.append(_numeral(text, start, text[start : run.start()] + digits))
            end = found[-1].end
    for match in _VULGAR_RUN.finditer(text):
        value = VULGAR[match[0]]
        found.append(_built(text, match.start(), match.end(), [value], share=True))
    return found


def _numeral(text: str, start: int, digits: str) -> Quantity:
    """The quantity with these digits; only implied where they belong to a name or a version."""
    end = start + len(digits)
    values = values_of(digits)
    prefix = _currency_before(text, start)
    if in_name(text, start, end, prefix):
        return _within_name(text, start, end, values)
    whole = marked(text, start, end, values[0])
    if whole is not None:
        return whole
    times = 1.0
    if (power := power_of_ten(text, end)) is not None:
        times, end = power
        values = [value * times for value in values]
    part = mixed_with(text, end) if digits.isdecimal() and len(digits) <= _MOST_WHOLES else None
    if part:
        values, end = [values[0] + part[0]], part[1]
    ordinal = _ORDINAL_END.match(text, end)
    if ordinal:
        end = ordinal.end()
        return Quantity(
            start, end, text[start:end], (NumberReading(values[0], values[0]),), weak=values[0] <= 12
        )
    share = _SHARE.match(text, end)
    if share and 0 < values[0] < float(share[1]) <= 12:
        return _built(text, start, share.end(), [values[0] / float(share[1])], share=True)
    quantity = _built(text, start, end, values, digits=digits, times=times, prefix=prefix)
    if quantity.end == end < len(text) and text[end].isalpha():
        # 3D, 4x4, 2FA: letters that are no unit make it a name
        return _within_name(text, start, end, values)
    return quantity


def _within_name(text: str, start: int, end: int, values: list[float]) -> Quantity:
    readings = tuple(NumberReading(value, value) for value in values)
    return Quantity(start, end, text[start:end], readings, weak=True, implied=True)


def _currency_before(text: str, start: int) -> str:
    before = text[max(start - 5, 0) : start]
    if before[-1:] and before[-1] in SYMBOLS_BEFORE:
        country = next((code for code in CODES_BEFORE if code[-1] == "$" and before.endswith(code)), "")
        first = len(before) - len(country)
        return country if country and not before[first - 1 : first].isalpha() else before[-1]
    bare = before.rstrip()
    if not (bare[-1:].isalpha() or bare[-1:] == "$") or not bare.endswith(CODES_BEFORE):
        return ""
    return next(code for code in CODES_BEFORE if bare.endswith(code))


def _built(
    text: str,
    start: int,
    end: int,
    values: list[float],
    *,
    digits: str = "",
    times: float = 1.0,
    prefix: str = "",
    share: bool = False,
    weak: bool = False,
) -> Quantity:
    """A quantity with the magnitude, unit and hedges that stand around it."""
    step = step_of(digits) * times if digits else 0.0
    readings: list[NumberReading] = []
    scale, after = 1.0, end
    magnitude = _MAGNITUDE.match(text, end)
    if magnitude and not share:
        scale, after = MAGNITUDES[magnitude[1].lower()], magnitude.end()
    elif digits and (magnitude := _SHORT_MAGNITUDE.match(text, end)):
        short = _SHORT_VALUES[magnitude[1].lower()]
        if prefix or magnitude[1] in {"k", "K", "mn", "Mn", "bn", "Bn", "tn"}:
            scale, after = short, magnitude.end()
        else:
            readings.extend(NumberReading(value * short, value * short) for value in values)
    of_a = (_OF_A if share else _AGAIN).match(text, after)
    unit, noun, last = _unit(text, of_a.end() if of_a else after)
    if prefix:
        unit = unit_named(prefix)
    elif unit is not None:
        after = last
    scaled = [value * scale for value in values]
    if unit is not None:
        own = [NumberReading.of(value, unit) for value in scaled]
        own += _other_readings(unit, scaled)
    elif share:
        own = [NumberReading(value, value, "ratio") for value in scaled]
    else:
        more, last = _without_unit(text, end, values, letters=bool(digits))
        own, after = [*(NumberReading(value, value) for value in scaled), *more], max(after, last)
        if magnitude and readings:
            after = max(after, magnitude.end())
    if share and unit is not None:
        own.append(NumberReading(scaled[0], scaled[0], "ratio"))
    readings = own + readings
    first = text.rfind(prefix, 0, start) if prefix else start
    small = unit is None and not share and scale == 1 and scaled[0] <= 12 and scaled[0] == int(scaled[0])
    return Quantity(
        first,
        after,
        text[first:after],
        tuple(readings),
        noun if unit is None else "",
        step=step * scale,
        rounded=scale > 1,
        weak=weak or small or (share and unit is None),
        counts=not (unit or small or weak) and _COUNTS.match(text, after) is not None,
    )


def _without_unit(
    text: str, end: int, values: Sequence[float], *, letters: bool
) -> tuple[list[NumberReading], int]:
    """What else numbers without a unit may be: degrees with a bare letter, shares; and where that ends."""
    letter = _DEGREES.match(text, end) if letters else None
    if letter:
        scale = _LETTERS[letter[0].strip()]
        return [NumberReading(value, value, *scale) for value in values], letter.end()
    part = _OUT_OF.match(text, end)
    if part:
        whole = _whole_of(part)
        return [
            NumberReading(value / whole, value / whole, "ratio") for value in values if 0 < value < whole
        ], end
    return [], end


def _whole_of(part: re.Match[str]) -> float:
    """What "in ten" behind a number makes it a share of."""
    return float(part[1]) if part[1].isdecimal() else spelled(part[1], 0, len(part[1]))[0].value


def _other_readings(unit: Unit, values: Sequence[float]) -> list[NumberReading]:
    """What else numbers with this unit may be: bytes counted by 1,024, cents of a dollar or as a decimal."""
    if unit.dimension == "bytes" and unit.factor in BINARY:
        binary = unit._replace(factor=BINARY[unit.factor])
        return [NumberReading.of(value, binary) for value in values]
    if unit == unit_named("cents"):
        parts = [NumberReading(value / 100, value / 100, "EUR") for value in values]
        dollars = unit._replace(dimension="USD")
        return [*(NumberReading.of(value, dollars) for value in values), *parts]
    return [NumberReading.of(value, UNITS[other]) for other in unit.others for value in values]


def _unit(text: str, start: int) -> tuple[Unit | None, str, int]:
    """The unit that follows a number, else the stem of the counted noun; and where the unit ends."""
    names: list[tuple[str, int]] = []
    position = start
    while len(names) < LONGEST + 1 and (match := _NEXT.match(text, position)):
        names.append((match[1].replace("^", ""), match.end()))
        position = match.end()
        if len(names) == 2 and not any(_begins_unit(name) for name, _ in names):
            break  # neither is the beginning of a unit: what follows is not asked for
    for skipped in range(2 if names and names[0][0].lower() in BETWEEN else 1):
        if skipped < len(names) and not _begins_unit(names[skipped][0]):
            continue
        for length in range(min(LONGEST, len(names) - skipped), 0, -1):
            part = names[skipped : skipped + length]
            unit = unit_named(" ".join(name for name, _ in part))
            if unit is not None and _stands_alone(text, start, part[0], len(part)):
                return unit, "", part[-1][1]
    for name, _ in names[:2]:
        folded = fold(name)
        if folded not in STOP_WORDS and folded not in BETWEEN:
            return None, stem(folded), start
    return None, "", start


def _begins_unit(name: str) -> bool:
    return name in FIRST_WORDS or name.lower() in FIRST_WORDS


def _stands_alone(text: str, start: int, first: tuple[str, int], length: int) -> bool:
    """Whether a one-letter name is a unit here: "5 m" is, "5 A levels" and "group 3 B" are not."""
    name, end = first
    if length > 1 or len(name) > 1 or not name.isalpha():
        return True
    directly = end - len(name) == start
    if not directly and name in _SYMBOLS_ALONE and _ENDS.match(text, end):
        return True
    return directly or (
        name.islower() and not text[end : end + 1].isalnum() and name not in {"a", "s", "d", "x"}
    )


def _in_words(text: str) -> list[Quantity]:
    """Numbers in words and what implies one, in one pass over the text."""
    found: list[Quantity] = []
    end = 0
    for word in _WORDED.finditer(text):
        if word.start() < end:
            continue
        name = word[0].lower()
        each = _EACH.search(text, max(word.start() - 15, 0), word.start()) if name in _SPANS else None
        # "a quarter of it" and "the second" are numbers, "every quarter" and "per second" are spans of time.
        number = name in NUMBER_WORDS and not (each and each[0][0] in "peEP")
        run = RUN.match(text, word.start()) if number else None
        if run is not None:
            found.extend(_spelled_out(text, run))
            end = max(run.end(), found[-1].end if found else 0)
        elif name in _IMPLIED:
            found.append(_implied(text, word.start(), word.end(), *_IMPLIED[name]))
        elif each:
            value, unit = _IMPLIED_UNITS.get(name, (1.0, name))
            found.append(_implied(text, each.start(), word.end(), value, unit))
    return found


def _spelled_out(text: str, run: re.Match[str]) -> list[Quantity]:
    found: list[Quantity] = []
    for number in (_of_many(text, one) for one in spelled(text, run.start(), run.end())):
        if found and number.start < found[-1].end:
            continue  # "three-second": the ordinal was the unit of the number before it
        if number.ordinal or number.times:
            readings = [NumberReading(number.value, number.value, "times" if number.times else "")]
            if number.ordinal and number.value >= 3:
                readings.append(NumberReading(1 / number.value, 1 / number.value, "ratio"))
            written = text[number.start : number.end]
            found.append(Quantity(number.start, number.end, written, tuple(readings), weak=True))
            continue
        quantity = _built(text, number.start, number.end, [number.value], share=number.fraction)
        if number.scaled:
            quantity = replace(quantity, step=step_of(f"{number.value:.0f}"), rounded=True)
        if indefinite(text, quantity.start, quantity.end):
            quantity = replace(quantity, weak=True, implied=True)
        found.append(quantity)
    return found


def _of_many(text: str, number: Spelled) -> Spelled:
    """A share with the magnitude it is a share of (half a million) as one number; any other as it is."""
    many = _OF_MANY.match(text, number.end) if number.fraction else None
    if many is None:
        return number
    value = number.value * MAGNITUDES[many[1].lower()]
    return number._replace(value=value, end=many.end(), fraction=False, scaled=True)


def _implied(text: str, start: int, end: int, value: float, name: str) -> Quantity:
    unit = UNITS.get(name)
    reading = NumberReading.of(value, unit) if unit else NumberReading(value, value)
    return Quantity(start, end, text[start:end], (reading,), weak=True, implied=True)
