"""Other names of what a claim names: a land's people, an office's short form, a feast's day.

Before: `names.py` does not find a word in the sources. After: it is found where one of its other names is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from streamverify.checks.date import Date
from streamverify.checks.feasts import FEASTS
from streamverify.checks.index import SourceView
from streamverify.checks.lands import ALSO_WORDS, LAND_CODES, LAND_NAMES, WORDY_CODES
from streamverify.checks.short_forms import SHORT_FORMS
from streamverify.text.calendar import MONTHS
from streamverify.text.words import fold, split_words, strip_possessive

_PHRASES = sorted({*FEASTS, *(name for name in (*LAND_NAMES, *SHORT_FORMS) if " " in name)})
_AND = re.compile(r"(?<![\w&])([A-Z])&([A-Z])(?![A-Z&])")
"""R&D, and T&Cs."""
_WRITTEN_AND = re.compile(r"(?<!\w)([A-Z])\w++ (?:and|&) ([A-Z])\w++$")
_MONTHS = [month[:3] for month in MONTHS]
_TO = r"(?:st|nd|rd|th)?\s?(?:[-–—/&]|to|and|until)\s?"
_DAYS = re.compile(
    rf"(?<!\w)(?:(?P<one>\d\d?){_TO}(?P<other>\d\d?)(?:st|nd|rd|th)? (?:of )?(?P<month>{'|'.join(_MONTHS)})"
    rf"|(?P<before>{'|'.join(_MONTHS)})[a-z]{{0,6}} (?P<first>\d\d?){_TO}(?P<last>\d\d?)(?!\w))"
)
_AGED = re.compile(r"(?:under|over|post|pre)-?(\d{1,3})(?:s|'s)?")


def has_other_name(word: str, view: SourceView) -> bool:
    """Whether the sources have another name of a word: "Poles" or (POL) for Poland, USA for America."""
    folded = strip_possessive(fold(word)).replace(".", "")
    code = word[: len(folded)]  # that is in capitals, as no name in the table is
    if any(_stands(other, view) for other in (*_others(folded), *LAND_NAMES.get(code, ()))):
        return True
    return any(_stands_as_code(code, view) for code in LAND_CODES.get(folded, ()))


def renamed(text: str, view: SourceView) -> Iterator[tuple[int, int]]:
    """Where a name holds words that the sources say otherwise: "Christmas Eve" on 24 December, "R&D"."""
    for match in _AND.finditer(text):
        if any(_long_form(*match.groups()).search(source) for source in view.folded):
            yield match.span()
    folded = fold(text)
    if len(folded) != len(text):
        return
    for phrase in _PHRASES:
        start = folded.find(phrase)
        end = start + len(phrase)
        if start < 0 and phrase.endswith(" day") and folded.endswith(before := phrase.removesuffix(" day")):
            start, end = len(folded) - len(before), len(folded)  # a day is a unit, and part of no name
        if start < 0 or folded[start - 1 : start].isalnum() or folded[end : end + 1].isalnum():
            continue
        if any(_holds_day(day, view) for day in FEASTS.get(phrase, ())) or has_other_name(phrase, view):
            yield start, end


def written_with_sign(text: str, view: SourceView) -> bool:
    """Whether the sources have two joined words by their letters: R&D for "Research and Development"."""
    written = _WRITTEN_AND.search(text)
    if written is None:
        return False
    one, other = map(fold, written.groups())
    return any(f"{one}&{other}" in source or f"{one} & {other}" in source for source in view.folded)


def of_an_age(identifier: str) -> str:
    """The figure of "under-18s"; empty where the token tells no age."""
    match = _AGED.fullmatch(fold(identifier))
    return match[1] if match is not None else ""


def _others(folded: str) -> Iterable[str]:
    forms = [folded, folded.removesuffix("s")]
    return [other for form in forms for table in (LAND_NAMES, SHORT_FORMS) for other in table.get(form, ())]


def _stands(form: str, view: SourceView) -> bool:
    """Whether the sources have a word, or words in a row, one or several of it."""
    if " " in form:
        return any(f" {form} " in text or f" {form}s " in text for text in view.plain)
    if "&" in form:
        return any(form in text for text in view.folded)
    if not view.mentions(form):
        return False
    return form.removesuffix("s") not in ALSO_WORDS or _is_written(form.capitalize(), view)


def _is_written(word: str, view: SourceView) -> bool:
    return any(word in source.text and word in split_words(source.text) for source in view.sources)


def _stands_as_code(code: str, view: SourceView) -> bool:
    if code in WORDY_CODES:
        return any(form in source.text for source in view.sources for form in (f"({code})", f"| {code} |"))
    return _is_written(code, view)


def _holds_day(day: Date, view: SourceView) -> bool:
    """Whether the sources have a day, by itself or in a range like "24–26 December"."""
    if view.date_pool.holds(day):
        return True
    month = _MONTHS[(day.month or 1) - 1]
    for match in (match for text in view.folded for match in _DAYS.finditer(text)):
        first, last = int(match["one"] or match["first"]), int(match["other"] or match["last"])
        if month in {match["month"], match["before"]} and first <= (day.day or 0) <= last:
            return True
    return False


@lru_cache(maxsize=64)
def _long_form(one: str, other: str) -> re.Pattern[str]:
    """Words with these initials, in folded text: "research and development"."""
    return re.compile(rf"(?<![\w-]){fold(one)}[\w-]++ (?:and|&) {fold(other)}[\w-]")
