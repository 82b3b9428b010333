"""`streamverify dashboard`: where it listens, whom it lets in, how it ends."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from served import TOKEN

from streamverify.dashboard.rendering import excerpt
from streamverify.program import main
from streamverify.records import Records
from streamverify.records.listing import Behind
from tests.console.command_line import first_line
from tests.records.streams import record


@contextlib.contextmanager
def running(*arguments, token=TOKEN):
    """The process and the address it prints."""
    command = [sys.executable, "-m", "streamverify", "dashboard", "--port", "0", *map(str, arguments)]
    environment = {name: value for name, value in os.environ.items() if name != "STREAMVERIFY_TOKEN"}
    given = {"STREAMVERIFY_TOKEN": token} if token else {}
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=environment | given, **pipes) as process:
        try:
            yield process, first_line(process)
        finally:
            process.kill()


@pytest.mark.slow
def test_it_prints_where_to_look_shows_the_records_and_ends_in_order(tmp_path):
    path = tmp_path / "r.db"
    with Records(path) as records:
        record(records, context={"user": "u1", "roles": ["hr"]})
        record(records, context={"user": "u2"}, question="Another's?")
    with running("--records", path, token="") as (process, told):
        address, _, token = told.partition("/#")
        assert address.startswith("http://127.0.0.1:")
        assert len(token) > 20
        shown = {"x-streamverify-token": token}
        assert "Another" in httpx2.get(f"{address}/view/answers", headers=shown, timeout=60).text
        assert httpx2.get(f"{address}/view/answers", timeout=60).status_code == 401
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    with running("--records", path, "--as", "u1", "--roles", "hr") as (_, told):
        address, _, token = told.partition("/#")
        assert token == TOKEN
        seen = httpx2.get(f"{address}/view/answers", headers={"x-streamverify-token": TOKEN}, timeout=60).text
        assert "How much leave?" in seen
        assert "Another" not in seen


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--host", "0.0.0.0"], "can be reached by other machines"),
        (["--records", "nothing.db"], "there are no records"),
        (["--rules", "nothing.toml"], "nothing.toml"),
        (["--gates", "nothing.toml"], "nothing.toml"),
        (["--people", "nothing.toml"], "nothing.toml"),
        (["--people", "people.toml", "--as", "ann"], "leave out --as"),
        (["--roles", "hr"], "name one with --as"),
        (["--reference", "yesterday"], "no stretch of time"),
        (["--window", "1y"], "no length of time"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, monkeypatch, capsys, arguments, problem):
    monkeypatch.delenv("STREAMVERIFY_TOKEN", raising=False)
    monkeypatch.chdir(tmp_path)
    assert main(["dashboard", "--records", "r.db", *arguments]) == 2
    assert problem in capsys.readouterr().err


def test_a_token_that_can_be_guessed_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("STREAMVERIFY_TOKEN", "short")
    assert main(["dashboard", "--records", str(tmp_path / "r.db")]) == 2
    assert "16 characters" in capsys.readouterr().err


@given(st.text("ab c", max_size=40), st.integers(0, 40), st.integers(0, 40), st.integers(0, 9))
def test_an_excerpt_holds_the_part_that_decided_whole(text, one, other, around):
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    behind = Behind(0, "p", "u", None, "supported", 1.0, text, start, end)
    before, part, after = excerpt(behind, around)
    assert part == text[start:end]
    assert text[:start].endswith(before.removeprefix("… "))
    assert text[end:].startswith(after.removesuffix(" …"))
    assert max(len(before), len(after)) <= around + 2
