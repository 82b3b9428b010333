"""Recorded streams that were changed: refused where it can be told, and never the better for it."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

import pytest
from builders import BAD, GOOD, NONE, PASSAGES, case, row, verifier, written

from streamverify import RedactPii
from streamverify.errors import InputFileError
from streamverify.evaluate import NotComputed, evaluate, from_events, read_dataset
from streamverify.program import main
from streamverify.testing import collect, pieces, stream_of

ONE = case(0, GOOD, BAD, "The mill never turned.", question="How old is the mill?")
SCORED = ["grounding_score", "multi_doc_grounding", "multi_doc_grounding_by_pairs", "evidence_quality"]


def events_of(one=ONE, **options) -> list[dict[str, Any]]:
    async def recorded(live):
        async with live.stream(one.answer, one.passages, **options) as stream:
            return [json.loads(event.model_dump_json()) for event in await collect(stream)]

    with verifier() as live:
        return live.portal.run(lambda: recorded(live))


@pytest.fixture(scope="module")
def events() -> list[dict[str, Any]]:
    return events_of()


def without(events, place):
    """The final report leaves a sentence out, and its answer with it where `place` is the last one."""
    sentences = events[-1]["report"]["sentences"]
    gone = sentences.pop(place)
    if place in (-1, len(sentences)):
        events[-1]["report"]["answer"] = events[-1]["report"]["answer"].removesuffix(gone["text"])


def other_answer(events, text):
    events[-1]["report"]["answer"] = text


def other_sentence(events, text):
    events[-1]["report"]["sentences"][1]["text"] = text


def doubled(events):
    sentences = events[-1]["report"]["sentences"]
    sentences.append(copy.deepcopy(sentences[0]))


def turned(events):
    events[-1]["report"]["sentences"].reverse()


def emptied(events):
    events[-1]["report"] |= {"sentences": [], "answer": ""}


def unclosed(events):
    """Nothing in the events speaks of the last sentence of the report."""
    index = events[-1]["report"]["sentences"][-1]["index"]
    kept = [e for e in events if e["kind"] != "sentence_closed" or e["sentence"]["index"] != index]
    events[:] = [{**event, "seq": seq} for seq, event in enumerate(kept)]


def relabelled(events, label):
    """A verdict of the report alone; what it counts goes along."""
    report = events[-1]["report"]
    report["counts"][report["sentences"][1]["label"]] -= 1
    report["counts"][label] += 1
    report["sentences"][1]["label"] = label


def rescored(events, score):
    """A score of the report alone; its mean goes along."""
    report = events[-1]["report"]
    report["sentences"][1]["score"] = score
    scores = [one["score"] for one in report["sentences"] if one["score"] is not None]
    report["grounding_score"] = sum(scores) / len(scores)


def untold(events):
    """The verdict of one sentence is in the report alone."""
    kept = [e for e in events if e["kind"] != "sentence_judged" or e["index"] != 1]
    events[:] = [{**event, "seq": seq} for seq, event in enumerate(kept)]


@pytest.mark.parametrize(
    "damage",
    [
        lambda events: relabelled(events, "supported"),
        lambda events: relabelled(events, "no_claim"),
        lambda events: rescored(events, 0.99),
        lambda events: rescored(events, None),
        untold,
        lambda events: events[-1]["report"]["counts"].update(supported=3),
        lambda events: events[-1]["report"].update(grounding_score=0.99),
        lambda events: events[-1]["report"].update(grounding_score=None),
        lambda events: without(events, 1),
        lambda events: without(events, 0),
        lambda events: without(events, -1),
        lambda events: other_answer(events, GOOD),
        lambda events: other_answer(events, ""),
        lambda events: other_answer(events, f"{ONE.answer} And so on."),
        lambda events: other_sentence(events, f"{GOOD} "),
        doubled,
        turned,
        emptied,
        unclosed,
    ],
)
def test_a_report_that_is_not_of_its_events_is_refused(damage, events, tmp_path, capsys):
    held = copy.deepcopy(events)
    path = tmp_path / "recorded.jsonl"
    bare = {name: value for name, value in row(ONE).items() if name != "answer"}
    [before] = read_dataset(written(path, [{**bare, "events": held}]))
    assert before.recording is not None
    damage(held)
    with pytest.raises(InputFileError, match="report") as caught:
        read_dataset(written(path, [{**bare, "events": held}]))
    assert (caught.value.line, caught.value.field) == (1, "events")
    assert main(["evaluate", str(path), "--scorer", "lexical"]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)


@pytest.mark.parametrize("policy", ["flag", "redact", "halt", "observe", "annotate"])
@pytest.mark.parametrize("answer", [ONE.answer, GOOD, NONE, "", "  \n", f"\n\n{GOOD}\n\n- {BAD}\n"])
def test_whatever_was_recorded_whole_is_taken(policy, answer, tmp_path):
    one = case(0, answer)
    bare = {name: value for name, value in row(one).items() if name != "answer"}
    held = events_of(one, policy=policy)
    [read] = read_dataset(written(tmp_path / "recorded.jsonl", [{**bare, "events": held}]))
    assert read.recording.report.model_dump(mode="json") == held[-1]["report"]


@pytest.mark.parametrize("cut", [0, 3, 27, 30, 51, 60])
@pytest.mark.parametrize("policy", ["flag", "redact", "halt", RedactPii()])
def test_a_stream_whose_source_failed_is_taken_as_far_as_it_came(policy, cut):
    async def recorded(live):
        source = stream_of(pieces(ONE.answer[:cut], 1), error=ConnectionError("gone"))
        told = []
        with suppress(ConnectionError):
            async with live.stream(source, PASSAGES, policy=policy) as stream:
                async for event in stream:
                    told.append(event)
        return [event.model_dump_json() for event in told]

    with verifier() as live:
        lines = live.portal.run(lambda: recorded(live))
    held = from_events(lines, id="case-0", passages=PASSAGES)
    assert held.answer == json.loads(lines[-1])["report"]["answer"]


@pytest.mark.parametrize("gone", [[0], [2], [0, 1], [0, 1, 2]])
def test_a_statement_without_a_score_leaves_no_figure_over_scores(gone, events, tmp_path):
    held = copy.deepcopy(events)
    report = held[-1]["report"]
    for one in [*(event for event in held if event["kind"] == "sentence_judged"), *report["sentences"]]:
        if one["index"] in gone:
            one["score"] = None
    scores = [one["score"] for one in report["sentences"] if one["score"] is not None]
    report["grounding_score"] = sum(scores) / len(scores) if scores else None
    path = written(tmp_path / "recorded.jsonl", [{**row(ONE), "events": held}])
    with verifier() as one:
        [result] = evaluate(read_dataset(path), metrics=[*SCORED, "faithfulness"], verifier=one).cases
    assert not result.error
    for name in SCORED:
        assert isinstance(result[name], NotComputed)
        assert "no score" in result[name].reason
        assert not result[name].nothing
    assert result["faithfulness"] == pytest.approx(1 / 3)
