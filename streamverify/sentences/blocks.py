"""The markdown pre-pass: what kind of block a line opens, decided from the line's first characters.

Only what LLM answers really contain is read: headings, list items, block quotes, pipe tables, fenced
code, thematic breaks, reference lists and bold lead-ins. Everything else is prose, in which a single
line break is a blank like any other.

Rules that differ from CommonMark, because an answer is judged sentence by sentence:

* A line that only consists of bold text is a heading; a bold lead-in (`**Cost:** …`) opens a block.
* An unindented line after a list item opens a paragraph unless it begins in lower case; so does a line
  without `>` after a block quote.
* `(a)`, `a)`, `a.`, `•`, `–`, `→`, `①`, `1:`, `1 -`, the number of a section (`1.1`, `2.3.1.`), an emoji and
  `[1] Title` open list items. A dash in front of a lower-case word does within a list only, and not behind a
  quotation, whose speaker it names.
* A table is one sentence a row, so that one wrong figure does not condemn the table and a verdict need
  not wait for its end; the delimiter row belongs to the row of column names above it.

Before: segmenter.py asks here at every line break. After: the rules of `stops` read the prose.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from streamverify.sentences.lookahead import Construct
from streamverify.text.list_marks import CIRCLED, EMOJI, KEYCAP, LETTERS, SECTION, SIGNS
from streamverify.types import SentenceKind

if TYPE_CHECKING:
    from streamverify.sentences.lookahead import Lookahead

BLANKS = re.compile(r"\s*")

_LINE_BREAK = re.compile(r"\r\n?|\n")
_QUOTE_BLANKS = re.compile(r"[\s>]*")
_QUOTE_PREFIX = re.compile(r"[> \t]*")

_LINE_END = r"(?=[\r\n]|\Z)"
_MARKER = rf"""
      (?P<backticks>`{{3,}}) [^`\r\n]* {_LINE_END}
    | (?P<tildes>~{{3,}}) [^\r\n]* {_LINE_END}
    | (?P<bullet>[-+*→·] (?=\s|\Z) | [{SIGNS}]) [ \t]*
    | (?P<dash>[–—]) [ \t]+
    | (?P<section>{SECTION}) [ \t]+ (?=\S)
    | (?P<number>[0-9]{{1,3}}) [.)] (?=\s|\Z) [ \t]*
    | (?P<counted>[0-9]{{1,3}}) (?: : | [ \t] [-–—]) [ \t]+ (?=[^\W\d_]|\*\*)
    | (?P<dotted>{LETTERS}) \. (?=\s|\Z) [ \t]*
    | (?P<letter>{LETTERS}) \) (?=\s|\Z) [ \t]*
    | \( (?P<bracketed>[0-9]{{1,3}} | {LETTERS}) \) (?=\s|\Z) [ \t]*
