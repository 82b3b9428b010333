"""`/v1/chat/completions`: the upstream's chunks with verified text, verdicts in chunks of their own.

A verdict's chunk has no choices and a key `streamverify`, the native event, which OpenAI's clients and
those built like them skip. A choice has two texts, each verified by itself: its content and a refusal. Tool
calls keep their place behind the text before them. Finish reasons and usage wait until every sentence has
its verdict. Under a policy that holds text everything is built anew, see `fields.py`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any

from streamverify.adapters import ChannelKey, Move, PassThrough, Released, TextDelta
from streamverify.events import Event
from streamverify.server.errors import bad_request, bad_upstream
from streamverify.server.exchange import ProxyExchange, about, pass_on
from streamverify.server.fields import (
    Withheld,
    called,
    identifier,
    identifiers,
    mapping,
    numbers,
    objects,
    text_in,
    tool_calls,
    whole_number,
)
from streamverify.server.relay import Chunk, relay_stream
from streamverify.server.response import ResponseWriter
from streamverify.server.upstream import Answer

PATH = "/chat/completions"

MOST_CHOICES = 16

HALTED = "content_filter"
"""The finish reason of an answer the policy stopped: OpenAI's word for text left out."""

_TEXTS = ("content", "refusal")
"""The fields of a delta or message that are judged; a channel's key is the choice and the position here."""

_HEAD = frozenset("id object created model system_fingerprint service_tier usage choices".split())
_CHOICE = frozenset("index finish_reason logprobs".split())
_SAID = frozenset("role content refusal tool_calls function_call".split())


async def relay_chat(exchange: ProxyExchange, writer: ResponseWriter) -> None:
    """Answer one request.

    Raises:
        HTTPRefusal: the request asks for what cannot be verified, or the upstream cannot be reached.
    """
    asked = exchange.asked
    choices = 1 if asked.body.get("n") is None else whole_number(asked.body["n"], below=MOST_CHOICES + 1)
    if not choices:
        raise bad_request(f"n must be a whole number from 1 to {MOST_CHOICES}", "invalid_n")
    async with exchange.ask(PATH) as answer:
        if not answer.ok:
            await pass_on(writer, answer)
        elif asked.stream:
            wire = ChatWire(choices, asked.body.get("model"), strict=asked.policy.holds_text)
            await relay_stream(exchange, writer, answer, wire)
        else:
            await _whole(exchange, writer, await answer.json(), choices)


class ChatWire:
    """The chunks of one streamed completion; see `Wire`."""

    def __init__(self, choices: int, model: object, *, strict: bool) -> None:
        """Nothing was read yet.

        Args:
            choices: how many the client asked for.
            model: as the client named it, for upstreams whose own word for it cannot pass.
            strict: whether only what is known may pass.
        """
        self._most, self._strict = choices, strict
        self._head: Chunk = identifiers({"model": model}, ("model",))
        self._seen: set[int] = set()
        self._finished: set[int] = set()
        self.withheld = Withheld()

    async def chunks(self, answer: Answer) -> AsyncGenerator[Chunk, None]:
        """The upstream's chunks; one that says something and finishes comes as two.

        Raises:
            HTTPRefusal: the upstream stopped before its answer was complete.
        """
        async with aclosing(answer.events()) as events:
            async for chunk in events:
                choices = _choices(chunk, self._most)
                for choice in choices:
                    self._seen.add(choice.get("index") or 0)
                    if choice.get("finish_reason"):
                        self._finished.add(choice.get("index") or 0)
                if self.closes(chunk) and any(map(_says_something, choices)):
                    said = [{**choice, "finish_reason": None} for choice in choices]
                    yield {name: value for name, value in chunk.items() if name != "usage"} | {
                        "choices": said
                    }
                    kept = _CHOICE - {"logprobs"}
                    ends = [
                        {n: v for n, v in choice.items() if n in kept} | {"delta": {}} for choice in choices
                    ]
                    yield {**chunk, "choices": ends}
                else:
                    yield chunk
        if not answer.done and (not self._seen or self._seen - self._finished):
            raise bad_upstream("upstream_incomplete", "the upstream stopped before its answer was complete")

    def closes(self, chunk: Chunk) -> bool:
        """Whether it has a reason to finish, or no choices."""
        if "streamverify" in chunk:
            return False
        choices = objects(chunk.get("choices"))
        return not choices or any(choice.get("finish_reason") for choice in choices)

    def read(self, chunk: Chunk, released: Released) -> Iterator[Move[Chunk]]:  # noqa: ARG002 - repeats no text
        """Content and refusals are text; what else may pass keeps its place."""
        self._head |= _head(chunk)
        choices = objects(chunk.get("choices"))
        for choice in choices:
            index, delta = choice.get("index") or 0, mapping(choice.get("delta"))
            for number, field in enumerate(_TEXTS):
                if text := text_in(delta.get(field)):
                    yield TextDelta((index, number), text, partial(self._text, index, field))
            if self._strict:
                note_choice(self.withheld, choice, "delta")
                said, reason = said_in(delta), identifier(choice.get("finish_reason"))
                if said or reason:
                    made = {"index": index, "delta": said, "finish_reason": reason}
                    yield PassThrough(partial(self._chunk, [made], numbers(chunk.get("usage"))), (index, 0))
        if self._strict:
            self.withheld.note("chunk", chunk, _HEAD)
            if not choices and (usage := numbers(chunk.get("usage"))):
                yield PassThrough(partial(self._chunk, [], usage))

    def sent(self, chunk: Chunk) -> None:
        """Nothing to remember."""

    def halted(self, released: Released) -> tuple[Chunk, ...]:  # noqa: ARG002 - the protocol's signature
        """Nothing: see `halting`."""
        return ()

    def halting(self, released: Released) -> list[Chunk]:  # noqa: ARG002 - repeats no text
        """The end of every choice."""
        ends = [{"index": index, "delta": {}, "finish_reason": HALTED} for index in sorted(self._seen)]
        return [self._chunk([end], {}) for end in ends]

    def verdict(self, key: ChannelKey, event: Event) -> Chunk:
        """A chunk without choices."""
        index, field = key if isinstance(key, tuple) else (key, 0)
        return {**self._chunk([], {}), "streamverify": about(event), **place_of(index, field)}

    def note(self, names: list[str]) -> Chunk:
        """A chunk without choices."""
        return {**self._chunk([], {}), "streamverify_withheld": names}

    async def write(self, writer: ResponseWriter, chunk: Chunk) -> None:
        """As it is."""
        await writer.event(chunk)

    async def end(self, writer: ResponseWriter) -> None:
        """`[DONE]`."""
        await writer.event("[DONE]")
        await writer.end()

    def _text(self, index: int, field: str, text: str) -> Chunk:
        return self._chunk([{"index": index, "delta": {field: text}, "finish_reason": None}], {})

    def _chunk(self, choices: list[Chunk], usage: Mapping[str, Any]) -> Chunk:
        made = {**self._head, "object": "chat.completion.chunk", "choices": choices}
        return {**made, "usage": usage} if usage else made


