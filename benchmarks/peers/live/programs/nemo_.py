"""NeMo Guardrails: an output rail that asks the checker, over a stream from a generator of our own."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from nemoguardrails import LLMRails, RailsConfig
from nemoguardrails.actions.rail_outcome import RailOutcome
from streams import Checker, Opened, Source

COLANG = """
define bot refuse to respond
  "I cannot say that."

define flow check supported
  $allowed = execute check_supported
  if not $allowed
    bot refuse to respond
    stop
"""
CONFIG = """
models: []
rails:
  output:
    flows:
      - check supported
    streaming:
      enabled: true
"""
MODES = {
    "default": "",  # 200 tokens, 50 of them again, shown before they are checked
    "hold": "      stream_first: false\n",
    "small": "      stream_first: false\n      chunk_size: 25\n      context_size: 25\n",  # about a sentence
}


def made(checker: str, mode: str) -> Any:
    """`mode` says how much is checked at once, and whether it is shown before."""
    del checker
    logging.disable(logging.CRITICAL)
    config = RailsConfig.from_content(colang_content=COLANG, yaml_content=CONFIG + MODES[mode])

    def make(checks: Checker, passages: list[str]) -> Opened:
        del passages
        rails = LLMRails(config)

        async def check_supported(context: dict[str, Any] | None = None, **more: Any) -> RailOutcome:
            del more
            text = (context or {})["bot_message"]
            return RailOutcome.allow() if await checks.ask(text) else RailOutcome.block(reason="unsupported")

        rails.register_action(check_supported, "check_supported")

        async def opened(source: Source) -> AsyncGenerator[str, None]:
            messages = [{"role": "user", "content": "?"}]
            async with aclosing(rails.stream_async(messages=messages, generator=source.read())) as pieces:
                async for piece in pieces:
                    yield piece

        return opened

    return make
