"""The structured block leaves the answer, and what is left is prose, however both arrive."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.domains import BlockReader
from streamverify.testing import pieces

values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(st.characters(codec="utf-8"), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(max_size=4), values, max_size=4)
prose = st.lists(
    st.sampled_from(
        [
            "The mill is old [1]. ",
            "{name} is free.",
            "\n",
            "\n\n",
            '\n```python\n{"a": 1}\n```\n',
            "- It. ",
            "`x` ",
            "{ not so }",
        ]
    ),
    max_size=4,
).map("".join)
anything = st.lists(
    st.sampled_from(
        [
            "```",
            "```json",
            "\n",
            '{"a": ',
            "{",
            "}",
            '"',
            "\\",
            "[",
            "]",
            " ",
            "x",
            ":",
            "1",
            "~~~",
            "`",
            "\t",
        ]
    ),
    max_size=24,
).map("".join)


def read(text, cut=1_000_000, **options):
    reader = BlockReader(**options)
    told = "".join(reader.feed(piece) for piece in pieces(text, cut))
    return told + reader.flush(), reader.block


def written(value, form, indent):
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return {"bare": f"{text}\n", "json": f"```json\n{text}\n```\n", "plain": f"```\n{text}\n```\n"}[form]


@given(anything, st.integers(1, 9))
def test_nothing_depends_on_the_cuts_and_only_the_block_is_gone(text, cut):
    told, block = read(text)
    assert read(text, cut) == (told, block)
    if block is None:
        assert told == text
    else:
        assert told == text[: block.start] + text[block.end :]


@given(
    prose,
    objects,
    prose,
    st.sampled_from(["bare", "json", "plain"]),
    st.integers(1, 9),
)
def test_an_object_is_found_between_prose(before, value, after, form, cut):
    before += "\n"
    text = before + written(value, form, 2 if cut % 2 else None) + after
    told, block = read(text, cut)
    assert block is not None
    assert block.fault == ""
    assert json.loads(block.text) == value
    assert told == before + text[block.end :]
    assert text[block.end :] in ("\n" + after, after)


@given(objects, st.integers(1, 9))
def test_what_is_there_can_be_read_at_any_moment(value, cut):
    reader, text = BlockReader(), written(value, "json", 1)
    for piece in pieces(text, cut):
        reader.feed(piece)
        partial = reader.partial
        assert partial is None or set(partial) <= set(value)
    assert reader.partial == value


@pytest.mark.parametrize(
    "text",
    [
        "A set {1, 2} and a brace { here.",
        "{ not json }",
        "{1: 2}",
        '{"quoted"} words',
        '```python\n{"a": 1}\n```\n',
        'Use `{"a": 1}` inline.',
        "~~~yaml\na: {b: 1}\n~~~",
        "",
    ],
)
def test_what_is_no_block_stays_prose(text):
    assert read(text, 3) == (text, None)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"a": 1', "it does not end"),
        ('```json\n{"a": 1', "it does not end"),
        ('{"a": ' + "[" * 100_000, "it is nested deeper than 64 brackets"),
        ('{"a": "' + "x" * 200 + '"}', "it is longer than 100 characters"),
    ],
)
def test_what_cannot_be_read_says_why(text, fault):
    told, block = read(text, 4096, most=200_000 if "nested" in fault else 100)
    assert told == ""
    assert block.fault == fault
    assert len(block.text) <= 200_000


def test_a_fence_ends_what_a_string_left_open():
    told, block = read('```json\n{"a": "open\n```\nMore prose.')
    assert told == "\nMore prose."
    assert block.text == '{"a": "open'


def test_only_the_first_object_is_the_block():
    told, block = read('{"a": 1}\n{"b": 2}\n')
    assert block.text == '{"a": 1}'
    assert told == '\n{"b": 2}\n'


def test_ten_megabytes_are_bounded_in_what_is_kept():
    reader = BlockReader()
    reader.feed('```json\n{"a": [')
    for _ in range(300):
        assert reader.feed("1," * 20_000) == ""
    reader.feed("1]}\n```\nThe end.")
    assert reader.flush() == ""
    assert reader.block is not None
    assert len(reader.block.text) == 10_000_000
    assert reader.block.fault == "it is longer than 10,000,000 characters"
    assert reader.partial is None
