"""`@verified`: a function that answers, checked while it answers.

    @verified(passages="docs", policy=Flag())
    async def answer(question: str, docs: list[Passage]):
        yield piece

A generator function keeps being iterated as before; what it returns also offers `.events()` and
`.report`. A function that returned a `str` returns a `CheckedAnswer`. A function that *returns* an
iterator (of a provider's SDK, say) is treated like a generator function.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, Protocol, Self, overload

from streamverify.errors import UsageError
from streamverify.events import Event, TextReleased
from streamverify.loops.portal import PerProcess
from streamverify.passages import passages_from, refuse_read_once
from streamverify.policy import Policy, PolicyLike, policy_from
from streamverify.stream import VerifiedStream
from streamverify.streaming.pipe import SecondReaderError
from streamverify.streaming.retrieval import SINK, Gathered
from streamverify.types import Passage, Report
from streamverify.verifier import Verifier

P = ParamSpec("P")


_SHARED = PerProcess(Verifier)


def shared_verifier() -> Verifier:
    """The process's verifier for functions decorated without one; the model is loaded at its first use."""
    return _SHARED.here


class CheckedAnswer(str):
    """A whole answer after its check: the text that the policy lets a reader see, as a `str`, and its report.

    So it goes wherever the function's own `str` went: into a template, JSON, a response that a framework
    checks against `-> str`.
    """

    __slots__ = ("report",)

    report: Report

    def __new__(cls, text: str, report: Report) -> Self:
        """The text and its report; both stay as they are."""
        made = super().__new__(cls, text)
        object.__setattr__(made, "report", report)
        return made

    @property
    def text(self) -> str:
        """The text, as a plain `str`."""
        return str.__str__(self)

    def __reduce__(self) -> tuple[type[Self], tuple[str, Report]]:
        """What a copy, or one that was pickled, is made of."""
        return type(self), (self.text, self.report)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: an answer stays as it was checked."""
        raise AttributeError(f"a CheckedAnswer is frozen; {name!r} cannot be set")


class VerifiedPieces(AsyncIterator[str]):
    """What a decorated asynchronous generator returns: the pieces a reader may see."""

    def __init__(self, stream: VerifiedStream) -> None:
        self._stream = stream
        self._open = self._closed = False

    async def __anext__(self) -> str:
        """The next piece; ends, or raises the source's error, as the undecorated iterator would."""
        async for event in self.events():
            if isinstance(event, TextReleased) and event.text:
                return event.text
        raise StopAsyncIteration

    def events(self) -> AsyncIterator[Event]:
        """The events from here on, in place of the pieces."""
        return _Events(self._next)

    @property
    def report(self) -> Report:
        """The whole stream, once it has ended."""
        return self._stream.report

    async def aclose(self) -> None:
        """Stop the function and every check; nothing more comes, as from any generator that was closed."""
        self._closed = True
        await self._stream.aclose()

    async def _next(self) -> Event:
        if self._closed:
            raise StopAsyncIteration
        if not self._open:
            self._open = True
            await self._stream.__aenter__()
        try:
            return await anext(self._stream)
        except SecondReaderError:
            raise
        except BaseException:
            await self.aclose()
            raise


class _Events(AsyncIterator[Event]):
    """An iterator over a method; unlike a generator it needs no closing."""

    def __init__(self, step: Callable[[], Coroutine[Any, Any, Event]]) -> None:
        self._step = step

    async def __anext__(self) -> Event:
        return await self._step()


class VerifiedSyncPieces(Iterator[str]):
    """What a decorated synchronous generator returns; the stream runs in the verifier's own loop."""

    def __init__(self, stream: VerifiedStream, verifier: Verifier) -> None:
        self._pieces = VerifiedPieces(stream)
        self._portal = verifier.portal

    def __next__(self) -> str:
        """The next piece."""
        try:
            return self._portal.run(self._pieces.__anext__)
        except StopAsyncIteration:
            raise StopIteration from None

    def events(self) -> Iterator[Event]:
        """The events from here on, in place of the pieces."""
        while True:
            try:
                event = self._portal.run(self._pieces._next)  # noqa: SLF001 - the synchronous half of one class
            except StopAsyncIteration:
                return
            yield event

    @property
    def report(self) -> Report:
        """The whole stream, once it has ended."""
        return self._pieces.report

    def close(self) -> None:
        """As `VerifiedPieces.aclose`."""
        self._portal.finish(self._pieces.aclose)


class Decorator(Protocol):
    """What `verified(...)` returns: keeps the parameters, changes the result."""

    @overload
    def __call__(self, function: Callable[P, AsyncIterator[str]], /) -> Callable[P, VerifiedPieces]: ...
    @overload
    def __call__(self, function: Callable[P, Iterator[str]], /) -> Callable[P, VerifiedSyncPieces]: ...
    @overload
    def __call__(
        self, function: Callable[P, Coroutine[Any, Any, AsyncIterator[str]]], /
    ) -> Callable[P, Coroutine[Any, Any, VerifiedPieces]]: ...
    @overload
    def __call__(
        self, function: Callable[P, Coroutine[Any, Any, str]], /
    ) -> Callable[P, Coroutine[Any, Any, CheckedAnswer]]: ...
    @overload
    def __call__(self, function: Callable[P, str], /) -> Callable[P, CheckedAnswer]: ...


