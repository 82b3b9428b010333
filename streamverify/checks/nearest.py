"""What tells a claim from the one sentence of the sources that shares most words with it.

Before: `signals.py` has found the claim's names, numbers and dates in the sources. After: it adds what is
told here to the signals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from streamverify.checks.exchanged import Exchange, exchanged, says
from streamverify.checks.index import SourceIndex, SourceView
from streamverify.checks.moved import CLEAR, moved
from streamverify.checks.names import Name
from streamverify.checks.negation import Statement, mismatch, nearest_to
from streamverify.checks.same_times import same_time
from streamverify.checks.told import Told, on_one_line
from streamverify.types import FindingKind

_KINDS = {
    "number": FindingKind.NUMBER_MISMATCH,
    "ordinal": FindingKind.NUMBER_MISMATCH,
    "unit": FindingKind.NUMBER_MISMATCH,
    "weekday": FindingKind.DATE_MISMATCH,
    "month": FindingKind.DATE_MISMATCH,
    "name": FindingKind.NAME_NOT_FOUND,
}


class Nearest:
    """A claim beside the sentence nearest to it."""

    def __init__(self, text: str, index: SourceIndex, near: SourceView, told: Told) -> None:
        self._text, self._index, self._near, self._told = text, index, near, told
        self._sentences = [sentence for _, sentence in near.statements]

    def moved(self, held: Sequence[Name]) -> dict[str, float]:
        """A name that the sources hold, in the place of another.

        Args:
            held: the claim's names that the sources hold.
        """
        place = moved(self._text, held, self._near.statements)
        if place is None:
            return {}
        if place.share >= CLEAR and not place.pronoun:
            detail = f"{place.name.text} here, {place.other} in {self._holder(place.statement)}"
            self._told.find(FindingKind.NAME_NOT_FOUND, place.name.start, place.name.end, detail)
        return {"name_moved": place.weight}

    def negation(self, *, left_out: Callable[[], bool]) -> dict[str, float]:
        """Something negated in one of the two alone, or the opposite of a word.

        Args:
            left_out: whether the claim says of a day that it is left out, which is no negation.
        """
        turned = mismatch(self._text, self._sentences)
        if turned is None or not self._told.own(turned.start, turned.end):
            return {}
        if not turned.opposite and left_out():
            return {}
        detail = f"{self._holder(turned.theirs)}: {on_one_line(turned.theirs.text)}"
        self._told.find(FindingKind.NEGATION_MISMATCH, turned.start, turned.end, detail)
        if turned.opposite:
            return {"opposite": max(2 * turned.shared - 1, 0.0)}
        return {"negation_mismatch": turned.shared, "verb_denied": float(turned.denied)}

    def exchanged(self, *, follows: Callable[[Exchange, str], bool]) -> dict[str, float]:
        """Something else between the same words.

        Args:
            follows: whether a value says the same as another of this sentence, is worked out, or supposed.
        """
        own = Statement(self._text)
        sentences = self._sentences
        place = nearest_to(own, sentences)
        if place is None:
            return {}
        nearest = sentences[place]
        found = exchanged(self._text, nearest)
        if found is None or not self._told.own(found.start, found.end):
            return {}
        timed = same_time(self._text, found, nearest.text)
        if timed or self._as_near(found, own, nearest) or follows(found, nearest.text):
            return {}
        if not self._told.at(found.start, found.end):
            detail = f"{found.text} here, {found.other} in {self._holder(nearest)}"
            self._told.find(_KINDS[found.kind], found.start, found.end, detail)
        return {"exchanged": found.share}

    def _as_near(self, found: Exchange, own: Statement, nearest: Statement) -> bool:
        """Whether another sentence shares as many words with the claim, and has its value."""
        shared = len(own.content & nearest.content)
        others = [one for one in self._sentences if one is not nearest]
        return any(len(own.content & one.content) == shared and says(one.text, found) for one in others)

    def _holder(self, statement: Statement) -> str:
        """What the passage of a sentence is called."""
        source = next(source for source, sentence in self._near.statements if sentence is statement)
        return self._index.name(source.passage)
