"""What sounds like talk and states a fact is read as a claim; talk stays talk."""

from __future__ import annotations

import pytest

from streamverify.claims.reader import read
from streamverify.sentences.segmenter import segment

STATED = {
    "We do not offer gift cards.": "We do not offer gift cards.",
    "We don't have a refund policy.": "We don't have a refund policy.",
    "Based on the context, we do not ship to Canada.": "we do not ship to Canada.",
    "You are eligible for a full refund!": "You are eligible for a full refund!",
    "You qualify for free shipping!": "You qualify for free shipping!",
    "The documents don't mention fees, so shipping is free.": "shipping is free.",
    "The passages don't mention Mexico, but we ship to Canada and France.": "we ship to Canada and France.",
    "Please contact support at help@acme.net.": "contact support at help@acme.net.",
    "Reach out to our support team at 1-800-555-9999.": "Reach out to our support team at 1-800-555-9999.",
    "For more details, visit https://acme.evil.example.": "For more details, visit https://acme.evil.example.",
    "Feel free to email help@acme.net with questions.": "email help@acme.net with questions.",
}
TALK = (
    "We do not have that information.",
    "We don't have enough details to answer.",
    "Unfortunately, we do not have access to your account.",
    "We do not provide legal advice.",
    "We cannot share that information.",
    "The passages do not mention a fee, so I cannot tell.",
    "The documents don't say, so please ask your manager.",
    "We do not have anything on parking in the documents.",
    "We don't have  information on that.",
    "We do not have specific pricing plan information.",
    "I'm sorry, but we can't provide real-time weather updates.",
    "Please contact support.",
    "Feel free to ask me anything else.",
)


@pytest.mark.parametrize(("text", "claim"), STATED.items())
def test_a_denial_an_entitlement_or_an_address_is_a_claim(text, claim):
    reading = read(segment(text)[0])
    assert reading.claim is not None
    assert reading.claim.text == claim


@pytest.mark.parametrize("text", TALK)
def test_not_knowing_and_offers_stay_talk(text):
    assert read(segment(text)[0]).claim is None
