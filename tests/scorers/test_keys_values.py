from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.errors import ScoringError
from streamverify.scorers.windows.keys_values import KeysValues, join, pack

SHAPE = (3, 4, 5)


def floats(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=SHAPE).astype(np.float32)


def test_single_precision_is_kept_as_it_is_and_not_copied():
    keys, values = floats(1), floats(2)
    [(wide_keys, wide_values)] = pack(KeysValues(((keys, values),)), "float32").wide()
    assert wide_keys is keys
    assert wide_values is values


def test_every_finite_half_widens_to_itself():
    patterns = np.arange(2**16, dtype=np.uint16)
    halves = patterns.view(np.float16)[np.isfinite(patterns.view(np.float16))].astype(np.float32)
    [(wide, _)] = pack(KeysValues(((halves, halves),)), "float16").wide()
    assert np.array_equal(wide.view(np.uint32), halves.view(np.uint32))


@given(st.floats(-60_000, 60_000, width=32))
def test_half_precision_is_numpys_rounding(number):
    array = np.full(SHAPE, number, np.float32)
    found = KeysValues(((array, array),) * 2)
    kept = pack(found, "float16")
    assert np.array_equal(kept.wide()[1][1], array.astype(np.float16).astype(np.float32))
    assert kept.nbytes * 2 == pack(found, "float32").nbytes
    assert pack(kept, "float16") is kept


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, 70_000.0])
def test_what_half_precision_cannot_hold_is_an_error(number):
    bad = floats()
    bad[0, 0, 0] = number
    with pytest.raises(ScoringError, match="half precision"):
        pack(KeysValues(((bad, floats()),)), "float16")


def test_windows_are_joined_along_their_tokens_in_order():
    windows = [((floats(n), floats(n + 10)), (floats(n + 20), floats(n + 30))) for n in range(3)]
    joined = join(windows)
    assert len(joined) == 2
    for layer, (keys, values) in enumerate(joined):
        assert keys.shape == (3, 12, 5)
        assert np.array_equal(keys[:, 4:8], windows[1][layer][0])
        assert np.array_equal(values[:, 8:], windows[2][layer][1])
    assert join(windows[:1]) is windows[0]
