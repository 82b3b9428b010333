"""TOML files that people write by hand: one error names the file and the key, with what was probably meant.

Before: `gates.py` and `settings.py` name a file. After: checked values.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from streamverify.errors import InputFileError
from streamverify.evaluate.records import Record

R = TypeVar("R", bound=Record)
T = TypeVar("T")

MAX_BYTES = 1 << 20
"""Of a file that a person writes."""
MAX_DEPTH = 100
"""Of tables in tables. The parser calls itself for each bracket, and near the interpreter's limit whatever is
cleaned up meanwhile fails too and says so between our lines; a key's dots cost it their square."""
# The closing mark may be missing: what begins a string is read once, to its end or its line's.
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"?|\'[^\'\n]*\'?')
_BRACKET = re.compile(r"[\[\]{}]")
_KEY = re.compile(r"[\w. \t-]+")


class WrongPlaceError(ValueError):
    """A key of a file does not hold what it should."""

    def __init__(self, place: str, problem: str) -> None:
        """Name the key, dotted, and what is wrong."""
        self.place, self.problem = place, problem
        super().__init__(f"{place}: {problem}")


def read_toml(path: Path | str, made: Callable[[Mapping[str, Any]], T]) -> T:
    """What `made` makes of a TOML file.

    Raises:
        InputFileError: there is no such file, it is over 1 MiB or no TOML, or `made` raised a
            `WrongPlaceError`. Caller.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:  # a device may have no end
            raise InputFileError(path, f"longer than {MAX_BYTES >> 20} MiB")
        text = content.decode("utf-8-sig")  # some editors begin a file with a byte order mark
        if _depth(text) > MAX_DEPTH:
            raise InputFileError(path, "not TOML that is meant: it is nested too deeply")
        found = _parsed(text)
    except FileNotFoundError:
        raise InputFileError(path, "there is no such file") from None
    except OSError as error:
        raise InputFileError(path, f"cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputFileError(path, f"not TOML: {error}") from None
    try:
        return made(found)
    except WrongPlaceError as error:
        raise InputFileError(path, error.problem, field=error.place) from None


def _parsed(text: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # the interpreter's, of a whole number with thousands of digits
        raise tomllib.TOMLDecodeError("a number is too long") from None


def _depth(text: str) -> int:
    """Outside of strings: how many brackets are open at once, or how many dots a key has."""
    bare = _STRING.sub("", text)
    depth, deepest = 0, max((key.count(".") for key in _KEY.findall(bare)), default=0)
    for bracket in _BRACKET.findall(bare):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def unknown(name: str, known: Iterable[str]) -> str:
    """What to say about a key that is not known."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    return f"unknown; did you mean {near[0]!r}?" if near else f"unknown; known are {', '.join(names)}"


def built(kind: type[R], place: str, value: object) -> R:
    """A record made of a table.

    Raises:
        WrongPlaceError: the table is not one; names the first wrong key.
    """
    if not isinstance(value, Mapping):
        raise WrongPlaceError(place, "must be a table")
    for name in value:
        if name not in kind.model_fields:
            raise WrongPlaceError(f"{place}.{name}", unknown(name, kind.model_fields))
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join([place, *(str(part) for part in first["loc"])])
        raise WrongPlaceError(where, first["msg"].removeprefix("Value error, ")) from None
