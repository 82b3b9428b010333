"""What was promised of verdicts, held to what people say: calibration errors and guarantees."""

from __future__ import annotations

import random
import uuid
from datetime import timedelta

import pytest
from recorded import START, label, monitor, write

from streamverify.calibration import Calibration, Guarantee
from streamverify.figure import Interval, NotComputed
from streamverify.monitor.promises import calibration_error, promise
from streamverify.monitor.traffic import HumanLabel, Traffic, Window
from streamverify.records import Database
from streamverify.types import Label

DAY = timedelta(days=1)


@pytest.fixture
def url(tmp_path):
    return str(tmp_path / "records.db")


def human(count, *, right=True, seed=0, ungrounded=0.5, misses=0.0, model="scripted"):
    """Labelled sentences, two an answer, whose scores are right probabilities or too high."""
    generator, found = random.Random(seed), []
    for number in range(count):
        stream = uuid.UUID(int=number // 2)
        if misses:
            score = 0.9 if generator.random() < misses else 0.1
            grounded = generator.random() >= ungrounded
        else:
            score = generator.random()
            grounded = generator.random() < (score if right else score / 2)
        found.append(HumanLabel(stream, number % 2, score, grounded, model))
    return found


@pytest.mark.slow
def test_scores_that_are_probabilities_have_not_drifted_and_others_have():
    good = calibration_error(human(300))
    assert isinstance(good.interval, Interval)
    assert good.interval.low <= good.error <= good.interval.high
    assert good.interval.low < good.by_chance
    assert not good.drifted
    bad = calibration_error(human(300, right=False))
    assert bad.drifted
    assert bad.error > 0.15
    assert calibration_error(human(300)) == good  # nothing in it is drawn anew
    few = calibration_error(human(20))
    assert isinstance(few.error, NotComputed)
    assert not few.drifted


def promised(**fields):
    return Calibration(
        threshold=0.5,
        guarantee=Guarantee(**({"alpha": 0.05, "delta": 0.05, "labels": 100, "model": "scripted"} | fields)),
    )


def test_a_guarantee_that_no_longer_holds_says_so():
    assert promise(promised(), human(400, misses=0.02)).status == "not contradicted"
    broken = promise(promised(), human(400, misses=0.3))
    assert broken.status == "broken"
    assert "at most 5.0% were promised" in broken.detail
    few = promise(promised(), human(10, misses=0.001))
    assert few.status == "not computed"  # nothing found in too few is no pass
    other = promise(promised(model="another 2"), human(400, misses=0.001))
    assert other.status == "broken"
    assert "another 2" in other.detail
    assert promise(Calibration(), human(10)).status == "none"


@pytest.mark.slow
def test_people_judge_recorded_sentences_and_the_command_compares(url, capsys, tmp_path):
    write(url, 1, seed=1)
    write(url, 80, since=START + DAY, good=0.5)
    with Database(url) as database:
        judged = Traffic(database).judged(Window(START + DAY, START + 2 * DAY))
        # Whatever the model says is supported is not: every one is a miss.
        label(database, judged, lambda one: "incorrect" if one.label == Label.SUPPORTED else None)
        found = Traffic(database).human_labels(Window(START, START + 2 * DAY))
    assert len(found) == sum(one.label == Label.SUPPORTED for one in judged) > 50
    assert not any(one.grounded for one in found)
    file = tmp_path / "calibration.json"
    promised().write(file)
    status, lines, _ = monitor(
        capsys, url, "--reference", "2026-11-01..2026-11-02", "--now", "2026-11-02..2026-11-03",
        "--calibration", file,
    )  # fmt: skip
    assert status == 1
    assert lines[-1]["guarantee"]["status"] == "broken"
    assert lines[-2]["drifted"] is True
    assert lines[-2]["calibration_error"]["error"] > 0.5


def test_a_guarantee_that_no_judged_sentence_could_contradict_was_not_checked(url, capsys, tmp_path):
    write(url, 30)
    write(url, 30, since=START + DAY, seed=1)
    promised().write(tmp_path / "promised.json")
    Calibration().write(tmp_path / "plain.json")
    given = ("--reference", "2026-11-01..2026-11-02", "--now", "2026-11-02..2026-11-03")
    assert monitor(capsys, url, *given)[0] == 0
    for file, told in (("promised.json", "too few to tell"), ("plain.json", "promises nothing")):
        status, lines, error = monitor(capsys, url, *given, "--calibration", tmp_path / file)
        assert (status, len(lines)) == (2, 8)
        assert "the guarantee of --calibration was not checked" in error
        assert told in error
