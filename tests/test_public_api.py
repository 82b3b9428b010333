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


def test_the_table_of_names_says_what_type_checkers_read():
    source = ast.parse(Path(streamverify.__file__).read_text(encoding="utf-8"))
    block = next(node for node in source.body if isinstance(node, ast.If))
    assert ast.unparse(block.test) == "TYPE_CHECKING"
    read = {
        (node.module, name.name, name.asname)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    table = {
        (f"streamverify.{module}", name, name)
        for module, names in streamverify._HOMES.items()
        for name in names.split()
    }
    assert table == read


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
        ("from streamverify.adapters import ChunkMultiplexer", ["streamverify.adapters.ChunkMultiplexer"]),
        ("import streamverify.streaming.pump as pump", ["streamverify.streaming.pump"]),
        (
            "def late():\n    from streamverify.streaming.pump import Pump",
            ["streamverify.streaming.pump.Pump"],
        ),
        (
            "importlib.import_module('streamverify.streaming.pump')",
            ["importlib.import_module('streamverify.streaming.pump')"],
        ),
        ("import streamverify, streamverify_openai.chat", []),
        ("from streamverify import Verifier\nfrom streamverify.adapters import Pipe", []),
    ],
)
def test_a_private_import_is_noticed(source, wrong):
    assert private_imports(source) == wrong


def test_the_adapter_kit_is_documented_name_by_name():
    assert sorted(adapters.__all__) == adapters.__all__
    page = (PACKAGE.parent / "docs" / "guides" / "adapters.md").read_text(encoding="utf-8")
    assert [name for name in adapters.__all__ if not re.search(rf"\b{name}\b", page)] == []
    assert all(getattr(adapters, name) is not None for name in adapters.__all__)


def test_no_file_is_longer_than_a_reader_finishes():
    folders = (PACKAGE, PACKAGE.parent / "integrations")
    lengths = {
        path.name: len(path.read_text(encoding="utf-8").splitlines())
        for folder in folders
        for path in folder.rglob("*.py")
    }
    assert {name: lines for name, lines in lengths.items() if lines > 400} == {}
