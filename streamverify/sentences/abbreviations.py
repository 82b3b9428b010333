"""Whether `word.` ends a sentence or only abbreviates a word.

Which words are abbreviations, and which words begin sentences, is sentencex's knowledge, per language. It is
asked about two words at a time, so that its answer cannot depend on anything further away; the lists here
only add what its lists lack and take back what they overdo in English.

Before: stops.py found a single `.` with a blank and a letter or figure behind it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sentencex

from streamverify.sentences.lookahead import Construct
from streamverify.text.calendar import DAYS, MONTHS, SHORT_DAYS, SHORT_MONTHS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamverify.sentences.lookahead import Lookahead

_WORD = re.compile(r"[^\W\d_]{1,40}(?:['’][^\W\d_]{1,40})?")
_NEUTRAL = "Xx"  # no sentence starter and no month in any language


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A name or a figure always follows these.
_NEVER_LAST = _words(
    "approx bzw cf dr drs e.g eg eq eqs esp fig figs i.e ie incl mme mr mrs ms mx prof ref refs vgl viz vs "
    "z.b"
)
# Not at the end of a sentence when a figure follows.
_NUMBERED = _words(
    "abs apt art arts avg bd ch chap chs col ed eq eqs est ex excl fig figs fn l ll max n nn no nos nr op p"
    " para paras pop pp pt ref refs rm rte sec secs sect ste subsec suppl tab tel temp v ver vol vols ziff"
)
_TITLES = _words("Dr Prof")
_DEGREES = _words("h.c ing iur jur med nat phil pol rer techn theol vet")
_DAYS = {day.capitalize() for day in SHORT_DAYS}
# English words and units that sentencex also lists as abbreviations (Maine, Illinois, Idaho).
_COMMON = _words(
    "arc ark art con dec del fed ill id ken la mar may me med miss mm mph ok ore que re rep res sens"
)
_COMMON_ANYHOW = _words("may no ok")  # in capitals as well
# Behind these a single letter is a label, not an initial.
_LABELLED = _words(
    "annex apartment appendix article block building case category class cohort column company exhibit "
    "factor figure form gate grade grant group hepatitis influenza item level line model option panel part "
    "patient phase plan point protein room scenario schedule section sector series site stage step subgroup "
    "table team tier type unit variant version vitamin war zone"
)
_UNITS = _words("A C F J K V d ft g h hr hrs in l lb lbs m min mo oz s sec t yd yr yrs")
# A figure behind these counts smaller units (`5 ft. 3 in.`).
_LARGER_UNITS = _words("d ft h hr hrs lb lbs yd yds yr yrs")
# Nor when a letter or a Roman numeral follows.
_LETTERED = _words("App Appx Art Bd Ch Chap Ex Pt Sec Sect Tab Vol Vols")
_NUMERAL = re.compile(r"[A-Z]|[IVXLC]+")
# What these close may be a sentence; a day, a month or a place's time tells that they only close a time.
_CLOSING = _words("a.m p.m etc")
_CARRIED_ON = {
    name.capitalize() for name in (*DAYS, *(f"{day}s" for day in DAYS), *SHORT_DAYS, *MONTHS, *SHORT_MONTHS)
} | _words(
    "Eastern Pacific Central Mountain Atlantic Alaska Hawaii Greenwich Zulu Standard Daylight Local Today"
    " Tonight Tomorrow Yesterday"
)
_OF_DAY = _words("a.m p.m")
_PLACE = r"[A-Z][a-z]{1,20}(?:-[A-Z][a-z]{1,20})?"
_NO_PLACE = (
    r"(?!(?:The|This|That|These|Our|Your|My|His|Her|Their|Its|Each|Every|Any|Some|No|Most|Next|Last|First|Full|Part"
    r"|Total|Average|Actual|Expected|Estimated|Free|Extra|Screen|Story|Quiet|Bed|Play|Game|Check|Lead|Start|End|Show"
    r"|Meal|Lunch|Dinner|Flight|Departure|Arrival|Delivery|Response|Run|Wait|Office|Transit|Prep|Sleep"
    r"|[A-Z][a-z]{1,20}ing)\b)"
)
# `10 a.m. London time on 3 May`, but not `9 a.m. Delivery time is an hour`.
_PLACES_TIME = Construct(
    whole=re.compile(
        rf"{_NO_PLACE}(?:{_PLACE} ){{1,3}}time(?=[.,;:!?)\]\r\n]|\Z"
        r"| (?:on|and|or|to|until|till|every|each|from|but|if|unless|daily|today|tomorrow)\b| [(–—-])"
    ),
    part=re.compile(
        rf"(?:{_PLACE} ){{0,3}}(?:[A-Z][a-z]{{0,20}}(?:-(?:[A-Z][a-z]{{0,20}})?)?|t(?:i(?:me?)?)?"
        r"|time [a-z]{0,8})?"
    ),
)
_STARTERS = _words("I I'd I'll I'm I've I’d I’ll I’m I’ve Overall")


@dataclass(frozen=True, slots=True)
class Abbreviations:
    """The abbreviations of one language.

    Attributes:
        language: ISO 639 code; sentencex falls back to a related language, in the end to English.
    """

    language: str

    def ends(
        self, view: Lookahead, words: Sequence[str], first: int, *, marked: bool, bracketed: bool
    ) -> bool:
        """Whether a sentence ends behind `words`, the last of which stands before a single `.`.

        Args:
            view: The answer so far.
            words: The words before the stop, stops inside them included (`U.S`, `e.g`); the last may be
                empty.
            first: Offset of the letter or figure that begins the next word.
            marked: A citation marker stands between the two.
            bracketed: The stop stands inside a bracket that closes behind it.

        Raises:
            Undecided: the next word decides, and has not come yet.
        """
        word, before = words[-1].lstrip("'’‘"), words[-2] if len(words) > 1 else ""
        char = view.char(first)
        figure = char.isdigit()
        degree = before.rstrip(".") in _TITLES and word in _DEGREES  # Dr. med. Weber
        numbered = word in _LETTERED and _is_numeral(view, first)
        if degree or numbered or self._never_last(word, figure=figure):
            return False
        if self._counted_on(word, before, figure=figure) and not marked:
            return False
        if self._whole(word, before) or (marked and word != "al"):
            return True
        ordinal = word.isdigit() and not self._english  # `3. Oktober`
        if not ordinal and self._splits(word, _NEUTRAL):
            return True
        if bracketed or not (figure or char.isalpha()):
            return False
        after = char if figure else view.text[first : view.skip(_WORD, first)]
        return self._splits_before(word, after) and not (
            self._english and word in _OF_DAY and view.match(_PLACES_TIME, first)
        )

    @property
    def _english(self) -> bool:
        return self.language.startswith("en")

    def _never_last(self, word: str, *, figure: bool) -> bool:
        key = word.casefold()
        initial = len(word) == 1 and word.isalpha() and not word.isascii()
        return key in _NEVER_LAST or (figure and (key in _NUMBERED or word in _DAYS)) or initial

    def _counted_on(self, word: str, before: str, *, figure: bool) -> bool:
        """Whether a smaller unit's figure follows a larger unit's (`5 ft. 3 in.`)."""
        return self._english and figure and word in _LARGER_UNITS and before[-1:].isdigit()

    def _whole(self, word: str, before: str) -> bool:
        """Whether it is no abbreviation at all where it stands."""
        if not word or not self._english:
            return not word
        label = len(word) == 1 and word.isupper() and before.casefold() in _LABELLED
        unit = ("/" in word or word in _UNITS) and before[-1:].isdigit()
        return label or unit or word.isdigit() or word in _COMMON or word.casefold() in _COMMON_ANYHOW

    def _splits_before(self, word: str, after: str) -> bool:
        """Whether `after` can begin a sentence behind the abbreviation `word.`."""
        if len(word) == 1 and word.isalpha() and word != "p":
            # sentencex never ends a sentence on some single letters, not even before “The”.
            return self._splits("etc", after)
        if self._english and word.casefold() in _CLOSING and after[:1].isupper() and not after.isupper():
            return after not in _CARRIED_ON  # in capitals it is a time zone: `EST`
        return after in _STARTERS or self._splits(word, after)

    def _splits(self, word: str, after: str) -> bool:
        head = f"x {word}."
        parts = sentencex.get_sentence_boundaries(self.language, f"{head} {after}")
        return any(len(head) <= part["end_index"] <= len(head) + 1 for part in parts)


def _is_numeral(view: Lookahead, at: int) -> bool:
    """Whether the word at `at` numbers something (`B`, `IV`, `3`)."""
    return view.char(at).isdigit() or bool(_NUMERAL.fullmatch(view.text[at : view.skip(_WORD, at)]))
