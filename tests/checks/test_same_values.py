"""The same value in another unit, another scale or another spelling is backed; one that is off is not."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streamverify.checks.numbers import QuantityPool
from streamverify.checks.quantities import quantities


def backed(claim: str, source: str) -> bool:
    """Whether every number of the claim is held by the source."""
    found = [one for one in quantities(claim) if not one.implied]
    assert found, claim
    pool = QuantityPool(quantities(source, hedges=False))
    return all(pool.holds(quantity) for quantity in found)


SAME = [
    ("10 lb", "10 pounds"),
    ("£10", "10 pounds"),
    ("100 °C", "100 degrees"),
    ("100 °C", "100°"),
    ("100 °C", "100 C"),
    ("100 degrees C", "100 degrees Celsius"),
    ("212 degrees F", "100 °C"),
    ("212F", "212 degrees Fahrenheit"),
    ("-5 °C", "23 °F"),
    ("−5 °C", "minus five degrees"),
    ("lows of -5 C", "23 F"),
    ("5-10 °C", "5 to 10 °C"),
    ("5 –10 °C", "5 to 10 °C"),
    ("-10 to -5 °C", "between minus 10 and minus 5 degrees Celsius"),
    ("−10–−5 °C", "-10 °C to -5 °C"),
    ("37 °C", "310.15 K"),
    ("37 °C", "310 K"),
    ("310.15 K", "98.6 °F"),
    ("500 Wh", "0.5 kWh"),
    ("2 GB", "2048 MB"),
    ("2 GB", "2 GiB"),
    ("2 GiB", "2048 MB"),
    ("6 ft 2 in tall", "74 inches"),
    ("6 ft 2 in tall", "188 cm"),
    ("6 ft 2 in tall", "1.88 m"),
    ("6 ft 2 in tall", "6-foot-2"),
    ("6 ft 2 in tall", "6'2\" tall"),
    ("6′2″", "six feet two inches"),
    ("6 feet, 2 inches", "6'2"),
    ("6 foot 2.", "6'2 tall"),
    ("5 lb 3 oz", "5 pounds 3 ounces"),
    ("5 lb 3 oz", "83 oz"),
    ("5 lb 3 oz", "2.35 kg"),
    ("2 h 15 min", "135 minutes"),
    ("2h 15m", "135 minutes"),
    ("2h15m", "2 hours and 15 minutes"),
    ("2 years and 6 months", "30 months"),
    ("5 dollars and 50 cents", "$5.50"),
    ("40 litres", "10.6 US gallons"),
    ("0.5 percentage points", "50 basis points"),
    ("25 bp", "a quarter of a percentage point"),
    ("0.75 L.", "75 centilitres"),
    ("0.5 A and a cable", "500 mA"),
    ("it draws 1000 W", "1 kW"),
    ("10×20×30 cm", "10 cm by 20 cm by 30 cm"),
    ("50×25 m", "50 metres by 25 metres"),
    ("A$20", "20 dollars"),
    ("A$20", "AUD 20"),
    ("R$ 200", "200 BRL"),
    ("200 SEK", "200 kronor"),
    ("100 Mbit/s", "100 megabits per second"),
    ("16 Gb", "2 GB"),
    ("2 PB", "2,000 TB"),
    ("5 TWh", "5,000 GWh"),
    ("1013 hPa", "101.3 kPa"),
    ("3 ppm", "3 parts per million"),
    ("5 ‰", "0.5 %"),
    ("an hour and a half", "90 minutes"),
    ("two years and a half", "30 months"),
    ("40 litres", "8.8 imperial gallons"),
    ("0.5 mg", "500 ug"),
    ("one third of voters", "33.3 % of voters"),
    ("1/3 of voters", "33% of voters"),
    ("two thirds of voters", "67% of voters"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_one_value_in_two_spellings_backs_itself_both_ways(one, other):
    assert backed(one, other)
    assert backed(other, one)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("33 m/s", "120 km/h"),
        ("119 km/h", "33 m/s"),
        ("4.5 kg", "10 pounds"),
        ("10 pounds", "4.5 kg"),
        ("1.2 km", "1,187 m"),
        ("33 %", "one in three voters"),
        ("80%", "4 out of 5 voters"),
        ("17 %", "one sixth of voters"),
        ("62 miles", "100 km"),
        ("-5 °C", "Low (°C): -5"),
        ("below -18 °C", "-20 °C"),
        ("above -18 °C", "-15 °C"),
    ],
)
def test_a_value_rounded_to_the_digits_of_the_claim_is_backed(claim, source):
    assert backed(claim, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("the delay is 5 s.", "the delay is 5 ms."),
        ("AUD 20", "20 US dollars (USD)"),
        ("A$20", "R$20"),
        ("200 SEK", "200 NOK"),
        ("5 TWh", "5 GWh"),
        ("300,000 km/s", "300,000 m/s"),
        ("10 Gbit/s", "10 Mbit/s"),
        ("16 Gb", "16 GB"),
        ("25 basis points", "25 percentage points"),
        ("11 pounds", "10 lb"),
        ("10 lb", "£10"),
        ("5.5 kg", "10 pounds"),
        ("101 degrees", "100 °C"),
        ("101 °C", "100 degrees"),
        ("41 °F", "-5 °C"),
        ("24 °F", "-5 °C"),
        ("5 °C", "-5 °C"),
        ("-5 °C", "5 °C"),
        ("-10 °C", "5-10 °C"),
        ("above -18 °C", "-20 °C"),
        ("312 K", "37 °C"),
        ("310.5 K", "37 °C"),
        ("5K", "5 users"),
        ("0.6 kWh", "500 Wh"),
        ("3 GiB", "2 GB"),
        ("190 cm", "6 ft 2 in"),
        ("75 inches", "6 ft 2 in"),
        ("6-foot-3", "6 ft 2 in"),
        ("6'3\"", "6 ft 2 in"),
        ("6'4\"", "188 cm"),
        ("84 ounces", "5 lb 3 oz"),
        ("145 minutes", "2 h 15 min"),
        ("134 minutes", "2h 15m"),
        ("2 hours and 20 minutes", "2 hours and 15 minutes"),
        ("$5.60", "5 dollars and 50 cents"),
        ("35 m/s", "120 km/h"),
        ("11.6 US gallons", "40 litres"),
        ("50 ug", "0.5 mg"),
        ("34%", "one third of voters"),
        ("34%", "one in three voters"),
        ("68%", "two thirds of voters"),
        ("33.5 %", "1/3 of voters"),
        ("33%", "33.4%"),
        ("5 kg", "5.3 kg"),
        ("1.2 GB", "1,400 MB"),
    ],
)
def test_a_value_that_is_off_is_not_backed_by_another_unit(claim, source):
    assert not backed(claim, source)


@pytest.mark.parametrize(("count", "same"), [("5", True), ("five", True), ("6", False)])
def test_degrees_below_zero_are_negative(count, same):
    told, zero = quantities(f"It was {count} degrees below zero.")
    assert zero.weak
    assert QuantityPool(quantities("It was -5 °C.")).holds(told) == same
    assert QuantityPool([told]).holds(quantities("23 °F")[0]) == same


degrees = st.integers(-80, 200)


@given(degrees, degrees, st.sampled_from(["°C", "°F", "degrees Celsius", "degrees F"]))
@example(-5, 5, "°C")
def test_temperatures_are_the_same_where_their_signs_are(one, other, unit):
    assert backed(f"It was {one} {unit}.", f"It was {other} {unit}.") == (one == other)


@given(degrees)
def test_a_temperature_is_backed_on_every_scale_and_two_degrees_more_are_not(celsius):
    source = f"It was {celsius} °C."
    assert backed(f"It was {celsius * 1.8 + 32:.0f} °F.", source)
    assert backed(f"It was {celsius + 273.15:.2f} K.", source)
    assert not backed(f"It was {celsius * 1.8 + 34:.0f} °F.", source)


@given(st.integers(1, 8), st.integers(0, 11), st.integers(1, 8), st.integers(0, 11))
def test_feet_and_inches_are_one_number(feet, inches, others, more):
    forms = ["{} ft {} in", "{}'{}\"", "{}-foot-{}", "{} feet {} inches"]
    claims = [form.format(feet, inches) for form in forms]
    sources = [form.format(others, more) for form in forms]
    same = (feet, inches) == (others, more)
    assert all(backed(claim, source) == same for claim in claims for source in sources)


@given(
    st.integers(1, 99),
    st.integers(1, 15),
    st.sampled_from([2, 3, 4, 5, 8, 10, 12, 16]),
    st.sampled_from(" -"),
)
def test_a_whole_number_and_a_fraction_are_one_number(whole, share, of, gap):
    claim = f"It takes {whole}{gap}{share}/{of} hours."
    if share < min(of, 10):
        assert backed(claim, f"It takes {whole * 60 + share * 60 / of:g} minutes.")
        assert not backed(claim, f"It takes {(whole * 60 + share * 60 / of) * 1.03 + 1:g} minutes.")
        assert not backed(claim, f"It takes {share}/{of} hours.")
    else:
        assert quantities(claim)[0].text != claim[9:-1]


@given(
    st.integers(1, 400),
    st.integers(1, 400),
    st.integers(1, 400).filter(lambda number: number % 10),
    st.sampled_from(["million", "thousand", "billion"]),
    st.sampled_from(["{}-{} {}", "{} to {} {}", "between {} and {} {}", "{} or {} {}"]),
)
def test_the_first_number_of_a_range_has_the_magnitude_of_the_second(low, more, other, name, form):
    source = f"It was {form.format(low, low + more, name)} euros."
    assert backed(f"It was {low} {name} euros.", source)
    assert backed(source, f"It was {low} {name} euros to {low + more} {name} euros.")
    assert backed(f"It was {other} {name} euros.", source) == (other in {low, low + more})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("5 km, 300 m and 20 m", ["5 km", "300 m", "20 m"]),
        ("the 10 km and 500 m races", ["10 km", "500 m"]),
        ("at 6 ft 2 people fell", ["6 ft", "2"]),
        ("5 kg 7 kg", ["5 kg", "7 kg"]),
        ("2.5 h 15 min", ["2.5 h", "15 min"]),
        ("it said 'gate 5' 3 times", ["5", "3 times"]),
        ("at 33° 52'10\" south", ["33°", "52", "10"]),
        ("a model HR-14 at -3 °C", ["-3 °C"]),
        ("on day 3-5 °C", ["3", "5 °C"]),
    ],
)
def test_numbers_that_are_no_parts_of_one_stay_apart(text, found):
    assert [one.text for one in quantities(text) if not one.implied] == found


@pytest.mark.parametrize(
    "piece", ["5 ft 2 in ", "6'2\" ", "2h15m ", "-5 °C ", "minus ", "-", "1 in 3 ", "5'"]
)
def test_joined_numbers_without_an_end_are_read(piece):
    text = piece * 400
    found = quantities(text)
    assert [text[one.start : one.end] for one in found] == [one.text for one in found]
