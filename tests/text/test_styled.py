"""Markdown as runs: they stand in order, are the text's own characters, and say what claims are read from."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.text.list_marks import marks_end
from streamverify.text.markdown import plain
from streamverify.text.styled import STYLES, styled

PARTS = ["mill", " ", "*", "**", "__", "_", "~~", "# ", "- ", "> ", "1. ", "[a](b)", "\\*", "é", "\n", "[2]"]
written = st.lists(st.sampled_from([*PARTS, "`", "<b>", "\U0001f600"]), max_size=14).map("".join)
without_code = st.lists(st.sampled_from(PARTS), max_size=14).map("".join)


def comes_from(shown: str, text: str) -> bool:
    rest = iter(text)
    return all(char in rest for char in shown)


@given(written, st.booleans(), st.lists(st.integers(0, 60), max_size=4))
def test_runs_stand_in_order_and_are_the_texts_own_characters(text, code, cuts):
    runs = styled(text, code=code, cuts=cuts)
    assert all(run.text and 0 <= run.start < run.end <= len(text) for run in runs)
    assert all(one.end <= other.start for one, other in pairwise(runs))
    assert not any(run.start < cut < run.end for run in runs for cut in cuts)
    assert all(list(run.styles) == [one for one in STYLES if one in run.styles] for run in runs)
    for run in runs:
        assert comes_from(run.text, text[run.start : run.end]) or "•" in run.text
    if code:
        assert "".join(run.text for run in runs) == text.strip()


@given(without_code)
def test_what_is_shown_behind_the_marks_is_what_a_claim_is_read_from(text):
    begin = marks_end(text)
    shown = "".join(run.text for run in styled(text, cuts=[begin]) if run.start >= begin)
    assert "".join(shown.split()) == "".join(plain(text, 0).text.split())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**Tall** and *old*.", [("Tall", "strong"), (" and ", ""), ("old", "em"), (".", "")]),
        ("***Both***", [("Both", "strong em")]),
        ("- **x** is `**kw**`\n", [("• ", ""), ("x", "strong"), (" is ", ""), ("**kw**", "code")]),
        ("2) ~~old~~", [("2) ", ""), ("old", "del")]),
        ("## The *mill*", [("The ", "strong"), ("mill", "strong em")]),
        ("> said [so](https://example.org)", [("said so", "")]),
        ("<b>no tag</b> 2 * 3 * 4", [("<b>no tag</b> 2 * 3 * 4", "")]),
        (r"\*as written\*", [("*as written*", "")]),
        ("half of a **pair", [("half of a pair", "")]),
        (" \n", []),
    ],
)
def test_marks_become_styles(text, shown):
    assert [(run.text, " ".join(run.styles)) for run in styled(text)] == shown
