"""What both of the proxy's endpoints do: ask the upstream, verify its text, tell errors.

Before: `app.py`. After: `chat.py` and `responses.py` know their formats.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from streamverify.errors import PieceError, StreamInterruptedError
from streamverify.events import Event
from streamverify.server.drain import Answering
from streamverify.server.errors import HTTPRefusal, bad_upstream
from streamverify.server.fields import error_in
from streamverify.server.request import ProxyRequest
from streamverify.server.response import ClientStalledError, ResponseWriter
from streamverify.server.runs import log_failed_check
from streamverify.server.upstream import Answer, Upstream, UpstreamError, read_json
from streamverify.showing.redaction import Redactor
from streamverify.stream import VerifiedStream
from streamverify.streaming.sources import Source
from streamverify.types import Report
from streamverify.verifier import Verifier

_LOG = logging.getLogger("streamverify.server")


@dataclass(frozen=True, slots=True)
class ProxyExchange:
    """One request on its way to the upstream and back."""

    verifier: Verifier
    upstream: Upstream
    headers: Mapping[str, str]
    """Of the client's request."""
    query: bytes
    """Of its address."""
    asked: ProxyRequest
    answering: Answering

    def ask(self, path: str) -> AbstractAsyncContextManager[Answer]:
        """What the upstream answers to it; see `Upstream.ask`."""
        return self.upstream.ask("POST", path, self.headers, self.asked.payload, query=self.query)

    def stream(self, source: Source) -> VerifiedStream:
        """The verified stream of one text, to be opened."""
        asked = self.asked
        return self.verifier.stream(
            source,
            asked.passages,
            policy=asked.policy,
            question=asked.question,
            on_unverified=asked.on_unverified,
            context=asked.context,
        )

    async def report(self, text: str) -> Report:
        """The report on a whole text, as the client may see it."""
        redact = Redactor()
        report: Report | None = None
        async with self.stream(text) as stream:
            self.answering.streams.add(stream)
            try:
                async for event in stream:
                    log_failed_check(event, "of the proxy")
                    for seen in redact(event):
                        report = getattr(seen, "report", report)
            finally:
                self.answering.streams.discard(stream)
        assert report is not None
        return report


async def pass_on(writer: ResponseWriter, answer: Answer) -> None:
    """The upstream's error with its status, as far as a client may be told of it.

    Raises:
        HTTPRefusal: 502, it is a redirection or another status that no client can use.
    """
    if answer.status < 400:
        raise bad_upstream("upstream_status", f"the upstream answered with status {answer.status}")
    body = await read_json(await answer.read())
    told = body.get("error", body) if isinstance(body, dict) else body
    await writer.json({"error": error_in(told)}, answer.status, _useful(answer))


async def pass_through(writer: ResponseWriter, answer: Answer) -> None:
    """An answer that holds no generated text, as it is.

    Raises:
        HTTPRefusal: as `pass_on`.
    """
    if not answer.ok:
        await pass_on(writer, answer)
        return
    kind = {"content-type": answer.header("content-type") or "application/json"}
    await writer.whole(answer.status, await answer.read(), kind | _useful(answer))


def _useful(answer: Answer) -> dict[str, str]:
    found = {name: answer.header(name) for name in ("retry-after", "x-request-id")}
    return {name: value for name, value in found.items() if value is not None}


async def fail(writer: ResponseWriter, error: Exception) -> None:
    """Tell an error inside a stream that has begun, or as the response where it has not."""
    if isinstance(error, HTTPRefusal | StreamInterruptedError | ClientStalledError):
        raise error
    if isinstance(error, UpstreamError):
        told: object = error.error
    else:
        # The message of a foreign error may hold addresses: it is for the operator.
        _LOG.warning("an answer was cut off: %s: %s", type(error).__name__, error)
        code = "upstream_text" if isinstance(error, PieceError) else "upstream_broke_off"
        message = f"the answer was cut off: {type(error).__name__}"
        told = bad_upstream(code, message).body["error"]
    if not writer.started:
        await writer.json({"error": told}, 502)
        return
    await writer.event({"error": told})
    await writer.end()


def about(event: Event) -> dict[str, Any]:
    """An event as it stands beside the text."""
    return event.model_dump(mode="json")
