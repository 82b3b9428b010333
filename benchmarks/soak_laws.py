"""What happens to one stream of the soak, by its number and the seed, and what must hold of it all the same.

Whatever the source, the reader and the scorer do: the sentences of the report are the answer; text that flows
is the source's, to the character; under `annotate` it is that but for the markers; under `redact` nothing
that a rejected or unchecked sentence claims is released, and every supported sentence is. A source that
breaks off before the verb leaves a sentence that claims nothing, which passes as such.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import anyio

from soak_scorers import DEAF, FAULTS, KILLS, WRONG
from streamverify import (
    Annotate,
    Flag,
    Observe,
    Passage,
    Redact,
    StreamInterruptedError,
    StreamStateError,
    Verifier,
)
from streamverify.events import Event, TextReleased
from streamverify.stream import VerifiedStream
from streamverify.types import Label, Report

PASSAGES = [
    Passage("p1", "The mill was built in 1804 by forty workers. It grinds barley for the whole village."),
    Passage("p2", "The bridge was opened in 1911. It carries two lanes and a footpath.", "Bridge"),
]
POLICIES = {"observe": Observe(), "flag": Flag(), "redact": Redact(), "annotate": Annotate()}
SOURCES = {"whole": 50, "slow": 15, "sync": 10, "raising": 10, "sync-raising": 5, "hanging": 10}
READERS = {"whole": 60, "leaving": 10, "cancelled": 10, "forgetful": 10, "unopened": 2, "interrupting": 8}
_MARKER = re.compile(r"\s?\[[^\]]*\]")
_TOKEN = re.compile(r"\bk\d+x\d+\b")
_CLAIMED = re.compile(r"\bk\d+x\d+(?= was built in \d)")
"""A token of whose sentence so much is there that it claims something."""
OPEN_SECONDS = 120.0


class SourceError(Exception):
    """The source's own."""


class Plan(NamedTuple):
    """One stream."""

    number: int
    verifier: str
    policy: str
    source: str
    reader: str
    pieces: list[str]
    cut: int
    """Piece, or event, at which source or reader go wrong."""
    pause: float
    """Seconds of a slow source before some of its pieces, or of a reader until it is cancelled."""

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass
class Tally:
    """What all streams came to."""

    sources_begun: int = 0
    sources_ended: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    plans: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, Any]:
        return {
            "outcomes": dict(self.outcomes),
            "labels": dict(self.labels),
            "plans": dict(sorted(self.plans.items())),
        }


