from __future__ import annotations

import datetime as dt
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.checks.dates import DateKind, DatePool, dates

days = st.dates(dt.date(1600, 1, 1), dt.date(2099, 12, 31))
moments = st.tuples(st.integers(1, 24), st.integers(0, 59))
FORMS = ("%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b. %d, %Y", "%Y-%m-%d", "%Y/%m/%d", "%dth of %B %Y")
CLOCKS = (
    "It opens at {hour}.{minute:02} every day.",
    "It opens at {hour:02}.{minute:02}.",
    "It opens at {hour:02}{minute:02} hours.",
    "It opened on 2016-04-12T{hour:02}:{minute:02}:00Z.",
    "It opened on 2016-04-12T{hour:02}:{minute:02}+02:00.",
)
"""Clocks of 24 hours in a sentence."""
UNITS = ("MB", " MB", " kWh", " km", " metres", " kg", " GHz", " litres", " percent")


def backed(claim: str, source: str) -> bool:
    found = dates(claim)
    assert found, claim
    pool = DatePool(dates(source))
    return all(pool.holds(date) for date in found)


@given(days, st.sampled_from(FORMS), st.sampled_from(FORMS))
def test_a_date_is_the_same_in_every_form(day, one, other):
    assert backed(f"on {day.strftime(one)}", f"It happened on {day.strftime(other)}, they say.")


@given(days, days, st.sampled_from(FORMS), st.sampled_from(FORMS))
def test_different_days_are_never_the_same(one, other, form, other_form):
    assert backed(f"on {one.strftime(form)}", f"on {other.strftime(other_form)}") == (one == other)


@given(days)
def test_a_month_or_a_year_is_backed_by_a_day_in_it_and_never_the_other_way_round(day):
    full = f"on {day.strftime('%d %B %Y')}"
    assert backed(f"in {day.strftime('%B %Y')}", full)
    assert backed(f"in {day.year}", full)
    assert not backed(full, f"in {day.year}")


@given(st.integers(0, 23), st.integers(0, 59))
def test_a_time_is_the_same_on_both_clocks(hour, minute):
    half = "a.m." if hour < 12 else "p.m."
    assert backed(f"at {hour % 12 or 12}:{minute:02} {half}", f"at {hour:02}:{minute:02} sharp")


@given(
    st.integers(1, 24), st.integers(0, 59), st.integers(1, 24), st.integers(0, 59), st.sampled_from(CLOCKS)
)
def test_every_clock_tells_its_own_time_and_no_other(hour, minute, other, others, form):
    """A time without a.m. or p.m. may be meant on either clock, and one of them is enough."""
    half = "a.m." if hour % 24 < 12 else "p.m."
    source = f"It was 12 April 2016, {hour % 12 or 12}:{minute:02} {half}"
    assert backed(form.format(hour=hour, minute=minute), source)
    if (hour % 12, minute) != (other % 12, others):
        assert not backed(form.format(hour=other, minute=others), source)


OFFSETS = {"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
           "GMT": 0, "UTC": 0, "BST": 1, "CET": 1, "CEST": 2, "UTC+5": 5, "GMT-3": -3}  # fmt: skip
zones = st.sampled_from(sorted(OFFSETS))


@given(st.integers(0, 23), st.integers(0, 59), zones, zones, st.sampled_from([0, 0, 2, 3, 10, 14]))
def test_a_time_is_the_same_in_another_zone_where_the_clocks_say_so(hour, minute, one, other, off):
    there = (hour - OFFSETS[one] + OFFSETS[other] + off) % 24
    half = "a.m." if there < 12 else "p.m."
    claim = f"at {there % 12 or 12}:{minute:02} {half} {other}"
    source = f"at {hour % 12 or 12}:{minute:02} {'a.m.' if hour < 12 else 'p.m.'} ({one})"
    assert backed(claim, source) == (off == 0)


