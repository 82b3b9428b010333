"""A sentence's Markdown as a page shows it: its text in runs, each with its styles and its place.

Before: an answer cut into sentences. After: pages that stand still (`evaluate/report/`,
`server/labelling.py`), which make elements of the runs. Only the marks that `markdown.py` knows become
styles; a tag in an answer is text. An answer that is still being written is read in the browser
(`static/markdown.js`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from streamverify.text.list_marks import STROKES, is_item, marks_end
from streamverify.text.markdown import INLINE, Aligned, around, hide_escaped, hide_marks, show_hidden

Style = Literal["strong", "em", "del", "code"]
"""Names of HTML elements, in the order in which they nest."""

STYLES: tuple[Style, ...] = ("strong", "em", "del", "code")


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of one style that stand together."""

    text: str
    """As shown: plain text, to be escaped like any other."""
    start: int
    """Offset of its first character in the sentence."""
    end: int
    """One past the offset of its last."""
    styles: tuple[Style, ...]
    """Outermost first."""


def styled(text: str, *, code: bool = False, cuts: Iterable[int] = ()) -> list[Run]:
    """The sentence as shown, without its outer blanks and without the marks that only set type.

    Args:
        text: one sentence of an answer.
        code: it is program text, of which nothing is a mark.
        cuts: offsets that no run goes across.

    Returns:
        Runs in order, none empty. A bullet is shown as `•`; marks of headings and quotations are left out.
    """
    lead = len(text) - len(text.lstrip())
    if code:
        told = Aligned.at(text.strip(), lead)
        return _runs(told, {offset: {"code"} for offset in told.offsets}, cuts)
    start, styles = marks_end(text), dict[int, set[Style]]()
    body = hide_escaped(Aligned.at(text.rstrip(), 0).cut(start))
    for kind, names in _STYLES_OF.items():
        pattern = INLINE[kind]
        matches = [match.span(1) for match in pattern.finditer(body.text)]
        for offset in (body.offsets[place] for match in matches for place in range(*match)):
            styles.setdefault(offset, set()).update(names)
        gone = around(pattern, body.text)
        if kind == "code":
            body = hide_marks(body, matches)
        body = body.without(gone)
    head = Aligned.at(text[lead:start], lead)
    if is_item(text):
        head = head.without((place, place + 1) for place, char in enumerate(head.text) if char in ">#")
        body = Aligned("".join("•" if char in STROKES else char for char in head.text), head.offsets) + body
    elif "#" in head.text:
        for offset in body.offsets:
            styles.setdefault(offset, set()).add("strong")
    return _runs(show_hidden(body), styles, cuts)


# Code first: nothing in it is a mark. A tag is text here.
_STYLES_OF: dict[str, tuple[Style, ...]] = {
    "code": ("code",),
    "link": (),
    "strong em": ("strong", "em"),
    "strong": ("strong",),
    "strong, underlined": ("strong",),
    "em": ("em",),
    "em, underlined": ("em",),
    "del": ("del",),
    "stray": (),
}


def _runs(told: Aligned, styles: dict[int, set[Style]], cuts: Iterable[int]) -> list[Run]:
    borders, marked = sorted(cuts), []
    for char, offset in zip(told.text, told.offsets, strict=True):
        held = styles.get(offset, ())
        look = bisect_right(borders, offset), tuple(style for style in STYLES if style in held)
        marked.append((char, offset, look))
    runs = []
    for (_, nested), group in groupby(marked, key=lambda one: one[2]):
        chars = list(group)
        text = "".join(char for char, _, _ in chars)
        runs.append(Run(text, chars[0][1], chars[-1][1] + 1, nested))
    return runs
