"""A claim's numbers, dates and acronyms written as its sources write them: "2 weeks" for their "14 days".

Before: `index.py` holds the sources, `acronyms.py` finds names in their other form. After: the claim is put
to the model so. Equal values are equal whatever their form, and a reading network does not know it of every
form; here it is known. A value is only rewritten where the sources hold it, and nowhere in the claim's form:
exactly it, or, in another unit or after "about", one value alone that `numbers.py` takes for as good; also
what differs by blanks alone (5MB for 5 MB), or by the sign of comparison (≥3 for >= 3). What the claim says
stays what it said: a wrong value has no equal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from streamverify._lazy import cached_property
from streamverify.checks.acronyms import in_other_forms
from streamverify.checks.dates import Date, DateKind, dates, spans
from streamverify.checks.index import Source, SourceView
from streamverify.checks.numbers import allowances, as_good
from streamverify.checks.quantities import quantities
from streamverify.checks.quantity import Hedge, Quantity
from streamverify.scorers.protocol import Claim
from streamverify.text.words import content_stems
from streamverify.types import Span

Key: TypeAlias = tuple[str, ...]
"""What two equal values have in common."""

_AROUND = 90
"""Characters before and behind a value that tell whether a source speaks of the same thing."""
_COMPARED = 12
"""Places of one form at most whose surroundings are compared with the claim's: the first ones."""
_FORM = re.compile(r"[\W_]+|s\b")
_BLANKS = re.compile(r"\s+")
_COMPARED_WITH = re.compile(r"(?:(?P<least>>=|≥)|<=|≤)\s?(?P<figure>\d{1,9}(?:\.\d{1,9}){0,3})(?![\w.]?\d)")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)|\w*(?:first|second|third|[a-z]th)s?", re.IGNORECASE)
_ARTICLE = re.compile(r"\b[Aa] $")
_COLLECTIVE = re.compile(r"dozen|quarter|half|third|hundred|thousand|million|billion|couple", re.IGNORECASE)
"""Numbers that have an article of their own: a dozen."""


class _Written(NamedTuple):
    """A value in a text."""

    start: int
    end: int
    text: str
    keys: tuple[Key, ...]
    quantity: Quantity | None = None
    """The number it is, where it has a unit."""


class _Place(NamedTuple):
    """Where a source holds a value."""

    source: Source
    start: int
    end: int
    text: str

    @property
    def surroundings(self) -> set[str]:
        """What the source speaks of there."""
        return _surroundings(self.source.text, self.start, self.end)