@pytest.mark.parametrize(
    ("claim", "source", "expected"),
    [
        ("at 3 p.m. ET", "at 8 p.m. GMT", True),
        ("at 3 p.m. ET", "at 9 p.m. GMT", False),
        ("at 3 p.m. Eastern time", "at 3 p.m. EST", True),
        ("at 3 p.m. EDT", "at 3 p.m. EST", True),
        ("at 3 p.m. PT", "at 3 p.m. ET", False),
        ("at 3 p.m. local time", "at 8 p.m. IST", True),
        ("at 3 p.m. IST", "at 3 p.m. GMT", False),
        ("at 8 p.m. AEST", "at 10 a.m. GMT", True),
        ("at 17:00 UTC", "at 15:00 UTC-17:00 UTC", True),
        ("at 3 p.m. IST", "at 8 p.m. IST", False),
        ("at 3 p.m. EST", "at 3 p.m.", True),
        ("at 3 p.m. EST", "at 8 p.m.", False),
        ("at 3 p.m. Central Park", "at 8 p.m. GMT", False),
    ],
)
def test_zones_that_are_not_fixed_accuse_nobody(claim, source, expected):
    assert backed(claim, source) is expected


@given(st.integers(1, 11), st.integers(13, 23), st.sampled_from(["{}-{}h", "{}h-{}h", "from {}h to {}h"]))
def test_hours_of_opening_are_times(first, last, form):
    told = f"Open {form.format(first, last)}."
    assert backed(f"open from {first}:00 to {last}:00", told)
    assert backed(f"open from {first} a.m. to {last - 12} p.m.", told)
    assert not backed(f"until {last - 1}:00", told)


@given(days)
def test_a_date_time_is_a_date_and_a_time(day):
    found = dates(f"on {day.isoformat()}T14:30:00.250Z")
    assert [one.kind for one in found] == [DateKind.DAY, DateKind.TIME]
    assert found[0].end == found[1].start


@given(
    st.integers(1000, 2099),
    st.sampled_from(UNITS),
    st.sampled_from(["", "in ", "of ", "from ", "a total of "]),
    st.sampled_from([".", ", then", " of it"]),
)
def test_a_number_with_a_unit_is_no_year_whatever_stands_before_it(number, unit, lead, rest):
    assert dates(f"{lead}{number}{unit}{rest}") == ()


@given(st.integers(1930, 1999), st.integers(1930, 1999), st.sampled_from(["'", "’", "‘"]))
def test_an_apostrophe_stands_for_the_century(year, other, mark):
    assert backed(f"founded in {mark}{year % 100:02}", f"in {other}") == (year == other)
    decade = year // 10 * 10
    assert backed(f"in the late {mark}{decade % 100}s", f"in the {other // 10 * 10}s") == (
        decade == other // 10 * 10
    )


@given(st.integers(2001, 2098), st.integers(2001, 2098))
def test_a_fiscal_year_is_its_year(year, other):
    for form in (f"FY{year}", f"FY{year % 100:02}", f"FY {year}", f"fiscal year {year}"):
        assert backed(f"in {form}", f"in fiscal year {other}") == (year == other)
        assert backed(f"in fiscal year {other}", f"in {form}") == (year == other)
    assert backed(f"in fiscal {year + 1}", f"In FY{year}/{(year + 1) % 100:02} it grew.")


