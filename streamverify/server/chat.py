"""`/v1/chat/completions`: the upstream's chunks with verified text, verdicts in chunks of their own.

A verdict's chunk has no choices and a key `streamverify`, the native event, which OpenAI's clients and
those built like them skip. Chunks that carry no text (roles, tool calls, refusals) pass at once; those
that close the answer (finish reason, usage) wait until every sentence has its verdict. `logprobs`, which
would repeat the text token by token, are left out.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from streamverify.events import Event, StreamHalted, TextReleased
from streamverify.server.outlet import Outlet
from streamverify.server.refusal import RefusedError
from streamverify.server.relay import Relay, about, fail, json_of, pass_on
from streamverify.server.upstream import Answer

PATH = "/chat/completions"

_HALTED = "content_filter"
"""The finish reason of an answer the policy stopped: OpenAI's word for text left out."""


async def relay_chat(relay: Relay, outlet: Outlet) -> None:
    """Answer one request.

    Raises:
        RefusedError: the request asks for what cannot be verified, or the upstream cannot be reached.
    """
    asked = relay.asked
    if asked.body.get("n") not in (None, 1):
        raise RefusedError(400, "invalid_request_error", "n must be 1: one answer is verified at a time")
    async with relay.upstream.ask("POST", PATH, relay.headers, asked.payload) as answer:
        if answer.status >= 400:
            await pass_on(outlet, answer)
        elif asked.stream:
            await _Chunks(relay, outlet, answer).run()
        else:
            await _whole(relay, outlet, answer)


async def _whole(relay: Relay, outlet: Outlet, answer: Answer) -> None:
    body = await json_of(answer)
    for choice in body.get("choices") or []:
        message = choice.get("message") or {}
        choice.pop("logprobs", None)
        if not isinstance(message.get("content"), str) or not message["content"]:
            continue
        report = await relay.report(message["content"])
        message["content"] = report.released
        if report.outcome == "halted":
            choice["finish_reason"] = _HALTED
        if relay.asked.events:
            body["streamverify"] = {"report": report.model_dump(mode="json")}
    await outlet.json(body)


class _Chunks:
    """One streamed answer."""

    def __init__(self, relay: Relay, outlet: Outlet, answer: Answer) -> None:
        self._relay, self._outlet, self._answer = relay, outlet, answer
        self._template: dict[str, Any] | None = None  # id, model and so on, of the upstream's first chunk
        self._early: list[dict[str, Any]] = []  # verdict chunks that wait for it
        self._closing: list[dict[str, Any]] = []
        self._halted = False

    async def run(self) -> None:
        try:
            async with aclosing(self._texts()) as texts, aclosing(self._relay.verified(texts)) as events:
                async for event in events:
                    await self._tell(event)
        except Exception as error:  # noqa: BLE001 - whatever the upstream raised is told to the client
            await fail(self._outlet, error)
            return
        await self._close()

    async def _texts(self) -> AsyncGenerator[str, None]:
        """The text of the answer; everything else is written, or kept for the end."""
        async with aclosing(self._answer.events()) as chunks:
            async for chunk in chunks:
                await self._begin(chunk)
                text = _take_text(chunk)
                choices = chunk.get("choices") or []
                if not choices or any(choice.get("finish_reason") for choice in choices):
                    self._closing.append(chunk)
                elif any(_says_something(choice.get("delta") or {}) for choice in choices):
                    await self._outlet.event(chunk)
                if text:
                    yield text

    async def _begin(self, chunk: dict[str, Any]) -> None:
        if self._template is not None:
            return
        keys = ("id", "object", "created", "model", "system_fingerprint")
        self._template = {key: chunk[key] for key in keys if key in chunk}
        early, self._early = self._early, []
        for waiting in early:
            await self._outlet.event({**self._template, **waiting})

    async def _tell(self, event: Event) -> None:
        self._halted = self._halted or isinstance(event, StreamHalted)
        if isinstance(event, TextReleased):
            if event.text:
                delta = {"index": 0, "delta": {"content": event.text}, "finish_reason": None}
                await self._write({"choices": [delta]})
        elif self._relay.asked.events:
            await self._write({"choices": [], "streamverify": about(event)})

    async def _write(self, fields: dict[str, Any]) -> None:
        if self._template is None:
            self._early.append(fields)
        else:
            await self._outlet.event({**self._template, **fields})

    async def _close(self) -> None:
        if self._halted:
            end = {"index": 0, "delta": {}, "finish_reason": _HALTED}
            await self._write({"choices": [end]})
        else:
            for chunk in self._closing:
                await self._outlet.event(chunk)
        for waiting in self._early:  # the upstream sent no chunk at all
            await self._outlet.event(waiting)
        await self._outlet.event("[DONE]")
        await self._outlet.end()


def _take_text(chunk: dict[str, Any]) -> str:
    """Take the answer's text out of a chunk."""
    text = ""
    for choice in chunk.get("choices") or []:
        choice.pop("logprobs", None)
        if choice.get("index", 0) != 0:
            raise RefusedError(502, "upstream_error", "the upstream sent more than one choice")
        delta = choice.get("delta") or {}
        if isinstance(delta.get("content"), str) and delta["content"]:
            text += delta.pop("content")
    return text


def _says_something(delta: dict[str, Any]) -> bool:
    return any(value is not None for value in delta.values())
