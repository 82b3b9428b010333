"""The counts and weights of checks alone."""

from __future__ import annotations

from training.accused import WEIGHED, spoken, weights
from training.fitting import Row


def row(label: str, **signals: float) -> Row:
    return Row("case", label, dict.fromkeys(WEIGHED, 0.0) | signals)


FOUND = [
    *[row("supported") for _ in range(40)],
    *[row("supported", value_replaced=0.3) for _ in range(2)],
    *[row("contradicted") for _ in range(20)],
    *[row("unsupported", value_replaced=0.3) for _ in range(20)],
]


def test_it_is_counted_how_often_a_check_speaks_of_right_and_of_wrong_sentences():
    right, wrong, odds = spoken(FOUND, "value_replaced", 0.1)
    assert (right, wrong) == (2, 20)
    assert odds > 2
    assert spoken(FOUND, "value_replaced", 0.5)[:2] == (0, 0)


def test_only_a_check_that_tells_wrong_from_right_gets_a_weight():
    found = weights(FOUND)
    assert found.pop("value_replaced") < -5
    assert set(found.values()) == {0.0}
