"""Which loop runs is told right while another thread is in the middle of importing trio."""

from __future__ import annotations

import asyncio
import sys
from types import ModuleType

import anyio
import pytest

from streamverify.loops.event_loop import cancel_requested, current_loop


@pytest.mark.parametrize("half", ["trio", "trio.lowlevel"])
def test_a_half_imported_trio_runs_no_loop(half, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "trio"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, half, ModuleType(half))

    async def asked():
        return type(current_loop()).__name__, cancel_requested()

    assert anyio.run(asked, backend="asyncio") == ("_AsyncioLoop", False)


@pytest.mark.anyio
async def test_the_loop_that_runs_is_found(anyio_backend_name):
    assert type(current_loop()).__name__.lower() == f"_{anyio_backend_name}loop"


class Given:
    """A loop of asyncio's that takes no callback."""

    def __init__(self, *, closes):
        self._closes, self._closed = closes, False

    def is_closed(self):
        return self._closed

    def call_soon_threadsafe(self, callback):
        self._closed = self._closes
        raise RuntimeError("Event loop is closed" if self._closes else "not now")


async def loop_like(given):
    loop = current_loop()
    loop._loop = given
    return loop


def test_a_loop_that_closes_at_that_very_moment_is_told_nothing():
    asyncio.run(loop_like(Given(closes=True))).call_soon(lambda: None)


def test_what_a_running_loop_refuses_is_raised():
    with pytest.raises(RuntimeError, match="not now"):
        asyncio.run(loop_like(Given(closes=False))).call_soon(lambda: None)
