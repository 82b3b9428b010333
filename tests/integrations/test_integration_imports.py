"""The import law of the integrations: public names of the library alone, no circles, none of each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import streamverify
from streamverify import adapters

ROOT = Path(__file__).parents[2] / "integrations"
PACKAGES = sorted(path.name for path in ROOT.iterdir() if (path / "__init__.py").is_file())
PUBLIC = {"streamverify": set(streamverify.__all__), "streamverify.adapters": set(adapters.__all__)}


def imports(source: str) -> Iterator[tuple[str, str]]:
    """Each module imported, with each name taken from it; for type checkers and within functions too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            yield from ((node.module or "", alias.name) for alias in node.names)


def sources(package: str) -> dict[str, str]:
    return {
        f"{package}.{path.stem}".removesuffix(".__init__"): path.read_text(encoding="utf-8")
        for path in sorted((ROOT / package).glob("*.py"))
    }


def strange(package: str, module: str, name: str) -> bool:
    """Whether an integration may not import this."""
    room = module.partition(".")[0]
    if room == "streamverify":
        return name not in PUBLIC.get(module, ())
    return room in PACKAGES and room != package


@pytest.mark.parametrize("package", PACKAGES)
def test_an_integration_takes_public_names_and_nothing_of_another(package):
    found = {
        f"{module}: {target}.{name}"
        for module, source in sources(package).items()
        for target, name in imports(source)
        if strange(package, target, name)
    }
    assert found == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_no_modules_of_an_integration_import_each_other(package):
    files = sources(package)
    graph = {module: {t for t, _ in imports(source) if t in files} for module, source in files.items()}
    assert any(graph.values())  # the law is about something
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_the_four_are_here():
    assert [f"streamverify_{name}" for name in ("anthropic", "langchain", "llamaindex", "openai")] == PACKAGES


@pytest.mark.parametrize(
    ("module", "name", "wrong"),
    [
        ("streamverify", "Verifier", False),
        ("streamverify.adapters", "Redactor", False),
        ("streamverify", "policy", True),
        ("streamverify.showing.redaction", "Redactor", True),
        ("streamverify.verifier", "", True),
        ("streamverify_langchain.texts", "Shape", True),
        ("streamverify_openai.chat", "ChatTranslator", False),
        ("openai", "OpenAI", False),
    ],
)
def test_the_law_tells_right_from_wrong(module, name, wrong):
    assert strange("streamverify_openai", module, name) is wrong
