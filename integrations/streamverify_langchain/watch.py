"""The text of one model run on its way to its check, as LangChain's callbacks tell it."""

from __future__ import annotations

import math
from typing import Any

import anyio

from streamverify.adapters import Pipe


class Watch:
    """The text of one model run on its way to its check.

    Under LangChain's third event protocol a model's text comes twice: as tokens from within the model, and
    as events. The events are complete, so from the first one on they alone count; what tokens brought
    before it is skipped in them.
    """

    def __init__(self) -> None:
        """Nothing was said yet."""
        self.pieces: Pipe[str] = Pipe(math.inf)
        self._by_events = False
        self._ahead = 0
        self.said = self._ended = False
        self.error: Exception | None = None
        self.done = anyio.Event()

    def token(self, text: str) -> None:
        """A token from within the model."""
        if not self._by_events:
            self._ahead += len(text)
            self._say(text)

    def event(self, event: Any) -> None:
        """An event of the third protocol."""
        self._by_events = True
        delta = event.get("delta") if isinstance(event, dict) else None
        if isinstance(delta, dict) and delta.get("type") == "text-delta":
            text = str(delta.get("text", ""))
            skipped = min(self._ahead, len(text))
            self._ahead -= skipped
            self._say(text[skipped:])

    def whole(self, text: str) -> None:
        """What a model that does not stream said."""
        if not self.said:
            self._say(text)

    def end(self, error: BaseException | None = None) -> None:
        """Nothing more is said; the check ends with the error, if there is one."""
        if self._ended:
            return
        self._ended = True
        if error is not None and not isinstance(error, Exception):
            error = RuntimeError(f"the model was stopped: {type(error).__name__}")
        self.error = error
        self.pieces.end(error)

    def _say(self, text: str) -> None:
        if text:
            self.said = True
            self.pieces.put(text)
