from __future__ import annotations

import contextvars
import gc
import inspect
import threading

import anyio
import pytest

from streamverify.decorator import CheckedAnswer, VerifiedPieces, VerifiedSyncPieces, verified
from streamverify.errors import StreamStateError, UsageError
from streamverify.events import SentenceJudged, StreamFinished
from streamverify.policy import Redact
from streamverify.streaming.retrieval import retrieved
from streamverify.testing import ScriptedScorer
from streamverify.types import Label, Passage
from streamverify.verifier import Verifier

PASSAGES = [Passage("p1", "The mill was built in 1804 and has two wheels.")]
TEXT = "The mill is old. The wrong part. It grinds."
PARTS = ["The mill is ", "old. The wrong", " part. It grinds."]


@pytest.fixture
def verifier():
    with Verifier(ScriptedScorer({"wrong": Label.CONTRADICTED})) as made:
        yield made


@pytest.mark.anyio
async def test_an_async_generator_is_iterated_as_before_and_offers_a_report(verifier):
    @verified(passages="docs", verifier=verifier)
    async def answer(question: str, docs: list[Passage], *, extra: int = 1):
        """What it says."""
        for part in PARTS:
            await anyio.lowlevel.checkpoint()
            yield part

    assert (answer.__name__, answer.__doc__) == ("answer", "What it says.")
    assert list(inspect.signature(answer).parameters) == ["question", "docs", "extra"]
    result = answer("q", PASSAGES)
    assert isinstance(result, VerifiedPieces)
    with pytest.raises(StreamStateError):
        _ = result.report
    assert [piece async for piece in result] == PARTS
    assert result.report.counts[Label.CONTRADICTED] == 1


HOLDING = ["redact", Redact(), "halt"]


@pytest.mark.anyio
@pytest.mark.parametrize("policy", ["redact", Redact()])
async def test_a_policy_by_its_word_holds_as_its_object_does(policy, verifier):
    @verified(policy=policy, passages="docs", verifier=verifier)
    async def answer(docs):
        for part in PARTS:
            yield part

    shown = [piece async for piece in answer(PASSAGES)]
    assert "".join(shown) == "The mill is old. [statement removed] It grinds."

    @verified(policy=policy, passages="docs", verifier=verifier)
    def whole(docs):
        return TEXT

    assert whole(PASSAGES) == "The mill is old. [statement removed] It grinds."


@pytest.mark.anyio
@pytest.mark.parametrize("policy", HOLDING)
async def test_where_retrieved_was_forgotten_a_policy_that_holds_shows_nothing_and_says_why(policy, caplog):
    with Verifier(ScriptedScorer()) as made:

        @verified(policy=policy, verifier=made)
        async def answer(question):
            for part in PARTS:
                yield part

        stream = answer("q")
        shown = "".join([piece async for piece in stream])
        assert not {"mill", "wrong", "grinds"} & set(shown.replace(".", " ").split())
        [warning] = stream.report.warnings
        assert "(no_passages)" in warning
        assert [record.getMessage() for record in caplog.records] == [warning]

        @verified(policy=policy, verifier=made)
        async def told(question):
            retrieved(PASSAGES)
            yield "The mill is old."

        assert "".join([piece async for piece in told("q")]) == "The mill is old."


@pytest.mark.anyio
async def test_events_take_the_place_of_pieces(verifier):
    @verified(passages="docs", verifier=verifier)
    async def answer(docs):
        for part in PARTS:
            yield part

    events = [event async for event in answer(PASSAGES).events()]
    assert isinstance(events[-1], StreamFinished)
    assert sum(isinstance(event, SentenceJudged) for event in events) == 3


@pytest.mark.anyio
async def test_what_a_policy_holds_back_is_not_iterated(verifier):
    @verified(passages="docs", policy=Redact(placeholder="□"), verifier=verifier)
    async def answer(docs):
        for part in PARTS:
            yield part

    assert "".join([piece async for piece in answer(PASSAGES)]) == "The mill is old. □ It grinds."


@pytest.mark.anyio
async def test_a_coroutine_that_returned_text_returns_a_checked_answer(verifier):
    @verified(verifier=verifier)
    async def answer(question: str) -> str:
        retrieved(PASSAGES)
        return TEXT

    checked = await answer("q")
    assert isinstance(checked, CheckedAnswer)
    assert (checked.text, str(checked)) == (TEXT, TEXT)
    assert checked.report.counts[Label.CONTRADICTED] == 1


@pytest.mark.anyio
async def test_functions_that_return_iterators_are_streams(verifier):
    async def inner():
        for part in PARTS:
            yield part

    @verified(passages="docs", verifier=verifier)
    def plain(docs):
        return inner()

    @verified(verifier=verifier)
    async def later():
        retrieved(PASSAGES)
        return inner()

    assert [piece async for piece in plain(PASSAGES)] == PARTS
    result = await later()
    assert [piece async for piece in result] == PARTS
    assert result.report.counts[Label.SUPPORTED] == 2


@pytest.mark.anyio
async def test_a_break_ends_the_generator_as_it_would_undecorated(verifier):
    closed = anyio.Event()

    @verified(passages="docs", verifier=verifier)
    async def answer(docs):
        try:
            for part in PARTS:
                yield part
            await anyio.sleep_forever()
        finally:
            closed.set()

    async for _ in answer(PASSAGES):
        break
    gc.collect()
    with anyio.fail_after(60):
        await closed.wait()


