"""Both event loops for every asynchronous test, and no way out to a network."""

from __future__ import annotations

import inspect
import os
import socket
import ssl
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from types import SimpleNamespace

import pytest
from blockbuster import blockbuster_ctx
from hypothesis import HealthCheck, settings

for profile, examples in (("few", 5), ("default", 20), ("ci", 30), ("full", 100)):
    settings.register_profile(
        profile,
        deadline=None,
        max_examples=examples,
        suppress_health_check=[HealthCheck.too_slow],
        # The same examples for the same tests: a change is judged by itself, and people find new ones.
        derandomize=bool(os.environ.get("CI")),
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default"))


NEEDED = {
    "streamverify": "anyio",
    "streamverify_anthropic": "anthropic",
    "streamverify_langchain": "langchain_core",
    "streamverify_llamaindex": "llama_index",
    "streamverify_openai": "openai",
}
LIBRARY = tuple(package for package, needed in NEEDED.items() if find_spec(needed) is not None)
"""Our packages that can be imported here: the tests of one framework run without the others."""

MAY_BLOCK = (
    # The synchronous interface: whoever calls it on a loop has chosen to wait. Our own coroutines do not,
    # as `test_nothing_blocks.py` reads in their source.
    ("streamverify/loops/portal.py", {"run", "start", "close"}),
    # Waits until there is something to read; a file is read at once, since no loop can wait for one.
    ("streamverify/console/files.py", {"_read"}),
    # The client of a provider that is called synchronously.
    ("_backends/sync.py", {"connect_tcp", "read", "write", "start_tls"}),
    # LlamaIndex counts tokens in a thread of its own and waits for it, and asks where its files lie.
    ("llama_index/core/async_utils.py", {"asyncio_run"}),
    ("llama_index/core/utils.py", {"get_tokenizer"}),
    # LangChain's synchronous calls wait for threads of theirs.
    ("langchain_core/runnables/base.py", {"invoke"}),
    ("langchain_core/runnables/config.py", {"get_executor_for_config"}),
    ("langchain_core/callbacks/manager.py", {"handle_event"}),
    # The report of one case is read from its journal when it is asked for.
    ("streamverify/evaluate/journal.py", {"held", "_read"}),
    # A client that is made looks where this machine keeps the certificates it trusts.
    ("httpcore2/_ssl.py", {"default_ssl_context"}),
    # A module is read once, when it is first used.
    ("<frozen importlib._bootstrap>", {"_find_and_load"}),
)
"""Files and functions in which waiting is no fault, each with the reason."""


@pytest.fixture(autouse=True, scope="session")
def certificates_are_read_once() -> Iterator[None]:
    """Clients read all certificates that this machine trusts, 25 ms each time; no test needs one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture(autouse=True, scope="session")
def what_measures_coverage_may_wait() -> None:
    """Its lock is taken whenever a thread enters a file that is new to it, inside of what is measured.

    No frame tells whose lock that is, and an error there would be the call's own: a callback of the loop that
    is never run, and a caller who waits for ever.
    """
    coverage = sys.modules.get("coverage")
    if coverage is None or (measured := coverage.Coverage.current()) is None:
        return
    collector = measured._collector
    if (lock := collector.data_lock) is not None:
        # Its methods as they are before anybody guards the type's.
        collector.data_lock = SimpleNamespace(acquire=lock.acquire, release=lock.release)


@pytest.fixture(autouse=True)
def nothing_blocks_the_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """A call of the library that blocks a running asyncio loop fails a test that is a coroutine."""
    law = getattr(request.function, "hypothesis", None)
    called = request.function if law is None else law.inner_test
    if not inspect.iscoroutinefunction(called) and "streaming" not in request.path.parts:
        yield
        return
    with blockbuster_ctx(LIBRARY) as guard:
        for function in guard.functions.values():
            for file, names in MAY_BLOCK:
                function.can_block_in(file, names)
        yield


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library is offline: a connection to anything but this machine fails the test."""
    connect = socket.socket.connect

    def refuse(self: socket.socket, address: object) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            host = address[0] if isinstance(address, tuple) else address
            assert host in ("127.0.0.1", "::1", "localhost"), f"connection to {address!r}"
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", refuse)
