"""Changes of one detail, which end a claim's support, and of spelling, which do not (laws d and e)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random

from laws_of_reading.cases import Pair, sample
from streamverify import Passage

# --- d: one detail changed ------------------------------------------------------------------------------


def _table(text: str) -> dict[str, str]:
    """`word: other word` pairs with commas between them."""
    return dict(pair.strip().split(": ") for pair in text.replace("\n", " ").split(","))


_MONTHS = "January February March April May June July August September October November December".split()
NUMBER = re.compile(r"(?<![\w.,/:-])\d+(?:[.,]\d+)*(?![\w/:-])")
_OTHER_UNITS = _table(
    """
metres: kilometres, kilometres: metres, km: m, days: weeks, weeks: days, hours: minutes, minutes:
hours, months: years, years: months, grams: kilograms, kilograms: grams, kg: g, euros: dollars,
litres: millilitres, percent: percentage points, crowns: pounds, tonnes: kilograms, dalers: euros
"""
)
_DIRECTION = _table(
    """
rose: fell, fell: rose, increased: decreased, decreased: increased, more: fewer, higher: lower,
lower: higher, before: after, after: before, above: below, below: above, longer: shorter, shorter:
longer, north: south, south: north, east: west, west: east, first: last, earlier: later, later:
earlier, larger: smaller, gained: lost, least: most
"""
)
_QUANTIFIER = _table(
    """
