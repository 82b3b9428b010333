"""TOML files that people write by hand: one error names the file and the key, with what was probably meant.

Before: `gates.py` and `settings.py` name a file. After: checked values.
"""

from __future__ import annotations

import difflib
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
        found = tomllib.loads(content.decode("utf-8"))
    except FileNotFoundError:
        raise InputFileError(path, "there is no such file") from None
    except OSError as error:
        raise InputFileError(path, f"cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputFileError(path, f"not TOML: {error}") from None
    except RecursionError:
        raise InputFileError(path, "not TOML that is meant: it is nested too deeply") from None
    try:
        return made(found)
    except WrongPlaceError as error:
        raise InputFileError(path, error.problem, field=error.place) from None


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
