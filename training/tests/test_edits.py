"""Edits that break one detail of a sentence: what they change, and that the marked stretch is all of it."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.edits import BREAKING, Edit, Material, change_extent, change_unit, negate, oppose

SENTENCES = (
    "Both firms must pay twice as much as they did in March 2012, unless Ada Byron agrees.",
    "All 14 panels were closed for three weeks until the North Gate opened.",
    "Most members have not paid the fee of 40 euros, which is lower than before.",
    "Some of the 2,500 litres can be stored in Halden only if Olaf Brandt approves.",
)
MATERIAL = Material(
    "Olaf Brandt met Ada Byron in Halden on 3 May; 12 panels were lost.", ("Selma Ek", "Port Hull")
)


@given(st.sampled_from(BREAKING), st.sampled_from(SENTENCES), st.integers(0, 10_000))
def test_what_is_outside_the_marked_stretches_is_the_sentence_as_it_was(
    edit: tuple[Edit, str, int], sentence: str, seed: int
) -> None:
    made = edit[0](sentence, MATERIAL, Random(seed))
    if made is None:
        return
    assert made.text != sentence
    first, last = made.spans[0][0], made.spans[-1][1]
    assert sentence.startswith(made.text[:first])
    assert sentence.endswith(made.text[last:])


@pytest.mark.parametrize(
    ("edit", "sentence", "expected"),
    [
        (change_unit, "It took 3 weeks.", {f"It took 3 {unit}." for unit in
                                          "seconds minutes hours days months years decades".split()}),
        (change_unit, "It took a few weeks.", set()),
        (change_extent, "Every member votes.", {"Hardly any member votes.", "Not every member votes."}),
        (change_extent, "Members vote.", set()),
        (negate, "They were late.", {f"They were {word} late." for word in ("not", "never", "no longer")}),
        (negate, "They were not late.", {"They were late."}),
        (oppose, "It was the highest.", {"It was the lowest."}),
    ],
)  # fmt: skip
def test_an_edit_says_something_else(edit: Edit, sentence: str, expected: set[str]) -> None:
    made = [edit(sentence, MATERIAL, Random(seed)) for seed in range(200)]
    assert {found.text for found in made if found} == expected
