"""Counterparts: every claim stands once right and once wrong, and only what the claims tell has changed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.counterparts import Change, Material, changes, counterpart, of_file, rows
from training.data import Row

SETS = Path(__file__).parents[1] / "sets"
FEES = (
    "The ticket for the tower costs 14 euros. The ticket for the museum costs 19 euros.",
    "Warden Olsen opens the tower in March. All visitors must leave bags with Mrs Bakke.",
)
TOLD = ("A ticket for the tower costs 14 euros.", "Warden Olsen opens the tower in March.")


def context(*claims: str, passages: tuple[str, ...] = FEES) -> list[Row]:
    """Supported claims about the same passages."""
    return [
        {"premise": "\n".join(passages), "passages": list(passages), "claim": claim, "label": "entail"}
        for claim in claims
    ]


@given(st.integers(0, 5_000))
def test_each_claim_stands_as_often_right_as_wrong(seed: int) -> None:
    made = list(rows(context(*TOLD), Random(seed)))
    balance: Counter[str] = Counter()
    for row in made:
        assert row["label"] in ("entail", "not_entail")
        balance[str(row["claim"])] += 1 if row["label"] == "entail" else -1
    assert set(balance.values()) <= {0}
    assert all(len(list(row["passages"])) == 2 for row in made)  # type: ignore[call-overload]


@given(st.integers(0, 5_000))
def test_two_values_that_changed_places_change_back(seed: int) -> None:
    made = [change for change in changes(Material(FEES, TOLD), Random(seed)) if change.place is None]
    twice = [counterpart(counterpart(text, made), made) for text in FEES]
    if all(set(change.words) == set(change.words.values()) for change in made):
        assert twice == list(FEES)


@pytest.mark.parametrize("name", ["details_dev", "contrasts_dev", "replies_dev"])
def test_written_cases_have_counterparts_of_every_kind_that_end_support(name: str) -> None:
    found = list(of_file(SETS / f"{name}.jsonl.gz", seed=1))
    right = {(str(r["premise"]), str(r["claim"])) for r in found if r["label"] == "entail"}
    wrong = {(str(r["premise"]), str(r["claim"])) for r in found if r["label"] != "entail"}
    assert not right & wrong
    kinds = {str(r["kind"]).split(",")[0] for r in found}
    assert {"number", "name", "opposite"} <= kinds
    by_claim = Counter(str(r["claim"]) for r in found if r["label"] == "entail")
    accused = {str(r["claim"]) for r in found if str(r["kind"]).endswith("passages changed")}
    assert accused <= set(by_claim)


def test_a_number_is_exchanged_in_passages_and_claims_alike() -> None:
    made = list(rows(context(TOLD[0], passages=(FEES[0],)), Random(3)))
    wrong = next(r for r in made if str(r["kind"]) == "number, passages changed")
    assert wrong["claim"] == TOLD[0]
    assert "14 euros" not in str(wrong["premise"]).split(". ")[0]


@pytest.mark.parametrize(
    ("passage", "claim", "reason"),
    [
        (
            "The pass takes 14 days. Nothing else is known.",
            "Club members owe 14 dollars yearly.",
            "backed by no such sentence",
        ),
        (
            "It takes three days by rail and 3 by road.",
            "It takes 3 days by rail.",
            "the number in words stays",
        ),
        ("We visit Berga and Lunde today.", "Today we visit Berga.", "both names in one sentence"),
        ("It shows the hall and the yard.", "It shows the hall and the yard.", "nothing to change"),
    ],
)
def test_what_may_still_be_true_is_left_alone(passage: str, claim: str, reason: str) -> None:
    made = [row for seed in range(60) for row in rows(context(claim, passages=(passage,)), Random(seed))]
    assert made == [], reason


def test_a_weaker_word_is_still_right_beside_passages_that_say_more() -> None:
    claims = ("All visitors must leave bags with Mrs Bakke.",)
    made = [row for seed in range(40) for row in rows(context(*claims), Random(seed))]
    weaker = [row for row in made if str(row["kind"]).startswith("quantifier")]
    assert weaker
    assert {row["kind"] for row in weaker} == {"quantifier, changed too", "quantifier, passages changed"}


def test_a_sentence_changes_only_where_it_is_told() -> None:
    change = Change(
        "negation", {}, "It is open.", "It is open.", "It is not open.", sentence="It is not open."
    )
    assert counterpart("It is open. The bar is open.", [change]) == "It is not open. The bar is open."