class _Collector:
    """Takes what `retrieved` tells before there is a stream to tell it to."""

    def __init__(self) -> None:
        self._gathered, self._told = Gathered(), False

    def add_passages(self, passages: Sequence[Passage]) -> None:
        self._told = True
        self._gathered.add(passages)

    @property
    def passages(self) -> tuple[Passage, ...] | None:
        """None: nothing was told."""
        return self._gathered.since(0) if self._told else None


def verified(
    function: None = None,
    /,
    *,
    passages: str | None = None,
    question: str | None = None,
    policy: PolicyLike | None = None,
    verifier: Verifier | None = None,
) -> Decorator:
    """A decorator that checks what a function answers.

    Args:
        function: nothing: it is always `@verified(...)`, with its parentheses.
        passages: name of the function's parameter that carries the passages; without it the function
            tells them through `retrieved(...)`.
        question: name of the parameter that carries the question, if any.
        policy: in place of the verifier's; itself or its word.
        verifier: one for the whole process by default; give your own to choose the scorer, or when it
            is closed.

    Raises:
        UsageError: when decorating: the function has no parameter of that name, or there is no such
            policy; when called: it returned something that is not text. Caller.
    """
    if function is not None:
        raise UsageError("write @verified() with its parentheses")
    chosen = policy_from(policy) if policy is not None else None

    def decorate(function: Callable[..., Any], /) -> Callable[..., Any]:
        if isinstance(function, classmethod | staticmethod):
            word = type(function).__name__
            raise UsageError(f"put @verified(...) below @{word}, next to the function it checks")
        signature = inspect.signature(function)
        for name in (passages, question):
            if name is not None and name not in signature.parameters:
                known = ", ".join(signature.parameters) or "none"
                raise UsageError(
                    f"{function.__qualname__} has no parameter {name!r}; its parameters are: {known}"
                )
        call = _Call(signature, passages, question, chosen, verifier)

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def run_async(*args: Any, **kwargs: Any) -> object:
                call.refuse_read_once(args, kwargs)
                collector = _Collector()
                token = SINK.set(collector)
                try:
                    result = await function(*args, **kwargs)
                finally:
                    SINK.reset(token)
                return await call.checked(result, collector, args, kwargs)

            return run_async

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> object:
            call.refuse_read_once(args, kwargs)
            collector = _Collector()
            token = SINK.set(collector)
            try:
                result = function(*args, **kwargs)
            finally:
                SINK.reset(token)
            return call.wrapped(result, collector, args, kwargs)

        return run

    return decorate


@dataclass(frozen=True, slots=True)
class _Call:
    """What the decorator knows about a function, applied to one result of it."""

    signature: inspect.Signature
    passages: str | None
    question: str | None
    policy: Policy | None
    verifier: Verifier | None

    def refuse_read_once(self, args: Any, kwargs: Any) -> None:
        """Refuse passages that the function would read and leave nothing of, before it is called."""
        if self.passages is None:
            return
        with contextlib.suppress(TypeError):  # arguments that do not fit: the function says so itself
            refuse_read_once(self.signature.bind(*args, **kwargs).arguments.get(self.passages))

    def wrapped(self, result: object, collector: _Collector, args: Any, kwargs: Any) -> object:
        verifier = self._verifier()
        if isinstance(result, str):
            known, question = self._given(collector, args, kwargs)
            report = verifier.check_sync(result, known or (), policy=self.policy, question=question)
            return CheckedAnswer(report.released, report)
        if inspect.isawaitable(result):

            async def later() -> object:
                # What it awaits may tell passages, and runs when the call that made it is over.
                token = SINK.set(collector)
                try:
                    awaited = await result
                finally:
                    SINK.reset(token)
                return await self.checked(awaited, collector, args, kwargs)

            return later()
        return self._pieces(result, collector, args, kwargs)

    async def checked(self, result: object, collector: _Collector, args: Any, kwargs: Any) -> object:
        if isinstance(result, str):
            known, question = self._given(collector, args, kwargs)
            report = await self._verifier().check(result, known or (), policy=self.policy, question=question)
            return CheckedAnswer(report.released, report)
        return self._pieces(result, collector, args, kwargs)

    def _pieces(
        self, result: object, collector: _Collector, args: Any, kwargs: Any
    ) -> VerifiedPieces | VerifiedSyncPieces:
        if isinstance(result, Iterable | AsyncIterable) and not isinstance(result, bytes | bytearray | dict):
            known, question = self._given(collector, args, kwargs)
            verifier = self._verifier()
            stream = verifier.stream(result, known, policy=self.policy, question=question)
            if isinstance(result, AsyncIterable):
                return VerifiedPieces(stream)
            return VerifiedSyncPieces(stream, verifier)
        raise UsageError(
            "a function decorated with @verified must return str or an iterator of str, "
            f"not {type(result).__name__}"
        )

    def _given(
        self, collector: _Collector, args: Any, kwargs: Any
    ) -> tuple[Sequence[object] | None, str | None]:
        """The passages known so far (None: none were told yet) and the question."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        known: Sequence[object] | None = collector.passages
        if self.passages is not None:
            given = bound.arguments[self.passages]
            known = [*passages_from(given if given is not None else ()), *(collector.passages or ())]
        question = bound.arguments[self.question] if self.question is not None else None
        return known, question if isinstance(question, str) else None

    def _verifier(self) -> Verifier:
        return self.verifier if self.verifier is not None else shared_verifier()
