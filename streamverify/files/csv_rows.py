"""CSV as RFC 4180 has it: cells of any length, and the line on which each row begins.

Before: whoever opened the file. After: `evaluate/converting.py`.

The standard library's reader refuses cells of more than 131,072 characters, as a list of passages easily is,
and its limit can be raised only for the whole process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from streamverify.errors import InputFileError

# Possessive, so that no cell is gone through twice.
_CELL = re.compile(r'(?:"(?P<quoted>[^"]*+(?>(?:""[^"]*+)*))"|(?P<plain>(?!")[^,\n]*+))(?P<end>,|\n|\Z)')


def csv_rows(text: str, path: Path | str) -> Iterator[tuple[int, Mapping[str, str]]]:
    """The rows after the first line, which names the columns.

    Args:
        text: the whole file, with a line feed alone at the ends of lines; blank lines are skipped.
        path: for messages.

    Returns:
        The line on which each row begins, from 1, and its cells by column.

    Raises:
        InputFileError: it is no CSV, a column is named twice, or a row has another number of cells. Caller.
    """
    rows = _rows(text, path)
    first, names = next(rows, (1, []))
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InputFileError(path, f"names the column {name!r} twice; keep one", line=first)
    for number, cells in rows:
        if len(cells) != len(names):
            problem = f"has {len(cells)} cells, another number of cells than the first line ({len(names)})"
            raise InputFileError(path, problem, line=number)
        yield number, dict(zip(names, cells, strict=True))


def _rows(text: str, path: Path | str) -> Iterator[tuple[int, list[str]]]:
    place, line = 0, 1
    while place < len(text):
        begun, cells, blank = line, list[str](), False
        while True:
            found = _CELL.match(text, place)
            if found is None:
                raise InputFileError(path, f"is no CSV: {_problem(text, place)}", line=line)
            quoted = found["quoted"]
            cells.append(found["plain"] if quoted is None else quoted.replace('""', '"'))
            line += text.count("\n", place, found.end())
            place = found.end()
            if found["end"] != ",":
                blank = len(cells) == 1 and not cells[0] and quoted is None
                break
        if not blank:
            yield begun, cells


def _problem(text: str, place: int) -> str:
    """Why no cell begins here: only one in quotation marks can be wrong."""
    ended = re.compile(r'"[^"]*+(?>(?:""[^"]*+)*)"').match(text, place)
    if ended is None:
        return 'a cell begins with " and none ends it'
    return f"after a cell in quotation marks stands {text[ended.end()]!r} in place of a comma"