def planned(seed: int, number: int, shares: Mapping[str, float]) -> Plan:
    """Stream `number` of a soak; the same for the same seed."""
    generator = random.Random(f"{seed} {number}")

    def chosen(weights: Mapping[str, float]) -> str:
        return generator.choices(list(weights), list(weights.values()))[0]

    verifier, source, reader = chosen(shares), chosen(SOURCES), chosen(READERS)
    if source == "hanging" and reader == "whole":
        reader = "interrupting"  # nobody else would ever end it
    text = "".join(_sentence(generator, number, at, verifier) for at in range(generator.randint(1, 8)))
    cuts = sorted(generator.randrange(len(text) + 1) for _ in range(generator.randint(0, 40)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    policy = generator.choice(list(POLICIES))
    return Plan(
        number,
        verifier,
        policy,
        source,
        reader,
        pieces,
        generator.randint(0, len(pieces)),
        generator.random() / 20,
    )


def _sentence(generator: random.Random, number: int, at: int, verifier: str) -> str:
    what = generator.choice(("mill", "bridge", "school", "station"))
    word = ""
    if generator.random() < 0.25:
        word = f" {WRONG}"
    elif verifier != "real" and generator.random() < 0.03:
        word = f" {KILLS if verifier == 'killed' else generator.choice(FAULTS)}"
    year, end = generator.randint(1700, 1999), generator.choice((". ", ".\n\n", "! ", ". "))
    return (
        f"The{word} {what} of k{number}x{at} was built in {year} by {generator.randint(2, 99)} workers{end}"
    )


def _source(plan: Plan, tally: Tally) -> AsyncGenerator[str, None] | Iterator[str]:
    if plan.source.startswith("sync"):
        return _blocking(plan, tally)
    return _pieces(plan, tally)


async def _pieces(plan: Plan, tally: Tally) -> AsyncGenerator[str, None]:
    tally.sources_begun += 1
    try:
        for at, piece in enumerate(plan.pieces):
            if at == plan.cut and plan.source == "raising":
                raise SourceError(plan.number)
            if at == plan.cut and plan.source == "hanging":
                await anyio.sleep_forever()
            if plan.source == "slow" and at % 5 == 0:
                await anyio.sleep(plan.pause)
            yield piece
        if plan.source == "hanging":
            await anyio.sleep_forever()
    finally:
        tally.sources_ended += 1


def _blocking(plan: Plan, tally: Tally) -> Iterator[str]:
    tally.sources_begun += 1
    try:
        for at, piece in enumerate(plan.pieces):
            if at == plan.cut and plan.source == "sync-raising":
                raise SourceError(plan.number)
            if at == plan.cut:
                time.sleep(plan.pause)  # noqa: TID251 - a source that blocks is what this is
            yield piece
    finally:
        tally.sources_ended += 1


async def followed(plan: Plan, verifier: Verifier, tally: Tally) -> None:
    """Run one stream and hold it to what was promised.

    Raises:
        AssertionError: it did not keep it.
        Exception: something that no stream should raise.
    """
    tally.plans[f"{plan.source} source, {plan.reader} reader"] += 1
    release: Literal["release", "withhold"] = "release" if plan.policy == "annotate" else "withhold"
    stream = verifier.stream(
        _source(plan, tally), PASSAGES, policy=POLICIES[plan.policy], on_unverified=release
    )
    if plan.reader == "unopened":
        return
    seen: list[str] = []
    # Nobody waits for ever for a source that hangs.
    patience = None
    if plan.reader == "cancelled":
        patience = plan.pause
    elif plan.source == "hanging" and plan.reader != "interrupting":
        patience = 0.1
    with anyio.fail_after(OPEN_SECONDS), anyio.move_on_after(patience):
        if plan.reader == "forgetful":
            await _forget(plan, stream, seen)
        else:
            await _read(plan, stream, seen)
    _shown(plan, "".join(seen))
    try:
        report = stream.report
    except StreamStateError:
        assert plan.reader in {"forgetful", "cancelled"} or plan.source == "hanging", "it has no report"
        return
    _reported(plan, report)
    tally.outcomes[report.outcome] += 1
    tally.labels.update(sentence.label.value for sentence in report.sentences)
    if plan.reader in {"whole", "interrupting"}:
        assert "".join(seen) == report.released, "what was shown is not what was reported"
        raised = "raising" in plan.source and plan.cut < len(plan.pieces)
        expected = "failed" if raised and plan.reader == "whole" else None
        assert expected is None or report.outcome == expected, f"{report.outcome}, not {expected}"


async def _forget(plan: Plan, stream: VerifiedStream, seen: list[str]) -> None:
    """Open it, read a little, and lose it; whoever waits for the garbage is not this reader."""
    await stream.__aenter__()
    try:
        for _ in range(min(plan.cut, 3)):
            _take(await anext(stream), seen)
    except SourceError as error:  # the source's own may be the first thing there is to read
        if "raising" not in plan.source or error.args != (plan.number,):
            raise AssertionError(f"the error of stream {error.args}") from error


async def _read(plan: Plan, stream: VerifiedStream, seen: list[str]) -> None:
    count = 0
    try:
        async with stream:
            async for event in stream:
                _take(event, seen)
                count += 1
                if plan.reader == "leaving" and count > plan.cut:
                    return
                if plan.reader == "interrupting":  # at once: a source that hangs says no more
                    stream.interrupt("the soak says so")
    except SourceError as error:
        if "raising" not in plan.source or error.args != (plan.number,):
            raise AssertionError(f"the error of stream {error.args}") from error
    except StreamInterruptedError as error:
        if plan.reader != "interrupting":
            raise AssertionError("nobody interrupted it") from error


def _take(event: Event, seen: list[str]) -> None:
    if isinstance(event, TextReleased):
        seen.append(event.text)


def _shown(plan: Plan, shown: str) -> None:
    """What left the stream, however it ended."""
    flowing = _MARKER.sub("", shown) if plan.policy == "annotate" else shown
    if plan.policy != "redact":
        assert plan.text.startswith(flowing), "released text is not the source's"
        return
    if plan.verifier != "real":
        bad = {_TOKEN.search(one).group() for one in _sentences(plan.text) if _doomed(one)}
        assert not bad & set(_CLAIMED.findall(shown)), "a rejected or unchecked sentence was released"


def _sentences(text: str) -> list[str]:
    return [f"The{part}" for part in text.split("The")[1:] if _TOKEN.search(part)]


def _doomed(sentence: str) -> bool:
    """Whether no check can pass it; one that comes too late may yet be in time where the machine is slow."""
    return any(f" {word} " in sentence for word in (WRONG, KILLS, *FAULTS) if word != DEAF)


def _reported(plan: Plan, report: Report) -> None:
    """What the report says of it."""
    assert plan.text.startswith(report.answer), "the answer is not the source's text"
    assert "".join(one.text for one in report.sentences) == report.answer, "a character without a sentence"
    if report.outcome == "finished":
        assert report.answer == plan.text, "text was lost"
    released = set(_TOKEN.findall(report.released))
    for one in report.sentences:
        tokens = set(_TOKEN.findall(one.text))
        if plan.policy == "redact":
            if one.label in {Label.UNSUPPORTED, Label.CONTRADICTED, Label.UNVERIFIED}:
                assert not tokens & released, f"{one.label}: released"
            elif report.outcome == "finished":
                assert tokens <= released, f"{one.label}: withheld"
        if plan.verifier != "real" and _doomed(one.text) and tokens:
            assert one.label is not Label.SUPPORTED, "what nobody could check counts as supported"
    if plan.policy != "redact":
        kept = _MARKER.sub("", report.released) if plan.policy == "annotate" else report.released
        assert kept == report.answer or report.outcome != "finished", "released text is not the answer"
