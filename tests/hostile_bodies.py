"""Bodies of an OpenAI-compatible endpoint that hold no answer, each announced as JSON."""

from __future__ import annotations

import json


def _with(choices: object, **more: object) -> bytes:
    return json.dumps({"id": "x", "model": "m", "choices": choices, **more}).encode()


NO_COMPLETIONS = {
    "empty": b"",
    "half": b'{"choices": [',
    "no UTF-8": b'{"choices": "\xff"}',
    "UTF-16": json.dumps({"choices": []}).encode("utf-16"),
    "deep": b"[" * 100_000,
    "a list": b"[1, 2]",
    "a number": b"1e999",
    "a text": b'"choices"',
    "null": b"null",
    "no choices": b"{}",
    "choices that are null": _with(None),
    "choices that are an object": _with({"0": {}}),
    "a choice that is null": _with([None]),
    "a choice that is a text": _with(["text"]),
    "a choice without a message": _with([{}]),
    "a message that is a text": _with([{"message": "text"}]),
    "content that is a list": _with([{"message": {"content": [{"text": "x"}]}}]),
    "usage that is a text": _with([None], usage="many"),
    "usage of texts": _with([None], usage={"prompt_tokens": "many", "completion_tokens": -3}),
}
