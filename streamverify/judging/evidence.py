"""From windows back to sentences of passages: what a reader is shown, and where citations look.

Before: `scorers/` scored windows. After: `verdict.py` puts the evidence into the verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sentencex

from streamverify._lazy import cached_property
from streamverify.checks import Near
from streamverify.scorers.protocol import NliScore, Window, WindowScore
from streamverify.text.words import STOP_WORDS, folded_words, stems_of
from streamverify.types import Evidence, Label, Passage, Span

SHOWN = 3
"""Pieces of evidence a verdict carries at most."""


_SURE = 0.5
"""Probability at which a window by itself speaks for or against a claim."""


def stems(text: str) -> frozenset[str]:
    """Stems of the content words."""
    return frozenset(stems_of(set(folded_words(text)) - STOP_WORDS))


class WindowWords:
    """The words of a window and of its sentences, read when first asked for and then kept."""

    def __init__(self, window: Window) -> None:
        self._window = window

    @cached_property
    def stems(self) -> frozenset[str]:
        """Of all its content words."""
        return stems(self._window.text)

    @cached_property
    def sentences(self) -> tuple[tuple[Span, frozenset[str]], ...]:
        """Where each sentence stands in the window's text, outer blanks left out, and its stems."""
        text = self._window.text
        found = []
        for bound in sentencex.get_sentence_boundaries("en", text):
            first, last = int(bound["start_index"]), int(bound["end_index"])
            part = text[first:last]
            blank = len(part) - len(part.lstrip())
            found.append((Span(first + blank, max(first + len(part.rstrip()), first + blank)), stems(part)))
        return tuple(found)

    def pin(self, claim: frozenset[str], against: Sequence[Near] = ()) -> Span:
        """The sentence that shares most with the claim, as offsets in the passage's text.

        Of sentences that share the same number of content words the shorter one wins, then the earlier. A
        window without a sentence is given whole, outer blanks left out.

        Args:
            claim: its stems.
            against: places of values that the passages have instead of the claim's. A sentence that holds
                one, and shares more with the claim than its unit, goes before all that hold none: what
                refutes the end of a claim may share less with it than what tells its beginning.
        """
        window = self._window
        values = self._own(against)
        best: tuple[bool, int, int, Span] | None = None
        for (start, end), held in self.sentences:
            if start == end:
                continue
            refutes = self._refuting(Span(start, end), claim & held, values)
            span = Span(window.start + start, window.start + end)
            rank = (refutes, len(claim & held), start - end, span)
            if best is None or rank[:3] > best[:3]:
                best = rank
        return best[3] if best is not None else Span(window.start, window.end)

    def refutes(self, claim: frozenset[str], against: Sequence[Near]) -> bool:
        """Whether a sentence that holds a value against the claim shares more with it than the unit."""
        values = self._own(against)
        return bool(values) and any(
            self._refuting(span, claim & held, values) for span, held in self.sentences
        )

    def _own(self, places: Sequence[Near]) -> list[Span]:
        """Those of these places that lie in the window's passage, counted from its beginning."""
        window = self._window
        return [
            Span(first - window.start, last - window.start)
            for passage, first, last in places
            if passage == window.passage
        ]

    def _refuting(self, sentence: Span, shared: frozenset[str], values: Sequence[Span]) -> bool:
        return any(
            sentence.start <= value.start
            and value.end <= sentence.end
            and not shared <= stems(self._window.text[value.start : value.end])
            for value in values
        )

    def share_of(self, claim: frozenset[str]) -> float:
        """How far the window is about a claim: the largest share of its words in one sentence, 0 to 1."""
        return _largest(claim, (held for _, held in self.sentences))


def _largest(claim: frozenset[str], sentences: Iterable[frozenset[str]]) -> float:
    return max((len(claim & held) / len(claim) for held in sentences), default=0.0) if claim else 0.0


