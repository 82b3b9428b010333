"""Run the pairs of a law through a verifier and count where the law holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scipy.stats import binomtest

from laws_of_reading.cases import Case, Pair
from laws_of_reading.laws import LAWS
from streamverify import Label, Verifier


class Outcome(NamedTuple):
    """A pair, the labels before and after, and whether the law holds."""

    pair: Pair
    before: Label
    after: Label
    holds: bool


class Rate(NamedTuple):
    """A share of n with its Wilson interval."""

    value: float
    low: float
    high: float
    n: int

    @classmethod
    def of(cls, held: Sequence[bool], confidence: float = 0.95) -> Rate:
        interval = binomtest(sum(held), len(held)).proportion_ci(confidence, method="wilson")
        return cls(*(round(x, 4) for x in (sum(held) / len(held), interval.low, interval.high)), len(held))

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}] of {self.n}"


def label(verifier: Verifier, case: Case) -> Label:
    """The label of a claim that is a whole answer; of several sentences, the last that claims something."""
    report = verifier.check_sync(case.claim, case.passages)
    labels = [s.label for s in report.sentences if s.label is not Label.NO_CLAIM]
    return labels[-1] if labels else Label.NO_CLAIM


def held(verifier: Verifier, law: str, count: int) -> Iterator[Outcome]:
    """Every pair of a law, judged."""
    known: dict[Case, Label] = {}
    for pair in LAWS[law](count):
        for case in (pair.before, pair.after):
            if case not in known:
                known[case] = label(verifier, case)
        before, after = known[pair.before], known[pair.after]
        if pair.expected == "same":
            holds = before is after
        else:
            holds = (after is Label.SUPPORTED) == (pair.expected == "supported")
        yield Outcome(pair, before, after, holds)
