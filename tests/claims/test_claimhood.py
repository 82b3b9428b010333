"""Sentences that claim nothing beside claims that look like them, by kind; the cases are development data."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.claims.nonclaims import Reason
from streamverify.claims.reader import ClaimReading, read
from streamverify.demo import case_ids, load_case
from streamverify.reasons import NonClaimReason
from streamverify.sentences.segmenter import segment
from streamverify.types import Label


class Case(NamedTuple):
    id: str
    question: str
    previous: str
    text: str
    label: str
    kind: str


CASES = [
    Case(**json.loads(line))
    for line in (Path(__file__).parent / "claimhood.jsonl").read_text(encoding="utf-8").splitlines()
]
SILENT = sorted(
    {
        case.text
        for case in CASES
        if case.label == "no_claim" and case.kind in ("politeness", "offer", "acknowledgement", "disclaimer")
    }
)


def readings(text: str, previous: str = "") -> list[ClaimReading]:
    """The readings of a text's sentences after a line before them."""
    before = segment(previous + "\n\n") if previous else []
    return [read(sentence, previous=[*before, *found]) for found, sentence in _each(text)]


def _each(text: str):
    found = segment(text)
    return [(found[:index], sentence) for index, sentence in enumerate(found)]


def claims(text: str, previous: str = "") -> bool:
    return any(reading.claim is not None for reading in readings(text, previous))


def test_almost_every_case_of_every_kind_is_read_as_labelled():
    right = defaultdict(list)
    for case in CASES:
        right[case.kind].append(claims(case.text, case.previous) == (case.label == "claim"))
    assert len(CASES) > 700
    assert sum(map(sum, right.values())) >= 0.97 * len(CASES)
    assert {kind: found.count(False) for kind, found in right.items() if sum(found) < 0.9 * len(found)} == {}


def test_hardly_a_claim_goes_unverified():
    lost = [case.text for case in CASES if case.label == "claim" and not claims(case.text, case.previous)]
    assert len(lost) <= 0.02 * sum(case.label == "claim" for case in CASES), lost


FACTS = ("the fee is 40 euros", "it was built in 1932", "the shop has closed", "nobody may enter the hall")


@given(st.sampled_from(SILENT), st.sampled_from(FACTS), st.sampled_from(["; ", " – ", ": ", ". "]))
def test_a_fact_behind_a_courtesy_or_an_offer_is_never_lost(courtesy, fact, seam):
    assert claims(courtesy.rstrip(".!?") + seam + fact + ".")


@given(st.text(max_size=300))
def test_any_text_is_read(text):
    for reading in readings(text):
        assert (reading.claim is None) == (reading.reason is not None)


@pytest.mark.parametrize("case", [load_case(name) for name in case_ids()], ids=case_ids())
def test_no_sentence_of_a_bundled_case_that_claims_nothing_is_judged(case):
    labelled = {sentence.text: sentence.label for sentence in case.sentences}
    met = 0
    for before, sentence in _each(case.answer):
        label = labelled.get(sentence.text.strip().strip("#*- "))
        if label is not None:
            met += 1
            reading = read(sentence, previous=before)
            assert (reading.claim is None) <= (label is Label.NO_CLAIM or reading.abstains), sentence.text
            assert (label is Label.NO_CLAIM) <= (reading.claim is None), sentence.text
    assert met > len(labelled) / 2


@pytest.mark.parametrize(
    "text",
    [
        "Have a nice day!",
        "Enjoy your trip!",
        "Enjoy your reading!",
        "I'm afraid I can't help with that.",
        "Unfortunately, the sources don't cover this.",
        "I'm sorry, but I can't answer that from the provided context.",
        "Please check the official website for current prices.",
        "Based on the passages provided, here is a summary of the main points:",
    ],
)
def test_politeness_abstentions_and_lead_ins_claim_nothing(text):
    assert not claims(text)


def test_every_reason_for_no_claim_is_a_code_of_the_verdict():
    assert set(get_args(NonClaimReason)) == {reason.value for reason in Reason}
