"""`streamverify serve --workers 2` as a running program: one port, and processes any of which may die."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa
from typer.testing import CliRunner
from worker_program import FIRST, REST, programs, report, upstream_that_answers

from streamverify.errors import UsageError
from streamverify.program import app
from streamverify.records import Database, schema, verify
from streamverify.scorers import Share
from streamverify.server.crew import threads_of_each, windows_folder
from streamverify.server.launch import ServeOptions
from streamverify.server.online import OnlineOptions
from streamverify.server.worker import Orders


def gone(process):
    """Whether a process has ended, its parent being somebody who does not look."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


@pytest.fixture
def upstream():
    with upstream_that_answers() as made:
        yield made


@pytest.fixture
def serve(upstream, tmp_path):
    with programs(upstream, tmp_path) as start:
        yield start


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_worker_that_is_killed_is_started_again_and_metrics_records_and_the_end_are_of_all(
    serve, upstream, tmp_path
):
    url = f"sqlite:///{tmp_path}/answers.db"
    served = serve("--metrics", "--records", url)
    folders = served.windows()
    assert len(folders) == 1
    finished = 'streamverify_streams_total{outcome="finished"}'
    assert {served.answer()["outcome"] for _ in range(6)} == {"finished"}
    while served.metrics().get(finished, 0) < 6:
        pass  # who is killed counts nothing more, and a stream is counted after its last event
    os.kill(served.workers[0], signal.SIGKILL)
    assert f"(process {served.workers[0]}) was ended by SIGKILL; another" in served.until("worker 1")
    assert {served.answer()["outcome"] for _ in range(4)} == {"finished"}  # the other one serves meanwhile
    assert int(served.until("worker 1 is process").split()[-1]) != served.workers[0]
    assert {served.answer()["outcome"] for _ in range(4)} == {"finished"}
    while (found := served.metrics())[finished] < 14:
        assert found[finished] >= 6
    assert found[finished] == 14
    assert found["streamverify_open_streams"] == 0
    assert found["streamverify_window_cache_bytes"] == sum(
        path.stat().st_size for path in folders[0].glob("*.window")
    )
    upstream.may_go_on.clear()
    with contextlib.ExitStack() as stack:
        asked = [stack.enter_context(served.ask()) for _ in range(6)]
        for _ in asked:
            upstream.asked.acquire()
        os.killpg(served.process.pid, signal.SIGINT)  # as Ctrl-C does: to every process of the terminal
        served.until("may go on for 20 s")
        upstream.may_go_on.set()
        reports = [report(got.read().decode()) for got in asked]
    assert {(one["outcome"], one["answer"]) for one in reports} == {("finished", FIRST + REST)}
    assert served.end() == 0
    assert [folder.exists() for folder in folders] == [False]
    assert not any(path.name.startswith("streamverify-") for path in tmp_path.iterdir())
    told = [line.rsplit("records: ", 1)[1].split() for line in served.told if "records: " in line]
    assert [(dropped, int(stored) % 2) for stored, _, dropped, _ in told] == [("0", 0)] * 2
    with Database(url) as database:
        assert verify(database).problems == ()
        with database.reading() as connection:
            kept = connection.execute(sa.select(sa.func.count()).select_from(schema.conclusions)).scalar_one()
        assert kept in range(8 + 6, 14 + 6 + 1)  # who is killed writes nothing more


