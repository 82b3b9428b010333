"""A scorer without a model: how many of a claim's words does a window hold?

It needs nothing but the standard library. It knows words, not
meaning: a paraphrase scores low, and a claim that puts the window's own words together wrongly ("X bought
Y" for "Y bought X", or a negation) scores high. On claims written to be told apart by meaning it does worse
than a coin: AUROC 0.45 on 326 sentences of RAG answers, 0.22 on 990 held-out hand-written claims. It
never reports a contradiction. It is there for tests, for a rough look on machines without ONNX Runtime,
and as the baseline that a model must beat.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log
from typing import NamedTuple

from streamverify.calibration import Calibration
from streamverify.errors import ScoringError
from streamverify.scorers.protocol import (
    Abort,
    Claim,
    ClaimScore,
    NliScore,
    Prepared,
    TokenRisk,
    Traits,
    Window,
    WindowScore,
)
from streamverify.text.sentence_ends import opens_sentence
from streamverify.text.words import STOP_WORDS, fold, stem, strip_possessive
from streamverify.types import Fingerprint, Span

# A figure with its separators is one word here, so that 3.5 is not 3 and 5.
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
_MISSING_NUMBER, _MISSING_NAME = 0.25, 0.6  # factors; a number that is not there weighs more than a name
_ABSENT, _PRESENT = 0.8, 0.05  # risks of a word's characters


class _Word(NamedTuple):
    """A word of a text that tells something."""

    stem: str
    start: int
    end: int
    number: bool
    name: bool


@dataclass(frozen=True, slots=True)
class _Words:
    """A stream's windows as sets of stems."""

    windows: tuple[Window, ...]
    stems: tuple[frozenset[str], ...]
    weights: dict[str, float]
    from_cache: int = 0


class LexicalScorer:
    """Scores claims by the words, numbers and names that a window shares with them."""

    def __init__(self, *, single_passes: int = 8) -> None:
        """Nothing is loaded.

        Args:
            single_passes: windows reported for a claim, best first; all of them are looked at.
        """
        self._single_passes = max(single_passes, 1)

    @property
    def fingerprint(self) -> Fingerprint:
        """Says that no model is at work."""
        return Fingerprint(
            model="lexical overlap (no model)", revision="2", precision="exact", provider="python"
        )

    @property
    def traits(self) -> Traits:
        """Words count as tokens; English stop words and endings; no contradiction."""
        return Traits(
            window_tokens=100,
            claim_tokens=400,
            concurrency=1,  # pure Python: a second thread would only wait for the first
            calibration=Calibration(),
            contradiction=False,
            languages=frozenset({"en"}),
        )

    def token_spans(self, text: str) -> Sequence[Span]:
        """Words and numbers."""
        return [Span(*match.span()) for match in _WORD.finditer(text)]

    def prepare(self, windows: Sequence[Window], *, abort: Abort) -> Prepared:
        """Read the words of the windows.

        Raises:
            ScoringError: `abort` was set.
        """
        stems = []
        for window in windows:
            _heed(abort)
            stems.append(frozenset(word.stem for word in _words(f"{window.title} {window.text}")))
        holders = Counter(stem for known in stems for stem in known)
        weights = {stem: log(1 + len(stems) / count) for stem, count in holders.items()}
        return _Words(tuple(windows), tuple(stems), weights)

    def score(self, prepared: Prepared, claims: Sequence[Claim], *, abort: Abort) -> list[ClaimScore]:
        """Score each claim on its own, in order.

        Raises:
            ScoringError: `abort` was set.
        """
        assert isinstance(prepared, _Words), "prepared by another scorer"
        return [self._score(prepared, claim, abort) for claim in claims]

    def close(self) -> None:
        """Nothing is held."""

    def _score(self, prepared: _Words, claim: Claim, abort: Abort) -> ClaimScore:
        words = _words(claim.text)
        unknown = log(1 + len(prepared.stems))
        weights = [prepared.weights.get(word.stem, unknown) for word in words]

        def support(known: frozenset[str]) -> NliScore:
            entailment = _support(words, weights, known)
            return NliScore(entailment, 1 - entailment, 0.0)

        singles = []
        for window in sorted(claim.focus) if claim.only_focus else range(len(prepared.stems)):
            known = prepared.stems[window]
            _heed(abort)
            singles.append(WindowScore(window, support(known)))
        singles.sort(key=lambda entry: (-entry.score.entailment, entry.window))
        kept = singles[: self._single_passes]
        kept += [entry for entry in singles[self._single_passes :] if entry.window in claim.focus]
        best = prepared.stems[kept[0].window]
        shown = [entry.window for entry in kept[: self._single_passes]]
        return ClaimScore(
            single=tuple(kept),
            joint=support(_union(prepared, shown)) if len(shown) > 1 else None,
            together=tuple(support(_union(prepared, group)) for group in claim.together),
            tokens=tuple(
                TokenRisk(word.start, word.end, _PRESENT if word.stem in best else _ABSENT) for word in words
            ),
            tokens_scored=len(self.token_spans(claim.text)),
            passes=len(singles),
        )


def _support(words: Sequence[_Word], weights: Sequence[float], known: frozenset[str]) -> float:
    """Share of the words' weight that is known, lowered for each number and name that is not."""
    total = sum(weights)
    if not total:
        return 0.0
    score = sum(weight for word, weight in zip(words, weights, strict=True) if word.stem in known) / total
    for word in words:
        if word.stem not in known:
            score *= _MISSING_NUMBER if word.number else _MISSING_NAME if word.name else 1.0
    return score


def _union(prepared: _Words, windows: Iterable[int]) -> frozenset[str]:
    return frozenset[str]().union(*(prepared.stems[window] for window in windows))


def _words(text: str) -> list[_Word]:
    """The words that tell something, in order."""
    words = []
    for match in _WORD.finditer(text):
        word = match.group()
        folded = strip_possessive(fold(word))
        if folded in STOP_WORDS:
            continue
        number = word[0].isdigit()
        root = folded.replace(",", "") if number else stem(folded)
        words.append(
            _Word(
                root,
                *match.span(),
                number,
                not number and word[0].isupper() and not opens_sentence(text, match.start()),
            )
        )
    return words


def _heed(abort: Abort) -> None:
    if abort.is_set:
        raise ScoringError("stopped: the check was called off")
