"""What a request asks of the verifier: passages, policy, question, and the body for the upstream.

Before: `app.py` read the bytes. After: `chat.py` and `responses.py`.

Passages are, in this order: those in the extra field `streamverify`; else blocks
`<passage id="…" title="…">…</passage>` in the messages, and the results of tools. A result that is a
JSON array of objects with `id` and `text` (or an object with such an array under `passages`,
`documents` or `results`) gives its members, any other is one passage.

Templates and tools number their passages anew each time. An id therefore means what the last turn gave under
it, and within a turn what its last tool result did; what an earlier result of the same turn gave stays, as
`m<message>/<id>`, for the answer rests on it too. One retrieval that gives two texts under an id is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from streamverify.context import StreamContext, context_from
from streamverify.errors import UsageError
from streamverify.files.jsonl import json_text, strict_json
from streamverify.passages import passages_from
from streamverify.policy import (
    PLACEHOLDER,
    UNGROUNDED,
    Flag,
    Halt,
    Observe,
    Policy,
    PolicyWord,
    Redact,
    policy_from,
)
from streamverify.server.errors import bad_request
from streamverify.streaming.session import OnUnverified
from streamverify.types import Label, Passage

_OPEN, _CLOSE = "<passage", "</passage>"
_HEAD = re.compile(r"<passage\b([^<>]{0,2000})>")
_ATTRIBUTE = re.compile(r"""\b(id|title)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


_ASKING = frozenset({"user", "system", "developer"})
"""Roles of whoever asks; where one follows a message of another role, a turn begins."""


class PolicyOptions(BaseModel):
    """A policy by name, with the options that are plain values; see `policy.py` for each."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Literal["observe", "flag", "redact", "halt"]
    labels: frozenset[Label] | None = None
    scope: Literal["sentence", "span"] = "sentence"
    placeholder: str = Field(default=PLACEHOLDER, max_length=500)
    fabricated_citations: Literal["keep", "marker", "sentence"] = "keep"
    max_ungrounded: int | None = None
    max_share: float | None = None

    def policy(self) -> Policy:
        """The policy itself."""
        match self.name:
            case "observe":
                return Observe()
            case "flag":
                return Flag(self.labels or UNGROUNDED)
            case "redact":
                return Redact(
                    labels=self.labels or UNGROUNDED,
                    scope=self.scope,
                    placeholder=self.placeholder,
                    fabricated_citations=self.fabricated_citations,
                )
            case "halt":
                return Halt(
                    labels=self.labels or frozenset({Label.CONTRADICTED}),
                    max_ungrounded=self.max_ungrounded,
                    max_share=self.max_share,
                )


class Extra(BaseModel):
    """The field `streamverify` of a request."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    passages: list[dict[str, Any] | str] | None = None
    policy: PolicyOptions | str | None = None
    question: str | None = None
    on_unverified: OnUnverified | None = None
    """Whether what could not be checked is shown under a policy that holds text; None as the server says."""
    events: bool = True
    """Whether the answer carries verdicts beside the text."""
    context: dict[str, Any] | None = None
    """Who asks, for records: fields of `StreamContext`."""


@dataclass(frozen=True, slots=True)
class ProxyRequest:
    """One request, read."""

    body: Mapping[str, Any]
    """For the upstream: what the client sent, without the extra field."""
    passages: tuple[Passage, ...]
    policy: Policy
    question: str | None
    on_unverified: OnUnverified | None
    events: bool
    stream: bool
    context: StreamContext

    @property
    def payload(self) -> bytes:
        """The body as bytes."""
        return json_text(self.body).encode()


