"""The verifier: owns the model, the threads and the cache; makes streams.

Before: the caller. After: `stream.py` moves one stream, `judging/assessor.py` judges its sentences.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextvars import copy_context
from types import TracebackType
from typing import Self

import anyio

from streamverify.calibration import Calibration, PresetName, refuse_thresholds
from streamverify.context import ContextLike, context_from
from streamverify.errors import StreamStateError, UsageError
from streamverify.judging.citations import CitationOptions
from streamverify.loops.portal import PerProcess, Portal
from streamverify.observe import Observer, Observers, ObserverStatistics
from streamverify.passages import passages_from
from streamverify.policy import Flag, Policy, PolicyLike, policy_from
from streamverify.scorers.cascade import NAME as CASCADE
from streamverify.scorers.cascade import CascadeLike, steps_from
from streamverify.scorers.named import Share, model_named
from streamverify.scorers.protocol import Abort
from streamverify.sentences.segmenter import Segmenter, SentenceSegmenter
from streamverify.stream import VerifiedStream
from streamverify.streaming.config import OnFailure, StreamConfig
from streamverify.streaming.loading import Scoring, load
from streamverify.streaming.session import OnUnverified
from streamverify.streaming.sources import Source
from streamverify.streaming.workers import Workers, WorkersStatistics
from streamverify.types import Fingerprint, Report

_PREPARERS = 4
"""Streams whose passages are cut and encoded at once; each uses the scorer's own threads for the encoding."""


