"""Figures of evaluations go into the records and come out as they were; what was not computed stays so."""

from __future__ import annotations

import json
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streams import AUDITOR

from streamverify import Passage, UsageError, Verifier
from streamverify.evaluate import Case, evaluate
from streamverify.figure import Aggregate, Interval, NotComputed
from streamverify.program import main
from streamverify.records import Database, Reader, Requester, add_run, verify
from streamverify.testing import ScriptedScorer

PASSAGES = (Passage("mill", "The mill was built in 1712."),)


@pytest.fixture
def database(url):
    with Database(url) as made:
        yield made


@pytest.fixture
def journal(tmp_path):
    """An evaluation of two answers, of which one says nothing."""
    path = tmp_path / "nightly.jsonl"
    cases = [
        Case(id=f"case-{n}", answer=answer, passages=PASSAGES)
        for n, answer in enumerate(["The mill was built in 1712 [mill].", "Thank you!"])
    ]
    with Verifier(ScriptedScorer()) as verifier:
        run = evaluate(cases, verifier=verifier, out=path)
    run.write(tmp_path / "nightly.json")
    return path, run


def test_a_journal_goes_in_once_and_its_figures_come_out(url, database, journal, capsys):
    path, run = journal

    def told(*arguments, status=0):
        assert main(["audit", *map(str, arguments), "--records", url]) == status
        return capsys.readouterr()

    (identity,) = told("import", path).out.split()
    again = told("import", path.with_suffix(".json"))  # the same run, in its other form
    assert again.out.split() == [identity]
    assert "is there already" in again.err
    (listed,) = [json.loads(line) for line in told("runs", "--json").out.splitlines()]
    assert (listed["id"], listed["name"], listed["digest"]) == (identity, "nightly", run.digest)
    figures = {
        row["metric"]: row for row in map(json.loads, told("runs", identity, "--json").out.splitlines())
    }
    assert figures.keys() == run.aggregates.keys()
    kinds = set()
    for name, aggregate in run.aggregates.items():
        row, gap = figures[name], isinstance(aggregate.figure, NotComputed)
        kinds.add(gap)
        assert row["value"] == (None if gap else aggregate.figure)
        assert row["not_computed"] == (aggregate.figure.reason if gap else None)
        assert row["gaps"] == dict(aggregate.not_computed)
        assert (row["computed"], row["nothing"]) == (aggregate.computed, aggregate.nothing)
        if isinstance(aggregate.interval, Interval):
            assert (row["low"], row["high"]) == (aggregate.interval.low, aggregate.interval.high)
        else:
            assert row["low"] is row["high"] is None
    assert kinds == {True, False}
    assert verify(database).passed
    assert "no id of a run" in told("runs", "nightly", status=2).err
    assert "there is no run" in told("runs", uuid.uuid4(), status=2).err
    assert "there is no run" in told("runs", identity, "--as", "ann", status=2).err
    assert told("runs", "--as", "ann").out == ""
    assert "one run" in told("import", path, path, "--name", "n", status=2).err


def test_a_file_that_is_no_run_adds_nothing(url, database, journal, tmp_path, capsys):
    path, _ = journal
    (tmp_path / "torn.jsonl").write_bytes(path.read_bytes().rpartition(b'{"done"')[0])
    for name in ("torn.jsonl", "none.jsonl"):
        assert main(["audit", "import", str(path), str(tmp_path / name), "--records", url]) == 2
    assert Reader(database, AUDITOR).runs() == []


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
FIGURES = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False), st.builds(NotComputed, st.text(min_size=1))
)
AGGREGATES = st.builds(
    Aggregate,
    FIGURES,
    st.just(NotComputed("too few cases")),
    st.integers(1, 10**6),
    st.dictionaries(st.text(), st.integers(1, 10**6), max_size=3),
)


@pytest.fixture(scope="module")
def filling(tmp_path_factory):
    """One database for all examples: setting one up takes longer than an example."""
    with Database(tmp_path_factory.mktemp("runs") / "r.db") as made:
        yield made


@settings(deadline=None, max_examples=20)
@given(st.dictionaries(NAMES, AGGREGATES, min_size=1, max_size=3))
def test_whatever_the_figures_are_the_chain_holds_and_gaps_have_no_value(filling, figures):
    identity, new = add_run(filling, "n", uuid.uuid4().hex * 2, figures)
    assert new
    told = Reader(filling, AUDITOR).run_figures(identity)
    assert sum(row.value is None for row in told) == sum(row.not_computed is not None for row in told)
    assert len(told) == len(figures)
    assert verify(filling).passed


def test_a_zero_with_a_sign_is_a_zero(database):
    add_run(database, "n", uuid.uuid4().hex * 2, {"m": Aggregate(-0.0, Interval(-0.0, 0.0, "bca"), 1, {})})
    assert verify(database).passed


def test_what_is_no_run_is_refused(database):
    figures = {"faithfulness": Aggregate(1.0, NotComputed("one case"), 1, {})}
    for name, digest, told, problem in (
        (" ", "a" * 64, figures, "name the run"),
        ("n", "a", figures, "no SHA-256"),
        ("n", "a" * 64, {}, "no figures"),
        ("n", "a" * 64, {"a\0": figures["faithfulness"]}, "no name of a metric"),
    ):
        with pytest.raises(UsageError, match=problem):
            add_run(database, name, digest, told)
    with pytest.raises(UsageError, match="there is no run"):
        Reader(database, Requester(user="ann")).run_figures(uuid.uuid4())
