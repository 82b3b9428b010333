"""Dates and times within a range of the sources are not accused; those outside are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.checks import SourceIndex, check
from streamverify.scorers.protocol import Claim
from streamverify.text.calendar import MONTHS
from streamverify.types import Passage

months = st.integers(0, 11)
hours = st.integers(13, 23)


def accused(claim: str, text: str) -> list[str]:
    found = check(Claim(claim), SourceIndex([Passage("p", text)])).findings
    return [claim[one.start : one.end] for one in found]


@given(months, months, months)
def test_a_month_is_accused_unless_it_lies_within_the_range(first, last, month):
    names = [name.capitalize() for name in MONTHS]
    length = (last - first) % 12
    within = (month - first) % 12 <= length
    text = f"The upper road is closed from {names[first]} to {names[last]}."
    claim = f"The upper road is closed in {names[month]}."
    assert (accused(claim, text) == []) == within


@given(hours, hours, hours)
def test_a_time_is_accused_unless_it_lies_within_the_range(first, last, hour):
    within = first <= hour <= last if first <= last else hour >= first or hour <= last
    text = f"The gate is open from {first}:00 until {last}:00."
    assert (accused(f"The gate is open at {hour}:00.", text) == []) == within


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Stoves are banned on 20 January.", "Stoves are banned from November to 15 March."),
        ("It is quiet at 3 a.m.", "Quiet hours are 22:00 to 6:00."),
        ("The gate is open at 12:30.", "The gate is open from 00:00 to 01:00."),
        ("On 10 December the bridge is closed.", "The bridge is closed between 6 December and 17 December."),
        ("The offer holds in January 2026.", "The offer holds from 1 November 2025 to 31 March 2026."),
        ("The offer holds in December 2025.", "The offer holds from November to March 2026."),
        ("The window lasts from half past midnight on.", "Window: 00:30 to 05:30."),
        ("A taxi is booked by a quarter past midnight.", "Taxis are booked by 00:15."),
    ],
)
def test_what_lies_within_is_not_accused(claim, text):
    assert accused(claim, text) == []


@pytest.mark.parametrize(
    ("claim", "text", "value"),
    [
        ("Stoves are banned on 20 March.", "Stoves are banned from November to 15 March.", "20 March"),
        ("It is quiet at 3 p.m.", "Quiet hours are 22:00 to 6:00.", "3 p.m."),
        ("On 10 May the bridge is closed.", "It is closed on 6 April and on 17 June.", "10 May"),
        ("The offer holds in January 2025.", "It holds from November 2025 to March 2026.", "January 2025"),
        ("The window lasts from half past midnight on.", "Window: 01:30 to 05:30.", "half past midnight"),
    ],
)
def test_what_does_not_is(claim, text, value):
    assert accused(claim, text) == [value]
