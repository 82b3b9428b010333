"""Which passages a request holds: those of its messages, under the ids that templates number anew."""

from __future__ import annotations

import json

import pytest
from upstreams import proxied, told

from streamverify.policy import Flag
from streamverify.server.errors import HTTPRefusal
from streamverify.server.request import read_request

MILL, TOWER, BRIDGE = "The mill was built in the town.", "The tower is of stone.", "The bridge is of iron."


def held(messages, **body):
    read = read_request(json.dumps({"messages": messages, **body}).encode(), Flag())
    return {passage.id: passage.text for passage in read.passages}


def block(text, identity="1"):
    return f'<passage id="{identity}">{text}</passage>'


def user(*blocks):
    return {"role": "user", "content": "".join(blocks) + " What is there?"}


def tool(call, *passages):
    content = json.dumps([{"id": at, "text": text} for at, text in enumerate(passages, 1)])
    return {"role": "tool", "tool_call_id": call, "content": content}


def output(call, *passages):
    content = json.dumps({"results": [{"id": at, "text": text} for at, text in enumerate(passages, 1)]})
    return {"type": "function_call_output", "call_id": call, "output": content}


ANSWERED = {"role": "assistant", "content": "So it is."}
CALLS = {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}


def test_an_id_that_comes_again_in_a_later_turn_means_the_later_text():
    first, second = user(block(MILL), block(BRIDGE, "2")), user(block(TOWER))
    assert held([first, ANSWERED, second]) == {"1": TOWER, "2": BRIDGE}
    assert held([first, ANSWERED, second, ANSWERED, user()]) == {"1": TOWER, "2": BRIDGE}
    assert held([first, ANSWERED, second, ANSWERED, user(block(MILL))]) == {"1": MILL, "2": BRIDGE}


def test_what_a_system_message_brings_before_a_question_is_of_that_questions_turn():
    system = [{"role": "system", "content": block(text)} for text in (MILL, TOWER)]
    assert held([system[0], user(), ANSWERED, system[1], user()]) == {"1": TOWER}


def test_results_of_tools_in_one_turn_are_told_apart_for_the_answer_rests_on_all():
    asked = [user(), CALLS, tool("a", MILL, BRIDGE), CALLS, tool("b", TOWER)]
    assert held(asked) == {"m3/1": MILL, "2": BRIDGE, "1": TOWER}
    assert held([*asked, ANSWERED, user(), CALLS, tool("a", BRIDGE)]) == {"2": BRIDGE, "1": BRIDGE}
    assert held([user(block(MILL)), CALLS, tool("a", TOWER)]) == {"m1/1": MILL, "1": TOWER}
    assert held([user(), CALLS, tool("a", MILL), tool("b", MILL)]) == {"1": MILL}


def test_a_result_in_words_whose_call_has_the_name_of_an_earlier_one_is_told_apart_too():
    said = [{"role": "tool", "tool_call_id": "call_0", "content": text} for text in (MILL, TOWER)]
    assert held([user(), CALLS, said[0], CALLS, said[1]]) == {"m3/call_0": MILL, "call_0": TOWER}
    assert held([user(), CALLS, said[0], ANSWERED, user(), CALLS, said[1]]) == {"call_0": TOWER}


def test_the_items_of_a_response_are_read_alike():
    called = {"type": "function_call", "call_id": "a", "name": "search", "arguments": "{}"}
    asked = {"input": [user(), called, output("a", MILL), called, output("b", TOWER)]}
    read = read_request(json.dumps(asked).encode(), Flag())
    assert {passage.id: passage.text for passage in read.passages} == {"m3/1": MILL, "1": TOWER}
    asked["input"] += [ANSWERED, user(block(BRIDGE))]
    read = read_request(json.dumps(asked).encode(), Flag())
    assert {passage.id: passage.text for passage in read.passages} == {"1": BRIDGE}


@pytest.mark.parametrize(
    "messages",
    [
        [user(block(MILL), block(TOWER))],
        [{"role": "system", "content": block(MILL)}, user(block(TOWER))],
        [user(), ANSWERED, user(block(MILL)), user(block(TOWER))],
        [user(), CALLS, {**tool("a"), "content": json.dumps([{"id": 1, "text": t} for t in (MILL, TOWER)])}],
    ],
    ids=["a message", "a turn's messages", "a later turn's", "a result"],
)
def test_two_texts_under_an_id_in_one_retrieval_are_refused(messages):
    with pytest.raises(HTTPRefusal, match="passage id '1' stands for two different texts") as refused:
        held(messages)
    assert refused.value.status == 400


def test_two_texts_under_an_id_in_the_extra_field_are_refused():
    passages = [{"id": "1", "text": MILL}, {"id": "1", "text": TOWER}]
    with pytest.raises(HTTPRefusal, match="two different texts"):
        held([user()], streamverify={"passages": passages})


def test_a_conversation_whose_turns_number_their_passages_anew_is_verified():
    with proxied() as proxy:
        end = {"choices": [{"index": 0, "delta": {"content": f"{TOWER} [1]"}, "finish_reason": "stop"}]}
        proxy.upstream.stream([end])
        messages = [user(block(MILL)), ANSWERED, user(block(TOWER))]
        got = proxy.ask("/chat/completions", stream=True, messages=messages, streamverify={})
    assert got.status_code == 200
    assert [p["id"] for p in told(got.text, "stream_opened")[0]["passages"]] == ["1"]
    (judged,) = told(got.text, "sentence_judged")
    assert (judged["label"], judged["citations"][0]["passages"]) == ("supported", ["1"])
