"""Reading text that is still arriving, so that a decision can never depend on where a piece ended.

Every rule of the segmenter reads the answer through a `Lookahead`. A view knows where the text received so
far ends, and whether anything can still follow. A rule that would need a character that has not come
yet raises `Undecided` instead of guessing, and is asked again when there is more. So whatever a rule
does decide, it decides from characters that no later piece can change.

Before: segmenter.py. After: blocks.py and stops.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re


class Undecided(Exception):  # noqa: N818  (it reports no error: it is how a rule asks for more text)
    """The text so far does not decide; ask again when more has come."""


@dataclass(slots=True, frozen=True)
class Lookahead:
    """The readable part of a text, `text[:end]`.

    Attributes:
        text: The text; nothing at or after `end` may be read.
        end: Offset of the first character that may not be read.
        closed: Whether rules may take `end` for the end of the answer.
        decided: How far a rule that reads a long run bit by bit got, by whatever key it chose; one for all
            views of a text that only grows, so that no rule reads the run again for every piece.
    """

    text: str
    end: int
    closed: bool
    decided: dict[object, int] = field(default_factory=dict, repr=False, compare=False)

    def char(self, at: int) -> str:
        """The character at `at`; empty at the end of the answer.

        Raises:
            Undecided: the character has not come yet.
        """
        if at < self.end:
            return self.text[at]
        if self.closed:
            return ""
        raise Undecided

    def skip(self, run: re.Pattern[str], at: int) -> int:
        """Where a run that starts at `at` ends; `at` itself when there is none.

        Args:
            run: A pattern whose matches can only grow with more text (`[…]*`, `(?:…)+`).
            at: Offset to match from.

        Raises:
            Undecided: the run may go on in text that has not come yet.
        """
        found = run.match(self.text, at, self.end)
        end = found.end() if found else at
        if end == self.end and not self.closed:
            raise Undecided
        return end

    def match(self, construct: Construct, at: int) -> re.Match[str] | None:
        """The construct at `at`, or None where it does not stand.

        Raises:
            Undecided: the text from `at` on is the beginning of one, or ends before it could begin.
        """
        if not self.closed and construct.part.fullmatch(self.text, at, self.end):
            raise Undecided
        return construct.whole.match(self.text, at, self.end)


@dataclass(slots=True, frozen=True)
class Construct:
    """A pattern, and a pattern for every text that more text could still turn into it.

    For any text that `part` does not match in full, appending to the text must not change
    what `whole` finds at its beginning. `part` may match too much (that only costs a wait),
    and it must match the empty text.
    """

    whole: re.Pattern[str]
    part: re.Pattern[str]
