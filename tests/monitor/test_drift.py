"""Drift is found where there is some, and by chance no more often than promised, however often one looks."""

from __future__ import annotations

import io
import math
import random
import uuid
import warnings
from collections import Counter
from datetime import timedelta

import pytest
import scipy.stats  # loaded here, where no test's time runs
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded import START, TEXTS, monitor, write
from rich.console import Console

from streamverify.console.drifts import show_drift
from streamverify.errors import UsageError
from streamverify.figure import NotComputed
from streamverify.monitor import drift
from streamverify.monitor.moments import ends_from, length_from, moment_from
from streamverify.monitor.promises import calibration_error
from streamverify.monitor.traffic import HumanLabel, Traffic, Window
from streamverify.records import Database, add_up, histograms
from streamverify.records.histograms import number_of

DAY = timedelta(days=1)
FIRST = Window(START, START + DAY)
NUMBERS = st.lists(st.floats(0, 1), max_size=80)
WORDS = st.lists(st.sampled_from(["supported", "unsupported", "no_claim", "odd"]), max_size=80)


def test_levels_sum_to_less_than_alpha_over_any_number_of_looks():
    assert math.fsum(drift.level(look) for look in range(1, 100_000)) == pytest.approx(0.05, rel=1e-4)
    assert math.fsum(drift.level(look) for look in range(1, 100_000)) < 0.05


@given(NUMBERS, NUMBERS, WORDS, WORDS, st.integers(1, 1_000))
def test_every_figure_is_finite_in_its_range_or_says_why_there_is_none(before, after, words, now, number):
    look = drift.look(
        number,
        FIRST,
        drift.Sample.of({"score": before}, {"label": words}),
        drift.Sample.of({"score": after}, {"label": now}),
    )
    for shift in look.shifts:
        assert shift.rows in ((len(before), len(after)), (len(words), len(now)))
        for figure in (shift.p, shift.distance, shift.wasserstein, shift.psi):
            assert isinstance(figure, NotComputed) or math.isfinite(figure)
        if isinstance(shift.p, NotComputed):
            assert not shift.drifted
        else:
            assert 0 <= shift.p <= 1
            assert 0 <= shift.distance <= 1 + 1e-9
            assert not isinstance(shift.psi, float) or shift.psi >= 0
            assert not shift.drifted or (shift.p <= look.level and shift.distance >= drift.LEAST_SHIFT)


def test_nearly_equal_samples_have_a_probability_and_warn_nobody():
    before, after = [1.0] * 61 + [0.0] * 11, [1.0] * 60 + [0.0] * 12
    (shift,) = drift.look(
        1, FIRST, drift.Sample.of({"score": before}, {}), drift.Sample.of({"score": after}, {})
    ).shifts
    assert shift.p == pytest.approx(1.0)
    assert not shift.drifted


@settings(max_examples=10)
@given(NUMBERS.filter(lambda values: len(values) >= 20), st.integers(1, 100))
def test_what_is_equal_has_not_drifted(values, number):
    sample = drift.Sample.of({"score": values}, {"label": [str(value > 0.5) for value in values]})
    look = drift.look(number, FIRST, sample, sample)
    assert look.drifted == ()
    assert [shift.psi for shift in look.shifts] == [0.0, 0.0]


@given(st.lists(st.integers(1, 4), min_size=20, max_size=60), st.integers(5, 9))
def test_values_that_nobody_had_before_are_seen_by_the_index_too(before, new):
    """As where a retriever brings twice as many passages: no value of the reference is left."""
    samples = [drift.Sample.of({"passages": values}, {}) for values in (before, [new] * len(before))]
    (shift,) = drift.look(1, FIRST, *samples).shifts
    assert shift.distance == 1
    assert shift.psi > 1


COUNTED = st.lists(
    st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.25, 0.2504, 1.0])), min_size=20, max_size=60
)


