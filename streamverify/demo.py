"""The bundled cases, and a source that replays an answer the way a model would write it.

Before: `cases/*.json`, written and labelled by hand. After: the command line and the demo page.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from importlib import resources
from typing import Literal

import anyio
from pydantic import Field, ValidationError

from streamverify.errors import UsageError
from streamverify.types import CitationFinding, FindingKind, Label, Passage, Span
from streamverify.value import Value

_TOKEN = re.compile(r"\s*\w{1,7}|\s*[^\w\s]|\s+")


class CasePassage(Value):
    """A passage of a case; the metadata's values are plain strings."""

    id: str = Field(min_length=1)
    title: str
    text: str
    metadata: dict[str, str] = Field(default_factory=dict)


class LabelledCitation(Value):
    """What a careful reader says about a marker; `marker` is empty for a citation that is missing."""

    marker: str
    finding: CitationFinding
    better: str | None = None


class LabelledSentence(Value):
    """A sentence of the answer, without list and heading marks, and its label by hand."""

    text: str = Field(min_length=1)
    label: Label
    note: str
    """Why, for a reader who wants to check."""
    citations: tuple[LabelledCitation, ...] = ()
    findings: tuple[FindingKind, ...] = ()


class Case(Value):
    """A question, its passages, an answer as a model might write it, and the labels by hand."""

    id: str
    title: str
    domain: str
    question: str
    passages: tuple[CasePassage, ...]
    answer: str
    require_citations: Literal["never", "claims", "numbers"] = "never"
    """Which sentences the case expects to carry a citation."""
    sentences: tuple[LabelledSentence, ...]
    """In text order; together they hold every word of the answer."""

    def sources(self) -> tuple[Passage, ...]:
        """The passages as the verifier takes them."""
        return tuple(Passage(p.id, p.text, p.title, p.metadata) for p in self.passages)

    def spans(self) -> tuple[Span, ...]:
        """Where each labelled sentence stands in the answer."""
        spans: list[Span] = []
        at = 0
        for sentence in self.sentences:
            start = self.answer.index(sentence.text, at)
            at = start + len(sentence.text)
            spans.append(Span(start, at))
        return tuple(spans)

    def by_hand(self, start: int, end: int) -> LabelledSentence | None:
        """The labelled sentence that the answer's characters `[start, end)` overlap most; None for none."""
        overlaps = [min(end, span.end) - max(start, span.start) for span in self.spans()]
        best = max(range(len(overlaps)), key=overlaps.__getitem__)
        return self.sentences[best] if overlaps[best] > 0 else None


def case_ids() -> tuple[str, ...]:
    """Names of the bundled cases; the first is the one to show first."""
    names = sorted(
        entry.name.removesuffix(".json") for entry in _folder().iterdir() if entry.name.endswith(".json")
    )
    return tuple(sorted(names, key=lambda name: name != "docs"))


def load_case(name: str) -> Case:
    """A bundled case by its id.

    Raises:
        UsageError: there is no such case; the message lists those there are. Caller.
    """
    if name not in case_ids():
        raise UsageError(f"there is no demo case {name!r}; choose one of {', '.join(case_ids())}")
    try:
        return Case.model_validate_json((_folder() / f"{name}.json").read_text(encoding="utf-8"))
    except ValidationError as error:
        raise UsageError(f"the demo case {name!r} is damaged, reinstall the package: {error}") from error


SLOWEST, FASTEST = 1.0, 10_000.0
"""Tokens a second of a replay; slower, one would last for hours, and hold its place in a server so long."""


def tokens(text: str) -> Sequence[str]:
    """The text in pieces like a model's tokens, about four characters each; joined they give it back."""
    return _TOKEN.findall(text)


async def replay(
    text: str, tokens_per_second: float, *, first_token_after: float = 0.0
) -> AsyncGenerator[str, None]:
    """The text as a model would stream it: same cuts every time, one token after the other.

    The schedule is kept against the clock, so a reader that was late gets what it missed at once, as from
    a real server.

    Args:
        text: any text.
        tokens_per_second: above 0; infinity for no pause at all.
        first_token_after: seconds before the first token, as a model reads its prompt first.

    Raises:
        UsageError: a rate that is not above 0. Caller.
    """
    if not tokens_per_second > 0:
        raise UsageError(f"the speed must be above 0 tokens a second, not {tokens_per_second:g}")
    await anyio.sleep(first_token_after)
    start = anyio.current_time()
    for position, token in enumerate(tokens(text)):
        await anyio.sleep_until(start + position / tokens_per_second)
        yield token


def _folder() -> resources.abc.Traversable:
    return resources.files("streamverify") / "cases"
