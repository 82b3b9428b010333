"""Values that one step leads to from those of the sources, and values that are only supposed."""

from __future__ import annotations

import pytest

from streamverify.checks import SourceIndex, check
from streamverify.checks.quantities import quantities
from streamverify.scorers.protocol import Claim
from streamverify.types import Passage

TERM = "The contract begins on 1 October 2022 and runs for thirty-six (36) months."
FLOUR = "Add 2 tsp of baking powder for every 150 g of flour."
PRICE = "Purchase price: €489.000. Commission: 3.57 %."
MILES = "Mileage for private cars is paid at US$0.67 per mile."
TRIP = "The trip takes 90 minutes and the mission 20 months."
MARATHON = "1. Jonas Vireo, Norway 2:11:47\n2. Kipsang Rotich, Kenya 2:12:03"
TRAIN = "Night train NT 71. Halvern 19:48, Brenn 23:10, Costa Bella 08:35."
WASHING = "Programme | Duration\nCotton 60 | 2 h 20\nEco 40 | 3 h 35"
TRADE = "Foreign trade (million lira)\nExports 2023 | Exports 2024\n6,800 | 7,100"


def accused(claim: str, text: str) -> list[str]:
    found = check(Claim(claim), SourceIndex([Passage("p", text)])).findings
    return [claim[one.start : one.end] for one in found]


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The contract ends on 30 September 2025.", TERM),
        ("300 g of flour need 4 teaspoons of baking powder.", FLOUR),
        ("The commission amounts to €17,457.", PRICE),
        ("Driving 100 miles would get you $67.", MILES),
        ("If you drive 100 miles you get $67.", MILES),
        ("The trip takes an hour and 30 minutes.", TRIP),
        ("The mission takes a year and eight months.", TRIP),
        ("Jonas Vireo won in 2 hours, 11 minutes and 47 seconds.", MARATHON),
        ("NT 71 takes 12 hours and 47 minutes from Halvern to Costa Bella.", TRAIN),
        ("Eco 40 takes 3 hours and 35 minutes, 75 minutes longer than Cotton 60.", WASHING),
        ("Exports of 7,100 million lira are 300 million lira more than in 2023.", TRADE),
    ],
)
def test_what_follows_or_is_supposed_is_not_accused(claim, text):
    assert accused(claim, text) == []


@pytest.mark.parametrize(
    ("claim", "text", "value"),
    [
        ("The contract ends on 30 June 2025.", TERM, "30 June 2025"),
        ("300 g of flour need 5 teaspoons of baking powder.", FLOUR, "5 teaspoons"),
        ("The commission amounts to €18,457.", PRICE, "€18,457"),
        ("The trip takes an hour and 45 minutes.", TRIP, "an hour and 45 minutes"),
        ("The mission takes a year and six months.", TRIP, "a year and six months"),
        ("Vireo won in 2 hours, 11 minutes and 48 seconds.", MARATHON, "2 hours, 11 minutes and 48 seconds"),
        ("NT 71 takes 12 hours and 57 minutes to Costa Bella.", TRAIN, "12 hours and 57 minutes"),
        ("Eco 40 takes 85 minutes longer than Cotton 60.", WASHING, "85 minutes"),
        ("Exports of 7,100 million lira are 400 million lira more.", TRADE, "400 million"),
    ],
)
def test_what_does_not_is(claim, text, value):
    assert accused(claim, text) == [value]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("thirty-six (36) months", [("thirty-six (36) months", 36.0)]),
        ("30 (thirty) days", [("30 (thirty) days", 2_592_000.0)]),
        ("see note (5) days later", [("5", 5.0)]),
    ],
)
def test_a_number_that_stands_twice_has_the_unit_behind_both(text, read):
    assert [(one.text, one.readings[0].base) for one in quantities(text)] == read
