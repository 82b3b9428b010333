"""What the recognisers find, and what they leave alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify import Flag, RedactPii, Verifier
from streamverify.errors import MissingExtraError, UsageError
from streamverify.pii import KINDS, PresidioDetector, Recognisers, blocked, checksums, marked
from streamverify.pii.items import BLOCK, LONGEST, barriers
from tests.pii.cases import cases, figures

ALL = [*cases("dev"), *cases("held_out")]
PAGE = Path(__file__).parents[2] / "docs" / "guides" / "pii.md"
detect = Recognisers()

fragments = st.sampled_from(
    [text for _, text, _ in ALL]
    + [
        "Tel.:",
        "born on",
        "Mr.",
        "IBAN",
        "Name:",
        "Address:",
        "5",
        "0",
        "+4",
        "St.",
        "@",
        "1",
        "1980",
        "str. 7",
    ]
)
joints = st.sampled_from(["", " ", ". ", "\n", "-", ", ", ": ", "  ", "\n\n- "])
texts = st.lists(st.tuples(fragments, joints), max_size=6).map(lambda parts: "".join(a + b for a, b in parts))


def test_the_set_has_three_hundred_cases_and_half_of_them_only_look_alike():
    assert len(ALL) == 300
    assert len({text for _, text, _ in ALL}) == 300
    assert sum(not items for _, _, items in ALL) == 150
    assert {item.kind for _, _, items in ALL for item in items} == set(KINDS)


@pytest.mark.parametrize(("name", "text", "items"), cases("dev"), ids=[name for name, *_ in cases("dev")])
def test_the_first_half_is_read_rightly(name, text, items):
    assert tuple(detect(text)) == items


def test_the_page_tells_the_figures_of_both_halves():
    rows = dict(re.findall(r"^\| `?(\w+)`? \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    dev, held_out = figures("dev"), figures("held_out")
    for kind in KINDS:
        assert rows[kind] == " | ".join(" / ".join(map(str, half[kind])) for half in (dev, held_out)), kind
    totals = [tuple(map(sum, zip(*half.values(), strict=True))) for half in (dev, held_out)]
    assert rows["all"] == " | ".join(" / ".join(map(str, total)) for total in totals)


@given(texts)
def test_what_is_found_is_in_order_apart_short_and_within_a_sentence(text):
    at, ends = 0, barriers(text)
    for item in detect(text):
        assert at <= item.start < item.end <= len(text)
        assert item.end - item.start <= LONGEST
        assert not any(item.start < end < item.end for end in ends)
        at = item.end


@given(texts)
def test_nothing_is_found_in_a_text_without_its_items(text):
    assert detect(marked(text, detect)) == ()
    assert detect(blocked(text, detect)) == ()


@given(texts)
def test_blocks_keep_every_place(text):
    hidden = blocked(text, detect)
    assert len(hidden) == len(text)
    items = detect(text)
    inside = {place for item in items for place in range(item.start, item.end)}
    assert all(a == b for place, (a, b) in enumerate(zip(text, hidden, strict=True)) if place not in inside)
    for item in items:
        assert hidden[item.start : item.end] in (
            f"[{item.kind}]".ljust(item.end - item.start),
            BLOCK * (item.end - item.start),
            f"[{item.kind}{BLOCK * (item.end - item.start - len(item.kind) - 2)}]",
        )


@given(st.text(max_size=300))
def test_any_text_is_read(text):
    assert detect(marked(text, detect)) == ()


@given(st.sets(st.sampled_from(KINDS)), texts)
def test_only_the_kinds_that_are_asked_for_are_found(kinds, text):
    assert {item.kind for item in Recognisers(kinds)(text)} <= kinds


def test_a_kind_that_is_none_is_refused():
    with pytest.raises(UsageError, match="there is no kind 'shoe_size'; choose from email"):
        Recognisers(["shoe_size"])


NUMBERS = [
    (checksums.luhn, "4532015112830366"),
    (checksums.iban, "DE44500105175407324931"),
    (checksums.german_tax, "86095742719"),
    (checksums.dutch_bsn, "123456782"),
    (checksums.french_nir, "255081416802538"),
    (checksums.spanish_dni, "12345678Z"),
]


@given(st.sampled_from(NUMBERS), st.data())
def test_one_wrong_digit_is_always_noticed(case, data):
    valid, number = case
    assert valid(number)
    place = data.draw(st.sampled_from([at for at, char in enumerate(number) if char.isdigit()]))
    other = data.draw(st.sampled_from([digit for digit in "0123456789" if digit != number[place]]))
    assert not valid(number[:place] + other + number[place + 1 :])


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("Write to ann@example.org.", "Write to [email]."),
        ("Date of birth:\n1980-03-04\nsex: f", "Date of birth:\n[birth_date]\nsex: f"),
        ("Card 4111 1111 1111 1111. 1 left.", "Card [card]. 1 left."),
    ],
)
def test_a_mark_tells_the_kind(text, after):
    assert marked(text, detect) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("Tel. 555-1234", "Tel. [phone]"),
        ("Tel. 5551234.", "Tel. [phone]."),
        ("Telephone 555-1234, room 4", "Telephone [phone], room 4"),
        ("Phone no.: 555 1234 or fax 555.1235", "Phone no.: [phone] or fax [phone]"),
        ("My phone number is 555-1234.", "My phone number is [phone]."),
        ("Tel.: 030 1234567", "Tel.: [phone]"),
        ("Téléphone : 5551234", "Téléphone : [phone]"),
    ],
)
def test_seven_digits_right_behind_a_telephone_are_its_number(text, after):
    assert marked(text, detect) == after


@pytest.mark.parametrize(
    "text",
    [
        "Tel. 12",
        "Tel. 55-1234",
        "Telephone booth 1234567",
        "The telephone sold 5551234 times",
        "Telephones 5551234",
        "Television 5551234",
        "Tel. 5551234-77-8",
        "Phone 5,551,234",
        "Tel. 555 1234 5678 9",
        "Order 555-1234",
        "cell 5551234",
        "555-1234",
        "Tel.\n5551234",
    ],
)
def test_other_figures_near_a_telephone_stay(text):
    assert marked(text, detect) == text


def test_what_is_shorter_than_its_mark_becomes_blocks_alone():
    assert blocked("Mr. Li and ann@example.org", detect) == "Mr. ██ and [email████████]"


@pytest.mark.parametrize(
    "text",
    [
        "Anna Weber met us.",
        "ann at example dot org",
        "4111 1111 1111 111l",
        "born in 1980",
        "plate B-AB 1234",
    ],
)
def test_what_the_page_says_is_not_found_is_not_found(text):
    assert detect(text) == ()


def test_without_presidio_its_detector_names_the_command(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "presidio_analyzer", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'streamverify\[presidio\]'"):
        PresidioDetector()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Her mail is _ann@example.org_.", "Her mail is _[email]_."),
        ("__ann@example.org__", "__[email]__"),
        ("Write to ann@example.org/bob@example.org.", "Write to [email]/[email]."),
        ("ann_b@a.b.c.d.e.f.g.h.i.com", "[email]"),
        ("https://host.org/ann@example.org", "https://host.org/ann@example.org"),
    ],
)
def test_markup_and_a_slash_hide_no_address(text, shown):
    with Verifier("lexical", policy=RedactPii(Flag())) as verifier:
        assert verifier.check_sync(text, ["p"]).released == shown
