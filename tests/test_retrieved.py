"""Passages that a decorated function tells while it runs, or is given."""

from __future__ import annotations

import functools

import anyio
import pytest

from streamverify.decorator import verified
from streamverify.errors import PassageError
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
async def test_passages_found_inside_are_told_by_retrieved(verifier):
    @verified(verifier=verifier)
    async def answer(question: str):
        docs = retrieved(PASSAGES)
        assert docs is PASSAGES
        for part in PARTS:
            yield part

    result = answer("q")
    async for _ in result:
        pass
    assert result.report.counts[Label.SUPPORTED] == 2


@pytest.mark.anyio
async def test_a_coroutine_behind_a_plain_wrapper_may_tell_what_it_retrieved(verifier):
    def logged(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            return function(*args, **kwargs)

        return call

    @verified(verifier=verifier)
    @logged
    async def answer():
        await anyio.lowlevel.checkpoint()
        retrieved(PASSAGES)
        return TEXT

    checked = await answer()
    assert checked.report.counts[Label.CONTRADICTED] == 1
    assert checked.report.counts[Label.UNVERIFIED] == 0


@pytest.mark.anyio
async def test_passages_that_can_be_read_only_once_are_refused_before_the_function_runs(verifier):
    ran = []

    @verified(passages="docs", verifier=verifier)
    async def given(docs):
        ran.append(docs)
        return TEXT

    @verified(verifier=verifier)
    async def told():
        return retrieved(iter(PASSAGES))

    with pytest.raises(PassageError, match="read only once"):
        await given(iter(PASSAGES))
    assert not ran
    with pytest.raises(PassageError, match=r"give a list, list\(documents\)"):
        await told()
