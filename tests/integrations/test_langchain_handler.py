"""`GroundingCallbackHandler`: observes a chain, disturbs nothing, hides nothing."""

from __future__ import annotations

import asyncio

import anyio
import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda

from streamverify import (
    Label,
    ScoringError,
    SentenceJudged,
    StreamFailed,
    StreamFinished,
    StreamStateError,
    UsageError,
    Verifier,
)
from streamverify.testing import ScriptedScorer
from streamverify_langchain import REPORT, VERDICT, GroundingCallbackHandler
from tests.integrations.langchain_fakes import (
    ANSWER,
    DOCUMENTS,
    SCRIPT,
    Listener,
    model,
    no_task_left,
    prompt,
    text_chain,
    verifier,
)

pytestmark = pytest.mark.anyio

LABELS = [Label.SUPPORTED, Label.UNSUPPORTED, Label.SUPPORTED]


class Told:
    """Keeps what a handler tells."""

    def __init__(self) -> None:
        self.events = []

    def __call__(self, answer, event) -> None:
        self.events.append((answer, event))

    @property
    def labels(self) -> list[Label]:
        return [event.label for _, event in self.events if isinstance(event, SentenceJudged)]

    @property
    def reports(self):
        return [event.report for _, event in self.events if isinstance(event, StreamFinished | StreamFailed)]


async def test_it_sees_the_answer_and_the_documents_and_alters_nothing():
    told, scorer = Told(), ScriptedScorer(SCRIPT)
    async with GroundingCallbackHandler(told, verifier=Verifier(scorer)) as handler:
        chunks = [c async for c in text_chain().astream("q", config={"callbacks": [handler]})]
    assert "".join(chunks) == ANSWER
    assert told.labels == LABELS
    assert told.reports[0].answer == ANSWER
    assert scorer.prepared == [tuple(document.page_content for document in DOCUMENTS)]


@pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning")
async def test_the_third_event_protocol_is_not_counted_twice():
    told = Told()
    async with GroundingCallbackHandler(told, verifier=verifier(), passages=DOCUMENTS) as handler:
        stream = await model().astream_events("q", version="v3", config={"callbacks": [handler]})
        assert await stream.text == ANSWER
    assert told.reports[0].answer == ANSWER
    assert told.labels == LABELS


@pytest.mark.parametrize("way", ["ainvoke", "astream_events", "invoke in a thread", "invoke in the loop"])
async def test_however_the_chain_is_run(way):
    told, chain = Told(), text_chain()
    async with GroundingCallbackHandler(told, verifier=verifier()) as handler:
        config = {"callbacks": [handler]}
        if way == "ainvoke":
            await chain.ainvoke("q", config=config)
        elif way == "astream_events":
            [event async for event in chain.astream_events("q", version="v2", config=config)]
        elif way == "invoke in a thread":
            await asyncio.to_thread(chain.invoke, "q", config=config)
        else:
            chain.invoke("q", config=config)
    assert told.reports[0].answer == ANSWER
    assert told.labels == LABELS


async def test_calls_at_once_are_kept_apart():
    told, scorer = Told(), ScriptedScorer(SCRIPT)
    async with GroundingCallbackHandler(told, verifier=Verifier(scorer)) as handler:
        await text_chain(*[ANSWER] * 3).abatch(["a", "b", "c"], config={"callbacks": [handler]})
    assert len({answer.root for answer, _ in told.events}) == 3
    assert [report.answer for report in told.reports] == [ANSWER] * 3
    assert len(scorer.prepared) == 3
    assert len(handler._tap._runs) == 0
    assert handler._watches == {}


async def test_only_models_with_the_tag_are_checked():
    told = Told()
    rewrite = model("Rewritten 900.").with_config(tags=["rewrite"])
    chain = (
        prompt()
        | rewrite
        | RunnableLambda(lambda message: message.text)
        | model().with_config(tags=["answer"])
    )
    async with GroundingCallbackHandler(told, verifier=verifier(), tags=["answer"]) as handler:
        await chain.ainvoke("q", config={"callbacks": [handler]})
    assert [report.answer for report in told.reports] == [ANSWER]


async def test_verdicts_can_be_custom_events_and_the_last_is_not_lost():
    listener = Listener()
    chain = RunnableLambda(lambda value: value) | text_chain()
    async with GroundingCallbackHandler(verifier=verifier(), custom_events=True) as handler:
        config = {"callbacks": [handler, listener]}
        events = [e async for e in chain.astream_events("q", version="v2", config=config)]
    names = [event["name"] for event in events if event["event"] == "on_custom_event"]
    assert names == [VERDICT, VERDICT, VERDICT, REPORT]
    assert [data["label"] for data in listener.named(VERDICT)] == ["supported", "unsupported", "supported"]


async def test_custom_events_without_a_chain_are_refused():
    async with GroundingCallbackHandler(verifier=verifier(), custom_events=True) as handler:
        with pytest.raises(UsageError):
            await model().ainvoke("q", config={"callbacks": [handler]})


async def test_a_failed_check_is_raised_on_leaving_and_not_in_the_chain():
    strict = Verifier(ScriptedScorer(fail_on="900"), on_failure="raise")
    with pytest.raises(ScoringError):
        async with GroundingCallbackHandler(verifier=strict) as handler:
            assert await text_chain().ainvoke("q", config={"callbacks": [handler]}) == ANSWER


async def test_an_on_event_that_raises_is_heard():
    def broken(answer, event) -> None:
        raise KeyError("nobody at home")

    with pytest.raises(KeyError):
        async with GroundingCallbackHandler(broken, verifier=verifier()) as handler:
            assert await text_chain().ainvoke("q", config={"callbacks": [handler]}) == ANSWER
    with pytest.raises(ExceptionGroup) as caught:
        async with GroundingCallbackHandler(broken, verifier=verifier()) as handler:
            await text_chain(ANSWER, ANSWER).abatch(["a", "b"], config={"callbacks": [handler]})
    assert len(caught.value.exceptions) == 2


