"""What the chunks of a chain mean, in the words of `streamverify.adapters.translator`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import Any

from streamverify import UsageError
from streamverify.adapters import CitationDelta, Move, PassThrough, Released, TextDelta, TextEnd
from streamverify_langchain.passing import Replacing, StructureGuard, refuse_other_keys
from streamverify_langchain.texts import Shape, moved_by


class ChunkTranslator:
    """Reads the chunks of one call: strings, messages and dicts. A message is a channel, in order from 0."""

    def __init__(
        self, shape: Shape, seen: Callable[[Any], object], *, holds: bool, known: Collection[str] = ()
    ) -> None:
        """Nothing was read yet.

        Args:
            shape: finds the text.
            seen: told every chunk that may be more than text before it is read.
            holds: whether the policy holds text; what cannot be verified is refused then.
            known: the keys of dicts that may pass.
        """
        self._shape, self._seen, self._holds, self._known = shape, seen, holds, known
        self._replacing, self._structure = Replacing(), StructureGuard()
        self._channel, self._length = 0, 0
        self._starts: dict[int, int] = {}
        """Where each block of the text began, by its slot."""
        self._chunks = self._answers = 0

    def read(self, chunk: Any, released: Released) -> Iterator[Move[Any]]:
        """Text is text; context, tool calls, usage and metadata keep their place.

        Raises:
            UsageError: the chunk is nothing that can be verified.
        """
        self._chunks += 1
        key, start = self._channel, self._length
        if isinstance(chunk, str) and chunk:  # most are: nothing but text
            self._answers += 1
            self._length += len(chunk)
            self._guard(chunk)
            yield TextDelta(key, chunk, _itself)
            return
        self._seen(chunk)
        if isinstance(chunk, dict):
            self._replacing(chunk)
            if self._holds:
                refuse_other_keys(chunk, self._known)
        self._answers += self._shape.carries_answer(chunk)
        texts = self._shape.texts(chunk)
        for part in texts:
            self._starts.setdefault(part.slot, self._length)
            if part.text:
                self._length += len(part.text)
                self._guard(part.text)
                yield TextDelta(key, part.text, partial(self._shape.with_text, chunk, part.slot), part.slot)
            if part.annotations:
                yield CitationDelta(key, part.annotations)
        block = self._starts[texts[0].slot] if texts else start
        ended = self._ends(chunk)
        if ended:
            yield TextEnd(key)
            self._channel, self._length, self._starts = key + 1, 0, {}
            self._structure = StructureGuard()
        if not any(part.text for part in texts):
            yield PassThrough(lambda: self._shape.cleaned(chunk, moved_by(released(key), block)), key)
        elif self._shape.without_text(chunk, lambda offset: offset) is not None:
            # Made when its turn has come: only then is it known where a citation's words stand now.
            yield PassThrough(lambda: self._shape.without_text(chunk, moved_by(released(key), start)), key)

    def sent(self, chunk: Any) -> None:
        """Nothing to remember."""

    def halted(self, released: Released) -> Iterable[Any]:  # noqa: ARG002 - the protocol's signature
        """A chain that was stopped just ends."""
        return ()

    def finish(self) -> None:
        """To be called when the chain has ended.

        Raises:
            UsageError: it yielded dicts, and none held an answer.
        """
        if self._chunks and not self._answers:
            raise UsageError(
                f"nothing was verified: no chunk had the key {self._shape.answer_key!r}; "
                "name the key of the answer with answer_key"
            )

    def _guard(self, text: str) -> None:
        if self._holds:
            self._structure(text)

    def _ends(self, chunk: Any) -> bool:
        answer = chunk.get(self._shape.answer_key) if isinstance(chunk, dict) else chunk
        if isinstance(answer, str) or answer is None:
            return False
        return getattr(answer, "chunk_position", "last") == "last"  # a whole message is its own last chunk


def _itself(text: str) -> Any:
    return text
