"""Two configurations on live traffic: who gets which, and which is better by what was recorded.

Before: an application names the arm of each stream in `context={"run": …}`. After: `ab decide --records`.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from streamverify.errors import UsageError
from streamverify.evaluate.arms import ArmsDecision, decide_samples
from streamverify.monitor.alerts import FIGURES
from streamverify.monitor.traffic import Answer


def arm_of(subject: str, experiment: str, arms: Mapping[str, float] | Sequence[str]) -> str:
    """The arm a subject belongs to: always the same one, in every process.

    Args:
        subject: who or what is assigned, e.g. a user's or a conversation's id.
        experiment: its name; another one assigns anew.
        arms: names, or names with shares that sum to 1. Where the first of two shrinks in favour of the
            second, nobody moves the other way.

    Raises:
        UsageError: there are no arms, or shares that make no sense. Caller.
    """
    shares = dict(arms) if isinstance(arms, Mapping) else {name: 1 / len(arms) for name in arms}
    if not shares or any(not 0 <= share <= 1 for share in shares.values()):
        raise UsageError("name at least one arm; shares lie between 0 and 1")
    if not math.isclose(math.fsum(shares.values()), 1, abs_tol=1e-9):
        raise UsageError(f"the shares of the arms sum to {math.fsum(shares.values()):g}, not to 1")
    drawn = hashlib.sha256(f"{experiment}\0{subject}".encode("utf-8", "surrogatepass")).digest()
    place, reached = int.from_bytes(drawn[:8], "big") / 2**64, 0.0
    for name, share in shares.items():
        reached += share
        if place < reached and share:
            return name
    return next(name for name, share in reversed(shares.items()) if share)  # rounding, just below 1


def decide_recorded(
    a: Sequence[Answer], b: Sequence[Answer], figure: str, *, look: int = 1, looks: int = 1
) -> ArmsDecision:
    """Whether B should replace A, by recorded answers of each.

    Answers of one requester are alike: their mean counts once.

    Args:
        a: answers of what is used now.
        b: answers of what could replace it.
        figure: one of `alerts.FIGURES`; of those that end in `_rate`, lower is better.
        look: which of the planned looks this is, from 1.
        looks: how many are planned.

    Raises:
        UsageError: no such figure, or no such look. Caller.
    """
    if figure not in FIGURES:
        raise UsageError(f"{figure!r} is no figure of recorded answers; there are {', '.join(FIGURES)}")
    better = not figure.endswith("_rate")
    arms = [subject_means(answers, figure) for answers in (a, b)]
    return decide_samples(figure, *arms, higher_is_better=better, look=look, looks=looks)


def subject_means(answers: Sequence[Answer], figure: str) -> list[float]:
    """A figure of each requester; an answer without one stands for itself."""
    held: defaultdict[object, list[float]] = defaultdict(list)
    for answer in answers:
        top, whole = FIGURES[figure](answer)
        if whole:
            held[answer.stream if answer.requester is None else answer.requester].append(top / whole)
    return [math.fsum(values) / len(values) for values in held.values()]
