"""JSON without NaN: written on one line, and read from files that people write.

Errors name file, line and field.

Before: whoever opened the file. After: the passages of a command line, the cases of a dataset.
"""

from __future__ import annotations

import codecs
import json
import math
import sys
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from streamverify.errors import InputFileError
from streamverify.types import Passage


def json_text(value: object) -> str:
    """A value as JSON on one line.

    Raises:
        ValueError: it holds NaN or an infinity, which no reader of JSON need take.
    """
    return json.dumps(value, allow_nan=False)


def encodable(text: str) -> bool:
    """Whether a file can hold the text: it has no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def undecodable(error: UnicodeDecodeError, place: str) -> str:
    """What to tell of bytes that are no UTF-8.

    Args:
        error: what decoding ended with; its object begins where the file, or the line, does.
        place: of the first invalid byte, in words.
    """
    if error.object.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "is UTF-16, as Windows' shells write it; save it as UTF-8"
    return f"invalid UTF-8 at {place}: {error.reason}"


def strict_json(data: str | bytes) -> Any:
    """What a JSON text holds.

    Raises:
        ValueError: it is none, or holds NaN, an infinity or a number too large to be told from one.
        RecursionError: it is nested too deeply.
    """

    def refuse_constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is not JSON")

    return json.loads(data, parse_constant=refuse_constant, parse_float=_finite)


def _finite(digits: str) -> float:
    """The number; `1e999` is valid JSON, and no float holds it.

    Raises:
        ValueError: it is too large.
    """
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"{digits[:20]} is too large")
    return value


def json_object(line: str, path: Path | str, number: int) -> Mapping[str, Any]:
    """The JSON object on one line.

    Raises:
        InputFileError: it is something else, or holds NaN, an infinity or a name twice. Caller.
    """
    value = _value(line, path, number)
    if not isinstance(value, dict):
        raise InputFileError(path, f"expected a JSON object, found {kind_of(value)}", line=number)
    return value


def json_array(text: str, path: Path | str) -> list[Mapping[str, Any]]:
    """The objects of a file that is one JSON array.

    Raises:
        InputFileError: it is something else, or holds NaN, an infinity or a name twice. Caller.
    """
    items = _value(text, path, None)
    if not isinstance(items, list):
        raise InputFileError(path, f"expected a JSON array, found {kind_of(items)}")
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            raise InputFileError(f"{path}[{index}]", f"expected a JSON object, found {kind_of(item)}")
    return items


def _value(text: str, path: Path | str, number: int | None) -> Any:
    """What a line holds, or the whole file where `number` is None."""

    def refuse_constant(name: str) -> NoReturn:
        raise InputFileError(path, f"{name} is not JSON", line=number)

    def finite(digits: str) -> float:
        try:
            return _finite(digits)
        except ValueError as error:
            raise InputFileError(path, str(error), line=number) from None

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):  # one value of the two would be lost unsaid
            twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
            problem = f"the name {twice!r} stands twice in one object; keep one"
            raise InputFileError(path, problem, line=number)
        return found

    try:
        return json.loads(
            text, object_pairs_hook=distinct, parse_constant=refuse_constant, parse_float=finite
        )
    except InputFileError:
        raise
    except json.JSONDecodeError as error:
        kind = "a JSON array" if number is None else "a JSON object on one line"
        # Some of its messages end in "at", for the place that follows.
        problem = f"not {kind}: {error.msg.removesuffix(' at')} at column {error.colno}"
        raise InputFileError(path, problem, line=number or error.lineno) from None
    except RecursionError:
        raise InputFileError(path, "the JSON is nested too deeply", line=number) from None
    except ValueError:
        digits = sys.get_int_max_str_digits()
        raise InputFileError(path, f"holds a number of more than {digits} digits", line=number) from None


@dataclass(frozen=True, slots=True)
class Row:
    """One object of a file; its readers raise InputFileError. `within` says where it stands in its line."""

    value: Mapping[str, Any]
    path: Path | str
    number: int | None = None
    within: str = ""

    def passage(self) -> Passage:
        """The object as a passage: `id` and `text`, optionally `title` and `metadata`."""
        for field in ("id", "text"):
            if field not in self.value:
                self.refuse(field, f"is missing (fields found: {_names(self.value)})")
        title = self.value.get("title")
        return Passage(
            self.identity("id", self.value["id"]),
            self.filled("text", self.value["text"]),
            None if title is None else self.string("title", title),
            self.mapping("metadata", self.value.get("metadata")),
        )

    def identity(self, field: str, found: object) -> str:
        """A non-empty string; an integer is read as its digits."""
        if isinstance(found, int) and not isinstance(found, bool):
            found = str(found)
        return self.filled(field, found)

    def identities(self, field: str, found: object) -> tuple[str, ...]:
        """An array of ids."""
        return tuple(self.identity(field, one) for one in self.array(field, found))

    def filled(self, field: str, found: object) -> str:
        """A string that holds more than blanks."""
        text = self.string(field, found)
        if not text.strip():
            self.refuse(field, "is empty")
        return text

    def string(self, field: str, found: object) -> str:
        """A string of characters."""
        if not isinstance(found, str):
            self.refuse(field, f"must be a string, found {kind_of(found)}")
        # JSON can spell half of a surrogate pair, which is no character and cannot be encoded.
        if not encodable(found):
            self.refuse(field, "holds a lone surrogate, which is no character")
        return found

    def number_in(self, field: str, found: object) -> float:
        """A finite number."""
        if isinstance(found, bool) or not isinstance(found, int | float):
            self.refuse(field, f"must be a number, found {kind_of(found)}")
        try:
            number = float(found)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.refuse(field, "is too large a number")
        return number

    def array(self, field: str, found: object) -> list[Any]:
        """An array."""
        if not isinstance(found, list):
            self.refuse(field, f"must be an array, found {kind_of(found)}")
        return found

    def mapping(self, field: str, found: object) -> Mapping[str, Any]:
        """An object; null counts as an empty one."""
        if found is None:
            return {}
        if not isinstance(found, dict):
            self.refuse(field, f"must be an object, found {kind_of(found)}")
        return found

    def one_of(self, field: str, found: object, words: Collection[str]) -> str:
        """One of some words."""
        if not isinstance(found, str) or found not in words:
            self.refuse(field, f"must be one of {', '.join(sorted(words))}, found {found!r}")
        return found

    def inner(self, field: str, found: object) -> Row:
        """An object within this one."""
        if not isinstance(found, dict):
            self.refuse(field, f"must be an object, found {kind_of(found)}")
        return Row(found, self.path, self.number, self._place(field))

    def refuse(self, field: str, problem: str) -> NoReturn:
        """Raise InputFileError about one field."""
        raise InputFileError(self.path, problem, line=self.number, field=self._place(field))

    def _place(self, field: str) -> str:
        return f"{self.within}.{field}" if self.within else field


def kind_of(value: object) -> str:
    """What a JSON value is, in words."""
    names = {bool: "a boolean", dict: "an object", list: "an array", str: "a string", type(None): "null"}
    return names.get(type(value), "a number")


def _names(value: Mapping[str, Any], limit: int = 6) -> str:
    names = [repr(name) for name in value]
    shown = ", ".join(names[:limit]) or "none"
    return shown if len(names) <= limit else f"{shown}, …"
