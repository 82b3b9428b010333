from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.checks import SourceIndex, check
from streamverify.checks.versions import MOST_PASSAGES, Versions
from streamverify.claims.reader import read
from streamverify.types import FindingKind, Passage, Sentence

RULE = "Parking permits cost {} euros a year. They are sold at the town hall on weekdays. One is for one car."
OLD, NEW = RULE.format(60), RULE.format("ninety")
CLAIM = "A parking permit costs 60 euros a year."

versions = [
    (Passage("a", OLD, title="Parking rules 2019"), Passage("b", NEW, title="Parking rules 2022")),
    (
        Passage("a", OLD, metadata={"updated": "2019-03-01"}),
        Passage("b", NEW, metadata={"updated": "2022-01-15"}),
    ),
    (Passage("a", f"Withdrawn in March. {OLD}"), Passage("b", NEW)),
    (Passage("a", OLD), Passage("b", f"This text replaces the earlier rules. {NEW}")),
    (Passage("a", f"{OLD} No longer in force.", title="Rules"), Passage("b", NEW, title="Rules")),
]


@pytest.mark.parametrize("pair", versions)
@pytest.mark.parametrize("turned", [False, True])
def test_a_claim_that_follows_the_older_version_is_told_with_what_the_newer_says(pair, turned):
    found = Versions(pair[::-1] if turned else pair).followed(CLAIM)
    assert found is not None
    assert (found.older, found.newer) == ((1, 0) if turned else (0, 1))
    assert "ninety" in found.sentence


@pytest.mark.parametrize("pair", versions)
@pytest.mark.parametrize(
    "claim",
    [
        "A parking permit costs 90 euros a year.",
        "Permits are sold at the town hall on weekdays.",
        "Previously a parking permit cost 60 euros a year.",
        "The permit used to cost 60 euros a year.",
        "The town hall has two entrances.",
        "",
    ],
)
def test_what_both_say_the_newer_says_or_was_so_is_left_alone(pair, claim):
    assert Versions(pair).followed(claim) is None


def test_a_claim_that_names_the_year_of_the_older_version_is_about_it():
    assert (
        Versions(versions[0]).followed("In the rules of 2019 a parking permit costs 60 euros a year.") is None
    )


def test_passages_about_other_things_are_no_versions_of_each_other():
    other = Passage(
        "b", "The museum opens at nine and costs 90 crowns. Guided tours leave hourly.", title="2022"
    )
    assert Versions([Passage("a", OLD, title="2019"), other]).pairs == ()


FEE = "{}the fee for a parking permit is {} euros a year. Permits are sold at the town hall on weekdays.{}"


def editions(first=("", ""), second=("", ""), **of):
    """Two passages on one fee, first 5 and then 6 euros, and what tells them apart."""
    return [
        Passage(f"{of.get('ids', 'ab')[at]}", FEE.format(part[0], 5 + at, part[1]), *more)
        for at, (part, more) in enumerate(zip((first, second), of.get("more", [(), ()]), strict=True))
    ]


def metadata(**of):
    return [(None, {key: value[at] for key, value in of.items()}) for at in (0, 1)]


later = [
    editions(("Effective January 1, 2022, ", ""), ("Effective January 1, 2024, ", "")),
    editions(second=("Effective January 1, 2024, ", "")),
    editions(("", " Last updated: 3 May 2021"), ("", " Last updated: 7 June 2024")),
    editions(more=[("Parking, Rev. 1",), ("Parking, Rev. 2",)]),
    editions(more=[("Parking, Version 1.9",), ("Parking, Version 1.10",)]),
    editions(more=[("Parking rules (old)",), ("Parking rules (current)",)]),
    editions(more=[("Parking rules - Draft",), ("Parking rules - Final",)]),
    editions(more=metadata(last_modified=("2021-03-04", "2023-03-04"))),
    editions(more=metadata(updated_at=("2021-03-04T10:00:00Z", "2023-03-04T10:00:00Z"))),
]


@pytest.mark.parametrize("pair", later)
@pytest.mark.parametrize("turned", [False, True])
def test_the_later_edition_is_told_by_what_is_common(pair, turned):
    known = Versions(pair[::-1] if turned else pair)
    assert known.followed("The fee for a parking permit is 5 euros a year.") is not None
    assert known.followed("The fee for a parking permit is 6 euros a year.") is None


