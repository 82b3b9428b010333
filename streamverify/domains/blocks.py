"""Takes the structured block out of an answer while it streams; what is left is prose.

    prose │ ```json         │ more prose
          │ {"answer": …}   │
          │ ```             │

Before: pieces of an answer. After: the prose is verified, `checking.py` validates the block.

The block is the first JSON object that begins a line: behind a fence with the word json or none, or bare,
where a name and a colon follow its brace. Everything else is prose, other fenced code too. No more of
the prose is kept back than a line's beginning, and what comes out never depends on how the text was cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

MOST_CHARS = 10_000_000
"""Characters of a block that are kept."""
DEEPEST = 64
"""Brackets within brackets."""

_HEAD = 600
"""Characters within which a bare block has its first name and colon, and a fence its end of line."""
_OPENS = re.compile(r"[ \t]{0,3}([{`~]|\Z)")
_FENCE = re.compile(r"[ \t]{0,3}(`{3,20}|~{3,20})[ \t]{0,20}([^\n`]{0,100})\n")
_NAMED = re.compile(r'\{\s{0,200}(?:\}|"(?:[^"\\\n]|\\[^\n]){0,200}"\s{0,100}:)')
_UNNAMED = re.compile(r'\{\s{0,200}(?:[^\s"}]|"(?:[^"\\\n]|\\[^\n]){0,200}(?:\n|"\s{0,100}[^\s:]))')
_OUTSIDE = re.compile(r'["{}\[\]\n]')
_INSIDE = re.compile(r'["\\\n]')
_PARTIAL = 4_096
"""Characters up to which a partial block is read as often as it is asked for; a longer one when it grew."""


@dataclass(frozen=True, slots=True)
class Block:
    """The structured block of an answer, as it was written."""

    text: str
    """JSON, or what was meant to be; cut where it is too long."""
    start: int
    """Where it begins in the answer as generated, its fence included."""
    end: int
    fault: str = ""
    """What is wrong with it before anybody reads it: too long, nested too deep, or without an end."""


class _Brackets:
    """Follows brackets and strings of JSON, whatever it is; no recursion."""

    def __init__(self) -> None:
        self.depth = self.deepest = 0
        self._in_string = self._escaped = False

    @property
    def closed(self) -> bool:
        """Whether every bracket is, the first one too."""
        return self.deepest > 0 and self.depth <= 0

    def next(self, text: str, at: int) -> int | None:
        """The place of the next line feed, or bracket outside of strings; None where there is none."""
        while at < len(text):
            if self._escaped:
                self._escaped = False
                at += text[at] != "\n"
                continue
            found = (_INSIDE if self._in_string else _OUTSIDE).search(text, at)
            if found is None:
                return None
            at = found.end()
            if self._take(found[0]):
                return found.start()
        return None

    def _take(self, sign: str) -> bool:
        if sign == "\n":
            self._in_string = False  # no string goes over a line: it was never closed
            return True
        if self._in_string or sign == '"':
            self._escaped = sign == "\\"
            self._in_string = self._escaped or not self._in_string
            return False
        self.depth += 1 if sign in "{[" else -1
        self.deepest = max(self.deepest, self.depth)
        return True


class BlockReader:
    """Splits one answer into prose and block: feed pieces, then flush once."""

    def __init__(self, *, most: int = MOST_CHARS) -> None:
        """Nothing was read.

        Args:
            most: characters of the block that are kept; of a longer one nothing is read.
        """
        self.block: Block | None = None
        """The block, once its end came, or the answer's."""
        self._most = most
        self._left = ""  # not yet decided on
        self._at = 0  # where that begins in the answer
        self._state: Callable[[], str | None] = self._line_begins
        self._fence = ""
        self._start = 0
        self._parts: list[str] = []
        self._brackets = _Brackets()
        self._kept = self._read_at = 0
        self._partial: Any = None

    def feed(self, text: str) -> str:
        """Take a piece; gives the prose that is now sure to be some."""
        self._left += text
        return "".join(self._steps())

    def flush(self) -> str:
        """The answer has ended: gives the rest of the prose."""
        prose = "".join(self._steps())
        if self._state == self._in_block:
            self._keep(self._take(len(self._left)))
            self._close("it does not end")
        return prose + self._take(len(self._left))

    @property
    def partial(self) -> Any:
        """What the block says so far, its last string and containers closed; None where nothing can be read.

        A long block is read again when it has grown by an eighth.
        """
        if self._brackets.deepest > DEEPEST or self._kept > self._most:
            return None
        if self._kept > _PARTIAL and self._kept < self._read_at * 9 // 8:
            return self._partial
        if self._kept != self._read_at:
            self._read_at = self._kept
            try:
                self._partial = from_json("".join(self._parts), allow_partial="trailing-strings")
            except ValueError:
                self._partial = None
        return self._partial

    def _steps(self) -> list[str]:
        found: list[str] = []
        while self._left and (prose := self._state()) is not None:
            found.append(prose)
        return found

    def _take(self, count: int) -> str:
        taken, self._left = self._left[:count], self._left[count:]
        self._at += count
        return taken

    def _line_begins(self) -> str | None:
        """Whether this line opens a block; None where that is not yet known."""
        head = self._left[:_HEAD]
        opens = _OPENS.match(head)
        if opens is None or self.block is not None:
            self._state = self._in_line
            return ""
        if not opens[1]:
            return None
        if opens[1] == "{":
            return self._bare(head, opens.start(1))
        return self._fenced(head)

    def _bare(self, head: str, brace: int) -> str | None:
        if _NAMED.match(head, brace):
            return self._open(brace, "")
        if _UNNAMED.match(head, brace) or len(head) == _HEAD:
            self._state = self._in_line
            return ""
        return None

    def _fenced(self, head: str) -> str | None:
        fence = _FENCE.match(head)
        if fence is None:
            if "\n" not in head and len(head) < _HEAD:
                return None
            self._state = self._in_line
            return ""
        words = fence[2].split()
        inside = head[fence.end() :].lstrip()
        self._fence = fence[1]
        if not words and not inside and len(head) < _HEAD:
            return None
        if (words and words[0].casefold() != "json") or (not words and not inside.startswith("{")):
            self._state = self._in_code
            return self._take(fence.end())
        return self._open(fence.end(), self._fence)

    def _open(self, skipped: int, fence: str) -> str:
        self._start, self._fence = self._at, fence
        self._take(skipped)
        self._state = self._in_block
        return ""

    def _in_line(self) -> str | None:
        end = self._left.find("\n")
        if end >= 0:
            self._state = self._line_begins
        return self._take(end + 1 if end >= 0 else len(self._left))

    def _in_code(self) -> str | None:
        """A line of other fenced code, which is prose to us; its closing fence is looked for."""
        end = self._left.find("\n")
        if end < 0 and self._may_close(self._left):
            return None
        line = self._take(end + 1 if end >= 0 else len(self._left))
        if end >= 0 and self._closes(line):
            self._state = self._in_line if not line.endswith("\n") else self._line_begins
        elif end < 0:
            self._state = self._in_code_line
        return line

    def _in_code_line(self) -> str | None:
        end = self._left.find("\n")
        if end >= 0:
            self._state = self._in_code
        return self._take(end + 1 if end >= 0 else len(self._left))

    def _closes(self, line: str) -> bool:
        said = line.strip(" \t\r\n")
        return len(said) >= len(self._fence) and set(said) == {self._fence[0]}

    def _may_close(self, line: str) -> bool:
        return len(line) < _HEAD and not set(line) - {" ", "\t", "\r", self._fence[0]}

    def _in_block(self) -> str | None:
        at = 0
        while (place := self._brackets.next(self._left, at)) is not None:
            at = place + 1
            if self._fence and self._left[place] == "\n":
                closing = self._closing(at)
                if closing is None:
                    return self._keep_up_to(place)
                if closing:
                    return self._end(at, closing)
            elif self._brackets.closed and not self._fence:
                return self._end(at, 0)
        return self._keep_up_to(len(self._left))

    def _keep_up_to(self, place: int) -> str | None:
        """None where nothing more can be said before more comes."""
        self._keep(self._take(place))
        return "" if place else None

    def _end(self, place: int, closing: int) -> str:
        self._keep(self._take(place))
        self._take(closing)
        self._close("")
        return ""

    def _closing(self, at: int) -> int | None:
        """Characters of a closing fence that begins here; 0 where none does, None where more is needed."""
        line, newline, _ = self._left[at : at + _HEAD].partition("\n")
        if self._closes(line):
            return len(line) if newline or len(line) == _HEAD else None
        return None if not newline and self._may_close(line) else 0

    def _keep(self, text: str) -> None:
        if self._kept <= self._most:
            self._parts.append(text[: self._most - self._kept + 1])
        self._kept += len(text)

    def _close(self, fault: str) -> None:
        if self._kept > self._most:
            fault = f"it is longer than {self._most:,} characters"
        elif self._brackets.deepest > DEEPEST:
            fault = f"it is nested deeper than {DEEPEST} brackets"
        text = "".join(self._parts).strip()[: self._most]
        self.block = Block(text, self._start, self._at, fault)
        self._state = self._in_line
