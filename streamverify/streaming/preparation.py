"""One set of passages on its way to an assessor.

Before: `pump.py` begins one when the stream opens, and another whenever passages are added.
After: the sentences that closed under it are judged by its `assessor`.
"""

from __future__ import annotations

import anyio

from streamverify._lazy import cached_property
from streamverify.citations import Numbering, Resolver
from streamverify.errors import ScoringError
from streamverify.judging.assessor import Assessor
from streamverify.scorers.protocol import Abort
from streamverify.types import Passage


class Preparation:
    """One set of passages on its way to an assessor; sentences wait for the set they closed under."""

    def __init__(self, passages: tuple[Passage, ...], numbering: Numbering) -> None:
        """Nothing is prepared yet; whoever prepares says `finish`."""
        self.passages = passages
        self.abort = Abort()
        self._numbering = numbering
        self._done = anyio.Event()
        self._result: Assessor | Exception | None = None

    def finish(self, result: Assessor | Exception) -> None:
        """Let those who wait go on."""
        self._result = result
        self._done.set()

    async def assessor(self) -> Assessor:
        """Who judges against these passages, once they are prepared.

        Raises:
            ScoringError: they could not be.
        """
        if not self._done.is_set():
            await self._done.wait()
        if isinstance(self._result, Exception):
            raise ScoringError(f"the passages could not be prepared: {self._result}") from self._result
        assert self._result is not None
        return self._result

    @cached_property
    def resolver(self) -> Resolver:
        """What citations mean where no assessor says so, because a check failed."""
        return Resolver(self.passages, numbering=self._numbering)

    def read_names(self) -> None:
        """Make the resolver; called in a thread, because the names of passages may be of any length."""
        self.resolver  # noqa: B018 - kept by the property
