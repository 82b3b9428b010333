"""A judge's grades beside people's: the weighted kappa is that of others, and far-off grades are named."""

from __future__ import annotations

import json

import numpy as np
import pytest
from builders import GOOD, PASSAGES, written
from hypothesis import given, settings
from hypothesis import strategies as st
from judges import Server, completion, judging
from loopback import loopback
from starlette.responses import JSONResponse
from statsmodels.stats.inter_rater import cohens_kappa as theirs

from streamverify.errors import InputFileError, JudgeError, UsageError
from streamverify.evaluate import Interval, NotComputed, read_dataset
from streamverify.evaluate.case import GRADES, SHARES
from streamverify.evaluate.grading import BY, graded, grades_with_judge
from streamverify.evaluate.kappa import concordance, weighted_kappa
from streamverify.program import main

FIVE = GRADES["helpfulness"]
grades = st.sampled_from(FIVE)
pairs = st.dictionaries(st.text(max_size=4), st.tuples(grades, grades), min_size=1, max_size=40)


@given(pairs)
def test_the_weighted_kappa_is_that_of_statsmodels(found):
    one, other = (list(column) for column in zip(*found.values(), strict=True))
    ours = weighted_kappa(one, other, FIVE)
    if len({*one, *other}) == 1:
        assert ours == NotComputed("only one grade occurs")
        return
    table = [[sum((a, b) == (x, y) for a, b in found.values()) for y in FIVE] for x in FIVE]
    assert ours == pytest.approx(theirs(table, weights=None, return_results=False, wt="fc"), abs=1e-9)


@pytest.mark.slow
@settings(max_examples=10)
@given(pairs)
def test_whatever_was_graded_the_figures_are_in_range_or_say_why_not(found):
    told = graded("helpfulness", found)
    assert told == graded("helpfulness", dict(reversed(found.items())))
    if isinstance(told.weighted, float):
        assert -1 - 1e-9 <= told.weighted <= 1
        assert (told.weighted == 1) == (told.plain.alike == len(found))
    if isinstance(told.interval, Interval):
        assert told.interval.low <= told.interval.high <= 1 + 1e-9
    assert all(abs(FIVE.index(one) - FIVE.index(other)) >= 2 for _, one, other in told.far)
    swapped = graded("helpfulness", {case: (b, a) for case, (a, b) in found.items()})
    assert swapped.shift == -told.shift
    assert swapped.weighted == told.weighted


def test_cohens_weighted_example():
    """Near misses weigh little: the plain kappa is 1/3 here, the weighted one 6/7."""
    found = {str(n): pair for n, pair in enumerate([("1", "2"), ("2", "2"), ("4", "4"), ("5", "4")])}
    told = graded("helpfulness", found)
    assert told.weighted == pytest.approx(1 - 0.5 / (46 / 4 + 40 / 4 - 2 * 3 * 3))
    assert told.plain.kappa == pytest.approx(1 / 3)
    assert told.shift == 0.0
    one = graded("helpfulness", {"a": ("3", "3")})
    assert one.weighted == one.interval == NotComputed("only one grade occurs")
    assert "not computed" in str(one)
    with pytest.raises(UsageError, match="choose helpfulness"):
        graded("beauty", {})
    with pytest.raises(UsageError, match="by the grades"):
        graded("helpfulness", {"a": ("3", "6")})


numbers = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=40)


@given(numbers)
def test_concordance_is_lins_and_of_grades_the_weighted_kappa(found):
    """By his own formula: 2 s_xy / (s_x^2 + s_y^2 + (mean x - mean y)^2), n below each sum (Lin 1989)."""
    one, other = np.array(found).T
    ours = concordance(one.tolist(), other.tolist())
    below = one.var() + other.var() + (one.mean() - other.mean()) ** 2
    if len({*one, *other}) == 1:
        assert ours == NotComputed("only one value occurs")
    elif below > 1e-6:  # beneath it both sides round
        assert ours == pytest.approx(2 * np.cov(one, other, bias=True)[0, 1] / below, abs=1e-6)
    steps = [(round(4 * x), round(4 * y)) for x, y in found]
    a, b = zip(*steps, strict=True)
    if len({*a, *b}) > 1:
        words = [str(step) for step in range(5)]
        assert concordance(a, b) == weighted_kappa([str(x) for x in a], [str(y) for y in b], words)


def test_shares_are_compared_as_the_numbers_they_are():
    """A judge a little higher throughout is alike to the quarter, and not perfect."""
    found = {"a": ("0.0", "0.05"), "b": ("0.5", "0.55"), "c": ("1.0", "1.0"), "d": ("0.9", "0.2")}
    told = graded("groundedness", found)
    x, y = np.array([0, 0.5, 1, 0.9]), np.array([0.05, 0.55, 1, 0.2])
    expected = 2 * np.cov(x, y, bias=True)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    assert told.weighted == pytest.approx(expected)
    assert told.plain.alike == 3
    assert told.far == (("d", "0.9", "0.2"),)
    assert told.shift == pytest.approx(-0.15)
    assert "the judge -0.15 off" in str(told)
    for wrong in ("1.2", "-0.1", "nan", "inf", "much", ""):
        with pytest.raises(UsageError, match="number from 0 to 1"):
            graded("groundedness", {"a": ("0.5", wrong)})


