"""An answer is not the better cited for a sentence that nobody checked."""

from __future__ import annotations

import pytest
from builders import GOOD, SCRIPT, case

from streamverify import Verifier
from streamverify.evaluate import NotComputed, decide, evaluate
from streamverify.evaluate.gates import gates_from
from streamverify.testing import ScriptedScorer

CITED, OTHER, PLAIN = (
    f"{GOOD[:-1]} [1].",
    "The river is 40 kilometres long [1].",
    "The river is 40 kilometres long.",
)
INVENTED = "The river is 40 kilometres long [9]."
OVER_CITATIONS = ("citation_accuracy", "citation_precision")
OVER_STATEMENTS = ("citation_completeness", "citation_quality", "multi_source_coverage")
COUNTED = ("citation_existence", "citation_fabricated", "citation_missing", "citation_coverage")
NAMES = (*OVER_CITATIONS, *OVER_STATEMENTS, *COUNTED)


def run_of(*sentences: str, fail_on: str | None = None):
    scorer = ScriptedScorer(SCRIPT, fail_on=fail_on)
    with Verifier(scorer) as one:
        return evaluate([case(0, *sentences)], metrics=NAMES, verifier=one)


@pytest.mark.parametrize("unchecked", [OTHER, INVENTED])
def test_a_cited_sentence_that_was_not_checked_takes_the_figures_of_its_answer_away(unchecked):
    [found] = run_of(CITED, unchecked, fail_on="river").cases
    for name in (*OVER_CITATIONS, *OVER_STATEMENTS):
        figure = found[name]
        assert isinstance(figure, NotComputed)
        assert figure.reason.startswith("a sentence was not checked (")
        assert not figure.nothing
    # What stands in the answer needs no check.
    assert [found[name] for name in COUNTED] == [run_of(CITED, unchecked).cases[0][name] for name in COUNTED]


def test_an_uncited_one_takes_those_over_statements():
    [found], [whole] = run_of(CITED, PLAIN, fail_on="river").cases, run_of(CITED, PLAIN).cases
    assert [found[name] for name in OVER_CITATIONS] == [whole[name] for name in OVER_CITATIONS] == [1.0, 1.0]
    assert all("was not checked" in found[name].reason for name in OVER_STATEMENTS)


def test_a_sentence_without_a_claim_is_no_gap():
    [found], [whole] = run_of(CITED, "Is it so [1]?").cases, run_of(CITED).cases
    assert [found[name] for name in OVER_CITATIONS] == [whole[name] for name in OVER_CITATIONS]


def test_no_gate_passes_by_it():
    run = run_of(CITED, OTHER, fail_on="river")
    for name in OVER_CITATIONS:
        [result] = decide(run, gates_from({"gates": {name: {"min": 0.0}}}))
        assert (result.status, result.missing) == ("not computed", ("case-0",))
