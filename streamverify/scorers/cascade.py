"""Scorers that are asked one after the other: a quick one always, a slower one where that is in doubt.

Before: a caller names two or three scorers. After: `verifier.py` loads, `streaming/cascade.py` asks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple, TypeAlias

from streamverify.calibration import Calibration
from streamverify.errors import ModelContractError, UsageError
from streamverify.judging.doubt import Band
from streamverify.scorers.named import ScorerLike, Share, scorer_from
from streamverify.scorers.protocol import Scorer

NAME = "cascade"
"""What `Verifier(model=...)` and the command line call the cascade of the two models of this project."""


@dataclass(frozen=True, slots=True)
class Cascade:
    """Two or three scorers: the first is always asked, each later one where the one before it is in doubt.

    In doubt is a sentence whose calibrated probability, or that of one of its citations, lies in the band,
    and one that the scorer could not read (its language, its length) or failed on. Every scorer goes by its
    own calibration; the verdict is that of the last one that was asked and had a word, and where it weighs
    what the one before said, its label's probability is of both.

        Verifier(Cascade("fast", "accurate", judge=LLMJudgeScorer("gpt-5-mini")))

    Attributes:
        first: a scorer, or what `Verifier` makes one of: a name, a function.
        second: likewise.
        judge: likewise, asked where the second is in doubt too; None for nobody.
        band: lowest and highest probability (0-1) of the first that leave it in doubt, ends included; equal
            ends for never, (0, 1) for always. None for the band fitted with the second's calibration.
        judge_band: likewise for the second's; None for the same numbers as `band`.
        kept: share (0 to below 1) of the first's log-odds in the second's label; None for the one fitted with
            the second's calibration for this first, 0 where none was. A judge decides by itself.
    """

    first: ScorerLike
    second: ScorerLike
    _: KW_ONLY
    judge: ScorerLike | None = None
    band: tuple[float, float] | None = None
    judge_band: tuple[float, float] | None = None
    kept: float | None = None

    def __post_init__(self) -> None:
        """Refuse bands that are none.

        Raises:
            UsageError: an end is no probability, or the ends are in the wrong order; or there is a band for a
                judge and no judge. Caller.
        """
        for band in (self.band, self.judge_band):
            if band is not None:
                Band.of(band)
        if self.kept is not None and not 0 <= self.kept < 1:
            raise UsageError(f"kept is a share of the first's log-odds, 0 to below 1, not {self.kept!r}")
        if self.judge is None and self.judge_band is not None:
            raise UsageError("judge_band is for a cascade with a judge: give judge=, or leave it out")


class Step(NamedTuple):
    """One scorer of a cascade, or the only one."""

    make: Callable[[], Scorer]
    owned: bool
    """Whether whoever makes it closes it."""
    band: Band | None
    """Of a later one, where the caller gave it."""
    kept: float | None = None
    """Likewise."""


CascadeLike: TypeAlias = "ScorerLike | Cascade"
"""What is accepted wherever a verifier is told what scores."""


def steps_from(given: CascadeLike, share: Share | None = None) -> tuple[Step, ...]:
    """The scorers in the order they are asked; nothing is loaded.

    Raises:
        ModelNotFoundError: a text that is neither a name nor a folder. Caller.
        UsageError: something that is no scorer. Caller.
    """
    if isinstance(given, str) and given == NAME:
        given = Cascade("fast", "accurate")
    if not isinstance(given, Cascade):
        return (Step(*scorer_from(given, share=share), None),)
    band = None if given.band is None else Band.of(given.band)
    second = Step(*scorer_from(given.second, later=True, share=share), band, given.kept)
    steps = [Step(*scorer_from(given.first, share=share), None), second]
    if given.judge is not None:
        own = band if given.judge_band is None else Band.of(given.judge_band)
        steps.append(Step(*scorer_from(given.judge, later=True, share=share), own, 0.0))
    return tuple(steps)


def band_for(
    step: Step, scorer: Scorer, before: Scorer, calibration: Calibration, known: Band | None
) -> Band:
    """The band in which `scorer` decides: the caller's, or the one fitted with its calibration.

    Args:
        step: what the caller said of it.
        scorer: loaded.
        before: the one that speaks before it.
        calibration: in use for that one.
        known: the band of the step before; a judge has the same where none was named for it.

    Raises:
        ModelContractError: there is none, or it was fitted for other probabilities. Operator.
    """
    fitted = scorer.traits.calibration.band
    fits = fitted is not None and fitted.first == calibration.scale
    kept = step.kept if step.kept is not None else fitted.kept if fits and fitted is not None else 0.0
    given = step.band if step.band is not None else known
    if given is not None:
        return Band(given.low, given.high, kept)
    names = f"{before.fingerprint.model} before {scorer.fingerprint.model}"
    hint = "give Cascade(..., band=(low, high)), or fit one with python benchmarks/cascade.py"
    if fitted is None:
        raise ModelContractError(f"no band of doubt was fitted for {names}: {hint}")
    if not fits:
        raise ModelContractError(
            f"the band of doubt was fitted for other probabilities than those of {names}: {hint}"
        )
    return Band(fitted.low, fitted.high, kept)