@pytest.mark.slow  # a minute
@pytest.mark.timeout(600)
def test_a_worker_that_hangs_is_killed_and_another_takes_its_place(serve):
    served = serve()
    os.kill(served.workers[1], signal.SIGSTOP)
    assert f"(process {served.workers[1]}) hung for 60 s: killed" in served.until("worker 2")
    assert "was ended by SIGKILL; another" in served.until("worker 2")
    assert int(served.until("worker 2 is process").split()[-1]) != served.workers[1]
    assert not gone(served.workers[0])
    assert {served.answer()["outcome"] for _ in range(4)} == {"finished"}
    served.process.terminate()
    assert served.end() == 0


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_workers_stop_when_their_supervisor_is_killed_and_take_its_folders_away(serve):
    served = serve("--metrics")
    folders, (host, port) = served.windows(), served.address.removeprefix("http://").split(":")
    served.process.kill()
    served.process.wait()
    assert served.process.stderr.read() is not None  # its end: nobody writes to it any more
    while not all(gone(worker) for worker in served.workers):
        pass
    assert [folder.exists() for folder in folders] == [False]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_worker_that_cannot_begin_ends_the_program_with_its_reason(upstream, tmp_path):
    model = tmp_path / "model"
    model.mkdir()
    (model / "sha256sums").write_text("")  # looks like one until it is opened
    command = ["serve", "--upstream", f"{upstream.address}/v1", "--port", "0", "--workers", "2"]
    done = subprocess.run(
        [sys.executable, "-m", "streamverify", *command, "--model", str(model)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode not in {0, -signal.SIGTERM}
    assert "giving up" in done.stderr
    assert "model" in done.stderr
    assert "serves" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--demo"], "leave --workers out"),
        (["--upstream", "http://127.0.0.1:9/v1", "--model", "nowhere"], "nowhere"),
        (["--upstream", "http://127.0.0.1:9/v1", "--preset", "careless"], "preset must be"),
        ([], "nothing to serve"),
    ],
)
def test_what_no_worker_could_serve_is_refused_before_any_is_started(arguments, message):
    result = CliRunner().invoke(app, ["serve", "--workers", "2", *arguments])
    assert (result.exit_code, message in result.output) == (2, True)


def test_a_port_that_is_taken_is_told():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = CliRunner().invoke(
            app, ["serve", "--workers", "2", "--upstream", "http://127.0.0.1:9/v1", "--port", port]
        )
    assert (result.exit_code, f"port {port} cannot be used" in result.output) == (2, True)


def test_the_threads_of_all_workers_are_at_most_twice_the_cores_and_one_alone_may_use_its_double_share():
    for machine in range(1, 65):
        for workers in range(1, 17):
            threads = threads_of_each(machine, workers)
            assert 1 <= threads <= machine
            assert threads * workers >= machine
            assert threads * workers <= 2 * (machine + workers)


ONLINE = OnlineOptions(metrics=("faithfulness",), share=0.5, domains=("legal=1",), seed="s")


def test_orders_arrive_as_they_were_given():
    words = dict.fromkeys(ServeOptions.__dataclass_fields__)
    options = ServeOptions(
        **{**words, "upstream": "http://x/\n\u2028", "port": 0, "metrics": True, "online": ONLINE}
    )
    orders = Orders(options=options, threads=2, windows="/somewhere", metrics=None, judges="t")
    line = orders.to_line()
    assert "\n" not in line
    assert Orders.from_line(line.encode()) == orders


def test_a_worker_has_its_share_of_the_cores_and_none_of_them_of_a_graphics_processor():
    words = dict.fromkeys(ServeOptions.__dataclass_fields__)
    given = Share(threads=2, windows=Path("/somewhere"))
    assert ServeOptions(**{**words, "provider": "cpu"}).share(given) == given
    assert ServeOptions(**{**words, "provider": "cpu"}).share(None) == Share()
    for provider in ("cuda", "auto"):
        taken = ServeOptions(**{**words, "provider": provider}).share(given)
        assert taken == Share(threads=None, windows=given.windows, provider=provider)


def test_folders_of_supervisors_that_were_killed_are_swept_and_those_of_the_living_stay(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("streamverify.server.crew._MEMORY", tmp_path)
    left = tmp_path / "streamverify-windows-left"
    left.mkdir()
    (left / "owned").write_text("")
    (left / "1.window").write_text("x")
    with windows_folder(1, print) as first, windows_folder(1, print) as second:
        assert not left.exists()
        assert first.is_dir()
        assert second.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_where_memory_has_no_room_windows_are_shared_on_disk_and_that_is_told(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr("streamverify.server.crew._MEMORY", tmp_path / "none")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with windows_folder(1, told.append) as folder:
        assert folder.parent == tmp_path
    assert len(told) == 1
    with pytest.raises(UsageError, match="make .* free"), windows_folder(2**62, print):
        pass
