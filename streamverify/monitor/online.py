"""Slower scorers and judges on a share of the traffic, after the stream and outside of it.

Before: `observe.py` tells each stream. After: `records/scoring.py` keeps the figures as judgments.

    observer's thread ── sampled? ──► queue, bounded ──► worker thread ── scorers ──► records
                                       └ full: shed, and counted

Which streams are taken depends on the stream's id and domain alone: every process takes the same ones, and a
sample can be told again. Each domain has a share of its own, so that a small one is not lost in a large one.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

import sqlalchemy as sa

from streamverify.context import StreamContext
from streamverify.errors import UsageError
from streamverify.events import Event, StreamFinished, StreamHalted
from streamverify.figure import Figure, NotComputed, finite
from streamverify.monitor.alerts import FIGURES
from streamverify.observe import Observer, Opening
from streamverify.records import Database
from streamverify.records.scoring import add_scores
from streamverify.types import Passage, Report

if TYPE_CHECKING:
    from streamverify.evaluate import Judge
    from streamverify.verifier import Verifier

_LOG = logging.getLogger("streamverify.online")

SHARE = 0.05
OPEN = 10_000
"""Sampled streams that may be open at once."""
_FIRST_WAIT, _LONGEST_WAIT = 0.05, 2.0


@dataclass(frozen=True, slots=True)
class SampledAnswer:
    """An answer that was taken, with all that is known of it."""

    stream: str
    question: str | None
    passages: tuple[Passage, ...]
    context: StreamContext
    report: Report


Scorer = Callable[[SampledAnswer], Figure]
"""Gives a figure of 0-1, or says why there is none; may take its time, and may raise."""


class OnlineStatistics(NamedTuple):
    """What became of the answers that were sampled."""

    sampled: int
    """Taken, shed ones included."""
    scored: int
    """Whose figures are in the records."""
    failed: int
    """Scorers that raised; the records say that there is no figure."""
    shed: int
    """Given up: the queue was full, or the evaluation was closed first."""
    lost: int
    """Whose stream never came into the records, or could not be written."""
    waiting: int
    """Whose turn has not come, or who are being scored."""


@dataclass(slots=True)
class _Open:
    opening: Opening
    passages: list[Passage] = field(default_factory=list)


class OnlineEvaluation(Observer):
    """Scores a share of the answers: `Verifier(observers=[records, online])`.

    Close it after the verifier and before the records. No stream waits for a scorer, and neither do other
    observers: scorers have a thread of their own, and a queue that sheds what does not fit.
    """

    def __init__(
        self,
        database: Database,
        scorers: Mapping[str, Scorer],
        *,
        by: str,
        share: float = SHARE,
        shares: Mapping[str, float] | None = None,
        seed: str = "",
        capacity: int = 100,
        patience: float = 60.0,
    ) -> None:
        """The worker is started by the first answer.

        Args:
            database: of the records that the same streams go to.
            scorers: criterion to what computes it, e.g. `{"grounding": by_verifier(accurate)}`.
            by: who judges, for the records, e.g. a model's name.
            share: of the answers of every domain, 0-1.
            shares: domain to a share of its own.
            seed: another one takes other streams.
            capacity: answers that may wait.
            patience: seconds to wait for a stream that is not in the records yet.

        Raises:
            UsageError: a value is out of range, there is nothing to compute, or a criterion is called like a
                figure of every answer (`faithfulness`, `error_rate` …). Caller.
        """
        if not scorers:
            raise UsageError("name at least one criterion with what computes it")
        if taken := sorted(FIGURES.keys() & scorers.keys()):
            raise UsageError(
                f"{taken[0]!r} is a figure that alerts read from every answer, and not from judgments: give "
                f"the criterion another name, such as online_{taken[0]}"
            )
        if not by.strip():
            raise UsageError("say who judges: by must not be empty")
        for one in (share, *(shares or {}).values()):
            if not 0 <= one <= 1:
                raise UsageError(f"a share lies between 0 and 1; {one:g} does not")
        if capacity < 1 or patience < 0:
            raise UsageError("capacity must be 1 or more, and patience 0 seconds or more")
        self._database, self._scorers, self._by = database, dict(scorers), by
        self._share, self._shares, self._seed = share, dict(shares or {}), seed
        self._capacity, self._patience = capacity, patience
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._queue: deque[SampledAnswer] = deque()
        self._thread: threading.Thread | None = None
        self._busy = False
        self._sampled = self._scored = self._failed = self._shed = self._lost = 0

    def takes(self, stream: str, domain: str | None) -> bool:
        """Whether a stream is in the sample."""
        share = self._shares.get(domain, self._share) if domain is not None else self._share
        drawn = hashlib.sha256(f"{self._seed}\0{stream}".encode()).digest()
        return int.from_bytes(drawn[:8], "big") < share * 2**64

    @property
    def statistics(self) -> OnlineStatistics:
        """A snapshot; safe from any thread."""
        with self._changed:
            waiting = len(self._queue) + self._busy
            return OnlineStatistics(
                self._sampled, self._scored, self._failed, self._shed, self._lost, waiting
            )

    def opened(self, opening: Opening) -> None:
        """Remember a stream that is in the sample."""
        if self.takes(opening.stream, opening.context.domain):
            self._open[opening.stream] = _Open(opening, list(opening.passages))
            while len(self._open) > OPEN:
                self._open.popitem(last=False)

    def retrieved(self, stream: str, passages: Sequence[Passage]) -> None:
        """Remember more passages."""
        if (found := self._open.get(stream)) is not None:
            found.passages += passages

    def event(self, stream: str, event: Event) -> None:
        """Queue an answer that is whole; one that failed has nothing to judge."""
        if not event.kind.startswith("stream_") or event.kind == "stream_opened":
            return
        found = self._open.pop(stream, None)
        if found is not None and isinstance(event, StreamFinished | StreamHalted):
            opening = found.opening
            self._put(
                SampledAnswer(stream, opening.question, tuple(found.passages), opening.context, event.report)
            )

    def drain(self, seconds: float) -> bool:
        """Wait until nothing waits any more; False where `seconds` passed first."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._queue and not self._busy, seconds)

    def close(self, seconds: float = 5.0) -> None:
        """Let the worker see the rest for so many seconds, then shed what is left; again does nothing."""
        self.drain(seconds)
        self._closing.set()
        with self._changed:
            self._shed += len(self._queue)
            self._queue.clear()
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(seconds)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def _put(self, answer: SampledAnswer) -> None:
        with self._changed:
            self._sampled += 1
            if self._closing.is_set() or len(self._queue) >= self._capacity:
                self._shed += 1
                shed = self._shed
            else:
                shed = 0
                self._queue.append(answer)
                if self._thread is None:
                    self._start()
                self._changed.notify_all()
        if shed and str(shed).strip("0") == "1":
            _LOG.warning("scorers do not keep up: %d answers shed so far", shed)

    def _start(self) -> None:
        # A daemon: a judge that hangs cannot keep a process alive.
        thread = threading.Thread(target=self._work, name="streamverify-online", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # the system has none now: the next answer asks again
            _LOG.warning("answers have to wait to be scored: %s", error)
            return
        self._thread = thread

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._queue) or self._closing.is_set())
                if not self._queue:
                    return
                answer, self._busy = self._queue.popleft(), True
            try:
                written = self._write(answer, {name: self._figure(name, answer) for name in self._scorers})
            except Exception:  # noqa: BLE001 - logged and counted; the next answer has its turn
                _LOG.exception("the figures of stream %s could not be kept", answer.stream)
                written = False
            with self._changed:
                self._scored += written
                self._lost += not written
                self._busy = False
                self._changed.notify_all()

    def _figure(self, name: str, answer: SampledAnswer) -> Figure:
        try:
            figure = self._scorers[name](answer)
            if isinstance(figure, NotComputed) or 0 <= finite(figure) <= 1:
                return figure
            raise UsageError(f"a figure lies between 0 and 1; {figure:g} does not")  # noqa: TRY301 - told below
        except Exception as error:  # noqa: BLE001 - logged, counted, and kept as no figure
            with self._changed:
                self._failed += 1
                failed = self._failed
            if str(failed).strip("0") == "1":
                _LOG.exception("%s failed: %d figures so far", name, failed)
            return NotComputed(f"{name} failed: {type(error).__name__}")

    def _write(self, answer: SampledAnswer, figures: Mapping[str, Figure]) -> bool:
        """Whether they are in the records; their observer may be behind, and the database away."""
        identity, waited, wait = uuid.UUID(answer.stream), 0.0, _FIRST_WAIT
        while True:
            try:
                if add_scores(self._database, identity, figures, by=self._by):
                    return True
            except sa.exc.OperationalError as error:
                if waited + wait > self._patience or self._closing.is_set():
                    raise
                _LOG.warning("records cannot be written, trying again: %s", type(error).__name__)
            if waited + wait > self._patience or self._closing.is_set():
                _LOG.warning("stream %s is in no record: its figures are lost", answer.stream)
                return False
            self._closing.wait(wait)
            waited, wait = waited + wait, min(2 * wait, _LONGEST_WAIT)


