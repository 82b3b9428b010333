"""Citations beside a chat's text: checked as citations, and moved with the text."""

from __future__ import annotations

import pytest
from test_openai_chat import BASE, PASSAGES, client_of, contents, frame, sync_chunks_of, sync_client_of

from streamverify import Redact
from streamverify_openai import verify_stream, wrap_client


@pytest.mark.anyio
async def test_annotations_of_a_search_model_are_checked_as_citations(loopback, verifier):
    sources = [
        {"id": "a", "text": "The mill was built in 1804.", "metadata": {"url": "https://mill.example/a"}},
        {"id": "b", "text": "Barley.", "metadata": {"url": "https://mill.example/b"}},
    ]
    note = {
        "type": "url_citation",
        "url_citation": {"url": "https://mill.example/a", "title": "A", "start_index": 0, "end_index": 26},
    }
    missing = {
        "type": "url_citation",
        "url_citation": {"url": "https://other.example", "title": "?", "start_index": 28, "end_index": 47},
    }
    text = "The mill was built in 1804. Barley is ground there."
    frames = [frame({"content": text}), frame({"annotations": [note, missing]}), frame({}, finish="stop")]
    loopback.script(frames)
    async with client_of(loopback) as client:
        stream = await client.chat.completions.create(model="m", messages=[], stream=True)
        async with verify_stream(stream, sources, verifier=verifier) as verified:
            async for _ in verified:
                pass
    first, second = verified.reports[0].sentences
    assert [(c.finding, c.passages) for c in first.citations] == [("correct", ("a",))]
    assert [c.finding for c in second.citations] == ["fabricated"]
    assert verified.reports[0].citation_accuracy == 0.5


@pytest.mark.parametrize("whole", [True, False])
def test_annotations_point_into_what_was_released(loopback, verifier, whole):
    text = "The wrong wheel turns slowly. The mill was built in 1804."
    start = text.index("built in 1804")
    place = {"url": "https://example.org", "title": "Mill", "start_index": start, "end_index": len(text) - 1}
    note = {"type": "url_citation", "url_citation": place}
    with sync_client_of(loopback) as client:
        if whole:
            message = {"role": "assistant", "content": text, "annotations": [note]}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            loopback.whole = {**BASE, "object": "chat.completion", "choices": [choice]}
            wrapped = wrap_client(client, passages=PASSAGES, verifier=verifier, policy=Redact())
            answer = wrapped.chat.completions.create(model="m", messages=[]).choices[0].message
            shown, cited = answer.content, answer.annotations[0].url_citation.model_dump()
        else:
            loopback.script(
                [frame({"content": text}), frame({"annotations": [note]}), frame({}, finish="stop")]
            )
            chunks, _ = sync_chunks_of(loopback, verifier, Redact())
            shown = contents(chunks)[0]
            (cited,) = [
                one["url_citation"]
                for chunk in chunks
                for one in getattr(chunk.choices[0].delta, "annotations", ())
            ]
    assert shown[cited["start_index"] : cited["end_index"]] == "built in 1804"
    assert "wrong" not in shown