some: all, most: all, many: all, all: none of the, all of: none of, all the: none of the, both the:
neither of the, every: no, each: no, any: no, no: every, only:
not only, usually: always, often: never, both: neither of the, always: never, up to: at least, may:
must, can: cannot, sometimes: always
"""
)
_SAME_ANYWAY = re.compile(
    r"\bno (?:one|longer|more)\b|\b(?:may|can)(?= not\b)|\b(?:in all|at most)\b", re.IGNORECASE
)
"""Where another quantifier is no word there, or says the same: "may not" and "must not"."""
_BE = re.compile(r"\b(is|are|was|were|has|have|had|must|should|will|may|can|does|did)\b(?! not|n't| no )")


def _swap_word(text: str, table: dict[str, str], random: Random) -> str | None:
    words = re.compile(rf"\b(?:{'|'.join(sorted(table, key=len, reverse=True))})\b")
    kept = [m.span() for m in _SAME_ANYWAY.finditer(text)]
    found = [m for m in words.finditer(text) if not any(a <= m.start() < b for a, b in kept)]
    if not found:
        return None
    match = random.choice(found)
    return text[: match.start()] + table[match.group()] + text[match.end() :]


def changed_figure(text: str, _: Sequence[Passage], random: Random) -> str | None:
    found = [m for m in NUMBER.finditer(text) if not (len(m.group()) == 4 and m.group()[:2] in ("19", "20"))]
    if not found:
        return None
    match = random.choice(found)
    digits = match.group()
    place = random.choice([i for i, c in enumerate(digits) if c.isdigit()])
    others = [c for c in "123456789" if c != digits[place]]
    return (
        text[: match.start()]
        + digits[:place]
        + random.choice(others)
        + digits[place + 1 :]
        + text[match.end() :]
    )


def _date(text: str, _: Sequence[Passage], random: Random) -> str | None:
    found = [*re.finditer(r"\b(?:19|20)\d\d\b", text), *re.finditer(rf"\b(?:{'|'.join(_MONTHS)})\b", text)]
    if not found:
        return None
    match = random.choice(found)
    if match.group() in _MONTHS:
        new = random.choice([m for m in _MONTHS if m != match.group()])
    else:
        new = str(int(match.group()) + random.choice((-12, -3, -1, 1, 2, 5)))
    return text[: match.start()] + new + text[match.end() :]


def _unit(text: str, _: Sequence[Passage], random: Random) -> str | None:
    found = [m for m in re.finditer(r"(?<=\d )([a-z]+)\b", text) if m.group(1) in _OTHER_UNITS]
    if not found:
        return None
    match = random.choice(found)
    return text[: match.start()] + _OTHER_UNITS[match.group(1)] + text[match.end() :]


def _name(text: str, passages: Sequence[Passage], random: Random) -> str | None:
    own = list(re.finditer(r"(?<![.!?] )(?<!^)\b[A-Z][a-z]{3,}\b", text))
    written = " ".join(p.text for p in passages)
    near = {
        m.group()
        for p in passages
        for m in re.finditer(r"(?<![.!?:] )(?<!^)\b[A-Z][a-z]{3,}\b", p.text)
        if m.group() not in text and m.group() not in _MONTHS and not _no_name(m.group(), written)
    }
    if not own or not near:
        return None
    match = random.choice(own)
    if match.group() in _MONTHS or _no_name(match.group(), written):
        return None
    return text[: match.start()] + random.choice(sorted(near)) + text[match.end() :]


def _no_name(word: str, written: str) -> bool:
    """Whether a capitalised word is a weekday, or one that the passages write small elsewhere."""
    return re.fullmatch(r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?", word) is not None or bool(
        re.search(rf"\b{word.lower()}\b", written)
    )


def _negation(text: str, _: Sequence[Passage], random: Random) -> str | None:
    if found := re.search(r"\b(is|are|was|were|has|have|must|should|will|may|can|does|did) not ", text):
        return text[: found.end(1)] + " " + text[found.end() :]
    match = _BE.search(text)
    return text[: match.end()] + " not" + text[match.end() :] if match else None


CHANGES: dict[str, Callable[[str, Sequence[Passage], Random], str | None]] = {
    "figure": changed_figure,
    "date": _date,
    "unit": _unit,
    "name": _name,
    "direction": lambda t, _, r: _swap_word(t, _DIRECTION, r),
    "quantifier": lambda t, _, r: _swap_word(t, _QUANTIFIER, r),
    "negation": _negation,
}


def details(count: int, seed: int = 4) -> Iterator[Pair]:
    """A supported claim with one detail changed is supported no longer."""
    random = Random(seed)
    left = dict.fromkeys(CHANGES, -(-count // len(CHANGES)))
    for case in sorted(sample(10**6, seed, supported=True), key=lambda c: c.passages[0].id):
        kinds = [kind for kind, rest in left.items() if rest > 0]
        random.shuffle(kinds)
        for kind in kinds:
            changed = CHANGES[kind](case.claim, case.passages, random)
            if changed is not None and changed != case.claim:
                left[kind] -= 1
                yield Pair("d details", kind, case, replace(case, claim=changed), "not supported")
                break


# --- e: equal things ------------------------------------------------------------------------------------

_SPELLED = "two three four five six seven eight nine ten eleven twelve".split()
_LONG = {
    "km": "kilometres",
    "kg": "kilograms",
    "%": " percent",
    "°C": " degrees Celsius",
    "m²": "square metres",
}
_PER = {
    "hours": ("minutes", 60),
    "weeks": ("days", 7),
    "years": ("months", 12),
    "kilometres": ("metres", 1000),
    "kilograms": ("grams", 1000),
}


def _spelled(text: str, random: Random) -> str | None:
    found = list(re.finditer(r"(?<![\w.,/-])([2-9]|1[0-2])(?= [a-z])", text))
    if found:
        m = random.choice(found)
        return text[: m.start()] + _SPELLED[int(m.group()) - 2] + text[m.end() :]
    m = re.search(rf"(?<![\w-])(?:{'|'.join(_SPELLED)})\b(?!-| (?:thirds|quarters|fifths|tenths))", text)
    return text[: m.start()] + str(_SPELLED.index(m.group()) + 2) + text[m.end() :] if m else None


def _format(text: str, _: Random) -> str | None:
    if m := re.search(r"(?<!\d)(\d{1,3}),(\d{3})(?![\d,.])", text):
        return text[: m.start()] + m.group(1) + m.group(2) + text[m.end() :]
    if m := re.search(rf"\b(\d{{1,2}}) ({'|'.join(_MONTHS)}) (\d{{4}})\b", text):
        return f"{text[: m.start()]}{m.group(2)} {m.group(1)}, {m.group(3)}{text[m.end() :]}"
    if m := re.search(rf"\b(\d{{1,2}}) ({'|'.join(_MONTHS)})\b", text):
        return f"{text[: m.start()]}{m.group(2)} {m.group(1)}{text[m.end() :]}"
    return None


def _converted(text: str, _: Random) -> str | None:
    m = re.search(rf"(?<![\w.,-])(\d{{1,3}}) ({'|'.join(_PER)})\b", text)
    if not m:
        return None
    unit, factor = _PER[m.group(2)]
    return f"{text[: m.start()]}{int(m.group(1)) * factor:,} {unit}{text[m.end() :]}"


def _written_out(text: str, _: Random) -> str | None:
    for short, long in _LONG.items():
        if m := re.search(rf"(?<=\d)( ?){re.escape(short)}(?![\w])", text):
            return text[: m.start()] + (long if long.startswith(" ") else f" {long}") + text[m.end() :]
    return None


EQUAL: dict[str, Callable[[str, Random], str | None]] = {
    "spelled number": _spelled,
    "format": _format,
    "unit": _converted,
    "written out": _written_out,
}


def equal(count: int, seed: int = 5) -> Iterator[Pair]:
    """The same value in another unit, format or spelling keeps the label."""
    random = Random(seed)
    done = 0
    for case in sample(10**6, seed, supported=True):
        for kind, change in EQUAL.items():
            changed = change(case.claim, random)
            if changed is not None and changed != case.claim and done < count:
                done += 1
                yield Pair("e equal", kind, case, replace(case, claim=changed), "same")
