from __future__ import annotations

import datetime as dt
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.checks.dates import DateKind, DatePool, dates

days = st.dates(dt.date(1600, 1, 1), dt.date(2099, 12, 31))
FORMS = ("%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b. %d, %Y", "%Y-%m-%d", "%dth of %B %Y")


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
        ("on Wednesday", "open on Wednesdays"),
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
        ("in Q3 2021", "in October 2021"),
        ("in the 1990s", "in 1989"),
        ("at 9 p.m.", "at 9 a.m."),
        ("on Wednesday", "on Thursday"),
        ("on 14 March 2019", "on 14 May. The year 2018."),
    ],
)
def test_another_date_is_not_backed(claim, source):
    assert not backed(claim, source)


@pytest.mark.parametrize(
    "text", ["You may go.", "May I ask?", "1,412 people", "8848 m", "version 2020.1", "$2000", "4:3"]
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
