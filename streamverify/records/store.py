"""The observer that keeps records: what it is told becomes rows, many streams in one transaction.

Before: `observe.py` calls it in a thread of its own. After: `writer.py`.

What cannot be written is tried again until it can, and for `patience` seconds at most; meanwhile the
observer's queue fills and then drops. Only what a transaction has committed counts as stored. An end whose
opening was given up is given up with it: nothing could say whose it is.
"""

from __future__ import annotations

import logging
import math
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import sqlalchemy as sa

from streamverify.errors import StreamStateError, UsageError
from streamverify.events import Event, StreamFailed, StreamFinished, StreamHalted
from streamverify.figure import NotComputed
from streamverify.observe import Observer, Opening
from streamverify.pii import PiiDetector, Recognisers
from streamverify.provenance import Visibility
from streamverify.records import writer
from streamverify.records.database import Database
from streamverify.records.live import LiveBoard
from streamverify.records.rows import (
    KEEPS,
    Keep,
    OpenStream,
    Written,
    conclusion_rows,
    ended_at,
    opening_rows,
)
from streamverify.types import Passage, Report
from streamverify.validators import Answer, Outcome, Rule, validate_sentences

_LOG = logging.getLogger("streamverify.records")

BATCH = 100
"""Openings and conclusions in one transaction; fewer where nothing more waits."""
OPEN = 100_000
"""Streams that may be open at once; beyond it the oldest is taken for lost."""
_TELL_EVERY = 60.0
"""Seconds until the log hears of the same trouble again."""
_TROUBLES = 20
"""Different ones that are told apart."""
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 1.0
"""Seconds between two attempts; short enough that a database that is back is seen while a verifier closes."""


class RecordsStatistics(NamedTuple):
    """What became of openings and conclusions of streams."""

    stored: int
    """In the database, committed."""
    dropped: int
    """Given up: the database could not be written for too long, or refused them; or the records were closed
    before they came."""
    waiting: int
    """Gathered, and not yet written."""


