"""What of a wrapped client may be used where text is held: an allow-list, so that new ways out are shut too.

After: `client.py` puts a refusal in the place of everything else.
"""

from __future__ import annotations

from typing import Any, NoReturn

from streamverify import UsageError

COPIES = frozenset({"copy", "with_options"})
"""Methods of a client that give another one; what they give is wrapped likewise."""

CLIENT = COPIES | {
    "api_key", "auth_headers", "base_url", "chat", "close", "custom_auth", "default_headers",
    "default_query", "is_closed", "max_retries", "platform_headers", "qs", "responses", "timeout",
    "user_agent", "webhooks",
    # These bring no answer of a model to a reader.
    "embeddings", "files", "models", "moderations", "uploads", "vector_stores",
}  # fmt: skip
"""Of a client."""

CHAT = frozenset({"completions"})
"""Of `client.chat`."""

COMPLETIONS = frozenset({"create", "stream", "delete"})
"""Of `client.chat.completions`; `stream` calls `create`."""

RESPONSES = frozenset({"create", "stream", "delete", "cancel", "input_tokens"})
"""Of `client.responses`; `stream` calls `create`, or `retrieve`, which is refused."""


class Refused:
    """Stands where a way out was: calling it, or using anything of it, is refused."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __call__(self, *_: object, **__: object) -> NoReturn:
        """Refuse."""
        self._refuse()

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse, but for what Python itself looks for."""
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise UsageError(
            f"{self._path} of a wrapped client brings text that is not verified, and the policy holds text: "
            "use create() or stream() of chat.completions or responses, or the unwrapped client"
        )


def restrict(thing: Any, allowed: frozenset[str], path: str) -> None:
    """Put a refusal in the place of every public method and resource that the list does not name."""
    for name in dir(type(thing)):
        settable = not isinstance(getattr(type(thing), name, None), property)
        if not name.startswith("_") and name not in allowed and settable:
            vars(thing)[name] = Refused(f"{path}{name}")


def refuse_structured(call: dict[str, Any]) -> None:
    """Refuse a call whose answer is to be JSON.

    Raises:
        UsageError: it is: judged as prose, all of it would be one sentence. Caller.
    """
    text = call.get("text")
    asked = [call.get("response_format"), text.get("format") if isinstance(text, dict) else None]
    asked.append(call.get("text_format"))
    for form in asked:
        kind = form.get("type") if isinstance(form, dict) else form
        if isinstance(kind, str | type) and kind != "text":
            raise UsageError(
                "structured answers cannot be verified while a policy holds text: ask for prose, or use the "
                "unwrapped client and check the fields that are prose with Verifier.check()"
            )
