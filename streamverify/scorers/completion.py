"""What an OpenAI-compatible endpoint answered, read without trust in its shape.

Before: the SDK, which builds its objects from whatever JSON came and checks nothing. After: `llm_judge.py`,
`repair.py`, and the judge of evaluations.
"""

from __future__ import annotations

UNREADABLE = (ValueError, TypeError, AttributeError, RecursionError)
"""What the SDK raises, beside its own errors, of a body that is no JSON, another kind of it, or nested too
deeply."""


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
