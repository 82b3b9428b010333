"""Which configuration the next answer gets: those that do well are asked more often.

Before: an application asks for an arm and names it in `context={"run": …}`. After: each answer's faithfulness
is the arm's reward.

Thompson sampling (Thompson 1933, "On the likelihood that one unknown probability exceeds another", Biometrika
25): each arm has a Beta distribution of what it is worth, one value is drawn of each, and the highest wins. A
reward r of 0-1 counts as r successes and 1 - r failures, which keeps the regret logarithmic (Agrawal and
Goyal 2012, who toss a coin of that probability in place).
"""

from __future__ import annotations

import random
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streamverify.errors import UsageError
from streamverify.events import Event, StreamFailed, StreamFinished, StreamHalted
from streamverify.figure import finite
from streamverify.observe import Observer, Opening
from streamverify.types import Label, Report

_OPEN = 10_000


@dataclass(frozen=True, slots=True)
class ArmState:
    """What is known of one arm: its Beta distribution, which begins at (1, 1)."""

    successes: float = 1.0
    failures: float = 1.0

    @property
    def mean(self) -> float:
        """What it is worth, 0-1."""
        return self.successes / (self.successes + self.failures)

    @property
    def rewards(self) -> float:
        """How many it rests on."""
        return self.successes + self.failures - 2


class ThompsonRouter(Observer):
    """Chooses arms, and learns from what streams were worth: `Verifier(observers=[router])`.

    Safe from any thread. A stream belongs to the arm that its context names as `run`; its reward is the share
    of its claims that is supported, and 0 where it failed. One that claims nothing teaches nothing.
    """

    def __init__(self, arms: Sequence[str] | Mapping[str, ArmState], *, seed: int | None = None) -> None:
        """Nothing is known yet, or what `state` told before.

        Args:
            arms: names, or what is known of each.
            seed: for choices that can be repeated; None for others each time.

        Raises:
            UsageError: there are fewer than two arms. Caller.
        """
        known = dict(arms) if isinstance(arms, Mapping) else {name: ArmState() for name in arms}
        if len(known) < 2:
            raise UsageError("a choice needs two arms or more")
        self._arms = known
        self._drawn = random.Random(seed)  # noqa: S311 - nobody gains by guessing an arm
        self._lock = threading.Lock()
        self._open: OrderedDict[str, str] = OrderedDict()

    @property
    def state(self) -> dict[str, ArmState]:
        """What is known of each arm, to be kept and given to another router."""
        with self._lock:
            return dict(self._arms)

    def choose(self) -> str:
        """The arm for the next answer."""
        with self._lock:
            return max(
                self._arms,
                key=lambda name: self._drawn.betavariate(
                    self._arms[name].successes, self._arms[name].failures
                ),
            )

    def reward(self, arm: str, value: float) -> None:
        """Learn what an answer of an arm was worth.

        Args:
            arm: that answered.
            value: 0-1.

        Raises:
            UsageError: there is no such arm, or the value is out of range. Caller.
        """
        if arm not in self._arms:
            raise UsageError(f"{arm!r} is no arm; there are {', '.join(self._arms)}")
        if not 0 <= finite(value, "a reward") <= 1:
            raise UsageError(f"a reward lies between 0 and 1; {value:g} does not")
        with self._lock:
            before = self._arms[arm]
            self._arms[arm] = ArmState(before.successes + value, before.failures + 1 - value)

    def opened(self, opening: Opening) -> None:
        """Remember whose stream it is."""
        if opening.context.run in self._arms:
            self._open[opening.stream] = opening.context.run
            while len(self._open) > _OPEN:
                self._open.popitem(last=False)

    def event(self, stream: str, event: Event) -> None:
        """Learn from a stream that has ended."""
        if isinstance(event, StreamFinished | StreamHalted | StreamFailed):
            arm = self._open.pop(stream, None)
            worth = 0.0 if isinstance(event, StreamFailed) else _worth(event.report)
            if arm is not None and worth is not None:
                self.reward(arm, worth)


def _worth(report: Report) -> float | None:
    """Supported claims / claims; what nobody could check is no success."""
    claims = [sentence for sentence in report.sentences if sentence.label is not Label.NO_CLAIM]
    if not claims:
        return None
    return sum(sentence.label is Label.SUPPORTED for sentence in claims) / len(claims)
