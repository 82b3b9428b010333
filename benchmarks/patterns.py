"""Every compiled pattern of the package, as it is used."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType

import streamverify
from stopwatch import Subject

ANCHORED = (
    frozenset(
        f"claims.reader.{name}"
        for name in (
            "_YES",
            "_CONNECTIVE",
            "_LABEL",
            "_REMINDER",
            "_ACCORDING",
            "_AS_SAYS",
            "_STATES",
            "_STATES_CLAUSE",
            "_ASKING",
        )
    )
    | frozenset(
        f"claims.nonclaims.{name}"
        for name in ("_ABSTENTIONS", "_REFERENCE", "_OFFER", "_META", "_BASED_ONLY", "_POINTED")
    )
    | frozenset(
        {
            "claims.headings.ABSTRACT",
            "claims.conversation.RELATIVE",
            "claims.conversation._ORDER",
        }
    )
)
"""Patterns that are handed on and then asked by `match` alone; those of a `Construct` are too."""


def modules() -> Iterator[ModuleType]:
    """The package's modules."""
    for info in pkgutil.walk_packages(streamverify.__path__, "streamverify."):
        # Programs run when they are imported: the package itself, and what alembic runs.
        if not info.name.endswith(("__main__", ".migrations.env")):
            try:
                yield importlib.import_module(info.name)
            except ModuleNotFoundError as error:
                if error.name != "ray":  # which is left out of the extra `test`; what needs it reads no text
                    raise


def patterns() -> dict[str, re.Pattern[str]]:
    """Every compiled pattern of the package, by where it stands: in a module, in a table, in a function."""
    found: dict[str, re.Pattern[str]] = {}
    for module in modules():
        short = module.__name__.removeprefix("streamverify.")
        for name, value in vars(module).items():
            for path, pattern in _within(value, name, depth=4):
                found.setdefault(f"{short}.{path}", pattern)
        for line, pattern in _written_inline(module):
            found[f"{short}:{line}"] = pattern
    own: dict[tuple[str, int], str] = {}
    for name, pattern in found.items():
        own.setdefault((pattern.pattern, pattern.flags), name)
    return {name: found[name] for name in own.values()}


def _within(value: object, path: str, depth: int) -> Iterator[tuple[str, re.Pattern[str]]]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield path, value
    elif depth and isinstance(value, Mapping):
        for key, item in value.items():
            yield from _within(item, f"{path}[{key!r}]", depth - 1)
    elif depth and isinstance(value, (tuple, list)):
        names = getattr(value, "_fields", range(len(value)))
        for key, item in zip(names, value, strict=True):
            yield from _within(item, f"{path}.{key}", depth - 1)
    elif depth and type(value).__module__.startswith("streamverify") and hasattr(value, "__slots__"):
        for key in value.__slots__:
            yield from _within(getattr(value, key, None), f"{path}.{key}", depth - 1)


_RE_CALLS = {"compile", "match", "search", "fullmatch", "split", "findall", "finditer", "sub", "subn"}


def _written_inline(module: ModuleType) -> Iterator[tuple[int, re.Pattern[str]]]:
    for node in ast.walk(ast.parse(inspect.getsource(module) or "")):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        function, written = node.func, node.args[0]
        of_re = isinstance(function, ast.Attribute) and ast.unparse(function.value) == "re"
        constant = isinstance(written, ast.Constant) and isinstance(written.value, str)
        if of_re and function.attr in _RE_CALLS and constant:
            others = (*node.args[1:], *(keyword.value for keyword in node.keywords))
            flags = re.IGNORECASE if any("IGNORECASE" in ast.unparse(one) for one in others) else 0
            yield node.lineno, re.compile(written.value, flags)


def used() -> dict[str, set[str]]:
    """By which methods the patterns at module level are asked, by where they stand."""
    found: dict[str, set[str]] = {}
    for module in modules():
        short = module.__name__.removeprefix("streamverify.")
        for name, method in re.findall(r"\b(_?[A-Z][A-Z_0-9]*)\.(\w+)\(", inspect.getsource(module)):
            value = vars(module).get(name)
            if isinstance(value, re.Pattern):
                found.setdefault(value.pattern, set()).add(method)
            found.setdefault(f"{short}.{name}", set()).add(method)
    return found


_LITERAL = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]")
_REPEATS = re.compile(r"[*+{]")


def pattern_subjects() -> list[Subject]:
    """The patterns that repeat something, each run the way it is used; without repetition nothing grows."""
    asked = used()
    subjects = []
    for name, pattern in patterns().items():
        if not _REPEATS.search(_LITERAL.sub("", pattern.pattern)):
            continue
        methods = asked.get(pattern.pattern, set()) | asked.get(name, set())
        if name.endswith((".whole", ".part")) or any(name.startswith(one) for one in ANCHORED):
            methods = {"match"}
        if methods and methods <= {"match", "fullmatch"}:
            subjects.append(Subject(name, _at_the_start(pattern, methods)))
        else:
            subjects.append(Subject(name, everywhere(pattern)))
    return subjects


def everywhere(pattern: re.Pattern[str]) -> Callable[[str], object]:
    return lambda text: sum(1 for _ in pattern.finditer(text))


def _at_the_start(pattern: re.Pattern[str], methods: Iterable[str]) -> Callable[[str], object]:
    return lambda text: [getattr(pattern, method)(text) for method in methods]
