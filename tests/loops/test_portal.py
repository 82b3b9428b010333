"""What runs for a caller that has no event loop ends with the caller's wait."""

from __future__ import annotations

import asyncio
import concurrent.futures
import subprocess
import sys
import textwrap
import threading

import anyio
import anyio.lowlevel
import pytest
from anyio.from_thread import BlockingPortal

from streamverify import StreamStateError, Verifier, verified
from streamverify.loops.portal import Portal

INTERRUPTED = """
    import signal, sys, threading
    import anyio, anyio.lowlevel
    from streamverify.loops.portal import Portal

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
    from streamverify.loops.portal import Portal

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


def test_closing_waits_for_a_caller_that_hands_over_at_that_moment(monkeypatch):
    # A loop that has stopped takes nothing over: a caller that came to it then would wait for ever.
    portal, goes_on = Portal(), threading.Event()
    portal.start()
    hand_over, handed_over = BlockingPortal.start_task_soon, portal._running.here.handed_over
    wait = handed_over.wait

    def waits(*given):
        goes_on.set()
        return wait(*given)

    def closes():
        portal.close()
        goes_on.set()

    closing = threading.Thread(target=closes)

    def slow(self, *given, **named):
        closing.start()
        goes_on.wait()  # until closing waits for this thread; were it to do without, until it is over
        return hand_over(self, *given, **named)

    monkeypatch.setattr(handed_over, "wait", waits)
    monkeypatch.setattr(BlockingPortal, "start_task_soon", slow)
    with pytest.raises(StreamStateError, match="the verifier was closed meanwhile"):
        portal.run(anyio.sleep_forever)
    closing.join()


def test_whoever_waits_for_a_verifier_that_is_closed_gets_the_librarys_own_error():
    begun, verifier = threading.Event(), Verifier("lexical")

    async def source():
        begun.set()
        await anyio.sleep_forever()
        yield ""

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        asked = pool.submit(verifier.check_sync, source(), [])
        begun.wait()
        verifier.close()
        with pytest.raises(StreamStateError, match="the verifier was closed meanwhile"):
            asked.result()


def test_what_cancels_itself_is_told_as_cancelled_while_the_portal_is_open():
    async def cancels():
        raise asyncio.CancelledError

    portal = Portal()
    try:
        with pytest.raises(concurrent.futures.CancelledError):
            portal.run(cancels)
    finally:
        portal.close()


def test_a_result_that_was_there_before_the_portal_was_closed_is_given(monkeypatch):
    async def done():
        return "done"

    def closes(tasks, timeout):
        portal.close()
        return wait(tasks, timeout)

    portal, wait = Portal(), concurrent.futures.wait
    begin = portal.begin
    monkeypatch.setattr(portal, "begin", lambda call: (task := begin(call), wait([task]))[0])
    monkeypatch.setattr("streamverify.loops.portal.wait", closes)
    assert portal.run(done) == "done"


def left_running(name):
    """Threads of that name that do not end."""
    threads = [thread for thread in threading.enumerate() if thread.name == name]
    for thread in threads:
        thread.join(10)
    return [thread for thread in threads if thread.is_alive()]


@pytest.mark.parametrize("used", [True, False])
def test_a_caller_that_comes_after_closing_starts_no_other_loop(used):
    portal = Portal("of-nobody")
    if used:
        portal.start()
    portal.close()
    portal.close()
    with pytest.raises(StreamStateError, match="the verifier was closed meanwhile"):
        portal.run(anyio.lowlevel.checkpoint)
    with pytest.raises(StreamStateError, match="the verifier was closed meanwhile"):
        portal.start()
    assert not [thread for thread in threading.enumerate() if thread.name == "of-nobody"]


def test_what_is_closed_after_its_verifier_has_nothing_left_to_close():
    with Verifier("lexical") as verifier:

        @verified(verifier=verifier, passages="passages")
        def answer(passages):
            yield "The mill "
            yield "is old. It grinds."

        pieces = answer(["The mill is old."])
        next(pieces)
    pieces.close()


def test_the_loops_own_thread_may_not_close_it():
    async def closes():
        portal.close()

    portal = Portal()
    try:
        with pytest.raises(StreamStateError, match="own event loop"):
            portal.run(closes)
        assert portal.run(anyio.lowlevel.checkpoint) is None
    finally:
        portal.close()


def interrupt_start(patch, where):
    """One interruption while a loop is started, in the thread that starts it."""
    owner, name = {
        "before there is a thread": (threading.Thread, "start"),
        "once there is a thread": (threading.Thread, "start"),
        "while it waits for the loop": (concurrent.futures.Future, "result"),
    }[where]
    original = getattr(owner, name)

    def interrupted(self, *given):
        patch.undo()
        if where == "once there is a thread":
            original(self, *given)
        raise KeyboardInterrupt

    patch.setattr(owner, name, interrupted)


@pytest.mark.parametrize("then", ["closed", "used and closed"])
@pytest.mark.parametrize(
    "where", ["before there is a thread", "once there is a thread", "while it waits for the loop"]
)
def test_an_interruption_while_the_loop_is_started_leaves_no_loop_that_nobody_ends(where, then):
    name = f"interrupted {where}, {then}"
    portal = Portal(name)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        interrupt_start(patch, where)
        portal.run(anyio.lowlevel.checkpoint)
    if then == "used and closed":
        assert portal.run(anyio.lowlevel.checkpoint) is None
    portal.close()
    assert not left_running(name)


def test_closing_that_was_interrupted_can_be_done_again():
    portal = Portal("closed twice")
    portal.start()
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):

        def interrupted(self):
            patch.undo()
            raise KeyboardInterrupt

        patch.setattr(threading.Thread, "join", interrupted)
        portal.close()
    portal.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "closed twice"]
