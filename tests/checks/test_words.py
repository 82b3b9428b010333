from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.checks.index import Source, SourceView
from streamverify.checks.names import missing, names
from streamverify.checks.negation import Statement, mismatch, statements
from streamverify.checks.quotes import near_miss, occurs, plain, quotations
from streamverify.text import words as module
from streamverify.text.words import WORD, fold, placed_words, split_words, stem, tokens, words

prose = st.lists(
    st.sampled_from("The fee of Ada Pell is due in May unless Harrow Mills agrees to waive it".split()),
    max_size=30,
)


def view(*texts: str) -> SourceView:
    return SourceView([Source(place, text, 0) for place, text in enumerate(texts)])


def absent(claim: str, *sources: str) -> list[str]:
    """The names of the claim that the sources do not mention."""
    held = view(*sources)
    return [claim[start:end] for name in names(claim) for start, end in missing(name, held)]


@given(
    st.lists(st.one_of(st.from_regex(r"[a-z]*[0-9][a-z0-9]*", fullmatch=True), st.just("x" * 41)), min_size=1)
)
def test_what_is_made_up_without_end_is_not_remembered(made_up):
    before = len(module._STEMS)
    assert [stem(word) for word in made_up if any(map(str.isdigit, word))] == [
        word for word in made_up if any(map(str.isdigit, word))
    ]
    for word in made_up:
        stem(word)
    assert len(module._STEMS) == before


@given(st.text(max_size=200))
def test_words_stand_at_their_span(text):
    assert all(text[word.start : word.end] == word.text for word in words(text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("running", "runs"),
        ("reduced", "reduces"),
        ("policies", "policy"),
        ("children", "child"),
        ("caused", "causing"),
    ],
)
def test_forms_of_a_word_share_their_stem(one, other):
    assert stem(one) == stem(other)


def test_folding_takes_off_case_and_diacritics():
    assert fold("Ærøskøbing, Łódź, FRAMNÆS") == "aeroskobing, lodz, framnaes"


@given(prose)
def test_every_name_of_a_text_is_found_in_that_text(parts):
    text = " ".join(parts)
    assert absent(text, text) == []


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("It was Justice Pell who wrote it.", "Ada Pell, a justice, wrote it."),
        ("The ruling favoured Ms. Pell's firm.", "the firm of Ada Pell"),
        ("It is run by the WHO.", "It is run by the World Health Organization."),
        ("It is run by the World Health Organization.", "It is run by the WHO."),
        ("About 30 GPs took part.", "thirty general practitioners took part"),
        ("She moved to the US in May.", "She moved to the U.S. in May."),
        ("It borders on the Norwegian sea.", "the sea off Norway"),
        ("The ship sailed from Framnaes.", "built at Framnæs"),
        ("Set `max_retries` first.", "the option max_retries"),
        ("It is CVE-2021-1234.", "see cve-2021-1234 for details"),
        ("It needs v2.1 of it.", "version 2.1 is needed"),
        ("Connect it to the Wi-Fi.", "the wifi network"),
        ("The output was 640 MW.", "640 megawatts"),
        ("It uses 0.5 kWh of 2 GiB at 5 kWp and 100 Mbps.", "500 Wh"),
        ("McDonalds paid.", "McDonald's paid."),
        ("It was McDonald's that paid.", "McDonalds paid."),
        ("It was OBrien who paid.", "O'Brien paid."),
        ("It was O'Brien who paid.", "OBrien paid."),
        ("The United States office grew.", "The U.S. office grew."),
        ("United States of America forces left.", "American forces left."),
        ("The USA paid.", "The United States paid."),
        ("The United Kingdom office grew.", "The UK office grew."),
        ("The U.K. office grew.", "The United Kingdom office grew."),
        ("The E.U. adopted it.", "The European Union adopted it."),
        ("The European Union adopted it.", "The E.U. adopted it."),
        ("The National Aeronautics and Space Administration landed it.", "NASA's lander"),
        ("The Food and Drug Administration ruled.", "ruled by the FDA"),
        ("They saw Apollo XI land.", "Apollo 11 landed."),
        ("It followed World War II.", "after World War two"),
        ("Cafe Mueller opened.", "Café Müller opened."),
        ("The Café Müller opened.", "Cafe Mueller opened."),
        ("FYI, TL;DR, PS: see the FAQ and the Q&A, ASAP.", "nothing"),
        ("They saw Apollo XI land.", "'Apollo' was old, 'Apollo eleven' landed."),
        ("They saw Apollo III and Apollo II land.", "Apollo 2 3 and Apollo three 4"),
        ("The US agreed.", "The US agreed."),
        ("The US agreed.", "A U.S. envoy agreed."),
        ("The US’s envoy agreed.", "A US-born envoy agreed."),
        ("The US agreed.", "The united states agreed."),
        ("The US agreed.", "The Americans agreed."),
        ("The US agreed to it.", "It was the Union of Smiths that agreed."),
        ("The US-based firm agreed.", "The firm, based in the U.S, agreed."),
        ("The US Treasury agreed.", "It told us that the Treasury agreed."),
        ("The U.S. agreed.", "The US agreed."),
        ("The American envoy agreed.", "The US envoy agreed."),
        ("The WHO agreed.", "The World Health Organization agreed."),
        ("The US Food and Drug Administration ruled.", "ruled by the FDA"),
        ("It costs 5 US dollars, US$5 or US $5 for 3 US gallons.", "It costs $5."),
        ("You must NOT pay. TELL US NOW. Ask WHO pays and do ALL of IT.", "You must not pay. Ask; tell."),
        ("The plan was Norwegian.", "Norwegians planned it."),
        ("It was founded in 44 BCE.", "in 44 BC"),
        ("It burnt in 79 CE.", "in AD 79"),
        ("It grew in Q4 2016, in FY24 and on 2016-04-12T14:30:00Z.", "dates are no names"),
    ],
)
def test_a_name_in_another_form_is_found(claim, source):
    assert absent(claim, source) == []


