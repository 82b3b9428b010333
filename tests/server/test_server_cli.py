"""What the server package loads, exports and refuses before it listens."""

from __future__ import annotations

import subprocess
import sys

import onnxruntime
import pytest
import typer
from typer.testing import CliRunner

import streamverify.server
from streamverify.errors import ProviderError, UsageError
from streamverify.server import Limits, ServeSettings
from streamverify.server.cli import serve


def app() -> typer.Typer:
    made = typer.Typer()
    made.command()(serve)
    return made


def test_every_public_name_is_there():
    assert sorted(streamverify.server.__all__) == streamverify.server.__all__
    assert all(getattr(streamverify.server, name) for name in streamverify.server.__all__)


def test_importing_the_package_and_its_command_loads_no_extra():
    program = (
        "import sys, streamverify.server, streamverify.server.cli;"
        "extras = 'starlette', 'sse_starlette', 'uvicorn', 'httpx2', 'pydantic';"
        "print([name for name in extras if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--demo", "--host", "0.0.0.0"], "STREAMVERIFY_TOKEN"),
        ([], "nothing to serve"),
        (["--upstream", "api.example.com"], "http://"),
        (["--upstream", "http://[::1/v1"], "Invalid IPv6 URL"),
        (["--upstream", "http://127.0.0.1:99999/v1"], "Port out of range"),
        (["--demo", "--policy", "burn"], "no policy"),
        (["--demo", "--policy", "burn"], "'observe', 'flag', 'redact', 'halt'"),
        (["--demo", "--on-unverified", "hide"], "'release' or 'withhold'"),
        (["--demo", "--passages", "nowhere.jsonl"], "nowhere.jsonl"),
        (["--demo", "--concurrent", "0"], "--concurrent must be above 0"),
        (["--demo", "--max-body", "0"], "--max-body must be above 0"),
        (["--demo", "--timeout", "nan"], "--timeout must be above 0"),
        (["--demo", "--max-lag", "0"], "--max-lag must be above 0"),
        (["--demo", "--drain-seconds", "-1"], "--drain-seconds"),
        (["--demo", "--preset", "wrong"], "'strict', 'balanced' or 'lenient'"),
        (["--demo", "--provider", "gpu"], "cpu or cuda or auto, not 'gpu'"),
        (["--demo", "--keep", "hashes"], "--records"),
        (["--demo", "--records", "x.db", "--keep", "all"], "all"),
        (["--demo", "--port", "0", "--records", ""], "the records' name is empty"),
        (["--demo", "--port", "0", "--records", ":memory:"], "name a file"),
        (
            ["--demo", "--port", "0", "--records", "/nowhere/x.db"],
            "cannot be opened: unable to open database file",
        ),
    ],
)
def test_a_server_that_cannot_be_is_refused_before_it_listens(arguments, message, monkeypatch, tmp_path):
    monkeypatch.delenv("STREAMVERIFY_TOKEN", raising=False)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app(), arguments)
    assert isinstance(result.exception, UsageError)
    assert message in str(result.exception)


def test_a_key_with_the_line_break_of_its_file_is_refused_in_one_line(monkeypatch):
    monkeypatch.setenv("STREAMVERIFY_UPSTREAM_KEY", "sk-secret\n")
    result = CliRunner().invoke(app(), ["--upstream", "http://127.0.0.1:9/v1", "--port", "0"])
    assert isinstance(result.exception, UsageError)
    assert str(result.exception).splitlines() == [
        "the upstream's key begins or ends with a blank or a line break: take it away"
    ]


@pytest.mark.skipif("CUDAExecutionProvider" in onnxruntime.get_available_providers(), reason="CUDA is here")
def test_a_model_that_cannot_run_where_it_is_to_is_one_error_and_no_traceback(capfd, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app(), ["--demo", "--port", "0", "--provider", "cuda"])
    assert isinstance(result.exception, ProviderError)
    assert "onnxruntime-gpu" in str(result.exception)
    assert "Traceback" not in capfd.readouterr().err


def test_a_short_token_is_refused_and_secrets_are_not_shown():
    with pytest.raises(UsageError, match="16"):
        ServeSettings(demo=True, token="short")
    shown = repr(
        ServeSettings(upstream="http://x", token="t" * 16, upstream_key="sk-secret", limits=Limits())
    )
    assert "sk-secret" not in shown
    assert "tttt" not in shown
