"""Tokens as a model reads them, from its `tokenizer.json`.

Before: `model_files.py` has the file. After: `premise_cached.py`, or a process without a model, reads texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import compress, repeat
from operator import not_
from pathlib import Path
from typing import NamedTuple

from tokenizers import Encoding, Tokenizer

from streamverify.errors import ModelContractError
from streamverify.scorers.known_words import known_words
from streamverify.text.unicode import encodable
from streamverify.types import Span


@dataclass(frozen=True, slots=True)
class TokenReader:
    """Reads tokens as the model does, without the model."""

    tokenizer: Tokenizer

    def __call__(self, text: str) -> list[Span]:
        """Where each token of `text` stands, special tokens left out."""
        return [*map(_span, repeat(Span), encoded(self.tokenizer, text, special=False).offsets)]


_span = tuple.__new__
"""`Span._make` without its steps in Python, which cost more than the tokenizer: a window has hundreds."""


def encoded(tokenizer: Tokenizer, text: str, *, special: bool) -> Encoding:
    """Tokens of a text, with the special ones around them where asked for."""
    # The tokenizer refuses lone surrogates; what replaces one is as long, so offsets stay right.
    return tokenizer.encode(encodable(text), add_special_tokens=special)


class Tokens(NamedTuple):
    """A text as the model reads it, special tokens included; each of them at the text's beginning or end."""

    ids: list[int]
    offsets: list[tuple[int, int]]
    """Where each stands; a special one at (0, 0)."""
    special_tokens_mask: list[int]
    """1 for a special one, else 0."""


class Encoder:
    """Texts as the model reads them, special tokens included; those of sentences are remembered.

    A sentence is asked for again and again: how long it is, as a claim, as what stands before the next one.
    Safe to use from several threads.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Nothing is remembered yet."""
        self._tokenizer = tokenizer
        self._words = known_words(tokenizer)
        around = tokenizer.encode("a")
        place = around.special_tokens_mask.index(0)
        self._before, self._after = around.ids[:place], around.ids[place + 1 :]
        self._sentence = lru_cache(maxsize=_REMEMBERED)(self._encode)

    def __call__(self, text: str) -> Tokens:
        """Its tokens."""
        return self._sentence(text) if len(text) <= _SENTENCE else self._encode(text)

    def ids(self, text: str) -> list[int]:
        """Its tokens without their places: sooner, and not remembered."""
        text = encodable(text)
        if self._words is None or not self._words.reads(text):
            return encoded(self._tokenizer, text, special=True).ids
        return [*self._before, *self._words.ids(text), *self._after]

    def spans(self, text: str) -> list[Span]:
        """Where each token stands, special tokens left out: as `TokenReader` says."""
        if len(text) <= _SENTENCE:
            found = self(text)
            return [*map(_span, repeat(Span), compress(found.offsets, map(not_, found.special_tokens_mask)))]
        text = encodable(text)
        if self._words is None or not self._words.reads(text):
            return TokenReader(self._tokenizer)(text)
        return self._words.spans(text)

    def _encode(self, text: str) -> Tokens:
        words, text = self._words, encodable(text)
        if words is None or not words.reads(text):
            found = encoded(self._tokenizer, text, special=True)
            return Tokens(found.ids, found.offsets, found.special_tokens_mask)
        before, after = len(self._before), len(self._after)
        spans = words.spans(text)
        return Tokens(
            [*self._before, *words.ids(text), *self._after],
            [*[(0, 0)] * before, *spans, *[(0, 0)] * after],
            [*[1] * before, *[0] * len(spans), *[1] * after],
        )


_SENTENCE = 500
"""Characters of the longest text that is remembered."""
_REMEMBERED = 256
"""Texts that are remembered, those used last: about 1 MB."""


def read_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer of a file, without padding and truncation.

    Raises:
        ModelContractError: the file holds none. Operator.
    """
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the tokenizers package raises bare Exception
        raise ModelContractError(f"{path} is not a tokenizer: {error}") from error
    # The file carries the padding and truncation of the model it came from.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