def read_request(data: bytes, policy: Policy, passages: Sequence[Passage] = ()) -> ProxyRequest:
    """The request of a client, for `/chat/completions` or `/responses`; takes time in line with its length.

    Args:
        data: JSON.
        policy: where the request names none.
        passages: where the request holds none.

    Raises:
        HTTPRefusal: 400, with what to change. Client.
    """
    try:
        body = strict_json(data)
    except (ValueError, RecursionError):
        raise bad_request("the body is not JSON") from None
    if not isinstance(body, dict):
        raise bad_request("the body must be a JSON object")
    try:
        extra = Extra.model_validate(body.pop("streamverify", None) or {})
        if extra.policy is not None:
            named = extra.policy
            policy = (
                named.policy() if isinstance(named, PolicyOptions) else policy_from(cast("PolicyWord", named))
            )
        messages = _messages(body)
        found = extra.passages if extra.passages is not None else _passages(messages)
        known = passages_from(found) or tuple(passages)
        context = context_from(_told(extra.context, body))
    except ValidationError as error:
        first = error.errors()[0]
        raise bad_request(f"streamverify.{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except UsageError as error:
        raise bad_request(f"streamverify: {error}") from None
    return ProxyRequest(
        body=body,
        passages=known,
        policy=policy,
        question=extra.question or _question(messages),
        on_unverified=extra.on_unverified,
        events=extra.events,
        stream=body.get("stream") is True,
        context=context,
    )


def _told(context: dict[str, Any] | None, body: Mapping[str, Any]) -> dict[str, Any]:
    """Who asks; the API has a field of its own for the user."""
    user = body.get("user")
    return ({"user": user} if isinstance(user, str) else {}) | (context or {})


def _messages(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = body.get("messages", body.get("input"))
    if isinstance(found, str):
        found = [{"role": "user", "content": found}]
    messages: list[Mapping[str, Any]] = (
        [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
    )
    if isinstance(body.get("instructions"), str):
        messages.insert(0, {"role": "system", "content": body["instructions"]})
    return messages


class _Given(NamedTuple):
    """A passage, and where it came from."""

    passage: dict[str, Any]
    message: int
    turn: int
    result: int
    """Number of the tool's message; 0 for blocks."""

    @property
    def id(self) -> str:
        return str(self.passage["id"])


def _passages(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    given = list(_given(messages))
    last = {one.id: one for one in given}
    found = []
    for one in given:
        final = last[one.id]
        if (one.turn, one.result) == (final.turn, final.result):
            found.append(one.passage)
        elif one.turn == final.turn and one.passage["text"] != final.passage["text"]:
            found.append({**one.passage, "id": f"m{one.message}/{one.id}"})
    return found


def _given(messages: Sequence[Mapping[str, Any]]) -> Iterator[_Given]:
    turn, answered = 0, False
    for position, message in enumerate(messages, 1):
        role = message.get("role")
        if role in _ASKING and answered:
            turn, answered = turn + 1, False
        answered = answered or role not in _ASKING
        result = 0 if role in _ASKING else position
        for passage in _of_message(message, position):
            yield _Given(passage, position, turn, result)


def _of_message(message: Mapping[str, Any], position: int) -> Iterable[dict[str, Any]]:
    if message.get("role") == "tool":
        name = str(message.get("tool_call_id") or f"tool-{position}")
        return _result(_text(message.get("content")), name)
    if message.get("type") == "function_call_output":
        name = str(message.get("call_id") or f"tool-{position}")
        return _result(_text(message.get("output")), name)
    if message.get("role") == "assistant":  # a model's own words are no source
        return ()
    return _blocks(_text(message.get("content")), position)


class _Block(NamedTuple):
    """One `<passage …>…</passage>`."""

    start: int
    end: int
    attributes: str
    text: str


def _scan(text: str) -> Iterator[_Block]:
    """The blocks of a text, in one pass however they are nested or left open."""
    at = 0
    while (start := text.find(_OPEN, at)) >= 0:
        at = start + len(_OPEN)
        if (head := _HEAD.match(text, start)) is None:
            continue
        close = text.find(_CLOSE, head.end())
        if close < 0:  # nor does any later one close
            return
        at = close + len(_CLOSE)
        yield _Block(start, at, head[1], text[head.end() : close])


def _blocks(text: str, message: int) -> Iterator[dict[str, Any]]:
    for number, block in enumerate(_scan(text), 1):
        said = {name: double or single for name, double, single in _ATTRIBUTE.findall(block.attributes)}
        identity = said.get("id") or f"m{message}-{number}"
        yield {"id": identity, "title": said.get("title"), "text": block.text.strip()}


def _without_blocks(text: str) -> str:
    parts, at = [], 0
    for block in _scan(text):
        parts.append(text[at : block.start])
        at = block.end
    return "".join([*parts, text[at:]])


def _result(text: str, identity: str) -> list[dict[str, Any]]:
    try:
        value = strict_json(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        value = next((value[name] for name in ("passages", "documents", "results") if name in value), None)
    if isinstance(value, list) and value and all(_is_passage(item) for item in value):
        return value
    return [{"id": identity, "text": text}] if text.strip() else []


def _is_passage(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("id"), str | int)
        and isinstance(value.get("text"), str)
    )


def _text(content: object) -> str:
    """The text of a message's content, which is a string or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _question(messages: Sequence[Mapping[str, Any]]) -> str | None:
    for message in reversed(messages):
        if message.get("role") == "user":
            return _without_blocks(_text(message.get("content"))).strip() or None
    return None
