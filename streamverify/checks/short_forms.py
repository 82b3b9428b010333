"""Short forms that are no initials of the long ones, and other names of one thing: CEO, chief executive.

Before: `aliases.py` looks for a name. After: it asks for the others of its row. What the first letters tell
(GDP, VAT, chief financial officer) needs no row.
"""

from __future__ import annotations

from streamverify.text.words import listed

_ROWS = """
ceo chief_executive | cfo chief_financial finance_chief finance_director
coo chief_operating operations_chief | cto chief_technology chief_technical technology_chief
cmo chief_marketing chief_medical marketing_chief | cio chief_information chief_investment
hr human_resource personnel_department | vp vice_president | mp member_of_parliament members_of_parliament
id identification identity identifier
mep member_of_the_european_parliament members_of_the_european_parliament
phd doctorate doctoral_degree doctor_of_philosophy | bsc bachelor_of_science | ba bachelor_of_arts
msc master_of_science | ma master_of_arts | mba master_of_business_administration
gp general_practitioner family_doctor | er emergency_room emergency_department | icu intensive_care
a&e accident_and_emergency emergency_department casualty_department | q&a questions_and_answers
r&d research_and_development | faq frequently_asked_question | atm cash_machine cash_dispenser
ngo nongovernmental non_governmental | vat value_added_tax | hq headquarters headquartered
tv television televised | dna deoxyribonucleic | rna ribonucleic | tb tuberculosis
ecg ekg electrocardiogram | eeg electroencephalogram | mri magnetic_resonance | ct computed_tomography
nyc new_york | dc district_of_columbia washington | eu european european_union europe | un united_nations
ww1 wwi world_war_i world_war_one first_world_war | ww2 wwii world_war_ii world_war_two second_world_war
co2 carbon_dioxide | no2 nitrogen_dioxide | so2 sulphur_dioxide sulfur_dioxide | ch4 methane
n2o nitrous_oxide | 2fa two_factor two_step | b2b business_to_business | b2c business_to_consumer
yoy year_on_year year_over_year | capex capital_expenditure | opex operating_expenditure operating_expense
h1 first_half first_six_months half_year | h2 second_half | sms text_message
ev electric_vehicle electric_car | bc bce | ad ce
"""


def _table() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for row in _ROWS.replace("\n", "|").split("|"):
        forms = tuple(form.replace("_", " ") for form in listed(row))
        for form in forms:
            table[form] = (*table.get(form, ()), *(other for other in forms if other != form))
    return table


SHORT_FORMS = _table()
"""By a form, folded: the others."""
