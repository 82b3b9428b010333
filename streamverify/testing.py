"""Doubles for tests of code that uses this library: fast, deterministic, and able to fail on purpose.

They take the place of the model, never of the engine: segmentation, order, policies and reports are the
real ones.
"""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import anyio
import anyio.lowlevel

from streamverify.calibration import Calibration
from streamverify.errors import ScoringError
from streamverify.events import Event
from streamverify.scorers.protocol import (
    Abort,
    Claim,
    ClaimScore,
    NliScore,
    TokenRisk,
    Traits,
    Window,
    WindowScore,
)
from streamverify.stream import VerifiedStream
from streamverify.types import Fingerprint, Label, Span

_SCORES = {
    Label.SUPPORTED: NliScore(0.96, 0.03, 0.01),
    Label.UNSUPPORTED: NliScore(0.03, 0.96, 0.01),
    Label.CONTRADICTED: NliScore(0.02, 0.02, 0.96),
}


@dataclass(frozen=True, slots=True)
class _Shown:
    windows: Sequence[Window]
    from_cache: int = 0


class ScriptedScorer:
    """Labels claims by the words in them; counts its calls.

    Args:
        script: text to label. The first key that occurs in a claim decides; SUPPORTED without any.
        fail_on: a claim that holds this text raises `error`.
        hang_on: a claim that holds this text waits until it is aborted.
        error: what `fail_on` raises; a `ScoringError` by default.
        concurrency: see `Traits`.
    """

    def __init__(
        self,
        script: Mapping[str, Label] | None = None,
        *,
        fail_on: str | None = None,
        hang_on: str | None = None,
        error: Exception | None = None,
        concurrency: int = 4,
    ) -> None:
        self._script = dict(script or {})
        self._fail_on, self._hang_on = fail_on, hang_on
        self._error = error if error is not None else ScoringError("scripted failure")
        self._concurrency = concurrency
        self._lock = threading.Lock()
        self.claims: list[str] = []
        """Texts of the claims scored, in the order they came."""
        self.prepared: list[tuple[str, ...]] = []
        """Texts of the windows of each `prepare`."""
        self.closed = False

    @property
    def fingerprint(self) -> Fingerprint:
        """Says that this is a script."""
        return Fingerprint(model="scripted")

    @property
    def traits(self) -> Traits:
        """Generous limits, any language."""
        return Traits(
            window_tokens=1000,
            claim_tokens=1000,
            concurrency=self._concurrency,
            calibration=Calibration(fitted_on="nothing: scripted"),
        )

    def token_spans(self, text: str) -> Sequence[Span]:
        """Every run of non-blank characters is a token."""
        return list(_words(text))

    def prepare(self, windows: Sequence[Window], *, abort: Abort) -> _Shown:  # noqa: ARG002 - never waits
        """Remember the windows."""
        with self._lock:
            self.prepared.append(tuple(window.text for window in windows))
        return _Shown(tuple(windows))

    def score(self, prepared: _Shown, claims: Sequence[Claim], *, abort: Abort) -> list[ClaimScore]:
        """Follow the script."""
        return [self._score(prepared, claim, abort) for claim in claims]

    def close(self) -> None:
        """Remember having been closed."""
        self.closed = True

    def _score(self, prepared: _Shown, claim: Claim, abort: Abort) -> ClaimScore:
        with self._lock:
            self.claims.append(claim.text)
        if self._hang_on is not None and self._hang_on in claim.text:
            released = threading.Event()
            abort.attach(released.set)
            released.wait()
            raise ScoringError("aborted")
        if self._fail_on is not None and self._fail_on in claim.text:
            raise self._error
        key, label = next(
            ((key, label) for key, label in self._script.items() if key in claim.text), ("", Label.SUPPORTED)
        )
        score = _SCORES[label]
        start = claim.text.find(key) if label is not Label.SUPPORTED else -1
        risky = (TokenRisk(start, start + len(key), 0.9),) if start >= 0 else ()
        words = len(list(_words(claim.text)))
        looked_at = claim.focus if claim.only_focus else range(len(prepared.windows))
        single = tuple(WindowScore(index, score) for index in looked_at)
        return ClaimScore(single=single, tokens=risky, tokens_scored=words, passes=len(single))


def _words(text: str) -> Iterator[Span]:
    start = None
    for index, char in enumerate(text):
        if char.isspace():
            if start is not None:
                yield Span(start, index)
            start = None
        elif start is None:
            start = index
    if start is not None:
        yield Span(start, len(text))


def pieces(text: str, cuts: Sequence[int] | int = 0) -> list[str]:
    """The text cut at the given positions, or at random places seeded by a number; joined it is the text."""
    if isinstance(cuts, int):
        generator = random.Random(cuts)  # noqa: S311 - seeded on purpose
        cuts = [generator.randrange(len(text) + 1) for _ in range(len(text) // 4)]
    borders = [0, *sorted(cut for cut in cuts if 0 <= cut <= len(text)), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(borders)]


async def stream_of(parts: Sequence[str], *, error: Exception | None = None) -> AsyncGenerator[str, None]:
    """A source that yields the parts, letting other tasks run between them, and then fails if told to."""
    for part in parts:
        await anyio.lowlevel.checkpoint()
        yield part
    if error is not None:
        raise error


class ClosableSource:
    """A source that records how far it was read and that it was closed; each iteration begins anew.

    Args:
        parts: what it yields, letting other tasks run before each.
        endless: wait for ever after the last part, as a model that says nothing more.
        error: raise this after the last part.
        before: called, with its position, before each part; a wait in it holds the part back.
    """

    def __init__(
        self,
        parts: Sequence[str],
        *,
        endless: bool = False,
        error: Exception | None = None,
        before: Callable[[int], Awaitable[object]] | None = None,
    ) -> None:
        self._parts, self._endless, self._error, self._before = tuple(parts), endless, error, before
        self.yielded = 0
        """Parts handed over."""
        self.waiting = anyio.Event()
        """Set once an endless source has nothing left."""
        self.closed = anyio.Event()
        """Set once it was closed, or has ended."""

    async def __aiter__(self) -> AsyncGenerator[str, None]:
        """The parts."""
        try:
            for position, part in enumerate(self._parts):
                await anyio.lowlevel.checkpoint()
                if self._before is not None:
                    await self._before(position)
                self.yielded += 1
                yield part
            if self._error is not None:
                raise self._error
            if self._endless:
                self.waiting.set()
                await anyio.sleep_forever()
        finally:
            self.closed.set()


async def collect(stream: VerifiedStream) -> list[Event]:
    """Every event of an opened stream."""
    return [event async for event in stream]
