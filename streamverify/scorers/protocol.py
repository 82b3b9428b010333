"""The seam between the engine and whatever judges entailment.

Before: `passages.py` cuts passages into windows and `claims/reader.py` reads a claim out of a sentence.
After: `judging/verdict.py` turns the scores into a verdict.

A scorer is plain blocking code. The verifier owns the threads that call it, the deadlines and the
order; a scorer may be called from several threads at once, at most `Traits.concurrency` of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from streamverify.calibration import Calibration
from streamverify.types import Fingerprint, Span

Provider = Literal["cpu", "cuda", "auto"]
"""Where a model runs; `auto` takes CUDA where the runtime offers it, and the CPU elsewhere."""


@dataclass(frozen=True, slots=True)
class Window:
    """A slice of a passage that fits the model; the windows of a passage cover all of its text."""

    passage: int
    """Position of the passage in the stream's passages, from 0."""
    text: str
    start: int
    """Offset of `text` in the passage's text, in characters."""
    end: int
    title: str = ""
    """The passage's title, for scorers that read it with the text."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What is asked of the passages: a sentence as it should be read, markup and markers taken off."""

    text: str
    offsets: tuple[int, ...] = ()
    """For each character of `text` its offset in the answer, or -1 where it was put in from the context."""
    focus: tuple[int, ...] = ()
    """Indices of windows that must get a single pass, whatever their likeness (cited passages)."""
    only_focus: bool = False
    """Look at no other windows than `focus` (parts of a sentence against the passage it cites)."""
    together: tuple[tuple[int, ...], ...] = ()
    """Sets of windows to be scored in a joint pass of their own (citations that need two sources)."""
    hints: tuple[str, ...] = ()
    """Texts around the claim that tell which windows matter where there are many: the question asked and the
    sentence before. They are no part of what is judged."""
    hurried: bool = False
    """Take as few passes as can be: the machine is behind. A scorer that has no fewer may ignore it."""
    wholes: tuple[Span, ...] = ()
    """Ranges of `text` that stand for something of the answer as a whole, since it is put otherwise there:
    what is said of a part of one is said of all of it."""


@dataclass(frozen=True, slots=True)
class NliScore:
    """Probabilities of one claim against its premise; they sum to 1 within 1e-3.

    A scorer that cannot tell contradiction from silence (`Traits.contradiction` is False) puts all
    that is not entailment into `neutral`.
    """

    entailment: float
    neutral: float
    contradiction: float


@dataclass(frozen=True, slots=True)
class WindowScore:
    """A single pass: the claim against one window."""

    window: int
    """Index into the windows given to `prepare`."""
    score: NliScore


@dataclass(frozen=True, slots=True)
class TokenRisk:
    """Probability (0-1) that the characters `[start, end)` of the claim's text are unsupported."""

    start: int
    end: int
    risk: float


@dataclass(frozen=True, slots=True)
class ClaimScore:
    """Everything a scorer tells about one claim."""

    single: tuple[WindowScore, ...]
    """One for each window that was looked at, highest entailment first."""
    joint: NliScore | None = None
    """One pass over all selected windows at once; None where the scorer has no such pass."""
    together: tuple[NliScore, ...] = ()
    """In the order of `Claim.together`; empty where the scorer has no joint pass."""
    tokens: tuple[TokenRisk, ...] = ()
    """In text order; empty where the scorer does not judge tokens."""
    tokens_scored: int = 0
    """Tokens of the claim."""
    passes: int = 0
    """Runs of the model that this claim cost."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What the engine must know about a scorer before it uses it."""

    window_tokens: int
    """Longest window, in the scorer's tokens, special tokens not counted."""
    claim_tokens: int
    """Longest claim, likewise. A longer one is UNVERIFIED, never cut in silence."""
    concurrency: int
    """How many threads may call `score` at once to good effect."""
    calibration: Calibration
    contradiction: bool = True
    """Whether `NliScore.contradiction` means anything."""
    joint: bool = True
    """Whether `ClaimScore.joint` is given where a claim has several windows."""
    title_tokens: int = 0
    """Of a window's tokens, those kept free for its passage's title; 0 where titles are not read."""
    languages: frozenset[str] | None = None
    """ISO 639-1 codes the scorer covers; None for any language."""


