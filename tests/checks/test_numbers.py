from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streamverify.checks.dates import dates
from streamverify.checks.derived import derivable
from streamverify.checks.numbers import QuantityPool, allowances, as_good, of_its_kind, slip
from streamverify.checks.quantities import quantities
from streamverify.checks.quantity import Hedge

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()


def spell(number: int) -> str:
    if number < 20:
        return _ONES[number]
    if number < 100:
        return _TENS[number // 10] + (f"-{_ONES[number % 10]}" if number % 10 else "")
    for size, name in ((1_000_000, "million"), (1_000, "thousand"), (100, "hundred")):
        if number >= size:
            head, rest = divmod(number, size)
            joint = " and " if size == 100 or 0 < rest < 100 else " "
            return f"{spell(head)} {name}" + (joint + spell(rest) if rest else "")
    raise AssertionError(number)


def backed(claim: str, source: str) -> bool:
    """Whether every number of the claim is held by the source."""
    found = quantities(claim)
    assert found, claim
    pool = QuantityPool(quantities(source, hedges=False))
    return all(pool.holds(quantity) for quantity in found)


whole = st.integers(min_value=13, max_value=9_999_999)
units = st.sampled_from(["km", "kilometres", "kg", "percent", "%", "dollars", "days", "years", "ml", "MW"])


@given(whole)
def test_a_number_is_the_same_in_digits_with_and_without_commas_and_in_words(number):
    forms = [f"{number} items", f"{number:,} items", f"{spell(number)} items"]
    assert all(backed(one, other) for one in forms for other in forms)


amounts = st.one_of(st.integers(0, 60), st.sampled_from([32, 50, 68, 98.6, 1.5, 1_000, 2_200, 1_609.34]))
written = st.tuples(
    st.sampled_from(["", "about ", "over ", "under ", "$", "the third of "]),
    amounts,
    st.sampled_from(
        ["°C", "°F", "km", "miles", "kg", "lb", "%", "", "million", "k", "of them", "days", "percent"]
    ),
)


@given(written, st.lists(written, min_size=1, max_size=6))
@example(("", 20, "°C"), [("", 68, "°F"), ("", 69.5, "°F")])
@example(("", 68, "°F"), [("", 20, "°C"), ("", 21, "°C")])
def test_a_number_by_itself_is_as_good_as_a_pool_of_it_alone(claim, sources):
    asked = quantities("It is {}{} {}.".format(*claim))
    held = quantities(" ".join("It was {}{} {}.".format(*source) for source in sources), hedges=False)
    for number in asked:
        allowed = allowances(number)
        alone = [as_good(one, allowed) for one in held]
        assert alone == [QuantityPool([one]).holds_within(allowed) for one in held]
        assert any(alone) == QuantityPool(held).holds_within(allowed)


@given(whole, whole, units)
def test_different_numbers_are_never_the_same(one, other, unit):
    assert backed(f"{one:,} {unit}", f"it was {other:,} {unit}") == (one == other)


@given(st.integers(1, 999_999), st.integers(-3, 3).filter(bool), units)
def test_a_shifted_decimal_point_is_another_number(digits, shift, unit):
    assert not backed(f"{digits} {unit}", f"{digits * 10.0**shift:.6f} {unit}")


@given(st.text(max_size=200))
def test_quantities_are_in_order_without_overlap_and_their_text_stands_at_their_span(text):
    found = quantities(text)
    assert [text[one.start : one.end] for one in found] == [one.text for one in found]
    assert all(one.end <= other.start for one, other in pairwise(found))


@given(
    st.lists(
        st.sampled_from(["5 km", "twelve percent", "$3.2m", "about 40", "a third", "3–5 kg", "word", "."])
    )
)
def test_numbers_glued_from_pieces_are_all_found(pieces):
    expected = sum({"3–5 kg": 2, "word": 0, ".": 0}.get(piece, 1) for piece in pieces)
    assert len([one for one in quantities(" ; ".join(pieces)) if not one.implied]) == expected


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("1.2 million people", "1,200,000 people"),
        ("1.2m people", "1.2 million people"),
        ("12 % of it", "twelve percent of it"),
        ("12 per cent", "12%"),
        ("a quarter of the award", "25 percent of the award"),
        ("half of the fare", "50 % of the fare"),
        ("two thirds of members", "2/3 of members"),
        ("5 kilometres", "5 km"),
        ("5,000 m", "5 km"),
        ("0.6 litres", "600 ml"),
        ("$84,000", "84 thousand dollars"),
        ("US$5m", "5 million dollars"),
        ("SEK 300 million", "300 million kronor"),
        ("between 3 and 5 km", "3–5 km"),
        ("24 hours", "one day"),
        ("12 months", "1 year"),
        ("half a year", "six months"),
        ("three months", "checked every quarter"),
        ("one week", "weekly"),
        ("sixty days' notice", "a 60-day notice"),
        ("twenty working days", "20 days"),
        ("the third week", "week 3"),
        ("21st day", "day 21"),
        ("two and a half hours", "2.5 hours"),
        ("2½ cups", "2.5 cups"),
        ("a margin of 12.5 %", "Margin (%): 12.5"),
        ("1 200 000 euros", "EUR 1,200,000"),
        ("1.200,50 EUR", "€1,200.50"),
        ("about 1,200 people", "1,187 people"),
        ("nearly 5,000 people", "4,870 people"),
        ("over 300 people", "317 people"),
        ("1.2 million people", "1,187,342 people"),
        ("about 5 miles", "8 km"),
        ("98.6 °F", "37 °C"),
        ("port 8081", "listens on 0.0.0.0:8081"),
        ("half a million calls", "500,000 calls"),
        ("half-a-million people", "498,312 people"),
        ("a half-million people", "500,000 people"),
        ("a dozen and a half eggs", "18 eggs"),
        ("about 62 cents", "60 cents"),
        ("a quarter of a million people", "250,000 people"),
        ("a million and a half trees", "1,500,000 trees"),
        ("4 GB", "4,096 MB"),
        ("4 GB", "4,000 MB"),
        ("62 cents a kilo", "EUR 0.62 per kilogram"),
        ("0.62 dollars", "62 cents"),
        ("62 cents", "Price: 0.62"),
    ],
)
def test_the_same_quantity_in_another_form_is_backed(claim, source):
    assert backed(claim, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("12.5 %", "1.25 %"),
        ("1,250 units", "1.25 units"),
        ("90 days", "3 months"),
        ("60 days", "90 days"),
        ("365 days", "1 year"),
        ("5 km", "5 years"),
        ("5 mW", "5 MW"),
        ("$20", "€20"),
        ("about 1,200 people", "1,500 people"),
        ("over 300 people", "280 people"),
        ("nearly 5,000 people", "5,200 people"),
        ("exactly 1,200 people", "1,187 people"),
        ("15 percent", "50 percent"),
        ("half a million calls", "1,000,000 calls"),
        ("4 GB", "4,500 MB"),
        ("62 cents", "0.63 dollars"),
        ("62 cents", "0.62 kg"),
        ("50 cents a minute", "half of the members"),
        ("about 62 cents", "50 cents"),
        ("two hundred and a half kilometres", "250 km"),
    ],
)
def test_another_quantity_is_not_backed(claim, source):
    assert not backed(claim, source)


