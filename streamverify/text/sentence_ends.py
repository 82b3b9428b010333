"""Where sentences begin and end inside a text that is all there: by its marks alone, in microseconds.

For reading a claim or a window only, where a wrong cut costs a hint. An answer is cut by `sentences/`, which
waits for what has not come; passages and the evidence shown are cut by sentencex, which knows abbreviations.
"""

from __future__ import annotations

import re

_SHORT = (
    r"(?<!\b(?:vs|Mr|Ms|Dr|St|No|cf|ca|pp|al)\.\s)(?<!\b(?:[Mm]ax|Art|Sec|Fig|Tel|est|Nos|Mrs|e\.g|i\.e)\.\s)"
    r"(?<!\b(?:incl|excl|Prof)\.\s)(?<!\bapprox\.\s)"
)
"""Not behind short forms that a number or a name follows: "(max. 4 hours)"."""

# It begins with a blank in either case, so that the search skips to one.
SENTENCE_END = re.compile(rf"\s(?:(?<=[.!?]\s){_SHORT}\s*(?=[\"“(`A-Z0-9])|(?<=\n)\n*)")
"""The blanks between two sentences: behind a stop and before what may begin one, or a line break."""

_OPENS = re.compile(r"(?:^|[.!?:;]\s+|[\n\r]\s*|[\"“«(\[]|\s[-–—]\s)$")
_TITLE = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|Sir|St|Rev|Gen|Col|Lt|Capt|Sen|Rep|Gov|Hon|v|vs|no|al)\.\s+$", re.IGNORECASE
)


def opens_sentence(text: str, start: int) -> bool:
    """Whether the word at this offset begins a sentence or a quotation, so that its capital says nothing.

    A word behind a title does not begin one (`Dr. Who`).
    """
    if _OPENS.search(text, max(start - 3, 0), start) is None:
        return False
    return _TITLE.search(text, max(start - 7, 0), start) is None
