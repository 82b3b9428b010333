"""The learned part of the reader: its file, its features, its rates, and where it keeps silent."""

from __future__ import annotations

import gzip
import json
import math
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.claims import alike, linear
from streamverify.claims.features import features
from streamverify.claims.linear import BUCKETS, REASON_BUCKETS, REASONS, Linear
from streamverify.claims.reader import read
from streamverify.errors import ModelChecksumError, ModelContractError
from streamverify.sentences.segmenter import segment

SETS = Path(__file__).parents[2] / "training" / "sets"


def weights(seed: int = 0) -> Linear:
    random = np.random.default_rng(seed)
    return Linear(
        random.integers(-127, 128, BUCKETS, np.int8),
        0.5,
        random.integers(-127, 128, (len(REASONS), REASON_BUCKETS), np.int8),
        np.full(len(REASONS), 0.25, np.float32),
    )


def test_weights_come_back_from_their_file_and_the_file_is_always_the_same():
    packed = linear.pack(weights())
    again = linear.unpack(packed)
    assert linear.pack(again) == packed
    text = "The fee is 40 euros."
    assert (again.log_odds(text), again.reason(text)) == (weights().log_odds(text), weights().reason(text))


def test_the_installed_weights_are_small_and_checked():
    content = Path(linear.__file__).with_name("claimhood.npz").read_bytes()
    assert len(content) < 300_000
    assert linear.pack(linear.installed()) == content


def test_weights_that_were_changed_are_refused_by_name(tmp_path):
    folder = Path(linear.__file__).parent
    (tmp_path / "claimhood.npz.sha256").write_bytes((folder / "claimhood.npz.sha256").read_bytes())
    (tmp_path / "claimhood.npz").write_bytes(linear.pack(weights()))
    with pytest.raises(ModelChecksumError, match="claimhood.npz"):
        linear.opened(tmp_path)


@pytest.mark.parametrize("content", [b"", b"nothing", linear.pack(weights())[:-2000]])
def test_what_holds_no_weights_is_refused(content):
    with pytest.raises(ModelContractError, match="holds no weights"):
        linear.unpack(content)


def test_weights_of_another_shape_are_refused():
    small = Linear(
        np.zeros(8, np.int8),
        1.0,
        np.zeros((len(REASONS), REASON_BUCKETS), np.int8),
        np.ones(len(REASONS), np.float32),
    )
    with pytest.raises(ModelContractError, match="shapes"):
        linear.unpack(linear.pack(small))


def test_words_of_one_group_share_a_feature_and_groups_come_back_from_their_file() -> None:
    groups = alike.installed()
    assert groups.of("glad") == groups.of("pleased") is not None
    assert groups.of("qqqqq") is None
    content = Path(alike.__file__).with_name(alike.FILE).read_bytes()
    assert alike.unpack(content) == groups
    assert alike.pack(groups.group, groups.family) == content


@pytest.mark.parametrize("content", [b"", b"nothing", alike.pack({1: 3}, [0])])
def test_what_holds_no_groups_is_refused(content: bytes) -> None:
    with pytest.raises(ModelContractError, match="holds"):
        alike.unpack(content)


def test_groups_that_were_changed_are_refused_by_name(tmp_path: Path) -> None:
    checksum = f"{alike.FILE}.sha256"
    (tmp_path / checksum).write_bytes(Path(alike.__file__).with_name(checksum).read_bytes())
    (tmp_path / alike.FILE).write_bytes(alike.pack({1: 0}, [0]))
    with pytest.raises(ModelChecksumError, match=alike.FILE):
        alike.opened(tmp_path)


@pytest.mark.parametrize(
    "text", ["Rossini.", "Rule a is so.", "The guide has *all* steps.", "Doors open at six."]
)
def test_few_words_that_state_something_are_a_claim(text: str) -> None:
    (sentence,) = segment(text)
    assert read(sentence).claim is not None


