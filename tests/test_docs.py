"""README and documentation: their Python runs, or names only what exists; nothing public is left out.

A block is what stands between ```python fences. Comments before it say how it is checked:

    <!-- run -->                  it is run, after the blocks of its page that are run before it
    <!-- prints -->               before the next block of text: what those have printed
    <!-- given: bot, passages --> names that come from the reader's own program, on this page
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest
import typer.core
import typer.main

from streamverify.program import app

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
OWN = ("streamverify",)
"""What packages of this project begin with."""
PUBLIC = (
    "streamverify",
    "streamverify.adapters",
    "streamverify.citations",
    "streamverify.domains",
    "streamverify.evaluate",
    "streamverify.figure",
    "streamverify.monitor",
    "streamverify.pii",
    "streamverify.records",
    "streamverify.records.graph",
    "streamverify.scorers",
    "streamverify.server",
    "streamverify.testing",
    "streamverify.validators",
    "streamverify_anthropic",
    "streamverify_langchain",
    "streamverify_llamaindex",
    "streamverify_openai",
)
_BLOCK = re.compile(r"^(?P<blanks> *)```python[^\n]*\n(?P<code>.*?)^ *```$", re.MULTILINE | re.DOTALL)
_RUN = re.compile(r"<!-- run -->\s*```python[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PRINTS = re.compile(r"<!-- prints -->\s*```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"<!-- file: (\S+) -->\s*```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(text: str) -> list[str]:
    return [textwrap.dedent(found["code"]) for found in _BLOCK.finditer(text)]


def given(text: str) -> set[str]:
    return {name.strip() for names in re.findall(r"<!-- given: (.*?) -->", text) for name in names.split(",")}


def compiled(code: str) -> ast.Module:
    """The block's tree; `await` and `async with` may stand at its top, and `...` for an argument."""
    code = re.sub(r"\(\s*\.\.\.,", "(*given,", code)  # create(..., stream=True)
    tree = ast.parse(code)
    compile(tree, "block", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    return tree


class Problems:
    """What a page's blocks name that is not there."""

    def __init__(self, known: set[str]) -> None:
        self.known = {"given", *known, *dir(builtins)}
        self.values: dict[str, object] = {}
        self.found: list[str] = []

    def read(self, code: str) -> None:
        tree = compiled(code)
        nodes = list(ast.walk(tree))
        for node in nodes:
            self.bind(node)
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in self.known:
                self.found.append(f"{node.id} is defined nowhere on the page")
            elif isinstance(node, ast.Attribute):
                self.resolved(node)
            elif isinstance(node, ast.Call):
                self.called(node)

    def bind(self, node: ast.AST) -> None:
        match node:
            case ast.ImportFrom(module=module, names=names) if module is not None:
                self.imported(module, names)
            case ast.Import(names=names):
                for alias in names:
                    self.known.add(alias.asname or alias.name.partition(".")[0])
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                self.known.add(name)
                self.values.pop(name, None)
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.ExceptHandler(name=str(name)):
                self.known.add(name)
                self.values.pop(name, None)

    def imported(self, module: str, names: list[ast.alias]) -> None:
        try:
            source = importlib.import_module(module)
        except ImportError as error:
            if module.partition(".")[0].startswith(OWN):
                self.found.append(str(error))
            source = None  # the reader's own module, or a framework that is not installed here
        for alias in names:
            name = alias.asname or alias.name
            self.known.add(name)
            if source is None:
                continue
            if hasattr(source, alias.name):
                self.values[name] = getattr(source, alias.name)
            else:
                self.found.append(f"{module} has no {alias.name}")

    def value(self, node: ast.expr) -> object | None:
        """What an expression means, where that can be told without running it."""
        match node:
            case ast.Name(id=name):
                return self.values.get(name)
            case ast.Attribute(value=inner, attr=name):
                owner = self.value(inner)
                return None if owner is None else getattr(owner, name, None)
        return None

    def resolved(self, node: ast.Attribute) -> None:
        owner = self.value(node.value)
        if owner is not None and inspect.isclass(owner) and is_own(owner):
            fields = getattr(owner, "model_fields", {}) | getattr(owner, "__dataclass_fields__", {})
            if not hasattr(owner, node.attr) and node.attr not in fields:
                self.found.append(f"{ast.unparse(node)} does not exist")

    def called(self, node: ast.Call) -> None:
        target = self.value(node.func)
        if target is None or not callable(target) or not is_own(target):
            return
        parameters = inspect.signature(target).parameters
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
            return
        for keyword in node.keywords:
            if keyword.arg is not None and keyword.arg not in parameters:
                self.found.append(f"{ast.unparse(node.func)} takes no {keyword.arg}=")


def is_own(value: object) -> bool:
    return (getattr(value, "__module__", None) or "").partition(".")[0].startswith(OWN)


def problems(text: str) -> list[str]:
    seen = Problems(given(text))
    for code in blocks(text):
        seen.read(code)
    return seen.found


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_python_block_names_only_what_exists(page):
    assert problems(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("from streamverify import Nothing", "streamverify has no Nothing"),
        ("from streamverify.nowhere import x", "No module named 'streamverify.nowhere'"),
        (
            "from streamverify import Calibration\nCalibration.load('x')",
            "Calibration.load does not exist",
        ),
        (
            "from streamverify import Verifier\nVerifier(require_citations='numbers')",
            "Verifier takes no require_citations=",
        ),
        ("print(bot)", "bot is defined nowhere on the page"),
    ],
)
def test_what_does_not_exist_is_found(code, problem):
    assert problems(f"```python\n{code}\n```\n") == [problem]


