"""What can happen to a journal while it is written: a full disk, an interruption, a kill at any point."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from builders import cases, row, verifier, written

from streamverify.errors import InputFileError, ModelError, UsageError
from streamverify.evaluate import Run, evaluate, metric
from streamverify.program import main

COUNT = 12
EVALUATION = """
    import os, resource, signal, sys
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have left it ignored
    sys.path.insert(0, {folder!r})
    from builders import cases, verifier
    from streamverify.evaluate import evaluate
    {before}
    with verifier(hang_on={hang_on!r}) as one:
        more |= dict(workers={workers}, metrics=["faithfulness"])
        evaluate(cases({count}), verifier=one, out={out!r}, **more)
"""

KILL = """
told = []
def tell(done, total):
    told.append(done)
    if len(told) >= {after}:
        os.kill(os.getpid(), signal.SIGKILL)
more = {{'progress': tell}}
"""
TELL = "more = {'progress': lambda done, total: print(done, flush=True)}"


def started(
    out: Path, before: str = "more = {}", *, workers: int = 1, hang_on: str | None = None, **options
) -> subprocess.Popen[bytes]:
    script = textwrap.dedent(EVALUATION).format(
        folder=str(Path(__file__).parent),
        before=before,
        out=str(out),
        workers=workers,
        count=COUNT,
        hang_on=hang_on,
    )
    return subprocess.Popen([sys.executable, "-c", script], **options)


def run_of(out: Path | None = None, workers: int = 1) -> Run:
    with verifier() as one:
        return evaluate(cases(COUNT), verifier=one, out=out, workers=workers, metrics=["faithfulness"])


@pytest.fixture(scope="module")
def whole() -> str:
    return run_of().text()


@pytest.fixture(scope="module")
def journal(tmp_path_factory) -> bytes:
    """A whole journal's bytes."""
    out = tmp_path_factory.mktemp("whole") / "journal.jsonl"
    run_of(out)
    return out.read_bytes()


@pytest.mark.parametrize("seed", range(4))
def test_whatever_a_kill_left_is_gone_on_with_to_equal_bytes(seed, whole, journal, tmp_path):
    """A kill leaves what reached the file: all of the journal up to any byte."""
    generator = random.Random(seed)
    out = tmp_path / "journal.jsonl"
    for workers in (1, 2):
        kept = generator.randrange(1, len(journal))
        out.write_bytes(journal[:kept])
        assert run_of(out, workers).text() == whole
        again = out.read_bytes()
        lines = journal[:kept].rpartition(b"\n")[0] + b"\n" if b"\n" in journal[:kept] else b""
        assert again.startswith(lines)  # nothing that was done is done again
        assert Run.read(out).text() == whole
        assert run_of(out).text() == whole
        assert out.read_bytes() == again


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_killed_again_and_again_it_ends_with_equal_bytes(workers, whole, tmp_path):
    """Real kills: each after another number of cases, until nothing is left to do."""
    out = tmp_path / "journal.jsonl"
    generator = random.Random(workers)
    for _ in range(4):
        after = generator.randrange(1, COUNT // 3)
        told = KILL.format(after=after)
        assert started(out, told, workers=workers).wait() in (-signal.SIGKILL, 0)
    assert run_of(out, workers).text() == whole
    assert Run.read(out).text() == whole


@pytest.mark.slow
def test_an_interrupted_evaluation_leaves_a_journal_that_is_gone_on_with(whole, tmp_path):
    out = tmp_path / "journal.jsonl"
    # The third case says "never", at which the scorer hangs: the evaluation cannot end by itself.
    with started(out, TELL, hang_on="never", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert [child.stdout.readline() for _ in range(2)] == [b"1\n", b"2\n"]
        child.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in child.stderr.read()
    with pytest.raises(InputFileError, match="was not finished"):
        Run.read(out)
    before = out.read_bytes()
    assert before.endswith(b"\n")
    assert run_of(out).text() == whole
    assert out.read_bytes().startswith(before)


COMMAND = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, resource.RLIM_INFINITY))
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from streamverify.program import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no limits on files there")
def test_no_room_for_the_journal_is_one_line_and_what_fits_is_gone_on_with(tmp_path):
    data = str(written(tmp_path / "answers.jsonl", [row(one) for one in cases(COUNT)]))
    out = tmp_path / "journal.jsonl"
    arguments = ["evaluate", data, "--scorer", "lexical", "--out", str(out), "--workers", "1"]
    whole = tmp_path / "whole.jsonl"
    assert main([*arguments, "--out", str(whole)]) == 0
    limit = len(whole.read_bytes()) // 2
    # -B: where files have no room, the interpreter would leave half a file of bytecode beside a module.
    command = [sys.executable, "-B", "-c", COMMAND.format(limit=limit), *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    complaint = [line for line in done.stderr.splitlines() if "cases" not in line]
    assert len(complaint) == 1
    assert complaint[0].startswith(f"streamverify: {out} cannot be written: File too large")
    assert 0 < out.read_bytes().count(b'"number"') < COUNT
    assert main(arguments) == 0
    assert Run.read(out) == Run.read(whole)


@pytest.mark.skipif(sys.platform == "win32", reason="no devices among the files there")
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_what_is_no_file_is_refused_as_a_journal(device):
    with pytest.raises(UsageError, match="is no file"):
        run_of(Path(device))


@pytest.mark.parametrize("option", ["--json", "--html", "--md", "--junit", "--out"])
def test_a_place_that_cannot_be_written_is_one_line(option, tmp_path, capsys):
    data = str(written(tmp_path / "answers.jsonl", [row(one) for one in cases(2)]))
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / "none" / "x", tmp_path / "folder"):
        assert main(["evaluate", data, "--scorer", "lexical", option, str(place)]) == 2
        told = capsys.readouterr()
        assert [line for line in told.err.splitlines() if "cases" not in line] == told.err.splitlines()[-1:]
        assert str(place) in told.err
    assert list((tmp_path / "folder").iterdir()) == []


@pytest.mark.parametrize("workers", [1, 3])
def test_what_stops_every_worker_is_raised_as_itself(workers):
    @metric(range=(0, 1))
    def gone(case, report):
        raise ModelError("the model is gone")

    with verifier() as one, pytest.raises(ModelError, match="the model is gone"):
        evaluate(cases(COUNT), metrics=[gone], verifier=one, workers=workers)
