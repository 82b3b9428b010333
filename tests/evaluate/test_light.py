"""What importing the offline half costs and touches."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from builders import cases, row, written

import streamverify

FOLDER = Path(streamverify.__file__).parent / "evaluate"
HEAVY = {
    "scipy",
    "numpy",
    "pydantic",
    "onnxruntime",
    "sqlalchemy",
    "statsmodels",
    "pytrec_eval",
    "rich",
    "anyio",
}
FOREIGN = {"pandas", "ragas", "deepeval", "langchain", "litellm", "datasets", "sklearn", "ranx", "diskcache"}

WATCHED = """
import os, sys, threading
before = dict(os.environ), os.getcwd(), threading.active_count()
def refuse(event, arguments):
    writes = event == "open" and "w" in str(arguments[1])
    if writes or event.startswith(("socket.", "subprocess.")):
        raise AssertionError(f"{event} {arguments}")
sys.addaudithook(refuse)
import streamverify.evaluate
assert before == (dict(os.environ), os.getcwd(), threading.active_count())
print(*sys.modules)
from streamverify.evaluate import *
assert before == (dict(os.environ), os.getcwd(), threading.active_count())
print(*sys.modules)
"""


def test_importing_loads_nothing_heavy_and_touches_nothing():
    command = [sys.executable, "-B", "-c", WATCHED]  # what is compiled would be written
    first, every = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert not HEAVY & set(first.split())
    assert not {"scipy", "statsmodels", "pytrec_eval", "onnxruntime", "rich"} & set(every.split())


def test_nothing_is_imported_that_others_break_on():
    for path in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not FOREIGN & {name.partition(".")[0] for name in names}, path


@pytest.mark.slow
def test_the_public_names_are_there_whatever_was_imported_first():
    code = (
        "from streamverify.evaluate import evaluate, read_dataset, metric, Run\n"
        "import streamverify.evaluate as offline\n"
        "values = {'CATALOGUE', 'Figure'}\n"
        "assert all(n in values or callable(getattr(offline, n)) for n in offline.__all__)\n"
        "assert set(offline.__all__) == set(dir(offline)), set(offline.__all__) ^ set(dir(offline))\n"
        "try:\n    offline.nothing\nexcept AttributeError: pass\nelse: raise SystemExit(1)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


BARE = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"scipy", "statsmodels", "jinja2", "markupsafe", "pytrec_eval"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
from streamverify.program import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_without_any_extra_figures_are_computed_and_only_bounds_of_intervals_pass_no_gate(tmp_path):
    data = written(tmp_path / "answers.jsonl", [row(one) for one in cases(6)])
    gates = tmp_path / "gates.toml"
    command = [sys.executable, "-c", BARE, "evaluate", data, "--scorer", "lexical", "--gates", gates]
    reports = [
        "--md",
        tmp_path / "note.md",
        "--junit",
        tmp_path / "tests.xml",
        "--json",
        tmp_path / "run.json",
    ]

    def run(gate: str, *more: object) -> subprocess.CompletedProcess[str]:
        gates.write_text(f"[gates]\nfaithfulness = {gate}\n")
        return subprocess.run([*command, *more], capture_output=True, text=True, check=False)

    assert run("{ min = 0.1 }", *reports).returncode == 0
    assert all(report.exists() for report in reports[1::2])
    bounded = run('{ min = 0.1, on = "low" }')
    assert bounded.returncode == 1
    assert "no low end: pip install 'streamverify[eval]'" in bounded.stdout
    page = run("{ min = 0.1 }", "--html", tmp_path / "page.html")
    assert page.returncode == 2
    assert page.stderr.count("\n") == 1
    assert "streamverify[eval]" in page.stderr
