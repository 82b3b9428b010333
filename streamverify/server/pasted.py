"""What a person pastes into the demo page: passages, an answer, a question, a policy.

Before: `demo_page.py` read the body. After: the verifier. Every error names the field it is about, so that
the page can show it there.
"""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from streamverify.errors import StreamVerifyError
from streamverify.passages import passages_from
from streamverify.server.errors import HTTPRefusal
from streamverify.server.request import PolicyOptions
from streamverify.types import Passage

MAX_BODY = 2**20
"""Longest body, in bytes."""
MAX_ANSWER = 100_000
"""Longest answer, in characters."""
MAX_PASSAGES = 500

_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")


class Pasted(BaseModel):
    """The body of `POST /demo/check`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    passages: str | list[dict[str, Any] | str]
    """A list as everywhere, or one text: JSON Lines, or one passage a block with a blank line between."""
    answer: Annotated[str, Field(max_length=MAX_ANSWER)]
    question: Annotated[str, Field(max_length=10_000)] | None = None
    policy: PolicyOptions | str = "flag"
    speed: Annotated[float, Field(ge=1, le=10_000)] = 60.0
    """Tokens a second at which the answer is replayed."""

    @property
    def options(self) -> PolicyOptions:
        """The policy asked for."""
        return (
            PolicyOptions.model_validate({"name": self.policy})
            if isinstance(self.policy, str)
            else self.policy
        )


class FieldRefusal(HTTPRefusal):
    """A body with a field that must be changed."""

    def __init__(self, field: str, message: str) -> None:
        """Say which, and what is wrong with it."""
        super().__init__(400, "invalid_request_error", message)
        self.field = field

    @property
    def body(self) -> dict[str, object]:
        """As JSON; `param` names the field, as OpenAI's errors do."""
        return {"error": {"message": self.message, "type": self.kind, "param": self.field, "code": None}}


def read_pasted(data: bytes) -> tuple[Pasted, tuple[Passage, ...]]:
    """The fields of a body, and its passages.

    Raises:
        FieldRefusal: a field is missing or wrong. Client.
        HTTPRefusal: 400, the body is no JSON object. Client.
    """
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        raise HTTPRefusal(400, "invalid_request_error", "the body is not JSON") from None
    if not isinstance(body, dict):
        raise HTTPRefusal(400, "invalid_request_error", "the body must be a JSON object")
    try:
        asked = Pasted.model_validate(body)
    except ValidationError as error:
        first = error.errors()[0]
        raise FieldRefusal(str(first["loc"][0]), first["msg"]) from None
    try:
        _ = asked.options
    except ValidationError:
        raise FieldRefusal("policy", "choose flag, redact, halt or observe") from None
    if not asked.answer.strip():
        raise FieldRefusal("answer", "paste the answer to be checked")
    given = passages_of(asked.passages) if isinstance(asked.passages, str) else asked.passages
    if not given:
        raise FieldRefusal("passages", "paste at least one passage: without any, nothing can be checked")
    if len(given) > MAX_PASSAGES:
        raise FieldRefusal("passages", f"{len(given):,} passages are more than {MAX_PASSAGES}")
    try:
        return asked, passages_from(given)
    except StreamVerifyError as error:
        raise FieldRefusal("passages", str(error)) from None


def passages_of(text: str) -> list[dict[str, Any] | str]:
    """The passages of a text: JSON Lines where its first character is `{`, else blocks.

    Raises:
        FieldRefusal: a line is not a JSON object with `text`; the message names it. Client.
    """
    text = text.replace("\r\n", "\n").strip()
    if not text.startswith("{"):
        return [block.strip() for block in _BLANK_LINES.split(text) if block.strip()]
    return [_object(line, number) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def _object(line: str, number: int) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise FieldRefusal("passages", f"line {number} is not JSON; each line must be one object") from None
    if not isinstance(found, dict) or not isinstance(found.get("text"), str):
        raise FieldRefusal("passages", f'line {number} must be an object with "text"')
    return {"id": f"p{number}", **found}
