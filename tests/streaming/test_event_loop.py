"""Which loop runs is told right while another thread is in the middle of importing trio."""

from __future__ import annotations

import sys
from types import ModuleType

import anyio
import pytest

from streamverify.streaming.event_loop import cancel_requested, current_loop


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


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_loop_that_closes_at_that_very_moment_is_told_nothing(monkeypatch):
    loop = current_loop()

    class Closing:
        closed = False

        def is_closed(self):
            return self.closed

        def call_soon_threadsafe(self, callback):
            self.closed = True
            raise RuntimeError("Event loop is closed")

    monkeypatch.setattr(loop, "_loop", Closing())
    loop.call_soon(lambda: None)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_what_a_running_loop_refuses_is_raised(monkeypatch):
    loop = current_loop()

    class Refusing:
        def is_closed(self):
            return False

        def call_soon_threadsafe(self, callback):
            raise RuntimeError("not now")

    monkeypatch.setattr(loop, "_loop", Refusing())
    with pytest.raises(RuntimeError, match="not now"):
        loop.call_soon(lambda: None)
