"""Callers share runs: each gets its own answer, nobody waits for company, nobody fails for another."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seen import Seen

from streamverify.errors import ScoringError
from streamverify.scorers.graphs.batching import Batches
from streamverify.scorers.protocol import Abort

SECONDS = 20


class Held:
    """A run that waits at a gate, and remembers what it was asked; fails where a question says so."""

    def __init__(self, *, open_at_once=False):
        self.runs, self.aborts = [], []
        self.entered, self.gate = threading.Semaphore(0), threading.Semaphore(0)
        self.open_at_once = open_at_once

    def __call__(self, questions, abort):
        self.runs.append(list(questions))
        self.aborts.append(abort)
        self.entered.release()
        if not self.open_at_once:
            called_off = threading.Event()
            detach = abort.attach(lambda: (called_off.set(), self.gate.release()))
            assert self.gate.acquire(timeout=SECONDS)
            detach()
            if called_off.is_set():
                raise ScoringError("stopped")
        if "bad" in questions:
            raise ScoringError("a bad question")
        return [f"{question}!" for question in questions]

    def wait(self):
        assert self.entered.acquire(timeout=SECONDS)


def batches(run, limit=100):
    return Batches(run, limit=limit, size=len)


@pytest.fixture
def threads():
    with ThreadPoolExecutor(40) as pool:
        yield pool


def asked(pool, shared, questions, aborts=None):
    """Ask in this order, each behind the one before."""
    found = []
    for place, question in enumerate(questions):
        abort = aborts[place] if aborts else Seen()
        found.append(pool.submit(shared.ask, question, abort=abort))
        assert abort.attached.wait(SECONDS)
    return found


def test_one_caller_alone_has_a_run_at_once():
    run = Held(open_at_once=True)
    shared = batches(run)
    assert [shared.ask(one, abort=Abort()) for one in ("a", "b")] == ["a!", "b!"]
    assert run.runs == [["a"], ["b"]]


def test_what_comes_while_a_run_is_under_way_is_the_next_run_oldest_first(threads):
    run = Held()
    shared = batches(run)
    first = threads.submit(shared.ask, "a", abort=Abort())
    run.wait()
    others = asked(threads, shared, ["b", "c", "d"])
    run.gate.release()
    run.wait()
    run.gate.release()
    assert [one.result(SECONDS) for one in (first, *others)] == ["a!", "b!", "c!", "d!"]
    assert run.runs == [["a"], ["b", "c", "d"]]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.integers(1, 6))
def test_runs_keep_the_order_and_the_limit_and_each_gets_its_own(sizes, limit):
    run = Held()
    shared = batches(run, limit)
    questions = [str(number)[-1] * size for number, size in enumerate(sizes)]
    with ThreadPoolExecutor(len(sizes) + 1) as pool:
        first = pool.submit(shared.ask, "first", abort=Abort())
        run.wait()
        others = asked(pool, shared, questions)
        run.open_at_once = True
        run.gate.release()
        assert [one.result(SECONDS) for one in others] == [f"{one}!" for one in questions]
        assert first.result(SECONDS) == "first!"
    assert [one for some in run.runs[1:] for one in some] == questions
    assert all(sum(map(len, some)) <= limit or len(some) == 1 for some in run.runs[1:])
    for some, following in zip(run.runs[1:], run.runs[2:], strict=False):
        assert sum(map(len, some)) + len(following[0]) > limit, "a run takes all that fits"


def test_a_question_fails_by_itself_only(threads):
    run = Held()
    shared = batches(run)
    first = threads.submit(shared.ask, "a", abort=Abort())
    run.wait()
    others = asked(threads, shared, ["b", "c", "bad", "d", "e"])
    run.open_at_once = True
    run.gate.release()
    assert first.result(SECONDS) == "a!"
    for one, question in zip(others, ("b", "c", None, "d", "e"), strict=True):
        if question is None:
            with pytest.raises(ScoringError, match="a bad question"):
                one.result(SECONDS)
        else:
            assert one.result(SECONDS) == f"{question}!"
    assert shared.ask("f", abort=Abort()) == "f!", "and what comes later runs"


def test_who_gives_up_while_waiting_leaves_and_is_not_computed(threads):
    run, gone = Held(), Seen()
    shared = batches(run)
    first = threads.submit(shared.ask, "a", abort=Abort())
    run.wait()
    leaving, staying = asked(threads, shared, "bc", [gone, Seen()])
    gone.set()
    with pytest.raises(ScoringError, match="called off"):
        leaving.result(SECONDS)
    run.open_at_once = True
    run.gate.release()
    assert [first.result(SECONDS), staying.result(SECONDS)] == ["a!", "c!"]
    assert run.runs == [["a"], ["c"]]


def test_a_run_goes_on_for_those_who_stay_and_ends_with_the_last(threads):
    run = Held()
    shared = batches(run)
    first = threads.submit(shared.ask, "a", abort=Abort())
    run.wait()
    aborts = [Seen(), Seen(), Seen()]
    others = asked(threads, shared, "bcd", aborts)
    run.gate.release()
    assert first.result(SECONDS) == "a!"
    run.wait()
    aborts[1].set()
    aborts[2].set()
    for one in others[1:]:
        with pytest.raises(ScoringError, match="called off"):
            one.result(SECONDS)
    assert not run.aborts[1].is_set
    aborts[0].set()
    with pytest.raises(ScoringError):
        others[0].result(SECONDS)
    assert run.aborts[1].is_set
    run.open_at_once = True
    assert shared.ask("e", abort=Abort()) == "e!"


def test_who_was_called_off_before_asking_is_told_and_nothing_runs():
    run, abort = Held(), Abort()
    abort.set()
    with pytest.raises(ScoringError, match="called off"):
        batches(run).ask("a", abort=abort)
    assert run.runs == []


class Ended(BaseException):
    """What ends a thread and is no error of a question."""


def test_others_are_told_when_the_thread_that_computes_for_them_ends(threads):
    run = Held()

    def ending(questions, abort):
        run(questions, abort)
        if len(questions) > 1:
            raise Ended
        return questions

    shared = batches(ending)
    first = threads.submit(shared.ask, "a", abort=Abort())
    run.wait()
    others = asked(threads, shared, ["b", "c", "d"])
    run.open_at_once = True
    run.gate.release()
    assert first.result(SECONDS) == "a"
    with pytest.raises(Ended):
        others[0].result(SECONDS)
    for one in others[1:]:
        with pytest.raises(ScoringError, match="broken off"):
            one.result(SECONDS)
    assert shared.ask("e", abort=Abort()) == "e"


@pytest.mark.slow
def test_many_callers_who_come_and_go_all_get_what_is_theirs():
    shared = Batches(lambda questions, _: [question * 2 for question in questions], limit=7, size=lambda _: 1)
    wrong = []

    def caller(number):
        for count in range(300):
            abort = Abort()
            if (number + count) % 5 == 0:
                threading.Thread(target=abort.set).start()
            try:
                answer = shared.ask(number * 1000 + count, abort=abort)
            except ScoringError:
                assert abort.is_set
            else:
                if answer != 2 * (number * 1000 + count):
                    wrong.append((number, count, answer))

    callers = [threading.Thread(target=caller, args=(number,)) for number in range(16)]
    for one in callers:
        one.start()
    for one in callers:
        one.join(SECONDS * 3)
        assert not one.is_alive()
    assert wrong == []
    assert not shared._waiting
