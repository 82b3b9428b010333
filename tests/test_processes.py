"""What only whole processes show: a forked child checks too, and a program ends."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from loopback import loopback
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

pytestmark = pytest.mark.slow

PASSAGES = '["The mill was built in 1804 and has two wheels."]'
PRELUDE = f"""
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads, which is the point here
from streamverify import Verifier
PASSAGES = {PASSAGES}
def check(verifier):
    return [str(s.label) for s in verifier.check_sync("The mill was built in 1804.", PASSAGES).sentences]
def in_child(call):
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if call() == ["supported"] else 3)
        except BaseException as error:
            print(error, file=sys.stderr, flush=True)
            os._exit(4)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)
"""


def run(program: str) -> str:
    """What a program printed; it must end by itself."""
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + program],
        check=False,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("before", ["", "verifier.open()", "check(verifier)"])
def test_a_forked_child_checks_whatever_its_parent_did(before):
    out = run(
        f"""
verifier = Verifier("lexical")
{before}
print(in_child(lambda: check(verifier)), in_child(lambda: check(verifier)), check(verifier)[0])
"""
    )
    assert out == "0 0 supported"


def test_a_child_of_a_child_checks_and_a_given_scorer_is_shared():
    out = run(
        """
from streamverify.testing import ScriptedScorer
verifier = Verifier(ScriptedScorer())
check(verifier)
def again():
    return check(verifier) if in_child(lambda: check(verifier)) == 0 else ["the grandchild failed"]
print(in_child(again))
"""
    )
    assert out == "0"


def test_a_pool_of_forked_workers_checks():
    out = run(
        """
import multiprocessing
verifier = Verifier("lexical")
check(verifier)
def work(_):
    return check(verifier)[0]
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(*pool.map(work, range(4)))
"""
    )
    assert out == "supported supported supported supported"


PRELOADED = """
import anyio, signal, socket, urllib.request, uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

verifier = Verifier("lexical")
check(verifier)  # while the application is imported, before any worker is there

async def answer(_request):
    report = await verifier.check("The mill was built in 1804.", PASSAGES)
    return PlainTextResponse(f"{os.getpid()} {report.sentences[0].label}")

app = Starlette(routes=[Route("/", answer)])

def worker(listener):
    uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listener])

listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
children = []
for listener in listeners:
    child = os.fork()
    if child == 0:
        try:
            worker(listener)
        finally:
            os._exit(0)
    children.append(child)
for child, listener in zip(children, listeners):
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    answers = [urllib.request.urlopen(address, timeout=60).read().decode() for _ in range(2)]
    print(*(said.replace(str(child), "child") for said in answers), sep=", ")
    os.kill(child, signal.SIGTERM)
    os.waitpid(child, 0)
print(check(verifier)[0])
"""


def test_workers_forked_from_a_preloaded_application_check():
    out = run(PRELOADED)
    assert out.splitlines() == ["child supported, child supported"] * 2 + ["supported"]


@pytest.mark.model
def test_a_forked_child_checks_with_the_embedded_model():
    assert run("verifier = Verifier()\ncheck(verifier)\nprint(in_child(lambda: check(verifier)))") == "0"


def test_a_fork_while_a_check_runs_leaves_the_child_its_slots():
    out = run(
        """
import threading
from streamverify.testing import ScriptedScorer
scorer = ScriptedScorer(hang_on="grain", concurrency=1)
verifier = Verifier(scorer, verdict_timeout=3600)
thread = threading.Thread(target=verifier.check_sync, args=("The grain is old.", PASSAGES), daemon=True)
thread.start()
while not scorer.claims:
    pass
print(in_child(lambda: check(verifier)))
"""
    )
    assert out == "0"


JUDGE = """
from streamverify.scorers import LLMJudgeScorer
scorer = LLMJudgeScorer("m", base_url="{address}/v1", api_key="none")
"""


async def judged(request):
    """A language model that finds everything supported."""
    windows = json.loads((await request.json())["messages"][1]["content"])["passages"]
    passages = [{"number": w["number"], "entailment": 0.9, "contradiction": 0.0} for w in windows]
    judgement = {
        "passages": passages,
        "together": {"entailment": 0.9, "contradiction": 0.0},
        "unsupported": [],
    }
    message = {"role": "assistant", "content": json.dumps(judgement)}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return JSONResponse(
        {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    )


@pytest.fixture(scope="module")
def judge():
    app = Starlette(routes=[Route("/v1/chat/completions", judged, methods=["POST"])])
    with loopback(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=1) as address:
        yield JUDGE.format(address=address)


@pytest.mark.parametrize(
    "use", ["print(check(Verifier(scorer))[0])", "with Verifier(scorer) as v: print(check(v)[0])"]
)
def test_a_program_with_a_judge_ends_by_itself(judge, use):
    assert run(judge + use) == "supported"


def test_a_forked_child_asks_the_judge_on_connections_of_its_own(judge):
    program = """
