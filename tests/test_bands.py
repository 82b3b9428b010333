"""Fitting a cascade's band from what two scorers said."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cascade import KEPT, SHARES, balanced, chosen, fitted, inside, paired, point, store
from streamverify.calibration import Calibration, DoubtBand
from verdicts import Claim, Verdicts

scores = st.floats(0, 1)
rows = st.lists(st.tuples(scores, scores, st.booleans()), min_size=20, max_size=60).filter(
    lambda told: len({row[2] for row in told}) == 2
)


def said(told):
    """Verdicts of two scorers on claims of ten cases."""
    return tuple(
        Verdicts(
            "m", "s", 0.5, 1.0, tuple(Claim(f"c{n % 10}", row[2], row[at]) for n, row in enumerate(told))
        )
        for at in (0, 1)
    )


@given(rows)
def test_the_ends_are_the_two_scorers(told):
    pair = paired(*said(told))
    first, last = point(pair, 0.0, 1.0, 5.0), point(pair, 1.0, 1.0, 5.0)
    assert (first.asked, first.cpu_ms) == (0.0, 1.0)
    assert (last.asked, last.cpu_ms, last.band) == (1.0, 6.0, (0.0, 1.0))
    assert first.band[0] == first.band[1]
    every = np.ones(len(pair.first), bool)
    held = [balanced(pair.weighed(every, kept), pair.supported) for kept in KEPT]
    assert last.kept == KEPT[int(np.argmax(held))]


@given(rows, st.sampled_from(SHARES))
def test_a_band_asks_no_more_than_it_may_and_is_never_worse_where_it_was_fitted(told, share):
    pair = paired(*said(told))
    band, kept = fitted(pair, share)
    asked = inside(pair, band)
    assert asked.mean() <= share
    if share < 1:
        assert balanced(pair.weighed(asked, kept), pair.supported) >= balanced(
            pair.margins[0], pair.supported
        )


@given(rows)
def test_what_is_weighed_lies_between_the_two_and_is_the_firsts_outside(told):
    pair = paired(*said(told))
    asked = inside(pair, (0.3, 0.6))
    for kept in KEPT:
        margins = pair.weighed(asked, kept)
        assert (margins[~asked] == pair.margins[0][~asked]).all()
        low, high = pair.margins.min(0), pair.margins.max(0)
        assert ((margins >= low - 1e-9) & (margins <= high + 1e-9)).all()


@given(rows)
def test_no_case_is_in_two_folds(told):
    pair = paired(*said(told))
    cases = [f"c{n % 10}" for n in range(len(told))]
    assert len({(case, fold) for case, fold in zip(cases, pair.fold, strict=True)}) == len(set(cases))


def test_a_second_scorer_that_is_right_in_the_middle_is_asked_there():
    told = [
        (n / 100, float(n % 2), bool(n % 2)) if 30 <= n <= 60 else (n / 100, 0.5, n > 45) for n in range(100)
    ]
    pair = paired(*said(told))
    points = [point(pair, share, 1.0, 5.0) for share in SHARES]
    found = chosen(points, 0.9)
    assert found.balanced_accuracy > points[0].balanced_accuracy
    assert 0.2 < found.band[0] < 0.5 < found.band[1] < 0.65
    worse = paired(*said([(first, float(not gold), gold) for first, _, gold in told]))
    assert chosen([point(worse, share, 1.0, 5.0) for share in (0.0, 1.0)], 0.9).share == 0.0


def test_what_is_stored_is_read_again_and_its_checksum_stands_in_the_list(tmp_path):
    file = tmp_path / "calibration.json"
    Calibration(threshold=0.4).write(file)
    (tmp_path / "sha256sums").write_text(f"{'0' * 64}  calibration.json\n{'1' * 64}  other\n")
    band = DoubtBand(low=0.2, high=0.7, first="abc", kept=0.5, fitted_on="9 claims")
    store(file, band)
    read = Calibration.read(file)
    assert (read.band, read.threshold, read.digest) == (band, 0.4, Calibration(threshold=0.4).digest)
    [first, second] = (tmp_path / "sha256sums").read_text().splitlines()
    assert first.split()[0] not in ("0" * 64, "1" * 64)
    assert second == f"{'1' * 64}  other"
