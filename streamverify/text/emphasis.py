"""Emphasis that goes on beyond a sentence: its marks belong to the sentences around it too.

Before: a policy replaces a sentence. After: the marks it held without their likes stand beside what is shown.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_MARK = re.compile(r"`[^`\n]*+`|\\.|\*{1,3}|_{1,3}|~~")
_OPENS_BEHIND = "([{\"'“‘„«—–-/"
_CLOSES_BEFORE = ".,;:!?)]}\"'”’»—–-/…"


class Unpaired(NamedTuple):
    """Marks of emphasis in a text that have no like there."""

    opened: str
    """What goes on behind the text; empty for nothing."""
    closed: str
    """What ends in it and began before."""

    def around(self, text: str) -> str:
        """Another text with these marks, so that the emphasis around it stays as it is."""
        return f"{self.opened}{text}{self.closed}"


def unpaired(text: str) -> Unpaired:
    """The marks that a text opens and does not close, or closes and does not open; `2*3` and `a_b` are none.

    A single one counts only at the text's edge, since `5*` is a rating. A text that does both
    (`… days.** And **more …`) has none: what is put in its place is emphasised as a whole.
    """
    opened: list[re.Match[str]] = []
    closed: list[re.Match[str]] = []
    for mark in _MARK.finditer(text):
        if mark[0][0] not in "*_~":
            continue
        before, after = text[mark.start() - 1 : mark.start()], text[mark.end() : mark.end() + 1]
        if _free(before, _OPENS_BEHIND) and after.strip():
            opened.append(mark)
        elif before.strip() and _free(after, _CLOSES_BEFORE):
            if opened and opened[-1][0] == mark[0]:
                opened.pop()
            else:
                closed.append(mark)
    before_it = "".join(mark[0] for mark in opened if len(mark[0]) > 1 or not mark.start())
    behind_it = "".join(mark[0] for mark in closed if len(mark[0]) > 1 or mark.end() == len(text))
    return Unpaired("", "") if before_it and behind_it else Unpaired(before_it, behind_it)


def _free(char: str, marks: str) -> bool:
    """Whether a character beside a mark does not bind it to a word."""
    return not char.strip() or char in marks