def by_verifier(verifier: Verifier) -> Scorer:
    """The grounding score by another, slower verifier, e.g. `Verifier(model="accurate")`."""

    def score(answer: SampledAnswer) -> Figure:
        report = verifier.check_sync(answer.report.answer, answer.passages, question=answer.question)
        found = report.grounding_score
        return found if found is not None else NotComputed("no claim was scored")

    return score


def by_metric(name: str, verifier: Verifier | Callable[[], Verifier], judge: Judge | None = None) -> Scorer:
    """A metric of the catalogue of `streamverify.evaluate` whose figures lie between 0 and 1.

    Args:
        name: of the metric.
        verifier: the one that judged the streams, or what gives it, where it is made after its observers;
            nothing is scored again.
        judge: for metrics that ask one.

    Raises:
        UsageError: there is no such metric, its figures are on another scale, or it asks a judge and there is
            none. Caller.
    """
    from streamverify.evaluate.metrics import CATALOGUE  # noqa: PLC0415 - kept out of start-up
    from streamverify.evaluate.protocol import Need, chosen  # noqa: PLC0415 - as above

    (metric,) = chosen([name], CATALOGUE)
    low, high = metric.range
    if low < 0 or high is None or high > 1:
        raise UsageError(f"{name} is not on a scale of 0 to 1; put it on one in a function of your own")
    if Need.JUDGE in metric.needs and judge is None:
        raise UsageError(f"{name} asks a judge: give one")

    def score(answer: SampledAnswer) -> Figure:
        from streamverify.evaluate import Case, Recording, evaluate  # noqa: PLC0415 - kept out of start-up
        from streamverify.events import PassageSummary  # noqa: PLC0415 - as above

        report, used = answer.report, verifier() if callable(verifier) else verifier
        told = tuple(PassageSummary(id=p.id, title=p.title, chars=len(p.text)) for p in answer.passages)
        case = Case(
            id=answer.stream,
            question=answer.question,
            answer=report.answer,
            passages=answer.passages,
            domain=answer.context.domain,
            # As the verifier's own, whatever policy this stream had: its verdicts are used as they are.
            recording=Recording(told, used.policy.name, used.fingerprint, report),
        )
        run = evaluate([case], metrics=[name], verifier=used, judge=judge, workers=1)
        return run.cases[0][name]

    return score
