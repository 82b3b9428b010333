from __future__ import annotations

import json
import re

import pytest
from builders import written
from hypothesis import given
from hypothesis import strategies as st

from streamverify import Passage, Verifier
from streamverify.calibration import Calibration
from streamverify.errors import NotEnoughLabelsError, UsageError
from streamverify.evaluate import Case, LabelledScore, calibrate
from streamverify.evaluate.case import LabelledSentence
from streamverify.evaluate.fitting import lines, one_an_answer
from streamverify.evaluate.matching import matched_labels
from streamverify.evaluate.thresholds import RATIOS, at, curve, sweep
from streamverify.program import main
from streamverify.scorers.function import FunctionScorer
from streamverify.types import Label

PASSAGES = (Passage("mill", "The mill was built in 1712. The moon owns the mill, they say."),)


def said(number: int) -> str:
    return f"The mill has {number} wheels of oak."


def scored(claim: str, passages: object) -> float:
    """The number in the sentence, in hundredths."""
    found = re.search(r"\d+", claim)
    return int(found.group()) / 100 if found else 0.5


def labelled(number: int, *pairs: tuple[int, bool], **more: object) -> Case:
    marks = {True: Label.SUPPORTED, False: Label.UNSUPPORTED}
    labels = tuple(LabelledSentence(said(value), marks[good]) for value, good in pairs)
    answer = " ".join(said(value) for value, _ in pairs)
    return Case(id=f"c{number}", answer=answer, passages=PASSAGES, labels=labels, **more)


def many(count: int = 59) -> list[Case]:
    kinds = ("a", "b")
    return [
        labelled(n, (10 + n % 40, False), (60 + n % 30, True), category=kinds[n % 2]) for n in range(count)
    ]


@pytest.fixture(scope="module")
def verifier():
    with Verifier(FunctionScorer(scored)) as made:
        yield made


def test_a_threshold_is_fitted_and_what_it_promises_is_told(verifier, tmp_path):
    found = calibrate(many(), verifier=verifier)
    promise = found.calibration.guarantee
    assert 0.49 < found.calibration.threshold < 0.4901
    assert (promise.alpha, promise.labels, found.answers, found.labels) == (0.05, 59, 59, 118)
    assert promise.delta == pytest.approx(0.05)
    assert (found.miss_rate, found.false_alarms) == (0.0, 0.0)
    assert found.expected_miss_rate == pytest.approx(1 / 60)
    assert found.conformal < found.calibration.threshold
    assert found.calibration.weights == verifier.calibration.weights
    table = "\n".join(lines(found))
    assert "118 labelled sentences of 59 answers" in table
    assert "missed at most 5.0% (confidence 95.0%, 59 answers)" in table
    found.calibration.write(tmp_path / "c.json")
    read = Calibration.read(tmp_path / "c.json")
    assert read == found.calibration
    with Verifier(FunctionScorer(scored), calibration=read) as other:
        report = other.check_sync(f"{said(48)} {said(50)}", PASSAGES)
    assert [s.label for s in report.sentences] == [Label.UNSUPPORTED, Label.SUPPORTED]


@pytest.mark.slow
def test_too_few_labels_say_how_many_are_needed(verifier):
    with pytest.raises(NotEnoughLabelsError, match="58 answers .* needs 59"):
        calibrate(many(58), verifier=verifier)
    assert calibrate(many(58), 0.1, verifier=verifier).calibration.guarantee.labels == 58
    with pytest.raises(NotEnoughLabelsError, match="a: 30 answers .* needs 59"):
        calibrate(many(60), per="category", verifier=verifier)


def test_sentences_of_one_answer_do_not_count_as_many(verifier):
    crowded = [labelled(n, *((10 + n, False),) * 3, (12 + n, False)) for n in range(20)]
    with pytest.raises(NotEnoughLabelsError, match="20 answers"):
        calibrate(crowded, verifier=verifier)