@pytest.mark.parametrize(
    "pair",
    [
        editions(),
        editions(ids=("doc_2001", "doc_2002")),
        editions(more=metadata(source=("a/leeds_2021.pdf", "a/york_2023.pdf"))),
        editions(more=[("Leeds parking v1",), ("York parking v2",)]),
        editions(more=[("Leeds parking", {"version": 1}), ("York parking", {"version": 2})]),
        editions(("From 1 April 2022 to 1 May 2023 ", ""), ("From 1 May 2023 to 1 May 2024 ", "")),
        editions(second=("From May 2024 ", "")),
        editions(ids=("help_center_1950", "help_center_1951")),
        editions(ids=("kb_item_2001.md", "kb_item_2002.md")),
        editions(more=metadata(source=("a/plans_2023.pdf", "a/plans_2024.pdf"))),
        editions(more=metadata(file_name=("plans_2023", "plans_2024"))),
        editions(more=metadata(version=("1.2", 2))),
        editions(more=[("Windows 2019 pass",), ("Windows 2022 pass",)]),
        editions(more=[("Olympics 2020 visitors",), ("Olympics 2024 visitors",)]),
        editions(more=[("Room v1",), ("Room v2",)]),
        editions(more=[("Release 1 area",), ("Release 2 area",)]),
        editions(more=[("Users API v1",), ("Users API v2",)]),
    ],
)
def test_what_tells_no_edition_of_the_same_makes_no_versions(pair):
    assert Versions(pair).followed("The fee for a parking permit is 5 euros a year.") is None
    assert Versions(pair[::-1]).followed("The fee for a parking permit is 5 euros a year.") is None


@pytest.mark.parametrize(
    ("titles", "claim"),
    [
        (("Parking Version 1", "Parking Version 2"), "In v1 the fee for a parking permit is 5 euros a year."),
        (
            ("Parking Version 1", "Parking Version 2"),
            "In version one the fee for a parking permit is 5 euros.",
        ),
        (("Rules (draft)", "Rules (final)"), "In the draft the fee for a parking permit is 5 euros."),
    ],
)
def test_a_claim_that_names_its_edition_is_about_it(titles, claim):
    assert Versions(editions(more=[(title,) for title in titles])).followed(claim) is None


def test_a_version_that_both_are_of_tells_no_edition():
    older = Passage(
        "a", "Withdrawn in 2021. POST /v2/images takes files of up to 60 MB each.", "/v2 images 2015"
    )
    newer = Passage("b", "POST /v2/images takes files of up to 65 MB each.", "/v2 images 2016")
    assert Versions([older, newer]).followed("POST /v2/images takes files of up to 60 MB each.") is not None


OFFICE = "The {} office is open from {}:00. Visitors must register at the desk.{}"
siblings = [
    (
        Passage("a", OFFICE.format("Berlin", 8, " Valid from 2022.")),
        Passage("b", OFFICE.format("Munich", 9, "")),
        "The Munich office is open from 9:00.",
    ),
    (
        Passage("a", "The Basic plan costs $10 per month and includes 5 users."),
        Passage("b", "Updated: the Pro plan costs $20 per month and includes 25 users."),
        "The Basic plan costs $10 per month.",
    ),
    (
        Passage("a", "Take 2 tablets every 4 hours, and not more than 8 a day.", "Aspirin leaflet 2019"),
        Passage("b", "Take 1 tablet every 8 hours, and not more than 3 a day.", "Ibuprofen leaflet 2022"),
        "Take 2 tablets every 4 hours.",
    ),
    (
        Passage("a", "Ajax beat PSV 3-1 on Sunday. The match drew 50,000 fans.", "Report 2021"),
        Passage("b", "Ajax beat Feyenoord 2-0 on Sunday. The match drew 48,000 fans.", "Report 2023"),
        "Ajax beat PSV 3-1 on Sunday.",
    ),
    (
        Passage("a", "The rent is 900 pounds a month. It is due on the first.", "Lease Leeds (2020)"),
        Passage("b", "The rent is 950 pounds a month. It is due on the first.", "Lease York (2023)"),
        "The rent is 900 pounds a month.",
    ),
    (
        Passage("a", "Full-time employees get 25 days of leave a year."),
        Passage("b", "Part-time employees get 15 days of leave a year. Effective from 2023."),
        "Full-time employees get 25 days of leave a year.",
    ),
    (
        Passage("a", "GET /v1/users returns at most 100 items per page. (Deprecated)"),
        Passage("b", "GET /v1/orders returns at most 50 items per page."),
        "GET /v1/users returns at most 100 items per page.",
    ),
    (
        Passage("a", "Employees get 30 days of leave a year.", "Germany leave policy 2021"),
        Passage("b", "Employees get 25 days of leave a year.", "France leave policy 2023"),
        "Employees get 30 days of leave a year.",
    ),
    (
        Passage("a", "The archive room is open from 9:00 to 12:00. Bring a card."),
        Passage("b", "The reading room is open from 10:00 to 18:00. Bring a card."),
        "The archive room is open from 9:00 to 12:00.",
    ),
]