@pytest.mark.parametrize(
    ("claim", "source", "expected"),
    [
        ("It was written by Justice Linde.", "written by Justice Okafor", ["Linde"]),
        ("It is CVE-2021-1235.", "CVE-2021-1234", ["CVE-2021-1235"]),
        ("Set `max_retry_count` first.", "the option max_retries", ["max_retry_count"]),
        ("The plant in Leeds closed.", "The plant in Hull closed.", ["Leeds"]),
        ("This is run by UNICEF.", "run by the World Health Organization", ["UNICEF"]),
        ("The team uses kWhTool.", "It uses 5 kWh.", ["kWhTool"]),
        ("It was paid by MacDougals.", "McDonald's paid.", ["MacDougals"]),
        ("The United States office grew.", "The UK office gave us staff.", ["United States"]),
        ("The United Kingdom office grew.", "The U.S. office grew.", ["United Kingdom"]),
        ("The U.N. adopted it.", "The European Union adopted it.", ["U.N"]),
        ("The Food and Drug Administration ruled.", "ruled by the FBI", ["Food", "Drug", "Administration"]),
        ("They saw Apollo XII land.", "Apollo 11 landed with 12 men.", ["XII"]),
        ("The Cafe Moeller opened.", "Café Müller opened.", ["Moeller"]),
        ("The Cafe Mueller opened.", "The muller opened a cafe.", ["Mueller"]),
        ("FYI, NASA landed.", "ESA landed.", ["NASA"]),
        ("They saw Apollo XI land.", "Apollo. 11 men saw Zpollo 11.", ["XI"]),
        ("The US agreed.", "The United Kingdom agreed. It told us.", ["US"]),
        ("The US’s envoy agreed.", "The envoy told us so.", ["US’s"]),
        ("The WHO agreed.", "The man who told us agreed.", ["WHO"]),
        ("The U.S. agreed.", "The United Kingdom agreed. It told us.", ["U.S"]),
        ("The American agreed.", "The envoy agreed. It told us.", ["American"]),
        ("The Unique Solution agreed.", "It told us.", ["Unique", "Solution"]),
        ("It was OBrian who paid.", "O'Brien and m'obrian paid.", ["OBrian"]),
        ("It was founded in 44 CE.", "in 44 BC", ["CE"]),
    ],
)
def test_a_name_from_nowhere_is_reported_at_its_place(claim, source, expected):
    assert absent(claim, source) == expected


