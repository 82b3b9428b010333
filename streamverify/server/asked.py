"""What a request asks of the verifier: passages, policy, question, and the body for the upstream.

Before: `app.py` read the bytes. After: `chat.py` and `responses.py`.

Passages are, in this order: those in the extra field `streamverify`; else blocks
`<passage id="…" title="…">…</passage>` in the messages, and the results of tools. A result that is a
JSON array of objects with `id` and `text` (or an object with such an array under `passages`,
`documents` or `results`) gives its members, any other is one passage.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from streamverify.errors import UsageError
from streamverify.passages import passages_from
from streamverify.policy import UNGROUNDED, Flag, Halt, Observe, Policy, Redact
from streamverify.server.refusal import RefusedError
from streamverify.types import Label, Passage

_BLOCK = re.compile(r"<passage\b([^<>]{0,2000})>(.*?)</passage>", re.DOTALL)
_ATTRIBUTE = re.compile(r"""\b(id|title)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


class PolicyOptions(BaseModel):
    """A policy by name, with the options that are plain values; see `policy.py` for each."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Literal["observe", "flag", "redact", "halt"]
    labels: frozenset[Label] | None = None
    scope: Literal["sentence", "span"] = "sentence"
    placeholder: str = Field(default="[unsupported statement removed]", max_length=500)
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
    policy: PolicyOptions | Literal["observe", "flag", "redact", "halt"] | None = None
    question: str | None = None
    events: bool = True
    """Whether the answer carries verdicts beside the text."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, read."""

    body: Mapping[str, Any]
    """For the upstream: what the client sent, without the extra field."""
    passages: tuple[Passage, ...]
    policy: Policy
    question: str | None
    events: bool
    stream: bool

    @property
    def payload(self) -> bytes:
        """The body as bytes."""
        return json.dumps(self.body).encode()


def read_request(data: bytes, policy: Policy) -> Asked:
    """The request of a client, for `/chat/completions` or `/responses`.

    Args:
        data: JSON.
        policy: where the request names none.

    Raises:
        RefusedError: 400, with what to change. Client.
    """
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        raise _bad("the body is not JSON") from None
    if not isinstance(body, dict):
        raise _bad("the body must be a JSON object")
    try:
        extra = Extra.model_validate(body.pop("streamverify", None) or {})
        if extra.policy is not None:
            named = extra.policy
            policy = (PolicyOptions(name=named) if isinstance(named, str) else named).policy()
        messages = _messages(body)
        found = extra.passages if extra.passages is not None else list(_passages(messages))
        passages = passages_from(found)
    except ValidationError as error:
        first = error.errors()[0]
        raise _bad(f"streamverify.{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except UsageError as error:
        raise _bad(f"streamverify: {error}") from None
    return Asked(
        body=body,
        passages=passages,
        policy=policy,
        question=extra.question or _question(messages),
        events=extra.events,
        stream=body.get("stream") is True,
    )


def _bad(message: str) -> RefusedError:
    return RefusedError(400, "invalid_request_error", message)


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


def _passages(messages: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for position, message in enumerate(messages, 1):
        if message.get("role") == "tool":
            yield from _result(
                _text(message.get("content")), str(message.get("tool_call_id") or f"tool-{position}")
            )
        elif message.get("type") == "function_call_output":
            yield from _result(
                _text(message.get("output")), str(message.get("call_id") or f"tool-{position}")
            )
        elif message.get("role") != "assistant":  # a model's own words are no source
            yield from _blocks(_text(message.get("content")), position)


def _blocks(text: str, message: int) -> Iterator[dict[str, Any]]:
    for number, block in enumerate(_BLOCK.finditer(text), 1):
        said = {name: double or single for name, double, single in _ATTRIBUTE.findall(block[1])}
        identity = said.get("id") or f"m{message}-{number}"
        yield {"id": identity, "title": said.get("title"), "text": block[2].strip()}


def _result(text: str, identity: str) -> list[dict[str, Any]]:
    try:
        value = json.loads(text)
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
            return _BLOCK.sub("", _text(message.get("content"))).strip() or None
    return None
