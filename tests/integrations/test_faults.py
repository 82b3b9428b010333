"""Every adapter left early, cancelled, and failed underneath: neither task, thread nor connection stays open.

Each adapter is read the way its users read it. What it reads from says whether it was closed: the provider,
a server on loopback, by the client having hung up; a model in this process by its generator's end.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterable, Iterable
from contextlib import AsyncExitStack, ExitStack
from typing import Any

import anyio
import pytest
from fault_adapters import ADAPTERS, READ, SYNC_ADAPTERS, Adapter, Here
from fault_models import Talk
from provider_loopback import SCRIPT, Provider

from streamverify import Flag, Policy, Redact, Verifier
from streamverify.testing import ScriptedScorer
from tests.integrations.langchain_fakes import no_task_left

pytestmark = pytest.mark.filterwarnings(
    "ignore::langchain_core._api.beta_decorator.LangChainBetaWarning",
    # LlamaIndex's writers of the history raise what they have handed to the reader already.
    "ignore::pytest.PytestUnhandledThreadExceptionWarning",
)


@pytest.fixture(scope="module")
def verifier():
    """One that releases what it cannot check: a chat engine without an index has no passages."""
    with Verifier(ScriptedScorer(SCRIPT), on_unverified="release") as made:
        yield made


POLICIES = pytest.mark.parametrize("policy", [Flag(), Redact()], ids=["flag", "redact"])
EACH = pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.name)
EACH_SYNC = pytest.mark.parametrize("adapter", SYNC_ADAPTERS, ids=lambda adapter: adapter.name)


def ready(adapter: Adapter, policy: Policy, loopback: Provider, verifier: Verifier, *, fails: bool) -> Here:
    stack = AsyncExitStack() if adapter in ADAPTERS else ExitStack()
    here = Here(verifier, policy, loopback, Talk(fails=fails, talks_on=adapter.talks_on), stack)
    if adapter.script is not None:
        adapter.script(here, fails=fails)
    return here


def is_open(adapter: Adapter, here: Here) -> bool:
    return here.provider.open > 0 if adapter.script is not None else here.talk.open


async def nothing_is_open(adapter: Adapter, here: Here, before: set[asyncio.Task[Any]]) -> None:
    closed = here.provider.hung_up if adapter.script is not None else here.talk.closed
    assert await anyio.to_thread.run_sync(closed.wait, 10)
    await no_task_left(before)
    while here.verifier.statistics() != (0, 0):
        await anyio.lowlevel.checkpoint()


@POLICIES
@EACH
@pytest.mark.anyio
async def test_a_reader_that_leaves_early_leaves_nothing_open(adapter, policy, loopback, verifier):
    here = ready(adapter, policy, loopback, verifier, fails=False)

    async def read(chunks: AsyncIterable[Any]) -> None:
        count = 0
        async for _ in chunks:
            if (count := count + 1) == READ:
                break
        assert is_open(adapter, here)

    before = asyncio.all_tasks()
    with anyio.fail_after(60):
        async with here.stack:
            await adapter.run(here, read)
            await nothing_is_open(adapter, here, before)


@pytest.mark.parametrize(
    ("adapter", "way"),
    [
        pytest.param(adapter, way, id=f"{adapter.name}-{way}")
        for adapter in ADAPTERS
        for way in ("scope", "task")
        if adapter.scopes or way == "task"
    ],
)
@pytest.mark.anyio
async def test_a_reader_that_is_cancelled_leaves_nothing_open(adapter, way, loopback, verifier):
    here = ready(adapter, Redact(), loopback, verifier, fails=False)
    reading = anyio.Event()

    async def read(chunks: AsyncIterable[Any]) -> None:
        count = 0
        async for _ in chunks:
            if (count := count + 1) == READ:
                assert is_open(adapter, here)
                reading.set()

    before = asyncio.all_tasks()
    with anyio.fail_after(60):
        async with here.stack:
            if way == "scope":
                async with anyio.create_task_group() as group:
                    group.start_soon(adapter.run, here, read)
                    await reading.wait()
                    group.cancel_scope.cancel()
            else:
                task = asyncio.ensure_future(adapter.run(here, read))
                await reading.wait()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            await nothing_is_open(adapter, here, before)


@POLICIES
@EACH
@pytest.mark.anyio
async def test_an_error_underneath_leaves_nothing_open(adapter, policy, loopback, verifier):
    here = ready(adapter, policy, loopback, verifier, fails=True)
    got = []

    async def read(chunks: AsyncIterable[Any]) -> None:
        async for chunk in chunks:
            got.append(chunk)

    before = asyncio.all_tasks()
    with anyio.fail_after(60):
        async with here.stack:
            with pytest.raises(adapter.error):
                await adapter.run(here, read)
            await nothing_is_open(adapter, here, before)
    assert got or adapter.drops


async def tasks() -> set[asyncio.Task[Any]]:
    """Of the verifier's own loop."""
    return asyncio.all_tasks()


def threads() -> set[threading.Thread]:
    """That read for somebody; the verifier's own stay until it is closed."""
    return {thread for thread in threading.enumerate() if thread.name != "streamverify-portal"}


def nothing_is_open_in_threads(
    adapter: Adapter, here: Here, before: tuple[set[asyncio.Task[Any]], set[threading.Thread]]
) -> None:
    closed = here.provider.hung_up if adapter.script is not None else here.talk.closed
    here.talk.go_on.set()
    assert closed.wait(60)
    known, running = before
    for thread in threads() - running:
        thread.join(10)
    assert threads() <= running

    async def no_other_task() -> None:
        await no_task_left({*known, asyncio.current_task()})

    here.verifier.portal.run(no_other_task)


@POLICIES
@pytest.mark.parametrize("adapter", [a for a in SYNC_ADAPTERS if a.leaves], ids=lambda adapter: adapter.name)
def test_a_synchronous_reader_that_leaves_early_leaves_nothing_open(adapter, policy, loopback, verifier):
    here = ready(adapter, policy, loopback, verifier, fails=False)

    def read(chunks: Iterable[Any]) -> None:
        for count, _ in enumerate(chunks, 1):
            if count == READ:
                break
        assert is_open(adapter, here)

    before = verifier.portal.run(tasks), threads()
    with here.stack:
        adapter.run(here, read)
        nothing_is_open_in_threads(adapter, here, before)


@POLICIES
@EACH_SYNC
def test_an_error_underneath_a_synchronous_reader_leaves_nothing_open(adapter, policy, loopback, verifier):
    here = ready(adapter, policy, loopback, verifier, fails=True)
    got = []
    before = verifier.portal.run(tasks), threads()
    with here.stack:
        with pytest.raises(adapter.error):
            adapter.run(here, got.extend)
        nothing_is_open_in_threads(adapter, here, before)
    assert got or adapter.drops
