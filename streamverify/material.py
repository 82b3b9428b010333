"""What the sentences of one stream are judged against, and how a claim is put to it.

Before: `passages.py` read the passages. After: `assess.py` and `citing.py` ask.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streamverify.checks import Checked, SourceIndex, check
from streamverify.evidence import WindowFinder
from streamverify.judge import features
from streamverify.passages import cut
from streamverify.scorers.protocol import Abort, Claim, ClaimScore, Scorer, WindowScore
from streamverify.types import Passage, Work

NEAR = 2
"""Best windows whose text the checks hold a claim against."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured about one claim, before anything is decided."""

    claim: Claim
    score: ClaimScore
    checked: Checked
    features: Mapping[str, float]
    """As `judge.features` names them."""

    @property
    def work(self) -> Work:
        """What it cost."""
        return Work(claims=1, tokens_scored=self.score.tokens_scored, passes=self.score.passes)


class Material:
    """The passages of one stream: cut, indexed and prepared. Safe to use from several threads."""

    def __init__(
        self, scorer: Scorer, passages: Sequence[Passage], question: str | None, abort: Abort
    ) -> None:
        """Cut, index and encode. Blocking.

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
        self._prepared = scorer.prepare(self.windows, abort=abort) if self.windows else None
        self._index = SourceIndex(self.passages, question=question)

    @property
    def empty(self) -> bool:
        """Whether there is no text to judge against."""
        return self._prepared is None

    @property
    def work(self) -> Work:
        """What preparing cost."""
        from_cache = self._prepared.from_cache if self._prepared is not None else 0
        return Work(windows=len(self.windows), windows_from_cache=from_cache)

    def id_of(self, window: int) -> str:
        """The id of the passage a window was cut from."""
        return self.passages[self.windows[window].passage].id

    def measure(self, claim: Claim, abort: Abort) -> Measured:
        """Everything a calibration may weigh about a claim. Blocking; the material must not be empty.

        Raises:
            ScoringError: the scorer failed, or `abort` was set.
        """
        assert self._prepared is not None
        [score] = self.scorer.score(self._prepared, [claim], abort=abort)
        checked = self._check(claim, score.single[:NEAR])
        return Measured(claim, score, checked, features(score, checked.signals))

    def _check(self, claim: Claim, near: Sequence[WindowScore]) -> Checked:
        windows = [self.windows[entry.window] for entry in near]
        return check(claim, self._index, near=[(w.passage, w.start, w.end) for w in windows])
