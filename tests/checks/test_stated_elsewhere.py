"""Values that a passage tells in its metadata, in its title or by a word for several: none is accused."""

from __future__ import annotations

import pytest

from streamverify.checks import SourceIndex, check
from streamverify.scorers.protocol import Claim
from streamverify.types import Passage

FIRE = Passage("a", "A fire broke out on Wednesday, 16 August.", metadata={"date": "2023-08-17"})
TRIAL = Passage("b", "The trial included 58 adults.", metadata={"year": 2021, "published": "2021-05-06"})
RESULTS = Passage("c", "Sales were 812 and net profit was 702.", title="Divisional results (EUR m)")
FERRY = Passage("d", "The ferry runs every 20 minutes on weekdays and hourly at weekends.")
LIMITS = Passage("e", "Planned maintenance (max. 4 hours a month) is not counted as downtime.")


def told(claim: str, *passages: Passage) -> list[str]:
    return [found.detail for found in check(Claim(claim), SourceIndex(passages)).findings]


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("A fire broke out on 16 August 2023.", FIRE),
        ("The trial of 2021 included 58 adults.", TRIAL),
        ("The trial published in May 2021 included 58 adults.", TRIAL),
        ("Net profit was €702m.", RESULTS),
        ("The ferry runs hourly on Saturdays and Sundays.", FERRY),
        ("On Tuesdays the ferry runs every 20 minutes.", FERRY),
    ],
)
def test_it_is_held(claim, passage):
    assert told(claim, passage) == []


@pytest.mark.parametrize(
    ("claim", "passage", "value"),
    [
        ("A fire broke out on 16 August 2022.", FIRE, "16 August 2022"),
        ("The trial of 2019 included 58 adults.", TRIAL, "2019"),
        ("Net profit was €720m.", RESULTS, "€720m"),
    ],
)
def test_another_value_is_told(claim, passage, value):
    assert [
        detail.split(" here")[0].removesuffix(" is in no passage") for detail in told(claim, passage)
    ] == [value]


def test_the_dates_of_one_passage_are_not_those_of_another_window():
    index = SourceIndex([FIRE, TRIAL])
    near = [(0, 0, len(FIRE.text))]
    assert check(Claim("A fire broke out on 16 August 2023."), index, near=near).findings == ()
    assert check(Claim("The trial of 2021 included 58 adults."), index, near=near).findings == ()


def test_a_short_form_ends_no_sentence():
    assert told("Planned maintenance counts as downtime.", LIMITS) == [
        "passage e: Planned maintenance (max. 4 hours a month) is not counted as downtime."
    ]
