"""Numbers that count something."""

from __future__ import annotations

import pytest

from streamverify.checks import SourceIndex, check
from streamverify.scorers.protocol import Claim
from streamverify.types import Passage


def details(claim: str, *texts: str) -> list[str]:
    index = SourceIndex([Passage(f"p{place}", text) for place, text in enumerate(texts)])
    return [found.detail for found in check(Claim(claim), index).findings]


@pytest.mark.parametrize(
    ("text", "claim", "told"),
    [
        (
            "The plan costs $20 a month and has 25 users.",
            "The plan costs $25 a month and has 20 users.",
            "$25 here, $20 in passage p0",
        ),
        (
            "The hall has 20 square metres and sleeps 30 people.",
            "The hall has 30 square metres and sleeps 20 people.",
            "30 square metres here, 20 square metres in passage p0",
        ),
        ("The plan has 25 users.", "The plan costs €25.", "€25 is in no passage"),
        ("Margin (%): 12.5", "The margin was 12.5%.", None),
        ("| Fee in euros | 25 | Fine | 40 |", "The fee is 25 euros.", None),
        ("Fee in euros: 25\nusers: 40", "The fee is 25 euros.", None),
    ],
)
def test_what_is_counted_is_no_amount_whose_unit_stands_elsewhere(text, claim, told):
    assert (told in details(claim, text)) if told else details(claim, text) == []
