"""Whoever looks on changes nothing, neither an event nor their order, and leaves nothing behind."""

from __future__ import annotations

import gc
import logging
import subprocess
import sys
import threading

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify import Label, Observer, Passage, Redact, StreamContext, UsageError, Verifier, retrieved
from streamverify.context import context_from
from streamverify.observe import Feed
from streamverify.testing import ClosableSource, ScriptedScorer, collect, pieces, stream_of

PASSAGES = [Passage("p1", "The mill was built in 1804. It grinds barley.")]
SENTENCES = [
    "The mill was built in 1804. ",
    "The wrong wheel turns! ",
    "It grinds barley [p1].\n",
    "¿Qué? ",
    "磨坊。",
]


class Remembers(Observer):
    """Writes down what it is told."""

    def __init__(self):
        self.openings, self.late, self.events, self.idles = [], [], [], 0

    def opened(self, opening):
        self.openings.append(opening)

    def retrieved(self, stream, passages):
        self.late.append((stream, passages))

    def event(self, stream, event):
        self.events.append((stream, event))

    def idle(self):
        self.idles += 1


class Raises(Observer):
    def opened(self, opening):
        raise LookupError("opened")

    def event(self, stream, event):
        raise LookupError("event")

    def idle(self):
        raise LookupError("idle")


class Hangs(Observer):
    """Waits in its first call until it is let go."""

    def __init__(self):
        self.let_go, self.called = threading.Event(), threading.Event()

    def opened(self, opening):
        self.called.set()
        self.let_go.wait()


def told(event):
    """An event without the times in it, which no two runs share."""
    plain = event.model_dump(mode="json", exclude={"at_ms", "latency_ms"})
    if "report" in plain:
        plain["report"].pop("timings")
        for sentence in plain["report"]["sentences"]:
            sentence.pop("latency_ms")
    return plain


def observer_threads():
    return [thread for thread in threading.enumerate() if thread.name == "streamverify-observer"]


async def events_of(parts, policy, observers):
    scorer = ScriptedScorer({"wrong": Label.CONTRADICTED})
    async with (
        Verifier(scorer, policy=policy, observers=observers) as verifier,
        verifier.stream(parts, PASSAGES) as stream,
    ):
        return await collect(stream)


@given(
    st.lists(st.sampled_from(SENTENCES), max_size=6).map("".join),
    st.lists(st.integers(0, 120), max_size=12),
    st.sampled_from([None, Redact()]),
    st.sampled_from(["asyncio", "trio"]),
)
def test_observers_change_neither_events_nor_order_and_see_all_of_them(text, cuts, policy, loop):
    parts = pieces(text, cuts)
    alone = anyio.run(events_of, parts, policy, [], backend=loop)
    first, last, hanging = Remembers(), Remembers(), Hangs()

    async def observed():
        scorer = ScriptedScorer({"wrong": Label.CONTRADICTED})
        observers = [first, Raises(), hanging, last]
        async with Verifier(scorer, policy=policy, observers=observers) as verifier:
            async with verifier.stream(parts, PASSAGES) as stream:
                events = await collect(stream)
            assert not hanging.let_go.is_set()
            hanging.let_go.set()
            assert await anyio.to_thread.run_sync(verifier.drain_observers, 50)
        return events, stream.id, verifier.observer_statistics()

    events, stream, statistics = anyio.run(observed, backend=loop)
    assert [told(event) for event in events] == [told(event) for event in alone]
    for observer in (first, last):
        assert observer.events == [(stream, event) for event in events]
        assert [opening.stream for opening in observer.openings] == [stream]
        assert observer.idles >= 1
    assert [kept.delivered for kept in statistics] == [len(events) + 1, 0, len(events) + 1, len(events) + 1]
    assert statistics[1].failed >= len(events) + 1  # and its idle()
    assert {kept.dropped + kept.waiting for kept in statistics} == {0}
    assert observer_threads() == []


