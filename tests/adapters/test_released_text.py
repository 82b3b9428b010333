"""What the clients of a relayed stream get is what its report says was shown, on both loops."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify import (
    Annotate,
    Flag,
    Halt,
    Passage,
    Redact,
    Repair,
    StreamInterruptedError,
    UsageError,
    Verifier,
)
from streamverify.adapters import multiplexer
from streamverify.adapters.chunks import VerifiedChunks
from streamverify.adapters.translator import PassThrough, TextDelta, TextEnd
from streamverify.pii.policy import RedactPii
from streamverify.policy import Decision
from streamverify.showing.releases import Release
from streamverify.testing import pieces, stream_of
from streamverify.types import Action, Span

PASSAGES = [
    Passage("p1", "The tower is 330 metres tall. Anna Miller lives in Paris. Mail anna@example.org now.")
]


async def rewrite(request):
    return "The tower is 330 metres tall."


@dataclass(frozen=True)
class Written:
    """Writes between the sentences, before, behind and in them, at places of no width."""

    name: str = "written"
    holds_text: bool = True

    def holds(self, sentence):
        return True

    def decide(self, sentence, verdict, tally):
        start, end = sentence.span
        middle = (start + end) // 2
        parts = [
            ("<", start, start),
            (sentence.text[: middle - start], start, middle),
            ("|", middle, middle),
            (sentence.text[middle - start :], middle, end),
            (">", end, end),
            (">", end, end),
        ]
        releases = tuple(Release(text, Span(at, to), Action.RELEASE) for text, at, to in parts)
        return Decision(Action.RELEASE, releases)


POLICIES = [
    Annotate(),
    Annotate(Redact()),
    Redact(),
    Redact(scope="span"),
    Repair(rewrite),
    Halt(max_ungrounded=2),
    RedactPii(Annotate()),
    RedactPii(Redact()),
    Written(),
]
WHOLE = "The tower is 330 metres tall"
SENTENCES = [
    "The tower is 330 metres tall. ",
    "The moon is made of 17 cheeses. ",
    "Anna Miller lives in Paris [1].\n\n",
    "- Mail anna@example.org now.\n",
    "**Bold claim about 99 dogs.** ",
    "東京は大きい。",
    "Is it? ",
]


class Texts:
    """A text, then what may stand between, then a reason to finish, which repeats all that was shown."""

    def __init__(self, ends):
        self._ends = ends

    def read(self, chunk, released):
        kind, *rest = chunk
        if kind == "text":
            yield TextDelta(0, rest[0], lambda text: ("text", text))
        elif kind == "tool":
            yield PassThrough(lambda: chunk, rest[0])
        else:
            if self._ends:
                yield TextEnd(0)
            yield PassThrough(lambda: ("finish", released(0).text), rest[0])

    def sent(self, chunk): ...

    def halted(self, released):
        return ()


async def relayed(chunks, policy, ends):
    async with Verifier("lexical") as verifier:
        stream = VerifiedChunks(stream_of(chunks), Texts(ends), PASSAGES, verifier=verifier, policy=policy)
        return [chunk async for chunk in stream], stream.reports[0]


answers = st.tuples(
    st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5).map("".join),
    st.booleans(),
    st.integers(0, 99),
    st.lists(st.tuples(st.integers(0, 40), st.sampled_from([0, 1, None])), max_size=3),
)


@given(
    answers,
    st.sampled_from(POLICIES),
    st.booleans(),
    st.sampled_from([0, None]),
    st.sampled_from(["asyncio", "trio"]),
)
def test_what_arrives_is_what_the_report_says_was_released_and_nothing_after_the_finish(
    answer, policy, ends, finish_of, backend
):
    text, stripped, cuts, tools = answer
    chunks = [("text", piece) for piece in pieces(text.rstrip() if stripped else text, cuts)]
    for number, (place, key) in enumerate(tools):
        chunks.insert(min(place, len(chunks)), ("tool", key, number))
    chunks.append(("finish", finish_of))
    got, report = anyio.run(relayed, chunks, policy, ends, backend=backend)
    assert "".join(chunk[1] for chunk in got if chunk[0] == "text") == report.released
    if report.outcome == "finished":
        assert got[-1] == ("finish", report.released)
        assert sorted(c[2] for c in got if c[0] == "tool") == list(range(len(tools)))


@pytest.mark.anyio
async def test_a_marker_stands_where_a_token_ends():
    for cut in (
        "The tower is 330 metres tall|.",
        "The tower is 330 metres tall.",
        "The tower |is 330 metres tall|",
    ):
        chunks = [*(("text", piece) for piece in cut.split("|")), ("finish", 0)]
        got, report = await relayed(chunks, Annotate(), ends=False)
        assert "[1]" in report.released
        assert got[-1] == ("finish", report.released)


@pytest.mark.anyio
@pytest.mark.parametrize("policy", [Flag(), Redact()])
async def test_a_source_that_is_closed_from_within_does_not_look_complete(policy):
    async def source():
        yield ("text", WHOLE)
        await anyio.lowlevel.checkpoint()
        raise GeneratorExit

    async with Verifier("lexical") as verifier:
        stream = VerifiedChunks(source(), Texts(ends=False), PASSAGES, verifier=verifier, policy=policy)
        with pytest.raises(RuntimeError, match="closed from within"):
            async for _ in stream:
                pass
    assert stream.reports[0].outcome == "failed"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.anyio
async def test_a_callback_that_is_cancelled_from_within_ends_no_stream_in_silence():
    def tell(_key, event):
        if event.kind == "sentence_judged":
            raise asyncio.CancelledError

    chunks = [("text", "It is tall. "), ("text", "It stands. It"), ("finish", 0)]
    options = {"policy": Flag(), "on_event": tell}
    async with Verifier("lexical") as verifier:
        stream = VerifiedChunks(stream_of(chunks), Texts(ends=False), PASSAGES, verifier=verifier, **options)
        with pytest.raises((StreamInterruptedError, RuntimeError), match="cancelled from within"):
            async for _ in stream:
                pass


@pytest.mark.anyio
async def test_what_waits_for_an_open_sentence_is_bounded(monkeypatch):
    monkeypatch.setattr(multiplexer, "WAITING", 50)
    chunks = [("text", "I write the file now:"), *(("tool", 0, n) for n in range(60))]
    got = []
    async with Verifier("lexical") as verifier:
        with pytest.raises(UsageError, match="more than 50 chunks wait"):
            async for chunk in VerifiedChunks(
                stream_of(chunks), Texts(ends=False), PASSAGES, verifier=verifier, policy=Redact()
            ):
                got.append(chunk)
        assert len([chunk for chunk in got if chunk[0] == "tool"]) == 50
        flowing, _ = await relayed(chunks, Flag(), ends=False)
    assert flowing == chunks