def runnable() -> list[Path]:
    return [page for page in PAGES if _RUN.search(page.read_text(encoding="utf-8"))]


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.parametrize("page", runnable(), ids=name_of)
def test_the_blocks_marked_so_run_and_print_what_is_shown(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    for name, content in _FILE.findall(text):
        (tmp_path / name).write_text(content, encoding="utf-8")
    code = "\n".join(_RUN.findall(text))
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    if shown := "".join(_PRINTS.findall(text)):
        assert trimmed(done.stdout) == trimmed(shown)


def trimmed(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def referenced() -> set[str]:
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md")]
    return {name for page in pages for name in re.findall(r"^::: (\S+)$", page, re.MULTILINE)}


def public(module: ModuleType) -> list[str]:
    """What a module offers: its `__all__`, or what it defines under a name without an underscore."""
    own = [n for n, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    return list(getattr(module, "__all__", [name for name in own if not name.startswith("_")]))


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_in_the_reference(module):
    names = {f"{module}.{name}" for name in public(importlib.import_module(module))}
    assert names - referenced() == set()


def test_the_reference_names_nothing_that_is_gone():
    for name in referenced():
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name


def test_every_page_is_in_the_navigation():
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    navigation = set(re.findall(r"^ +- .*: (\S+\.md)$", settings, re.MULTILINE))
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert navigation - pages == set()
    assert {page for page in pages - navigation if not page.startswith("decisions/")} == set()


def test_every_decision_is_in_the_index():
    folder = ROOT / "docs" / "decisions"
    index = (folder / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- \[.*\]\((\S+\.md)\)$", index, re.MULTILINE)
    assert sorted(listed) == sorted(path.name for path in folder.glob("*.md") if path.name != "index.md")


_COMMAND = re.compile(r"(?<!from )streamverify ((?:[a-z][a-z-]* ?)+)")


def _unknown_command(words: list[str]) -> str | None:
    """The first of these words that is no command where one has to stand; None where all are."""
    found = typer.main.get_command(app)
    for word in words:
        if not isinstance(found, typer.core.TyperGroup) or not found.commands:
            # What follows is an argument; one of these would be taken for it unsaid.
            return word if word in _VERBS else None
        if word not in found.commands:
            return None if found.name == "demo" else word  # a case
        found = found.commands[word]
    return None


_VERBS = frozenset({"add", "list", "show", "import", "export", "remove", "delete", "run", "check"})


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_that_a_page_shows_exists(page):
    shown = re.findall(r"`([^`\n]+)`|^\$ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    for inline, line in shown:
        for words in _COMMAND.findall(inline or line):
            assert _unknown_command(words.split()) is None, f"streamverify {words}"


def test_a_command_that_does_not_exist_is_found():
    assert _unknown_command(["audit", "runs", "add"]) == "add"
    assert _unknown_command(["audit", "runz"]) == "runz"
    assert _unknown_command(["demo", "citations"]) is None
    assert _unknown_command(["dataset", "convert"]) is None
