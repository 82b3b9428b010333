"""What a chat engine's memory keeps of a verified answer, with every engine and both kinds of memory."""

from __future__ import annotations

import pytest
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, MessageRole
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.chat_engine.types import AgentChatResponse, BaseChatEngine
from llama_index.core.memory import ChatMemoryBuffer, Memory

from streamverify import Flag, Halt, Label, Redact, Repair, ScoringError, Verifier
from streamverify.testing import ScriptedScorer
from streamverify_llamaindex import VerifyingChatEngine
from streamverify_llamaindex.memory import Held
from tests.integrations.llamaindex_fakes import ANSWER, SHOWN, Nodes, query_engine, scripted, verifier

pytestmark = pytest.mark.anyio


class Noted(ChatMemoryBuffer):
    """Remembers everything it was ever given."""

    def put(self, message):
        WRITTEN.append(message.content)
        super().put(message)

    async def aput(self, message):
        WRITTEN.append(message.content)
        await super().aput(message)


WRITTEN: list[str] = []


@pytest.fixture(autouse=True)
def nothing_written():
    WRITTEN.clear()


def buffer():
    return Noted.from_defaults(token_limit=100_000, tokenizer_fn=str.split)


def store():
    return Memory.from_defaults(token_limit=100_000, tokenizer_fn=str.split)


def context(llm, memory, **_):
    return ContextChatEngine.from_defaults(retriever=Nodes(), llm=llm, memory=memory)


def condense_plus_context(llm, memory, **_):
    return CondensePlusContextChatEngine.from_defaults(retriever=Nodes(), llm=llm, memory=memory)


def condense_question(llm, memory, *, streaming):
    inner = query_engine(llm, streaming=streaming)
    return CondenseQuestionChatEngine.from_defaults(query_engine=inner, llm=llm, memory=memory)


def simple(llm, memory, **_):
    return SimpleChatEngine.from_defaults(llm=llm, memory=memory)


async def ask(engine, way, message="capital?"):
    match way:
        case "chat":
            return engine.chat(message).response
        case "achat":
            return (await engine.achat(message)).response
        case "stream":
            return "".join(engine.stream_chat(message).response_gen)
        case _:
            response = await engine.astream_chat(message)
            return "".join([piece async for piece in response.async_response_gen()])


WAYS = ["chat", "achat", "stream", "astream"]
ENGINES = [context, condense_plus_context, condense_question, simple]


# The newer memory's synchronous calls refuse to run where a loop runs.
@pytest.mark.parametrize(
    ("memory", "way"), [*((buffer, way) for way in WAYS), (store, "achat"), (store, "astream")]
)
async def test_the_memory_keeps_what_was_released_and_is_never_given_more(way, memory):
    kept = memory()
    engine = VerifyingChatEngine(context(scripted(), kept), verifier=verifier(Redact()))
    assert await ask(engine, way) == SHOWN
    assert [(message.role, message.content) for message in await kept.aget_all()] == [
        (MessageRole.USER, "capital?"),
        (MessageRole.ASSISTANT, SHOWN),
    ]
    assert not any("900" in text for text in WRITTEN)
    if memory is store:
        await kept.sql_store._async_engine.dispose()  # LlamaIndex leaves it to the garbage collector


@pytest.mark.parametrize("make", ENGINES)
@pytest.mark.parametrize("way", WAYS)
async def test_every_engine_of_the_framework_keeps_to_it(make, way):
    kept = buffer()
    # The simple engine has no sources, so that nothing it says can be verified.
    policy = Redact(labels=frozenset({Label.UNSUPPORTED, Label.UNVERIFIED}))
    inner = make(scripted(), kept, streaming="stream" in way)
    engine = VerifyingChatEngine(inner, verifier=verifier(policy))
    shown = await ask(engine, way)
    assert (shown == SHOWN) == (make is not simple)
    # Rejected neighbours leave one placeholder and the blank after it, which the memory takes off.
    assert [message.content for message in engine.chat_history] == ["capital?", shown.rstrip()]
    assert not any("900" in text for text in WRITTEN)
    engine.reset()
    assert engine.chat_history == kept.get_all() == []


