"""`streamverify serve --records URL` as a running program, and what may become of its database meanwhile."""

from __future__ import annotations

import contextlib
import json
import resource
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
import sqlalchemy as sa
from loopback import loopback
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route
from streams import AUDITOR

from streamverify.program import main
from streamverify.records import Database, Reader, schema, verify
from streamverify.records.database import DatabaseError
from tests.evaluate.judges import Server as Judging
from tests.evaluate.judges import answered

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PASSAGES = [
    {"id": "p1", "text": "The mill was built in 1804.", "metadata": {"uri": "mill", "visibility": "public"}}
]
FULL, ROOM = (4_096, resource.RLIM_INFINITY), (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
"""The longest file a process may write: its database is on a full disk, or not."""


class Served:
    """The program, between an upstream and clients; what it tells is read line by line."""

    def __init__(self, url, behind, *more, program=("-m", "streamverify")):
        # -B: on a full disk the interpreter would leave half a file of bytecode beside a module.
        command = [
            sys.executable,
            "-B",
            *program,
            "serve",
            "--upstream",
            behind,
            "--port",
            "0",
            "--records",
            url,
        ]
        self.process = subprocess.Popen(
            [*command, *more], stderr=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self.address = self.until("serves http://").partition("serves ")[2].strip()

    def until(self, part):
        for line in self.process.stderr:
            if part in line:
                return line
        raise AssertionError(f"{part!r} was never told")

    def ask(self, _number=0, *, domain="d"):
        context = {"user": "u1", "domain": domain}
        body = {
            "model": "m",
            "stream": True,
            "messages": [{"role": "user", "content": "When?"}],
            "streamverify": {"passages": PASSAGES, "context": context, "events": True},
        }
        answer = httpx2.post(f"{self.address}/v1/chat/completions", json=body, timeout=300)
        assert answer.status_code == 200
        assert answer.text.rstrip().endswith("[DONE]")
        assert "stream_finished" in answer.text

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def end(self):
        """The exit code, and what it says about records."""
        self.process.send_signal(signal.SIGTERM)
        _, told = self.process.communicate()
        return self.process.returncode, [line for line in told.splitlines() if "records: " in line]


@pytest.fixture
def serve():
    """Starts the program; it is gone when the test is."""
    with contextlib.ExitStack() as stack:
        upstream = Starlette(routes=[Route("/v1/chat/completions", _chat, methods=["POST"])])
        behind = stack.enter_context(loopback(upstream))

        def start(url, *more, **options):
            served = Served(url, f"{behind}/v1", *more, **options)
            stack.callback(served.close)
            return served

        yield start


async def _chat(_request):
    def chunks():
        for delta, reason in (
            ({"content": "The mill was "}, None),
            ({"content": "built in 1804 [p1]."}, None),
            ({}, "stop"),
        ):
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            chunk = {"id": "c", "object": "chat.completion.chunk", "choices": [choice]}
            yield f"data: {json.dumps(chunk)}\n\n"
        yield "data: [DONE]\n\n"

    return StreamingResponse(chunks(), media_type="text/event-stream")


def ended(database):
    """How many streams are in the database with their end, by whoever looks at it now."""
    try:
        found = Reader(database, AUDITOR).streams(limit=1_000)
    except DatabaseError:  # busy, or not there yet
        return 0
    return sum(one.outcome == "finished" for one in found)


def until_ended(url, count):
    database, pause = Database(url), threading.Event()
    while ended(database) < count:
        pause.wait(0.05)
    database.close()


def passed(url, entries):
    with Database(url) as database:
        found = verify(database)
    assert (found.entries, found.problems) == (entries, ())


def test_answers_are_kept_and_judged_while_it_runs_and_counted_when_it_stops(serve, url):
    served = serve(url, "--judging")
    judge, _, token = served.until("judge at ").partition("judge at ")[2].strip().partition("#")
    served.ask()
    until_ended(url, 1)
    shown = {"x-streamverify-token": token}
    (stream,) = httpx2.get(f"{judge}api/streams", headers=shown).json()["streams"]
    told = {"stream": stream["id"], "sentence": 0, "opinion": "incorrect", "by": "ann"}
    assert httpx2.post(f"{judge}api/judgment", headers=shown, json=told).status_code == 200
    assert httpx2.get(f"{judge}api/streams").status_code == 401
    assert served.end() == (0, ["streamverify: records: 2 stored, 0 dropped"])
    passed(url, 3)


def test_a_disk_that_is_full_for_a_while_loses_nothing(serve, tmp_path):
    url = str(tmp_path / "records.db")
    served = serve(url)
    served.ask()
    until_ended(url, 1)
    resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, FULL)
    served.ask()
    served.until("trying again")
    served.ask()
    resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, ROOM)
    until_ended(url, 3)
    assert served.end() == (0, ["streamverify: records: 6 stored, 0 dropped"])
    passed(url, 6)


def test_what_a_full_disk_never_took_is_counted(serve, tmp_path):
    url = str(tmp_path / "records.db")
    served = serve(url)
    served.ask()
    until_ended(url, 1)
    resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, FULL)
    served.ask()
    served.until("trying again")
    assert served.end() == (0, ["streamverify: records: 2 stored, 2 dropped"])
    passed(url, 2)


