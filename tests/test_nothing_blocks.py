"""What makes an event loop wait fails a test, and no coroutine of ours uses the synchronous interface."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from blockbuster import BlockingError

import streamverify
from streamverify.demo import load_case

PACKAGE = Path(streamverify.__file__).parent
SOURCES = [*PACKAGE.rglob("*.py"), *(PACKAGE.parent / "integrations").rglob("*.py")]


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.mark.anyio
async def test_a_file_read_by_the_library_on_the_loop_is_told():
    with pytest.raises(BlockingError):
        load_case("docs")


def waits(source: str) -> Iterator[int]:
    """Lines on which a coroutine calls what waits for another thread."""

    def own(node: ast.AST) -> Iterator[ast.AST]:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                yield child
                yield from own(child)

    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.AsyncFunctionDef):
            for call in own(node):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                    name, held = call.func.attr, ast.unparse(call.func.value)
                    if name == "check_sync" or (name in ("run", "start") and held.endswith("portal")):
                        yield call.lineno


def test_what_waits_is_seen():
    assert list(waits("async def f(v):\n    v.portal.run(g)")) == [2]
    assert list(waits("async def f(v):\n    def g(): v.check_sync()")) == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(PACKAGE.parent).as_posix())
def test_no_coroutine_of_ours_waits_for_a_thread(path):
    assert list(waits(path.read_text())) == []
