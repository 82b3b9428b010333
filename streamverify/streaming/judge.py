"""Has the sentences of one stream judged in threads, and repaired where its policy asks for that.

Before: `pump.py` starts a task for every sentence that closed.
After: `session.py` takes the settlement.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import NamedTuple

import anyio

from streamverify.citations import Marker
from streamverify.errors import OverloadedError, ScoringError, ScoringTimeoutError
from streamverify.judging.assessor import Assessor
from streamverify.judging.citations import unchecked
from streamverify.judging.doubt import unconfirmed
from streamverify.judging.repeats import Assessment
from streamverify.policy import repair_plan
from streamverify.repair import repair
from streamverify.scorers.protocol import Abort
from streamverify.streaming.cascade import LaterJudge
from streamverify.streaming.config import StreamConfig
from streamverify.streaming.overload import haste
from streamverify.streaming.preparation import Preparation
from streamverify.streaming.settlement import Settlement
from streamverify.types import Citation, Label, Replacement, SecondOpinion, Sentence, Verdict, Work


class _Word(NamedTuple):
    """A verdict, whose it is, and who is asked now."""

    verdict: Verdict
    scorer: str | None
    asking: str | None


class SentenceJudge:
    """One stream's way to its verdicts; `work` counts what they cost."""

    def __init__(self, config: StreamConfig) -> None:
        """Nothing was judged yet."""
        self._config = config
        numbering, timeout = config.citations.numbering, config.verdict_timeout
        self._later = [LaterJudge(one, config.question, numbering, timeout) for one in config.later]
        self.work = Work()
        self._ahead: list[Abort] = []

    @property
    def second_opinions(self) -> tuple[SecondOpinion, ...]:
        """What the later scorers of a cascade did so far."""
        return tuple(later.done for later in self._later)

    async def prepare(self, preparation: Preparation) -> bool:
        """Cut and read a set of passages; what fails is told to the sentences that wait for it.

        Returns:
            Whether it was done.
        """
        config = self._config

        def prepared() -> Assessor:
            # Titles may be long: read here, not in the event loop once a check has failed.
            preparation.read_names()
            assessor = config.assessor(preparation.passages, config.question, preparation.abort)
            if not config.whole:
                self._ahead.append(preparation.abort)
                assessor.ahead(preparation.abort)
            return assessor

        try:
            with config.expecting(preparation.passages, config.question):
                assessor = await config.preparers.run(prepared, preparation.abort)
        except Exception as error:  # noqa: BLE001 - `on_failure` decides, for each sentence that waits
            preparation.finish(error)
            return False
        self.work = self.work + assessor.work
        preparation.finish(assessor)
        return True

    def finish(self) -> None:
        """No claim comes any more: passages that wait to be encoded need not be."""
        for abort in self._ahead:
            abort.set()

    async def settlements(
        self,
        sentence: Sentence,
        previous: Sequence[Sentence],
        preparation: Preparation,
        native_markers: Sequence[Marker],
    ) -> AsyncGenerator[Settlement, None]:
        """The outcome for one sentence, a failed check included; in a cascade, after what came before it.

        Raises:
            ScoringError: the check failed, under `on_failure="raise"`.
            Exception: what the policy's rewrite function raised.
        """
        began = time.perf_counter()
        withhold, scorer = False, None
        try:
            async with aclosing(self._words(sentence, previous, preparation, native_markers)) as words:
                async for verdict, scorer, asking in words:
                    latency_ms = (time.perf_counter() - began) * 1000
                    if asking is not None:
                        yield Settlement(verdict, latency_ms, scorer, asking)
        except ScoringError as error:
            withhold = self._config.on_failure == "withhold"
            citations = unchecked(sentence, native_markers, preparation.resolver)
            verdict = self._failed(sentence, error, citations)
            latency_ms = (time.perf_counter() - began) * 1000
        replacement = await self._replacement(sentence, verdict, previous, preparation)
        yield Settlement(verdict, latency_ms, scorer, withhold=withhold, replacement=replacement)

    async def verdict(
        self,
        sentence: Sentence,
        previous: Sequence[Sentence],
        preparation: Preparation,
        native_markers: Sequence[Marker] = (),
    ) -> Verdict:
        """The last word on a sentence against the passages it closed under.

        Raises:
            ScoringError: there is none, whatever it was that failed.
        """
        async with aclosing(self._words(sentence, previous, preparation, native_markers)) as words:
            async for word in words:
                last = word
        return last.verdict

    async def _words(
        self,
        sentence: Sentence,
        previous: Sequence[Sentence],
        preparation: Preparation,
        native_markers: Sequence[Marker],
    ) -> AsyncGenerator[_Word, None]:
        """What the scorers say, one after the other: one word at least, and the last of them is the last.

        Raises:
            ScoringError: none of those asked has a word.
        """
        assessment, failure = None, None
        since = time.perf_counter()
        try:
            assessment = await self._first(sentence, previous, preparation, native_markers, since)
        except ScoringError as error:
            failure = error
        verdict = None if assessment is None else assessment.verdict
        scorer = self._config.scorer.fingerprint.model if self._later else None
        for later in self._later:
            if not later.decides(assessment):
                break
            if verdict is not None:
                yield _Word(verdict, scorer, later.name)
            try:
                heard = await later.assess(sentence, previous, preparation, native_markers, assessment)
            except ScoringError as error:
                heard, why = None, _why(error)
            else:
                why = "could not read this sentence"
            if heard is not None and (verdict is None or not _worse(heard.verdict, verdict)):
                later.heard(changed=verdict is not None and heard.verdict.label is not verdict.label)
                assessment, verdict, scorer = heard, heard.verdict, later.name
            elif verdict is not None:
                verdict = unconfirmed(verdict, sentence, later.name, why)
        if verdict is None:
            assert failure is not None
            raise failure
        yield _Word(verdict, scorer, None)

    async def _first(
        self,
        sentence: Sentence,
        previous: Sequence[Sentence],
        preparation: Preparation,
        native_markers: Sequence[Marker],
        since: float,
    ) -> Assessment:
        abort, max_lag = Abort(), self._config.max_lag

        def assessed() -> Assessment:
            left = haste(time.perf_counter() - since, max_lag)
            if left == "too_late":
                assert max_lag is not None
                raise OverloadedError(max_lag)
            return assessor.assess(sentence, previous, abort, native_markers, hurried=left == "hurried")

        try:
            assessor = await _within(max_lag, preparation)
            assessment = await self._config.workers.run(
                assessed,
                abort,
                timeout=self._config.verdict_timeout,
                since=since,
                patience=None if max_lag is None else max(since + max_lag - time.perf_counter(), 0),
            )
        except OverloadedError as error:
            assert max_lag is not None
            self.work = self.work + Work(overloaded=1)
            raise OverloadedError(max_lag) from error
        except ScoringError:
            raise
        except Exception as error:
            raise ScoringError(f"{type(error).__name__}: {error}") from error
        self.work = self.work + assessment.work
        return assessment

    async def _replacement(
        self, sentence: Sentence, verdict: Verdict, previous: Sequence[Sentence], preparation: Preparation
    ) -> Replacement | None:
        plan = repair_plan(self._config.policy, sentence, verdict)
        if plan is None:
            return None

        async def tried(part: Sentence, before: Sequence[Sentence]) -> Verdict:
            try:
                return await self.verdict(part, before, preparation)
            except ScoringError as error:  # it makes the replacement fail
                return self._failed(part, error)

        return await repair(
            plan,
            sentence,
            verdict,
            previous=previous,
            passages=preparation.passages,
            question=self._config.question,
            judge=tried,
        )

    def _failed(
        self, sentence: Sentence, error: ScoringError, citations: tuple[Citation, ...] = ()
    ) -> Verdict:
        if self._config.on_failure == "raise":
            raise error
        return Verdict(
            index=sentence.index,
            label=Label.UNVERIFIED,
            reason="overloaded" if isinstance(error, OverloadedError) else "scorer_failed",
            reason_text=str(error),
            citations=citations,
        )


async def _within(max_lag: float | None, preparation: Preparation) -> Assessor:
    """Who judges, once the passages are prepared: that takes cores too, and no more patience than they do."""
    if max_lag is None:
        return await preparation.assessor()
    with anyio.move_on_after(max_lag):
        return await preparation.assessor()
    raise OverloadedError(max_lag)


def _why(error: ScoringError) -> str:
    """In words that tell nothing of the error's own, which is not for everybody who sees a verdict."""
    late = isinstance(error, ScoringTimeoutError) or isinstance(error.__cause__, ScoringTimeoutError)
    return "did not answer in time" if late else "failed"


def _worse(heard: Verdict, before: Verdict) -> bool:
    """Whether a later scorer could not check what the one before it could."""
    return heard.label is Label.UNVERIFIED and before.label is not Label.UNVERIFIED
