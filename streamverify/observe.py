"""Whoever looks on while streams run: records, metrics, traces.

Before: `verifier.py` makes an `Observation` for each stream. After: the observers' own code.

    loop of the stream ── opened, retrieved, event ──► Feed, one an observer ── its own thread ──► Observer

A stream hands over what it says anyway and goes on. A queue that is full drops what comes, counts it and says
so in the log; a hanging observer fills its own queue and nobody else's. What an observer raises is counted
and logged.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from contextvars import Context
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

from streamverify.context import StreamContext
from streamverify.errors import UsageError
from streamverify.events import Event, StreamFailed, StreamFinished, StreamHalted, TextReleased
from streamverify.loops.portal import PerProcess
from streamverify.types import Fingerprint, Passage

_LOG = logging.getLogger("streamverify")

CAPACITY = 10_000
"""Items that may wait for one observer."""
CHARS = 64_000_000
"""Characters of text that may wait for one observer, so that long passages cannot fill the memory either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A stream begins: all that its events do not say."""

    stream: str
    """Id of the stream, unique in the world."""
    at: datetime
    """When, by the clock of this machine, in UTC."""
    question: str | None
    passages: tuple[Passage, ...]
    """With their texts, in the order the retriever ranked them."""
    context: StreamContext
    fingerprint: Fingerprint
    policy: str
    around: Context = field(default_factory=Context, compare=False, repr=False)
    """The caller's context variables where the stream was made: a tracer finds its parent span there. A copy;
    read it through another one (`around.copy().run(...)`), since several observers share it."""


class Observer(Protocol):
    """Looks on. Derive from it to be spared the methods that are of no interest.

    Every method is called in one thread of the observer's own, in the order in which things happened in
    each stream; it may block. What it raises is counted and logged, and the next call comes all the same.
    """

    def opened(self, opening: Opening) -> None:
        """A stream begins; first of its calls."""
        del opening  # a body: checkers take a method of a protocol without one for abstract

    def retrieved(self, stream: str, passages: Sequence[Passage]) -> None:
        """More passages came in while the stream ran; only those that are new."""
        del stream, passages

    def event(self, stream: str, event: Event) -> None:
        """Something was told to the stream's reader; the terminal event is the last call for a stream."""
        del stream, event

    def idle(self) -> None:
        """Nothing more waits now: a good moment to write what was gathered."""
        return


class ObserverStatistics(NamedTuple):
    """What became of what one observer should have seen."""

    delivered: int
    """Calls that returned."""
    failed: int
    """Calls that raised."""
    dropped: int
    """Calls that were never made: the queue was full, or the verifier was closed before their turn."""
    waiting: int
    """Calls whose turn has not come."""


Call = Callable[[Observer], None]


class _Waiting(NamedTuple):
    chars: int
    call: Call


@dataclass(slots=True)
class _State:
    """Of one process: a fork copies neither the thread nor what waits for it."""

    changed: threading.Condition = field(default_factory=threading.Condition)
    items: deque[_Waiting] = field(default_factory=deque)
    chars: int = 0
    thread: threading.Thread | None = None
    busy: bool = False
    ended: bool = False
    delivered: int = 0
    failed: int = 0
    dropped: int = 0


