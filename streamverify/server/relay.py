"""What both of the proxy's endpoints do: ask the upstream, verify its text, tell errors.

Before: `app.py`. After: `chat.py` and `responses.py` know their formats.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from streamverify.errors import StreamInterruptedError
from streamverify.events import Event
from streamverify.server.asked import Asked
from streamverify.server.drain import Answering
from streamverify.server.outlet import Outlet
from streamverify.server.refusal import RefusedError
from streamverify.server.runs import log_failed_check
from streamverify.server.upstream import Answer, Upstream, UpstreamError
from streamverify.server.veil import Veil
from streamverify.sources import Source
from streamverify.types import Report
from streamverify.verifier import Verifier

_LOG = logging.getLogger("streamverify.server")


@dataclass(frozen=True, slots=True)
class Relay:
    """One request on its way to the upstream and back."""

    verifier: Verifier
    upstream: Upstream
    headers: Mapping[str, str]
    """Of the client's request."""
    asked: Asked
    answering: Answering

    async def verified(self, source: Source) -> AsyncGenerator[Event, None]:
        """The events of a verified text, as the client may see them; raises what the source raises."""
        asked, veil = self.asked, Veil()
        async with self.verifier.stream(
            source, asked.passages, policy=asked.policy, question=asked.question
        ) as stream:
            self.answering.streams.add(stream)
            try:
                async for event in stream:
                    log_failed_check(event, "of the proxy")
                    yield veil(event)
            finally:
                self.answering.streams.discard(stream)

    async def report(self, text: str) -> Report:
        """The report on a whole text, as the client may see it."""
        report: Report | None = None
        async with aclosing(self.verified(text)) as events:
            async for event in events:
                report = getattr(event, "report", report)
        assert report is not None
        return report


async def pass_on(outlet: Outlet, answer: Answer) -> None:
    """The upstream's answer as it is; for errors and for what is not verified."""
    headers = {"content-type": answer.header("content-type") or "application/json"}
    for name in ("retry-after", "x-request-id"):
        if (value := answer.header(name)) is not None:
            headers[name] = value
    await outlet.whole(answer.status, await answer.read(), headers)


async def json_of(answer: Answer) -> dict[str, Any]:
    """The upstream's answer in one piece.

    Raises:
        RefusedError: 502, it is no JSON object. Operator.
    """
    try:
        value = json.loads(await answer.read())
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise RefusedError(502, "upstream_error", "the upstream's answer is no JSON object")
    return value


async def fail(outlet: Outlet, error: Exception) -> None:
    """Tell an error inside a stream that has begun, or as the response where it has not."""
    if isinstance(error, RefusedError | StreamInterruptedError):
        raise error
    if isinstance(error, UpstreamError):
        told = error.error
    else:
        # The message of a foreign error may hold addresses: it is for the operator.
        _LOG.warning("an answer was cut off: %s: %s", type(error).__name__, error)
        told = {"message": f"the answer was cut off: {type(error).__name__}", "type": "upstream_error"}
    if not outlet.started:
        await outlet.json({"error": told}, 502)
        return
    await outlet.event({"error": told})
    await outlet.end()


def about(event: Event) -> dict[str, Any]:
    """An event as it stands beside the text."""
    return event.model_dump(mode="json")