class Records(Observer):
    """Keeps streams in a database: `Verifier(observers=[records])`.

    Close it after the verifier. One is enough for a process; several processes may write one database.
    """

    def __init__(
        self,
        url: str | Path,
        *,
        keep: Keep = "text",
        unsaid: Visibility = "restricted",
        rules: Sequence[Rule] = (),
        detector: PiiDetector | None = None,
        live: bool = True,
        patience: float = 60.0,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """The database is opened, and set up where it is empty.

        Args:
            url: a file's path for SQLite, or a URL of SQLite or PostgreSQL.
            keep: `"text"`; `"redacted"`, with the kind and blocks in place of personal data, as many
                characters as before; or `"hashes"` to keep no text at all. Figures, spans and the digests of
                the original texts are kept in any case.
            unsaid: who may see a document whose passages do not say so.
            rules: each stream's answer is held to them where it ends; what they say is kept as judgments.
            detector: finds personal data, for `keep="redacted"`; the own recognisers by default.
            live: show the sentences of running streams to whoever reads the database (`live.py`), until their
                end is written; the record itself is the same without.
            patience: seconds to go on trying what cannot be written.
            clock: the moment of entries.

        Raises:
            UsageError: a value is out of range, or the database has another version's schema. Caller.
            MissingExtraError: PostgreSQL's driver is not installed. Operator.
        """
        if keep not in KEEPS:
            raise UsageError(f"keep must be one of {', '.join(KEEPS)}, not {keep!r}")
        if patience < 0:
            raise UsageError("patience must be 0 seconds or more")
        self.database = Database(url)
        self._keep: Keep = keep
        self._unsaid: Visibility = unsaid
        self._rules = tuple(rules)
        self._detector: PiiDetector = detector if detector is not None else Recognisers()
        self._patience, self._clock = patience, clock
        self._streams: OrderedDict[str, OpenStream] = OrderedDict()
        self._batch: list[Written] = []
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._writes = threading.RLock()
        """Held while a batch is written: a closing waits for it, so that what is counted is all."""
        self._stored = self._dropped = self._in_hand = 0
        self._lost: OrderedDict[uuid.UUID, str] = OrderedDict()
        """Streams whose opening was given up, and why; only while writing, as the next."""
        self._troubles = _Troubles(self.database.name)
        self._live = LiveBoard(self.database) if live else None
        self.database.open()

    @property
    def statistics(self) -> RecordsStatistics:
        """A snapshot; safe from any thread."""
        with self._lock:
            return RecordsStatistics(self._stored, self._dropped, len(self._batch) + self._in_hand)

    def opened(self, opening: Opening) -> None:
        """Remember the stream, and write its opening."""
        stream, written = opening_rows(opening, self._keep, self._unsaid, self._detector)
        self._streams[opening.stream] = stream
        while len(self._streams) > OPEN:
            self._streams.popitem(last=False)
        self._add(written)

    def retrieved(self, stream: str, passages: Sequence[Passage]) -> None:
        """Remember more passages; they are written with the stream's end."""
        if (known := self._streams.get(stream)) is not None:
            known.late.append(known.take(passages))

    def event(self, stream: str, event: Event) -> None:
        """Write the stream's end; its report holds all that came before, which is shown until then."""
        if isinstance(event, StreamFinished | StreamHalted | StreamFailed):
            with self._lock:
                known = self._streams.pop(stream, None)
            if known is not None:
                if self._live is not None:
                    self._live.ended(known.id)
                self._add(conclusion_rows(known, event.report, self._outcomes(known, event.report)))
        elif self._live is not None and (running := self._streams.get(stream)) is not None:
            self._live.told(running, event)

    def idle(self) -> None:
        """Write what was gathered."""
        self.flush()

    def flush(self) -> None:
        """Write what was gathered, now."""
        with self._writes:
            with self._lock:
                batch, self._batch = self._batch, []
                self._in_hand = len(batch)
            if batch:
                self._write(batch)

    def close(self) -> None:
        """Write what was gathered, once, and close the database; again does nothing.

        Streams whose end was never told count as dropped.
        """
        self._closing.set()
        if self._live is not None:
            self._live.close()
        self.flush()  # and waits for whoever writes now
        with self._writes:
            self._troubles.tell_the_rest()
        with self._lock:
            self._dropped += len(self._streams)
            self._streams.clear()
        self.database.close()

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def _outcomes(self, stream: OpenStream, report: Report) -> list[tuple[int | None, Outcome]]:
        answer = Answer(
            report=report,
            passages=tuple(stream.passages),
            requester=stream.opening.context,
            question=stream.opening.question,
            now=ended_at(stream, report),
            unsaid=self._unsaid,
        )
        whole = [(None, _held(rule, answer)) for rule in self._rules]
        return [*whole, *validate_sentences([_Logged(rule) for rule in self._rules], answer)]

    def _add(self, written: Written) -> None:
        if self._closing.is_set():
            with self._lock:
                self._dropped += 1
            raise StreamStateError("these records were closed; close the verifier first")
        with self._lock:
            self._batch.append(written)
            full = len(self._batch) >= BATCH
        if full:
            self.flush()

    def _write(self, batch: list[Written]) -> None:
        batch = self._with_openings(batch)
        if not batch:
            return
        until, wait, retried = time.monotonic() + self._patience, _FIRST_WAIT, False
        while True:
            try:
                self._attempt(batch, retried=retried)
            except sa.exc.OperationalError as error:  # the database is gone, locked or full: it may come back
                given_up = time.monotonic() + wait > until or self._closing.is_set()
                if given_up:
                    self._give_up(batch, error)
                    return
                if not retried:
                    self._troubles.delays(_cause(error))
                self._closing.wait(wait)
                wait, retried = min(2 * wait, _LONGEST_WAIT), True
            except (
                sa.exc.SQLAlchemyError
            ) as error:  # the database refuses something: find what, keep the rest
                if len(batch) == 1:
                    self._give_up(batch, error)
                    return
                for written in batch:
                    self._write([written])
                return
            else:
                with self._lock:
                    self._stored += len(batch)
                    self._in_hand -= len(batch)
                self._troubles.tell_the_rest(older=_TELL_EVERY)
                return

    def _attempt(self, batch: Sequence[Written], *, retried: bool) -> None:
        with self.database.writing() as connection:
            left = list(batch)
            if retried:  # a commit whose answer was lost may have been carried out
                there = writer.present(connection, batch)
                left = [written for written in batch if (written.kind, written.subject) not in there]
            if left:
                writer.write(connection, left, self._clock())

    def _with_openings(self, batch: list[Written]) -> list[Written]:
        """The batch without the ends of streams whose opening was given up; these are given up too."""
        kept = []
        for written in batch:
            if written.kind == "conclusion" and (why := self._lost.pop(written.subject, None)) is not None:
                self._drop([written], why)
            else:
                kept.append(written)
        return kept

    def _give_up(self, batch: Sequence[Written], error: sa.exc.SQLAlchemyError) -> None:
        why = _cause(error)
        own = {written.subject for written in batch if written.kind == "conclusion"}
        for written in batch:
            if written.kind == "opening" and written.subject not in own:
                self._lost[written.subject] = why
        while len(self._lost) > OPEN:
            self._lost.popitem(last=False)
        self._drop(batch, why)

    def _drop(self, batch: Sequence[Written], why: str) -> None:
        with self._lock:
            self._dropped += len(batch)
            self._in_hand -= len(batch)
        self._troubles.costs(why, len(batch))


@dataclass(slots=True)
class _Trouble:
    delayed: float = -math.inf
    """When it was last told that it keeps records waiting; seconds of the monotonic clock."""
    told: float = -math.inf
    """When it was last told how many records it cost."""
    untold: int = 0
    """Records it has cost since then."""


class _Troubles:
    """What keeps records from being written, as the log has it: each once in a while, with what it cost."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._found: OrderedDict[str, _Trouble] = OrderedDict()

    def delays(self, why: str) -> None:
        """It is tried again."""
        trouble, now = self._of(why), time.monotonic()
        if now - trouble.delayed >= _TELL_EVERY:
            trouble.delayed = now
            _LOG.warning("%s cannot be written, trying again: %s", self._name, why)

    def costs(self, why: str, count: int) -> None:
        """So many records were given up."""
        trouble = self._of(why)
        trouble.untold += count
        if time.monotonic() - trouble.told >= _TELL_EVERY:
            self._tell(why, trouble)

    def tell_the_rest(self, older: float = 0.0) -> None:
        """What was counted and not told yet, of what was last told so many seconds ago."""
        for why, trouble in self._found.items():
            if time.monotonic() - trouble.told >= older:
                self._tell(why, trouble)

    def _of(self, why: str) -> _Trouble:
        trouble = self._found.setdefault(why, _Trouble())
        self._found.move_to_end(why)
        if len(self._found) > _TROUBLES:
            self._tell(*self._found.popitem(last=False))
        return trouble

    def _tell(self, why: str, trouble: _Trouble) -> None:
        if trouble.untold:
            _LOG.error("%s: %d records were not stored: %s", self._name, trouble.untold, why)
            trouble.told, trouble.untold = time.monotonic(), 0


def _held(rule: Rule, answer: Answer) -> Outcome:
    """What a rule says; one that fails itself has not been kept, and loses no record."""
    try:
        return rule(answer)
    except Exception as error:  # noqa: BLE001 - logged, and kept as the rule's outcome
        _LOG.exception("rule %s failed", rule.name)
        reason = f"the rule failed: {type(error).__name__}"
        return Outcome(criterion=rule.name, score=NotComputed(reason), passed=None, detail=reason)


@dataclass(frozen=True, slots=True)
class _Logged:
    """A rule that tells nothing of a sentence on which it fails itself."""

    rule: Rule

    @property
    def name(self) -> str:
        return self.rule.name

    @property
    def by_sentence(self) -> bool:
        return getattr(self.rule, "by_sentence", False)

    def __call__(self, answer: Answer, /) -> Outcome:
        return _held(self.rule, answer)


def _cause(error: sa.exc.SQLAlchemyError) -> str:
    """What went wrong, without the rows: they hold the texts."""
    cause = getattr(error, "orig", None) or error
    return f"{type(cause).__name__}: {cause}".partition("\n")[0]