@pytest.mark.parametrize(
    "text",
    ["CVE-2021-1234", "version 4.2.1", "form HR-14", "C++17", "a 3D view", "X4", "max_retries_3", "IPv6"],
)
def test_digits_inside_a_name_are_no_quantity_of_a_claim(text):
    assert [one.text for one in quantities(text) if not one.implied] == []


@pytest.mark.parametrize(
    ("text", "hedge"),
    [
        ("about 40 km", Hedge.ABOUT),
        ("~40 km", Hedge.ABOUT),
        ("40 km or so", Hedge.ABOUT),
        ("at least 40 km", Hedge.OVER),
        ("no fewer than 40 km", Hedge.OVER),
        ("40 km or more", Hedge.OVER),
        ("up to 40 km", Hedge.UNDER),
        ("almost 40 km", Hedge.UNDER),
        ("40 km", Hedge.NONE),
    ],
)
def test_a_hedge_is_read_with_its_direction(text, hedge):
    assert quantities(text)[0].hedge is hedge


def test_a_number_is_of_a_kind_with_those_of_its_unit_or_its_noun_and_slips_keep_digits():
    near = quantities("12.5 % of 40 employees in 3 km, 8 % before")
    asked = quantities("1.25 %")[0]
    assert [one.text for one in of_its_kind(asked, near)] == ["12.5 %", "8 %"]
    assert slip(asked, near).text == "12.5 %"
    assert [one.text for one in of_its_kind(quantities("55 employees")[0], near)] == ["40"]
    assert of_its_kind(quantities("55 kg")[0], near) == []
    assert slip(quantities("7 %")[0], near) is None


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("$3,900", "$900, $1,600 and $1,400"),
        ("50 km", "2,376 km against 2,326 km"),
        ("32 crowns", "64 crowns, of which 50 percent"),
        ("6,000 requests", "1,200 calls, each counting 5"),
        ("3 percentage points", "from 34 percent to 37 percent"),
    ],
)
def test_one_step_of_arithmetic_reaches_a_number(claim, source):
    number = quantities(claim)[0]
    assert derivable(number, quantities(source))
    assert not derivable(number, quantities("7,777,777 kg"))


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("370 fewer", "2,940 tonnes, down from 3,310 the year before"),
        ("1.3 percentage points", "95.1 percent against 96.4 the year before"),
        ("nine crowns", "Fixed charge | 162 a year | 171 a year"),
    ],
)
def test_a_difference_is_derived_where_one_number_has_its_unit_elsewhere(claim, source):
    [number] = quantities(claim)
    assert derivable(number, quantities(source))
    assert not derivable(number, quantities("41 tonnes, down from 66 the year before"))


