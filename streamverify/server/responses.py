"""`/v1/responses`: the upstream's events with verified text; verdicts are events of their own type.

The text of an answer comes five times over this protocol: in deltas, and whole in the four events that
close it. Deltas are replaced by what may be shown, and the closing events repeat that. A verdict is an
event `streamverify.<kind>` whose field `streamverify` is the native event. Events are numbered anew.

Annotations, whose places count in the text as generated, and `logprobs`, which would repeat it token by
token, are left out where the policy may change text.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, NamedTuple

from streamverify.events import StreamHalted, TextReleased
from streamverify.server.outlet import Outlet
from streamverify.server.relay import Relay, about, fail, json_of, pass_on
from streamverify.server.upstream import Answer

PATH = "/responses"

_DELTA, _DONE = "response.output_text.delta", "response.output_text.done"
_ADDED = "response.output_text.annotation.added"


class _Place(NamedTuple):
    """Where a text stands in a response."""

    output: int
    content: int


async def relay_responses(relay: Relay, outlet: Outlet) -> None:
    """Answer one request.

    Raises:
        RefusedError: the upstream cannot be reached.
    """
    async with relay.upstream.ask("POST", PATH, relay.headers, relay.asked.payload) as answer:
        if answer.status >= 400:
            await pass_on(outlet, answer)
        elif relay.asked.stream:
            await _Events(relay, outlet, answer).run()
        else:
            await _whole(relay, outlet, answer)


async def _whole(relay: Relay, outlet: Outlet, answer: Answer) -> None:
    body = await json_of(answer)
    reports = []
    for part in (part for item in body.get("output") or [] for part in _texts(item)):
        report = await relay.report(part["text"])
        _show(part, report.released, holding=relay.asked.policy.holds_text)
        reports.append(report.model_dump(mode="json"))
        if report.outcome == "halted":
            body |= _STOPPED
    if relay.asked.events:
        body["streamverify"] = {"reports": reports}
    await outlet.json(body)


_STOPPED: dict[str, Any] = {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}


class _Events:
    """One streamed response."""

    def __init__(self, relay: Relay, outlet: Outlet, answer: Answer) -> None:
        self._relay, self._outlet, self._answer = relay, outlet, answer
        self._holding = relay.asked.policy.holds_text
        self._number = 0
        self._shown: dict[_Place, str] = {}
        self._response: dict[str, Any] = {}
        self._item: dict[str, Any] = {}
        self._halted = False
        self._after: list[dict[str, Any]] = []  # came while a text was being verified

    async def run(self) -> None:
        try:
            async with aclosing(self._answer.events()) as events:
                async for event in events:
                    waiting = [event]
                    while waiting and not self._halted:
                        await self._take(waiting.pop(0), events)
                        waiting, self._after = self._after + waiting, []
                    if self._halted:
                        break
        except Exception as error:  # noqa: BLE001 - whatever the upstream raised is told to the client
            await fail(self._outlet, error)
            return
        if self._halted:
            await self._stop()
        await self._outlet.end()

    async def _take(self, event: dict[str, Any], events: AsyncGenerator[dict[str, Any], None]) -> None:
        """Verify a text from its first event on; pass on any other event."""
        kind = event.get("type")
        if kind == _DELTA or (kind == _DONE and _place(event) not in self._shown and event.get("text")):
            await self._verify(event, events)
        else:
            await self._pass(event)

    async def _verify(self, first: dict[str, Any], events: AsyncGenerator[dict[str, Any], None]) -> None:
        place = _place(first)
        released: list[str] = []
        async with (
            aclosing(self._pieces(first, events)) as pieces,
            aclosing(self._relay.verified(pieces)) as told,
        ):
            async for event in told:
                if isinstance(event, TextReleased):
                    released.append(event.text)
                    delta: dict[str, Any] = {"type": _DELTA, "delta": event.text, "logprobs": []}
                    for name in ("item_id", "output_index", "content_index"):
                        delta[name] = first.get(name)
                    if event.text:
                        await self._write(delta)
                elif self._relay.asked.events:
                    await self._write({"type": f"streamverify.{event.kind}", "streamverify": about(event)})
                self._halted = self._halted or isinstance(event, StreamHalted)
        self._shown[place] = "".join(released)

    async def _pieces(
        self, first: dict[str, Any], events: AsyncGenerator[dict[str, Any], None]
    ) -> AsyncGenerator[str, None]:
        """The deltas of one text; what belongs to others is kept, or passed on where it cannot matter."""
        if first.get("type") == _DONE:
            yield first["text"]
            self._after.append(first)
            return
        yield first.get("delta") or ""
        async for event in events:
            kind, here = event.get("type"), _place(event) == _place(first)
            if kind == _DELTA and here:
                yield event.get("delta") or ""
            elif kind == _ADDED:
                await self._pass(event)
            else:
                # Its end; or the end of the response, from an upstream that does not tell that of a text.
                self._after.append(event)
                return

    async def _pass(self, event: dict[str, Any]) -> None:
        match event.get("type"):
            case "response.created" | "response.in_progress":
                self._response = event.get("response") or {}
            case "response.output_item.added":
                self._item = event.get("item") or {}
            case "response.output_text.annotation.added" if self._holding:
                return
            case "response.output_text.done":
                self._close(event, _place(event))
            case "response.content_part.done":
                self._close(event.get("part") or {}, _place(event))
            case "response.output_item.done":
                self._close_item(event.get("item") or {}, event.get("output_index", 0))
            case "response.completed" | "response.incomplete" | "response.failed":
                for output, item in enumerate((event.get("response") or {}).get("output") or []):
                    self._close_item(item, output)
            case _:
                pass
        await self._write(event)

    def _close_item(self, item: dict[str, Any], output: int) -> None:
        for content, part in enumerate(item.get("content") or []):
            if isinstance(part, dict) and part.get("type") == "output_text":
                self._close(part, _Place(output, content))

    def _close(self, part: dict[str, Any], place: _Place) -> None:
        if "text" in part:
            # A text never seen before was never verified: where text is held, it is not shown.
            shown = self._shown.get(place, "" if self._holding else part["text"])
            _show(part, shown, holding=self._holding)

    async def _stop(self) -> None:
        """The closing events, which the upstream was not let to send."""
        place, text = list(self._shown.items())[-1]
        where = {
            "item_id": self._item.get("id"),
            "output_index": place.output,
            "content_index": place.content,
        }
        part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        item = {**self._item, "status": "incomplete", "content": [part]}
        ids = {"output_index": place.output, "item": item}
        await self._write({"type": _DONE, **where, "text": text, "logprobs": []})
        await self._write({"type": "response.content_part.done", **where, "part": part})
        await self._write({"type": "response.output_item.done", **ids})
        response = {**self._response, **_STOPPED, "output": [item]}
        await self._write({"type": "response.incomplete", "response": response})

    async def _write(self, event: dict[str, Any]) -> None:
        event["sequence_number"] = self._number
        self._number += 1
        await self._outlet.event(event, event.get("type"))


def _place(event: dict[str, Any]) -> _Place:
    return _Place(event.get("output_index", 0), event.get("content_index", 0))


def _texts(item: object) -> list[dict[str, Any]]:
    content = item.get("content") if isinstance(item, dict) else None
    parts = content if isinstance(content, list) else []
    return [
        part
        for part in parts
        if isinstance(part, dict) and part.get("type") == "output_text" and part.get("text")
    ]


def _show(part: dict[str, Any], text: str, *, holding: bool) -> None:
    part["text"] = text
    if holding:
        part |= {name: [] for name in ("annotations", "logprobs") if name in part}