@pytest.mark.slow
def test_a_group_by_itself_raises_the_threshold_for_all(verifier):
    cases = [*many(60), *(labelled(100 + n, (70, False), category="hard") for n in range(60))]
    one = calibrate(cases, 0.1, per="category", verifier=verifier)
    assert [group.group for group in one.groups] == ["a", "b", "hard"]
    assert one.calibration.threshold > 0.7 > max(g.threshold for g in one.groups if g.group != "hard")
    assert one.calibration.guarantee.groups == ("a", "b", "hard")
    assert one.calibration.guarantee.labels == 30
    assert "hard: 0.70" in "\n".join(lines(one))


def test_the_cheapest_threshold_promises_nothing(verifier):
    cases = [labelled(n, (40, False), (30, True)) for n in range(5)]
    dear = calibrate(cases, cost_miss=10, cost_alarm=1, verifier=verifier)
    cheap = calibrate(cases, cost_miss=1, cost_alarm=10, verifier=verifier)
    assert dear.after.missed == 0 == cheap.after.alarms
    assert dear.after.alarms == 5 == cheap.after.missed
    assert dear.calibration.guarantee is None is dear.expected_miss_rate
    assert any(line.startswith("no guarantee: ") for line in lines(dear))
    assert dear.after.cost(10, 1) == min(point.cost(10, 1) for point in dear.curve)
    for wrong in ({"cost_miss": 1}, {"cost_alarm": 1}, {"cost_miss": 0, "cost_alarm": 0}):
        with pytest.raises(UsageError, match="go together"):
            calibrate(cases, verifier=verifier, **wrong)


@pytest.mark.slow
def test_fitted_weights_change_no_rank_and_keep_the_promise(verifier):
    cases = [*many(), labelled(99, (55, False), (40, True))]
    plain, moved = (calibrate(cases, 0.1, fit_weights=fit, verifier=verifier) for fit in (False, True))
    assert (plain.after.missed, plain.after.alarms) == (moved.after.missed, moved.after.alarms)
    assert moved.calibration.weights != plain.calibration.weights
    with Verifier(FunctionScorer(scored), calibration=moved.calibration) as other:
        again = calibrate(cases, 0.1, verifier=other)
    assert (again.before.missed, again.before.alarms) == (moved.after.missed, moved.after.alarms)
    assert again.calibration.threshold == pytest.approx(moved.calibration.threshold, abs=1e-8)


def test_labels_find_their_sentences_whatever_blanks_stand_between(verifier):
    answer = "The mill has 7 wheels\nof oak. The mill was built in 1712; the moon owns it."
    marks = [
        ("The mill has 7  wheels of oak.", Label.SUPPORTED),
        ("The mill was built in 1712;", Label.SUPPORTED),
        ("the moon owns it.", Label.CONTRADICTED),
        ("Nobody said this.", Label.UNSUPPORTED),
    ]
    case = Case(
        id="1", answer=answer, passages=PASSAGES, labels=tuple(LabelledSentence(*one) for one in marks)
    )
    found, unmatched = matched_labels(case, verifier.check_sync(answer, PASSAGES))
    assert [(sentence.index, grounded) for sentence, grounded in found] == [(0, True), (1, False)]
    assert unmatched == 1


def test_two_labels_of_one_sentence_are_refused_before_anything_is_scored(verifier):
    labels = [LabelledSentence("The mill is old.", label) for label in (Label.SUPPORTED, Label.UNSUPPORTED)]
    one = Case(id="q7", answer="The mill is old.", passages=(), labels=tuple(labels))
    told = "case 'q7': its sentence 'The mill is old.' is labelled supported and unsupported; keep one"
    with pytest.raises(UsageError, match=told):
        calibrate([one], verifier=verifier)


def test_nothing_labelled_is_said(verifier):
    with pytest.raises(UsageError, match="no sentence is labelled"):
        calibrate([Case(id="1", answer=said(3), passages=PASSAGES)], verifier=verifier)


rows = st.lists(
    st.builds(
        LabelledScore,
        case=st.sampled_from("abcd"),
        index=st.integers(0, 9),
        group=st.just("all"),
        score=st.floats(0, 0.999),
        grounded=st.booleans(),
    ),
    max_size=40,
)


