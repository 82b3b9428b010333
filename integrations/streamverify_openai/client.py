"""`wrap_client`: every chat completion and response of a client, verified."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping
from typing import Any, TypeVar, cast

from streamverify import Event, Policy, Report, TextReleased, UsageError, Verifier, passages_from
from streamverify.adapters import (
    ChannelKey,
    OnEvent,
    PolicyLike,
    Shown,
    VerifiedTexts,
    attach,
    policy_from,
    shared_verifier,
)
from streamverify_openai.allowed import (
    CHAT,
    CLIENT,
    COMPLETIONS,
    COPIES,
    RESPONSES,
    refuse_structured,
    restrict,
)
from streamverify_openai.streams import verify_stream
from streamverify_openai.whole import UnreadableError, keep_only, whole_texts

C = TypeVar("C")
Passages = Iterable[object] | Callable[[Mapping[str, Any]], Any]


def wrap_client(
    client: C,
    *,
    passages: Passages,
    verifier: Verifier | None = None,
    policy: PolicyLike | None = None,
    on_event: OnEvent | None = None,
) -> C:
    """A copy of the client whose `chat.completions.create` and `responses.create` are verified.

    So are the `stream()` helpers that call them, and every copy made by `copy` or `with_options`. Streams
    keep their class; answers that are not streamed are checked whole before they are returned;
    `verification(stream_or_answer)` gives events and reports. Under a policy that holds text whatever else
    could bring an answer (`parse()`, raw responses, stored completions, other endpoints) is refused; under
    one that lets text flow it passes unverified, and `verification` says so. The client given stays as it
    was.

    Args:
        client: `OpenAI`, `AsyncOpenAI`, a subclass, or what looks like one.
        passages: for every call; or a function of the call's keyword arguments (awaited where it is
            asynchronous, for an asynchronous client) that gives the passages for this one.
        verifier: one for the whole process by default.
        policy: in place of the verifier's.
        on_event: told every event as it happens, with the key of its channel.

    Raises:
        PassageError: the passages are an iterator, and one of them cannot be read. Caller.
        UsageError: the client has neither of the two methods. Caller.
    """
    used = verifier if verifier is not None else shared_verifier()
    chosen = policy_from(policy) if policy is not None else used.policy
    # For every call, so an iterator is read now: the second call would find none.
    kept = passages_from(passages) if isinstance(passages, Iterator) else passages
    wrapping = _Wrapping(kept, used, chosen, on_event)
    return cast("C", wrapping.client(client))


class _Wrapping:
    """What every wrapped client and method does around the original."""

    def __init__(
        self, passages: Passages, verifier: Verifier, policy: Policy, on_event: OnEvent | None
    ) -> None:
        self._passages, self._verifier, self._policy, self._on_event = passages, verifier, policy, on_event

    def client(self, client: Any) -> Any:
        """The client around a second copy, which makes the requests and which nobody else holds."""
        duplicate = getattr(client, "copy", None)
        inner = duplicate() if duplicate is not None else client
        wrapped = duplicate() if duplicate is not None else copy.copy(client)
        found, responses = getattr(inner, "chat", None), getattr(inner, "responses", None)
        completions = self._resource(getattr(found, "completions", None), COMPLETIONS, "chat.completions.")
        responses = self._resource(responses, RESPONSES, "responses.")
        if completions is None and responses is None:
            raise UsageError(
                f"{type(client).__name__} has neither chat.completions.create nor responses.create"
            )
        if self._policy.holds_text:
            restrict(wrapped, CLIENT, "")
        if completions is not None:
            chat: Any = copy.copy(inner.chat)
            if self._policy.holds_text:
                restrict(chat, CHAT, "chat.")
            chat.completions = completions
            wrapped.chat = chat
        if responses is not None:
            wrapped.responses = responses
        for name in COPIES:
            if (original := getattr(wrapped, name, None)) is not None:
                setattr(wrapped, name, self._copies(original))
        return wrapped

    def _resource(self, resource: Any, allowed: frozenset[str], path: str) -> Any:
        if not hasattr(resource, "create"):
            return None
        resource = copy.copy(resource)
        if self._policy.holds_text:
            restrict(resource, allowed, path)
        resource.create = self._around(resource.create)
        return resource

    def _copies(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def another(*args: Any, **kwargs: Any) -> Any:
            return self.client(original(*args, **kwargs))

        return another

    def _around(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def create(*args: Any, **kwargs: Any) -> Any:
            if self._policy.holds_text:
                refuse_structured(kwargs)
            given = self._passages(kwargs) if callable(self._passages) else self._passages
            # Read before the request is made: a passage that cannot be read must not leave a stream open.
            known: Any = given if inspect.isawaitable(given) else passages_from(given)
            result = original(*args, **kwargs)
            if inspect.iscoroutine(result):
                return self._later(result, known)
            if _streams(result):
                return self._streamed(result, known)
            return self._verifier.portal.run(lambda: self._whole(result, known))

        return create

    async def _later(self, request: Coroutine[Any, Any, Any], known: Any) -> Any:
        try:
            passages = passages_from(await known) if inspect.isawaitable(known) else known
        except BaseException:
            request.close()
            raise
        result = await request
        return self._streamed(result, passages) if _streams(result) else await self._whole(result, passages)

    async def _whole(self, result: Any, passages: Iterable[object]) -> Any:
        try:
            texts = whole_texts(result)
        except UnreadableError as error:
            if self._policy.holds_text:
                raise UsageError(f"{error}; use the unwrapped client for it") from None
            return result
        events: list[tuple[ChannelKey, Event]] = []
        reports: dict[ChannelKey, Report] = {}
        for key, text in texts:
            releases: list[TextReleased] = []
            async with self._verifier.stream(text.value, passages, policy=self._policy) as stream:
                async for event in stream:
                    events.append((key, event))
                    if isinstance(event, TextReleased):
                        releases.append(event)
                    if self._on_event is not None:
                        self._on_event(key, event)
            text.replace(Shown(releases))
            reports[key] = stream.report
        if self._policy.holds_text:
            keep_only(result)
        attach(result, VerifiedTexts(tuple(events), reports))
        return result

    def _streamed(self, stream: Any, passages: Iterable[object]) -> Any:
        raw = getattr(stream, "_iterator", None)
        source = stream if raw is None else _raw(stream, raw)
        chunks: Any = verify_stream(
            source, passages, verifier=self._verifier, policy=self._policy, on_event=self._on_event
        )
        if raw is None:  # this version keeps its chunks elsewhere: the proxy does the same without the class
            return chunks
        stream._iterator = chunks  # noqa: SLF001 - keeps the stream's class; above is the way without
        stream.close = chunks.close
        attach(stream, chunks)
        return stream


def _streams(result: object) -> bool:
    return isinstance(result, AsyncIterable | Iterator)


class _Raw:
    """The provider's chunks as they come, with the stream's own way to close."""

    def __init__(self, stream: Any, raw: Iterator[Any]) -> None:
        self._chunks, self.close, self.response = raw, stream.close, getattr(stream, "response", None)

    def __iter__(self) -> Iterator[Any]:
        return self._chunks


class _AsyncRaw:
    """Likewise, for an asynchronous client."""

    def __init__(self, stream: Any, raw: AsyncIterator[Any]) -> None:
        self._chunks, self.close, self.response = raw, stream.close, getattr(stream, "response", None)

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._chunks


def _raw(stream: Any, raw: Any) -> _Raw | _AsyncRaw:
    return _AsyncRaw(stream, raw) if isinstance(raw, AsyncIterator) else _Raw(stream, raw)
