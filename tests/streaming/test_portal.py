"""What runs for a caller that has no event loop ends with the caller's wait."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading

import anyio
import anyio.lowlevel
import pytest
from anyio.from_thread import BlockingPortal

from streamverify.streaming.portal import Portal

INTERRUPTED = """
    import signal, sys, threading
    import anyio, anyio.lowlevel
    from streamverify.streaming.portal import Portal

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have left it ignored
    portal, ended = Portal(), []

    def waiting():  # the main thread has come to its wait
        frame = sys._current_frames()[threading.main_thread().ident]
        while frame is not None and frame.f_code.co_name != "wait":
            frame = frame.f_back
        return frame is not None

    async def for_ever():
        while not waiting():
            await anyio.lowlevel.checkpoint()
        signal.raise_signal(signal.SIGINT)  # to this thread: the main one is not woken
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("ended")

    try:
        portal.run(for_ever)
    except KeyboardInterrupt:
        print(*ended, portal.run(lambda: anyio.to_thread.run_sync(lambda: "and goes on")))
"""


def test_an_interrupted_wait_ends_what_it_waited_for_and_the_portal_goes_on():
    script = textwrap.dedent(INTERRUPTED)
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert told.stdout == "ended and goes on\n", told.stderr


@pytest.mark.parametrize("where", ["before it is handed over", "after it has begun"])
def test_an_interruption_on_the_way_to_the_loop_leaves_nothing_running(where):
    hand_over, begun, seen = BlockingPortal.start_task_soon, threading.Event(), []

    def interrupted(self, *given, **named):
        patch.undo()
        if where == "after it has begun":
            hand_over(self, *given, **named)
            begun.wait()
        raise KeyboardInterrupt

    async def for_ever():
        seen.append("begun")
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            seen.append("ended")

    portal = Portal()
    try:
        with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(BlockingPortal, "start_task_soon", interrupted)
            portal.run(for_ever)
        assert seen == (["begun", "ended"] if where == "after it has begun" else [])
        assert portal.run(anyio.lowlevel.checkpoint) is None
    finally:
        portal.close()


NO_DESCRIPTORS = """
    import os, resource
    import anyio, anyio.lowlevel, anyio._backends._asyncio  # files that are read later need descriptors
    from streamverify.streaming.portal import Portal

    async def done():
        return "and goes on"

    portal, (soft, hard) = Portal(), resource.getrlimit(resource.RLIMIT_NOFILE)
    # The lowest free descriptor is the first that is refused.
    resource.setrlimit(resource.RLIMIT_NOFILE, (os.dup(0), hard))
    try:
        portal.run(done)
    except OSError as error:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        print(error.strerror, portal.run(done))
"""


def test_a_process_without_descriptors_for_a_loop_is_told_so_and_does_not_wait_for_ever():
    script = textwrap.dedent(NO_DESCRIPTORS)
    command = [sys.executable, "-c", script]
    told = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert told.stdout == "Too many open files and goes on\n", told.stderr
