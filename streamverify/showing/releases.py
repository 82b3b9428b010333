"""A sentence of the answer as a reader is to see it: whole, or with parts replaced.

Before: `policy.py` decides. After: `streaming/session.py` tells each release as `TextReleased`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from streamverify.types import Action, Sentence, Span


class Release(NamedTuple):
    """Text to show in place of the answer's characters `span`."""

    text: str
    span: Span
    action: Action


def whole(sentence: Sentence, action: Action) -> tuple[Release, ...]:
    """The sentence as it is."""
    return (Release(sentence.text, sentence.span, action),)


def replaced(sentence: Sentence, parts: Sequence[tuple[Span, str]], action: Action) -> tuple[Release, ...]:
    """The sentence with each part (in text order, no overlap) replaced by its text."""
    releases: list[Release] = []
    at = sentence.start
    for span, text in parts:
        if at < span.start:
            kept = sentence.text[at - sentence.start : span.start - sentence.start]
            releases.append(Release(kept, Span(at, span.start), Action.RELEASE))
        releases.append(Release(text, span, action))
        at = span.end
    if at < sentence.end:
        releases.append(Release(sentence.text[at - sentence.start :], Span(at, sentence.end), Action.RELEASE))
    return tuple(releases)


class ReleaseFilter(Protocol):
    """Sees all that one stream is about to show, and may show less of it, or later."""

    def feed(self, releases: Sequence[Release], generated: str, /) -> Sequence[Release]:
        """What may be shown now, in text order; the rest is kept for later.

        Args:
            releases: of one sentence; their spans cover it.
            generated: the sentence, of which a policy may have left little.
        """
        ...

    def flush(self) -> Sequence[Release]:
        """What was kept: the stream has ended."""
        ...

    def quoted(self, text: str, /) -> str:
        """A passage's words, as an event may quote them; as many characters as before."""
        ...


@runtime_checkable
class FilteringPolicy(Protocol):
    """A policy that has a last look at what is shown: a `Policy` that holds text, with one method more."""

    def release_filter(self) -> ReleaseFilter:
        """A new one for each stream."""
        ...
