"""The pytest plugin, run by pytest inside of pytest."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify import Label, UsageError, Verifier
from streamverify.pytest_plugin import assert_grounded
from streamverify.testing import ScriptedScorer

pytest_plugins = ["pytester"]

# Loaded by its entry point where the distribution is installed with it, by name elsewhere.
INSTALLED = any(point.value == "streamverify.pytest_plugin" for point in entry_points(group="pytest11"))
ARGUMENTS = [] if INSTALLED else ["-p", "streamverify.pytest_plugin"]

SCRIPT = {"wrong": Label.CONTRADICTED, "unknown": Label.UNSUPPORTED}
PASSAGES = ["The mill was built in 1804 and has two wheels."]

CONFTEST = """
import pytest
from streamverify import Label, Verifier
from streamverify.testing import ScriptedScorer

@pytest.fixture(scope="session")
def verifier():
    with Verifier(ScriptedScorer({"wrong": Label.CONTRADICTED, "unknown": Label.UNSUPPORTED})) as made:
        yield made
"""


@pytest.fixture(scope="module")
def scripted():
    with Verifier(ScriptedScorer(SCRIPT)) as made:
        yield made


def test_a_grounded_answer_passes_and_gives_its_report(scripted):
    report = assert_grounded("The mill was built in 1804. Hello!", PASSAGES, verifier=scripted)
    assert report.counts[Label.SUPPORTED] == 1


def test_the_message_shows_what_fails_beside_its_evidence_and_the_rest_for_context(scripted):
    answer = "The mill was built in 1804. The wrong wheel turns. The mill has an unknown owner in 1907."
    with pytest.raises(AssertionError) as caught:
        assert_grounded(answer, PASSAGES, verifier=scripted)
    assert str(caught.value).splitlines() == [
        "2 of 3 sentences are not grounded (wanted: supported or no_claim)",
        "",
        "    1 supported    0.96",
        "        The mill was built in 1804.",
        ">   2 contradicted 0.02",
        "      - The wrong wheel turns.",
        "      ?     ^^^^^",
        "      + The mill was built in 1804 and has two wheels.",
        "        passage p1[0:46], contradicted 0.96",
        ">   3 unsupported  0.03",
        "      - The mill has an unknown owner in 1907.",
        "      ?                 ^^^^^^^          ^^^^",
        "      + The mill was built in 1804 and has two wheels.",
        "        passage p1[0:46], unsupported 0.96",
        "      ! date_mismatch: 1907 here, 1804 in passage p1",
    ]


def test_a_wrong_citation_of_a_failing_sentence_is_named(scripted):
    with pytest.raises(AssertionError, match=r"! citation \[7\]: fabricated"):
        assert_grounded("The wrong wheel turns [7].", PASSAGES, verifier=scripted)


def test_what_was_not_checked_does_not_pass(scripted):
    with pytest.raises(AssertionError, match="no_passages"):
        assert_grounded("The mill was built in 1804.", [], verifier=scripted)


def test_a_blank_answer_does_not_pass(scripted):
    with pytest.raises(AssertionError, match="blank"):
        assert_grounded(" \n", PASSAGES, verifier=scripted)


def test_a_score_below_the_floor_fails_a_supported_sentence(scripted):
    answer = "The mill was built in 1804."
    score = assert_grounded(answer, PASSAGES, verifier=scripted).sentences[0].score
    assert assert_grounded(answer, PASSAGES, min_score=score, verifier=scripted)
    with pytest.raises(AssertionError, match=r"1 of 1 sentences .* scores from 1\)"):
        assert_grounded(answer, PASSAGES, min_score=1.0, verifier=scripted)


def test_values_that_mean_nothing_are_refused(scripted):
    with pytest.raises(UsageError, match="min_score"):
        assert_grounded("A.", PASSAGES, min_score=80, verifier=scripted)
    with pytest.raises(UsageError, match="allow"):
        assert_grounded("A.", PASSAGES, allow=["suported"], verifier=scripted)
    with pytest.raises(UsageError, match="allow"):
        assert_grounded("A.", PASSAGES, allow="supported", verifier=scripted)


@given(
    st.lists(
        st.sampled_from(["The mill stands.", "The wrong wheel turns.", "The mill has an unknown owner."]),
        min_size=1,
    ),
    st.sets(st.sampled_from(list(Label))),
)
def test_an_answer_passes_exactly_when_every_label_is_allowed(scripted, sentences, allow):
    report = scripted.check_sync(" ".join(sentences), PASSAGES)
    grounded = all(sentence.label in allow for sentence in report.sentences)
    try:
        assert_grounded(report.answer, PASSAGES, allow=allow, verifier=scripted)
    except AssertionError as error:
        failing = [line for line in str(error).splitlines() if line.startswith(">")]
        assert not grounded
        assert len(failing) == sum(sentence.label not in allow for sentence in report.sentences)
    else:
        assert grounded


def test_the_fixtures_work_and_a_failure_reads_well(pytester):
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(
        """
        SEEN = []
        PASSAGES = ["The mill was built in 1804."]

        def test_good(grounding, verifier):
            SEEN.append(verifier)
            assert grounding("The mill was built in 1804.", PASSAGES).grounding_score > 0.5

        def test_bad(grounding, verifier):
            SEEN.append(verifier)
            grounding("The wrong wheel turns.", PASSAGES)

        def test_one_verifier_for_all():
            assert SEEN[0] is SEEN[1]
        """
    )
    result = pytester.runpytest_inprocess(*ARGUMENTS)
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*1 of 1 sentences are not grounded*", "*- The wrong wheel turns.*"])
    assert "def assert_grounded" not in result.stdout.str()


@pytest.mark.slow
def test_the_plugin_loads_nothing_before_a_test_asks(pytester):
    pytester.makepyfile(
        """
        import sys

        def test_nothing(request):
            assert "streamverify.pytest_plugin" in sys.modules
            assert not {"numpy", "onnxruntime", "streamverify.verifier"} & set(sys.modules)
        """
    )
    pytester.runpytest_subprocess(*ARGUMENTS, "-p", "no:hypothesispytest").assert_outcomes(passed=1)


@pytest.mark.model
def test_with_the_embedded_model(pytester):
    pytester.makepyfile(
        """
        PASSAGES = ["The Eiffel Tower was completed in 1889 and stands 330 metres tall."]

        def test_good(grounding):
            grounding("The Eiffel Tower was completed in 1889.", PASSAGES, min_score=0.5)

        def test_bad(grounding):
            grounding("The Eiffel Tower stands 450 metres tall.", PASSAGES)
        """
    )
    result = pytester.runpytest_inprocess(*ARGUMENTS)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*- The Eiffel Tower stands 450 metres tall.*", "*number_mismatch*"])
