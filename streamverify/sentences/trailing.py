"""What stands behind a full stop and still belongs to the sentence before it.

Closing quotes and brackets, emphasis, emoji and citation markers may touch a stop (`.”`, `.)**`,
`.[1][2]`, `.¹`, `.【4†source】`); markers, remarks and emoji may also follow behind a blank (`. [2]`,
`. (Title, 2021)`).
They belong to the sentence before, unless the text runs on behind them (`[2] reports that …`), or they are
sentences themselves (`(We tried again.)`), enumerate (`(2)`) or wrap the text behind them (`<cite …>It …`).

Before: segmenter.py finds a stop. After: stops.py decides whether it ends the sentence.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from streamverify.sentences.lookahead import Construct, Lookahead
from streamverify.text.list_marks import EMOJI

SOFT_STOPS = ".!?…‼⁇⁈⁉‽"
"""Terminators that need a blank behind them."""
HARD_STOPS = "。！？｡．।॥؟۔։።፧។៕။"
"""Terminators that end a sentence as they stand."""
CLOSING = "\"'”’»›)]}）」』】〉》〕］*_~`“‘«"
"""What may stand behind a stop and belong to it."""

QUOTES = frozenset("\"'”’»›“‘«")
"""Of these, what closes what somebody said."""

STOPS = frozenset(SOFT_STOPS + HARD_STOPS)
RUNS_ON = frozenset(",;:)]}%，、；：」』")
"""What cannot begin a sentence."""

_STOP_RUN = re.compile(rf"[{SOFT_STOPS}{HARD_STOPS}]+")
_INVISIBLE = "\u0300-\u036f\u200b\u200c\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufe00-\ufe0d\ufeff"
_SOFT_CLOSERS = re.compile(rf"[{re.escape(CLOSING)}{EMOJI}{_INVISIBLE}]*")
_HARD_CLOSERS = re.compile(rf"[”’»›)\]}}）」』】〉》〕］{EMOJI}{_INVISIBLE}]*")
_EMPHASIS = re.compile(r"\*+|_+|~+|`+")
_SPACES = re.compile(r"[^\S\r\n]*")
_EMOJI_RUN = re.compile(rf"[{EMOJI}]+")

SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾"
_MARKS = {
    "[": Construct(
        # The answer may end in the middle of a marker (`… grew. [2`).
        whole=re.compile(
            r"\[{1,2}(?P<inner>[^\[\]\r\n]{1,80})\]{1,2}(?P<link>\([^()\s]{0,300}\))?"
            r"|\[{1,2}[\d^, –-]{0,20}\Z"
        ),
        part=re.compile(r"(?:\[{1,2}[^\[\]\r\n]{0,80}(?:(?<=[^\[])\]{1,2}(?:\([^()\s]{0,300})?)?)?"),
    ),
    "【": Construct(
        whole=re.compile(r"【(?P<inner>[^【】\r\n]{1,80})】"), part=re.compile(r"(?:【[^【】\r\n]{0,80})?")
    ),
    "(": Construct(
        whole=re.compile(r"\((?P<inner>(?:[^()\r\n]|\([^()\r\n]{0,200}\)){1,160})\)"),
        part=re.compile(r"(?:\((?:[^()\r\n]|\([^()\r\n]{0,200}\)){0,160}(?:\([^()\r\n]{0,200})?)?"),
    ),
    "\\": Construct(
        whole=re.compile(r"\\cite[a-z]{0,8}\*?(?:\[[^\[\]\r\n]{0,80}\]){0,2}\{[^{}\r\n]{1,160}\}"),
        part=re.compile(
            r"(?:\\(?:c(?:i(?:t(?:e[a-z]{0,8}\*?(?:\[[^\[\]\r\n]{0,80}\]){0,2}"
            r"(?:\[[^\[\]\r\n]{0,80}|\{[^{}\r\n]{0,160})?)?)?)?)?)?"
        ),
    ),
    "<": Construct(
        whole=re.compile(
            r"</[A-Za-z]{1,12}>|<br ?/?>|<https?://[^<>\s]{1,160}>"
            r"|<(?P<tag>cite|citation|sup|ref|source|footnote)\b[^<>\r\n]{0,160}(?P<end>/?>)"
            r"(?P<full>(?P<inner>[\w\[\],;:.†#^/-]{1,40})</(?P=tag)>)?"
        ),
        part=re.compile(
            r"(?:</?[A-Za-z]{0,12}|<br ?/?|<https?:(?:/(?:/[^<>\s]{0,160})?)?"
            r"|<(?:cite|citation|sup|ref|source|footnote)\b[^<>\r\n]{0,160}"
            r"(?:>(?:[\w\[\],;:.†#^/-]{1,40}(?:<(?:/[a-z]{0,8})?)?)?)?)?"
        ),
    ),
}
BLOCK_END = Construct(
    whole=re.compile(r"</(?:p|li|ul|ol|dl|d[dt]|div|tr|table|blockquote|h[1-6]) ?>|<br ?/?>", re.IGNORECASE),
    part=re.compile(r"(?:<(?:/[a-z0-9]{0,10} ?|b(?:r ?/?)?)?)?", re.IGNORECASE),
)
"""A tag of HTML behind which another block begins, or another line."""
_SUPERSCRIPT_RUN = re.compile(rf"[{SUPERSCRIPTS}]+")
_NUMBERING = re.compile(r"[0-9]{1,3}|[A-Za-z]|[ivxIVX]+")
_CITES = re.compile(r"[\d^@†]|sources?\b|refs?\b", re.IGNORECASE)


class Stop(NamedTuple):
    """A run of terminators and what stands right behind it."""

    start: int
    end: int
    """Offset behind the terminators."""
    tail: int
    """Offset behind closing punctuation and markers that touch the stop."""
    hard: bool
    marked: bool
    """Whether a citation marker touches the stop."""


def read_stop(view: Lookahead, start: int, at: int, inside: int = 0) -> Stop:
    """The stop at `at` with all that touches it.

    Args:
        view: The answer so far.
        start: Offset of the sentence.
        at: Offset of the first terminator.
        inside: Offset behind the bracket or quote that is known to close around the stop, or 0.

    Raises:
        Undecided: more may follow that touches it.
    """
    text = view.text
    end = tail = view.skip(_STOP_RUN, at)
    hard = any(char in HARD_STOPS for char in text[at:end])
    key = ("stop", start, at, inside)
    known = view.decided.get(key)
    tail, marked = (tail, False) if known is None else (known // 2, known % 2 == 1)
    while True:
        here = tail
        tail = view.skip(_HARD_CLOSERS if hard else _SOFT_CLOSERS, tail)
        char = view.char(tail)
        if hard and char and char in "\"'" and (tail < inside or not view.char(tail + 1).isalnum()):
            tail += 1
        elif hard and char and char in "*_~`":
            # Without a blank to tell, emphasis closes what an equal mark opened.
            behind = view.skip(_EMPHASIS, tail)
            tail = behind if text.count(text[tail:behind], start, at) % 2 else tail
        elif (mark := _mark(view, tail)) is not None:
            tail, marked = mark, marked or text[tail : tail + 2] != "</"
        if tail == here:
            return Stop(at, end, tail, hard, marked)
        if not view.closed:  # so that a long run of markers is not read again with each piece
            view.decided[key] = tail * 2 + marked


def trailing_marks(view: Lookahead, at: int) -> int | None:
    """Where the citation markers at `at`, behind a blank, end; None where the next sentence begins there.

    Raises:
        Undecided: what follows them decides, and has not come yet.
    """
    key = ("marks", at)
    end = view.decided.get(key)
    here = at if end is None else view.skip(_SPACES, end)
    while (group := _group(view, here)) is not None:
        end = group
        if not view.closed:
            view.decided[key] = group
        here = view.skip(_SPACES, group)
    if end is None:
        return None
    follows = view.char(here)
    if not follows or follows in "\r\n":
        return end
    if here == end and follows in STOPS:
        behind = view.skip(_STOP_RUN, here)
        return behind if not view.char(behind).strip() else None
    if follows in RUNS_ON or follows.islower() or (here == end and follows.isdigit()):
        return None
    return end


def _mark(view: Lookahead, at: int) -> int | None:
    """Where a marker that touches a stop ends; None where there is none at `at`."""
    char = view.char(at)
    if char and char in SUPERSCRIPTS:
        return view.skip(_SUPERSCRIPT_RUN, at)
    found = view.match(_MARKS[char], at) if char in _MARKS else None
    if not found or (char == "(" and _is_sentence(found["inner"])) or (char == "<" and _wraps(view, found)):
        return None
    return found.end()


def _wraps(view: Lookahead, tag: re.Match[str]) -> bool:
    """Whether a tag without content of its own wraps the text behind it, not marking what is before."""
    behind = view.char(tag.end()) if tag["tag"] and not tag["full"] and tag["end"] == ">" else ""
    return bool(behind) and not behind.isspace() and behind not in "<["


def _group(view: Lookahead, at: int) -> int | None:
    """Where a marker, remark or emoji behind a blank ends; None where there is none at `at`."""
    char = view.char(at)
    if char and _EMOJI_RUN.match(char):
        return view.skip(_EMOJI_RUN, at)
    if char not in ("[", "("):
        return _mark(view, at)
    found = view.match(_MARKS[char], at)
    inner = (found["inner"] or "") if found else ""
    if not found or _is_sentence(inner):
        return None
    # Neither `(2) It is cheap.` nor `[Paris](https://…) Hilton` belongs to what is before.
    opens = _NUMBERING.fullmatch(inner) if char == "(" else found["link"] and not _CITES.search(inner)
    return None if opens else found.end()


def _is_sentence(inner: str) -> bool:
    return inner.rstrip(CLOSING)[-1:] in STOPS
