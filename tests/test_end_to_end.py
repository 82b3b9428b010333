"""The real model behind the real engine: what a user meets first, and the promises that need a model."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

import streamverify
from streamverify.demo import case_ids, load_case, tokens
from streamverify.errors import ModelChecksumError, ModelNotFoundError, ScoringError
from streamverify.policy import Redact
from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.testing import collect, pieces, stream_of
from streamverify.types import FindingKind, Label, Passage
from streamverify.verifier import Verifier

pytestmark = pytest.mark.model

TOWER = [Passage("tower", "The Eiffel Tower was completed in 1889 and stands 330 metres tall.")]


@pytest.fixture(scope="module")
def scorer():
    made = PremiseCachedScorer()
    yield made
    made.close()


@pytest.fixture
def verifier(scorer):
    with Verifier(scorer) as made:
        yield made


def test_the_first_thing_a_user_tries_gives_the_right_verdicts(verifier):
    answer = "Good question! The tower was finished in 1889. The Eiffel Tower is 450 metres tall."
    report = verifier.check_sync(answer, TOWER)
    assert [s.label for s in report.sentences] == [Label.NO_CLAIM, Label.SUPPORTED, Label.CONTRADICTED]
    assert [f.kind for f in report.sentences[2].findings] == [FindingKind.NUMBER_MISMATCH]
    best = report.sentences[1].evidence[0]
    assert (best.passage, TOWER[0].text[best.start : best.end]) == ("tower", best.text)
    wrong = report.sentences[2].unsupported_spans
    assert any("450" in report.answer[span.start : span.end] for span in wrong)
    assert report.fingerprint.provider == "CPUExecutionProvider"


CASES = {name: load_case(name) for name in case_ids()}
"""Read before any loop runs: no test of a loop may block it."""


def content(report):
    return [s.model_dump(exclude={"latency_ms"}) for s in report.sentences]


def verdicts(verifier, case):
    """By hand and by the model, sentence by sentence."""
    report = verifier.check_sync(case.answer, case.sources(), question=case.question)
    by_hand = [case.by_hand(s.span.start, s.span.end).label for s in report.sentences]
    return list(zip(by_hand, [s.label for s in report.sentences], strict=True))


def test_the_case_shown_first_has_a_sentence_of_each_label_and_no_false_alarm(verifier):
    found = verdicts(verifier, next(iter(CASES.values())))
    for shown in (Label.SUPPORTED, Label.CONTRADICTED, Label.UNSUPPORTED, Label.NO_CLAIM):
        assert (shown, shown) in found
    for by_hand, judged in found:
        if by_hand in (Label.SUPPORTED, Label.NO_CLAIM):
            assert judged is by_hand


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_nothing_true_is_called_contradicted_in_a_case_and_no_talk_is_judged(verifier, name):
    found = verdicts(verifier, CASES[name])
    assert (Label.SUPPORTED, Label.CONTRADICTED) not in found
    assert {judged for by_hand, judged in found if by_hand is Label.NO_CLAIM} == {Label.NO_CLAIM}


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_stream_gives_the_verdicts_of_a_check_however_it_is_cut_and_whatever_else_runs(scorer):
    cases = list(CASES.values())[:4]
    async with Verifier(scorer) as made:
        alone = [await made.check(case.answer, case.sources(), question=case.question) for case in cases]
        live = {}

        async def run(index: int) -> None:
            case = cases[index]
            source = stream_of(pieces(case.answer, index))
            async with made.stream(source, case.sources(), question=case.question) as stream:
                await collect(stream)
            live[index] = stream.report

        async with anyio.create_task_group() as group:
            for index in range(len(cases)):
                group.start_soon(run, index)
    for index, report in enumerate(alone):
        assert content(report) == content(live[index])


@pytest.mark.anyio
async def test_a_passage_is_encoded_once_in_a_process(scorer):
    case = CASES["history"]
    async with Verifier(scorer) as made:
        await made.check(case.answer, case.sources())
        before = scorer.statistics()
        report = await made.check(case.answer, case.sources())
    assert scorer.statistics().misses == before.misses
    assert report.work.windows_from_cache == report.work.windows > 0


@pytest.mark.anyio
async def test_a_redacted_stream_shows_nothing_of_a_rejected_sentence(scorer):
    case = CASES["clinical"]
    async with Verifier(scorer) as made:
        source = stream_of(tokens(case.answer))
        async with made.stream(source, case.sources(), policy=Redact()) as stream:
            shown = "".join([piece async for piece in stream.text()])
    rejected = [s for s in stream.report.sentences if s.label in (Label.UNSUPPORTED, Label.CONTRADICTED)]
    assert rejected
    for sentence in rejected:
        assert sentence.text.strip("-* \n0123456789.") not in shown


def test_another_language_is_unverified_and_says_so(verifier):
    spanish = "La torre fue terminada en el año 1889 y mide más de cuatrocientos metros de altura."
    [sentence] = verifier.check_sync(spanish, TOWER).sentences
    assert (sentence.label, sentence.score) == (Label.UNVERIFIED, None)
    assert sentence.reason == "language"
    assert [f.kind for f in sentence.findings] == [FindingKind.LANGUAGE]


def test_a_sentence_too_long_for_the_model_is_unverified_and_never_cut(verifier):
    endless = "The tower that " + "and that ".join(f"visitor {n} saw " for n in range(60)) + "is tall."
    [sentence] = verifier.check_sync(endless, TOWER).sentences
    assert sentence.label is Label.UNVERIFIED
    assert sentence.reason == "too_long"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_ten_thousand_passages_are_searched_for_the_one_that_tells(verifier):
    filler = [Passage(f"f{n}", f"Report {n} describes the harvest of field {n}.") for n in range(10_000)]
    report = verifier.check_sync("The Eiffel Tower was completed in 1889.", [*filler, *TOWER])
    assert report.sentences[0].label is Label.SUPPORTED
    assert report.sentences[0].evidence[0].passage == "tower"
    assert report.work.windows == 10_001


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_huge_passage_is_read_to_its_end(verifier):
    text = "The harvest was good that year and the barns were full. " * 90_000 + TOWER[0].text
    assert len(text) > 5_000_000
    report = verifier.check_sync("The Eiffel Tower was completed in 1889.", [Passage("huge", text)])
    assert report.sentences[0].label is Label.SUPPORTED
    assert report.sentences[0].evidence[0].start > 5_000_000


def test_a_damaged_model_is_an_error_that_names_the_file(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(Path(streamverify.__file__).parent / "model", folder)
    graph = folder / "model.int8.onnx"
    graph.write_bytes(graph.read_bytes()[:-1] + b"\0")
    with pytest.raises(ModelChecksumError, match=r"model\.int8\.onnx"):
        Verifier(lambda: PremiseCachedScorer(folder)).check_sync("A claim.", TOWER)
    shutil.rmtree(folder)
    with pytest.raises(ModelNotFoundError):
        Verifier(lambda: PremiseCachedScorer(folder)).check_sync("A claim.", TOWER)


def test_an_aborted_run_ends_with_an_error(scorer):
    from streamverify.passages import cut
    from streamverify.scorers.protocol import Abort, Claim

    prepared = scorer.prepare(cut(TOWER, scorer.token_spans, 126), abort=Abort())
    abort = Abort()
    abort.set()
    with pytest.raises(ScoringError):
        scorer.score(prepared, [Claim("The tower is tall.")], abort=abort)


OFFLINE = """
import os, socket, sys
before = dict(os.environ)
def refuse(*args, **kwargs):
    raise AssertionError("a socket was opened")
socket.socket.connect = refuse
socket.create_connection = refuse
socket.getaddrinfo = refuse
import streamverify
report = streamverify.Verifier().check_sync(
    "The tower was finished in 1889.",
    [streamverify.Passage("p", "The Eiffel Tower was completed in 1889.")],
)
assert dict(os.environ) == before
print(report.sentences[0].label)
"""


@pytest.mark.slow
def test_a_verdict_needs_no_network_and_leaves_nothing_behind(tmp_path):
    """The runtime below has a telemetry of its own, which would make a device id in the home folder."""
    told = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ORT_"))}
    command = [sys.executable, "-B", "-c", OFFLINE]
    home = {**told, "HOME": str(tmp_path)}
    done = subprocess.run(command, env=home, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "supported"
    assert list(tmp_path.rglob("*")) == []
