"""Where a full stop ends its sentence.

A stop is a run of terminators. Those of scripts with letter case need a blank behind them and something
that can begin a sentence; those of other scripts (`。`, `।`, `؟`) end a sentence as they stand. Every
decision looks at the last word before the stop and at most at the first word behind it.

Before: trailing.py read what touches the stop. After: abbreviations.py is asked about a single `.`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamverify.sentences.lookahead import Construct, Lookahead
from streamverify.sentences.trailing import QUOTES, RUNS_ON, STOPS, Stop

if TYPE_CHECKING:
    from streamverify.sentences.abbreviations import Abbreviations

_LEAD = re.compile(r"(?:[^\w\s]|_){0,8}")
_TAG = Construct(whole=re.compile(r"<[^<>\r\n]{1,160}>"), part=re.compile(r"(?:<[^<>\r\n]{0,160})?"))
_HAS_WORD = re.compile(r"[^\W_]")
_ENUMERATOR = re.compile(
    r"\W*(?:[0-9]{1,3}|[1-9][0-9]?(?:\.[1-9][0-9]?){1,4}|[A-Za-z]|[ivxIVX]{1,4})|.*(?::\s+\(?1|;\s+\(?[0-9]{1,2})",
    re.DOTALL,
)
_SCHEDULED = re.compile(
    r"\s*(?:[-*+•–—]|\d{1,2}[.)])\s+[*_]{0,2}"
    r"(?:\d{1,2}(?:[:.]\d\d)?\s?(?:[ap]\.?m\.?)?\s?[-–—]\s?)?\d{1,2}(?:[:.]\d\d)?\s?[ap]\.m"
)
"""A list item's time of day, before what happens then: `- 9 a.m. Registration`."""
_TOKEN = re.compile(r"\S{0,60}")
_IDENTIFIER = re.compile(r"[a-z][a-z0-9-]*(?:_\w|[A-Z]|\.\w\w|/\w|@\w|\(|://)")
_BREAKS = re.compile(r"[\s()\[\]{}<>\"“”«»„*_`~…,;:]+")
_LONGEST_WORD = 64

_MARK_UP = frozenset("`*_.@#$/~\\")  # code, emphasis and paths may begin a sentence in lower case
_DASHES = frozenset("—–-")
_QUOTATIVE = frozenset("とっを")  # `「…。」と言った`: what is said, not its end


@dataclass(frozen=True, slots=True)
class Stops:
    """Decides which stops end a sentence, for one language.

    Attributes:
        abbreviations: The words that a single `.` may shorten.
    """

    abbreviations: Abbreviations

    def ends_sentence(self, view: Lookahead, start: int, stop: Stop, follows: int, *, marked: bool) -> bool:
        """Whether `stop` ends the sentence that began at `start`.

        Args:
            view: The answer so far.
            start: Offset of the sentence.
            stop: The stop.
            follows: Offset of the first character behind the blanks and markers after the stop.
            marked: Whether citation markers stand behind the stop.

        Raises:
            Undecided: the next word decides, and has not come yet.
        """
        near = max(start, stop.start - _LONGEST_WORD)
        if not _HAS_WORD.search(view.text, near, stop.start) or _goes_on(view, stop, follows):
            return False
        if stop.hard:
            return True
        tag = view.match(_TAG, follows)
        first = view.skip(_LEAD, tag.end() if tag else follows)
        marked_up = not _MARK_UP.isdisjoint(view.text[follows:first])
        if view.char(first).islower() and not marked_up and not _is_name(view, first):
            return False
        return view.text[stop.start : stop.end] != "." or self._ends_word(
            view, start, stop, first, marked=marked
        )

    def _ends_word(self, view: Lookahead, start: int, stop: Stop, first: int, *, marked: bool) -> bool:
        """Whether a single `.` ends more than an abbreviation or the number of a list item."""
        head = view.text[max(start, stop.start - _LONGEST_WORD) : stop.start]
        if _ENUMERATOR.fullmatch(head) or (_SCHEDULED.fullmatch(head) and len(head) < _LONGEST_WORD):
            return False
        bracketed = not {")", "]"}.isdisjoint(view.text[stop.end : stop.tail])
        return self.abbreviations.ends(view, _BREAKS.split(head), first, marked=marked, bracketed=bracketed)


def _goes_on(view: Lookahead, stop: Stop, follows: int) -> bool:
    """Whether punctuation behind the stop shows that the sentence goes on."""
    char, closers = view.char(follows), view.text[stop.end : stop.tail]
    if char in STOPS:
        return char != "." or not view.char(follows + 1).isalnum()  # `. . .` and `。）。` but not `.NET`
    if char in RUNS_ON:
        return True
    if stop.hard:
        figures = follows == stop.end and char.isdigit() and view.text[stop.start - 1 : stop.start].isdigit()
        return figures or (closers[-1:] in ("」", "』") and char in _QUOTATIVE)
    return char in _DASHES and not QUOTES.isdisjoint(closers)  # `“It works.” — Smith`


def _is_name(view: Lookahead, at: int) -> bool:
    """Whether a word in lower case at `at` is a name (`config.yaml`, `iPhone`) that can begin a sentence."""
    return _IDENTIFIER.match(view.text[at : view.skip(_TOKEN, at)]) is not None