@pytest.mark.postgres
def test_a_database_that_is_gone_for_a_while_loses_nothing(serve, server):
    url = server.new_database()
    served = serve(url)
    served.ask()
    until_ended(url, 1)
    server.stop()
    try:
        served.ask()
        served.until("trying again")
        served.ask()
    finally:
        server.start()
    until_ended(url, 3)
    assert served.end() == (0, ["streamverify: records: 6 stored, 0 dropped"])
    passed(url, 6)


def test_a_killed_program_leaves_whole_records_and_the_next_one_goes_on(serve, url):
    first = serve(url)
    for number in range(3):
        first.ask(number)
    until_ended(url, 1)
    first.process.kill()
    first.process.wait()
    with Database(url) as database:
        left = verify(database)
        assert left.problems == ()
        assert left.entries >= 2
        assert {one.outcome for one in Reader(database, AUDITOR).streams()} <= {"finished", None}
    second = serve(url)
    second.ask()
    assert second.end() == (0, ["streamverify: records: 2 stored, 0 dropped"])
    passed(url, left.entries + 2)


def test_two_programs_write_one_database(serve, url):
    both = [serve(url), serve(url)]
    with ThreadPoolExecutor(4) as pool:
        for one in both:
            list(pool.map(one.ask, range(4)))
    for one in both:
        assert one.end() == (0, ["streamverify: records: 8 stored, 0 dropped"])
    passed(url, 16)


BACKWARDS = """
import sys
from datetime import UTC, datetime, timedelta
from itertools import count
from streamverify import program, records

kept, days = records.Records, count()
records.Records = lambda url, **more: kept(
    url, clock=lambda: datetime(2026, 5, 1, tzinfo=UTC) - timedelta(days=next(days)), **more
)
sys.exit(program.main(sys.argv[1:]))
"""


def test_a_share_of_each_domain_is_judged_again_outside_of_the_stream(serve, url):
    """Of one domain all, of the others none, by a judge that answers after the stream has ended."""
    let_go = threading.Event()

    def behave(asked, _number):
        let_go.wait(120)  # no stream waits for it
        return answered(asked)

    with loopback(Judging(behave).app) as judge:
        served = serve(
            url, "--online-metric", "retrieval_precision=context_precision_by_judge", "--online-share", "0",
            "--online-domain", "legal=1", "--online-seed", "s1",
            "--online-judge", f"{judge}/v1", "--online-judge-model", "judge-1",
        )  # fmt: skip
        for domain in ("legal", "other", "other"):
            served.ask(domain=domain)
        until_ended(url, 3)
        database, pause = Database(url), threading.Event()
        assert judged_later(database) == []
        let_go.set()
        while not judged_later(database):
            pause.wait(0.05)
        ((domain, by, criterion, score),) = judged_later(database)
        assert (domain, by, criterion) == ("legal", "judge-1", "retrieval_precision")
        assert 0 <= score <= 1
        database.close()
        served.process.send_signal(signal.SIGTERM)
        _, told = served.process.communicate()
    assert "online: 1 sampled, 1 scored, 0 failed, 0 shed, 0 lost" in told
    assert "records: 6 stored, 0 dropped" in told
    passed(url, 7)


def judged_later(database):
    """Domain, judge, criterion and score of what was judged outside of streams."""
    judgments, streams = schema.judgments.c, schema.streams.c
    asked = (
        sa.select(streams.domain, judgments.by, judgments.criterion, judgments.score)
        .join(schema.streams, streams.id == judgments.stream_id)
        .where(judgments.source == "judge")
    )
    try:
        with database.reading() as connection:
            return [tuple(row) for row in connection.execute(asked)]
    except DatabaseError:  # busy
        return []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--online-share", "0.5"], "say what judges the share"),
        (["--online-model", "fast", "--online-share", "2"], "between 0 and 1"),
        (["--online-model", "fast", "--online-domain", "legal"], "write legal=0.5"),
        (["--online-metric", "nonsense"], "nonsense"),
        (["--online-metric", "answer_relevance"], "asks a judge"),
        (["--online-metric", "faithfulness", "--online-judge", "http://x"], "both"),
        (
            ["--online-model", "fast", "--online-judge", "http://x", "--online-judge-model", "m"],
            "--online-metric",
        ),
    ],
)
def test_online_options_that_make_no_sense_are_refused_in_one_line(tmp_path, capsys, arguments, problem):
    given = ["serve", "--upstream", "http://x", "--port", "0", "--records", str(tmp_path / "r.db")]
    assert main([*given, *arguments]) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert main([*given[:-2], "--online-model", "fast"]) == 2
    assert "--records" in capsys.readouterr().err


def test_a_clock_that_goes_backwards_changes_neither_order_nor_chain(serve, url):
    served = serve(url, program=("-c", BACKWARDS))
    for number in range(3):
        served.ask(number)
        until_ended(url, number + 1)
    assert served.end() == (0, ["streamverify: records: 6 stored, 0 dropped"])
    passed(url, 6)
