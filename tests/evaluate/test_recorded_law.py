"""The law of recordings: a live stream whose events were kept is a fresh evaluation, byte for byte."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest
from builders import BAD, GOOD, NONE, PASSAGES, WRONG, case, verifier, written
from hypothesis import given, settings
from hypothesis import strategies as st

from streamverify import Action, Annotate, Halt, Observe, Redact, Repair, Verifier
from streamverify.evaluate import Case, Run, compare, evaluate_async, read_dataset
from streamverify.policy import PolicyLike
from streamverify.testing import collect, pieces, stream_of
from streamverify.types import Report

pytestmark = pytest.mark.timeout(600)


async def rewritten(request) -> str:
    return BAD if request.attempt == 1 else GOOD  # the first one does not pass either


KEEPING = [
    Observe(),
    Redact(scope="span"),
    Redact(fabricated_citations="marker"),
    Annotate(),
    Repair(rewritten, attempts=2),
]
HALTING = [Halt(), Halt(hold=False), Halt(labels=frozenset(), max_ungrounded=1)]
SENTENCES = (GOOD, BAD, WRONG, NONE, "It has two wheels [1].", "The river is 40 km long [river].", "See [9].")


async def recorded(one: Case, live: Verifier, seed: int, policy: PolicyLike) -> dict[str, object]:
    """The row that holds the case's answer as the events of a stream of it, cut by chance."""
    source = stream_of(pieces(one.answer, seed))
    async with live.stream(source, one.passages, policy=policy, question=one.question) as stream:
        events = [json.loads(event.model_dump_json()) for event in await collect(stream)]
    passages = [{"id": p.id, "text": p.text} for p in PASSAGES]
    return {"id": one.id, "question": one.question, "passages": passages, "events": events}


def judged(report: Report) -> list[dict[str, object]]:
    """Every sentence with its verdict; only when it was told depends on the clock."""
    return [sentence.model_dump(exclude={"latency_ms"}) for sentence in report.sentences]


@pytest.mark.slow
@settings(max_examples=25)
@given(
    answers=st.lists(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4), min_size=1, max_size=4),
    seed=st.integers(0, 999),
    policy=st.sampled_from(["flag", "redact", *KEEPING]),
    workers=st.integers(1, 3),
)
def test_what_was_recorded_live_is_what_a_fresh_check_finds(answers, seed, policy, workers):
    given_ = [case(n, *sentences, question="How old is the mill?") for n, sentences in enumerate(answers)]

    async def both(folder: Path) -> tuple[Run, Run]:
        async with verifier() as live:
            rows = [await recorded(one, live, seed + n, policy) for n, one in enumerate(given_)]
            dataset = read_dataset(written(folder / "recorded.jsonl", rows))
            options = {"verifier": live, "policy": policy}
            held = await evaluate_async(dataset, **options, out=folder / "j.jsonl", workers=workers)
            return held, await evaluate_async(given_, **options, workers=1)

    with TemporaryDirectory() as name:
        held, fresh = anyio.run(both, Path(name))
        assert held.text() == fresh.text() == Run.read(Path(name) / "j.jsonl").text()
        assert all(one.load().recorded for one in held.cases)  # nothing was scored again
        found = compare(held, fresh)
        assert not found.failed
        assert not found.newly_failing
        assert {d.difference for d in found.differences.values() if isinstance(d.difference, float)} <= {0.0}
        for one, other in zip(held.cases, fresh.cases, strict=True):
            assert judged(one.report) == judged(other.report)


@pytest.mark.slow
@settings(max_examples=10)
@given(
    answers=st.lists(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5), min_size=1, max_size=4),
    seed=st.integers(0, 999),
    policy=st.sampled_from(HALTING),
)
def test_what_was_halted_live_is_what_a_fresh_check_finds_up_to_there(answers, seed, policy):
    """What came after the halt, before the source was closed, is a matter of time and changes nothing."""
    given_ = [case(n, *sentences, question="How old is the mill?") for n, sentences in enumerate(answers)]

    async def all_three(folder: Path) -> tuple[Run, Run, Run]:
        async with verifier() as live:
            rows = [await recorded(one, live, seed + n, policy) for n, one in enumerate(given_)]
            dataset = read_dataset(written(folder / "recorded.jsonl", rows))
            as_far = [replace(one, recording=None) for one in dataset]  # the answer as far as it came
            options = {"verifier": live, "policy": policy}
            held = await evaluate_async(dataset, **options, out=folder / "j.jsonl")
            fresh = await evaluate_async(as_far, **options, workers=1)
            return held, fresh, await evaluate_async(given_, **options)

    with TemporaryDirectory() as name:
        held, fresh, whole = anyio.run(all_three, Path(name))
        assert held.text() == fresh.text()
        assert all(one.load().recorded for one in held.cases)
        for one, *others in zip(held.cases, fresh.cases, whole.cases, strict=True):
            stopped = [sentence.action for sentence in one.report.sentences].count(Action.HALT)
            assert stopped == (one.outcome == "halted")
            for other in others:
                assert one.figures == other.figures
                assert judged(one.report) == judged(other.report)