@given(COUNTED, COUNTED)
def test_the_statistics_of_counted_values_are_those_of_the_values(before, after):
    """Counting loses nothing: the same as SciPy says of the values one by one."""
    look = drift.look(1, FIRST, drift.Sample.of({"score": before}, {}), drift.Sample.of({"score": after}, {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        wanted = scipy.stats.ks_2samp(before, after)
    (shift,) = look.shifts
    assert (shift.distance, shift.p) == (wanted.statistic, wanted.pvalue)
    assert shift.wasserstein == pytest.approx(scipy.stats.wasserstein_distance(before, after), abs=1e-12)


@given(COUNTED, COUNTED)
def test_rounding_moves_a_statistic_no_further_than_what_it_puts_together(before, after):
    """Scores as they are summed up: the distance is no larger, and smaller by at most a thousandth's rows."""

    def rounded(values):
        return [number_of("score", histograms.rounded("score", value)) for value in values]

    exact = drift.look(
        1, FIRST, drift.Sample.of({"s": before}, {}), drift.Sample.of({"s": after}, {})
    ).shifts[0]
    held = [rounded(before), rounded(after)]
    told = drift.look(1, FIRST, *(drift.Sample.of({"s": values}, {}) for values in held)).shifts[0]
    together = max(max(Counter(values).values()) / len(values) for values in held)
    assert told.distance <= exact.distance + 1e-9
    assert exact.distance - told.distance <= together + 1e-9
    assert abs(exact.wasserstein - told.wasserstein) <= 0.001 + 1e-9


@given(st.integers(0, 10**9))
def test_lengths_and_passages_are_rounded_to_three_digits_or_not_at_all(number):
    assert histograms.rounded("passages", number) == histograms.rounded("length", number)
    near = number_of("length", histograms.rounded("length", number))
    assert near == number if number < 1_000 else abs(near - number) <= 0.005 * number


@pytest.mark.slow
@settings(max_examples=10)
@given(st.lists(st.integers(0, 600), min_size=2, max_size=2, unique=True).map(sorted))
def test_a_window_is_the_same_from_the_sums_of_hours_as_from_every_row(traffic_of_a_day, minutes):
    window = Window(*(START + timedelta(minutes=one) for one in minutes))
    for told in ({}, {"domain": "hr"}, {"run": "r1"}, {"domain": "hr", "run": "r1"}, {"domain": "it"}):
        rows, sums = (Traffic(traffic_of_a_day, sums=one, **told).values(window) for one in (False, True))
        assert rows == sums
        assert drift.sample(Traffic(traffic_of_a_day, sums=True, **told), window) == drift.sample(
            Traffic(traffic_of_a_day, **told), window
        )


@pytest.fixture
def url(tmp_path):
    return str(tmp_path / "records.db")


@pytest.fixture(scope="module")
def traffic_of_a_day(tmp_path_factory):
    url = str(tmp_path_factory.mktemp("sums") / "r.db")
    write(url, 40, hours=10, domain="hr", run="r1", failing=0.2)
    write(url, 20, hours=10, seed=1, domain="hr", run="r2", language="de", passages=3)
    write(url, 20, hours=10, seed=2, good=0.3)
    with Database(url) as database:
        add_up(database)
        yield database


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_without_drift_few_months_of_looks_alarm_and_with_drift_nearly_all():
    """60 references with 20 looks at each, of 200 answers: at most 5 in 100 may alarm, whatever the day."""
    generator, alarms = random.Random(7), 0

    def sample(mean):
        scores = [min(max(generator.betavariate(4 * mean, 4 * (1 - mean)), 0), 1) for _ in range(200)]
        return drift.Sample.of({"score": scores}, {"label": [str(score > 0.5) for score in scores]})

    for _ in range(60):
        before = sample(0.75)
        alarms += any(drift.look(day, FIRST, before, sample(0.75)).drifted for day in range(1, 21))
    assert alarms <= 8  # 3 are promised at most on average; the draws are the same each time
    seen = sum(bool(drift.look(30, FIRST, sample(0.75), sample(0.5)).drifted) for _ in range(20))
    assert seen >= 19


def test_the_stability_index_is_shown_and_alarms_nobody():
    generator = random.Random(1)
    sample = [drift.Sample.of({"score": [generator.random() for _ in range(100)]}, {}) for _ in range(2)]
    (shift,) = drift.look(1, FIRST, *sample).shifts
    assert shift.psi > 0.05
    assert not shift.psi_means_something
    assert not shift.drifted


def test_people_get_tables_that_fit_a_terminal():
    generator = random.Random(5)

    def sample(rows, mean):
        scores = [min(max(generator.gauss(mean, 0.1), 0), 1) for _ in range(rows)]
        return drift.Sample.of({"score": scores, "length": [100.0]}, {"label": ["supported"] * rows})

    held, out = sample(150, 0.8), io.StringIO()
    looks = [drift.look(number, FIRST, held, sample(150, mean)) for number, mean in ((1, 0.8), (2, 0.3))]
    show_drift(Console(file=out, width=80, highlight=False), looks, calibration_error([]), None)
    told = out.getvalue()
    assert all(len(line) <= 80 for line in told.splitlines())
    assert told.count("look 1: 2026-11-01 00:00 to 2026-11-02 00:00 UTC\n") == 1
    [first, second] = [line.split() for line in told.splitlines() if line.startswith("score ")]
    assert (first[1:4], first[-2:]) == (["150", "150", "ks"], ["no", "drift"])
    assert second[-1] == "drifted"
    assert "length: 1 rows in the reference and 1 now; 20 are needed in each" in told
    assert told.count("PSI in brackets") == 2
    assert (
        "0 labelled sentences of 0 answers; 50 labelled sentences of at least 2 answers are needed"
        in " ".join(told.split())
    )
    judged = [
        HumanLabel(stream=uuid.UUID(int=n), sentence=0, score=0.9, grounded=n % 10 > 0, model="m")
        for n in range(60)
    ]
    show_drift(Console(file=out, width=80), [], calibration_error(judged), None)
    assert "over 60 labelled sentences of 60 answers: no drift" in " ".join(out.getvalue().split())


@pytest.mark.slow
def test_a_bad_release_is_found_in_its_window_and_each_distribution_by_itself(url, capsys):
    write(url, 150)
    write(url, 150, since=START + DAY, seed=1)
    write(url, 150, since=START + 2 * DAY, seed=2, good=0.4, passages=3)
    write(url, 100, since=START + 3 * DAY, seed=3, language="de")
    write(url, 5, since=START + 4 * DAY, seed=4, domain="other")
    asked = ("--reference", "2026-11-01..2026-11-02", "--now", "2026-11-02..2026-11-06")
    status, lines, _ = monitor(capsys, url, *asked)
    shifts = [line for line in lines if "look" in line]
    drifted = {(line["look"], line["name"]) for line in shifts if line["drifted"]}
    assert {name for look, name in drifted if look == 2} == {"score", "grounding", "passages", "label"}
    assert {name for look, name in drifted if look == 3} == {"language", "length"}
    assert {look for look, _ in drifted} == {2, 3}
    assert {
        line["p"]["not_computed"] for line in shifts if line["look"] == 4 and line["name"] == "length"
    } == {"150 rows in the reference and 5 now; 20 are needed in each"}
    assert status == 1
    status, lines, error = monitor(capsys, url, *asked, "--window", "4d", "--domain", "other")
    assert (status, lines) == (2, [])  # nothing to compare with is no check
    assert "holds no answers" in error
    asked = ("--reference", "2026-11-05..2026-11-06", "--now", "2026-11-06..2026-11-07")
    status, lines, error = monitor(capsys, url, *asked, "--domain", "other")
    assert status == 2  # too few to compare is no drift, and no "no drift" either
    assert "5 rows in the reference and 0 now; 20 are needed in each" in error
    assert all("not_computed" in line["p"] for line in lines if "look" in line)
    assert all("psi_note" in line for line in lines if "look" in line)


def test_bad_stretches_of_time_are_refused(url, capsys):
    write(url, 1)
    for arguments, message in (
        (("--reference", "yesterday"), "--reference: 'yesterday' is no stretch of time; write 2026-11-01.."),
        (("--reference", "2026-11-01..2026-11-02", "--now", "today"), "--now: 'today' is no stretch"),
        (("--reference", "2026-11-01..2026-11-02", "--now", "2999-01-01..2999-01-02"), "--now: 2999-01-01T"),
        (("--reference", "2026-11-01..2999-01-02"), "is not over yet"),
        (("--reference", "2026-11-02..2026-11-01"), "later comes second"),
        (("--reference", "2026-11-01..2026-11-02", "--window", "1 day"), "24h"),
        (("--reference", "2026-11-01..2026-11-02", "--window", "0h"), "--window: '0h'"),
    ):
        status, lines, error = monitor(capsys, url, *arguments)
        assert (status, lines) == (2, [])
        assert message in error
        assert error.count("\n") == 1


@given(st.integers(1, 10**6 - 1), st.sampled_from("smhd"))
def test_lengths_are_read_as_written_and_none_is_above_ten_years(count, unit):
    seconds = {"s": 1, "m": 60, "h": 3600, "d": 86_400}[unit]
    if count * seconds > 3650 * 86_400:
        with pytest.raises(UsageError, match="more than 3650 days"):
            length_from(f"{count}{unit}")
        return
    assert length_from(f"{count}{unit}").total_seconds() == count * seconds


def test_windows_are_whole_and_meet():
    window = Window(*ends_from("2026-11-01..2026-11-03T12:00+01:00"))
    parts = window.parts(DAY)
    assert [part.since for part in parts] == [START, START + DAY]
    assert all(part.until - part.since == DAY for part in parts)
    with pytest.raises(UsageError, match="above 0"):
        window.parts(timedelta())


@pytest.mark.parametrize("now", [[], ["--now", "2026-11-01..2026-11-02"]])
def test_a_reference_without_answers_is_refused_since_nothing_was_checked(tmp_path, capsys, now):
    url = str(tmp_path / "records.db")
    write(url, 2)
    status, lines, error = monitor(capsys, url, "--reference", "2026-10-01..2026-10-02", *now)
    assert (status, lines) == (2, [])
    assert error.count("\n") == 1
    assert "reference 2026-10-01T00:00:00+00:00..2026-10-02T00:00:00+00:00 holds no answers" in error


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--now", "2026-11-02..2026-11-03"), "rows in the reference and 3 now; 20 are needed in each"),
        (("--now", "2026-11-02..2026-11-02T12:00"), "holds no whole window of 24h; see --now and --window"),
    ],
)
def test_where_nothing_was_compared_the_status_tells(url, capsys, more, told):
    write(url, 30)
    write(url, 3, since=START + DAY, seed=1)
    status, _, error = monitor(capsys, url, "--reference", "2026-11-01..2026-11-02", *more)
    assert status == 2
    assert told in error


def test_records_without_texts_have_no_languages(tmp_path):
    with Database(str(tmp_path / "none.db")) as database:
        traffic = Traffic(database)
        assert (traffic.answers(FIRST), traffic.judged(FIRST), traffic.values(FIRST)) == ([], [], {})
    assert set(TEXTS) == {"en", "de"}


@pytest.mark.parametrize("text", ["0001-01-01", "9999-12-31T23:59-10:00", "0001-01-01T00:00+14:00"])
def test_a_moment_that_no_length_can_be_counted_from_is_refused(text):
    with pytest.raises(UsageError, match="outside of the years 1900 to 2999"):
        moment_from(text)


def test_looks_end_with_the_present_and_are_not_without_number(tmp_path, capsys):
    url = str(tmp_path / "records.db")
    write(url, 30)
    write(url, 30, since=START + DAY, seed=1)
    asked = ("--reference", "2026-11-01..2026-11-02", "--now", "2026-11-02..2999-12-31")
    status, _, error = monitor(capsys, url, *asked, "--window", "1s")
    assert status == 2
    assert "more than 10,000 windows of 0:00:01" in error
    _, lines, _ = monitor(capsys, url, *asked, "--window", "1d", "--json")
    assert len(lines) < 3650