verifier = Verifier(scorer)
check(verifier)
print(in_child(lambda: check(verifier)), check(verifier)[0])
"""
    assert run(judge + program) == "0 supported"


def test_a_client_with_the_parents_connections_is_refused_in_a_child(judge):
    program = """
import openai
client = openai.AsyncOpenAI(base_url=scorer.fingerprint.provider, api_key="none")
given = LLMJudgeScorer("m", client=client)
verifier = Verifier(given)
check(verifier)
def reasons():
    [sentence] = verifier.check_sync("The mill was built in 1804.", PASSAGES).sentences
    return ["supported"] if "was forked" in sentence.why else [sentence.why]
print(in_child(reasons))
"""
    assert run(judge + program) == "0"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("told.wait(60); os.write(1, b'stopped')", "stopped"),  # it would not be heard of again
        ("threading.Event().wait()", ""),  # nobody waits for ever for who does not listen
    ],
    ids=["obedient", "deaf"],
)
def test_a_process_that_ends_tells_its_calls_to_stop_and_waits_for_those_that_do(call, said):
    program = f"""
import anyio, threading
from streamverify.scorers.protocol import Abort
from streamverify.streaming.workers import Workers
abort, told, begun = Abort(), threading.Event(), threading.Event()
abort.attach(told.set)
def call():
    begun.set()
    {call}
async def main():
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(workers.run, call, abort)
            while not begun.is_set():
                await anyio.sleep(0.01)
            scope.cancel()
workers = Workers(1, "test")
anyio.run(main)
"""
    assert run(program) == said


def test_an_ended_process_does_not_break_off_inside_the_model():
    program = """
import asyncio
passages = [f"Mill {n} was built in {1800 + n} and stands by the river {n * 7}." for n in range(12)]
answer = " ".join(f"Mill {n} was built in {1800 + n}." for n in range(40))
verifier = Verifier().open()
check(verifier)
async def main():
    try:
        await asyncio.wait_for(verifier.check(answer, passages), 0.05)
    except asyncio.TimeoutError:
        print("late")
asyncio.run(main())
"""
    assert [run(program) for _ in range(5)] == ["late"] * 5


def test_a_child_forked_while_a_value_is_made_ready_makes_its_own():
    program = """
import threading
from pydantic_core import core_schema
from streamverify.value import Value
building, go_on = threading.Event(), threading.Event()
class Slow(str):
    @classmethod
    def __get_pydantic_core_schema__(cls, source, handler):
        building.set()
        go_on.wait(60)
        return core_schema.str_schema()
class Made(Value):
    name: Slow
class Other(Value):
    number: int
threading.Thread(target=Made.model_validate, args=({"name": "a"},)).start()
building.wait(60)
threading.Timer(0.2, go_on.set).start()
child = os.fork()  # waits until nothing is being made ready
if child == 0:
    import faulthandler
    faulthandler.dump_traceback_later(30, exit=True)  # a child that waits for ever fails
    Other.model_validate({"number": 1})
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run(program) == "0"


def test_a_verifier_closes_though_every_thread_that_prepares_is_busy():
    program = """
import anyio, threading
from streamverify.errors import ScoringError
from streamverify.scorers.function import FunctionScorer
begun = threading.Semaphore(0)
class Slow(FunctionScorer):
    def prepare(self, windows, *, abort):
        told = threading.Event()
        abort.attach(told.set)
        begun.release()
        told.wait()
        raise ScoringError("stopped")
async def main():
    verifier = Verifier(Slow(lambda claim, passages: 1.0))
    async with anyio.create_task_group() as group:
        async with verifier:
            for number in range(8):
                group.start_soon(verifier.check, f"There are {number} mills.", [f"There are {number} mills."])
            for _ in range(4):
                while not begun.acquire(blocking=False):
                    await anyio.sleep(0.01)
    print("closed")
anyio.run(main)
"""
    assert run(program) == "closed"
