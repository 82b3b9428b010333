"""Who asks, and on whose behalf: what observers are told of a stream beside what it says.

Before: the caller, by `stream(context=…)` or `stream_context` around an adapter. After: `observe.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from pydantic import Field, ValidationError

from streamverify.errors import UsageError
from streamverify.value import Value


class StreamContext(Value):
    """Who asked and on whose behalf: given to observers as it is, and to nobody else."""

    user: str | None = None
    """Who asked."""
    roles: frozenset[str] = frozenset()
    """What the user may act as, e.g. `hr`."""
    tenant: str | None = None
    """The customer or department whose data this is."""
    domain: str | None = None
    """What kind of answer is expected, e.g. `company_expert`."""
    conversation: str | None = None
    """Id of the conversation the answer belongs to."""
    run: str | None = None
    """Name of the experiment or release the answer belongs to."""
    tags: Mapping[str, str] = Field(default_factory=dict)
    """Whatever else should be found again."""
    scores: Mapping[str, float] = Field(default_factory=dict)
    """Passage id to the retriever's score; finite, on the retriever's own scale."""


ContextLike = StreamContext | Mapping[str, object]
"""A context, or a mapping with its fields."""


_AROUND: ContextVar[StreamContext | None] = ContextVar("streamverify_context", default=None)


@contextmanager
def stream_context(context: ContextLike) -> Iterator[StreamContext]:
    """Give every stream that is made inside, and names no context, this one: adapters have no place for it.

    Args:
        context: a `StreamContext`, or a mapping with its fields; in place of one further out.

    Raises:
        UsageError: a field is unknown or has no value of its kind. Caller.
    """
    found = context_from(context)
    before = _AROUND.set(found)
    try:
        yield found
    finally:
        _AROUND.reset(before)


def context_from(given: ContextLike | None) -> StreamContext:
    """The context that was given; for None that of the `stream_context` around, or an empty one.

    Raises:
        UsageError: a field is unknown or has no value of its kind. Caller.
    """
    if isinstance(given, StreamContext):
        return given
    if given is None:
        return _AROUND.get() or StreamContext()
    try:
        return StreamContext.model_validate(dict(given))
    except (ValidationError, TypeError, ValueError) as error:
        if not isinstance(error, ValidationError):
            raise UsageError(f"context must be a mapping, not {type(given).__name__}") from None
        first = error.errors()[0]
        known = ", ".join(StreamContext.model_fields)
        where = ".".join(map(str, first["loc"]))
        raise UsageError(
            f"context: {where}: {first['msg']}; it has {known}; the rest goes into tags"
        ) from None
