"""A wrapped client: streams keep their class, helpers and whole answers say what was released."""

from __future__ import annotations

import subprocess
import sys

import anyio
import openai
import pytest
from test_openai_chat import TEXT, answer_frames, contents, frame
from test_openai_responses import response_frames

from streamverify import Flag, Label, PassageError, Redact, StreamFinished, UsageError
from streamverify_openai import VerifiedChunks, verification, wrap_client

PASSAGES = ["The mill was built in 1804 and has two wheels. It grinds barley."]
RELEASED = "The mill was built in 1804. ▮ Barley is ground there"
POLICY = Redact(placeholder="▮")


@pytest.fixture
async def client(loopback):
    async with openai.AsyncOpenAI(api_key="none", base_url=f"{loopback.url}/v1", max_retries=0) as made:
        yield made


@pytest.fixture
def sync_client(loopback):
    with openai.OpenAI(api_key="none", base_url=f"{loopback.url}/v1", max_retries=0) as made:
        yield made


@pytest.mark.anyio
async def test_a_stream_keeps_its_class_and_the_client_given_stays_bare(loopback, verifier, client):
    wrapped = wrap_client(client, passages=PASSAGES, verifier=verifier, policy=POLICY)
    assert type(wrapped) is openai.AsyncOpenAI
    loopback.script(answer_frames([TEXT], 1), seed=1)
    async with await wrapped.chat.completions.create(model="m", messages=[], stream=True) as stream:
        assert isinstance(stream, openai.AsyncStream)
        assert contents([chunk async for chunk in stream]) == {0: RELEASED}
    assert verification(stream).reports[0].counts[Label.CONTRADICTED] == 1
    bare = await client.chat.completions.create(model="m", messages=[], stream=True)
    assert contents([chunk async for chunk in bare]) == {0: TEXT}
    with pytest.raises(UsageError, match="wrapped client"):
        verification(bare)


def test_a_synchronous_client_likewise(loopback, verifier, sync_client):
    wrapped = wrap_client(sync_client, passages=PASSAGES, verifier=verifier, policy=POLICY)
    loopback.script(answer_frames([TEXT], 1), seed=1)
    with wrapped.chat.completions.create(model="m", messages=[], stream=True) as stream:
        assert isinstance(stream, openai.Stream)
        assert contents(stream) == {0: RELEASED}
    assert verification(stream).reports[0].released == RELEASED
    with wrapped.chat.completions.stream(model="m", messages=[]) as helper:
        assert helper.get_final_completion().choices[0].message.content == RELEASED
    loopback.script(response_frames([TEXT], 3), seed=3)
    with wrapped.responses.stream(model="m", input="q") as helper:
        assert helper.get_final_response().output_text == RELEASED


@pytest.mark.anyio
async def test_the_helpers_of_the_sdk_say_what_was_released(loopback, verifier, client):
    wrapped = wrap_client(client, passages=PASSAGES, verifier=verifier, policy=POLICY)
    loopback.script(answer_frames([TEXT], 2), seed=2)
    async with wrapped.chat.completions.stream(model="m", messages=[]) as helper:
        events = [event async for event in helper]
        final = await helper.get_final_completion()
    assert final.choices[0].message.content == RELEASED
    assert next(event for event in events if event.type == "content.done").content == RELEASED
    loopback.script(response_frames([TEXT], 3), seed=3)
    async with wrapped.responses.stream(model="m", input="q") as helper:
        events = [event async for event in helper]
        assert (await helper.get_final_response()).output_text == RELEASED
    assert not [event for event in events if "wrong" in repr(event)]


@pytest.mark.anyio
async def test_closing_a_wrapped_stream_hangs_up(loopback, verifier, client):
    wrapped = wrap_client(client, passages=PASSAGES, verifier=verifier, policy=Flag())
    loopback.script([frame({"content": "The mill "})], endless=True)
    async with await wrapped.chat.completions.create(model="m", messages=[], stream=True) as stream:
        await anext(stream)
    assert await anyio.to_thread.run_sync(loopback.hung_up.wait, 10)
    assert verification(stream).reports[0].outcome == "failed"


def test_closing_a_synchronous_wrapped_stream_hangs_up(loopback, verifier, sync_client):
    wrapped = wrap_client(sync_client, passages=PASSAGES, verifier=verifier, policy=Flag())
    loopback.script([frame({"content": "The mill "})], endless=True)
    with wrapped.chat.completions.create(model="m", messages=[], stream=True) as stream:
        next(stream)
    assert loopback.hung_up.wait(60)