siblings += [
    (
        Passage("a", f"The {one} {verb} {old}. Ask at the desk.", metadata={"updated_at": "2023-01-02"}),
        Passage("b", f"The {other} {verb} {new}. Ask at the desk.", metadata={"updated_at": "2024-01-02"}),
        claim,
    )
    for one, other, verb, old, new, claim in (
        (
            "basic plan",
            "premium plan",
            "costs",
            "10 euros per month",
            "30 euros per month",
            "It costs 10 euros per month.",
        ),
        (
            "pool",
            "sauna",
            "is open",
            "from 9:00 to 18:00",
            "from 10:00 to 20:00",
            "It is open from 9:00 to 18:00.",
        ),
    )
]


@pytest.mark.parametrize(("one", "other", "claim"), siblings)
def test_what_is_said_of_two_things_supersedes_nothing(one, other, claim):
    assert Versions([one, other]).followed(claim) is None
    assert Versions([other, one]).followed(claim) is None


things = st.sampled_from(("Berlin", "Munich", "Leeds", "Basic", "Ajax"))


@given(things, things, st.booleans())
def test_a_thing_is_superseded_by_what_is_said_of_itself_alone(one, other, turned):
    pair = [
        Passage("a", OFFICE.format(one, 8, "")),
        Passage("b", OFFICE.format(other, 9, " Valid from 2022.")),
    ]
    found = Versions(pair[::-1] if turned else pair).followed(f"The {one} office is open from 8:00.")
    assert (found is not None) is (one == other)


def test_a_title_or_a_sentence_in_other_words_is_still_of_the_same_thing():
    older = Passage("a", OLD, "Parking rules 2019")
    newer = Passage(
        "b", NEW.replace("Parking permits cost", "Residents pay for a parking permit"), "Fees 2022"
    )
    assert Versions([older, newer]).followed(CLAIM) is not None


@pytest.mark.parametrize(
    "claim",
    ["The parking permit is no longer 60 euros a year.", "The old permit was 60 euros a year."],
)
def test_what_says_that_it_was_so_is_not_against_the_later_version(claim):
    assert Versions(versions[0]).followed(claim) is None


LEAVE = "{}employees get {} days of leave per year. Requests go to the manager by the end of January."
STALE = "Employees get 25 days of leave per year."


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (("HR handbook 2021", ""), ("Holiday rules 2024", "")),
        (("Staff handbook", ""), ("Employee manual", "")),
        (("", "Jane Miller, Head of HR, informs: "), ("", "Peter Smith, Head of HR, informs: ")),
        (("", "Jane Miller says: "), ("", "Peter Smith announced: ")),
    ],
)
def test_words_of_companies_and_who_speaks_are_no_two_things(older, newer):
    pair = [
        Passage("a", LEAVE.format(older[1], 25), older[0], {"date": "2021-02-03"}),
        Passage("b", LEAVE.format(newer[1], 30), newer[0], {"date": "2024-02-03"}),
    ]
    assert Versions(pair).followed(STALE) is not None
    assert Versions(pair[::-1]).followed(STALE) is not None
    assert Versions(pair).followed(f"You need no longer wait: {STALE.lower()}") is not None
    assert Versions(pair).followed("Employees no longer get 25 days of leave per year.") is None
    assert Versions(pair).followed("Employees no longer get twenty-five days of leave per year.") is None


def test_two_passages_of_one_date_without_a_word_on_it_are_no_versions():
    assert Versions([Passage("a", OLD), Passage("b", NEW)]).pairs == ()


def test_the_finding_says_why_and_the_signal_is_set():
    index = SourceIndex(versions[0][:2])
    claim = read(Sentence(index=0, text=CLAIM, start=0, end=len(CLAIM))).claim
    checked = check(claim, index)
    assert checked.signals.superseded == 1
    [finding] = [one for one in checked.findings if one.kind is FindingKind.SUPERSEDED]
    assert "passage a" in finding.detail
    assert "passage b" in finding.detail
    assert "ninety euros" in finding.detail


texts = st.text("ab1.2 ", max_size=60)


told = st.dictionaries(
    st.sampled_from(("date", "version", "source", "file_name", "updated_at")),
    st.sampled_from(("2019-03-01", "v1.2", "a/rules_2021.pdf", "")) | st.integers(0, 3) | st.none(),
)


@given(st.lists(st.tuples(texts, told), max_size=5), texts)
def test_any_text_is_read_and_no_passage_supersedes_itself(passages, claim):
    known = Versions([Passage(str(i), text, text[:9], more) for i, (text, more) in enumerate(passages)])
    assert all(older.passage != newer.passage for older, newer in known.pairs)
    assert not any((newer, older) in known.pairs for older, newer in known.pairs)
    known.followed(claim)


def test_of_very_many_passages_the_first_are_compared():
    many = [Passage(str(i), OLD, title=f"Rules {1900 + i}") for i in range(MOST_PASSAGES + 20)]
    assert max(newer.passage for _, newer in Versions(many).pairs) == MOST_PASSAGES - 1
