"""Patterns that look at no case, read quickly: `re.IGNORECASE` folds every character at every try.

ASCII text in small letters is as long as it was and holds no character that `re.IGNORECASE` would take for
another one, so that the same pattern without the flag finds the same places in it, in a third of the time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caseless:
    """A pattern of small letters. What it finds tells places; the text found may be in small letters."""

    small: re.Pattern[str]
    """For text in small letters."""
    any_case: re.Pattern[str]

    @classmethod
    def of(cls, pattern: str) -> Caseless:
        r"""A pattern whose letters are all small, but for those of classes such as `\\W`."""
        return cls(re.compile(pattern), re.compile(pattern, re.IGNORECASE))

    def search(self, text: str) -> bool:
        """Whether the text holds it."""
        found = self.small.search(text.lower()) if text.isascii() else self.any_case.search(text)
        return found is not None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Where it stands, in order."""
        return self.small.finditer(text.lower()) if text.isascii() else self.any_case.finditer(text)

    def blanked(self, text: str) -> str:
        """The text with blanks in its place; every other character stays where it was, or becomes small."""
        pattern, given = (self.small, text.lower()) if text.isascii() else (self.any_case, text)
        return pattern.sub(lambda match: " " * len(match[0]), given)