class Abort:
    """Tells running calls to stop; may be set from any thread, once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callbacks: dict[object, Callable[[], None]] = {}
        self._set = False

    @property
    def is_set(self) -> bool:
        """Whether `set` was called."""
        return self._set

    def set(self) -> None:
        """Call what is attached, and whatever will be attached later at once."""
        with self._lock:
            self._set = True
            callbacks = list(self._callbacks.values())
            self._callbacks.clear()
        for callback in callbacks:
            callback()

    def attach(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` when set; returns the function that takes it off again."""
        key = object()
        with self._lock:
            if not self._set:
                self._callbacks[key] = callback
                return lambda: self._detach(key)
        callback()
        return lambda: None

    def _detach(self, key: object) -> None:
        with self._lock:
            self._callbacks.pop(key, None)


class Prepared(Protocol):
    """What a scorer made of a stream's windows; only the scorer that made it looks inside."""

    @property
    def windows(self) -> Sequence[Window]:
        """The windows given to `prepare`, in order."""
        ...

    @property
    def from_cache(self) -> int:
        """How many of them needed no work because a cache held them."""
        ...


@runtime_checkable
class Renewing(Protocol):
    """A scorer that takes up windows it prepared before without reading their texts again."""

    def renew(self, prepared: Prepared, *, abort: Abort) -> Prepared:
        """What `prepare` of the same windows would give now. Blocking.

        Args:
            prepared: of this scorer's `prepare` or `renew`; stays usable.
            abort: when set, the call ends soon with `ScoringError`.

        Raises:
            ScoringError: the model failed, or `abort` was set. Operator, or nobody.
        """
        ...


@runtime_checkable
class Deferring(Protocol):
    """A scorer that can leave the work on windows until a claim asks for some of them."""

    def read(self, windows: Sequence[Window], *, abort: Abort) -> Prepared:
        """As `prepare`, without what a claim may do when it comes. Blocking.

        Args:
            windows: in passage order; may be empty.
            abort: when set, the call ends soon with `ScoringError`.

        Raises:
            ScoringError: the model failed, or `abort` was set. Operator, or nobody.
        """
        ...

    def reread(self, prepared: Prepared) -> Prepared:
        """What `read` of the same windows would give now, without reading their texts again.

        Args:
            prepared: of this scorer's `prepare` or `read`; stays usable.
        """
        ...

    def ahead(self, prepared: Prepared, *, abort: Abort) -> None:
        """Do the work on windows as long as no claim needs the cores; begins it and returns at once.

        Args:
            prepared: of this scorer's `read` or `reread`.
            abort: when set, nobody wants it any more.
        """
        ...


@runtime_checkable
class Expecting(Protocol):
    """A scorer that leaves room for passages before it is asked to prepare them."""

    def expect(self, texts: Sequence[str]) -> AbstractContextManager[None]:
        """Texts of passages that wait to be prepared, for as long as the context is entered; never blocks."""
        ...


@runtime_checkable
class Lending(Protocol):
    """A scorer whose tokens can be read without it, in another process too."""

    @property
    def reader(self) -> Callable[[str], Sequence[Span]]:
        """As `token_spans`; can be pickled, and is small beside a model."""
        ...


@runtime_checkable
class Scorer(Protocol):
    """Judges how far windows support claims."""

    @property
    def fingerprint(self) -> Fingerprint:
        """Model, revision, precision and the provider really in use."""
        ...

    @property
    def traits(self) -> Traits:
        """Limits, abilities and calibration."""
        ...

    def token_spans(self, text: str) -> Sequence[Span]:
        """Where each token of `text` stands, in text order; used to cut windows and to count."""
        ...

    def prepare(self, windows: Sequence[Window], *, abort: Abort) -> Prepared:
        """Do everything that does not depend on a claim. Blocking.

        Args:
            windows: in passage order; may be empty.
            abort: when set, the call ends soon with `ScoringError`.

        Raises:
            ScoringError: the model failed, or `abort` was set. Operator, or nobody.
        """
        ...

    def score(self, prepared: Prepared, claims: Sequence[Claim], *, abort: Abort) -> list[ClaimScore]:
        """Score every claim against the prepared windows, in order. Blocking.

        The scores of a claim do not depend on the other claims of the call.

        Args:
            prepared: of this scorer's `prepare`, with at least one window.
            claims: each at most `traits.claim_tokens` tokens long.
            abort: when set, the call ends soon with `ScoringError`.

        Raises:
            ScoringError: the model failed, or `abort` was set. Operator, or nobody.
        """
        ...

    def close(self) -> None:
        """Free what the scorer holds; calling it twice does nothing."""
        ...