@given(st.text(max_size=200))
def test_dates_are_in_order_without_overlap_and_their_text_stands_at_their_span(text):
    found = dates(text)
    assert [text[one.start : one.end] for one in found] == [one.text for one in found]
    assert all(one.end <= other.start for one, other in pairwise(found))


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("on 02/01/2020", "January 2, 2020"),
        ("on 02/01/2020", "1 February 2020"),
        ("on 14 March 2019", "In 2019 two trials ran. The second began on 14 March."),
        ("in Q3 2021", "in August 2021"),
        ("in the third quarter of 2021", "Q3 2021"),
        ("in the 1990s", "in 1994"),
        ("in the 19th century", "in 1883"),
        ("1941–44", "from 1941 to 1944"),
        ("in mid-April 2024", "on 15 April 2024"),
        ("at 20:30", "at 8:30 pm"),
        ("at half past three", "at 15:30"),
        ("at noon", "at 12 p.m."),
        ("open from 10.00 to 17.00", "open 10 am to 5 pm"),
        ("open 10.00–17.00 daily", "open 10 am to 5 pm"),
        ("open from 1000 to 1700 hours", "open 10 am to 5 pm"),
        ("open 9:00-17:00", "from 9 am to 5 pm"),
        ("in the '20s", "in the 1920s"),
        ("in the 1920s", "the roaring '20s"),
        ("in Q4 FY2016", "in the final quarter of fiscal year 2016"),
        ("in Q4/2016", "in the last quarter of 2016"),
        ("First quarter of 2016", "Q1 2016"),
        ("on Wednesday", "open on Wednesdays"),
        ("on 21-05-2020", "on 21 May 2020"),
        ("on 21 May 2020", "on the twenty-first of May 2020"),
        ("on the third of April 2021", "on 3 April 2021"),
        ("in 04/2021", "in April 2021"),
        ("since May", "the fee rose on 1 May 2020"),
        ("the founder left in 1998", "1998 saw the founder leave"),
    ],
)
def test_the_same_date_in_another_form_is_backed(claim, source):
    assert backed(claim, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("on 26 August 1883", "on 27 August 1883"),
        ("in March 2022", "in March 2021"),
        ("on the third of April 2021", "on 13 April 2021"),
        ("on 21-05-2020", "on 22 May 2020"),
        ("in 04/2021", "in May 2021"),
        ("in Q3 2021", "in October 2021"),
        ("in the 1990s", "in 1989"),
        ("at 9 p.m.", "at 9 a.m."),
        ("on Wednesday", "on Thursday"),
        ("on 14 March 2019", "on 14 May. The year 2018."),
        ("open from 10.00 to 18.00", "open 10 am to 5 pm"),
        ("open 9:00-18:00", "from 9 am to 5 pm"),
        ("in the '20s", "in the 1930s"),
        ("in Q4 FY2016", "in the third quarter of fiscal year 2016"),
    ],
)
def test_another_date_is_not_backed(claim, source):
    assert not backed(claim, source)


@pytest.mark.parametrize(
    "text",
    [
        "You may go.",
        "May I ask?",
        "1,412 people",
        "8848 m",
        "version 2020.1",
        "call 12-34-5678",
        "lot 12-11-20",
        "$2000",
        "4:3",
        "the price rose from 10.50 to 12.25",
        "the stock opened at 10.50 and closed at 12.25",
        "it opens at 2.50 euros",
        "it closed at 17.50 %",
        "it starts at 3.20 seconds",
        "open for 1700 hours a year",
        "up to 1500 hours",
        "'98 people'",
        "the last quarter",
        "take it every 4-6h",
        "the flight takes 9-17h",
        "it runs for 17h",
        "open 9-17h a week",
        "from 5h of sleep to 7h",
        "measured at 2h, 4h and 8h; opening pressure 12",
        "open, it was measured from 17h to 9h",
    ],
)
def test_what_only_looks_like_a_date_is_none(text):
    assert dates(text) == ()


def test_the_kind_is_the_finest_field():
    found = dates("On 9 May 2024, in June 2023, in 2022, in the 1980s, Q1 2020, at 4 p.m., on a Friday.")
    assert [date.kind for date in found] == [
        DateKind.DAY,
        DateKind.MONTH,
        DateKind.YEAR,
        DateKind.DECADE,
        DateKind.QUARTER,
        DateKind.TIME,
        DateKind.WEEKDAY,
    ]


@given(
    st.sampled_from(["May 2020", "Monday", "Q3 2021", "noon", "half past ten", "5 o'clock", "third quarter"]),
    st.sampled_from(["x", "_", "9", "é", "Ä"]),
)
def test_what_stands_within_a_word_is_no_date_of_its_own(date, before):
    assert [one.text for one in dates(f"it was {date}")] == [date]
    assert all(one.start > 0 for one in dates(before + date))


@pytest.mark.parametrize(
    "text", ["The ſecond quarter 2020.", "In the fırst quarter of 2021", "The FİRST quarter"]
)
def test_letters_that_only_look_like_an_ordinal_are_read_without_harm(text):
    assert [found.kind for found in dates(text) if found.kind is DateKind.QUARTER] == []
