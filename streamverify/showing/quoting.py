"""What verdicts quote, as somebody may see it who may not see all of it; every character keeps its place.

Before: a filter over texts, and the passages that are quoted. After: `streaming/session.py` while an answer
streams, `pii/reports.py` behind it.

A quotation is shown to the filter with what stands around it, which may say what a part of it is. A finding
may repeat a word of what was hidden; there it is hidden too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from streamverify.types import Evidence, Finding, Passage, Replacement, Verdict

V = TypeVar("V", bound=Verdict)

_AROUND = 256
"""Characters on each side of a quotation that a filter is shown with it."""
_HIDDEN = "\u2588"
_WORD = re.compile(r"\w{2,}")


class Quoting:
    """A filter over what verdicts quote of passages and answer."""

    def __init__(
        self,
        quoted: Callable[[str], str],
        passages: Sequence[Passage],
        *,
        alone: Callable[[str], str] | None = None,
    ) -> None:
        """A filter that sees what stands around a quotation.

        Args:
            quoted: the filter; gives as many characters as it is given.
            passages: that may be quoted.
            alone: the filter for a quotation of a passage that is not among them; `quoted` by default.
        """
        self._quoted, self._alone = quoted, alone if alone is not None else quoted
        self._texts: dict[str, str] = {}
        self.more(passages)

    def more(self, passages: Sequence[Passage]) -> None:
        """Passages that came later."""
        self._texts |= {passage.id: passage.text for passage in passages}

    def verdict(self, verdict: V) -> V:
        """The verdict with its quotations passed through the filter."""
        pieces = [self._evidence(piece) for piece in verdict.evidence]
        words = {word for before, after, _ in pieces for word in hidden_words(before, after)}

        def detail(finding: Finding) -> Finding:
            text = without(self._quoted(finding.detail), words)
            return finding.model_copy(update={"detail": text})

        return verdict.model_copy(
            update={
                "evidence": tuple(piece for _, _, piece in pieces),
                "findings": tuple(map(detail, verdict.findings)),
                "reason_text": without(self._quoted(verdict.reason_text), words),
            }
        )

    def replacement(self, replacement: Replacement) -> Replacement:
        """The same for what took a sentence's place."""
        verdicts = tuple(map(self.verdict, replacement.verdicts))
        return replacement.model_copy(update={"text": self._quoted(replacement.text), "verdicts": verdicts})

    def _evidence(self, piece: Evidence) -> tuple[str, str, Evidence]:
        """What was searched, what is left of it, and the piece of evidence."""
        whole = self._texts.get(piece.passage, "")
        if whole[piece.start : piece.end] != piece.text:
            left = self._alone(piece.text)
            return piece.text, left, piece.model_copy(update={"text": left})
        first = max(piece.start - _AROUND, 0)
        around = whole[first : piece.end + _AROUND]
        left = self._quoted(around)
        text = left[piece.start - first : piece.end - first]
        return around, left, piece.model_copy(update={"text": text})


def hidden_words(before: str, after: str) -> frozenset[str]:
    """The words of a text, two characters and longer, of which a filter left less than the whole."""
    if before == after:
        return frozenset()
    return frozenset(m[0] for m in _WORD.finditer(before) if after[slice(*m.span())] != m[0])


def without(text: str, words: frozenset[str] | set[str]) -> str:
    """The text with as many blocks in place of each of these words."""
    if not words:
        return text
    return _WORD.sub(lambda m: _HIDDEN * len(m[0]) if m[0] in words else m[0], text)
