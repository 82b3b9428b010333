"""Query engines of LlamaIndex, verified, with a scripted model."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
from pathlib import Path

import anyio
import pytest
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.callbacks import CallbackManager
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index_instrumentation import get_dispatcher
from pydantic import BaseModel
from workflows import Context, Workflow, step
from workflows.events import StartEvent, StopEvent

from streamverify import (
    Cascade,
    CitationFinding,
    Flag,
    Halt,
    Label,
    Redact,
    ScoringError,
    SentenceJudged,
    StreamStateError,
    UsageError,
    Verifier,
)
from streamverify.testing import ScriptedScorer
from streamverify_llamaindex import (
    AnswerChecked,
    GroundingEventHandler,
    SentenceChecked,
    SentenceVerdictEvent,
    VerifyingQueryEngine,
    verdicts_to,
    verification,
)
from tests.integrations.llamaindex_fakes import ANSWER, SHOWN, Nodes, query_engine, scripted, verifier

pytestmark = pytest.mark.anyio


class Canned(BaseQueryEngine):
    """Gives the response it was made with."""

    def __init__(self, response) -> None:
        super().__init__(callback_manager=CallbackManager([]))
        self.response = response

    def _get_prompt_modules(self):
        return {}

    def _query(self, query_bundle: QueryBundle):
        return self.response

    async def _aquery(self, query_bundle: QueryBundle):
        return self.response


async def no_task_left() -> None:
    """Waits until nothing but the test runs."""
    with anyio.fail_after(60):
        while any(task.get_name().startswith("streamverify") for task in asyncio.all_tasks()):
            await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize(("policy", "shown"), [(Flag(), ANSWER), (Redact(), SHOWN)])
def test_a_response_keeps_its_type_and_its_nodes(policy, shown):
    engine = VerifyingQueryEngine(query_engine(scripted(), streaming=False), verifier=verifier(policy))
    response = engine.query("capital?")
    assert type(response) is Response
    assert response.response == shown
    assert [node.node.node_id for node in response.source_nodes] == ["n1", "n2"]
    assert verification(response).report.counts[Label.UNSUPPORTED] == 1


async def test_a_response_of_an_asynchronous_query_too():
    engine = VerifyingQueryEngine(query_engine(scripted(), streaming=False), verifier=verifier(Redact()))
    response = await engine.aquery("capital?")
    assert type(response) is Response
    assert response.response == SHOWN
    assert verification(response).report.answer == ANSWER


@pytest.mark.parametrize(("policy", "shown"), [(Flag(), ANSWER), (Redact(), SHOWN)])
def test_a_stream_is_verified_while_it_is_read(policy, shown):
    engine = VerifyingQueryEngine(query_engine(scripted(), streaming=True), verifier=verifier(policy))
    response = engine.query("capital?")
    assert type(response) is StreamingResponse
    with pytest.raises(StreamStateError):
        _ = verification(response).report
    assert "".join(response.response_gen) == shown
    assert verification(response).report.released == shown


@pytest.mark.parametrize(("policy", "shown"), [(Flag(), ANSWER), (Redact(), SHOWN)])
async def test_an_asynchronous_stream_is_verified_while_it_is_read(policy, shown):
    engine = VerifyingQueryEngine(query_engine(scripted(), streaming=True), verifier=verifier(policy))
    response = await engine.aquery("capital?")
    assert type(response) is AsyncStreamingResponse
    assert "".join([piece async for piece in response.async_response_gen()]) == shown
    assert (await response.get_response()).response == shown
    await no_task_left()


def test_flowing_text_comes_in_the_pieces_of_the_model():
    llm = scripted()
    engine = VerifyingQueryEngine(query_engine(llm, streaming=True), verifier=verifier(Flag()))
    assert list(engine.query("capital?").response_gen) == llm.said


async def test_halt_ends_the_answer_and_the_model():
    llm = scripted(text=ANSWER + " And on it goes." * 5000)
    policy = Halt(labels=frozenset({Label.UNSUPPORTED}))
    engine = VerifyingQueryEngine(query_engine(llm, streaming=True), verifier=verifier(policy))
    response = await engine.aquery("capital?")
    assert "900" not in "".join([piece async for piece in response.async_response_gen()])
    assert verification(response).report.outcome == "halted"
    assert len(llm.said) < 10_000
    await no_task_left()


class Facts(BaseModel):
    city: str
    claim: str
    people: int | None = None


@pytest.mark.parametrize("run", ["sync", "async"])
async def test_the_strings_of_a_structured_response_are_checked_one_by_one(run):
    given = PydanticResponse(Facts(city="Paris", claim="It has 900 people."), Nodes().retrieve("x"))
    engine = VerifyingQueryEngine(Canned(given), verifier=verifier(Redact()))
    response = engine.query("x") if run == "sync" else await engine.aquery("x")
    assert type(response) is PydanticResponse
    assert response.response == Facts(city="Paris", claim="[statement removed]")
    assert verification(response).reports["claim"].counts[Label.UNSUPPORTED] == 1
    assert given.response.claim == "It has 900 people."


def test_a_field_that_nobody_can_verify_is_refused_where_text_is_held():
    given = PydanticResponse(Facts(city="Paris", claim="It is old.", people=900), Nodes().retrieve("x"))
    with pytest.raises(UsageError, match="'people'"):
        VerifyingQueryEngine(Canned(given), verifier=verifier(Redact())).query("x")
    flows = VerifyingQueryEngine(Canned(given), verifier=verifier()).query("x")
    assert flows.response.people == 900


@pytest.mark.parametrize("response", [Response(None), Response(""), PydanticResponse(None)])
def test_a_response_without_text_passes(response):
    found = VerifyingQueryEngine(Canned(response), verifier=verifier()).query("x")
    assert found == response
    assert verification(found).reports == {}


async def test_synthesis_from_given_nodes_is_verified_too():
    nodes = Nodes().retrieve("x")
    engine = VerifyingQueryEngine(query_engine(scripted(), streaming=False), verifier=verifier(Redact()))
    assert engine.retrieve(QueryBundle("x")) == nodes
    assert str(engine.synthesize(QueryBundle("x"), nodes)) == SHOWN
    assert str(await engine.asynthesize(QueryBundle("x"), nodes)) == SHOWN


def test_a_marker_means_the_source_of_that_number():
    llm = scripted(text="Paris is the capital [1]. The river is the Seine [2]. It is old [7].")
    synthesizer = get_response_synthesizer(llm=llm, streaming=True)
    inner = CitationQueryEngine(retriever=Nodes(), llm=llm, response_synthesizer=synthesizer)
    response = VerifyingQueryEngine(inner, verifier=verifier()).query("capital?")
    "".join(response.response_gen)
    assert response.source_nodes[0].node.get_content().startswith("Source 1:\n")
    report = verification(response).report
    ids = [node.node.node_id for node in response.source_nodes]
    cited = [citation for sentence in report.sentences for citation in sentence.citations]
    assert [citation.passages for citation in cited] == [(ids[0],), (ids[1],), ()]
    assert cited[2].finding is CitationFinding.FABRICATED
    [evidence, *_] = report.sentences[0].evidence
    assert evidence.text == "Paris is the capital of France."


def test_a_node_that_comes_again_keeps_its_number():
    node = NodeWithScore(node=TextNode(id_="n", text="Paris is the capital."))
    other = NodeWithScore(node=TextNode(id_="m", text="The river is the Seine."))
    given = Response("The river is the Seine [3].", [node, node, other])
    response = VerifyingQueryEngine(Canned(given), verifier=verifier()).query("x")
    assert verification(response).report.sentences[0].citations[0].passages == ("m",)


async def test_leaving_early_ends_the_model_and_every_task():
    llm = scripted(text=ANSWER + " And on it goes." * 5000)
    engine = VerifyingQueryEngine(query_engine(llm, streaming=True), verifier=verifier(Redact()))
    response = await engine.aquery("capital?")
    async for _ in response.response_gen:
        break
    await response.response_gen.aclose()
    await no_task_left()
    assert len(llm.said) < 10_000


async def test_a_stream_that_is_forgotten_ends_by_itself():
    engine = VerifyingQueryEngine(query_engine(scripted(), streaming=True), verifier=verifier(Redact()))
    async for _ in (await engine.aquery("capital?")).async_response_gen():
        break
    gc.collect()
    await no_task_left()


def test_closing_a_synchronous_stream_ends_the_model():
    llm = scripted(text=ANSWER + " And on it goes." * 5000)
    engine = VerifyingQueryEngine(query_engine(llm, streaming=True), verifier=verifier(Redact()))
    pieces = engine.query("capital?").response_gen
    next(pieces)
    pieces.close()
    assert llm.ended.wait(60)
    assert len(llm.said) < 10_000


async def test_cancelling_the_reader_leaves_no_task():
    engine = VerifyingQueryEngine(
        query_engine(scripted(), streaming=True),
        verifier=verifier(Redact(), hang_on="capital"),
    )
    response = await engine.aquery("capital?")
    with anyio.move_on_after(0.05) as scope:
        async for _ in response.async_response_gen():
            pass
    assert scope.cancelled_caught
    await no_task_left()


@pytest.mark.parametrize("policy", [Flag(), Redact()])
async def test_an_error_of_the_model_arrives_as_itself(policy):
    llm = scripted(error=True)
    engine = VerifyingQueryEngine(query_engine(llm, streaming=True), verifier=verifier(policy))
    response = await engine.aquery("capital?")
    shown = []
    with pytest.raises(RuntimeError, match="the model broke"):
        async for piece in response.async_response_gen():
            shown.append(piece)
    assert shown
    assert verification(response).report.outcome == "failed"
    with pytest.raises(RuntimeError, match="the model broke"):
        list(engine.query("capital?").response_gen)
    await no_task_left()


async def test_a_check_that_fails_is_told_as_the_verifier_says():
    strict = Verifier(ScriptedScorer(fail_on="900"), on_failure="raise")
    engine = VerifyingQueryEngine(query_engine(scripted(), streaming=False), verifier=strict)
    with pytest.raises(ScoringError):
        await engine.aquery("capital?")
    lenient = VerifyingQueryEngine(
        query_engine(scripted(), streaming=False), verifier=verifier(fail_on="900")
    )
    report = verification(await lenient.aquery("capital?")).report
    assert report.counts[Label.UNVERIFIED] == 1


def test_events_are_told_in_order_and_telemetry_counts_them():
    events, told = [], []
    handler = GroundingEventHandler(told.append)
    dispatcher = get_dispatcher()
    dispatcher.add_event_handler(handler)
    try:
        inner = query_engine(scripted(), streaming=True)
        response = VerifyingQueryEngine(inner, verifier=verifier(), on_event=events.append).query("capital?")
        "".join(response.response_gen)
    finally:
        dispatcher.event_handlers.remove(handler)
    assert [event.seq for event in events] == list(range(len(events)))
    assert [event.index for event in events if isinstance(event, SentenceJudged)] == [0, 1, 2]
    assert [type(event) for event in told] == [SentenceChecked] * 3 + [AnswerChecked]
    assert told[1].text.startswith("It has 900 people.")
    assert handler.labels[Label.SUPPORTED] == 2
    assert handler.labels[Label.UNSUPPORTED] == 1
    assert handler.outcomes == {"finished": 1}


def test_a_second_scorers_verdict_is_told_again_and_counted_once():
    def unsure(claim, passages):
        return 0.4

    told = []
    handler = GroundingEventHandler(told.append)
    dispatcher = get_dispatcher()
    dispatcher.add_event_handler(handler)
    try:
        with Verifier(Cascade(unsure, ScriptedScorer(), band=(0, 1))) as used:
            inner = query_engine(scripted(), streaming=True)
            "".join(VerifyingQueryEngine(inner, verifier=used).query("capital?").response_gen)
    finally:
        dispatcher.event_handlers.remove(handler)
    checked = [event for event in told if isinstance(event, SentenceChecked)]
    both = [("unsupported", True), ("supported", False)]
    for index in range(3):
        mine = [(one.label, one.provisional) for one in checked if one.index == index]
        # Verdicts are told in the order of the text: where the last word is there when a sentence's turn
        # comes, nothing is provisional any more.
        assert mine == both or (index > 0 and mine == both[1:])
    assert handler.labels[Label.SUPPORTED] == 3
    assert handler.labels[Label.UNSUPPORTED] == 0


class Answering(Workflow):
    @step
    async def answer(self, context: Context, event: StartEvent) -> StopEvent:
        inner = query_engine(scripted(), streaming=True)
        engine = VerifyingQueryEngine(inner, verifier=verifier(Redact()), on_event=verdicts_to(context))
        response = await engine.aquery("capital?")
        return StopEvent(result="".join([piece async for piece in response.async_response_gen()]))


async def test_a_workflow_streams_the_verdicts():
    run = Answering().run()
    verdicts = [event async for event in run.stream_events() if isinstance(event, SentenceVerdictEvent)]
    assert [(event.index, event.label) for event in verdicts] == [
        (0, "supported"),
        (1, "unsupported"),
        (2, "supported"),
    ]
    assert ANSWER[verdicts[1].start : verdicts[1].end] == "It has 900 people. "
    assert verdicts[1].text == "\u2588" * len("It has 900 people. ")
    assert verdicts[0].evidence == ["n1", "n2"]
    assert await run == SHOWN


def test_a_response_of_another_engine_has_no_verification():
    with pytest.raises(UsageError):
        verification(Response("Yes."))


def test_without_the_framework_the_pip_command_is_told():
    """A fresh interpreter in which `llama_index` cannot be imported."""
    code = (
        "import sys; sys.modules['llama_index'] = None\n"
        "try:\n import streamverify_llamaindex\n"
        "except ImportError as error:\n print(type(error).__name__, error)"
    )
    root = Path(__file__).parents[2]
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=root,
        env={"PYTHONPATH": f"{root}:{root / 'integrations'}"},
    )
    assert found.stdout.startswith("MissingExtraError ")
    assert "pip install 'streamverify[llamaindex]'" in found.stdout


@pytest.mark.model
async def test_the_embedded_model_finds_the_wrong_number():
    nodes = [
        NodeWithScore(
            node=TextNode(id_="t", text="The Eiffel Tower was completed in 1889 and is 330 m tall.")
        )
    ]
    given = Response("The Eiffel Tower was completed in 1889. It is 450 m tall.", nodes)
    async with Verifier(policy=Redact()) as embedded:
        response = await VerifyingQueryEngine(Canned(given), verifier=embedded).aquery("How tall?")
    assert response.response.startswith("The Eiffel Tower was completed in 1889.")
    assert "450" not in response.response


def test_threads_end_with_the_verifier():
    before = set(threading.enumerate())
    with verifier(Redact()) as used:
        engine = VerifyingQueryEngine(query_engine(scripted(), streaming=True), verifier=used)
        "".join(engine.query("capital?").response_gen)
    assert not [t for t in set(threading.enumerate()) - before if t.name == "streamverify-portal"]