async def test_the_model_is_shown_what_was_released_in_the_next_turn():
    asked = []

    class Asked(type(scripted())):
        def stream_complete(self, prompt, formatted=False, **options):
            asked.append(prompt)
            return super().stream_complete(prompt, formatted, **options)

    llm = Asked(said=[], ended=None)
    engine = VerifyingChatEngine(context(llm, buffer()), verifier=verifier(Redact()))
    for _ in range(2):
        await ask(engine, "stream")
    assert "900" not in asked[1]
    assert "[statement removed]" in asked[1]


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        (Flag(), ANSWER),
        (Halt(labels=frozenset({Label.UNSUPPORTED})), "Paris is the capital."),
        (Halt(labels=frozenset({Label.SUPPORTED})), None),
    ],
)
@pytest.mark.parametrize("way", WAYS)
async def test_every_policy_s_answer_is_kept_as_it_was_released(policy, kept, way):
    engine = VerifyingChatEngine(context(scripted(), buffer()), verifier=verifier(policy))
    await ask(engine, way)
    expected = ["capital?"] if kept is None else ["capital?", kept]
    assert [message.content for message in engine.chat_history] == expected


async def test_a_repaired_answer_is_kept_repaired():
    async def rewrite(_request):
        return "It has many people."

    engine = VerifyingChatEngine(context(scripted(), buffer()), verifier=verifier(Repair(rewrite)))
    shown = await ask(engine, "astream")
    assert "many people" in shown
    assert engine.chat_history[-1].content == shown


@pytest.mark.parametrize("way", ["stream", "astream"])
async def test_a_reader_who_leaves_early_leaves_nothing_raw_behind(way):
    engine = VerifyingChatEngine(context(scripted(), buffer()), verifier=verifier(Redact()))
    if way == "stream":
        response = engine.stream_chat("capital?")
        first = next(response.chat_stream).delta
        response.chat_stream.close()
    else:
        response = await engine.astream_chat("capital?")
        first = (await anext(response.achat_stream)).delta
        await response.achat_stream.aclose()
    assert [message.content for message in engine.chat_history][1:] in ([], [first.strip()])
    assert not any("900" in text for text in WRITTEN)


@pytest.mark.parametrize("way", WAYS)
async def test_an_answer_whose_check_failed_is_not_kept_raw(way):
    failing = Verifier(ScriptedScorer(fail_on="900"), policy=Redact(), on_failure="raise")
    engine = VerifyingChatEngine(context(scripted(), buffer()), verifier=failing)
    with pytest.raises(ScoringError):
        await ask(engine, way)
    assert not any("900" in text for text in WRITTEN)


async def test_an_engine_that_keeps_its_conversation_elsewhere_is_left_alone():
    class Elsewhere(BaseChatEngine):
        """Has no memory of LlamaIndex's."""

        history: list[ChatMessage] = []  # noqa: RUF012 - one engine in one test

        def reset(self):
            self.history.clear()

        def chat(self, message, chat_history=None):
            self.history.append(ChatMessage(ANSWER, role="assistant"))
            return AgentChatResponse(ANSWER, source_nodes=Nodes().retrieve("q"))

        achat = stream_chat = astream_chat = None

        @property
        def chat_history(self):
            return self.history

    inner = Elsewhere()
    engine = VerifyingChatEngine(inner, verifier=verifier(Redact()))
    assert engine.chat("capital?").response == SHOWN
    assert [message.content for message in engine.chat_history] == [ANSWER]


def test_the_inner_engine_is_not_touched():
    kept = buffer()
    inner = context(scripted(), kept)
    VerifyingChatEngine(inner, verifier=verifier(Redact())).chat("capital?")
    assert vars(inner)["_memory"] is kept
    inner.chat("capital?")
    assert kept.get_all()[-1].content == ANSWER


async def test_what_is_not_text_of_the_answer_is_kept_and_written_at_once():
    for late in (False, True):
        kept = buffer()
        held = Held(kept)
        said = ChatMessage(
            role="assistant",
            blocks=[
                ImageBlock(url="http://127.0.0.1/a.png", image_mimetype="image/png"),
                *_text("It has 900."),
            ],
        )
        if late:
            held.settle("It has [removed].")
        await held.aput_messages([ChatMessage("q", role="user"), ChatMessage(role="assistant"), said])
        if not late:
            assert [m.role for m in kept.get_all()] == ["user", "assistant"]
            await held.asettle("It has [removed].")
        last = kept.get_all()[-1]
        assert (last.content, [b.block_type for b in last.blocks]) == (
            "It has [removed].",
            ["text", "image"],
        )
        held.put_messages([ChatMessage("again", role="user")])
        assert held.get_all()[-1].content == "again"


def _text(text):
    return ChatMessage(text).blocks
