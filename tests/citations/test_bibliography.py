from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.citations.bibliography import bare

AS_A_PATTERN = re.compile(r"[\s,(]+((?:1[5-9]|20)\d\d)[a-z]?\)?\s*\Z")
"""The same rule as one pattern: plain to read, and slow on long runs of blanks."""

pieces = ["Report", "2021", "1499", "b", "(", ")", ",", " ", "\n", "2", "é"]
titles = st.lists(st.sampled_from(pieces)).map("".join)


@given(titles)
def test_a_closing_year_is_parted_from_the_title(title):
    match = AS_A_PATTERN.search(title)
    expected = (title[: match.start()], match[1]) if match and match.start() else (title, "")
    assert bare(title) == expected


@pytest.mark.parametrize(
    ("title", "parted"),
    [
        ("Report (2021)", ("Report", "2021")),
        ("Report, 2021b", ("Report", "2021")),
        ("Report2021", ("Report2021", "")),
        ("2021", ("2021", "")),
        ("", ("", "")),
    ],
)
def test_titles_with_and_without_a_year(title, parted):
    assert bare(title) == parted
