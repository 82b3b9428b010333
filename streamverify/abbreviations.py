"""Whether `word.` ends a sentence or only abbreviates a word.

Which words are abbreviations, and which words begin sentences, is sentencex's knowledge, per language. It is
asked about two words at a time, so that its answer cannot depend on anything further away; the lists here
only add what its lists lack and take back what they overdo in English.

Before: stops.py found a single `.` with a blank and a letter or figure behind it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import sentencex

from streamverify.lookahead import View

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
    "abs app art bd ch chap chs col ed eq eqs ex fig figs l ll n nn no nos nr op p para paras pp pt ref refs "
    "sec sect tab v ver vol vols ziff"
)
# English words that sentencex also lists as abbreviations (Maine, Illinois, Idaho).
_COMMON = _words("art con dec del fed ill is id in ken la mar may me miss ok ore que re res rep")
_STARTERS = _words("I I'd I'll I'm I've I’d I’ll I’m I’ve Overall")


@dataclass(frozen=True, slots=True)
class Abbreviations:
    """The abbreviations of one language.

    Attributes:
        language: ISO 639 code; sentencex falls back to a related language, in the end to English.
    """

    language: str

    def ends(self, view: View, word: str, first: int, *, marked: bool, bracketed: bool) -> bool:
        """Whether a sentence ends with `word.`.

        Args:
            view: The answer so far.
            word: The last word before the stop, stops inside it included (`U.S`, `e.g`).
            first: Offset of the letter or figure that begins the next word.
            marked: A citation marker stands between the two.
            bracketed: The stop stands inside a bracket that closes behind it.

        Raises:
            Undecided: the next word decides, and has not come yet.
        """
        char = view.char(first)
        figure = char.isdigit()
        if self._never_last(word, figure=figure):
            return False
        if self._common(word) or (marked and word != "al"):
            return True
        ordinal = word.isdigit() and not self._english  # `3. Oktober`
        if not ordinal and self._splits(word, _NEUTRAL):
            return True
        if bracketed or not (figure or char.isalpha()):
            return False
        return self._splits_before(word, char if figure else view.text[first : view.skip(_WORD, first)])

    @property
    def _english(self) -> bool:
        return self.language.startswith("en")

    def _never_last(self, word: str, *, figure: bool) -> bool:
        key = word.casefold()
        initial = len(word) == 1 and word.isalpha() and not word.isascii()
        return key in _NEVER_LAST or (figure and key in _NUMBERED) or initial

    def _common(self, word: str) -> bool:
        """Whether it is a word that is hardly ever an abbreviation where no figure follows."""
        if not self._english:
            return not word
        return not word or word.isdigit() or word in _COMMON or word.casefold() == "no"

    def _splits_before(self, word: str, after: str) -> bool:
        """Whether `after` can begin a sentence behind the abbreviation `word.`."""
        if len(word) == 1 and word.isalpha() and word != "p":
            # sentencex never ends a sentence on some single letters, not even before “The”.
            return self._splits("etc", after)
        return after in _STARTERS or self._splits(word, after)

    def _splits(self, word: str, after: str) -> bool:
        head = f"x {word}."
        parts = sentencex.get_sentence_boundaries(self.language, f"{head} {after}")
        return any(len(head) <= part["end_index"] <= len(head) + 1 for part in parts)
