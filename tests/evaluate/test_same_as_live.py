"""A stream that was recorded and a fresh check of its answer have the same figures, byte for byte."""

from __future__ import annotations

import json
import random

import pytest
from anyio import to_thread
from builders import written

from streamverify import Verifier
from streamverify.demo import load_case
from streamverify.evaluate import Case, compare, evaluate_async, read_dataset
from streamverify.testing import collect, pieces, stream_of

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def model():
    with Verifier() as one:
        yield one


def fresh(name):
    shown = load_case(name)
    return Case(id=name, question=shown.question, answer=shown.answer, passages=shown.sources())


async def recorded_row(one, model, seed):
    source = stream_of(pieces(one.answer, seed))
    async with model.stream(source, one.passages, question=one.question) as stream:
        events = [json.loads(event.model_dump_json()) for event in await collect(stream)]
    passages = [
        {"id": p.id, "text": p.text, "title": p.title, "metadata": dict(p.metadata)} for p in one.passages
    ]
    return {"id": one.id, "question": one.question, "passages": passages, "events": events}


@pytest.mark.slow
@pytest.mark.anyio
async def test_live_recorded_evaluated_and_compared_with_a_fresh_evaluation(
    model, tmp_path, anyio_backend_name
):
    given = await to_thread.run_sync(lambda: [fresh(name) for name in ("docs", "citations", "conflict")])
    generator = random.Random(anyio_backend_name)
    rows = [await recorded_row(one, model, generator.randrange(1000)) for one in given]
    recorded = await evaluate_async(
        await to_thread.run_sync(read_dataset, written(tmp_path / "recorded.jsonl", rows)),
        verifier=model,
        out=tmp_path / "journal.jsonl",
    )
    assert (tmp_path / "journal.jsonl").read_text().count('"recorded":true') == 3
    again = await evaluate_async(given, verifier=model, workers=1)
    wide = await evaluate_async(given, verifier=model, workers=4)
    assert recorded.text() == again.text() == wide.text()
    found = compare(recorded, again)
    assert not found.failed
    assert all(one.difference == 0 for one in found.differences.values() if isinstance(one.difference, float))