@pytest.mark.anyio
async def test_an_opening_says_all_that_events_do_not():
    observer = Remembers()
    context = {"user": "u1", "roles": ["hr"], "tags": {"app": "desk"}, "scores": {"p1": 0.5}}
    async with Verifier(ScriptedScorer(), observers=[observer]) as verifier:
        stream = verifier.stream(["It grinds barley."], PASSAGES, question="What?", context=context)
        async with stream:
            await collect(stream)
    opening = observer.openings[0]
    assert opening.stream == stream.id
    assert opening.passages == tuple(PASSAGES)
    assert (opening.question, opening.policy, opening.fingerprint.model) == ("What?", "flag", "scripted")
    assert opening.at.utcoffset().total_seconds() == 0
    assert opening.context == StreamContext(
        user="u1", roles=frozenset({"hr"}), tags={"app": "desk"}, scores={"p1": 0.5}
    )


@pytest.mark.anyio
async def test_passages_that_come_late_are_told_once():
    observer, later = Remembers(), Passage("p2", "The mill has a wheel.")

    async def source():
        retrieved(PASSAGES)
        yield "It grinds barley. "
        retrieved(PASSAGES)
        retrieved([later])
        yield "It has a wheel."

    async with (
        Verifier(ScriptedScorer(), observers=[observer]) as verifier,
        verifier.stream(source(), None) as stream,
    ):
        await collect(stream)
    assert observer.openings[0].passages == tuple(PASSAGES)
    assert observer.late == [(stream.id, (later,))]


@pytest.mark.anyio
async def test_a_closed_stream_and_one_that_is_not_read_are_observed_to_their_end():
    observer, source = Remembers(), ClosableSource(["It grinds barley. "], endless=True)
    async with (
        Verifier(ScriptedScorer(), observers=[observer]) as verifier,
        verifier.stream(source, PASSAGES),
    ):
        await source.waiting.wait()
    assert observer.events[-1][1].kind == "stream_failed"
    assert observer.events[-1][1].code == "closed"


@pytest.mark.anyio
async def test_streams_are_told_apart():
    observer = Remembers()
    async with (
        Verifier(ScriptedScorer(), observers=[observer]) as verifier,
        anyio.create_task_group() as group,
    ):
        streams = [verifier.stream(stream_of(pieces("It grinds barley.", n)), PASSAGES) for n in range(5)]

        async def read(stream):
            async with stream:
                await collect(stream)

        for stream in streams:
            group.start_soon(read, stream)
    for stream in streams:
        own = [event for name, event in observer.events if name == stream.id]
        assert [event.seq for event in own] == list(range(len(own)))
        assert own[-1].kind == "stream_finished"


def test_a_full_queue_drops_counts_and_says_so_at_1_10_100(caplog):
    observer = Hangs()
    feed = Feed(observer, capacity=3)
    feed.put(lambda o: o.opened(None))
    observer.called.wait()
    accepted = [feed.put(lambda o: o.idle()) for _ in range(120)]
    assert accepted == [True] * 3 + [False] * 117
    assert feed.statistics == (0, 0, 117, 4)
    assert [record.getMessage() for record in caplog.records] == [
        f"observer Hangs does not keep up: {dropped} calls dropped so far" for dropped in (1, 10, 100)
    ]
    observer.let_go.set()
    assert feed.drain(10)
    feed.close(10)
    assert feed.statistics == (4, 0, 117, 0)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=30))
def test_no_more_text_waits_than_may(lengths):
    observer = Hangs()
    feed = Feed(observer, chars=40)
    feed.put(lambda o: o.opened(None))
    observer.called.wait()
    waiting = []
    for length in lengths:
        fits = not waiting or sum(waiting) + length <= 40
        assert feed.put(lambda o: o.idle(), length) is fits
        waiting += [length] * fits
    observer.let_go.set()
    feed.close(10)
    assert feed.statistics == (1 + len(waiting), 0, len(lengths) - len(waiting), 0)