async def _whole(exchange: ProxyExchange, writer: ResponseWriter, body: Chunk, most: int) -> None:
    strict, withheld = exchange.asked.policy.holds_text, Withheld()
    made, reports = [], []
    for position, choice in enumerate(_choices(body, most)):
        message = choice.get("message")
        if not isinstance(message, dict):
            raise bad_upstream("upstream_shape", "the upstream's answer has a choice without a message")
        index = position if choice.get("index") is None else choice["index"]
        shown: Chunk = {}
        finish = choice.get("finish_reason")
        for field in _TEXTS:
            if text := text_in(message.get(field)):
                report = await exchange.report(text)
                if strict or isinstance(message[field], str):
                    shown[field] = report.released
                finish = HALTED if report.outcome == "halted" else finish
                reports.append({"report": report.model_dump(mode="json"), "choice": index, "field": field})
        if strict:
            note_choice(withheld, choice, "message")
            message = {"role": "assistant", "content": None, **said_in(message)}
            choice = {"index": index}  # noqa: PLW2901 - built anew
            finish = identifier(finish)
        choice |= {"message": message | shown, "finish_reason": finish}
        made.append(choice)
    if strict:
        withheld.note("answer", body, _HEAD)
        usage = numbers(body.get("usage"))
        body = {"model": exchange.asked.body.get("model"), **_head(body), "object": "chat.completion"}
        body |= {"usage": usage} if usage else {}
    body["choices"] = made
    if exchange.asked.events:
        first = {"report": reports[0]["report"]} if reports else {}
        body["streamverify"] = {**first, "reports": reports}
        if withheld.names:
            body["streamverify"]["withheld"] = withheld.names
    await writer.json(body)


def place_of(index: int, field: int) -> Chunk:
    """Which text an event or report is about, beside it."""
    return {"streamverify_choice": index} | ({"streamverify_field": _TEXTS[field]} if field else {})


def said_in(message: Mapping[str, Any]) -> Chunk:
    """What a delta or message says beside its texts, as far as it may pass."""
    said: Chunk = dict(identifiers(message, ("role",)))
    if calls := tool_calls(message.get("tool_calls")):
        said["tool_calls"] = calls
    if isinstance(message.get("function_call"), dict):
        said["function_call"] = called(message["function_call"])
    return said


def note_choice(withheld: Withheld, choice: Chunk, holder: str) -> None:
    """Remember what of a choice does not pass."""
    message = mapping(choice.get(holder))
    withheld.note("choices[]", choice, {*_CHOICE, holder})
    withheld.note(f"choices[].{holder}", message, _SAID)
    for field in _TEXTS:
        if message.get(field) and not text_in(message[field]):
            withheld.add(f"choices[].{holder}.{field}")


def _head(chunk: Mapping[str, Any]) -> Chunk:
    created = numbers({"created": chunk.get("created")} if chunk.get("created") is not None else {})
    return created | identifiers(chunk, ("id", "model", "system_fingerprint", "service_tier"))


def _choices(body: Mapping[str, Any], most: int) -> list[Chunk]:
    """The choices of a chunk or answer.

    Raises:
        HTTPRefusal: they are none, or more than were asked for.
    """
    found = body.get("choices")
    choices = objects(found)
    if found is not None and (not isinstance(found, list) or len(choices) != len(found)):
        raise bad_upstream("upstream_shape", "the upstream's choices are no list of objects")
    for choice in choices:
        if whole_number(choice.get("index"), below=most) is None:
            raise bad_upstream("upstream_choices", "the upstream sent more choices than were asked for")
    return choices


def _says_something(choice: Mapping[str, Any]) -> bool:
    return any(value for name, value in mapping(choice.get("delta")).items() if name != "role")