@pytest.mark.parametrize(
    "claim", ["Remove the filter. Then wait.", "The fee is due.", "Yes, and/or no.", "On 5 May it was 3rd."]
)
def test_a_word_that_opens_a_sentence_is_no_name(claim):
    assert names(claim) == ()


@given(
    prose.filter(lambda parts: len(parts) >= 3), st.sampled_from(["“{}”", '"{}"', "«{}»", "„{}“", "「{}」"])
)
def test_a_stretch_of_a_source_is_a_true_quotation_of_it(parts, marks):
    source = " ".join(parts)
    quoted = marks.format(" ".join(parts[: max(3, len(parts) // 2)]).upper())
    found = quotations(f"It says {quoted}.")
    assert len(found) == 1
    assert occurs(found[0], [plain("Before. " + source + " After.")])


def test_an_ellipsis_stands_for_words_in_between_but_the_order_counts():
    source = [plain("The tenant must give notice of sixty days in writing to the landlord.")]
    assert occurs(quotations("“The tenant must … in writing to”")[0], source)
    assert not occurs(quotations("“in writing to … The tenant must”")[0], source)


def test_a_near_miss_names_what_differs():
    source = [plain("Nothing here."), plain("The tenant must give written notice of sixty days.")]
    quotation = quotations("“The tenant may give written notice”")[0]
    assert not occurs(quotation, source)
    miss = near_miss(quotation, source)
    assert (miss.source, miss.difference) == (1, "“may” where the source has “must”")


def test_words_from_nowhere_have_no_near_miss():
    assert (
        near_miss(quotations("“entirely other words here”")[0], [plain("The tenant must give notice.")])
        is None
    )


@pytest.mark.parametrize(
    "text", ['the "obvious hazard" rule', 'a 5" screen and a 7" one', "it's 'so' called"]
)
def test_short_quotations_and_inch_marks_are_left_alone(text):
    assert quotations(text) == ()


def turned(claim: str, source: str) -> str | None:
    found = mismatch(claim, statements(source))
    return claim[found.start : found.end] if found else None


@pytest.mark.parametrize(
    ("claim", "source", "word"),
    [
        ("The deposit is not refundable after June.", "The deposit is refundable after June.", "not"),
        ("The deposit is refundable after June.", "The deposit is not refundable after June.", "refundable"),
        ("The tests never covered signed zones.", "The tests covered the signed zones.", "never"),
        (
            "Prices increased along the coast in June.",
            "In June prices decreased along the coast.",
            "increased",
        ),
        ("The maximum age of applicants is thirty.", "The minimum age of applicants is thirty.", "maximum"),
    ],
)
def test_a_reversed_statement_is_noticed_at_the_word(claim, source, word):
    assert turned(claim, source) == word


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The deposit is not refundable after June.", "The deposit is not refundable after June."),
        ("Leave lasts no more than ten weeks a year.", "Leave lasts at most ten weeks a year."),
        ("Delay by force majeure is not covered.", "Delay by force majeure is excluded."),
        ("Notice is given no later than ten days before.", "Notice is given at least ten days before."),
        ("The fee is not due in winter.", "Bicycles are carried free of charge."),
        ("Only members can use the pool daily.", "The pool cannot be used daily except by members."),
    ],
)
def test_a_statement_in_other_words_is_not_called_reversed(claim, source):
    assert turned(claim, source) is None


@given(prose)
def test_a_sentence_never_contradicts_itself(parts):
    text = " ".join(parts)
    assert mismatch(text, [Statement(text)]) is None


@given(st.text(max_size=200) | st.text(alphabet="ab1_＿'’½ .-", max_size=60))
def test_words_without_an_underline_are_those_of_the_whole_pattern(text):
    assert split_words(text) == WORD.findall(text)
    assert tokens(text) == [module.strip_possessive(word) for word in WORD.findall(fold(text))]
    assert placed_words(text) == [(word.start, word.folded) for word in words(text)]
