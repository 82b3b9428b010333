"""The later scorers of a cascade: asked only where the one before is in doubt, and never in the way of it.

Before: `judge.py` has a verdict in doubt. After: it has the later scorer's word, or an error.

Each later scorer has threads and a queue of its own, so that no first verdict of any stream waits behind it;
nothing is prepared for it before the first sentence is in doubt. A hanging one is left alone for the rest of
the stream after a few calls in a row that came too late: it costs a stream a few deadlines and not one a
sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import anyio

from streamverify.citations import Marker, Numbering
from streamverify.errors import ScoringError, ScoringTimeoutError
from streamverify.judging.assessor import VerifierConfig
from streamverify.judging.doubt import Band
from streamverify.judging.repeats import Assessment, Lean
from streamverify.scorers.protocol import Abort
from streamverify.streaming.preparation import Preparation
from streamverify.streaming.workers import Workers
from streamverify.types import Fingerprint, SecondOpinion, Sentence, Work

PATIENCE = 2
"""Calls in a row that may come too late before the stream asks no more."""

_CHARS = 10_000
"""Of passages that may be prepared within one deadline; more of them have more time."""


@dataclass(frozen=True, slots=True)
class LaterScorer:
    """One that all streams of a verifier share."""

    config: VerifierConfig
    band: Band
    workers: Workers
    preparers: Workers

    @property
    def fingerprint(self) -> Fingerprint:
        """The scorer's, with its calibration and band."""
        band = self.band
        told = {"band": (band.low, band.high), "kept": band.kept}
        return self.config.fingerprint.model_copy(update=told)


def cascaded(first: VerifierConfig, later: Sequence[LaterScorer]) -> Fingerprint:
    """What scores: the first scorer, and behind it the others."""
    if not later:
        return first.fingerprint
    return first.fingerprint.model_copy(update={"later": tuple(one.fingerprint for one in later)})


class LaterJudge:
    """One stream's way to a later scorer."""

    def __init__(
        self, later: LaterScorer, question: str | None, numbering: Numbering, timeout: float
    ) -> None:
        """Nothing is prepared.

        Args:
            later: shared with other streams.
            question: what was asked.
            numbering: of citations.
            timeout: seconds that one verdict may take, from the moment a thread takes it up.
        """
        self._later, self._question, self._numbering, self._timeout = later, question, numbering, timeout
        self._prepared: WeakKeyDictionary[Preparation, Preparation] = WeakKeyDictionary()
        self._asking: set[anyio.CancelScope] = set()
        self._late = self._asked = self._answered = self._changed = 0
        self._work = Work()

    @property
    def name(self) -> str:
        """Its model."""
        return self._later.config.scorer.fingerprint.model

    @property
    def done(self) -> SecondOpinion:
        """What it did so far."""
        return SecondOpinion(
            scorer=self.name,
            asked=self._asked,
            changed=self._changed,
            unconfirmed=self._asked - self._answered,
            work=self._work,
        )

    def decides(self, assessment: Assessment | None) -> bool:
        """Whether it has the word after this assessment, or after a failed check, which is None."""
        band = self._later.band
        return not band.empty if assessment is None else band.doubts(assessment)

    def heard(self, *, changed: bool) -> None:
        """Its word was taken; `changed` where the label is another one."""
        self._answered += 1
        self._changed += changed

    async def assess(
        self,
        sentence: Sentence,
        previous: Sequence[Sentence],
        preparation: Preparation,
        native_markers: Sequence[Marker],
        before: Assessment | None,
    ) -> Assessment:
        """Its word on a sentence, against the passages it closed under.

        Args:
            sentence: closed.
            previous: the sentences before it.
            preparation: of the passages, for the first scorer.
            native_markers: citations that came beside the text.
            before: the word before this one; None where there is none.

        Raises:
            ScoringTimeoutError: it is too late, or was before.
            ScoringError: it failed.
        """
        self._asked += 1
        if self._late < PATIENCE:
            with anyio.CancelScope() as scope:
                self._asking.add(scope)
                try:
                    return await self._assess(sentence, previous, preparation, native_markers, before)
                except ScoringTimeoutError:
                    self._count_late()
                    raise
                except ScoringError:
                    raise
                except Exception as error:
                    raise ScoringError(f"{type(error).__name__}: {error}") from error
                finally:
                    self._asking.discard(scope)
        raise ScoringTimeoutError(self._timeout)

    async def _assess(
        self,
        sentence: Sentence,
        previous: Sequence[Sentence],
        preparation: Preparation,
        native_markers: Sequence[Marker],
        before: Assessment | None,
    ) -> Assessment:
        kept, margin = self._later.band.kept, None if before is None else before.margin
        lean = None if margin is None or kept == 0 else Lean(margin, kept)
        assessor = await (await self._for(preparation)).assessor()
        abort = Abort()
        assessment = await self._later.workers.run(
            lambda: assessor.assess(sentence, previous, abort, native_markers, lean=lean),
            abort,
            timeout=self._timeout,
        )
        self._late = 0
        # The tokens of the answer are counted by the first scorer.
        self._work = self._work + assessment.work.model_copy(update={"tokens_generated": 0})
        return assessment

    async def _for(self, preparation: Preparation) -> Preparation:
        """The same passages, prepared for this scorer by whoever asks for them first."""
        known = self._prepared.get(preparation)
        if known is not None:
            return known
        own = self._prepared[preparation] = Preparation(preparation.passages, self._numbering)
        later, question, abort = self._later, self._question, own.abort
        chars = sum(len(passage.text) for passage in own.passages)
        try:
            assessor = await later.preparers.run(
                lambda: later.config.assessor(own.passages, question, abort),
                abort,
                timeout=self._timeout * (1 + chars / _CHARS),
            )
        except Exception as error:  # told to everybody who waits for it
            own.finish(error)
            if isinstance(error, ScoringTimeoutError):
                raise
            return own
        except BaseException:
            own.finish(ScoringError("stopped: the check was called off"))
            raise
        self._work = self._work + assessor.work
        own.finish(assessor)
        return own

    def _count_late(self) -> None:
        self._late += 1
        if self._late >= PATIENCE:
            for scope in tuple(self._asking):
                scope.cancel()
