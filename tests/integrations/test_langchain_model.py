"""`VerifiedChatModel`: nothing raw gets past it, whoever listens."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import anyio
import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool

from streamverify import Flag, Label, PassageError, Redact, SentenceJudged, UsageError, Verifier
from streamverify.testing import ScriptedScorer
from streamverify_langchain import REPORT, VERDICT, DocumentTap, VerifiedChatModel
from streamverify_langchain.documents import RunTree
from tests.integrations.langchain_fakes import (
    ANSWER,
    DOCUMENTS,
    SHOWN,
    Listener,
    model,
    no_task_left,
    prompt,
    verifier,
)

pytestmark = pytest.mark.anyio

POLICIES = [(Flag(), ANSWER), (Redact(), SHOWN)]


def verified_model(*answers: str, policy=None, **options) -> VerifiedChatModel:
    given = {"passages": DOCUMENTS, "verifier": verifier(policy), **options}
    return VerifiedChatModel(inner=model(*answers), **given)


@pytest.mark.parametrize(("policy", "shown"), POLICIES)
async def test_it_answers_as_the_model_would(policy, shown):
    chat = verified_model(*[ANSWER] * 4, policy=policy)
    assert "".join([chunk.text async for chunk in chat.astream("q")]) == shown
    assert "".join(chunk.text for chunk in chat.stream("q")) == shown
    for message in (await chat.ainvoke("q"), chat.invoke("q")):
        assert type(message) is AIMessage
        assert message.text == shown


async def test_no_observer_of_any_kind_sees_what_was_not_released():
    tap, listener = DocumentTap(), Listener()
    chain = prompt() | verified_model(*[ANSWER] * 3, policy=Redact(), passages=()) | StrOutputParser()
    config = {"callbacks": [tap, listener]}
    events = [event async for event in chain.astream_events("q", version="v2", config=config)]
    chain.invoke("q", config=config)
    await chain.ainvoke("q", config=config)
    assert "people" not in str(events)
    assert "people" not in str(listener.told)
    own = [e["data"]["chunk"] for e in events if e["event"] == "on_chain_stream" and not e["parent_ids"]]
    assert "".join(own) == SHOWN
    names = [event["name"] for event in events if event["event"] == "on_custom_event"]
    assert names == [VERDICT, VERDICT, VERDICT, REPORT]
    assert [report["released"] for report in listener.named(REPORT)] == [SHOWN] * 3


@pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning")
async def test_nor_under_the_third_event_protocol():
    listener = Listener()
    stream = await verified_model(policy=Redact()).astream_events(
        "q", version="v3", config={"callbacks": [listener]}
    )
    events = [event async for event in stream]
    assert await stream.text == SHOWN
    assert "people" not in str(events) + str(listener.told)


async def test_documents_come_from_the_model_the_call_and_the_tap():
    scorer, tap = ScriptedScorer(), DocumentTap()
    chat = verified_model(ANSWER, verifier=Verifier(scorer), passages=[{"id": "own", "text": "Own."}])
    chain = prompt() | chat.bind(passages=[{"id": "call", "text": "The call's."}])
    await chain.ainvoke("q", config={"callbacks": [tap]})
    assert scorer.prepared == [("Own.", "The call's.", *(document.page_content for document in DOCUMENTS))]
    own = {"passages": lambda messages: [{"id": "asked", "text": messages[0].text}]}
    await verified_model(verifier=Verifier(scorer), **own).ainvoke([HumanMessage("How?")])
    assert scorer.prepared[1:] == [("How?",)]
    assert tap.documents(None) == ()


async def test_the_tap_keeps_calls_apart_and_forgets_them():
    scorer, tap = ScriptedScorer(), DocumentTap()
    chat = verified_model(*[ANSWER] * 3, verifier=Verifier(scorer), passages=())
    chain = (prompt() | chat).with_config(callbacks=[tap])
    await chain.abatch(["a", "b", "c"])
    texts = tuple(document.page_content for document in DOCUMENTS)
    assert scorer.prepared == [texts] * 3
    assert len(tap._runs) == 0
    assert tap._documents == {}


async def test_a_call_s_passages_are_no_parameter_of_the_model():
    seen = []

    class Noting(Listener):
        async def on_chat_model_start(self, *args, **kwargs):
            seen.append(kwargs)

    await verified_model().bind(passages=["Bound."]).ainvoke("q", config={"callbacks": [Noting()]})
    assert "Bound." not in str(seen)


async def test_tool_calls_pass():
    @tool
    def look(place: str) -> str:
        """Looks there."""
        return place

    class WithTools(GenericFakeChatModel):
        def bind_tools(self, tools, *, tool_choice=None, **kwargs):
            return self.bind(tools=[t.name for t in tools], **kwargs)

    call = {"name": "look", "args": {"place": "Paris"}, "id": "c", "type": "tool_call"}
    inner = WithTools(messages=iter([AIMessage(ANSWER, tool_calls=[call])]))
    chat = VerifiedChatModel(inner=inner, passages=DOCUMENTS, verifier=verifier(Redact()))
    message = await chat.bind_tools([look]).ainvoke("q")
    assert (message.text, message.tool_calls) == (SHOWN, [call])

    class Odd(GenericFakeChatModel):
        def bind_tools(self, tools, *, tool_choice=None, **kwargs):
            return RunnableLambda(lambda _: None)

    with pytest.raises(UsageError):
        VerifiedChatModel(inner=Odd(messages=iter([])), verifier=verifier()).bind_tools([look])


async def test_a_model_that_does_not_stream_is_verified_whole():
    class Whole(FakeListChatModel):
        _stream = FakeListChatModel.__mro__[2]._stream
        _astream = FakeListChatModel.__mro__[2]._astream

    chat = VerifiedChatModel(inner=Whole(responses=[ANSWER]), passages=DOCUMENTS, verifier=verifier(Redact()))
    assert "".join([chunk.text async for chunk in chat.astream("q")]) == SHOWN
    assert "".join(chunk.text for chunk in chat.stream("q")) == SHOWN


async def test_events_reach_a_callback_without_any_chain():
    told = []
    chat = verified_model(ANSWER, ANSWER, on_event=lambda key, event: told.append((key, event)))
    [chunk async for chunk in chat.astream("q")]
    await chat.ainvoke("q")
    labels = [event.label for _, event in told if isinstance(event, SentenceJudged)]
    assert labels == [Label.SUPPORTED, Label.UNSUPPORTED, Label.SUPPORTED] * 2


async def test_an_answer_is_never_taken_from_the_cache():
    set_llm_cache(InMemoryCache())
    try:
        chat, told = verified_model(ANSWER, ANSWER), []
        chat.on_event = lambda key, event: told.append(event)
        for _ in range(2):
            await chat.ainvoke("q")
    finally:
        set_llm_cache(None)
    assert len([event for event in told if isinstance(event, SentenceJudged)]) == 6


async def test_leaving_early_cancelling_and_failing_leave_no_task():
    before = asyncio.all_tasks()
    stream = verified_model(policy=Redact()).astream("q")
    async for _ in stream:
        break
    await stream.aclose()
    await no_task_left(before)
    hanging = verified_model(verifier=verifier(Redact(), hang_on="capital"))
    with anyio.move_on_after(0.05) as scope:
        await hanging.ainvoke("q")
    assert scope.cancelled_caught
    await no_task_left(before)

    class Breaking(GenericFakeChatModel):
        async def _astream(self, *args, **kwargs):
            async for chunk in super()._astream(*args, **kwargs):
                yield chunk
            raise RuntimeError("the model broke")

    inner = Breaking(messages=iter([AIMessage(ANSWER)]))
    chat = VerifiedChatModel(inner=inner, passages=DOCUMENTS, verifier=verifier(Redact()))
    with pytest.raises(RuntimeError, match="the model broke"):
        [chunk async for chunk in chat.astream("q")]
    await no_task_left(before)


async def test_passages_that_cannot_be_read_fail_the_call():
    with pytest.raises(PassageError):
        await verified_model(passages=[5]).ainvoke("q")
    with pytest.raises(PassageError):
        [chunk async for chunk in verified_model(passages=[5]).astream("q")]


def test_runs_of_many_threads_lose_nothing_of_each_other():
    runs, threads = RunTree(), 8
    begun = threading.Barrier(threads)
    kept: list[bool] = []

    def serve() -> None:
        begun.wait()
        for _ in range(300):
            calls = [uuid4() for _ in range(8)]
            children = [uuid4() for _ in calls]
            for call, child in zip(calls, children, strict=True):
                runs.begin(call, None)
                runs.begin(child, call)
            kept.append(all(runs.root(child) == call for call, child in zip(calls, children, strict=True)))
            kept.append(all(runs.end(call) for call in calls))

    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(serve) for _ in range(threads)]:
            done.result()
    assert all(kept)
    assert len(runs) == 0
