"""When a claim needs no more passes: the first ones decide already.

    first     what is cited, the windows that share most with the claim, the joint pass
    enough?   one of them entails the claim, or neither a window nor all together come near
    rest      the remaining single passes, where it is not enough

The windows of the first round are all that share nearly as much as the best: a passage that says otherwise
about the same thing shares its words, and is always looked at (docs/decisions/early-exit.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from streamverify.scorers.protocol import NliScore

NEARLY = 0.7
"""Share of the best window's weight from which a window belongs to the first round."""
ENTAILED = 0.5
"""Probability of entailment in one window from which no other window can take the support away."""
FAR = 0.1
"""Highest probability of entailment, joint pass included, at which the windows that share less bring none."""


def first_round(ranked: Sequence[tuple[int, float]]) -> list[int]:
    """The windows of the first round.

    Args:
        ranked: windows and their weights, best first.
    """
    return [window for window, weight in ranked if weight >= NEARLY * ranked[0][1]]


def beside(ranked: Sequence[int], count: int, cited: Sequence[int]) -> list[int]:
    """The windows of the first round beside the cited ones.

    A cited window that is not among the best `count` takes the place of the last of them; the best one stays.
    Those that lose their place are read where the first round does not decide.

    Args:
        ranked: what `first_round` gives.
        count: single passes of a claim that cites nothing, 1 or more.
        cited: windows that get a single pass in any case.
    """
    best = list(ranked[:count])
    while len(best) > 1 and len({*best, *cited}) > count:
        best.pop()
    return best


def enough(singles: Sequence[NliScore], joint: NliScore | None) -> bool:
    """Whether the first round decides."""
    best = max((score.entailment for score in singles), default=0.0)
    if best >= ENTAILED:
        return True
    return joint is not None and max(best, joint.entailment) <= FAR