"""
_PART_OF_MARKER = rf"""
      `{{1,2}} | `{{3,}} [^`\r\n]*
    | ~{{1,2}} | ~{{3,}} [^\r\n]*
    | [-+*→·–—{SIGNS}] [ \t]*
    | [0-9]{{1,3}} (?: (?:[.):] | [ \t] [-–—]?) [ \t]* \*? )?
    | [0-9]{{1,2}} (?: \.[0-9]{{1,2}} ){{0,5}} \.? [ \t]* (?:(?<=[ \t])[A-Z][a-z]{{0,8}})?
    | (?:{LETTERS}) (?:[.)] [ \t]*)?
    | \( (?:[0-9]{{0,3}} | {LETTERS}) (?:\) [ \t]*)?
"""
_NESTED = Construct(
    whole=re.compile(_MARKER, re.VERBOSE), part=re.compile(rf"(?:{_PART_OF_MARKER})?", re.VERBOSE)
)
_OPENING = Construct(
    whole=re.compile(
        rf"""
          (?P<rule> (?: (?P<stroke>[-*_]) (?:[ \t]*(?P=stroke)){{2,}} | ={{3,}} ) [ \t]* {_LINE_END})
        | {_MARKER}
        | (?P<heading>\#{{1,6}}) (?=\s|\Z)
        | (?P<reference>\[ (?:\^\w{{1,16}} | [0-9]{{1,3}}) \] (?: : [ \t]* | [ \t]+ (?=[A-Z"“<]|https?:)))
        | (?P<title>\*\* (?=[^*\s]) [^*\r\n]{{0,79}} [^*\r\n.!?…。！？] \*\* :? [ \t]* {_LINE_END})
        | (?P<lead>\*\* (?=[^*\s]) (?: [^*\r\n]{{0,79}} [:.] \*\* | [^*\r\n]{{1,80}} \*\* [ \t]? [:–—] ))
        | (?P<table>\|)
        | (?P<emoji>[{EMOJI}]+ | {KEYCAP} | {CIRCLED}) [ \t]*
        | (?P<quote>>)
        """,
        re.VERBOSE,
    ),
    part=re.compile(
        rf"""
        (?: {_PART_OF_MARKER}
        | (?P<stroke>[-*_]) (?:[ \t]*(?P=stroke))* [ \t]*
        | =+ [ \t]*
        | \#{{1,6}}
        | \[ (?:\^\w{{0,16}} | [0-9]{{0,3}}) (?:\] (?: : [ \t]* | [ \t]* (?:h|ht|htt|http|https)?)? )?
        | \*\* [^*\r\n]{{0,80}} (?:\* (?:\* :? [ \t]* )?)?
        | [{EMOJI}]+ [ \t]* | [0-9]\ufe0f?\u20e3? [ \t]*
        )?
        """,
        re.VERBOSE,
    ),
)
_DELIMITER_ROW = Construct(
    whole=re.compile(rf"\|[ \t:|-]*-[ \t:|-]*{_LINE_END}"),
    part=re.compile(r"(?:\|[ \t:|-]*)?"),
)


class Block(NamedTuple):
    """The block a stretch of the answer stands in."""

    kind: SentenceKind = SentenceKind.PROSE
    quoted: bool = False
    """Its lines begin with `>`."""
    listed: bool = False
    """It belongs to a list, so that `2.` on the next line is the next item."""
    one_line: bool = False
    """A line break always ends it, and nothing else does."""
    header: bool = False
    """It is the first row of a table, which a delimiter row may still join."""
    fence: str = ""
    """The characters that the line that closes the code begins with; empty outside code."""
    unread: bool = False
    """Its first line is still to be read; until then the other fields tell of the block before."""


_ITEM = Block(SentenceKind.LIST_ITEM, listed=True)
_FIRST = frozenset({"1", "a", "i"})  # a list inside a paragraph begins with one of these
LABEL = Construct(
    whole=re.compile(r"(?:[^\W_a-z][^\s:|*`]{0,30}(?: [^\s:|*`]{1,30}){0,4}|[a-z][\w-]{0,30}):[ \t]+(?=\S)"),
    part=re.compile(r"(?:[^\W_][^\s:|*`]{0,30}(?: [^\s:|*`]{1,30}){0,4}(?: [^\s:|*`]{0,30})?(?::[ \t]*)?)?"),
)
"""What a line begins with that says `Label: value`; a label in lower case is one word."""
_FIRST_SECTION = re.compile(r"1(?:\.1)+\.?")
_FENCES = ("backticks", "tildes")
_UNDERLINES = ({"="}, {"-"})


class Line(NamedTuple):
    """The next line that is not blank."""

    start: int
    """Offset of its first character, indentation included."""
    content: int
    """Offset from which it is still to be read: behind its markers, unless the block is unread."""
    block: Block
    opens: bool
    """Whether it opens a block; otherwise it carries on the paragraph before."""


def first_line(view: Lookahead, at: int, before: Block) -> Line:
    """The first line of a block, blank lines skipped.

    Args:
        view: The answer so far.
        at: Offset of the line, or of blank lines before it.
        before: The block before it.

    Raises:
        Undecided: the characters that decide have not come yet.
    """
    content, start, _ = _gap(view, at, quoted=False)
    opening = _opening(view, content, before, fresh=True, quoted=False)
    if opening:
        return Line(start, opening[1], opening[0], opens=True)
    nested = before.listed and content - start > 1
    return Line(start, content, _ITEM if nested else Block(), opens=True)