async def test_a_model_that_fails_is_told_once_by_the_chain():
    class Breaking(type(model())):
        async def _astream(self, *args, **kwargs):
            async for chunk in super()._astream(*args, **kwargs):
                yield chunk
            raise RuntimeError("the model broke")

    told, before = Told(), asyncio.all_tasks()
    async with GroundingCallbackHandler(told, verifier=verifier(), passages=DOCUMENTS) as handler:
        chat = Breaking(messages=iter([AIMessage(ANSWER)]))
        with pytest.raises(RuntimeError, match="the model broke"):
            [c async for c in chat.astream("q", config={"callbacks": [handler]})]
    assert told.reports[0].outcome == "failed"
    await no_task_left(before)


async def test_leaving_early_is_told_as_a_failed_answer_and_leaves_no_task():
    told, before = Told(), asyncio.all_tasks()
    async with GroundingCallbackHandler(told, verifier=verifier(), passages=DOCUMENTS) as handler:
        stream = model().astream("q", config={"callbacks": [handler]})
        async for _ in stream:
            break
        await stream.aclose()
    assert told.reports[0].outcome == "failed"
    await no_task_left(before)


async def test_an_error_in_the_block_stops_the_checks_at_once():
    before = asyncio.all_tasks()
    with pytest.raises(ZeroDivisionError):
        async with GroundingCallbackHandler(verifier=verifier(hang_on="capital")) as handler:
            await text_chain().ainvoke("q", config={"callbacks": [handler]})
            raise ZeroDivisionError
    with anyio.move_on_after(0.05) as scope:
        async with GroundingCallbackHandler(verifier=verifier(hang_on="capital")) as handler:
            await text_chain().ainvoke("q", config={"callbacks": [handler]})
    assert scope.cancelled_caught
    await no_task_left(before)


async def test_a_cancellation_in_the_middle_of_the_block_ends_everything():
    before = asyncio.all_tasks()
    with anyio.CancelScope() as scope:
        async with GroundingCallbackHandler(verifier=verifier(hang_on="capital")) as handler:
            await text_chain().ainvoke("q", config={"callbacks": [handler]})
            scope.cancel()
            await anyio.sleep_forever()
    assert scope.cancelled_caught
    await no_task_left(before)


async def test_it_must_be_entered_once():
    handler = GroundingCallbackHandler(verifier=verifier())
    with pytest.raises(StreamStateError):
        await text_chain().ainvoke("q", config={"callbacks": [handler]})
    async with handler:
        pass
    with pytest.raises(StreamStateError):
        async with handler:
            pass
    with pytest.raises(StreamStateError):
        await text_chain().ainvoke("q", config={"callbacks": [handler]})


def test_with_checks_invoke_stream_and_batch_where_there_is_no_event_loop():
    told, scorer = Told(), ScriptedScorer(SCRIPT)
    chain = text_chain(*[ANSWER] * 4)
    with GroundingCallbackHandler(told, verifier=Verifier(scorer)) as handler:
        config = {"callbacks": [handler]}
        assert chain.invoke("q", config=config) == ANSWER
        assert "".join(chain.stream("q", config=config)) == ANSWER
        assert chain.batch(["a", "b"], config=config) == [ANSWER] * 2
    assert [report.answer for report in told.reports] == [ANSWER] * 4
    assert sorted(told.labels) == sorted(LABELS * 4)
    assert len({answer.root for answer, _ in told.events}) == 4
    found = tuple(document.page_content for document in DOCUMENTS)
    assert scorer.prepared == [found] * 4  # what each call retrieved, and nothing of the others


def test_with_waits_for_the_last_verdict_and_after_an_error_for_none():
    told = Told()
    with GroundingCallbackHandler(told, verifier=verifier()) as handler:
        text_chain().invoke("q", config={"callbacks": [handler]})
    assert told.labels == LABELS
    hanging = GroundingCallbackHandler(told, verifier=verifier(hang_on="capital"))
    with pytest.raises(ZeroDivisionError), hanging:
        text_chain().invoke("q", config={"callbacks": [hanging]})
        raise ZeroDivisionError


def test_with_raises_what_went_wrong_in_a_check_or_a_callback_when_it_is_left():
    def broken(answer, event) -> None:
        raise KeyError("nobody at home")

    strict = Verifier(ScriptedScorer(fail_on="900"), on_failure="raise")
    with pytest.raises(ScoringError), GroundingCallbackHandler(verifier=strict) as handler:
        assert text_chain().invoke("q", config={"callbacks": [handler]}) == ANSWER
    with pytest.raises(KeyError), GroundingCallbackHandler(broken, verifier=verifier()) as handler:
        assert text_chain().invoke("q", config={"callbacks": [handler]}) == ANSWER


def test_with_is_entered_once_and_what_comes_after_it_is_refused_not_left_unchecked():
    handler = GroundingCallbackHandler(verifier=verifier())
    with pytest.raises(StreamStateError):
        text_chain().invoke("q", config={"callbacks": [handler]})
    with handler:
        pass
    with pytest.raises(StreamStateError), handler:
        pass
    with pytest.raises(StreamStateError, match="was left"):
        text_chain().invoke("q", config={"callbacks": [handler]})


def test_with_custom_events_and_no_event_loop_is_refused_and_not_only_logged():
    with (
        pytest.raises(UsageError, match="asynchronously"),
        GroundingCallbackHandler(verifier=verifier(), custom_events=True) as handler,
    ):
        text_chain().invoke("q", config={"callbacks": [handler]})
