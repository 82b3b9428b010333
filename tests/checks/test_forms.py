"""The same thing in other forms accuses nobody, and a wrong one still does."""

from __future__ import annotations

import datetime as dt
from calendar import monthrange

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streamverify.checks import SourceIndex, check
from streamverify.checks.phones import phones
from streamverify.checks.weekdays import DAYS
from streamverify.scorers.protocol import Claim
from streamverify.types import Passage


def details(text: str, claim: str) -> list[str]:
    found = check(Claim(claim), SourceIndex([Passage("p", text)])).findings
    return [finding.detail for finding in found]


def written(number: int) -> str:
    tens = ["", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX", "XC"][number // 10]
    return tens + ["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"][number % 10]


RIGHT = (
    ("Dose: 5-10 mg every 4-6 hours.", "The dose is 5-10mg every 4-6h."),
    ("Memory 8-16 GB", "It has 8-16GB of memory."),
    ("It lasts 12 months.", "It lasts 12months."),
    ("The cable is 1.5 m long.", "It has a 1.5m-long cable."),
    ("Support is open Mon-Fri.", "Support is open Monday to Friday."),
    ("Support is open Monday to Friday.", "Support is open Mon–Fri."),
    ("Support is open Monday to Friday.", "It is open on Wednesdays."),
    ("Deadline: Fri, 14 Nov 2025 23:59 UTC.", "The deadline is Friday, November 14, 2025."),
    ("Call 1-800-555-0199.", "Call +1 800 555 0199."),
    ("Call 1-800-555-0199.", "Call 18005550199."),
    ("Call the clinic at any time of day or night on 555 0140.", "Call the clinic on 555 0140."),
    ("Sales (in €m): Q1 10.2, Q2 11.4.", "Sales in Q1 were €10.2 million."),
    ("Amounts in thousands of euros. Sales 2023: 12,500.", "Sales were €12.5 million in 2023."),
    ("Revenue (USD millions): 2023: 1,234.5; 2022: 1,100.2.", "Revenue was $1,234.5 million in 2023."),
    ("Revenue (USD millions): 2023: 1,234.5; 2022: 1,100.2.", "Revenue grew 12.2% in 2023."),
    ("The area is 783.8 km².", "The area is 783.8 km2."),
    ("Size: 300 mi2.", "The size is 300 square miles."),
    ("Size: 300 m².", "The size is 300 m^2."),
    ("The company was founded in 1998.", "The company was founded before 2000."),
    ("Orders over $50 ship free.", "An order of $60 ships free."),
    ("Income from £12,571 to £50,270 is taxed at 20%.", "Income of £30,000 is taxed at 20%."),
    ("Wi-Fi 6 is supported.", "WiFi 6 is supported."),
    ("The XR-2000 is new.", "The XR2000 is new."),
    ("The BA 117 leaves at noon.", "The BA117 leaves at noon."),
    ("Refunds take 5 days.", "According to Source 1, refunds take 5 days."),
    ("The lease begins on 1 January 2024 and ends on 31 December 2024.", "The lease runs for 12 months."),
    ("The rent is £1,200 a month.", "The annual rent is £14,400."),
    ("The rate was raised by 25 basis points to 4.00%.", "The rate rose from 3.75% to 4%."),
    ("64 of 512 patients (12.5%) had headaches.", "87.5% had no headaches."),
    ("Spend $50 or more and delivery is free, otherwise $4.99.", "Below that, delivery costs $4.99."),
    ("The contract starts on 1 February 2024.", "The contract starts on 01/02/2024."),
    ("The war lasted from 1914 to 1918.", "The war lasted four years (1914-1918)."),
    ("The company has 100 to 1,000 employees.", "The company has 100-1000 employees."),
    ("The Earth revolves around the Sun once a year.", "The Earth revolves around the Sun."),
    ("It is unsafe to swim in the lake.", "It is not safe to swim in the lake."),
    ("Prices declined in 2023.", "Prices did not rise in 2023."),
    ("It does not have the same climate as the coast.", "It has a different climate than the coast."),
    ("Tickets are non-refundable after purchase.", "Tickets are nonrefundable after purchase."),
    ("All of the documents must be signed.", "Some of the documents must be signed."),
    ("The soup needs 2 1/2 cups of stock.", "The soup needs 2.5 cups of stock."),
    ("Bake it for 1 1/2 hours.", "Bake it for 90 minutes."),
    ("The plank is 2½ inches thick.", "The plank is 2-1/2 inches thick."),
    ("It costs between $1.5 million and $2 million.", "It costs $1.5-2 million."),
    ("It costs $1.5-2 million.", "It costs between $1.5 million and $2 million."),
    ("It pays $50,000 to $70,000.", "It pays $50-70k."),
    ("It pays $50,000 to $70,000.", "It pays between 50 and 70 thousand dollars."),
    ("It has 5 to 6 million users.", "It has 5 million to 6 million users."),
    ("Add 4 cups of rice, then 4 cups of stock.", "It takes 8 cups in all."),
    ("Add 2 tbsp of oil, later 2 tbsp more.", "It takes 4 tbsp of oil."),
    ("Meet at 15:00 UTC-17:00 UTC.", "It ends at 17:00 UTC."),
    ("The shop is open Monday to Friday.", "The shop is closed on Saturday and Sunday."),
    ("The shop is open Monday to Friday.", "The shop isn't open on Saturdays."),
    ("The shop is closed on Saturday and Sunday.", "The shop is open Monday to Friday."),
    ("The museum is closed on Mondays.", "The museum is open Tuesday to Sunday."),
    ("Henry VIII had six wives.", "Henry the Eighth had six wives."),
    ("Henry the Eighth had six wives.", "Henry VIII had six wives."),
    ("Elizabeth II reigned longest.", "Elizabeth the Second reigned longest."),
    ("Charles I was beheaded.", "Charles the First was beheaded."),
    ("Monday to Friday, 9-17h.", "It is open from 9:00 to 17:00, Monday to Friday."),
    ("The call is at 8 p.m. GMT.", "The call is at 3 p.m. EST."),
    ("The accounting office receives the invoice.", "Send the invoice to the accounting office."),
)


@pytest.mark.parametrize(("text", "claim"), RIGHT)
def test_the_same_in_another_form_or_worked_out_is_not_accused(text, claim):
    assert details(text, claim) == []


WRONG = (
    ("Dose: 5-10 mg every 4-6 hours.", "The dose is 5-17mg.", "17mg"),
    ("Support is open Monday to Friday.", "It is open on Saturdays.", "Saturdays"),
    ("Call 1-800-555-0199.", "Call 1-800-555-9999.", "1-800-555-9999"),
    ("Sales (in €m): Q1 10.2, Q2 11.4.", "Sales in Q1 were €10.2 billion.", "€10.2 billion"),
    ("The area is 783.8 km².", "The area is 783.8 m2.", "783.8 m2"),
    ("The battery has 5,000 mAh.", "The battery has 5 mAh.", "5 mAh"),
    ("The company was founded in 1998.", "The company was founded after 2000.", "2000"),
    ("The warranty ends in 2028. It was launched in 2020.", "The warranty ends before 2027.", "2027"),
    ("Children born before 2010 enter free.", "Children born before 2015 enter free.", "2015"),
    ("Applications close by 1 May 2025.", "Applications close by 15 May 2025.", "15 May 2025"),
    ("The store has been open since 2014.", "The store has been open since 2012.", "2012"),
    ("Orders of $50 or more ship free.", "Orders of $75 or more ship free.", "$75"),
    ("It serves hundreds of millions of users in 45 places.", "It has 45 million users.", "45 million"),
    ("Height (m) | 12 |. The fund holds 30 million euros.", "The fund holds 12 million euros.", "12 million"),
    ("Ref 2555010012. Call 555-0199.", "Call 555-0100.", "555-0100"),
    ("Wi-Fi 6 is supported.", "WiMax is supported.", "WiMax"),
    ("Gift cards are non-refundable online.", "Gift cards are refundable online.", "Gift cards are non-"),
    ("Work on holidays is forbidden for trainees.", "Work on holidays is allowed for trainees.", "forbidden"),
    ("Employees must not share passwords.", "Employees must share passwords.", "must not share"),
    ("Mix in 1 1/2 cups of flour.", "Mix in 1 1/4 cups of flour.", "1 1/4"),
    ("Bake it for 1 1/2 hours.", "Bake it for 80 minutes.", "80 minutes"),
    ("It costs between $1.5 million and $2 million.", "It costs $1.7-2 million.", "$1.7"),
    ("It pays $50,000 to $70,000.", "It pays $40-70k.", "$40"),
    ("It has 5 to 6 million users.", "It has 4 million to 6 million users.", "4 million"),
    ("The fee is 500 to 1.5 million euros.", "The fee is 500 million euros.", "500 million"),
    ("The pole is 3 to 5 m.", "The pole is 3 million metres.", "3 million"),
    ("The shop is open Monday to Friday.", "The shop is open six days a week.", "six days"),
    ("The shop is open Monday to Sunday.", "Returns are taken within 7 days.", "7 days"),
    ("We work Monday to Friday.", "Delivery takes five days.", "five days"),
    ("Size L is sold out.", "There are 50 euros to pay.", "50"),
    ("Mr X pays.", "It takes 10 days.", "10 days"),
    ("The call is at 8 p.m. EST.", "The call is at 8 p.m. IST.", "IST"),
    ("The shop is open Monday to Friday.", "The shop is not open on Fridays.", "open Monday to Friday"),
    ("It is open Monday to Friday and closed on Sundays.", "It is open on Saturdays.", "Saturdays"),
    ("The shop is closed on Saturday and Sunday.", "The shop is closed on Monday.", "Monday"),
    ("The shop is closed on Sundays.", "The test is on Monday.", "Monday"),
    ("Henry VIII had six wives.", "Henry the Seventh had six wives.", "Seventh"),
    ("Henry the Eighth had six wives.", "Henry VII had six wives.", "VII"),
    ("Super Bowl LVIII was watched by 120 million.", "Super Bowl 57 was watched by 120 million.", "57"),
    ("Monday to Friday, 9-17h.", "It is open from 9:00 to 18:00.", "18:00"),
    ("The call is at 8 p.m. GMT.", "The call is at 4 p.m. EST.", "4 p.m. EST here, 8 p.m. GMT"),
    ("The call is at 3 p.m.", "The call is at 3 p.m. EST.", "EST"),
    ("Pets are allowed. Smoking is not allowed indoors.", "Pets are not allowed.", "Pets are allowed."),
)


@pytest.mark.parametrize(("text", "claim", "told"), WRONG)
def test_a_wrong_one_is_accused(text, claim, told):
    assert any(told in detail for detail in details(text, claim))


@given(st.integers(0, 6), st.integers(1, 6), st.integers(0, 6))
def test_a_stretch_of_days_holds_the_days_inside_it_and_no_other(first, length, asked):
    last = (first + length) % 7
    text = f"The desk is staffed {DAYS[first].title()} to {DAYS[last].title()}."
    inside = (asked - first) % 7 <= length
    assert (details(text, f"The desk is staffed on {DAYS[asked].title()}.") == []) is inside


@given(st.integers(13, 99), st.integers(13, 99))
def test_a_roman_number_behind_a_name_is_its_figure_both_ways(number, other):
    roman, figure = (f"Super Bowl {form} was held in the west." for form in (written(number), number))
    assert details(roman, figure) == details(figure, roman) == []
    if other not in {number, 50}:  # a lone L is read in sources alone
        assert details(roman, f"Super Bowl {other} was held in the west.") != []
        assert details(figure, f"Super Bowl {written(other)} was held in the west.") != []


@given(st.integers(0, 6), st.integers(1, 6), st.integers(0, 6))
def test_a_stretch_of_days_tells_when_it_is_closed(first, length, asked):
    text = f"The desk is open {DAYS[first].title()} to {DAYS[(first + length) % 7].title()}."
    if (asked - first) % 7 > length:
        assert details(text, f"The desk is closed on {DAYS[asked].title()}s.") == []
        assert details(text, f"The desk is open on {DAYS[asked].title()}s.") != []


@given(
    st.dates(dt.date(1990, 1, 1), dt.date(2049, 12, 31)),
    st.sampled_from(["end", "last day", "beginning", "start", "first day"]),
    st.booleans(),
)
@example(dt.date(2024, 2, 29), "last day", True)
def test_the_end_and_the_beginning_of_a_month_or_a_year_are_days(day, edge, yearly):
    month = dt.date(day.year, (12 if edge[0] in "el" else 1) if yearly else day.month, 1)
    meant = month.replace(day=monthrange(month.year, month.month)[1] if edge[0] in "el" else 1)
    source = (
        f"The offer is valid until the {edge} of {month:%Y}."
        if yearly
        else (f"The offer is valid until the {edge} of {month:%B %Y}.")
    )
    claim = f"The offer is valid until {meant.day} {meant:%B %Y}."
    assert details(source, claim) == details(claim, source) == []
    assert (details(source, f"The offer is valid until {day.day} {day:%B %Y}.") == []) is (day == meant)


@pytest.mark.parametrize("day", [28, 29])
def test_a_february_without_a_year_may_end_on_either_day(day):
    assert details("Pay by the end of February.", f"Pay by {day} February.") == []
    assert details("Pay by the end of February.", "Pay by 27 February.") != []
    assert details("Pay by the end of March.", "Pay by 30 March.") != []


@given(
    st.from_regex(r"\A[2-9]\d{2}-[2-9]\d{2}-\d{4}\Z"),
    st.sampled_from(["", "+1 ", "1-"]),
    st.sampled_from("- ."),
)
def test_a_telephone_number_is_the_same_whatever_divides_it(number, code, divider):
    other = code + number.replace("-", divider)
    assert details(f"Call {number} today.", f"Call {other} today.") == []


@pytest.mark.parametrize(
    "text",
    [
        "1 234 567 people",
        "from 1990 1995 2000",
        "on 2024-05-06 12:30",
        "version 1.2.3",
        "costs 1 800 555 euros",
    ],
)
def test_other_numbers_are_no_telephone_numbers(text):
    assert phones(text) == ()
