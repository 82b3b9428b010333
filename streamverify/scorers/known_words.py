"""Tokens of texts, word by word, each word's looked up once.

    text ── split as BERT splits ── word ── known? ── the tokenizer, asked for this word alone

Before: `tokens.py` has a tokenizer. After: it reads with this what it can, and the rest with the tokenizer.

A WordPiece tokenizer cuts a text at blanks and at marks, and reads what is between by itself, so a word has
the same tokens wherever it stands, and texts are made of a few thousand of them. What is cut here is cut
there too. Nothing else in a text has a bearing on a word's tokens, except control characters, which vanish
and join what is around them, and names of special tokens: texts that have either are left to the tokenizer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, repeat

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from streamverify.types import Span

_MARKS = r"!-/:-@\[-`{-~¡«·»¿‐-‧"
"""Marks that are always tokens of their own: those of ASCII, and some that texts often have."""
_WORD = re.compile(rf"[{_MARKS}]|[^\x00- {_MARKS}]+")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LONGEST, _LONGEST_FIGURE = 40, 4
"""Letters of a word, and digits of a figure, that are remembered."""
_MOST = 32768
"""Words that are remembered: some 8 MB."""

_span = tuple.__new__
"""`Span._make` without its steps in Python."""


class KnownWords:
    """Reads most texts as a tokenizer does, in a quarter of the time. Safe to use from several threads."""

    def __init__(self, tokenizer: Tokenizer, special: Sequence[str]) -> None:
        """No word is known yet; made by `known_words`.

        Args:
            tokenizer: its words are asked for one by one.
            special: names of its special tokens.
        """
        self._special = re.compile("|".join(map(re.escape, special)) or r"(?!)")
        self._ids = _Ids(tokenizer)
        self._parts = _Parts(tokenizer)

    def reads(self, text: str) -> bool:
        """Whether a text can be read word by word; the other methods are for such texts."""
        return _CONTROL.search(text) is None and self._special.search(text) is None

    def ids(self, text: str) -> list[int]:
        """Its tokens."""
        return [*chain.from_iterable(map(self._ids.__getitem__, _WORD.findall(text)))]

    def spans(self, text: str) -> list[Span]:
        """Where each of its tokens stands."""
        places = [word.span() for word in _WORD.finditer(text)]
        within = [*map(self._parts.__getitem__, _WORD.findall(text))]
        if within.count(None) == len(within):
            return [*map(_span, repeat(Span), places)]
        found: list[Span] = []
        for place, parts in zip(places, within, strict=True):
            if parts is None:
                found.append(_span(Span, place))
            else:
                start = place[0]
                found += [_span(Span, (start + first, start + last)) for first, last in parts]
        return found


class _Ids(dict[str, tuple[int, ...]]):
    """The tokens of words seen; a known word costs one look-up, without a step in Python."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def __missing__(self, word: str) -> tuple[int, ...]:
        found = tuple(self._tokenizer.encode(word, add_special_tokens=False).ids)
        if _kept(word):
            if len(self) >= _MOST:
                self.clear()  # the words in use are back soon
            self[word] = found
        return found


class _Parts(dict[str, tuple[tuple[int, int], ...] | None]):
    """Where the tokens of words seen stand in them; None where a word is one token."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def __missing__(self, word: str) -> tuple[tuple[int, int], ...] | None:
        offsets = tuple(self._tokenizer.encode(word, add_special_tokens=False).offsets)
        found = None if offsets == ((0, len(word)),) else offsets
        if _kept(word):
            if len(self) >= _MOST:
                self.clear()
            self[word] = found
        return found


def _kept(word: str) -> bool:
    """Whether it is worth remembering: figures and what somebody made up have no end."""
    if word.isalpha():
        return len(word) <= _LONGEST
    return len(word) == 1 or (len(word) <= _LONGEST_FIGURE and word.isdecimal())


def known_words(tokenizer: Tokenizer) -> KnownWords | None:
    """What reads texts for a tokenizer; None where its words are not known to stand alone."""
    bert = (
        isinstance(tokenizer.normalizer, normalizers.BertNormalizer)
        and isinstance(tokenizer.pre_tokenizer, pre_tokenizers.BertPreTokenizer)
        and isinstance(tokenizer.model, models.WordPiece)
    )
    added = tokenizer.get_added_tokens_decoder().values()
    special = tuple(one.content for one in added)
    # One that is a word would be seen in a word of other letters once that is asked for by itself.
    if not bert or any(one.normalized for one in added) or any(map(_WORD.fullmatch, special)):
        return None
    return KnownWords(tokenizer, special)
