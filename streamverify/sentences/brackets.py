"""Where a bracket, a quote or inline code closes, so that the sentences in it stay together.

A pair counts only when it closes on its own line and soon; what never closes must not hold the answer up.

Before: segmenter.py found what may open a pair. After: it reads on behind the pair.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from streamverify.sentences.lookahead import Undecided

if TYPE_CHECKING:
    from streamverify.sentences.lookahead import Lookahead

_REACH = 240
"""Characters within which a pair must close."""

_CLOSERS = {
    "(": ")", "[": "]", "（": "）", "【": "】", "“": "”", "„": "“”", "«": "»", "「": "」", "『": "』",
    "《": "》", "〈": "〉", '"': '"',
}  # fmt: skip
OPENERS = "".join(_CLOSERS) + "`"
"""What may open a pair."""

_EITHER = {opener: re.compile(rf"[{re.escape(opener + closer)}]") for opener, closer in _CLOSERS.items()}
_LINE_BREAK = re.compile(r"[\r\n]")
_TICKS = re.compile(r"`+")
_FIRST_IDEOGRAPH = "\u2e80"


def closing(view: Lookahead, start: int, at: int) -> tuple[int, int | None]:
    """The offset behind the opener at `at`, and behind what closes it; None where nothing does.

    Args:
        view: The answer so far.
        start: Offset of the sentence.
        at: Offset of one of `OPENERS`.

    Raises:
        Undecided: it may yet be closed.
    """
    opener = view.text[at]
    inside = view.skip(_TICKS, at) if opener == "`" else at + 1
    if opener == '"' and not _opens(view, start, at):
        return inside, None
    reach = inside + _REACH
    broken = _LINE_BREAK.search(view.text, inside, min(reach, view.end))
    end = broken.start() if broken else min(reach, view.end)
    close = _same_ticks(view, at, inside, end) if opener == "`" else _closer(view.text, opener, inside, end)
    if close is None and end == view.end < reach and not view.closed:
        raise Undecided
    return inside, close


def _opens(view: Lookahead, start: int, at: int) -> bool:
    """Whether a straight quote opens; behind a blank and before text, in Chinese anywhere before text."""
    before = view.text[at - 1] if at > start else " "
    opens = before.isspace() or before in "([{—–-*_“" or before >= _FIRST_IDEOGRAPH
    return opens and bool(view.char(at + 1).strip())


def _closer(text: str, opener: str, inside: int, end: int) -> int | None:
    closers, depth = _CLOSERS[opener], 1
    if all(text.find(closer, inside, end) < 0 for closer in closers):
        return None  # at once, since an answer may consist of openers
    for found in _EITHER[opener].finditer(text, inside, end):
        depth += -1 if found[0] in closers else 1
        if not depth:
            return found.end()
    return None


def _same_ticks(view: Lookahead, at: int, inside: int, end: int) -> int | None:
    """Where the run of backticks that is as long as the one at `at` ends."""
    for found in _TICKS.finditer(view.text, inside, end):
        if found.end() == view.end and not view.closed:
            raise Undecided
        if found.end() - found.start() == inside - at:
            return found.end()
    return None