def next_line(
    view: Lookahead,
    at: int,
    block: Block,
    *,
    invited: bool = False,
    underlines: bool = False,
    spoken: bool = False,
) -> Line | None:
    """The line after the line break in the blanks at `at`; None where nothing but blanks follows.

    Args:
        view: The answer so far.
        at: Offset of blanks that contain a line break.
        block: The block before the line break.
        invited: The text before ends in a colon, so any list may follow.
        underlines: The text before is one line that `===` or `---` below it makes a heading.
        spoken: The text before closes a quotation, so a dash may name who said it.

    Raises:
        Undecided: the characters that decide have not come yet.
    """
    content, start, breaks = _gap(view, at, quoted=block.quoted)
    if not view.char(content):
        return None
    if block.header and breaks == 1 and (row := view.match(_DELIMITER_ROW, content)):
        return Line(start, row.end(), block._replace(header=False), opens=False)
    quoted = ">" in view.text[start:content]
    if breaks > 1 or block.one_line or block.quoted != quoted:
        before = block if breaks == 1 else Block(listed=block.listed)
        return Line(start, start, before._replace(unread=True), opens=True)
    if opening := _opening(view, content, block, fresh=invited, quoted=quoted, spoken=spoken):
        opened, end = opening
        underline = underlines and set(view.text[content:end].strip()) in _UNDERLINES
        return Line(start, end, opened, opens=not underline)
    if block.kind is SentenceKind.LIST_ITEM and content == start and not view.char(content).islower():
        return Line(start, content, Block(), opens=True)
    return Line(start, content, block, opens=False)


def _gap(view: Lookahead, at: int, *, quoted: bool) -> tuple[int, int, int]:
    """Where the blanks at `at` end, where the last line in them begins, and their line breaks."""
    end = view.skip(BLANKS, at)
    if quoted and view.char(end) == ">":
        end = view.skip(_QUOTE_BLANKS, end)
    blanks = view.text[at:end]
    start = at + max(blanks.rfind("\n"), blanks.rfind("\r")) + 1
    return end, start, len(_LINE_BREAK.findall(blanks))


def _opening(
    view: Lookahead, at: int, before: Block, *, fresh: bool, quoted: bool, spoken: bool = False
) -> tuple[Block, int] | None:
    """The block that the markers at `at` open, and where its text begins; None for plain text."""
    found = view.match(_OPENING, at)
    if not found:
        return None
    marker, end = found.lastgroup or "", found.end()
    match marker:
        case "quote" if not quoted:
            content = view.skip(_QUOTE_PREFIX, at)
            inside = _opening(view, content, Block(), fresh=True, quoted=True)
            return inside or (_within(Block(), quoted=True), content)
        case "backticks" | "tildes" if not quoted:
            return Block(SentenceKind.CODE, fence=found[marker]), end
        case "heading" | "rule" | "title":
            opened = Block(SentenceKind.HEADING, one_line=True)
        case "table":
            opened = Block(SentenceKind.TABLE, one_line=True, header=before.kind is not SentenceKind.TABLE)
        case "lead":
            opened, end = Block(listed=before.listed), at
        case "reference" | "emoji":
            opened = _ITEM
        case _ if _opens_item(view, found, before, fresh=fresh, spoken=spoken):
            opened, end = _nested(view, end, quoted=quoted)
        case _:
            return None
    return _within(opened, quoted=quoted), end


def _opens_item(view: Lookahead, found: re.Match[str], before: Block, *, fresh: bool, spoken: bool) -> bool:
    """Whether a bullet, a number or a letter opens an item here; within a list each of them does.

    Elsewhere a number may be part of what is said, and at the start of a paragraph `p. 12` or `5 - 3` may be.
    """
    marker = found.lastgroup or ""
    match marker:
        case "bullet":
            return True
        case "dash":
            return before.listed or (not spoken and (fresh or not view.char(found.end()).islower()))
        case "number" | "letter" | "bracketed":
            return fresh or before.listed or found[marker] in _FIRST
        case "counted" | "dotted":
            return before.listed or found[marker] in _FIRST
        case "section":
            return fresh or before.listed or _FIRST_SECTION.fullmatch(found[marker]) is not None
        case _:
            return False


def _nested(view: Lookahead, at: int, *, quoted: bool) -> tuple[Block, int]:
    """A list item whose text at `at` may itself begin with a marker (`- 1. …`) or be code."""
    key = ("nested", at, quoted)
    at = view.decided.get(key, at)
    while found := view.match(_NESTED, at):
        at = found.end()
        if found.lastgroup in _FENCES and not quoted:
            return Block(SentenceKind.CODE, fence=found[found.lastgroup]), at
        if not view.closed:  # what more text cannot change
            view.decided[key] = at
    return _ITEM, at


def _within(block: Block, *, quoted: bool) -> Block:
    return block._replace(kind=SentenceKind.QUOTE, quoted=True) if quoted else block
