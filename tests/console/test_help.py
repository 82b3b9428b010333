"""Arguments look alike in the help of every command."""

from __future__ import annotations

import re

import pytest
import typer.core
import typer.main
from typer.testing import CliRunner

from streamverify.program import app


def commands(group=None, path=()):
    """Every command that can be run, by the words that run it."""
    for name, command in (group or typer.main.get_command(app)).commands.items():
        if isinstance(command, typer.core.TyperGroup):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name)


def shown(*words):
    found = CliRunner().invoke(app, words, prog_name="streamverify")
    assert "Traceback" not in found.output
    return found.output


@pytest.mark.parametrize("command", list(commands()), ids=" ".join)
def test_arguments_have_one_style_in_usage_and_in_their_section(command):
    text = shown(*command, "--help")
    usage = re.match(r"Usage: streamverify (.*?) \[OPTIONS\] ?(.*)\n", text)
    assert usage[1] == " ".join(command).replace("demo case", "demo")
    names = usage[2].split()
    assert all(re.fullmatch(r"[A-Z]+(\.\.\.)?|\[[A-Z]+\]", name) for name in names)
    _, _, section = text.partition("\nArguments:\n")
    listed = re.findall(r"^  (\S+)  +\S", section.partition("\n\n")[0], re.MULTILINE)
    assert listed == [name.strip("[]") for name in names]
    assert "list[" not in text


def test_what_is_missing_is_named_as_in_the_usage():
    told = shown("dataset", "merge")
    assert told.startswith("Usage: streamverify dataset merge [OPTIONS] DATASET LABELS...\n")
    assert "Error: Missing argument 'DATASET'." in told


def test_a_case_is_shown_without_the_command_that_nobody_writes():
    assert shown("demo", "--help").startswith("Usage: streamverify demo [OPTIONS] [CASE]\n")
    assert shown("demo", "--nope").startswith("Usage: streamverify demo [OPTIONS] [CASE]\n")
