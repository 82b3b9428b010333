"""Two rejected sentences beside each other leave one placeholder, not two.

Before: the policy decided each sentence by itself. After: `session.py` releases what is left.
"""

from __future__ import annotations

from collections.abc import Sequence

from streamverify.showing.releases import Release
from streamverify.types import Action, Sentence


class Placeholders:
    """Remembers how the released text ends; feed it the releases of every held sentence, in text order."""

    def __init__(self) -> None:
        """Nothing was released."""
        self._last: str | None = None
        """The placeholder that the text released so far ends with, blanks on its line aside."""

    def merged(self, sentence: Sentence, releases: Sequence[Release]) -> Sequence[Release]:
        """The releases, without a placeholder that would stand beside its like in the same paragraph.

        A sentence that is more than a placeholder, or has a list mark before it, keeps its own.
        """
        told = [release for release in releases if release.text.strip()]
        if not told or told[-1].action is not Action.REDACT:
            self._last = None
            return releases
        redacted = told[-1]
        repeated = len(told) == 1 and redacted.text == self._last and releases[0] is redacted
        after = "".join(release.text for release in releases if release.span.start >= redacted.span.end)
        self._last = None if "\n" in after else redacted.text
        if not repeated:
            return releases
        if "\n" in after:
            return [Release("", r.span, r.action) if r is redacted else r for r in releases]
        # The blank before it was released with the sentence before.
        return (Release("", sentence.span, Action.REDACT),)