class Spelling:
    """The values of some sources by what they are worth; read when a claim with values first asks."""

    def __init__(self, view: SourceView) -> None:
        self._view = view

    @cached_property
    def _forms(self) -> dict[Key, dict[str, list[_Place]]]:
        """For each worth the forms it has, and where the first ones of each stand."""
        found: dict[Key, dict[str, list[_Place]]] = {}
        read = [(source, _of_date(date)) for source, date in self._view.dates]
        read += [(source, _of_quantity(quantity)) for source, quantity in self._view.quantities]
        for source, value in read:
            if value is None or source.passage < 0:  # the question is no source of forms
                continue
            for key in value.keys:
                places = found.setdefault(key, {}).setdefault(_form_of(value.text), [])
                if len(places) < _COMPARED:
                    places.append(_Place(source, value.start, value.end, value.text))
        return found

    def put(self, claim: Claim) -> Claim:
        """The claim with every value that the sources hold in other forms alone in one of theirs.

        Each character put in has the offset of one of those it stands for.
        """
        parts: list[str] = []
        offsets: list[int] = []
        wholes: list[Span] = []
        end = length = 0
        for start, stop, form in self._changes(claim.text):
            if start < end:
                continue
            old = claim.offsets[start:stop]
            parts += [claim.text[end:start], form]
            length += start - end + len(form)
            wholes.append(Span(length - len(form), length))
            offsets += claim.offsets[end:start]
            offsets += [old[at * len(old) // len(form)] for at in range(len(form))] if old else []
            end = stop
        if not end:
            return claim
        text = "".join([*parts, claim.text[end:]])
        return replace(claim, text=text, offsets=(*offsets, *claim.offsets[end:]), wholes=tuple(wholes))

    def _changes(self, text: str) -> list[tuple[int, int, str]]:
        """What is written otherwise, in order: where it stands, and what takes its place."""
        forms = ((written, self._form(text, written)) for written in _values(text))
        found = [_fitted(text, written, form) for written, form in forms if form is not None]
        return sorted([*found, *self._signs(text), *in_other_forms(text, self._view)])

    def _signs(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Signs of comparison before a figure, as the passages write them before it: >= 3 for ≥3."""
        for sign in _COMPARED_WITH.finditer(text):
            bound = sign["least"] is None, sign["figure"]
            if (form := self._bounds.get(bound)) is not None and sign[0] not in form:
                yield sign.start(), sign.end(), form[0]

    @cached_property
    def _bounds(self) -> dict[tuple[bool, str], list[str]]:
        """For each sign of comparison with a figure how the passages write it, the first way first."""
        found: dict[tuple[bool, str], list[str]] = {}
        for source in self._view.sources:
            for sign in _COMPARED_WITH.finditer(source.text) if source.passage >= 0 else ():
                found.setdefault((sign["least"] is None, sign["figure"]), []).append(sign[0])
        return found

    def _form(self, text: str, written: _Written) -> str | None:
        """How the likeliest of the sources writes the value; None where one writes it as the claim does."""
        forms: dict[str, list[_Place]] = {}
        for key in written.keys:
            forms |= self._forms.get(key, {})
        if not forms and written.quantity is not None:
            return self._converted(written.quantity)
        if not forms:
            return None
        if (alike := forms.get(_form_of(written.text))) is not None:
            return _divided(written.text, alike)
        places = [place for of_one in forms.values() for place in of_one]
        if len(forms) == 1:
            return places[0].text
        about = _surroundings(text, written.start, written.end)
        return max(places, key=lambda place: len(about & place.surroundings)).text

    @cached_property
    def _measures(self) -> tuple[Quantity, ...]:
        """The passages' numbers with units, each form of each once."""
        found = {
            (_form_of(quantity.text), quantity.readings): quantity
            for source, quantity in self._view.quantities
            if source.passage >= 0 and not quantity.implied and _measured(quantity)
        }
        return tuple(found.values())

    def _converted(self, quantity: Quantity) -> str | None:
        """How the passages write the one value that is as good as a converted or rounded one."""
        if quantity.hedge not in {Hedge.NONE, Hedge.ABOUT}:
            return None
        own, allowed = quantity.readings[0], allowances(quantity)
        fits = {
            other.text
            for other in self._measures
            if as_good(other, allowed)
            and (
                quantity.hedge is Hedge.ABOUT
                or (own.dimension, own.factor) != (other.readings[0].dimension, other.readings[0].factor)
            )
        }
        return fits.pop() if len(fits) == 1 else None


def _divided(text: str, alike: Sequence[_Place]) -> str | None:
    """How the sources write a form, where it is the claim's but for blanks alone, and nowhere just so."""
    forms = [place.text for place in alike]
    bare = _BLANKS.sub("", text)
    return None if text in forms else next((form for form in forms if _BLANKS.sub("", form) == bare), None)


def _fitted(text: str, written: _Written, form: str) -> tuple[int, int, str]:
    """What of the claim makes way for a form, and as much of it as fits there.

    "A dozen" gives its article to "12"; the "of" behind a share and the stop behind "p.m." stay the claim's.
    """
    start, end = written.start, written.end
    article = _ARTICLE.search(text, max(start - 3, 0), start)
    if article is not None and form[0].isdigit() and _COLLECTIVE.match(written.text):
        start = article.start()
    if form.endswith(" of") and text.startswith(" of ", end):
        form = form.removesuffix(" of")
    if end == len(text) and written.text.endswith(".") and not form.endswith("."):
        end -= 1
    return start, end, form


def _values(text: str) -> Iterator[_Written]:
    """The claim's dates and numbers that are told by their worth, in order."""
    found = dates(text)
    numbers = quantities(text, skip=spans(found))
    written = [*map(_of_date, found), *map(_of_quantity, numbers)]
    yield from sorted((value for value in written if value is not None), key=lambda value: value.start)


def _of_date(date: Date) -> _Written | None:
    """A date by its fields, in each way it may be read."""
    if date.kind in {DateKind.WEEKDAY, DateKind.DECADE} or date.weekday is not None:
        return None
    days = [(date.month, date.day), (date.day, date.month)][: 1 + date.swapped]
    minutes = [date.minute]
    if date.minute is not None and date.half_day:
        minutes.append((date.minute + 720) % 1440)
    keys = [
        tuple(map(str, ("date", date.year, month, day, date.quarter, minute)))
        for month, day in days
        for minute in minutes
    ]
    return _Written(date.start, date.end, date.text, tuple(keys))


def _of_quantity(quantity: Quantity) -> _Written | None:
    """A number by its worth in each unit it may have."""
    if quantity.implied or _ORDINAL.fullmatch(quantity.text):
        return None
    keys: list[Key] = []
    # "One" of "one in four" is a share only with what stands behind it.
    for reading in quantity.readings if _measured(quantity) else quantity.readings[:1]:
        if reading.dimension:
            keys.append((reading.dimension, f"{reading.base:.9g}"))
        elif reading.base != 1:  # "one" is mostly a pronoun, 1 the number of a list's item
            keys.append(("", f"{reading.base:.9g}"))
    if not keys:
        return None
    known = tuple(dict.fromkeys(keys))
    measure = quantity if _measured(quantity) else None
    return _Written(quantity.start, quantity.end, quantity.text, known, measure)


def _measured(quantity: Quantity) -> bool:
    return bool(quantity.readings[0].dimension)


def _form_of(text: str) -> str:
    """What two forms differ by when they differ by more than blanks, hyphens, capitals and a plural."""
    return _FORM.sub("", text.casefold())


def _surroundings(text: str, start: int, end: int) -> set[str]:
    """Stems of the content words around a value."""
    return set(content_stems(f"{text[max(start - _AROUND, 0) : start]} {text[end : end + _AROUND]}"))
