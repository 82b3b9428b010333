from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import streamverify

PACKAGE = Path(streamverify.__file__).parent


def test_every_public_name_can_be_imported_and_nothing_else_is_offered():
    assert sorted(streamverify.__all__) == streamverify.__all__
    assert sorted(dir(streamverify)) == sorted([*streamverify.__all__, "__version__"])
    for name in streamverify.__all__:
        assert getattr(getattr(streamverify, name), "__name__", name) == name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = streamverify.nothing


def loaded_by(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


HEAVY = {"numpy", "onnxruntime", "tokenizers", "openai", "huggingface_hub", "rich", "typer", "starlette"}


def test_importing_loads_nothing_heavy():
    assert not loaded_by("import streamverify") & (HEAVY | {"pydantic", "anyio"})
    names = ", ".join(streamverify.__all__)
    assert not loaded_by(f"from streamverify import {names}") & HEAVY


def test_importing_changes_nothing_outside():
    code = (
        "import os, threading, warnings, logging\n"
        "def state():\n"
        "    handlers = logging.root.handlers[:]\n"
        "    return dict(os.environ), threading.active_count(), warnings.filters[:], handlers\n"
        "before = state()\n"
        f"from streamverify import {', '.join(streamverify.__all__)}\n"
        "assert before == state()"
    )
    loaded_by(code)


LAYERS = [
    {"errors"},
    {"types"},
    {"events", "calibration"},
    {"scorers.protocol"},
    {"segment", "passages", "policy", "checks", "citations", "claims", "language", "evidence", "scorers"},
    {"judge", "material", "citing", "session", "repair", "workers", "sources", "retrieval", "portal"},
    {"assess"},
    {"preparation"},
    {"pump"},
    {"stream"},
    {"verifier"},
    {"decorator", "demo", "testing", "files", "terminal"},
    {"cli"},
]


def layer_of(module: str) -> int | None:
    for level, names in enumerate(LAYERS):
        if module in names:
            return level
    head = module.partition(".")[0]
    return next((level for level, names in enumerate(LAYERS) if head in names), None)


def test_imports_point_one_way():
    """A module never imports, at run time, one of a later stage; `TYPE_CHECKING` imports do not count."""
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        own = layer_of(module)
        if own is None:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("streamverify."):
                target = layer_of(node.module.removeprefix("streamverify."))
                if target is not None and target > own:
                    wrong.append(f"{module} imports {node.module}")
    assert wrong == []


def test_no_file_is_longer_than_a_reader_finishes():
    long = {
        path.name: lines
        for path in PACKAGE.rglob("*.py")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 450
    }
    assert long == {}
