"""What the sentences of one stream are judged against, and how a claim is put to it.

Before: `passages.py` read the passages. After: `assessor.py` and `citations.py` ask.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from streamverify.checks import Checked, SourceIndex, Spelling, check, unheld
from streamverify.errors import ScoringError
from streamverify.judging.evidence import WindowFinder
from streamverify.judging.score_cache import ScoreCache, digest, score_key
from streamverify.judging.verdict import features
from streamverify.passages import cut
from streamverify.scorers.protocol import (
    Abort,
    Claim,
    ClaimScore,
    Deferring,
    NliScore,
    Prepared,
    Renewing,
    Scorer,
    WindowScore,
)
from streamverify.types import Passage, Work

NEAR = 2
"""Best windows whose text the checks hold a claim against."""
_APART = 256
"""Passages, and sets of them, of which it is kept what the checks know where there are no others."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured about one claim, before anything is decided."""

    said: Claim
    """As the sentence has it; the checks quote it."""
    claim: Claim
    """As it was put to the scorer: its values are written as the passages write them."""
    score: ClaimScore
    checked: Checked
    features: Mapping[str, float]
    """As `verdict.features` names them."""
    about: tuple[float, ...]
    """For each single pass how far its window is about the claim, 0 to 1."""
    from_cache: bool = False

    def same(self, bar: float) -> list[WindowScore]:
        """The single passes over windows that are about the claim at least so far."""
        return [entry for entry, share in zip(self.score.single, self.about, strict=True) if share >= bar]

    @property
    def work(self) -> Work:
        """What it cost."""
        if self.from_cache:
            return Work(claims_from_cache=1)
        return Work(
            claims=1,
            tokens_scored=self.score.tokens_scored,
            passes=self.score.passes,
            hurried=int(self.claim.hurried),
        )


