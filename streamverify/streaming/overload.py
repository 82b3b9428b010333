"""What becomes of a check that has waited: whole, hurried, or none any more.

Before: `workers.py` gives it a thread. After: `judge.py` has the sentence judged so.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

Haste: TypeAlias = Literal["none", "hurried", "too_late"]

HURRY = 0.4
"""Share of the longest wait from which a check takes the fewest passes: early enough for the queue to shrink
before any sentence is given up."""


def haste(waited: float, max_lag: float | None) -> Haste:
    """How to go on with a check that waited so long.

    Args:
        waited: seconds, 0 or more.
        max_lag: the longest wait, in seconds; None where every sentence is checked whatever it takes.
    """
    if max_lag is None or waited < HURRY * max_lag:
        return "none"
    return "hurried" if waited < max_lag else "too_late"
