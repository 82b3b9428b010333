"""What an OpenAI-compatible endpoint answered, read without trust in its shape; and the key it is sent.

Before: the SDK, which builds its objects from whatever JSON came and checks nothing. After: `llm_judge.py`,
`repair.py`, and the judge of evaluations.
"""

from __future__ import annotations

import os

from streamverify.errors import UsageError

UNREADABLE = (ValueError, TypeError, AttributeError, RecursionError)
"""What the SDK raises, beside its own errors, of a body that is no JSON, another kind of it, or nested too
deeply."""


def key_for(base_url: str | None, api_key: str | None, *, feature: str) -> str | None:
    """The key to give the SDK: the caller's, else the environment's, else a word in place of one.

    The SDK insists on a key, and servers of one's own have none.

    Args:
        base_url: the endpoint; None where the environment says, or for the SDK's own.
        api_key: the caller's.
        feature: what asks, as it should stand at the start of the message.

    Raises:
        UsageError: the SDK's own endpoint is meant, and there is no key for it. Caller.
    """
    if api_key is not None:
        return api_key
    if found := os.environ.get("OPENAI_API_KEY"):
        return found
    if base_url is not None or os.environ.get("OPENAI_BASE_URL"):
        return "none"
    if os.environ.get("OPENAI_ADMIN_KEY"):  # newer SDKs take that from the environment themselves
        return None
    raise UsageError(
        f"{feature} has no key: set OPENAI_API_KEY, or give api_key, or the base_url of a server without keys"
    )


def text_of(completion: object) -> str | None:
    """The text of the first choice of a chat completion; None where it holds none."""
    choices = getattr(completion, "choices", None)
    if not isinstance(choices, list) or not choices:
        return None
    content = getattr(getattr(choices[0], "message", None), "content", None)
    return content if isinstance(content, str) else None


def tokens_of(completion: object) -> tuple[int, int] | None:
    """Tokens of the prompt and of the answer, as the endpoint counted them; None where it did not."""
    used = getattr(completion, "usage", None)
    if used is None:
        return None
    counts = (getattr(used, name, None) or 0 for name in ("prompt_tokens", "completion_tokens"))
    prompt, answer = (count if isinstance(count, int) and count > 0 else 0 for count in counts)
    return prompt, answer
