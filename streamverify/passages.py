"""Passages as they come from callers and retrievers, and the windows a scorer reads.

Before: the caller. After: `scorers/` encodes the windows, `judging/verdict.py` points into them.

Nothing is lost on the way: the windows of a passage, joined, are its text. Texts are not normalised;
offsets always count code points of the text as given.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import sentencex

from streamverify.errors import PassageError
from streamverify.scorers.protocol import Window
from streamverify.text.unicode import encodable
from streamverify.types import Passage, Span

DATED = (
    "date", "updated", "modified", "published", "effective", "valid_from", "version_date", "year",
    "last_modified", "last_updated", "updated_at", "modified_at", "effective_date", "published_at",
)  # fmt: skip
"""Metadata that tells a passage's date."""
_LONGEST_DATE = 40
"""Characters that are read of a date."""
MAX_CHARS = 50_000_000
"""Default bound on the text of all passages of a stream, in characters."""

_PIECE = 20_000
"""Characters handed to the tokenizer at once, about; keeps its memory flat on books."""

_SLAB = 2_000
"""Characters cut into sentences at once; the splitter is quadratic in text without blanks."""

_SHAPES = "a Passage, a str, a mapping with 'id' and 'text', a LangChain Document or a LlamaIndex node"
_LABEL = re.compile(r"\ASource \d+:\n")  # LlamaIndex's citation engine writes it into the nodes it cites

_TokenSpans = Callable[[str], Sequence[Span]]


def passages_from(objects: Iterable[object], *, max_chars: int = MAX_CHARS) -> tuple[Passage, ...]:
    """The passages of a stream, in order.

    A plain string is named by its position: `p1`, `p2`, … An id that comes again with the same text is
    kept once. Lone surrogates, which no encoding can carry, become U+FFFD. Blank passages are kept: they
    can be cited, and support nothing (`blank_ids` tells which they are).

    A LangChain document without an id takes `chunk_id`, `id` or `doc_id` of its metadata; chunks that share
    one of these get `#2`, `#3`, … put after it. With none of them, the id is a hash of the text.

    Args:
        objects: `Passage`, `str`, mapping with `id` and `text` (and `title`, `metadata`; other keys go to
            the metadata), LangChain documents and LlamaIndex nodes, read by shape; mixed as you like.
        max_chars: bound on the text of all of them, in characters.

    Raises:
        PassageError: an object is none of these, an id stands for two texts, the texts are too long, or
            a single passage was given where a sequence is meant. Caller.
    """
    if isinstance(objects, (str, bytes, Mapping, Passage)) or not isinstance(objects, Iterable):
        raise PassageError(
            f"passages must be a sequence, each {_SHAPES}; for a single one pass it in a list, "
            f"not as {type(objects).__name__}"
        )
    by_id: dict[str, Passage] = {}
    chunks = _Chunks(by_id)
    total = 0
    for position, item in enumerate(objects, 1):
        passage, shared = _read(item, position)
        if shared:
            passage = chunks.told_apart(passage)
        known = by_id.setdefault(passage.id, passage)
        if known.text != passage.text:
            raise PassageError(
                f"passage id {passage.id!r} stands for two different texts; ids must be unique"
            )
        if known is passage:
            total += len(passage.text)
        if total > max_chars:
            raise PassageError(
                f"the passages up to {passage.id!r} have {total:,} characters, more than {max_chars:,}; "
                "retrieve fewer"
            )
    return tuple(by_id.values())


def refuse_read_once(documents: object) -> None:
    """Refuse an iterator where the caller's code reads the documents too: whoever comes second finds none.

    Raises:
        PassageError: it can be read only once. Caller.
    """
    if isinstance(documents, Iterator):
        raise PassageError(
            f"a {type(documents).__name__} can be read only once, and here it is read too: "
            "give a list, list(documents)"
        )


def blank_ids(passages: Iterable[Passage]) -> tuple[str, ...]:
    """Ids of the passages that hold no text."""
    return tuple(passage.id for passage in passages if not passage.text.strip())


