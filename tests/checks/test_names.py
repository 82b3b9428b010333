"""Names that the sources have otherwise, and names that only look like theirs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.checks.index import Source, SourceView
from streamverify.checks.lands import LAND_CODES, LAND_NAMES
from streamverify.checks.names import missing, names
from streamverify.checks.short_forms import SHORT_FORMS


def absent(claim: str, *sources: str) -> list[str]:
    """The names of the claim that the sources do not mention."""
    held = SourceView([Source(place, text, 0) for place, text in enumerate(sources)])
    return [claim[start:end] for name in names(claim) for start, end in missing(name, held)]


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The firm is British.", "a firm from the UK"),
        ("The firm is British.", "a U.K. firm"),
        ("The firm is British.", "a firm from the United Kingdom"),
        ("The firm is in Great Britain.", "the British firm"),
        ("It is run from Poland.", "by the first Pole to do so"),
        ("It is run from Denmark.", "by Danes"),
        ("It is run from Turkey.", "by the Turks"),
        ("It is run from Spain.", "by a Spaniard"),
        ("It is run from Holland.", "by the Dutch"),
        ("It is run by Finns.", "in Finland"),
        ("The Swedes own it.", "owned in Sweden"),
        ("It is run by a Frenchman.", "in France"),
        ("It is in the Ivory Coast.", "The firm is Ivorian."),
        ("The Czech Republic won.", "Czechia won."),
        ("They are Afghans.", "in Afghanistan"),
        ("Bekele of Ethiopia won.", "| 1 | Bekele (ETH) |"),
        ("The Swiss runner won.", "Keller, SUI, won."),
        ("A German won.", "Kraus (GER) won."),
        ("A Dutchman won.", "Bakker (NLD) won."),
        ("Costa Rica won.", "Ruiz (CRC) won."),
        ("New Zealand won.", "Ruiz (NZL) won."),
        ("South Africa won.", "Ruiz (RSA) won."),
        ("Canada won.", "Ruiz (CAN) won."),
        ("Bekele (ETH) won.", "the Ethiopian, Bekele, won"),
    ],
)
def test_a_land_is_found_by_its_people_and_its_codes(claim, source):
    assert absent(claim, source) == []


@pytest.mark.parametrize(
    ("claim", "source", "expected"),
    [
        ("The firm is British.", "an Irish firm", ["British"]),
        ("It is run from Poland.", "They polish the pole.", ["Poland"]),
        ("The firm is Turkish.", "They eat turkey.", ["Turkish"]),
        ("It is run from Norway.", "by a Dane", ["Norway"]),
        ("Bekele of Ethiopia won.", "Bekele, eth, won.", ["Ethiopia"]),
        ("Bekele of Ethiopia won.", "Bekele (KEN) won.", ["Ethiopia"]),
        ("Canada won.", "YOU CAN WIN.", []),  # it opens the sentence
        ("It was Canada.", "YOU CAN WIN.", ["Canada"]),
        ("Bekele (ETH) won.", "the Kenyan, Bekele, won", ["ETH"]),
    ],
)
def test_another_land_is_not(claim, source, expected):
    assert absent(claim, source) == expected


@given(st.sampled_from(sorted(set(LAND_CODES) - {"english"})), st.data())
def test_each_name_of_a_land_is_found_by_each_of_its_codes(name, data):
    code = data.draw(st.sampled_from(LAND_CODES[name]))
    assert absent(f"It was {name.title()} that won.", f"Ruiz ({code}) won.") == []


@given(st.sampled_from(sorted(name for name in LAND_NAMES if name.islower())))
def test_a_land_is_found_by_no_other(name):
    source = "Ruiz of Atlantis (ATL) won."
    told = absent(f"It was {name.title()} that won.", source)
    assert told or name in {"english", "us"}


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("It closes on Christmas Eve.", "It closes on 24 December."),
        ("It closes on Christmas Eve.", "It closes on December 24."),
        ("It closes on Christmas Eve and Christmas Day.", "Closed: 24–25 December"),
        ("It closes on Christmas Day.", "Closed: December 24 to 26"),
        ("It closes on Boxing Day.", "Closed: 26 December"),
        ("It closes on New Year’s Day.", "Closed: 1 January"),
        ("It closes on New Year's Eve.", "Closed: 31 December"),
        ("It closes on May Day and Labour Day.", "Closed: 1 May"),
        ("It closes on Halloween.", "Closed: October 31"),
        ("It closes on Valentine's Day.", "Closed: 14 February"),
        ("It closes on Independence Day.", "Closed: July 4"),
        ("It closes on Bastille Day.", "Closed: 14 July"),
        ("It closes on St Patrick's Day.", "Closed: 17 March"),
        ("It closes on Christmas Day.", "It is closed at Christmas."),
    ],
)
def test_a_feast_is_found_by_its_day(claim, source):
    assert absent(claim, source) == []


@pytest.mark.parametrize(
    ("claim", "source", "expected"),
    [
        ("It closes on Christmas Eve.", "Closed: 23 December", ["Christmas", "Eve"]),
        ("It closes on Christmas Eve.", "Closed: 25 December", ["Eve"]),
        ("It closes on Halloween.", "Closed: 30 October", ["Halloween"]),
        ("It closes on Boxing Day.", "Closed: 24–25 December", ["Boxing"]),
        ("It closes on Bastille Day.", "Closed: 4 July", ["Bastille"]),
    ],
)
def test_a_feast_on_another_day_is_not(claim, source, expected):
    assert absent(claim, source) == expected


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Ada is the CEO.", "Ada is chief executive"),
        ("Ada is the CFO.", "Ada is chief financial officer"),
        ("Ada is the CFO.", "Ada is finance director"),
        ("Ada is its Chief Executive.", "Ada is the CEO"),
        ("It was Chief Executive Ada Pell.", "Ada Pell, CEO"),
        ("Ask HR.", "the human resources department"),
        ("The R&D budget grew.", "the budget of research and development"),
        ("The Research and Development budget grew.", "the R&D budget"),
        ("The T&Cs apply.", "the terms and conditions apply"),
        ("The A&E is open.", "accident and emergency is open"),
        ("The ER is open.", "the emergency department is open"),
        ("The ICU is open.", "intensive care is open"),
        ("The VAT is due.", "value added tax is due"),
        ("She has a PhD.", "she has a doctorate"),
        ("Ada is an MP.", "a member of parliament"),
        ("The VPs met.", "the vice presidents met"),
        ("Show an ID.", "show proof of identity"),
        ("Use the ATM.", "use the cash machine"),
        ("NGOs agreed.", "nongovernmental bodies agreed"),
        ("See the Frequently Asked Questions.", "see the FAQs"),
        ("It emits CO2.", "it emits carbon dioxide"),
        ("It was after World War II.", "after the Second World War"),
        ("Its HQ is here.", "it is headquartered here"),
    ],
)
def test_a_short_form_is_found_by_the_long_one(claim, source):
    assert absent(claim, source) == []


@pytest.mark.parametrize(
    ("claim", "source", "expected"),
    [
        ("Ada is the CEO.", "Ada is on the executive", ["CEO"]),
        ("Ada is the CTO.", "Ada is chief executive", ["CTO"]),
        ("The R&D budget grew.", "the budget of repair and maintenance", ["R", "D"]),
        ("She has a PhD.", "she has a degree", ["PhD"]),
        ("It was after World War II.", "after the First World War", ["II"]),
    ],
)
def test_another_short_form_is_not(claim, source, expected):
    assert absent(claim, source) == expected


@given(st.sampled_from(sorted(form for form in SHORT_FORMS if " " not in form)), st.data())
def test_each_short_form_is_found_by_each_long_one(form, data):
    other = data.draw(st.sampled_from(SHORT_FORMS[form]))
    assert absent(f"We asked {form.upper()} twice.", f"they asked {other} once") == []


@pytest.mark.parametrize(
    "claim",
    [
        "Set `TENREC_DISABLE=1` to stop.",
        "Set TENREC_DISABLE=1 to stop.",
        "Export TENREC_DISABLE first.",
        "First, do it. Unset TENREC_DISABLE then.",
    ],
)
def test_what_to_do_with_code_is_no_name(claim):
    assert absent(claim, "the variable TENREC_DISABLE=1") == []


def test_what_to_do_with_a_product_is_no_name_but_its_maker_is():
    assert absent("Install XR2000 now.", "the XR2000") == []
    assert absent("Boeing B737 flew.", "the B737") == ["Boeing"]
    assert absent("Set TENREC_ENABLE first.", "the variable TENREC_DISABLE") == ["TENREC_ENABLE"]


@pytest.mark.parametrize(
    ("claim", "source", "expected"),
    [
        ("Under-18s pay half.", "half for those under 18", []),
        ("Pay half for under-4s and over-65s.", "under 4 or over 65: half", []),
        ("Over-60s pay half.", "half for people aged 60 or over", []),
        ("Under-12s pay half.", "half for those under twelve", []),
        ("The 18-year-olds pay half.", "half at 18 years", []),
        ("Under-16s pay half.", "half for those under 18", ["Under-16s"]),
        ("Over-60s pay half.", "half for those over 65", ["Over-60s"]),
    ],
)
def test_an_age_is_found_by_its_figure(claim, source, expected):
    assert absent(claim, source) == expected
