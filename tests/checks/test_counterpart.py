"""What a finding names in the place of the claim's value, and where it ends."""

from __future__ import annotations

import pytest

from streamverify.checks import SourceIndex, check
from streamverify.scorers.protocol import Claim
from streamverify.types import Passage


def told(claim: str, *texts: str) -> list[str]:
    passages = [Passage(f"p{place}", text) for place, text in enumerate(texts)]
    return [found.detail for found in check(Claim(claim), SourceIndex(passages)).findings]


@pytest.mark.parametrize(
    ("claim", "text", "detail"),
    [
        (
            "The merger with Harrow followed in 1976.",
            "It was founded in 1884. The merger followed in 1967 with Harrow.",
            "1976 here, 1967 in passage p0",
        ),
        (
            "Its mean depth is 32.5 m.",
            "The lake is 41 m deep at most. It has a mean depth of 23 m.",
            "32.5 m here, 23 m in passage p0",
        ),
        (
            "The rate is 1.25 %.",
            "The share is 7 %. The rate stood at 12.5 %.",
            "1.25 % here, 12.5 % in passage p0",
        ),
    ],
)
def test_it_is_the_one_that_the_claim_speaks_of(claim, text, detail):
    assert told(claim, text) == [detail]


@pytest.mark.parametrize(
    ("claim", "detail"),
    [
        ("The shop shuts at 5 pm.", "5 pm here, 8 p.m. in passage p0"),
        ("The shop shuts at 5 p.m.", "5 p.m. here, 8 p.m. in passage p0"),
        ("The fair is on 12 June.", "12 June here, 2 June in passage p0"),
    ],
)
def test_the_stop_of_a_sentence_is_no_part_of_a_value(claim, detail):
    text = "The shop shuts at 8 p.m. on weekdays. The fair is on 2 June."
    assert told(claim, text) == [detail]
    (found,) = check(Claim(claim), SourceIndex([Passage("p0", text)])).findings
    assert claim[found.start : found.end] == detail.split(" here")[0]


def test_without_a_value_of_its_kind_none_is_named():
    assert told("The fee is 12 euros.", "The fee is due in May.") == ["12 euros is in no passage"]
