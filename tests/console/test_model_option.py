"""`--model` beside `--scorer`, for every command that judges."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from streamverify.program import main
from streamverify.scorers.model_files import embedded

ROW = {"id": "a", "question": "q", "answer": "It rains.", "passages": [{"id": "p", "text": "It rains."}]}


@pytest.fixture
def commands(tmp_path):
    passages, data = tmp_path / "p.jsonl", tmp_path / "d.jsonl"
    passages.write_text(json.dumps({"id": "p", "text": "It rains."}) + "\n")
    data.write_text(json.dumps(ROW) + "\n")
    return {
        "check": ["check", "-p", str(passages), "--answer-text", "It rains."],
        "stream": ["stream", "-p", str(passages)],
        "demo": ["demo"],
        "evaluate": ["evaluate", str(data)],
        "calibrate": ["calibrate", str(data)],
        "serve": ["serve", "--demo"],
    }


@pytest.mark.parametrize("name", ["check", "stream", "demo", "evaluate", "calibrate", "serve"])
@pytest.mark.parametrize("model", ["accurate", "cascade"])
def test_a_model_that_is_not_installed_is_one_line_with_the_command(
    name, model, commands, capsys, monkeypatch
):
    monkeypatch.setattr("streamverify.scorers.installed.entry_points", lambda group: ())  # whatever is here
    assert main([*commands[name], "--model", model]) == 2
    [line] = capsys.readouterr().err.strip().splitlines()[-1:]
    assert "pip install ./models/accurate" in line


@pytest.mark.parametrize("name", ["check", "stream", "demo", "evaluate", "calibrate"])
def test_a_model_and_a_scorer_are_refused_together(name, commands, capsys):
    assert main([*commands[name], "--model", "fast", "--scorer", "lexical"]) == 2
    assert "give a scorer or a model, not both" in capsys.readouterr().err


def test_the_fingerprint_tells_the_model(commands, capsys):
    assert main([*commands["check"], "--model", "fast", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["fingerprint"]["model"].startswith("sv-minilm")
    assert told["fingerprint"]["calibration"]


@pytest.mark.model
@pytest.mark.parametrize("command", ["info", "verify"])
def test_a_model_is_looked_at_by_its_name(command, tmp_path, monkeypatch, capsys):
    info = tmp_path / "borrowed-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: borrowed\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[streamverify.models]\nborrowed = borrowed_model\n")
    shutil.copytree(embedded(), tmp_path / "borrowed_model")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["model", command]) == 0
    inside = capsys.readouterr().out
    for name in ("fast", "borrowed", str(tmp_path / "borrowed_model")):
        assert main(["model", command, name]) == 0
        assert capsys.readouterr().out.splitlines()[:5] == inside.splitlines()[:5]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nowhere", "no model at nowhere: installed are fast"),
        ("cascade", "'cascade' asks two models"),
        ("lexical", "'lexical' has no model"),
    ],
)
def test_what_is_no_single_model_is_one_line(name, told, capsys):
    assert main(["model", "info", name]) == 2
    assert capsys.readouterr().err.startswith(f"streamverify: {told}")


@pytest.mark.model
def test_the_longest_claim_is_the_one_that_the_error_names(commands, capsys):
    assert main(["model", "info", "--json"]) == 0
    longest = json.loads(capsys.readouterr().out)["claim_tokens"]
    answer = "It rains " + "and rains " * longest + "."
    assert main([*commands["check"][:3], "--answer-text", answer, "--json"]) == 0
    [sentence] = json.loads(capsys.readouterr().out)["sentences"]
    assert sentence["reason_text"].endswith(f"the scorer reads {longest}")
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert f"a claim of more than {longest} tokens is `unverified`" in readme
