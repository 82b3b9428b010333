"""streamverify: the checker as a plain function, or the model that comes with it."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from typing import Any

from streams import Checker, Opened, Source

from streamverify import Label, SentenceJudged, TextReleased, Verifier
from streamverify.events import SentenceClosed


def made(checker: str, mode: str) -> Any:
    """One verifier for all streams, as an application has it; `mode` is the policy's name."""
    shared = Verifier(policy=mode).open() if checker == "model" else None
    streams: dict[str, Checker] = {}

    def supported(claim: str, passages: Any) -> float:
        return float(streams[passages[0].rpartition(" ")[2]](claim))

    by_function = Verifier(supported, policy=mode) if checker != "model" else None

    def make(checks: Checker, passages: list[str]) -> Opened:
        given = passages
        if checker != "model":
            # The function is told the passages, not the stream: their last word finds the stream's checker.
            name = f"stream-{len(streams)}"
            given = [f"{text} {name}" for text in passages]
            streams[name] = checks

        async def opened(source: Source) -> AsyncGenerator[str | tuple[str, float | None], None]:
            closed: dict[int, str] = {}
            verifier = shared or by_function
            async with verifier.stream(source.read(), given) as stream:
                async for event in stream:
                    if isinstance(event, TextReleased):
                        yield event.text
                    elif isinstance(event, SentenceClosed):
                        closed[event.sentence.index] = event.sentence.text.strip()
                    elif isinstance(event, SentenceJudged):
                        checked = event.label is not Label.UNVERIFIED
                        yield closed[event.index], time.perf_counter() if checked else None

        return opened

    return make
