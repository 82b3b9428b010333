from __future__ import annotations

import json
import subprocess
import sys

import pytest

from streamverify._extras import require
from streamverify.errors import MissingExtraError


def test_a_package_that_is_there_is_given():
    assert require("json", extra="x", feature="this") is json


@pytest.mark.parametrize("package", ["not_installed_at_all", "not_installed_at_all.part"])
def test_a_missing_package_is_an_error_with_the_command_that_installs_it(package):
    with pytest.raises(
        MissingExtraError, match=r"this needs not_installed_at_all: pip install 'streamverify\[x\]'"
    ):
        require(package, extra="x", feature="this")


def test_a_package_that_fails_inside_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "broken_inside.py").write_text("import not_installed_either")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="not_installed_either") as caught:
        require("broken_inside", extra="x", feature="this")
    assert not isinstance(caught.value, MissingExtraError)


@pytest.mark.parametrize(
    "arguments",
    [
        ["monitor", "check", "--records", "x.db"],
        ["monitor", "drift", "--records", "x.db", "--reference", "2026-11-01..2026-11-08"],
        ["ab", "decide", "a", "b", "--records", "x.db"],
        ["audit", "list", "--records", "x.db"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_a_command_about_records_without_the_extra_is_one_line_and_no_alert(arguments, tmp_path):
    script = (
        "import sys; sys.modules['sqlalchemy'] = None\n"
        f"from streamverify.program import main; sys.exit(main({arguments}))"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(" needs sqlalchemy: pip install 'streamverify[records]'\n")
    assert done.stderr.count("\n") == 1
