"""One verified stream as a response of server-sent events.

Before: the application's endpoint. After: the reader's browser, or another server.

Whatever fails before the first frame is an HTTP error; after it, the stream's own last event tells.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Literal

import anyio

from streamverify.errors import MissingExtraError, ModelError, StreamVerifyError, UsageError
from streamverify.passages import passages_from
from streamverify.server.ag_ui import AgUi
from streamverify.server.ai_sdk import AiSdk
from streamverify.server.drain import LAST_WORDS, REASON
from streamverify.server.encoding import Encoding
from streamverify.server.native import Native
from streamverify.server.runs import Run, Runs
from streamverify.stream import VerifiedStream

try:
    from sse_starlette import EventSourceResponse, ServerSentEvent
    from starlette.exceptions import HTTPException
    from starlette.responses import JSONResponse, Response
    from starlette.types import Receive, Scope, Send
except ModuleNotFoundError as error:
    raise MissingExtraError("server", error.name or "starlette", "sse_response") from error

_LOG = logging.getLogger("streamverify.server")

ProtocolName = Literal["streamverify", "ai-sdk", "ag-ui"]

_ENCODINGS: Mapping[str, Encoding] = {"streamverify": Native(), "ai-sdk": AiSdk(), "ag-ui": AgUi()}

SEND_SECONDS = 60.0
"""How long one frame may wait for a reader that does not read."""


def sse_response(
    stream: VerifiedStream,
    protocol: ProtocolName | Encoding = "streamverify",
    *,
    passages: Iterable[object] | None = None,
    runs: Runs | None = None,
    heartbeat: float = 15.0,
    patience: float = 10.0,
    shutdown: float = 0.0,
    reveal: bool = False,
    error_details: bool = False,
) -> StreamResponse:
    """A response that tells what a stream tells, as it happens.

    Event ids are `<run>:<seq>`. A reader that goes away ends the source at once; with `runs` it may come
    back within their grace period, through `resumed`.

    Args:
        stream: not opened yet.
        protocol: `"streamverify"` (native events), `"ai-sdk"` (UI message stream v1), `"ag-ui"`; or an
            encoding of your own, or one of these with options (`AiSdk(major=7)`).
        passages: as given to the stream; their texts go to the reader, who can then open the evidence.
        runs: keeps the run for a reader that comes back.
        heartbeat: seconds between comments that keep proxies from closing the connection; 0 for none.
        patience: seconds that the response waits for the source's first piece, so that a source that fails
            at once is an HTTP error.
        shutdown: seconds that the stream may go on when the server is told to stop; then its source is
            ended, what came is judged, and the last event says so. Noticed under uvicorn, whose
            `timeout_graceful_shutdown` must leave `LAST_WORDS` more than this.
        reveal: tell the answer as generated, rejected sentences included. For trusted readers only: without
            it every character that was not released is masked.
        error_details: tell the messages of errors, which may hold addresses, keys, prompts or paths. Without
            it a reader gets a code and the error's type, and the log of `streamverify.server` the whole.

    Raises:
        UsageError: there is no such protocol. Caller.
        PassageError: a passage cannot be read. Caller.
    """
    if isinstance(protocol, str):
        encoding = _ENCODINGS.get(protocol)
        if encoding is None:
            raise UsageError(f"there is no protocol {protocol!r}; choose from {', '.join(_ENCODINGS)}")
    else:
        encoding = protocol
    known = passages_from(passages) if passages is not None else None
    run = Run(stream, encoding, known, reveal=reveal, error_details=error_details)
    return StreamResponse(
        run,
        runs,
        heartbeat=heartbeat,
        patience=patience,
        shutdown=shutdown,
        error_details=error_details,
    )


def resumed(
    headers: Mapping[str, str], runs: Runs, *, heartbeat: float = 15.0, shutdown: float = 0.0
) -> Response | None:
    """The rest of a run, for a reader that lost its connection; None when the request is for a new one.

    Args:
        headers: of the request; `Last-Event-ID` names the last frame the reader got.
        runs: as given to `sse_response`.
        heartbeat: see `sse_response`.
        shutdown: likewise.

    Returns:
        The stream from the next frame on; 410 when it is gone, which tells the reader to start again.
    """
    event_id = headers.get("last-event-id")
    if not event_id:
        return None
    found = runs.find(event_id)
    if found is None:
        return failure(410, "run_gone", "this run has ended and is no longer kept; start a new one")
    run, seq = found
    return StreamResponse(run, runs, heartbeat=heartbeat, shutdown=shutdown, after=seq)


def failure(status: int, kind: str, message: str) -> JSONResponse:
    """An error as this package's endpoints tell it."""
    return JSONResponse({"error": {"type": kind, "message": message}}, status)


