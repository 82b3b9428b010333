"""The visits of one day: who asks what when, what was retrieved, and what the model will say. Pure.

Before: a seed. After: `model.py` answers, `replay.py` asks.

    00–24   release-1: true sentences of the bundled cases, now and then a false one
    12–15   release-2, the bad one: mostly false sentences, and some answers break off
    20–24   release-1 again; the retriever brings twice as many passages, and answers get longer
"""

from __future__ import annotations

import bisect
import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from streamverify.demo import Case, LabelledSentence, load_case
from streamverify.errors import UsageError
from streamverify.types import Label, Passage

CASES = ("docs", "finance", "history", "conflict", "hr", "clinical", "support")
"""Cases whose true sentences the embedded model takes for true in nine of ten cases; its false alarms on the
others would be the news of a day that is about the application."""

BAD_SINCE, BAD_UNTIL, DRIFT_SINCE = timedelta(hours=12), timedelta(hours=15), timedelta(hours=20)
GOOD_RELEASE, BAD_RELEASE = "release-1", "release-2"

_RHYTHM = (4, 3, 3, 3, 4, 5, 6, 8, 9, 10, 10, 10, 10, 10, 10, 9, 9, 9, 8, 8, 9, 9, 8, 7)
"""Visits in each hour, to scale."""
_FALSE_NOW_AND_THEN = 0.06
_BREAKS_OFF = 0.2
"""Share of the bad release's answers that end with an error."""
_USERS = 40


@dataclass(frozen=True, slots=True)
class Visit:
    """One question, and what will come of it."""

    number: int
    """From 0, in the order of `at`."""
    at: datetime
    """In UTC."""
    user: str
    domain: str
    release: str
    question: str
    passages: tuple[Passage, ...]
    answer: str
    breaks_off: bool
    """Whether the model's server ends the answer with an error."""


def visits_of(day: date, count: int, seed: int) -> tuple[Visit, ...]:
    """The visits of a day, in order; the same ones for the same arguments.

    Args:
        day: in UTC.
        count: of visits, 1 or more. Fewer than 200 are too few for alerts to be sure of anything.
        seed: of everything that is drawn.

    Raises:
        UsageError: there are none. Caller.
    """
    if count < 1:
        raise UsageError("a day needs at least one visit")
    drawn = random.Random(seed)  # noqa: S311 - a play, and seeded on purpose
    cases = [load_case(name) for name in CASES]
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
    made = []
    for number in range(count):
        after = _moment((number + drawn.random()) / count)
        made.append(_visit(number, midnight + after, after, cases, drawn))
    return tuple(made)


def _moment(share: float) -> timedelta:
    """When this share of the day's visits is over."""
    reached = list(itertools.accumulate(_RHYTHM, initial=0))
    at = share * reached[-1]
    hour = min(bisect.bisect_right(reached, at) - 1, len(_RHYTHM) - 1)
    return timedelta(hours=hour + (at - reached[hour]) / _RHYTHM[hour])


def _visit(number: int, at: datetime, after: timedelta, cases: Sequence[Case], drawn: random.Random) -> Visit:
    place = drawn.randrange(len(cases))
    case, other = cases[place], cases[(place + drawn.randrange(1, len(cases))) % len(cases)]
    bad = BAD_SINCE <= after < BAD_UNTIL
    drifted = after >= DRIFT_SINCE
    said = _bad(case, drawn) if bad else _true(case) if drifted else _short(case, drawn)
    return Visit(
        number=number,
        at=at,
        user=f"visitor-{drawn.randrange(_USERS):02}",
        domain=case.domain,
        release=BAD_RELEASE if bad else GOOD_RELEASE,
        question=case.question,
        passages=case.sources() + (_foreign(other) if drifted else ()),
        answer=" ".join(sentence.text for sentence in case.sentences if sentence in said),
        breaks_off=bad and drawn.random() < _BREAKS_OFF,
    )


def _foreign(case: Case) -> tuple[Passage, ...]:
    """The passages of another case, under ids that no passage of the first one has."""
    return tuple(Passage(f"{case.id}-{p.id}", p.text, p.title, p.metadata) for p in case.sources())


def _true(case: Case) -> list[LabelledSentence]:
    return [sentence for sentence in case.sentences if sentence.label is Label.SUPPORTED]


def _false(case: Case) -> list[LabelledSentence]:
    wrong = (Label.CONTRADICTED, Label.UNSUPPORTED)
    return [sentence for sentence in case.sentences if sentence.label in wrong]


def _short(case: Case, drawn: random.Random) -> list[LabelledSentence]:
    said = drawn.sample(_true(case), drawn.randint(2, 3))
    return said + (drawn.sample(_false(case), 1) if drawn.random() < _FALSE_NOW_AND_THEN else [])


def _bad(case: Case, drawn: random.Random) -> list[LabelledSentence]:
    return drawn.sample(_true(case), drawn.randint(0, 1)) + drawn.sample(_false(case), 2)
