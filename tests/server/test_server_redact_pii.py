"""The proxy with `redact_pii`: no item of an answer, or of a passage that says it too, is sent."""

from __future__ import annotations

import json

import httpx2
import pytest
from loopback import loopback
from serving import frames
from upstreams import proxied, told

from streamverify.server import ServeSettings, create_app
from streamverify.testing import ScriptedScorer
from streamverify.verifier import Verifier

MAIL = "ann@example.org"
CARD = "4111 1111 1111 1111"
TEXT = f"The mill was built in the town. Write to {MAIL} there. The card is {CARD} today."
SOURCE = f"The mill was built in the town. Write to {MAIL} there."
PASSAGES = [{"id": "p1", "title": f"Of {MAIL}", "text": SOURCE}]


def chunks(text, size=5):
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    for piece in pieces:
        yield {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
               "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}  # fmt: skip
    yield {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
           "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}  # fmt: skip


@pytest.mark.parametrize("policy", ["observe", "flag", "redact", "halt", "annotate"])
@pytest.mark.parametrize("stream", [True, False])
def test_no_item_leaves_the_proxy(policy, stream):
    with proxied(redact_pii=True) as proxy:
        if stream:
            proxy.upstream.stream(chunks(TEXT))
        else:
            message = {"role": "assistant", "content": TEXT}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            proxy.upstream.say(
                {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
            )
        got = proxy.ask(
            "/chat/completions", stream=stream, streamverify={"passages": PASSAGES, "policy": policy}
        )
    assert got.status_code == 200
    assert MAIL not in got.text
    assert CARD not in got.text
    assert "[email]" in got.text
    assert "[card]" in got.text
    if stream:
        [last] = told(got.text, "stream_finished")
        written = last["report"]["released"].replace(" [1]", "")  # what `annotate` added
        assert written == TEXT.replace(MAIL, "[email]").replace(CARD, "[card]")
        assert MAIL not in json.dumps(last)


@pytest.mark.parametrize("policy", ["observe", "redact"])
def test_no_item_leaves_the_demo_page_in_an_answer_or_a_passage(policy):
    given = {"passages": json.dumps(PASSAGES[0]), "answer": TEXT, "policy": policy}
    app = create_app(ServeSettings(demo=True, redact_pii=True), Verifier(ScriptedScorer()))
    with loopback(app) as address:
        got = httpx2.post(f"{address}/demo/check", json=given, timeout=60)
    assert got.status_code == 200
    assert MAIL not in got.text
    assert CARD not in got.text
    events = [json.loads(frame.data) for frame in frames(got.content)]
    assert events[-1]["report"]["released"] == TEXT.replace(MAIL, "[email]").replace(CARD, "[card]")
    assert SOURCE.replace(MAIL, "[email████████]") in json.dumps(events, ensure_ascii=False)
