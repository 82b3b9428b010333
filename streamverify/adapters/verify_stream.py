"""What every provider's adapter offers its users: `verify_stream`, and how its result is found again.

Before: an adapter has a `Translator`. After: `chunks.py` verifies the stream.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast, overload

from streamverify.adapters.chunks import OnEvent, VerifiedChunks, VerifiedSyncChunks
from streamverify.adapters.translator import ChannelKey, Translator
from streamverify.errors import UsageError
from streamverify.events import Event
from streamverify.policy import PolicyLike
from streamverify.types import Report
from streamverify.verifier import Verifier

T = TypeVar("T")

_ATTRIBUTE = "streamverify"


class VerifyStream(Protocol):
    """A provider's stream in, the same chunks out, verified: asynchronous or synchronous as it came."""

    @overload
    def __call__(
        self,
        stream: AsyncIterable[T],
        passages: Iterable[object],
        *,
        verifier: Verifier | None = None,
        policy: PolicyLike | None = None,
        question: str | None = None,
        on_event: OnEvent | None = None,
    ) -> VerifiedChunks[T]: ...
    @overload
    def __call__(
        self,
        stream: Iterable[T],
        passages: Iterable[object],
        *,
        verifier: Verifier | None = None,
        policy: PolicyLike | None = None,
        question: str | None = None,
        on_event: OnEvent | None = None,
    ) -> VerifiedSyncChunks[T]: ...


def stream_verifier(translator: Callable[[], Translator[Any]]) -> VerifyStream:
    """The function `verify_stream` of a provider.

    Args:
        translator: makes the translator of each stream.
    """

    def verify_stream(
        stream: AsyncIterable[Any] | Iterable[Any],
        passages: Iterable[object],
        *,
        verifier: Verifier | None = None,
        policy: PolicyLike | None = None,
        question: str | None = None,
        on_event: OnEvent | None = None,
    ) -> VerifiedChunks[Any] | VerifiedSyncChunks[Any]:
        """The stream's chunks, verified: of the same classes, in the same order.

        Under a policy that lets text flow they are the very chunks, at once. Under one that holds text a
        sentence passes when it was judged, and no chunk carries what was not released.

        Args:
            stream: the provider's, asynchronous or not. It is closed on every way out.
            passages: as for `Verifier.stream`.
            verifier: one for the whole process by default.
            policy: in place of the verifier's.
            question: what was asked.
            on_event: told every event of the verification as it happens, with the key of its text.

        Raises:
            PassageError: a passage cannot be read. Caller.
        """
        kind: Any = VerifiedChunks if isinstance(stream, AsyncIterable) else VerifiedSyncChunks
        verified: VerifiedChunks[Any] | VerifiedSyncChunks[Any] = kind(
            stream,
            translator(),
            passages,
            verifier=verifier,
            policy=policy,
            question=question,
            on_event=on_event,
        )
        return verified

    return cast("VerifyStream", verify_stream)


class Verified(Protocol):
    """What was found about a stream or a whole answer."""

    @property
    def events(self) -> Sequence[tuple[ChannelKey, Event]]:
        """Every event so far, with the key of its text; they hold the answer as generated."""
        ...

    @property
    def reports(self) -> Mapping[ChannelKey, Report]:
        """The report of each text that has ended."""
        ...


@dataclass(frozen=True, slots=True)
class VerifiedTexts:
    """The texts of an answer that was not streamed, after their checks."""

    events: Sequence[tuple[ChannelKey, Event]]
    reports: Mapping[ChannelKey, Report]


def attach(answer: object, found: Verified) -> None:
    """Let `verification` find what was found about a stream, or an answer, of the provider's own class."""
    # Past the class's own way to set attributes: a model of pydantic would dump what it takes for a field.
    object.__setattr__(answer, _ATTRIBUTE, found)


def verification(answer: object) -> Verified:
    """Events and reports of a stream, or of a whole answer, that was verified, whatever class it has.

    Raises:
        UsageError: it was not. Caller.
    """
    found = getattr(answer, _ATTRIBUTE, answer)
    if not isinstance(found, VerifiedChunks | VerifiedSyncChunks | VerifiedTexts):
        raise UsageError(
            f"this {type(answer).__name__} is not verified: it comes neither from verify_stream "
            "nor from what a wrapped client or helper returned"
        )
    return found