class PreparedPremises:
    """The passages of one stream: cut, indexed and prepared. Safe to use from several threads."""

    def __init__(
        self,
        scorer: Scorer,
        passages: Sequence[Passage],
        question: str | None,
        abort: Abort,
        cache: ScoreCache,
    ) -> None:
        """Cut, index and read; where the scorer cannot leave encoding for later, encode. Blocking.

        Args:
            scorer: encodes and scores.
            passages: of the stream, in order.
            question: what was asked.
            abort: when set, the call ends soon with `ScoringError`.
            cache: of scores.

        Raises:
            ScoringError: the scorer failed, or `abort` was set.
        """
        self.scorer = scorer
        self.passages = tuple(passages)
        traits = scorer.traits
        self.windows = cut(
            self.passages, scorer.token_spans, traits.window_tokens, title_tokens=traits.title_tokens
        )
        self.finder = WindowFinder(self.windows, self.passages)
        self.prepared: Prepared | None = None
        if self.windows:
            begin = scorer.read if isinstance(scorer, Deferring) else scorer.prepare
            self.prepared = begin(self.windows, abort=abort)
        self._cache, self._digest = cache, digest(self.windows)
        self.question = question
        self._index = SourceIndex(self.passages, question=question)
        self._apart = lru_cache(_APART)(partial(_apart, self._index))
        self._spelling = Spelling(self._index.everything)

    def renewed(self, passages: Sequence[Passage], abort: Abort) -> PreparedPremises:
        """For another stream: what is read off the texts is shared, the scorer is asked anew. Blocking.

        Args:
            passages: of the other stream; the same ids, titles and texts in the same order.
            abort: when set, the call ends soon with `ScoringError`.

        Raises:
            ScoringError: the scorer failed, or `abort` was set.
        """
        again = copy(self)
        again.passages = tuple(passages)
        if self.prepared is not None:
            if isinstance(self.scorer, Deferring):
                again.prepared = self.scorer.reread(self.prepared)
            elif isinstance(self.scorer, Renewing):
                again.prepared = self.scorer.renew(self.prepared, abort=abort)
            else:
                again.prepared = self.scorer.prepare(self.windows, abort=abort)
        return again

    def ahead(self, abort: Abort) -> None:
        """Have windows encoded that claims may ask for, while no claim is scored; returns at once."""
        if self.prepared is not None and isinstance(self.scorer, Deferring):
            self.scorer.ahead(self.prepared, abort=abort)

    @property
    def empty(self) -> bool:
        """Whether there is no text to judge against."""
        return self.prepared is None

    @property
    def work(self) -> Work:
        """What preparing cost."""
        from_cache = self.prepared.from_cache if self.prepared is not None else 0
        return Work(windows=len(self.windows), windows_from_cache=from_cache)

    def id_of(self, window: int) -> str:
        """The id of the passage a window was cut from."""
        return self.passages[self.windows[window].passage].id

    def measure(self, claim: Claim, abort: Abort) -> Measured:
        """Everything a calibration may weigh about a claim. Blocking; the material must not be empty.

        Raises:
            ScoringError: the scorer failed, or `abort` was set.
        """
        said, claim = claim, self._respelled(claim, self._spelling)
        score, known = self._scored(claim, abort)
        checked = self._check(said, score.single[:NEAR])
        about = self.finder.about(score.single, claim.text)
        return Measured(said, claim, score, checked, features(score, checked.signals, about), about, known)

    def alone(self, measured: Measured, passage: str, abort: Abort) -> tuple[Mapping[str, float], Work]:
        """The same claim as if the stream had this one passage, of which a single pass saw a window.

        Where tokens are judged it costs a pass, but for the passage whose window decided. Blocking.

        Returns:
            The features, and what they cost beyond the claim's own score.

        Raises:
            ScoringError: the scorer failed, or `abort` was set.
        """
        score, work = measured.score, Work()
        seen = next(entry for entry in score.single if self.id_of(entry.window) == passage)
        window = self.windows[seen.window]
        index, spelling = self._apart((window.passage,))
        claim = self._respelled(measured.said, spelling)
        if claim.text != measured.claim.text or (score.tokens and seen is not score.single[0]):
            narrow = replace(claim, focus=(seen.window,), together=(), only_focus=True)
            score, known = self._scored(narrow, abort)
            seen = score.single[0]
            if not known:  # the claim itself is counted already
                work = Work(tokens_scored=score.tokens_scored, passes=score.passes)
        checked = check(measured.said, index, near=[(0, window.start, window.end)])
        score = replace(score, single=(seen,), joint=None)
        return features(score, checked.signals, self.finder.about(score.single, claim.text)), work

    def lacks(self, measured: Measured, passages: Iterable[str]) -> bool:
        """Whether these passages together lack a number, date or name of a claim that the stream's have."""
        chosen = frozenset(passages)
        places = tuple(place for place, passage in enumerate(self.passages) if passage.id in chosen)
        if len(places) == len(self.passages):
            return False
        index, _ = self._apart(places)
        there, everywhere = unheld(measured.said, index), measured.checked.signals
        return (
            there.number_missing > everywhere.number_missing
            or there.date_missing > everywhere.date_missing
            or there.name_missing > everywhere.name_missing
        )

    def _respelled(self, claim: Claim, spelling: Spelling) -> Claim:
        """The claim with its values as the passages write them, unless that makes it too long to be read."""
        put = spelling.put(claim)
        longer = len(put.text) > len(claim.text)
        room = self.scorer.traits.claim_tokens
        return claim if longer and len(self.scorer.token_spans(put.text)) > room else put

    def _scored(self, claim: Claim, abort: Abort) -> tuple[ClaimScore, bool]:
        """The claim's score, and whether it was known before."""
        assert self.prepared is not None
        key = score_key(self._digest, claim)
        # Whoever is in a hurry takes the whole score gladly, if it is there.
        known = self._cache.get(key._replace(hurried=False)) or self._cache.get(key)
        if known is not None:
            return known, True
        score = _sound(self.scorer.score(self.prepared, [claim], abort=abort), len(self.windows))
        self._cache.put(key, score)
        return score, False

    def _check(self, claim: Claim, near: Sequence[WindowScore]) -> Checked:
        windows = [self.windows[entry.window] for entry in near]
        return check(claim, self._index, near=[(w.passage, w.start, w.end) for w in windows])


def _apart(whole: SourceIndex, places: Iterable[int]) -> tuple[SourceIndex, Spelling]:
    """What the checks know where there are these passages only, and how they write their values."""
    index = whole.only(places)
    return index, Spelling(index.everything)


_SLACK = 1e-3
"""How far from 0-1 a probability may lie that comes of rounding."""


def _sound(scores: Sequence[ClaimScore], windows: int) -> ClaimScore:
    """The one score that was asked for, if all of its numbers are what they should be.

    A number that is none would pass through every comparison that follows: NaN is below no threshold.

    Raises:
        ScoringError: there is not one score, it names no window or an unknown one, or a probability is not
            finite or not within 0-1.
    """
    if len(scores) != 1:
        raise ScoringError(f"the scorer returned {len(scores)} scores for 1 claim")
    [score] = scores
    if not score.single:
        raise ScoringError("the scorer looked at no window")
    for entry in score.single:
        if not 0 <= entry.window < windows:
            raise ScoringError(f"the scorer names window {entry.window} of {windows}")
    passes = [entry.score for entry in score.single] + list(score.together)
    for probabilities in passes if score.joint is None else [*passes, score.joint]:
        for name in NliScore.__slots__:
            _probability(name, getattr(probabilities, name))
    for token in score.tokens:
        _probability("risk", token.risk)
    return score


def _probability(name: str, value: float) -> None:
    # Written so that NaN fails too.
    if not (math.isfinite(value) and -_SLACK <= value <= 1 + _SLACK):
        raise ScoringError(f"the scorer returned {name} {value!r}, which is no probability (0 to 1)")
