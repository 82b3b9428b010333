from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import streamverify
from streamverify import adapters

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


PUBLIC = ("streamverify", "streamverify.adapters")
"""Modules whose `__all__` an adapter may import from."""


def private_imports(source: str) -> list[str]:
    """What a module takes of this package that is not public, wherever in the module it does so."""
    wrong = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            wrong += [n for n in names if n.partition(".")[0] == "streamverify" and n not in PUBLIC]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "streamverify":
            public = import_module(node.module).__all__ if node.module in PUBLIC else ()
            wrong += [f"{node.module}.{alias.name}" for alias in node.names if alias.name not in public]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            wrong += [ast.unparse(node)]
    return wrong


def test_integrations_import_public_names_only():
    adapters = sorted((PACKAGE.parent / "integrations").rglob("*.py"))
    assert len(adapters) > 20
    found = {path.name: private_imports(path.read_text(encoding="utf-8")) for path in adapters}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("from streamverify.passages import passages_from", ["streamverify.passages.passages_from"]),
        ("from streamverify import verifier", ["streamverify.verifier"]),
        ("from streamverify.adapters import Relay", ["streamverify.adapters.Relay"]),
        ("import streamverify.pump as pump", ["streamverify.pump"]),
        ("def late():\n    from streamverify.pump import Pump", ["streamverify.pump.Pump"]),
        ("importlib.import_module('streamverify.pump')", ["importlib.import_module('streamverify.pump')"]),
        ("import streamverify, streamverify_openai.chat", []),
        ("from streamverify import Verifier\nfrom streamverify.adapters import Pipe", []),
    ],
)
def test_a_private_import_is_noticed(source, wrong):
    assert private_imports(source) == wrong


def test_the_adapter_kit_is_documented_name_by_name():
    assert sorted(adapters.__all__) == adapters.__all__
    page = (PACKAGE.parent / "docs" / "adapters.md").read_text(encoding="utf-8")
    assert [name for name in adapters.__all__ if not re.search(rf"\b{name}\b", page)] == []
    assert all(getattr(adapters, name) is not None for name in adapters.__all__)


def test_no_file_is_longer_than_a_reader_finishes():
    long = {
        path.name: lines
        for path in PACKAGE.rglob("*.py")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 450
    }
    assert long == {}
