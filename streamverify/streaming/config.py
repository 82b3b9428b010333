"""What one stream is moved and judged by: what its verifier shares with it, and what is its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from streamverify.judging.assessor import VerifierConfig
from streamverify.observe import Observation
from streamverify.policy import Policy
from streamverify.sentences.segmenter import Segmenter
from streamverify.streaming.cascade import LaterScorer, cascaded
from streamverify.streaming.session import OnUnverified
from streamverify.streaming.workers import Workers
from streamverify.types import Fingerprint, Passage

OnFailure = Literal["raise", "unverified", "withhold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamConfig(VerifierConfig):
    """The verifier's configuration, completed for one stream."""

    workers: Workers
    preparers: Workers
    """Apart from `workers`, so that encoding one stream's passages never keeps another's claims waiting."""
    segmenter: Segmenter
    policy: Policy
    passages: tuple[Passage, ...] | None
    """None: they come later, through `retrieved`."""
    whole: bool
    """Whether the answer is there already: its claims come at once, and encoding before them wins nothing."""
    question: str | None
    on_failure: OnFailure
    on_unverified: OnUnverified
    verdict_timeout: float
    """Seconds."""
    max_answer_chars: int
    max_lag: float | None = None
    """Seconds a sentence may wait for its check; None for as long as it takes."""
    observation: Observation | None = None
    """Whom else to tell what the reader is told."""
    later: tuple[LaterScorer, ...] = ()
    """The scorers of a cascade behind the first."""

    @property
    def fingerprint(self) -> Fingerprint:
        """Of everything that scores."""
        first = VerifierConfig(self.scorer, self.calibration, self.citations, self.cache)
        return cascaded(first, self.later)