class Feed:
    """One observer's queue and thread; the thread is started by the first item and ends with `end`."""

    def __init__(self, observer: Observer, *, capacity: int = CAPACITY, chars: int = CHARS) -> None:
        """Nothing runs yet.

        Args:
            observer: called in the feed's thread only.
            capacity: items that may wait.
            chars: characters that may wait, over all items.
        """
        self.observer = observer
        self._capacity, self._chars = capacity, chars
        self._state = PerProcess(_State)

    def put(self, call: Call, chars: int = 0) -> bool:
        """Hand over a call; never waits. False where it was dropped."""
        state = self._state.here
        with state.changed:
            crowded = bool(state.items) and state.chars + chars > self._chars
            if crowded or state.ended or len(state.items) >= self._capacity:
                state.dropped += 1
                dropped = state.dropped
            else:
                dropped = 0
                state.items.append(_Waiting(chars, call))
                state.chars += chars
                if state.thread is None:
                    self._start(state)
                elif not state.busy:
                    state.changed.notify_all()
        if (
            dropped and str(dropped).strip("0") == "1"
        ):  # 1, 10, 100 …: a broken observer must not fill the log
            _LOG.warning("%s does not keep up: %d calls dropped so far", self._name, dropped)
        return not dropped

    @property
    def statistics(self) -> ObserverStatistics:
        """A snapshot; safe from any thread."""
        state = self._state.here
        with state.changed:
            return ObserverStatistics(
                state.delivered, state.failed, state.dropped, len(state.items) + state.busy
            )

    def drain(self, seconds: float) -> bool:
        """Wait until nothing waits any more; False where `seconds` passed first."""
        state = self._state.here
        with state.changed:
            return state.changed.wait_for(lambda: not state.items and not state.busy, seconds)

    def end(self) -> None:
        """Take nothing more; what waits is still delivered, and then the thread ends. Never waits."""
        state = self._state.here
        with state.changed:
            state.ended = True
            state.changed.notify_all()

    def close(self, seconds: float) -> None:
        """`end`, and wait; what was not delivered within `seconds` is dropped, counted and logged."""
        self.end()
        atexit.unregister(self._at_exit)
        state = self._state.here
        done = self.drain(seconds if state.thread is not None else 0)
        if done and state.thread is not None:
            state.thread.join(seconds)
            return
        with state.changed:
            left = len(state.items)
            state.dropped += left
            state.items.clear()
            state.chars = 0
        if not done:
            _LOG.warning("%s did not end within %g s: %d calls dropped", self._name, seconds, left)

    @property
    def _name(self) -> str:
        return f"observer {type(self.observer).__name__}"

    def _start(self, state: _State) -> None:
        # A daemon: a hanging observer cannot keep a process alive. An orderly end waits for it a while.
        thread = threading.Thread(target=self._work, args=(state,), name="streamverify-observer", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # the system has none now: what waits is told once it has
            _LOG.warning("%s has to wait: %s", self._name, error)
            return
        state.thread = thread
        atexit.register(self._at_exit)

    def _at_exit(self) -> None:
        self.close(GRACE)

    def _work(self, state: _State) -> None:
        while True:
            with state.changed:
                state.changed.wait_for(lambda: bool(state.items) or state.ended)
                if not state.items:
                    break
                waiting = state.items.popleft()
                state.chars -= waiting.chars
                state.busy, last = True, not state.items
            self._deliver(state, waiting.call)
            if last:
                self._deliver(state, lambda observer: observer.idle(), counted=False)
            with state.changed:
                state.busy = False
                state.changed.notify_all()
        atexit.unregister(self._at_exit)

    def _deliver(self, state: _State, call: Call, *, counted: bool = True) -> None:
        try:
            call(self.observer)
        except Exception:  # noqa: BLE001 - counted and logged; a stream has nothing to do with it
            with state.changed:
                state.failed += 1
                failed = state.failed
            if str(failed).strip("0") == "1":
                _LOG.exception("%s failed: %d calls so far", self._name, failed)
        else:
            with state.changed:
                state.delivered += counted


GRACE = 5.0
"""Seconds that observers may take to see the rest once their verifier closes."""


class Observation:
    """One stream, as it is handed to the feeds of one verifier."""

    def __init__(
        self,
        feeds: Sequence[Feed],
        stream: str,
        context: StreamContext,
        question: str | None,
        around: Context,
    ) -> None:
        """Made by `Verifier.stream`."""
        self._feeds, self._stream = list(feeds), stream
        self._context, self._question, self._around = context, question, around
        self._known: frozenset[str] = frozenset()

    def opened(self, passages: Sequence[Passage], fingerprint: Fingerprint, policy: str) -> None:
        """Tell the opening; an observer that has no room for it is told nothing of this stream."""
        opening = Opening(
            stream=self._stream,
            at=datetime.now(UTC),
            question=self._question,
            passages=tuple(passages),
            context=self._context,
            fingerprint=fingerprint,
            policy=policy,
            around=self._around,
        )
        self._known = frozenset(passage.id for passage in passages)
        chars = sum(len(passage.text) for passage in passages) + len(self._question or "")
        self._feeds = [feed for feed in self._feeds if feed.put(lambda o: o.opened(opening), chars)]

    def retrieved(self, passages: Sequence[Passage]) -> None:
        """Tell passages that came after the opening, those that are new."""
        new = tuple(passage for passage in passages if passage.id not in self._known)
        if not new:
            return
        self._known |= {passage.id for passage in new}
        stream = self._stream
        chars = sum(len(passage.text) for passage in new)
        for feed in self._feeds:
            feed.put(lambda observer: observer.retrieved(stream, new), chars)

    def event(self, event: Event) -> None:
        """Tell an event."""
        stream, chars = self._stream, _length(event)
        for feed in self._feeds:
            feed.put(lambda observer: observer.event(stream, event), chars)


class Observers:
    """The feeds of one verifier."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        """Nothing runs yet.

        Raises:
            UsageError: something is no observer. Caller.
        """
        for observer in observers:
            missing = [
                name for name in ("opened", "retrieved", "event", "idle") if not hasattr(observer, name)
            ]
            if missing:
                raise UsageError(f"{observer!r} is no observer: it has no {', '.join(missing)}()")
        self._feeds = tuple(Feed(observer) for observer in observers)
        for feed in self._feeds:  # forgotten without being closed: let the threads end by themselves
            weakref.finalize(self, feed.end).atexit = False

    def observation(
        self, stream: str, context: StreamContext, question: str | None, around: Context
    ) -> Observation | None:
        """For one stream; None where nobody looks on."""
        return Observation(self._feeds, stream, context, question, around) if self._feeds else None

    @property
    def statistics(self) -> tuple[ObserverStatistics, ...]:
        """One an observer, in the order they were given."""
        return tuple(feed.statistics for feed in self._feeds)

    def drain(self, seconds: float) -> bool:
        """Wait until every observer has seen all there is; False where `seconds` passed first."""
        until = time.monotonic() + seconds
        done = [feed.drain(max(until - time.monotonic(), 0.0)) for feed in self._feeds]
        return all(done)

    def close(self, seconds: float = GRACE) -> None:
        """Let the observers see the rest, for `seconds` at most over all of them; again does nothing."""
        until = time.monotonic() + seconds
        for feed in self._feeds:
            feed.end()
        for feed in self._feeds:
            feed.close(max(until - time.monotonic(), 0.0))


def _length(event: Event) -> int:
    match event:
        case TextReleased():
            return len(event.text)
        case StreamFinished() | StreamHalted() | StreamFailed():
            return 3 * len(event.report.answer)
        case _:
            return 0
