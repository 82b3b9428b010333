"""`--model` beside `--scorer`, for every command that judges."""

from __future__ import annotations

import json

import pytest

from streamverify.program import main

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
