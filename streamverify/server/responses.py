"""`/v1/responses`: the upstream's events with verified text; verdicts are events of their own type.

A verdict is an event `streamverify.<kind>` whose field `streamverify` is the native event. Events are
numbered anew. Each content part, text or refusal, is verified by itself, however the parts are interleaved;
what repeats its text (`done` events, items, the response) repeats what was released. Under a policy that
holds text everything is built anew (`response_fields.py`); annotations, whose places count in the text as
generated, `logprobs` and reasoning are left out.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from functools import partial
from typing import Any

from streamverify.adapters import ChannelKey, Move, PassThrough, Released, TextDelta, TextEnd
from streamverify.events import Event
from streamverify.server.errors import bad_upstream
from streamverify.server.exchange import ProxyExchange, about, pass_on
from streamverify.server.fields import Withheld, identifier, mapping
from streamverify.server.relay import Chunk, relay_stream
from streamverify.server.response import ResponseWriter
from streamverify.server.response_fields import FIELD, STOPPED, Place, ResponseFields, parts_of, place_in
from streamverify.server.upstream import Answer

PATH = "/responses"

_LAST = frozenset({"response.completed", "response.incomplete", "response.failed"})
_BEGIN = frozenset({"response.created", "response.queued", "response.in_progress"})
_ADDED = frozenset({"response.output_item.added", "response.content_part.added"})


async def relay_responses(exchange: ProxyExchange, writer: ResponseWriter) -> None:
    """Answer one request.

    Raises:
        HTTPRefusal: the upstream cannot be reached.
    """
    asked = exchange.asked
    async with exchange.ask(PATH) as answer:
        if not answer.ok:
            await pass_on(writer, answer)
        elif asked.stream:
            wire = ResponsesWire(ResponseFields(asked.body), strict=asked.policy.holds_text)
            await relay_stream(exchange, writer, answer, wire)
        else:
            await _whole(exchange, writer, await answer.json())


class ResponsesWire:
    """The events of one streamed response; see `Wire`."""

    def __init__(self, fields: ResponseFields, *, strict: bool) -> None:
        """Nothing was read yet; with `strict` only what is known may pass."""
        self._fields, self._strict = fields, strict
        self.withheld: Withheld = fields.withheld
        self._number = 0
        self._texts: dict[Place, str] = {}  # as far as the upstream told them
        self._kinds: dict[Place, str] = {}
        self._ended: set[Place] = set()
        self._ids: dict[int, str] = {}
        self._items: dict[int, Chunk] = {}
        self._told: set[tuple[Place, str]] = set()
        self._told_items: set[int] = set()
        self._response: Chunk = {}
        self._complete = False

    async def chunks(self, answer: Answer) -> AsyncGenerator[Chunk, None]:
        """The upstream's events.

        Raises:
            HTTPRefusal: the upstream stopped before its answer was complete.
        """
        async with aclosing(answer.events()) as events:
            async for event in events:
                self._complete = self._complete or event.get("type") in _LAST
                yield event
        if not self._complete:
            raise bad_upstream("upstream_incomplete", "the upstream stopped before its answer was complete")

    def closes(self, chunk: Chunk) -> bool:
        """Whether it is the whole response."""
        return chunk.get("type") in _LAST

    def read(self, chunk: Chunk, released: Released) -> Iterator[Move[Chunk]]:
        """Deltas are text, and so is what an event that repeats a text says beyond them."""
        kind = str(chunk.get("type"))
        self._remember(kind, chunk)
        if kind in ("response.output_text.delta", "response.refusal.delta"):
            place = place_in(chunk)
            self._kinds.setdefault(place, kind.split(".")[1])
            if isinstance(chunk.get("delta"), str):
                yield from self._say(place, chunk["delta"])
            return
        parts = list(parts_of(kind, chunk))
        opens = kind in _ADDED or kind in _BEGIN
        may_pass = not self._strict or self._fields.knows(kind, chunk)
        if opens and may_pass:  # before the text that comes with it
            yield PassThrough(partial(self._built, kind, chunk, None))
        for place, part, text in parts:
            self._kinds.setdefault(place, part)
            known = self._texts.get(place, "")
            if text.startswith(known):
                yield from self._say(place, text[len(known) :])
            if not opens:
                self._ended.add(place)
                yield TextEnd(place)
        if not opens and may_pass:
            yield PassThrough(partial(self._built, kind, chunk, released))

    def sent(self, chunk: Chunk) -> None:
        """Remember which outputs and texts the client knows to be complete."""
        kind = str(chunk.get("type"))
        if kind == "response.output_item.done":
            self._told_items.add(place_in(chunk)[0])
        elif kind in ("response.output_text.done", "response.refusal.done", "response.content_part.done"):
            self._told.add((place_in(chunk), kind))

    def halted(self, released: Released) -> tuple[Chunk, ...]:  # noqa: ARG002 - the protocol's signature
        """Nothing: see `halting`."""
        return ()

    def halting(self, released: Released) -> list[Chunk]:
        """The closing events, which the upstream was not let to send."""
        made: list[Chunk] = []
        for place in sorted(self._texts):
            kind, where = self._kinds[place], self._where(place)
            part = self._fields.part(kind, released(place).text)
            closing = [
                {"type": f"response.{kind}.done", **where, FIELD[kind]: part[FIELD[kind]], "logprobs": []},
                {"type": "response.content_part.done", **where, "part": part},
            ]
            made += [event for event in closing if (place, event["type"]) not in self._told]
        output = []
        for index, item in sorted(self._items.items()):
            shown = {**self._fields.item(item, index, released), "status": "incomplete"}
            places = sorted(place for place in self._texts if place[0] == index)
            if places:
                shown["content"] = [self._fields.part(self._kinds[p], released(p).text) for p in places]
            output.append(shown)
            if index not in self._told_items:
                made.append({"type": "response.output_item.done", "output_index": index, "item": shown})
        response = {**self._fields.response(self._response, None), **STOPPED, "output": output}
        return [*made, {"type": "response.incomplete", "response": response}]

    def verdict(self, key: ChannelKey, event: Event) -> Chunk:
        """An event of its own type."""
        assert isinstance(key, tuple)
        where = {"output_index": key[0], "content_index": key[1]}
        return {"type": f"streamverify.{event.kind}", **where, "streamverify": about(event)}

    def note(self, names: list[str]) -> Chunk:
        """An event of its own type."""
        return {"type": "streamverify.withheld", "streamverify_withheld": names}

    async def write(self, writer: ResponseWriter, chunk: Chunk) -> None:
        """With its number."""
        number, self._number = self._number, self._number + 1
        await writer.event({**chunk, "sequence_number": number}, str(chunk.get("type")))

    async def end(self, writer: ResponseWriter) -> None:
        """Nothing more."""
        await writer.end()

    def _remember(self, kind: str, chunk: Chunk) -> None:
        if kind in _BEGIN:
            self._response = mapping(chunk.get("response"))
        elif kind.startswith("response.output_item."):
            index, item = place_in(chunk)[0], mapping(chunk.get("item"))
            self._items[index] = item
            self._know(index, item.get("id"))
        elif "output_index" in chunk:
            self._know(place_in(chunk)[0], chunk.get("item_id"))

    def _know(self, output: int, item_id: object) -> None:
        if (known := identifier(item_id)) is not None:
            self._ids[output] = known

    def _say(self, place: Place, text: str) -> Iterator[Move[Chunk]]:
        if text and place in self._ended:
            self.withheld.add("text after its end")
        elif text:
            self._texts[place] = self._texts.get(place, "") + text
            yield TextDelta(place, text, partial(self._delta, place))

    def _delta(self, place: Place, text: str) -> Chunk:
        made: dict[str, Any] = {"type": f"response.{self._kinds[place]}.delta", **self._where(place)}
        return {**made, "delta": text, "logprobs": []}

    def _where(self, place: Place) -> Chunk:
        return {"item_id": self._ids.get(place[0]), "output_index": place[0], "content_index": place[1]}

    def _built(self, kind: str, chunk: Chunk, released: Released | None) -> Chunk:
        return self._fields.event(kind, chunk, released)


async def _whole(exchange: ProxyExchange, writer: ResponseWriter, body: Chunk) -> None:
    if not isinstance(body.get("output"), list):
        raise bad_upstream("upstream_shape", "the upstream's answer has no list of outputs")
    strict = exchange.asked.policy.holds_text
    fields, shown, reports = ResponseFields(exchange.asked.body), {}, []
    stopped: Chunk = {}
    for place, _, text in parts_of("", {"response": body}):
        if text:
            report = await exchange.report(text)
            shown[place] = report.released
            reports.append(report.model_dump(mode="json"))
            stopped = STOPPED if report.outcome == "halted" else stopped
    if strict:
        body = fields.response(body, shown.get)
    body |= stopped
    if exchange.asked.events:
        body["streamverify"] = {"reports": reports}
        if fields.withheld.names:
            body["streamverify"]["withheld"] = fields.withheld.names
    await writer.json(body)