@pytest.mark.parametrize(
    ("claim", "source"),
    [("four weeks", "paid on 4 August 2023 to holders on 7 July 2023"), ("eighteen days", "1 May to 18 May")],
)
def test_days_between_two_dates_are_derived(claim, source):
    [span] = quantities(claim)
    assert derivable(span, (), dates(source))
    assert not derivable(span, (), dates("from 1 May to 30 June"))


def test_of_many_numbers_only_sums_and_differences_are_looked_for():
    source = quantities(" and ".join(f"{number} km" for number in range(1000, 1120, 2)))
    assert derivable(quantities("2,002 km")[0], source)
    assert derivable(quantities("118 km")[0], source)
    assert not derivable(quantities("1,002,000 km")[0], source)


def test_nothing_is_derived_from_a_long_source():
    source = quantities(" and ".join(f"{number} km" for number in range(100, 200)))
    assert not derivable(quantities("205 km")[0], source)


@pytest.mark.parametrize(
    "text", ["1" * 5000, "1,234" * 3000, "9" * 400 + ".5 km", "٣٤ km", "²", "million " * 300]
)
def test_monstrous_numbers_break_nothing(text):
    found = quantities(text)
    assert not QuantityPool(found).holds(quantities("17 kg")[0])


@pytest.mark.parametrize("group", [",00", ",000", ".000", " 000", "'000"])
def test_digits_without_an_end_are_a_key_and_no_number(group):
    text = f"1{group * 60} km"
    values = [reading.value for quantity in quantities(text) for reading in quantity.readings]
    assert max(values, default=0) < 1e9


def test_a_number_behind_a_long_key_is_still_read():
    assert [quantity.text for quantity in quantities(f"{'7' * 60} 500 km")] == ["500 km"]