@given(rows)
def test_a_curve_tells_what_each_threshold_does_and_never_turns(found):
    points = curve(found, points=None)
    assert list(points) == [at(point.threshold, found) for point in points]
    assert [p.missed for p in points] == sorted((p.missed for p in points), reverse=True)
    assert [p.alarms for p in points] == sorted(p.alarms for p in points)
    assert len(curve(found, points=5)) <= 6


@given(rows, st.floats(0.1, 100))
def test_a_sweep_finds_the_cheapest_threshold_and_dearer_misses_never_lower_it(found, ratio):
    points = curve(found, points=None)
    [(_, best)] = sweep(points, [ratio])
    assert best.cost(ratio, 1) == min(point.cost(ratio, 1) for point in points)
    chosen = [point.threshold for _, point in sweep(points, [ratio, 2 * ratio, 10 * ratio])]
    assert chosen == sorted(chosen)
    with pytest.raises(UsageError, match="above 0"):
        sweep(points, [0])


def test_a_sweep_is_told_beside_the_choice(verifier):
    cases = [labelled(n, (40, False), (30, True), (80, True)) for n in range(20)]
    found = calibrate(cases, 0.2, verifier=verifier)
    assert [ratio for ratio, _ in found.by_cost] == list(RATIOS)
    # A miss at the price of one alarm is a draw, in which the higher threshold wins.
    assert all((one.missed, one.alarms) == (0, 20) for _, one in found.by_cost)
    assert lines(found)[-1].split()[:2] == ["50", f"{found.by_cost[-1][1].threshold:.4f}"]


@given(rows, st.integers(0, 9), st.randoms())
def test_one_sentence_an_answer_is_picked_whatever_the_order(found, seed, order):
    found = list({(row.case, row.index): row for row in found}.values())
    picked = one_an_answer(found, seed)
    assert len(picked) == len({row.case for row in found if not row.grounded})
    assert not any(row.grounded for row in picked)
    order.shuffle(found)
    assert sorted(one_an_answer(found, seed), key=lambda r: r.case) == sorted(picked, key=lambda r: r.case)


@pytest.mark.slow
def test_the_command_writes_a_file_that_the_others_take(tmp_path, capsys):
    passages = [{"id": "mill", "text": "The mill was built in 1712."}]
    data = [
        {
            "id": str(n),
            "answer": f"The mill was built in 1712. The moon owned {n} ships.",
            "passages": passages,
            "labels": [
                {"text": "The mill was built in 1712.", "label": "supported"},
                {"text": f"The moon owned {n} ships.", "label": "unsupported"},
            ],
        }
        for n in range(25)
    ]
    dataset = written(tmp_path / "labelled.jsonl", data)
    out, points = tmp_path / "calibration.json", tmp_path / "curve.json"
    command = ["calibrate", str(dataset), "--scorer", "lexical", "--max-miss-rate", "0.2"]
    assert main([*command, "--out", str(out), "--curve", str(points)]) == 0
    assert "guarantee: " in capsys.readouterr().out
    assert json.loads(out.read_text())["guarantee"]["labels"] == 25
    assert json.loads(points.read_text())[0]["grounded"] == 25
    evaluated = ["evaluate", str(dataset), "--scorer", "lexical", "--metrics", "faithfulness"]
    assert main([*evaluated, "--calibration", str(out)]) == 0
    assert "0.500" in capsys.readouterr().out
    assert main(["calibrate", str(dataset), "--scorer", "lexical"]) == 2
    assert "25 answers" in capsys.readouterr().err
    assert main([*command, "--out", str(tmp_path / "no" / "c.json")]) == 2


@pytest.mark.slow
def test_a_group_without_a_bad_sentence_has_too_few(verifier):
    right = [labelled(100 + n, (12 + n % 60, True), category="easy") for n in range(60)]
    with pytest.raises(NotEnoughLabelsError, match="easy: 0 answers .* needs"):
        calibrate([*many(60), *right], 0.1, per="category", verifier=verifier)