@pytest.mark.anyio
async def test_an_error_of_the_function_is_its_own(verifier):
    @verified(passages="docs", verifier=verifier)
    async def answer(docs):
        yield PARTS[0]
        raise KeyError("mine")

    result = answer(PASSAGES)
    got = []
    with pytest.raises(KeyError, match="mine"):
        async for piece in result:
            got.append(piece)
    assert got == [PARTS[0]]
    assert result.report.outcome == "failed"


@pytest.mark.anyio
async def test_closing_stops_the_function(verifier):
    closed = anyio.Event()

    @verified(passages="docs", verifier=verifier)
    async def answer(docs):
        try:
            while True:
                yield "word "
        finally:
            closed.set()

    result = answer(PASSAGES)
    await anext(result)
    await result.aclose()
    assert closed.is_set()


@pytest.mark.anyio
async def test_a_closed_answer_gives_nothing_more_and_never_begins_anew(verifier):
    begun = []

    @verified(passages="docs", verifier=verifier)
    async def answer(docs):
        begun.append(docs)
        for part in PARTS:
            yield part

    result = answer(PASSAGES)
    assert await anext(result) == PARTS[0]
    while len([thread for thread in threading.enumerate() if "score" in thread.name]) == 0:
        await anyio.lowlevel.checkpoint()  # more is there by now than was asked for
    await result.aclose()
    assert [piece async for piece in result] == []
    assert [event async for event in result.events()] == []
    assert result.report.outcome == "failed"
    unread = answer(PASSAGES)
    await unread.aclose()
    assert [piece async for piece in unread] == []
    assert len(begun) == 1


def test_a_closed_generator_gives_nothing_more_without_a_loop(verifier):
    @verified(passages="docs", verifier=verifier)
    def answer(docs):
        yield from PARTS

    result = answer(PASSAGES)
    assert next(result) == PARTS[0]
    result.close()
    assert list(result) == []
    assert list(result.events()) == []


@pytest.mark.anyio
async def test_a_second_reader_of_an_answer_is_refused_and_the_first_reads_on(verifier):
    going = anyio.Event()

    @verified(passages="docs", verifier=verifier)
    async def answer(docs):
        await going.wait()
        for part in PARTS:
            yield part

    result, got = answer(PASSAGES), []

    async def read():
        got.extend([piece async for piece in result])

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(StreamStateError, match="one reader at a time"):
            await anext(result)
        going.set()
    assert got == PARTS


def test_a_generator_is_iterated_as_before_without_a_loop(verifier):
    variable = contextvars.ContextVar("variable")
    variable.set("caller's")

    @verified(verifier=verifier)
    def answer(question: str):
        retrieved(PASSAGES)
        assert variable.get() == "caller's"
        yield from PARTS

    result = answer("q")
    assert isinstance(result, VerifiedSyncPieces)
    assert list(result) == PARTS
    assert result.report.counts[Label.CONTRADICTED] == 1
    assert [event.seq for event in answer("q").events()][:2] == [0, 1]


def test_a_plain_function_returns_a_checked_answer(verifier):
    @verified(passages="docs", verifier=verifier)
    def answer(docs) -> str:
        return TEXT

    assert answer(PASSAGES).report.counts[Label.SUPPORTED] == 2


def test_a_break_ends_a_generator_without_a_loop(verifier):
    closed = threading.Event()

    @verified(passages="docs", verifier=verifier)
    def answer(docs):
        try:
            while True:
                yield "word "
        finally:
            closed.set()

    for _ in answer(PASSAGES):
        break
    gc.collect()
    assert closed.wait(60)


def test_several_threads_use_one_verifier(verifier):
    @verified(passages="docs", verifier=verifier)
    def answer(docs) -> str:
        return TEXT

    reports = []
    threads = [threading.Thread(target=lambda: reports.append(answer(PASSAGES).report)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [report.counts[Label.SUPPORTED] for report in reports] == [2] * 8


def test_a_parameter_that_is_not_there_is_refused_when_decorating():
    with pytest.raises(UsageError, match="no parameter 'docs'.*question"):

        @verified(passages="docs")
        def answer(question: str) -> str:
            return question


@pytest.mark.parametrize("value", [7, None, b"x", {"a": 1}])
def test_a_function_that_returns_no_text_is_refused(verifier, value):
    @verified(verifier=verifier)
    def answer():
        return value

    with pytest.raises(UsageError, match="must return str or an iterator"):
        answer()


def test_the_decorator_without_parentheses_and_with_an_unknown_policy_is_refused_at_once():
    with pytest.raises(UsageError, match=r"@verified\(\)"):

        @verified
        def bare(question: str) -> str: ...

    with pytest.raises(UsageError, match="choose from"):
        verified(policy="zap")


@pytest.mark.parametrize("kind", [classmethod, staticmethod])
def test_a_decorator_above_a_kind_of_method_is_refused_with_where_it_goes(kind):
    def answer(question):
        yield "It is so."

    with pytest.raises(UsageError, match=rf"below @{kind.__name__}"):
        verified()(kind(answer))
    assert callable(kind(verified()(answer)).__func__)