def _reading(score: NliScore, label: Label) -> float:
    """0 to 1, beside two shares of words of 0 to 1 each; `benchmarks/evidence.py` has what comes of it."""
    if label is Label.CONTRADICTED:
        return score.contradiction
    return 0.5 * (score.entailment if label is Label.SUPPORTED else 1 - score.neutral)


def _meaning(score: NliScore, label: Label, *, decides: bool) -> tuple[Label, float]:
    """What a window says by itself; the one that decided says what the verdict says."""
    if score.entailment >= _SURE or (decides and label is Label.SUPPORTED):
        return Label.SUPPORTED, score.entailment
    if score.contradiction >= _SURE or (decides and label is Label.CONTRADICTED):
        return Label.CONTRADICTED, score.contradiction
    return Label.UNSUPPORTED, score.neutral


class WindowFinder:
    """Which windows of a passage to ask about a claim, and what of them to show: what shares most with it."""

    def __init__(self, windows: Sequence[Window], passages: Sequence[Passage]) -> None:
        self._windows, self._passages = windows, passages
        self._words = [WindowWords(window) for window in windows]
        self._of: dict[str, list[int]] = {passage.id: [] for passage in passages}
        for index, window in enumerate(windows):
            self._of[passages[window.passage].id].append(index)

    def of(self, passage: str) -> Sequence[int]:
        """All windows of a passage, in text order; empty for an unknown id."""
        return self._of.get(passage, ())

    def likeliest(self, ids: Iterable[str], claim_text: str) -> tuple[int, ...]:
        """For each passage its window that shares most with the claim, the earlier of equals."""
        claim = stems(claim_text)
        best = (
            max(self.of(passage), key=lambda index: (len(claim & self._words[index].stems), -index))
            for passage in dict.fromkeys(ids)
            if self.of(passage)
        )
        return tuple(best)

    def coverage(self, window: int, text: str) -> float:
        """Share of the text's content words that the window holds; 0 without any."""
        wanted = stems(text)
        return len(wanted & self._words[window].stems) / len(wanted) if wanted else 0.0

    def about(self, scored: Sequence[WindowScore], text: str) -> tuple[float, ...]:
        """For each window scored how far it is about the text, as `WindowWords.share_of`."""
        claim = stems(text)
        return tuple(self._words[entry.window].share_of(claim) for entry in scored)

    def evidence(
        self, claim_text: str, label: Label, scored: Sequence[WindowScore], against: Sequence[Near] = ()
    ) -> tuple[Evidence, ...]:
        """Up to `SHOWN` pieces of evidence, the one that decided first.

        A window by itself is read too weakly to be ranked by its reading alone: what it shares with the
        claim, as a whole and in its best sentence, counts for more. The reading is what speaks for the claim
        where the verdict is SUPPORTED, against it where it is CONTRADICTED, and either of them otherwise.
        Where it is not SUPPORTED, windows whose sentence has another value than the claim go before all.
        Of a window the sentence is shown that `WindowWords.pin` finds, `against` included.
        """
        claim = stems(claim_text)

        def weight(entry: WindowScore) -> tuple[bool, float]:
            words = self._words[entry.window]
            shared = words.share_of(claim) + _largest(claim, (words.stems,))
            refutes = label is not Label.SUPPORTED and words.refutes(claim, against)
            return refutes, shared + _reading(entry.score, label)

        shown: list[Evidence] = []
        for entry in sorted(scored, key=weight, reverse=True):
            span = self._words[entry.window].pin(claim, against)
            passage = self._passages[self._windows[entry.window].passage]
            meaning, probability = _meaning(entry.score, label, decides=not shown)
            piece = Evidence(
                passage=passage.id,
                start=span.start,
                end=span.end,
                text=passage.text[span.start : span.end],
                score=round(probability, 4),
                label=meaning,
            )
            if all((known.passage, known.start) != (piece.passage, piece.start) for known in shown):
                shown.append(piece)
            if len(shown) == SHOWN:
                break
        return tuple(shown)
