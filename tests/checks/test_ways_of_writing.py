"""One value in two ways of writing it is no mismatch; another value in either way is one."""

from __future__ import annotations

import pytest

from streamverify.checks import SourceIndex, check
from streamverify.checks.dates import DateKind, dates
from streamverify.checks.derived import derivable
from streamverify.checks.quantities import quantities
from streamverify.scorers.protocol import Claim
from streamverify.types import Passage

EQUAL = [
    ("The starting dose is .5 mg per day.", "The starting dose is 0.5 mg per day."),
    ("The correlation was .85 in men.", "The correlation was 0.85 in men."),
    ("The bill is $.50 a call.", "The bill is 50 cents a call."),
    ("The lease ends on 12 March 2024 for all tenants.", "The lease ends on March 12 for all tenants."),
    ("The lease starts on 05.06.2024.", "The lease starts on 5 June 2024."),
    ("The call starts at 7 pm EST.", "The call starts at 4 pm PST."),
    ("The festival runs 3–5 May 2021.", "The festival starts on 3 May 2021."),
    ("The festival runs from 3 to 5 May 2021.", "The festival starts on 3 May 2021."),
    ("The festival runs from May 3 to 5, 2021.", "The festival ends on May 5, 2021."),
    ("The festival takes place on 3 and 4 May.", "The festival is on 3 May and 4 May."),
    ("The festival takes place 3-5 May.", "The festival runs from May 3 to May 5."),
    ("The galaxy holds 2 × 10^11 stars.", "The galaxy holds 200 billion stars."),
    ("It is 2.25 × 10⁸ km away.", "It is 225 million km away."),
    ("It has 1.2e6 people.", "It has 1.2 million people."),
    ("The museum opened in the nineteenth century.", "The museum opened in the 19th century."),
    ("The band formed in the sixties.", "The band formed in the 1960s."),
    ("The band formed in the '60s.", "The band formed in the 1960s."),
    ("Calls cost 50p a minute.", "Calls cost £0.50 a minute."),
    ("Calls cost 50p a minute.", "Calls cost 50 pence a minute."),
    ("It costs 99¢.", "It costs $0.99."),
]
OTHER = [
    ("The starting dose is .5 mg per day.", "The starting dose is 5 mg per day."),
    ("The starting dose is 5 mg per day.", "The starting dose is .5 mg per day."),
    ("The bill is $.50 a call.", "The bill is $50 a call."),
    ("The battery lasts 24 hours.", "The battery lasts 24 days."),
    ("The pill holds 1000 mg.", "The pill holds 1000 g."),
    ("The plan runs for 12 months.", "The plan runs for 12 years."),
    ("The rate is 50% this year.", "The rate is 25% this year."),
    ("There were 1000 people.", "There were 1 million people."),
    ("The festival runs 3–5 May 2021.", "The festival starts on 4 June 2021."),
    ("The galaxy holds 2 × 10^11 stars.", "The galaxy holds 2 × 10^12 stars."),
    ("The galaxy holds 2 × 10¹¹ stars.", "The galaxy holds 2 × 10¹² stars."),
    ("The museum was built in the 19th century.", "The museum was built in the eighteenth century."),
]


def findings(passage: str, claim: str) -> list[str]:
    return [found.detail for found in check(Claim(claim), SourceIndex([Passage("p", passage)])).findings]


@pytest.mark.parametrize(("passage", "claim"), EQUAL)
def test_one_value_in_two_ways_of_writing_is_no_mismatch(passage, claim):
    assert findings(passage, claim) == []
    assert findings(passage, passage) == []


@pytest.mark.parametrize(("passage", "claim"), OTHER)
def test_another_value_is_told(passage, claim):
    assert findings(passage, claim)


@pytest.mark.parametrize(
    ("number", "source"),
    [
        ("12 years", "12 months"),
        ("100%", "87%"),
        ("25%", "50%"),
        ("$2,500", "$50"),
        ("24 days", "24 hours, 24 hours and 24 hours"),
    ],
)
def test_no_number_is_worked_out_from_itself(number, source):
    assert not derivable(quantities(number)[0], quantities(source))


@pytest.mark.parametrize(
    ("number", "source"),
    [("200 km", "4 hours at 50 km"), ("50%", "100 of 200"), ("100 euros", "two of 50 euros and 50 euros")],
)
def test_two_numbers_still_make_a_third(number, source):
    assert derivable(quantities(number)[0], quantities(source))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("e.g.5 v.5", [5.0, 5.0]),
        ("...5 items", [5.0]),
        ("p<.05 (.125)", [0.05, 0.125]),
        ("2 x 10 cm", [2.0, 0.1]),
        ("3.5e-3 km", [3.5]),
        ("6E street", [6.0]),
        ("1e999", [1.0, 999.0]),  # no float holds it
    ],
)
def test_points_and_powers_belong_to_a_number_only_where_they_stand_by_it(text, values):
    assert [quantity.readings[0].base for quantity in quantities(text)] == pytest.approx(values)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("3–5 May 2021", [(3, 2021), (5, 2021)]),
        ("May 3 to 5, 2021", [(3, 2021), (5, 2021)]),
        ("May 3 and 5 of the guests", [(3, None)]),
        ("March 3 to 5 people came", [(3, None)]),
        ("12.5-30 May", [(30, None)]),
        ("5-3 May", [(3, None)]),
    ],
)
def test_two_days_share_their_month_and_year(text, days):
    assert [(date.day, date.year) for date in dates(text)] == days


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("the mid-nineteenth century", 1800),
        ("the twenty-first century", 2000),
        ("in the early sixties", 1960),
        ("a century of rain", None),
        ("in his sixties", None),
        ("the last century", None),
    ],
)
def test_centuries_and_decades_in_words(text, year):
    found = dates(text)
    assert [date.year for date in found] == ([year] if year else [])
    assert all(date.kind is DateKind.DECADE for date in found)
