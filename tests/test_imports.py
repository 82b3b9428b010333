"""The import law: every module belongs to one room, every room to one layer, and imports point one way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import streamverify

PACKAGE = Path(streamverify.__file__).parent
FACE = "streamverify"
"""The package itself, which re-exports names from below."""

LAYERS = (
    # A sentence's way. A room imports from the layers above its own line and never from its neighbours in it.
    (
        "what can go wrong, how it is printed, and what values are made of",
        {"errors", "reasons", "text.printing", "value", "_lazy"},
    ),
    (
        "the values, and which event loop runs",
        {"types", "figure", "bounds", "parameters", "files.written", "loops"},
    ),
    (
        "what every stage knows",
        {"text", "events", "calibration", "files", "context", "_extras"},
    ),
    ("what is shown of it, and what others may see of that", {"showing"}),
    ("how it could be written anew", {"repair_plan"}),
    ("who is told of it, and what is personal in it", {"observe", "pii"}),
    ("where it comes from", {"provenance"}),
    ("what a model is asked", {"scorers.protocol", "scorers.completion"}),
    ("the passages are cut", {"passages"}),
    ("a sentence closes", {"sentences"}),
    (
        "what a learned part runs in",
        {
            "scorers.graphs.onnx_fields",
            "scorers.graphs.onnx_runtime",
            "scorers.model_files",
            "scorers.known_words",
        },
    ),
    (
        "how it is run, on which tokens",
        {"scorers.graphs.runtime", "scorers.graphs.signed_weights", "scorers.tokens", "scorers.freed"},
    ),
    ("its claim is read", {"claims"}),
    ("it is looked at", {"checks", "citations"}),
    ("it is judged", {"judging"}),
    ("something is decided, and what is personal found in it", {"policy", "pii.releasing"}),
    ("it is repaired, and what is personal taken out", {"repair", "pii.policy"}),
    ("it is put in order; the models, known to all before by their protocol alone", {"streaming", "scorers"}),
    ("one stream", {"stream"}),
    ("what scores them", {"streaming.loading"}),
    ("many streams", {"verifier"}),
    ("a function's streams", {"decorator"}),
    ("the names at the top", {FACE}),
    ("the rules it must keep", {"validators"}),
    ("what kind of answer it is", {"domains"}),
    ("many answers", {"evaluate", "records"}),
    ("what is watched in production", {"monitor"}),
    ("many machines", {"scale"}),
    ("aids", {"testing", "demo", "console.files", "console.paths"}),
    ("what integrations are built from", {"adapters"}),
    ("the outside, each by itself", {"server", "console", "pytest_plugin"}),
    ("what a team looks at", {"dashboard"}),
    ("a day of all of it", {"demo_day"}),
    ("the program: every room's commands", {"program"}),
    ("how it is started", {"__main__"}),
)

NO_ARROW = {("streaming.session", "citations")}
"""Arrows that would point the right way and are not wanted: a module, and a room it keeps away from."""

TO_END: set[str] = set()
"""Arrows that break the law today. Only ever take one off."""

CIRCLES_TO_END: set[frozenset[str]] = set()
"""Modules that import each other today. Only ever take one off."""


def layer_of(room: str) -> int:
    return next(level for level, (_, rooms) in enumerate(LAYERS) if room in rooms)


ROOMS = [room for _, rooms in LAYERS for room in rooms]


def room_of(module: str) -> str | None:
    """The room a module is in: the longest name that leads to it; None where no layer names it."""
    parts = module.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((name for name in names if name in ROOMS), None)


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts) or FACE] = path
    return found


MODULES = modules()


def imported(module: str, source: str) -> Iterator[str]:
    """The modules of this package that a source imports: inside functions and for type checkers too.

    What only a type checker sees counts, because a reader follows it all the same.
    """

    def known(name: str, *names: str) -> Iterator[str]:
        if name.partition(".")[0] == FACE:
            base = name.removeprefix(FACE).removeprefix(".")
            full = [f"{base}.{one}".removeprefix(".") for one in names]
            yield from (one for one in full if one in MODULES)
            if not names or any(one not in MODULES for one in full):
                yield base or FACE

    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from known(alias.name)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute"
            yield from known(node.module or "", *(alias.name for alias in node.names))
        elif isinstance(node, ast.Call) and _name(node.func).endswith(("import_module", "__import__")):
            for name in (name for name in node.args[:1] if isinstance(name, ast.Constant)):
                yield from known(str(name.value))


def _name(called: ast.expr) -> str:
    match called:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def allowed(module: str, target: str) -> bool:
    """Whether one module may import another."""
    own, other = room_of(module), room_of(target)
    if own is None or other is None:
        return False
    if (module, other) in NO_ARROW:
        return False
    return own == other or layer_of(other) < layer_of(own)


@cache
def arrows() -> frozenset[tuple[str, str]]:
    """Who imports whom; read when a test asks, since every worker loads this file."""
    return frozenset(
        (module, target)
        for module, path in MODULES.items()
        for target in imported(module, path.read_text(encoding="utf-8"))
        if target != module
    )


def test_every_module_is_in_a_room_that_a_layer_names():
    assert [module for module in MODULES if room_of(module) is None] == []


def test_a_room_is_named_once_and_exists():
    assert len(ROOMS) == len(set(ROOMS))
    assert [room for room in ROOMS if room not in MODULES] == []


def test_imports_point_one_way():
    assert len(arrows()) > 300  # the law is about something
    wrong = {f"{module} -> {target}" for module, target in arrows() if not allowed(module, target)}
    assert wrong - TO_END == set()
    assert TO_END - wrong == set()  # what has ended is taken off the list


def test_no_modules_import_each_other():
    left, circles = {module: set() for module in MODULES}, set()
    for module, target in arrows():
        left[module].add(target)
    while True:
        try:
            TopologicalSorter(left).prepare()
        except CycleError as error:
            circle = error.args[1]
            circles.add(frozenset(circle))
            left[circle[1]].discard(circle[0])
        else:
            break
    assert circles == CIRCLES_TO_END


@pytest.mark.parametrize(
    ("module", "target", "may"),
    [
        ("judging.assessor", "claims.reader", True),
        ("judging.assessor", "judging.premises", True),
        ("judging.premises", "scorers.protocol", True),
        ("judging.premises", "scorers.lexical", False),
        ("types", "streaming.session", False),
        ("claims.reader", "judging.verdict", False),
        ("checks.dates", "citations.markers", False),
        ("server.app", "console.cli", False),
        ("streaming.session", "citations.metrics", False),
        ("judging.verdict", "streamverify", False),
        ("somewhere.new", "types", False),
        ("judging.verdict", "somewhere.new", False),
    ],
)
def test_the_law_tells_right_from_wrong(module, target, may):
    assert allowed(module, target) is may


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from streamverify.types import Span", ["types"]),
        ("from streamverify import events", ["events"]),
        ("from streamverify import Verifier, events", ["events", "streamverify"]),
        ("import streamverify.stream as s", ["stream"]),
        ("def late():\n    from streamverify.judging import verdict", ["judging.verdict"]),
        ("if TYPE_CHECKING:\n    from streamverify.stream import VerifiedStream", ["stream"]),
        ("importlib.import_module('streamverify.stream')", ["stream"]),
        ("from streamverify_openai import chat\nimport re", []),
    ],
)
def test_every_way_of_importing_is_seen(source, found):
    assert list(imported("any", source)) == found