def test_closing_waits_a_while_for_a_hanging_observer_and_counts_what_it_missed(caplog):
    observer = Hangs()
    feed = Feed(observer)
    feed.put(lambda o: o.opened(None))
    observer.called.wait()
    feed.put(lambda o: o.idle())
    feed.close(0)
    assert feed.statistics == (0, 0, 1, 1)
    assert feed.put(lambda o: o.idle()) is False
    assert "did not end within 0 s: 1 calls dropped" in caplog.text
    observer.let_go.set()
    assert feed.drain(10)
    assert feed.statistics == (1, 0, 2, 0)


def test_an_exception_is_logged_with_its_traceback_and_not_every_time(caplog):
    with (
        caplog.at_level(logging.ERROR, "streamverify"),
        Verifier(ScriptedScorer(), observers=[Raises()]) as verifier,
    ):
        verifier.check_sync("It grinds barley. " * 20, PASSAGES)
    assert [record.getMessage() for record in caplog.records][:2] == [
        "observer Raises failed: 1 calls so far",
        "observer Raises failed: 10 calls so far",
    ]
    assert isinstance(caplog.records[0].exc_info[1], LookupError)


def test_a_verifier_that_is_forgotten_lets_its_observers_end():
    observer = Remembers()
    verifier = Verifier(ScriptedScorer(), observers=[observer])
    verifier.check_sync("It grinds barley.", PASSAGES)
    verifier.portal.close()
    threads = observer_threads()
    del verifier
    gc.collect()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
    assert observer.events[-1][1].kind == "stream_finished"


@pytest.mark.slow
def test_a_program_that_ends_without_closing_lets_observers_see_the_rest():
    script = """
import sys
from streamverify import Observer, Passage, Verifier
from streamverify.testing import ScriptedScorer

class Prints(Observer):
    def event(self, stream, event):
        print(event.kind, flush=True)

verifier = Verifier(ScriptedScorer(), observers=[Prints()])
verifier.check_sync("It grinds barley.", [Passage("p1", "It grinds barley.")])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "stream_finished"
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"usr": "u1"}, "context: usr: .*tags"),
        ({"roles": "hr"}, "context: roles: "),
        ({"scores": {"p1": float("nan")}}, "context: scores.p1: "),
        ({"tags": {"a": 1}}, "context: tags.a: "),
        (5, "context must be a mapping, not int"),
    ],
)
def test_a_context_that_cannot_be_read_is_refused(given, problem):
    with pytest.raises(UsageError, match=problem):
        context_from(given)


def test_something_that_is_no_observer_is_refused():
    with pytest.raises(UsageError, match=r"is no observer: it has no opened, retrieved, event, idle\(\)"):
        Verifier(observers=[print])


def test_a_context_is_a_frozen_value():
    with pytest.raises(ValueError, match="frozen"):
        StreamContext(user="u1").user = "u2"


def refuses(monkeypatch, name, times):
    """The system gives no thread of this name so many times."""
    start, left = threading.Thread.start, [times]

    def refuse(thread):
        if thread.name == name and left[0]:
            left[0] -= 1
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)


def test_an_observer_for_whom_there_was_no_thread_is_told_once_there_is_one(monkeypatch, caplog):
    refuses(monkeypatch, "streamverify-observer", 1)
    observer = Remembers()
    feed = Feed(observer)
    assert feed.put(lambda o: o.opened(1))
    assert "has to wait" in caplog.text
    assert feed.put(lambda o: o.opened(2))
    assert feed.drain(30)
    assert observer.openings == [1, 2]
    feed.close(30)


def test_a_feed_that_never_had_a_thread_closes_at_once_and_counts_what_it_missed(monkeypatch):
    refuses(monkeypatch, "streamverify-observer", 9)
    feed = Feed(Remembers())
    feed.put(lambda o: o.opened(1))
    feed.close(600)
    assert feed.statistics == (0, 0, 1, 0)
