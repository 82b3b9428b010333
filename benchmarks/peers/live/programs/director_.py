"""director-ai: its asynchronous kernel, which scores what was written so far and halts the stream."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from director_ai.core.async_streaming import AsyncStreamingKernel
from streams import Checker, Opened, Source

MODES: dict[str, dict[str, Any]] = {"default": {}, "adaptive": {"adaptive": True}}


def made(checker: str, mode: str) -> Any:
    """`mode` says how often is scored: at every token, or up to eight times less often."""
    del checker
    logging.disable(logging.CRITICAL)

    def make(checks: Checker, passages: list[str]) -> Opened:
        del passages
        kernel = AsyncStreamingKernel(**MODES[mode])

        async def coherence(text: str) -> float:
            return 0.95 if await checks.ask(text) else 0.05

        async def opened(source: Source) -> AsyncGenerator[str, None]:
            async with aclosing(kernel.stream_tokens(source.read(), coherence)) as events:
                async for event in events:
                    if event.halted:
                        return
                    yield event.token

        return opened

    return make
