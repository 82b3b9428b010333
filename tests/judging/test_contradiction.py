"""Silence is no contradiction, read by the embedded model."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamverify import Verifier
from streamverify.types import FindingKind, Label

pytestmark = pytest.mark.model

TOPICS = {
    "tower": (
        "The tower is 330 metres tall. It was finished in 1889 and has three levels.",
        "It opened in May.",
    ),
    "whales": (
        "Blue whales eat krill and reach a length of thirty metres.",
        "Whales sing at low frequencies.",
    ),
    "tax": ("The filing deadline for income tax is 31 July.", "Late returns cost 25 euros a month."),
    "bread": ("Rye dough needs a sour starter.", "Bakers let loaves rest overnight before baking."),
    "python": ("The interpreter compiles source files to bytecode.", "Version 3.2 dropped the old parser."),
}
CLAIMS = {
    "tower": "The tower is 300 metres tall.",
    "whales": "Blue whales do not eat krill.",
    "tax": "The filing deadline for income tax is 31 May.",
    "bread": "Rye dough never needs a starter.",
    "python": "The interpreter does not compile source files.",
}
topic = st.sampled_from(sorted(TOPICS))


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    return Verifier()


def label(verifier: Verifier, claim: str, *passages: str) -> Label:
    [judged] = verifier.check_sync(claim, list(passages)).sentences
    return judged.label


@settings(max_examples=20, deadline=None)
@given(claim=topic, other=topic)
def test_a_claim_on_another_topic_is_never_contradicted(verifier, claim, other):
    if claim != other:
        assert label(verifier, CLAIMS[claim], *TOPICS[other]) is not Label.CONTRADICTED


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(claim=topic, other=topic)
def test_an_irrelevant_passage_turns_nothing_into_contradicted(verifier, claim, other):
    before = label(verifier, CLAIMS[claim], *TOPICS[claim])
    after = label(verifier, CLAIMS[claim], *TOPICS[claim], *(TOPICS[other] if other != claim else ()))
    assert before is Label.CONTRADICTED or after is not Label.CONTRADICTED


TOWER = "The Eiffel Tower is 330 metres tall. Gustave Eiffel's company built it from 1887 to 1889."


@pytest.mark.parametrize("claim", ["Gustave Eiffel lived in Dijon.", "The lift costs 12 euros."])
def test_what_a_passage_is_silent_about_is_not_contradicted(verifier, claim):
    assert label(verifier, claim, TOWER) is Label.UNSUPPORTED


def test_passages_about_different_things_are_no_conflict(verifier):
    passages = ["The tower is 330 metres tall.", "Paris is the capital of France."]
    [judged] = verifier.check_sync("The tower is 330 metres tall.", passages).sentences
    assert FindingKind.SOURCE_CONFLICT not in {finding.kind for finding in judged.findings}