def row(number: int, **judgments: object) -> dict[str, object]:
    passages = [{"id": p.id, "text": p.text} for p in PASSAGES]
    about = {"question": f"What of mill {number}?", "answer": GOOD, "passages": passages, "reference": GOOD}
    return {"id": str(number), **about, "judgments": judgments}


def test_a_judge_is_held_to_the_grades_of_people(tmp_path, capsys):
    marks = [4, 4, 5, 3, 1, 4]
    rows = [row(n, helpfulness=mark, non_fabrication="minor") for n, mark in enumerate(marks)]
    data = written(tmp_path / "labelled.jsonl", [*rows, row(9)])

    def moody(body, _):
        user = json.loads(body["messages"][1]["content"])
        if "level" in body["messages"][0]["content"]:
            return completion(json.dumps({"reason": "r", "level": "minor"}))
        if "passages" in user:  # how much of the answer is grounded
            return completion(json.dumps({"reason": "r", "score": 0.75}))
        score = 5 if "mill 2?" in user["question"] else 4
        return completion(json.dumps({"reason": "r", "score": score}))

    with judging(moody) as (judge, server):
        found = grades_with_judge(read_dataset(data), judge, "helpfulness")
        assert (found.plain.cases, found.plain.alike, found.left_out) == (6, 4, 1)
        assert found.far == (("4", "1", "4"),)
        assert 0 < found.weighted < 1
        assert found.shift == pytest.approx((1 + 3) / 6)
        assert len(server.requests) == 6
        grounded = written(
            tmp_path / "grounded.jsonl", [row(n, groundedness=n / 2) for n in range(3)] + [row(9)]
        )
        shares = grades_with_judge(read_dataset(grounded), judge, "groundedness")
        assert (shares.plain.cases, shares.left_out) == (3, 1)
        assert shares.shift == pytest.approx((0.75 + 0.25 - 0.25) / 3)
        same = grades_with_judge(read_dataset(data), judge, "non_fabrication")
        assert same.weighted == NotComputed("only one grade occurs")
    with loopback(Server(moody).app) as address:
        command = ["judge", "agree", str(data), "--judge", f"{address}/v1", "--judge-model", "m"]
        graded_ = [*command, "--criterion", "helpfulness"]
        assert main([*graded_, "--min-kappa", "-1"]) == 0
        told = capsys.readouterr()
        assert "weighted kappa  0." in told.out
        assert "6 cases, 4 graded alike, 1 far apart, the judge +0.67 grades off, 1 rows left out" in told.out
        assert "far apart: case '4': 1 by hand, 4 by the judge" in told.out
        assert main([*graded_, "--min-kappa", "0.95"]) == 1
        assert main([*command, "--criterion", "non_fabrication", "--min-kappa", "0"]) == 1
        assert main([*command, "--criterion", "beauty"]) == 2
        assert main([*graded_, "--labels", str(data)]) == 2


def test_what_cannot_be_held_to_anything_is_refused(tmp_path):
    bare = read_dataset(written(tmp_path / "bare.jsonl", [row(1)]))
    with judging() as (judge, _), pytest.raises(UsageError, match=r"judgments\.correctness"):
        grades_with_judge(bare, judge, "correctness")
    graded_ = read_dataset(written(tmp_path / "a.jsonl", [row(1, correctness=4)]))
    with judging(lambda *_: JSONResponse({}, 500), retries=0) as (judge, _):
        with pytest.raises(JudgeError, match="case '1': .*500"):
            grades_with_judge(graded_, judge, "correctness")
        with pytest.raises(UsageError, match="choose helpfulness"):
            grades_with_judge(graded_, judge, "beauty")
    assert set(BY) == {*GRADES, *SHARES}


@pytest.mark.parametrize(
    ("judgments", "field"),
    [
        ({"helpfulness": 6}, "judgments.helpfulness"),
        ({"helpfulness": True}, "judgments.helpfulness"),
        ({"groundedness": 1.5}, "judgments.groundedness"),
        ({"groundedness": True}, "judgments.groundedness"),
        ({"groundedness": "much"}, "judgments.groundedness"),
        ({"helpfulness": 3.5}, "judgments.helpfulness"),
        ({"non_fabrication": "some"}, "judgments.non_fabrication"),
        ({"beauty": 3}, "judgments"),
        ([], "judgments"),
    ],
)
def test_a_judgment_that_is_no_grade_names_its_place(judgments, field, tmp_path):
    data = written(tmp_path / "a.jsonl", [{**row(1), "judgments": judgments}])
    with pytest.raises(InputFileError) as problem:
        read_dataset(data)
    assert problem.value.field == field


def test_judgments_are_part_of_a_case_and_none_changes_no_digest(tmp_path):
    plain, empty, held = row(1), row(1), row(1, helpfulness="4")
    del plain["judgments"]
    one, same, other = (
        read_dataset(written(tmp_path / str(n), [each])) for n, each in enumerate((plain, empty, held))
    )
    assert one.digest == same.digest != other.digest
    assert next(iter(other)).judgments == {"helpfulness": "4"}
