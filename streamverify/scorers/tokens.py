"""Tokens as a model reads them, from its `tokenizer.json`.

Before: `model_files.py` has the file. After: `premise_cached.py`, or a process without a model, reads texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import repeat
from pathlib import Path

from tokenizers import Encoding, Tokenizer

from streamverify.errors import ModelContractError
from streamverify.text.unicode import printable
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
    return tokenizer.encode(printable(text), add_special_tokens=special)


class Encoder:
    """Texts as the model reads them, special tokens included; those of sentences are remembered.

    A sentence is asked for again and again: how long it is, as a claim, as what stands before the next one.
    Safe to use from several threads.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Nothing is remembered yet."""
        self._encode = partial(encoded, tokenizer, special=True)
        self._sentence = lru_cache(maxsize=_REMEMBERED)(self._encode)
        self._read = TokenReader(tokenizer)

    def __call__(self, text: str) -> Encoding:
        """Its tokens."""
        return self._sentence(text) if len(text) <= _SENTENCE else self._encode(text)

    def spans(self, text: str) -> list[Span]:
        """Where each token stands, special tokens left out: as `TokenReader` says."""
        if len(text) > _SENTENCE:
            return self._read(text)
        found = self(text)
        places = zip(found.offsets, found.special_tokens_mask, strict=True)
        return [_span(Span, place) for place, special in places if not special]


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