def test_a_feature_has_the_same_place_in_every_process():
    places, amounts = linear.hashed({"w fee": 0.5})
    assert (places.tolist(), amounts.tolist()) == ([zlib.crc32(b"w fee")], [0.5])


@given(st.text(max_size=400), st.text(max_size=40))
def test_any_text_has_features_and_finite_odds(text, before):
    found = features(text, before=before)
    assert all(math.isfinite(amount) for amount in found.values())
    learned = linear.installed()
    assert math.isfinite(learned.log_odds(text, before=before))
    assert learned.reason(text, before=before) in REASONS


def test_a_long_text_has_no_more_features_than_its_bounds_allow():
    assert len(features("why not? " * 100_000)) <= len(features("why not? " * 1_000))


@pytest.mark.parametrize(
    "text",
    [
        "Danke für Ihre Frage, ich habe die Unterlagen gelesen und melde mich.",
        "Le musée est ouvert tous les jours sauf le lundi, et l'entrée est gratuite pour les enfants.",
    ],
)
def test_a_sentence_of_another_language_is_left_to_the_rules(text):
    (sentence,) = segment(text)
    assert read(sentence) == read(sentence, learned=False)


@pytest.mark.parametrize(
    "text",
    [
        "The passages were written in 1999.",
        "I recommend is not what the leaflet says: it says two tablets.",
        "Sorry seems to be the hardest word was released in 1976.",
        "Thank You for Smoking is a satire.",
        "I've checked the terms and they allow one free exchange.",
        "Let me know your start date, since leave accrues from day one.",
    ],
)
def test_a_claim_that_begins_like_talk_is_a_claim(text):
    assert any(read(sentence).claim is not None for sentence in segment(text))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Have a fab weekend!", "greeting"),
        ("The manual never says which batteries to use.", "abstention"),
        ("My info may be a bit out of date.", "meta"),
        ("If symptoms persist, seek medical advice.", "advice"),
        ("Pop back any time!", "offer"),
    ],
)
def test_talk_that_no_rule_knows_claims_nothing_and_says_why(text, reason):
    (sentence,) = segment(text)
    assert read(sentence, learned=False).claim is not None
    found = read(sentence)
    assert found.claim is None
    assert found.reason is not None
    assert (found.reason.value, found.abstains) == (reason, reason == "abstention")


FLOORS = {
    "claimhood_more": (0.97, 0.02),
    "claimhood_wide": (0.97, 0.03),
    "claimhood_varied": (0.96, 0.03),
    "claimhood_paired": (0.92, 0.04),
    "claimhood_lookalikes": (0.965, 0.02),
    "claimhood_talk": (0.96, 0.02),
    "claimhood_heldout": (0.965, 0.03),
    "claimhood_wide_heldout": (0.93, 0.09),
    "claimhood_varied_heldout": (0.945, 0.055),
    "claimhood_products_heldout": (0.865, 0.025),
    "claimhood_second_heldout": (0.98, 0.02),
}
"""Share that is right at least, and of claims lost at most: a little below what was measured. Those
whose names end in `heldout` were never fitted to; a change that lowers them is worse, one that was
chosen to raise them is forbidden."""


@pytest.mark.slow
@pytest.mark.parametrize("name", FLOORS)
def test_sentences_are_told_apart_at_the_measured_rate(name):
    with gzip.open(SETS / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        cases = [json.loads(line) for line in file]
    if name == "claimhood_wide":
        cases = cases[::6]
    wanted = [case["label"] == "claim" for case in cases]
    found = []
    for case in cases:
        before = segment(case["previous"] + "\n\n") if case["previous"] else []
        sentences = segment(case["text"])
        found.append(
            any(
                read(sentence, previous=[*before, *sentences[:place]]).claim is not None
                for place, sentence in enumerate(sentences)
            )
        )
    right, lost = FLOORS[name]
    assert len(cases) >= 290
    assert sum(map(bool.__eq__, found, wanted)) >= right * len(cases)
    assert sum(claim and not seen for claim, seen in zip(wanted, found, strict=True)) <= lost * sum(wanted)
