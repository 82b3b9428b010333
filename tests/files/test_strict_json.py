"""JSON is read and written without NaN and infinities, which no other reader need take."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.errors import InputFileError
from streamverify.files.jsonl import json_object, json_text, strict_json

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_what_is_written_is_one_line_and_reads_back(value):
    text = json_text(value)
    assert "\n" not in text
    assert strict_json(text) == value


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_neither_written_nor_read(number):
    with pytest.raises(ValueError, match="JSON"):
        json_text({"score": [number]})
    with pytest.raises(ValueError, match="not JSON"):
        strict_json(f'{{"score": {str(number).replace("nan", "NaN").replace("inf", "Infinity")}}}')


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1" + "0" * 400 + ".5"])
def test_a_number_that_no_float_holds_is_refused(number, tmp_path):
    with pytest.raises(ValueError, match="too large"):
        strict_json(f'{{"temperature": {number}}}')
    with pytest.raises(InputFileError, match="too large"):
        json_object(f'{{"score": {number}}}', tmp_path / "cases.jsonl", 3)
    assert strict_json('{"temperature": 1e308}') == {"temperature": 1e308}
