"""Text to token windows: the same cut for training, evaluation and calibration.

A window holds whole sentences while they fit.  In training the size is drawn
anew every time, so that evidence often lies in more than one window.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from tokenizers import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Tokens = NDArray[np.uint16]

CLS, SEP = 101, 102
MAX_WINDOW = 128
"""Tokens of a window row with `[CLS]` and `[SEP]`."""
MAX_CLAIM = 96

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"”')\]]*\s+(?=[\"“'(\[A-Z0-9•*#-])|\n+")
_MARKUP = re.compile(
    r"\s*\[\^?\d{1,2}(?:\s*[,;]\s*\^?\d{1,2})*\]"  # [1], [1, 2], [^1]
    r"|\s*\([A-Z][^()]{1,80},\s*(?:19|20)\d\d\)"  # (Title, 2021)
    r"|^\s*(?:[-*•]\s+|#+\s+|\d{1,2}[.)]\s+)"  # list bullets, headings
    r"|\*\*|__|`"
)


@dataclass(frozen=True, slots=True)
class CleanText:
    """A claim without citation markers and markup, and where its characters came from."""

    text: str
    origin: Sequence[int]
    """For every character of `text`, its index in the text as written."""


def load_tokenizer(path: Path) -> Tokenizer:
    """The model's tokenizer without the padding and truncation its file asks for."""
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def clean_claim(raw: str) -> CleanText:
    """Drop citation markers, emphasis, bullets and code ticks; keep the words.

    A marker says where the writer claims to have read something, not what is
    claimed; the model never sees one.
    """
    keep = np.ones(len(raw), dtype=bool)
    for match in _MARKUP.finditer(raw):
        keep[match.start() : match.end()] = False
    origin = np.flatnonzero(keep).tolist()
    text = "".join(raw[i] for i in origin)
    lead = len(text) - len(text.lstrip())
    text = text.strip()
    return CleanText(text, origin[lead : lead + len(text)])


def sentences(text: str) -> list[str]:
    """Sentences of a passage in order, without the blanks between them."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part and part.strip()]


def tokenise(tokenizer: Tokenizer, texts: Sequence[str]) -> list[Tokens]:
    """Token ids of each text without special tokens."""
    found = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    return [np.array(e.ids, dtype=np.uint16) for e in found]


def pack_windows(parts: Sequence[Tokens], size: int) -> list[Tokens]:
    """Windows of at most `size` tokens from tokenised sentences, in order.

    A sentence longer than `size` is cut; every other sentence stays whole.
    """
    windows: list[list[Tokens]] = []
    room = 0
    for part in parts:
        for start in range(0, max(len(part), 1), size):
            piece = part[start : start + size]
            if windows and len(piece) <= room:
                windows[-1].append(piece)
                room -= len(piece)
            else:
                windows.append([piece])
                room = size - len(piece)
    return [np.concatenate(window) for window in windows]


def token_marks(
    offsets: Sequence[tuple[int, int]], clean: CleanText, spans: Sequence[Sequence[int]]
) -> NDArray[np.bool_]:
    """For each token of a cleaned claim, whether it touches an unsupported span.

    Args:
        offsets: character ranges of the tokens in `clean.text`; empty for special tokens.
        clean: the cleaned claim.
        spans: half-open character ranges in the claim as written.
    """
    inside = np.array([any(a <= o < b for a, b in spans) for o in clean.origin], dtype=bool)
    return np.array([bool(inside[a:b].any()) if b > a else False for a, b in offsets], dtype=bool)