def completion(text):
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


@pytest.mark.anyio
async def test_an_answer_that_is_not_streamed_is_checked_whole(loopback, verifier, client, sync_client):
    told = []
    options = {
        "passages": PASSAGES,
        "verifier": verifier,
        "policy": POLICY,
        "on_event": lambda key, event: told.append((key, event)),
    }
    loopback.whole = completion(TEXT)
    wrapped = wrap_client(client, **options)
    answer = await wrapped.chat.completions.create(model="m", messages=[])
    assert answer.choices[0].message.content == RELEASED
    key, last = told[-1]
    assert key == 0
    assert isinstance(last, StreamFinished)
    assert last.report.answer == TEXT
    answer = wrap_client(sync_client, **options).chat.completions.create(model="m", messages=[])
    assert answer.choices[0].message.content == RELEASED
    loopback.whole = response_frames([TEXT])[-1]["response"]
    assert (await wrapped.responses.create(model="m", input="q")).output_text == RELEASED


@pytest.mark.anyio
async def test_passages_may_depend_on_the_call(loopback, verifier, client, sync_client):
    loopback.script(answer_frames([TEXT], 1), seed=1)

    async def retrieve(call):
        return [{"id": call["messages"][0]["content"], "text": "The mill was built in 1804."}]

    wrapped = wrap_client(client, passages=retrieve, verifier=verifier)
    question = [{"role": "user", "content": "mill"}]
    stream = await wrapped.chat.completions.create(model="m", messages=question, stream=True)
    [chunk async for chunk in stream]
    _, opened = verification(stream).events[0]
    assert [passage.id for passage in opened.passages] == ["mill"]
    wrapped = wrap_client(sync_client, passages=lambda call: [call["model"]], verifier=verifier)
    stream = wrapped.chat.completions.create(model="m", messages=question, stream=True)
    list(stream)
    _, opened = verification(stream).events[0]
    assert [passage.chars for passage in opened.passages] == [1]


@pytest.mark.anyio
async def test_bad_passages_are_told_before_a_request_is_made(loopback, verifier, client, sync_client):
    before = len(loopback.requests)

    async def retrieve(_call):
        raise LookupError("index gone")

    with pytest.raises(LookupError):
        await wrap_client(client, passages=retrieve, verifier=verifier).responses.create(model="m", input="q")
    with pytest.raises(PassageError):
        wrap_client(sync_client, passages=[3], verifier=verifier).responses.create(model="m", input="q")
    assert len(loopback.requests) == before


@pytest.mark.anyio
async def test_raw_responses_are_refused_where_text_is_held(loopback, verifier, client):
    loopback.whole = completion(TEXT)
    held = wrap_client(client, passages=PASSAGES, verifier=verifier, policy=POLICY)
    with pytest.raises(UsageError, match="unwrapped client"):
        await held.chat.completions.with_raw_response.create(model="m", messages=[])
    flows = wrap_client(client, passages=PASSAGES, verifier=verifier, policy=Flag())
    raw = await flows.chat.completions.with_raw_response.create(model="m", messages=[])
    assert raw.parse().choices[0].message.content == TEXT


@pytest.mark.anyio
async def test_a_client_whose_streams_look_otherwise_gets_the_proxy(verifier):
    class Piece:
        class choice:  # noqa: N801 - stands for an object
            index, finish_reason, logprobs = 0, None, None

            class delta:  # noqa: N801 - stands for an object
                content = "The mill was built in 1804."

        choices = (choice,)

    async def stream():
        yield Piece

    class Completions:
        async def create(self, **_call):
            return stream()

    class Client:
        class chat:  # noqa: N801 - stands for an object
            completions = Completions()

    wrapped = wrap_client(Client(), passages=PASSAGES, verifier=verifier, policy=Flag())
    result = await wrapped.chat.completions.create(stream=True)
    assert isinstance(result, VerifiedChunks)
    assert [chunk async for chunk in result] == [Piece]
    assert verification(result).reports[0].outcome == "finished"


def test_what_has_no_such_method_is_refused(verifier):
    with pytest.raises(UsageError, match=r"chat\.completions"):
        wrap_client(object(), passages=[], verifier=verifier)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_without_the_sdk_the_import_names_the_pip_command(provider):
    code = (
        "import sys\n"
        f"sys.modules[{provider!r}] = None\n"
        "try:\n"
        f"    import streamverify_{provider}\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"pip install 'streamverify[{provider}]'" in ran.stdout
