"""The `evaluation` fixture, in a session of its own."""

from __future__ import annotations

import json

import pytest

# What is loaded here the sessions below find: numpy loads once a process, and a class has one identity.
import scipy.stats  # noqa: F401

import streamverify.evaluate.checked
import streamverify.evaluate.embedder
import streamverify.testing  # noqa: F401

pytest_plugins = ["pytester"]

CONFTEST = """
import pytest
from streamverify import Verifier
from streamverify.testing import ScriptedScorer
from streamverify.types import Label

@pytest.fixture(scope="session")
def verifier():
    with Verifier(ScriptedScorer({"moon": Label.UNSUPPORTED})) as made:
        yield made
"""
ROWS = [
    {"id": "good", "answer": "The mill is old.", "passages": ["The mill is old."]},
    {"id": "bad", "answer": "The mill is old. The moon owns it.", "passages": ["The mill is old."]},
]


def test_a_dataset_passes_its_gates_or_the_test_fails_with_the_worst_cases(pytester):
    pytester.makeconftest(CONFTEST)
    (pytester.path / "golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (pytester.path / "lax.toml").write_text("[gates]\nfaithfulness = { min = 0.5 }\n")
    (pytester.path / "strict.toml").write_text("[gates]\nhallucination_rate = { max = 0.02 }\n")
    pytester.makepyfile(
        """
        def test_lax(evaluation):
            run = evaluation("golden.jsonl", gates="lax.toml")
            run.write("main.json")
            assert run["faithfulness"].figure == 0.75

        def test_strict(evaluation):
            evaluation("golden.jsonl", metrics=["faithfulness"], gates="strict.toml")

        def test_baseline(evaluation):
            evaluation("golden.jsonl", baseline="main.json")
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*1 of 2 cases do not hold*",
            "*case bad: hallucination_rate 0.500*",
            "*failed*hallucination_rate <= 0.02*",
            "*2 of 2 cases*",
        ]
    )


def session(pytester, code, **files):
    """A session of one file of tests; the two rows as `golden.jsonl`, and other files by name."""
    pytester.makeconftest(CONFTEST)
    (pytester.path / "golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    for name, text in files.items():
        (pytester.path / f"{name}.toml").write_text(text)
    pytester.makepyfile(code)
    return pytester.runpytest_inprocess("-p", "no:cacheprovider")


PACK = """
    pack = "legal"
    [stages.citations]
    parts = { faithfulness = 1 }
    [stages.existence]
    parts = { faithfulness = 1 }
    threshold = 0.6
    gate = true
"""


def test_a_pack_is_passed_by_every_case_or_the_failing_ones_come_first(pytester):
    result = session(
        pytester,
        """
        def test_all(evaluation):
            evaluation("golden.jsonl", settings="pack.toml")

        def test_half(evaluation):
            run = evaluation("golden.jsonl", settings="pack.toml", min_passed=0.5, gates="lax.toml")
            assert [case.passed for case in run.cases] == [True, False]

        def test_own_thresholds(evaluation):
            wanted = {"faithfulness": 0.5, "citations": 0.5, "existence": 0.5, "grounding": 0.3}
            evaluation("golden.jsonl", pack="legal", settings="pack.toml", thresholds=wanted)
        """,
        pack=PACK,
        lax="[gates]\nfaithfulness = { min = 0.5 }\n",
    )
    # The gates of the pack `legal` hold the whole run beside its stages.
    told = result.stdout.str()
    first = told.index("case bad: stage faithfulness failed; score 0.500 is below 0.95")
    assert first < told.index("failed        pack_passed >= 1")
    result.stdout.fnmatch_lines(
        [
            "*1 of 2 cases do not hold*",
            "*case bad: stage faithfulness failed*stage existence failed*",
            "*>   2 unsupported  0.*  The moon owns it.*",
            "*failed*pack_passed >= 1*",
            "*2 cases*",
            "*stage grounding: 1 passed, 1 skipped*",
        ]
    )


def test_a_stage_that_was_not_computed_is_not_passed(pytester):
    result = session(
        pytester,
        """
        def test_no_embedder(evaluation):
            evaluation("golden.jsonl", pack="rag")
        """,
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*2 of 2 cases do not hold*",
            "*stage context_relevance not computed; context_relevance: the case has no question*",
            "*not computed*pack_passed >= 1*",
        ]
    )


def test_a_judge_and_an_embedder_of_ones_own_are_asked(pytester):
    result = session(
        pytester,
        """
        import json
        from pathlib import Path

        from streamverify.evaluate.judge.questions import Share

        class Judge:
            name = "rule"

            def ask(self, question, data):
                return Share(reason="r", score=0.25 if "moon" in data["answer"] else 1.0)

        class Embedder:
            name = "letters"

            def __call__(self, texts):
                return [[float(text.count(letter)) for letter in "aeiou"] for text in texts]

        def test_judged(evaluation):
            rows = [json.loads(line) for line in Path("golden.jsonl").read_text().splitlines()]
            asked = [json.dumps({**row, "question": "How old is the mill?"}) for row in rows]
            Path("asked.jsonl").write_text("\\n".join(asked))
            names = ["judged_groundedness", "answer_relevance_by_embedding"]
            run = evaluation("asked.jsonl", metrics=names, judge=Judge(), embedder=Embedder())
            assert run["judged_groundedness"].figure == 0.625
            assert (run.header.judge, run.header.embedder) == ("rule", "letters")

        def test_gated(evaluation):
            evaluation("golden.jsonl", metrics=["faithfulness"], judge=Judge(), gates="gates.toml")

        def test_without_one(evaluation):
            evaluation("golden.jsonl", metrics=["faithfulness"], gates="gates.toml")
        """,
        gates="[gates]\njudged_groundedness = { min = 0.9 }\n",
    )
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        [
            "*1 of 2 cases do not hold*",
            "*case bad: judged_groundedness 0.250*",
            "*failed*judged_groundedness >= 0.9*",
            "*2 of 2 cases do not hold*",
            "*case good: judged_groundedness not computed: no judge was given*",
        ]
    )


def test_a_worse_run_begins_with_the_cases_that_passed_before(pytester):
    result = session(
        pytester,
        """
        import json
        from pathlib import Path

        def test_baseline(evaluation, tmp_path):
            evaluation("golden.jsonl").write("main.json")
            rows = [json.loads(line) for line in Path("golden.jsonl").read_text().splitlines()]
            rows[0]["answer"] = "The moon is old."
            path = tmp_path / "golden.jsonl"
            path.write_text("".join(json.dumps(row) + "\\n" for row in rows))
            evaluation(path, baseline="main.json")
        """,
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*cases do not hold*", "*case good: passed in the baseline*", "*against the baseline*"]
    )


def test_options_that_hold_nothing_are_refused(pytester):
    result = session(
        pytester,
        """
        import pytest
        from streamverify import UsageError
        from streamverify.evaluate.packs import legal

        @pytest.mark.parametrize(
            "options",
            [
                {"weights": {"faithfulness": 1}},
                {"thresholds": {"faithfulness": 1}},
                {"min_passed": 0.5},
                {"pack": "legal", "min_passed": 2},
                {"pack": "leagl"},
                {"pack": legal(), "settings": "pack.toml"},
                {"embedder": "none such"},
            ],
        )
        def test_refused(evaluation, options):
            with pytest.raises(UsageError):
                evaluation("golden.jsonl", **options)
        """,
        pack=PACK,
    )
    result.assert_outcomes(passed=7)


def test_what_was_computed_for_no_case_is_not_passed(pytester):
    result = session(
        pytester,
        """
        from pathlib import Path

        def unanswered():
            path = Path("unanswered.jsonl")
            path.write_text('{"id": "a", "question": "Is it old?", "passages": ["It is."]}')
            return path

        def test_named(evaluation):
            evaluation(unanswered(), metrics=["faithfulness"])

        def test_usual(evaluation):
            evaluation(unanswered())

        def test_some(evaluation):
            evaluation("golden.jsonl", metrics=["faithfulness"])
        """,
        pack=PACK,
    )
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*computed for no case*faithfulness*"])


def test_a_scorer_that_never_answers_and_passages_that_are_none_pass_no_test(pytester):
    result = session(
        pytester,
        """
        from pathlib import Path

        from streamverify import Verifier
        from streamverify.pytest_plugin import assert_evaluation
        from streamverify.testing import ScriptedScorer

        def test_dead():
            with Verifier(ScriptedScorer(fail_on="")) as dead:
                assert_evaluation("golden.jsonl", verifier=dead)

        def test_dead_and_allowed():
            with Verifier(ScriptedScorer(fail_on="")) as dead:
                assert_evaluation("golden.jsonl", verifier=dead, allow_errors=True)

        def test_no_passage(evaluation):
            path = Path("bare.jsonl")
            path.write_text('{"id": "a", "answer": "The mill is old.", "passages": []}')
            evaluation(path)

        def test_one_without_passages_among_others(evaluation):
            path = Path("some.jsonl")
            bare = '{"id": "a", "answer": "The mill is old.", "passages": []}'
            path.write_text(bare + "\\n" + Path("golden.jsonl").read_text())
            assert [case.passed for case in evaluation(path).cases] == [None, True, False]
        """,
    )
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(
        [
            "*case good: went wrong: 1 of 1 sentences were not checked: scripted failure*",
            "*no sentence was checked, so that the run says nothing: faithfulness: not computed:*",
        ]
    )


@pytest.mark.slow
def test_the_fixture_costs_nothing_until_it_is_called(pytester):
    pytester.makepyfile(
        """
        import sys

        def test_nothing(evaluation):
            assert "streamverify.evaluate" not in sys.modules
            assert "scipy" not in sys.modules
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