def cut(
    passages: Sequence[Passage], token_spans: _TokenSpans, limit: int, *, title_tokens: int = 0
) -> list[Window]:
    """Windows of at most `limit` tokens, cut between sentences, or words where a sentence is too long.

    The windows of a passage, joined, are its text; a passage without a token has none. Takes time
    linear in the text.

    Args:
        passages: in the stream's order.
        token_spans: the scorer's tokenizer.
        limit: tokens a window may have, 1 or more. A single character of more tokens is a window of its own.
        title_tokens: of these, tokens to be kept free in the windows of a passage that has a title; less than
            `limit`.
    """
    windows = []
    for position, passage in enumerate(passages):
        text, title = encodable(passage.text), passage.title or ""
        for start, end in _spans(text, token_spans, limit - title_tokens if title else limit):
            windows.append(Window(position, text[start:end], start, end, title))
    return windows


def _spans(text: str, token_spans: _TokenSpans, limit: int) -> Iterator[Span]:
    """Where the windows of one passage stand."""
    parts = list(_parts(text, token_spans, limit))
    total = sum(count for _, count in parts)
    if not total:
        return
    # Windows of like length: a last window of a few words would be read without its context.
    aim = -(-total // -(-total // limit))
    starts, used = [0], 0
    for start, count in parts:
        # What has no tokens, such as blanks, stays with what is before it.
        if count and used and (used >= aim or used + count > limit):
            starts.append(start)
            used = 0
        used += count
    for start, end in pairwise([*starts, len(text)]):
        span = Span(start, end)
        if _between_words(text, start) and _between_words(text, end):
            yield span
        else:
            yield from _fitted(text, span, token_spans, limit)


def _between_words(text: str, border: int) -> bool:
    """Whether the tokens on both sides are the same with and without each other."""
    return border in (0, len(text)) or not (text[border - 1].isalnum() and text[border].isalnum())


def _fitted(text: str, span: Span, token_spans: _TokenSpans, limit: int) -> Iterator[Span]:
    """The span, or two halves of it where the text alone has more tokens than it had in its place."""
    tokens = token_spans(text[span.start : span.end])
    border = span.start + tokens[len(tokens) // 2].start if len(tokens) > limit else span.start
    if border == span.start:
        yield span
        return
    for half in (Span(span.start, border), Span(border, span.end)):
        yield from _fitted(text, half, token_spans, limit)


def _parts(text: str, token_spans: _TokenSpans, limit: int) -> Iterator[tuple[int, int]]:
    """Sentences, those of more than `limit` tokens in pieces: where each starts, and its tokens."""
    for sentences in _groups(text):
        origin, end = sentences[0], sentences[-1]
        tokens = [origin + start for start, _ in token_spans(text[origin:end])]
        for sentence, stop in pairwise(sentences):
            start, first, last = sentence, bisect_left(tokens, sentence), bisect_left(tokens, stop)
            while last - first > limit and (border := _word_start(text, tokens, first, limit)) > first:
                yield start, border - first
                start, first = tokens[border], border
            yield start, last - first


def _word_start(text: str, tokens: Sequence[int], first: int, limit: int) -> int:
    """Index of the token before which to cut: the last within reach that follows a blank, or else any."""
    for index in range(first + limit, first + limit // 2, -1):
        if text[tokens[index] - 1].isspace():
            return index
    # Several tokens may stand for one character; a cut must move forward.
    return next((index for index in range(first + limit, first, -1) if tokens[index] > tokens[first]), first)


def _groups(text: str) -> Iterator[list[int]]:
    """Borders of neighbouring sentences, in groups of about `_PIECE` characters; groups share a border."""
    group = [0]
    for border in _borders(text):
        group.append(border)
        if border - group[0] >= _PIECE:
            yield group
            group = [border]
    if len(group) > 1:
        yield group


def _borders(text: str) -> Iterator[int]:
    """Ends of sentences and of lines, in order, the text's last; never further apart than `_SLAB`."""
    start = 0
    while start < len(text):
        slab = text[start : start + _SLAB]
        lines = [
            line for sentence in sentencex.segment("en", slab) for line in sentence.splitlines(keepends=True)
        ]
        if start + len(slab) < len(text):
            # The last line may go on in the next slab; if it is all there is, it is cut after a blank.
            lines = lines[:-1] or [slab[: slab.rfind(" ") + 1] or slab]
        for line in lines:
            start += len(line)
            yield start


def _read(item: object, position: int) -> tuple[Passage, bool]:
    """The passage, and whether its id may be shared by other chunks of the same document."""
    match item:
        case Passage():
            return _passage(item.id, item.text, item.title, item.metadata), False
        case str():
            return _passage(f"p{position}", item, None, {}), False
        case Mapping():
            return _from_mapping(item, position), False
    if isinstance(getattr(item, "page_content", None), str):
        return _from_document(item)
    node: Any = getattr(item, "node", item)
    if callable(getattr(node, "get_content", None)) and isinstance(getattr(node, "node_id", None), str):
        metadata = _metadata(node)
        score = getattr(item, "score", None) if node is not item else None
        if score is not None and "score" not in metadata:
            metadata = {**metadata, "score": score}  # the retriever's, which stands beside the node
        text = _LABEL.sub("", str(node.get_content()))
        return _passage(node.node_id, text, metadata.get("title"), metadata), False
    raise PassageError(f"passage {position} is a {type(item).__name__}; expected {_SHAPES}")


def _from_mapping(item: Mapping[Any, Any], position: int) -> Passage:
    for name in ("id", "text"):
        if name not in item:
            raise PassageError(f"passage {position} has no {name!r}; a mapping needs 'id' and 'text'")
    identity, title = item["id"], item.get("title")
    if isinstance(identity, int) and not isinstance(identity, bool):
        identity = str(identity)
    if title is not None and not isinstance(title, str):
        raise PassageError(f"passage {identity!r}: title must be a string, not {type(title).__name__}")
    metadata = item.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        raise PassageError(f"passage {identity!r}: metadata must be a mapping, not {type(metadata).__name__}")
    others = {name: value for name, value in item.items() if name not in ("id", "text", "title", "metadata")}
    return _passage(identity, item["text"], title, {**others, **metadata})


def _from_document(item: Any) -> tuple[Passage, bool]:
    metadata = _metadata(item)
    text, title = item.page_content, metadata.get("title")
    if own := getattr(item, "id", None):
        return _passage(str(own), text, title, metadata), False
    for name in ("chunk_id", "id", "doc_id"):
        if (identity := metadata.get(name)) not in (None, ""):
            return _passage(str(identity), text, title, metadata), True
    digest = hashlib.sha256(encodable(text).encode()).hexdigest()
    return _passage(f"sha256-{digest[:16]}", text, title, metadata), False


def _metadata(item: Any) -> Mapping[str, Any]:
    metadata = getattr(item, "metadata", None)
    return metadata if isinstance(metadata, Mapping) else {}


def _passage(identity: str, text: str, title: object, metadata: Mapping[str, Any]) -> Passage:
    """A passage whose strings can be encoded; a title that is no string is left in the metadata."""
    passage = Passage(identity, text, title if isinstance(title, str) else None, metadata)
    return replace(
        passage,
        id=encodable(passage.id),
        text=encodable(passage.text),
        title=None if passage.title is None else encodable(passage.title),
    )


class _Chunks:
    """Tells chunks apart that share an id, each in constant time."""

    def __init__(self, known: Mapping[str, Passage]) -> None:
        self._known = known
        self._next: dict[str, int] = {}
        """Of each shared id the first number that was not looked at."""
        self._named: dict[tuple[str, str], str] = {}
        """Shared id and text to the id of the passage that has that text."""

    def told_apart(self, passage: Passage) -> Passage:
        """The passage under the first of `id`, `id#2`, `id#3`, … that is free or has the same text."""
        shared = passage.id
        identity = self._named.get((shared, passage.text))
        while identity is None:
            number = self._next.get(shared, 1)
            self._next[shared] = number + 1
            candidate = f"{shared}#{number}" if number > 1 else shared
            other = self._known.get(candidate, passage)
            self._named.setdefault((shared, other.text), candidate)
            identity = self._named.get((shared, passage.text))
        return replace(passage, id=identity)


def told_dates(passage: Passage) -> tuple[str, ...]:
    """What a passage's metadata tell of its date, one text for each of `DATED`: all that is read of them."""
    return tuple(str(passage.metadata.get(name, ""))[:_LONGEST_DATE] for name in DATED)
