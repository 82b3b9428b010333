"""The verifier: owns the model, the threads and the cache; makes streams.

Before: the caller. After: `stream.py` moves one stream, `assess.py` judges its sentences.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self

import anyio

from streamverify import events
from streamverify.assess import Basis
from streamverify.calibration import Calibration
from streamverify.citing import CitationOptions
from streamverify.errors import StreamStateError, UsageError
from streamverify.passages import passages_from
from streamverify.policy import Flag, Policy
from streamverify.portal import Portal
from streamverify.pump import OnFailure, Settings
from streamverify.scorers.protocol import Abort, Scorer
from streamverify.segment import Segmenter, SentenceSegmenter
from streamverify.sources import Source
from streamverify.stream import VerifiedStream
from streamverify.types import Report
from streamverify.workers import Workers, WorkersStatistics

_PREPARERS = 4
"""Streams whose passages are cut and encoded at once; each uses the scorer's own threads for the encoding."""


def embedded_scorer() -> Scorer:
    """The scorer that comes with the library: the premise-cached model, on the CPU."""
    from streamverify.scorers.premise_cached import PremiseCachedScorer  # noqa: PLC0415 - loads onnxruntime

    return PremiseCachedScorer()


class Verifier:
    """Checks answers and streams against passages.

    Open it where the application starts (`async with Verifier() as verifier`, or plain `with`): the
    model is loaded then, once. Used without, it loads the model at the first check. One verifier serves
    any number of streams, event loops and threads; streams share its model and cache and nothing else.
    """

    def __init__(
        self,
        scorer: Scorer | Callable[[], Scorer] = embedded_scorer,
        *,
        policy: Policy | None = None,
        on_failure: OnFailure = "unverified",
        verdict_timeout: float = 10.0,
        max_answer_chars: int = 20_000_000,
        calibration: Calibration | None = None,
        citations: CitationOptions | None = None,
        segmenter: Callable[[], Segmenter] = SentenceSegmenter,
    ) -> None:
        """Nothing is loaded yet.

        Args:
            scorer: a scorer, which stays the caller's to close, or a function that makes one when it is
                first needed, which the verifier then closes.
            policy: for streams that name none; `Flag()` by default.
            on_failure: what a failed check becomes: `"unverified"` labels the sentence so, `"withhold"`
                also keeps its text back under a holding policy, `"raise"` ends the stream.
            verdict_timeout: seconds that one check may take, from the moment a thread takes it up.
            max_answer_chars: longest answer; a source that exceeds it is stopped with an error.
            calibration: in place of the scorer's own.
            citations: which sentences must carry one, what their numbers mean, how suggested ones look.
            segmenter: makes the segmenter of one stream.

        Raises:
            UsageError: a value is out of range. Caller.
        """
        if verdict_timeout <= 0:
            raise UsageError("verdict_timeout must be above 0 seconds")
        if max_answer_chars <= 0:
            raise UsageError("max_answer_chars must be above 0")
        if on_failure not in ("raise", "unverified", "withhold"):
            raise UsageError(f"on_failure must be 'raise', 'unverified' or 'withhold', not {on_failure!r}")
        self._given = scorer
        self._policy: Policy = policy if policy is not None else Flag()
        self._on_failure: OnFailure = on_failure
        self._verdict_timeout = verdict_timeout
        self._max_answer_chars = max_answer_chars
        self._calibration = calibration
        self._citations = citations if citations is not None else CitationOptions()
        self._segmenter = segmenter
        self._lock = threading.Lock()
        self._basis: Basis | None = None
        self._workers: Workers | None = None
        self._preparers = Workers(_PREPARERS, "streamverify-prepare")
        self._portal = Portal()
        self._closed = False

    def stream(
        self,
        source: Source,
        passages: Iterable[object] | None,
        *,
        policy: Policy | None = None,
        question: str | None = None,
    ) -> VerifiedStream:
        """A stream to be opened with `async with`; nothing runs before.

        Args:
            source: pieces of the answer: an async or sync iterable of `str`, or a whole text.
            passages: `Passage`, `str`, mappings with `id` and `text`, LangChain documents or LlamaIndex
                nodes; empty is allowed (every claim is then UNVERIFIED). None when the source itself
                tells them through `retrieved`.
            policy: in place of the verifier's.
            question: what was asked; names and figures in it count as known.

        Raises:
            PassageError: a passage cannot be read, or an id stands for two texts. Caller.
            UsageError: the policy cannot do what `on_failure` demands. Caller.
        """
        chosen = policy if policy is not None else self._policy
        if self._on_failure == "withhold" and not chosen.holds_text:
            raise UsageError(
                "on_failure='withhold' needs a policy that holds text, such as Redact(); "
                f"{chosen.name!r} lets it flow"
            )
        known = passages_from(passages) if passages is not None else None

        async def settings() -> Settings:
            basis, workers = await self._open()
            return Settings(
                basis=basis,
                workers=workers,
                preparers=self._preparers,
                segmenter=self._segmenter(),
                policy=chosen,
                passages=known,
                question=question,
                on_failure=self._on_failure,
                verdict_timeout=self._verdict_timeout,
                max_answer_chars=self._max_answer_chars,
            )

        return VerifiedStream(settings, source)

    async def check(
        self,
        answer: Source,
        passages: Iterable[object],
        *,
        policy: Policy | None = None,
        question: str | None = None,
    ) -> Report:
        """The report on a whole answer: the verdicts a stream of it would have had.

        Raises:
            PassageError: a passage cannot be read. Caller.
            ModelError: the model cannot be loaded. Operator.
        """
        async with self.stream(answer, passages, policy=policy, question=question) as stream:
            async for _ in stream:
                pass
            return stream.report

    def check_sync(
        self,
        answer: Source,
        passages: Iterable[object],
        *,
        policy: Policy | None = None,
        question: str | None = None,
    ) -> Report:
        """`check` for code without an event loop; from any number of threads."""
        return self.portal.run(lambda: self.check(answer, passages, policy=policy, question=question))

    @property
    def policy(self) -> Policy:
        """For streams that name none."""
        return self._policy

    @property
    def portal(self) -> Portal:
        """The event loop, in a thread of its own, that serves synchronous callers of this verifier."""
        self._refuse_closed()
        return self._portal

    def statistics(self) -> WorkersStatistics:
        """Checks running and waiting now, over all streams."""
        workers = self._workers
        return workers.statistics() if workers is not None else WorkersStatistics(0, 0)

    def open(self) -> Self:
        """Load the model now.

        Raises:
            ModelError: it cannot be loaded. Operator.
            StreamStateError: the verifier was closed. Caller.
        """
        self._load()
        return self

    def close(self) -> None:
        """Stop what runs and free the model; calling it again does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            basis, workers = self._basis, self._workers
        self._portal.close()
        self._preparers.close()
        if workers is not None:
            workers.close()
        if basis is not None and callable(self._given) and not isinstance(self._given, Scorer):
            basis.scorer.close()

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
        with anyio.CancelScope(shield=True):
            await self._preparers.run(self.close, Abort())

    async def _open(self) -> tuple[Basis, Workers]:
        if self._basis is None or self._workers is None or self._closed:
            return await self._preparers.run(self._load, Abort())
        return self._basis, self._workers

    def _load(self) -> tuple[Basis, Workers]:
        with self._lock:
            self._refuse_closed()
            if self._basis is None or self._workers is None:
                events.build()
                given = self._given
                scorer = given if isinstance(given, Scorer) else given()
                self._basis = Basis(
                    scorer=scorer,
                    calibration=self._calibration or scorer.traits.calibration,
                    citations=self._citations,
                )
                self._workers = Workers(scorer.traits.concurrency, "streamverify-score")
            return self._basis, self._workers

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StreamStateError("this verifier was closed; make another")
