"""A plain function as the scorer.

The function is asked for the claim against all passages at once, which decides the label. It is asked once
more for the passage that shares most words with the claim, and for each passage the sentence cites, so that
evidence and citations have probabilities of their own.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from streamverify.calibration import Calibration
from streamverify.errors import ScoringError, UsageError
from streamverify.scorers.protocol import (
    Abort,
    Claim,
    ClaimScore,
    NliScore,
    Prepared,
    Traits,
    Window,
    WindowScore,
)
from streamverify.types import Fingerprint, Span

ScoringFunction = Callable[[str, Sequence[str]], float]
"""Claim and texts of the passages to the probability (0-1) that they support it."""

CONCURRENCY = 16
"""Calls at once. A function mostly asks something across a network and waits: one call at a time, and sixteen
streams wait for each other without end. One that computes gains and loses nothing by it."""
_WORD = re.compile(r"\w+|[^\w\s]")
_WHOLE = 1_000_000
"""Words and marks of a window: passages come whole."""


@dataclass(frozen=True, slots=True)
class _Texts:
    windows: tuple[Window, ...]
    words: tuple[frozenset[str], ...]
    from_cache: int = 0


class FunctionScorer:
    """Scores claims with a function `(claim, passages) -> probability`."""

    def __init__(self, function: ScoringFunction, *, concurrency: int = CONCURRENCY) -> None:
        """Nothing is called yet.

        Args:
            function: blocking; called in threads of the verifier. What it raises makes the sentence
                unverified, as does a result that is no number between 0 and 1.
            concurrency: how many threads may call it at once; 1 for a function that only one may be in.

        Raises:
            UsageError: the function is asynchronous, or `concurrency` is below 1. Caller.
        """
        if inspect.iscoroutinefunction(function):
            raise UsageError(
                "a scoring function must be a plain function, not async: it is called in a thread"
            )
        if concurrency < 1:
            raise UsageError("concurrency must be at least 1")
        self._function, self._concurrency = function, concurrency

    @property
    def fingerprint(self) -> Fingerprint:
        """The function's name."""
        name = getattr(self._function, "__qualname__", type(self._function).__qualname__)
        return Fingerprint(model=f"{getattr(self._function, '__module__', '')}.{name}", provider="function")

    @property
    def traits(self) -> Traits:
        """Words and punctuation marks count as tokens; any language; knows no contradiction."""
        return Traits(
            window_tokens=_WHOLE,
            claim_tokens=2000,
            concurrency=self._concurrency,
            calibration=Calibration(
                weights={"joint": 1.0}, fitted_on="nothing: the function's own probability"
            ),
            contradiction=False,
        )

    def token_spans(self, text: str) -> Sequence[Span]:
        """Words and punctuation marks."""
        return [Span(*match.span()) for match in _WORD.finditer(text)]

    def prepare(self, windows: Sequence[Window], *, abort: Abort) -> Prepared:  # noqa: ARG002 - it is quick
        """Keep the texts."""
        return _Texts(tuple(windows), tuple(_words(window.text) for window in windows))

    def score(self, prepared: Prepared, claims: Sequence[Claim], *, abort: Abort) -> list[ClaimScore]:
        """Ask the function about each claim, in order.

        Raises:
            ScoringError: `abort` was set between two claims.
            Exception: what the function raised.
        """
        assert isinstance(prepared, _Texts), "prepared by another scorer"
        return [self._score(prepared, claim, abort) for claim in claims]

    def close(self) -> None:
        """Nothing to free."""

    def _score(self, prepared: _Texts, claim: Claim, abort: Abort) -> ClaimScore:
        known: dict[tuple[int, ...], NliScore] = {}

        def asked(windows: Iterable[int]) -> NliScore:
            chosen = tuple(windows)
            if abort.is_set:
                raise ScoringError("stopped: the check was called off")
            if chosen not in known:
                texts = [prepared.windows[window].text for window in chosen]
                known[chosen] = _score_of(self._function(claim.text, texts))
            return known[chosen]

        wanted = _words(claim.text)
        everything = range(len(prepared.windows))
        near = max(everything, key=lambda window: len(wanted & prepared.words[window]))
        looked_at = claim.focus if claim.only_focus else tuple(dict.fromkeys((near, *claim.focus)))
        joint = asked(looked_at if claim.only_focus else everything)
        single = [WindowScore(window, asked([window])) for window in looked_at]
        together = tuple(asked(group) for group in claim.together)
        return ClaimScore(
            single=tuple(sorted(single, key=lambda entry: (-entry.score.entailment, entry.window))),
            joint=joint,
            together=together,
            tokens_scored=len(self.token_spans(claim.text)),
            passes=len(known),
        )


def _score_of(result: object) -> NliScore:
    """The function's probability; what cannot be one is refused where all scores are."""
    if isinstance(result, bool) or not hasattr(result, "__float__"):
        raise ScoringError(f"the scoring function returned {type(result).__name__}, not a number from 0 to 1")
    entailment = float(result)
    return NliScore(entailment, 1 - entailment, 0.0)


def _words(text: str) -> frozenset[str]:
    return frozenset(match.group().casefold() for match in _WORD.finditer(text) if match.group()[0].isalnum())