class _Loaded:
    """What belongs to this process: a fork copies no threads, and neither what a scorer has in them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.scoring: Scoring | None = None


class Verifier:
    """Checks answers and streams against passages.

    Open it where the application starts (`async with Verifier() as verifier`, or plain `with`): the
    model is loaded then, once. Used without, it loads the model at the first check. One verifier serves
    any number of streams, event loops and threads; streams share its model and cache and nothing else. A
    forked child may go on using it, and loads a model of its own.
    """

    def __init__(
        self,
        scorer: CascadeLike | None = None,
        *,
        model: str | None = None,
        policy: PolicyLike | None = None,
        on_failure: OnFailure = "unverified",
        on_unverified: OnUnverified = "withhold",
        verdict_timeout: float = 10.0,
        max_lag: float | None = None,
        max_answer_chars: int = 20_000_000,
        calibration: Calibration | None = None,
        preset: PresetName | None = None,
        citations: CitationOptions | None = None,
        segmenter: Callable[[], Segmenter] = SentenceSegmenter,
        observers: Sequence[Observer] = (),
        share: Share | None = None,
    ) -> None:
        """Nothing is loaded yet.

        Args:
            scorer: a scorer, which stays the caller's to close; or what the verifier makes one of when it is
                first needed, and then closes: a name (`"default"`, `"lexical"`, a model's folder), a
                function without parameters that makes one, or a function `(claim, passages)` that gives the
                probability (0-1) that the passages, texts, support the claim, a text, called by several
                threads at once (`FunctionScorer(…, concurrency=1)` has one); or a `Cascade` of two or three
                of these. By default the model.
            model: `"fast"`, which comes with the library and is the default; the name of an installed one
                (`"accurate"`, a distribution of its own); `"cascade"`, the two of them one after the other
                (`Cascade("fast", "accurate")`); or a model's folder. In place of `scorer`.
            policy: for streams that name none, itself or by its word (`"redact"`); `Flag()` by default.
            on_failure: what a failed check becomes: `"unverified"` labels the sentence so, `"withhold"`
                also keeps its text back under a holding policy, whatever `on_unverified` says, `"raise"`
                ends the stream.
            on_unverified: what becomes of a sentence that could not be checked (no passages, a failed check,
                another language, too long) under a policy that holds text and would let it go:
                `"withhold"` shows a placeholder in its place, `"release"` shows it unchecked. Policies
                that let text flow have shown it before anybody knows.
            verdict_timeout: seconds that one check may take, from the moment a thread takes it up; in a
                cascade each scorer has as many.
            max_lag: seconds a sentence may wait for a free core, or for its passages to be encoded, which
                takes cores as well, for live streams that compete for too few.
                Well before that, checks take fewer passes (`Verdict.passes` tells how few); a sentence that
                waits longer is `unverified`, reason `overloaded`. None checks every sentence, however late.
            max_answer_chars: longest answer; a source that exceeds it is stopped with an error.
            calibration: what it names replaces the scorer's own; see `Calibration.over`. Of a cascade each
                scorer has its own, and none can be given here.
            preset: `"strict"` lets fewer sentences pass that are not supported, `"lenient"` flags fewer
                that are, `"balanced"` weighs both alike: a threshold that comes with the scorer's own
                calibration, whose `presets` tell what each costs. In place of `calibration`.
            citations: which sentences must carry one, what their numbers mean, how suggested ones look.
            segmenter: makes the segmenter of one stream.
            observers: told of every stream, each in a thread of its own; they stay the caller's to close,
                after the verifier.
            share: what models made by name take of the machine, where other processes serve beside this one;
                None for all its cores, and a cache of their own.

        Raises:
            UsageError: a value is out of range, no such policy, scorer or preset, both a scorer and a model,
                both a calibration and a preset, a calibration for a cascade, or one that is none. Caller.
            ModelNotFoundError: `scorer` or `model` is a text and names none. Caller.
        """
        if verdict_timeout <= 0:
            raise UsageError("verdict_timeout must be above 0 seconds")
        if max_lag is not None and not max_lag > 0:
            raise UsageError(f"max_lag must be above 0 seconds, or None for no limit, not {max_lag}")
        if max_answer_chars <= 0:
            raise UsageError("max_answer_chars must be above 0")
        if on_failure not in ("raise", "unverified", "withhold"):
            raise UsageError(f"on_failure must be 'raise', 'unverified' or 'withhold', not {on_failure!r}")
        _refuse_unknown(on_unverified)
        if scorer is not None and model is not None:
            raise UsageError(f"give a scorer or a model, not both: scorer={scorer!r}, model={model!r}")
        named = None if model is None else CASCADE if model == CASCADE else model_named(model, share=share)
        given = "default" if scorer is None else scorer
        self._steps = steps_from(given if named is None else named, share)
        refuse_thresholds(calibration, preset, scorers=len(self._steps))
        self._policy: Policy = policy_from(policy) if policy is not None else Flag()
        self._on_failure: OnFailure = on_failure
        self._on_unverified: OnUnverified = on_unverified
        self._verdict_timeout = verdict_timeout
        self._max_lag = max_lag
        self._max_answer_chars = max_answer_chars
        self._calibration = calibration
        self._preset: PresetName | None = preset
        self._citations = citations if citations is not None else CitationOptions()
        self._segmenter = segmenter
        self._observers = Observers(observers)
        self._loaded = PerProcess(_Loaded)
        self._preparers = Workers(_PREPARERS, "streamverify-prepare")
        self._portal = Portal()
        self._closed = False

    def stream(
        self,
        source: Source,
        passages: Iterable[object] | None,
        *,
        policy: PolicyLike | None = None,
        question: str | None = None,
        on_unverified: OnUnverified | None = None,
        context: ContextLike | None = None,
    ) -> VerifiedStream:
        """A stream to be opened with `async with`; nothing runs before.

        Args:
            source: pieces of the answer: an async or sync iterable of `str`, or a whole text.
            passages: `Passage`, `str`, mappings with `id` and `text`, LangChain documents or LlamaIndex
                nodes; empty is allowed (every claim is then UNVERIFIED). None when the source itself
                tells them through `retrieved`.
            policy: in place of the verifier's; itself or its word.
            question: what was asked; names and figures in it count as known.
            on_unverified: in place of the verifier's.
            context: who asked and on whose behalf, for observers alone: a `StreamContext`, or a mapping
                with its fields.

        Raises:
            PassageError: a passage cannot be read, or an id stands for two texts. Caller.
            UsageError: `policy` cannot do what `on_failure` demands, `on_unverified`, `question` or a field
                of `context` is none. Caller.
        """
        chosen = policy_from(policy) if policy is not None else self._policy
        if self._on_failure == "withhold" and not chosen.holds_text:
            raise UsageError(
                "on_failure='withhold' needs a policy that holds text, such as Redact(); "
                f"{chosen.name!r} lets it flow"
            )
        known = passages_from(passages) if passages is not None else None
        unverified = on_unverified if on_unverified is not None else self._on_unverified
        _refuse_unknown(unverified, question)
        asked, around = context_from(context), copy_context()

        async def config(stream: str) -> StreamConfig:
            scoring = await self._open()
            shared = scoring.first
            return StreamConfig(
                scorer=shared.scorer,
                calibration=shared.calibration,
                citations=shared.citations,
                cache=shared.cache,
                premises=shared.premises,
                workers=scoring.workers,
                preparers=self._preparers,
                segmenter=self._segmenter(),
                policy=chosen,
                passages=known,
                whole=isinstance(source, str),
                question=question,
                on_failure=self._on_failure,
                on_unverified=unverified,
                verdict_timeout=self._verdict_timeout,
                max_answer_chars=self._max_answer_chars,
                max_lag=self._max_lag,
                observation=self._observers.observation(stream, asked, question, around),
                later=scoring.later,
            )

        return VerifiedStream(config, source)

    async def check(
        self,
        answer: Source,
        passages: Iterable[object],
        *,
        policy: PolicyLike | None = None,
        question: str | None = None,
        on_unverified: OnUnverified | None = None,
        context: ContextLike | None = None,
    ) -> Report:
        """The report on a whole answer: the verdicts a stream of it would have had; arguments as of `stream`.

        Raises:
            PassageError: a passage cannot be read. Caller.
            ModelError: the model cannot be loaded. Operator.
        """
        async with self.stream(
            answer,
            passages,
            policy=policy,
            question=question,
            on_unverified=on_unverified,
            context=context,
        ) as stream:
            await stream.run_callback(lambda _: None)  # sooner than a step of the loop for every event
            return stream.report

    def check_sync(
        self,
        answer: Source,
        passages: Iterable[object],
        *,
        policy: PolicyLike | None = None,
        question: str | None = None,
        on_unverified: OnUnverified | None = None,
        context: ContextLike | None = None,
    ) -> Report:
        """`check` for code without an event loop; from any number of threads.

        Raises:
            StreamStateError: the verifier was closed before or meanwhile; or called in its own loop. Caller.
        """
        return self.portal.run(
            lambda: self.check(
                answer,
                passages,
                policy=policy,
                question=question,
                on_unverified=on_unverified,
                context=context,
            )
        )

    @property
    def policy(self) -> Policy:
        """For streams that name none."""
        return self._policy

    @property
    def portal(self) -> Portal:
        """The event loop, in a thread of its own, that serves synchronous callers of this verifier."""
        self._refuse_closed()
        return self._portal

    @property
    def fingerprint(self) -> Fingerprint:
        """What scores and labels, the calibration included, and all scorers of a cascade; loads the model.

        Raises:
            ModelError: it cannot be loaded. Operator.
        """
        return self._load().fingerprint

    @property
    def calibration(self) -> Calibration:
        """Weights and thresholds in use, of a cascade those of the first scorer; loads the model.

        Raises:
            ModelError: it cannot be loaded. Operator.
        """
        return self._load().first.calibration

    def statistics(self) -> WorkersStatistics:
        """Checks running and waiting now, over all streams and all scorers."""
        scoring = self._loaded.here.scoring
        return scoring.statistics() if scoring is not None else WorkersStatistics(0, 0)

    def window_cache_bytes(self) -> int:
        """Memory taken by encoded passages that are kept between streams, over all scorers."""
        scoring = self._loaded.here.scoring
        return scoring.window_cache_bytes if scoring is not None else 0

    def observer_statistics(self) -> tuple[ObserverStatistics, ...]:
        """What became of what each observer should have seen, in the order they were given."""
        return self._observers.statistics

    def drain_observers(self, seconds: float) -> bool:
        """Wait, blocking, until the observers have seen all there is; False where `seconds` passed first."""
        return self._observers.drain(seconds)

    def open(self) -> Self:
        """Load the model now.

        Raises:
            ModelError: it cannot be loaded. Operator.
            StreamStateError: the verifier was closed. Caller.
        """
        self._load()
        return self

    def close(self) -> None:
        """Stop what runs and free the model; calling it again does nothing.

        Observers may take up to five seconds to see the rest; what they have not seen then is dropped,
        counted and logged.
        """
        loaded = self._loaded.here
        with loaded.lock:
            if self._closed:
                return
            self._closed = True
            scoring = loaded.scoring
        self._portal.close()
        self._preparers.close()
        if scoring is not None:
            scoring.close()
        self._observers.close()

    def __enter__(self) -> Self:
        """Open."""
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    async def __aenter__(self) -> Self:
        """Open, without blocking the event loop."""
        await self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        with anyio.CancelScope(shield=True):  # its own thread: those that prepare may all be busy
            await Workers(1, "streamverify-close").run(self.close, Abort())

    async def _open(self) -> Scoring:
        scoring = self._loaded.here.scoring
        if scoring is None or self._closed:
            return await self._preparers.run(self._load, Abort())
        return scoring

    def _load(self) -> Scoring:
        loaded = self._loaded.here
        with loaded.lock:
            self._refuse_closed()
            if loaded.scoring is None:
                loaded.scoring = load(self._steps, self._calibration, self._citations, self._preset)
            return loaded.scoring

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StreamStateError("this verifier was closed; make another")


def _refuse_unknown(on_unverified: OnUnverified, question: object = None) -> None:
    if on_unverified not in ("release", "withhold"):
        raise UsageError(f"on_unverified must be 'release' or 'withhold', not {on_unverified!r}")
    if not isinstance(question, str | None):
        raise UsageError(f"question is the text that was asked, or None, not {type(question).__name__}")