class StreamResponse(Response):
    """Opens the run when the server calls it; see `sse_response`."""

    media_type = "text/event-stream"

    def __init__(
        self,
        run: Run,
        runs: Runs | None,
        *,
        heartbeat: float,
        shutdown: float,
        patience: float = 0.0,
        after: int | None = None,
        error_details: bool = False,
    ) -> None:
        """Begin a run, or go on with one after frame `after`."""
        super().__init__(headers=run.headers)
        self._run, self._runs = run, runs
        self._heartbeat, self._shutdown, self._patience = heartbeat, shutdown, patience
        self._after, self._details = after, error_details

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["method"] == "HEAD":
            await super().__call__(scope, receive, send)
            return
        reader = self._run.take()
        try:
            if self._after is None:
                if self._runs is not None:
                    await self._runs.add(self._run)
                if not await self._begin(receive, reader):
                    return
            told = self._run.shown or self._after is not None
            refused = None if told else self._run.error
            if refused is not None:
                await _refusal(refused, details=self._details)(scope, receive, send)
            else:
                await self._tell(reader, scope, receive, send)
        finally:
            await self._leave(reader)

    async def _begin(self, receive: Receive, reader: int) -> bool:
        """Open the run and wait for its first text; False when the reader went away meanwhile."""
        gone = False

        async def watch(scope: anyio.CancelScope) -> None:
            nonlocal gone
            while (await receive())["type"] != "http.disconnect":
                pass
            gone = True
            scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(watch, group.cancel_scope)
            try:
                await self._run.open()
                with anyio.move_on_after(self._patience):
                    await self._run.first_text(reader)
            except StreamVerifyError as error:
                self._run.error = error
                _LOG.warning("run %s could not begin", self._run.id, exc_info=error)
            group.cancel_scope.cancel()
        return not gone

    async def _tell(self, reader: int, scope: Scope, receive: Receive, send: Send) -> None:
        """The frames, to the last one or the reader's leaving; a server that stops ends the run in order."""
        told, failure = anyio.Event(), None

        async def stop() -> None:
            await told.wait()
            await anyio.sleep(self._shutdown)
            self._run.interrupt(REASON)

        async with anyio.create_task_group() as group:
            group.start_soon(stop)
            try:
                await self._frames(reader, told)(scope, receive, send)
            except Exception as error:  # noqa: BLE001 - raised below, outside of the group, as it came
                failure = error
            group.cancel_scope.cancel()
        if failure is not None:
            raise failure

    def _frames(self, reader: int, told: anyio.Event) -> EventSourceResponse:
        return EventSourceResponse(
            _Frames(self._run, reader, self._after),
            headers=self._run.headers,
            ping=self._heartbeat,
            ping_message_factory=lambda: ServerSentEvent(comment="still here"),
            sep="\n",
            send_timeout=SEND_SECONDS,
            shutdown_event=told,
            shutdown_grace_period=self._shutdown + LAST_WORDS,
        )

    async def _leave(self, reader: int) -> None:
        if not self._run.has_reader(reader):
            return
        if self._runs is None:
            await self._run.close()
        else:
            self._runs.left(self._run, reader)


class _Frames:
    """The frames of a run for one reader, as bytes."""

    def __init__(self, run: Run, reader: int, after: int | None) -> None:
        self._run, self._reader = run, reader
        self._seq = -1 if after is None else after

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        while (frame := await self._run.after(self._seq, self._reader)) is not None:
            self._seq = frame.seq
            if frame.data:
                return frame.data
        raise StopAsyncIteration


def _refusal(error: Exception, *, details: bool) -> Response:
    """An error that came before the first frame.

    Raises:
        HTTPException: the source raised it, as an application's way to say what to answer.
    """
    if isinstance(error, HTTPException):
        raise error
    if isinstance(error, ModelError):
        status, kind, told = 503, "model_error", "the model could not be loaded"
    elif isinstance(error, StreamVerifyError):
        status, kind, told = 500, "stream_error", "the answer could not be verified"
    else:
        status, kind, told = 502, "source_error", "the source failed before its first piece"
    name = type(error).__name__
    return failure(status, kind, f"{told}: {name}: {error}" if details else f"{told}: {name}")
