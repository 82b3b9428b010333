"""A scorer whose work is done by replicas of a Ray cluster.

    prepare   windows ── object store, once ── their replica encodes them
    score     claim ── their replica; where it is busy or gone, another one

Before: `streaming/judge.py` asks it like any other scorer. After: `serving.py` answers.

A score depends on the claim and its windows only, so whatever was under way in a replica that died is asked
again of another one.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import anyio

from streamverify._extras import require
from streamverify.errors import (
    ModelNotFoundError,
    ScoringError,
    ScoringTimeoutError,
    StreamStateError,
    UsageError,
)
from streamverify.judging.score_cache import digest
from streamverify.loops.portal import Portal
from streamverify.scale.cluster import connect
from streamverify.scale.serving import NAME
from streamverify.scale.wire import Failure, Premises, Question, TokenReader
from streamverify.scorers.protocol import Abort, Claim, ClaimScore, Prepared, Traits, Window
from streamverify.types import Fingerprint, Span

T = TypeVar("T")

_TEXTS = 4096
"""Texts whose tokens are remembered where every reading is a request."""


@dataclass(frozen=True, slots=True)
class _Sent:
    """Windows that stand in the object store as long as somebody holds this."""

    windows: tuple[Window, ...]
    premises: Premises
    from_cache: int


class RayScorer:
    """Scores claims with the replicas of a Ray Serve application. Safe to call from several threads.

    Forked children make one of their own: Ray's connection does not outlive a fork.
    """

    def __init__(
        self,
        name: str = NAME,
        *,
        address: str | None = None,
        concurrency: int = 32,
        timeout: float = 30.0,
        retries: int = 3,
    ) -> None:
        """Connect, and ask what scores there.

        Args:
            name: of the application, as `serve.run` was told.
            address: of the cluster, as `ray.init` takes it; None for the one this process is connected to, or
                else the one that `RAY_ADDRESS` or this machine's files name. None is ever started.
            concurrency: requests of this process under way at once.
            timeout: seconds that one request may take, waiting for a replica included.
            retries: further tries of a request whose replica went away.

        Raises:
            MissingExtraError: the extra `ray` is not installed. Caller.
            UsageError: a number is out of range. Caller.
            ModelNotFoundError: no cluster there, or no such application in it. Operator.
        """
        if timeout <= 0 or retries < 0 or concurrency < 1:
            raise UsageError("timeout must be above 0 seconds, retries at least 0, concurrency at least 1")
        ray = require("ray", extra="ray", feature="RayScorer")
        serve = require("ray.serve", extra="ray", feature="RayScorer")
        self._ray, self._lost = ray, (ray.exceptions.RayActorError, ray.exceptions.ObjectLostError)
        self._called_off = require(
            "ray.serve.exceptions", extra="ray", feature="RayScorer"
        ).RequestCancelledError
        self._timeout, self._retries, self._name = timeout, retries, name
        self._process, self._closed = os.getpid(), False
        self._connected = connect(address)
        self._portal = Portal("streamverify-ray", owner="scorer")
        try:
            self._handle: Any = _handle(serve, name)
            told = self._wait(lambda: self._ask("describe"), Abort())
        except BaseException:
            self.close()
            raise
        self._fingerprint: Fingerprint = told.fingerprint
        self._mark = told.fingerprint.model_dump_json()
        self._traits: Traits = replace(told.traits, concurrency=concurrency)
        self._read: TokenReader | None = told.read()
        self._texts: OrderedDict[str, list[Span]] = OrderedDict()

    @property
    def fingerprint(self) -> Fingerprint:
        """Of the scorer that the replicas run."""
        return self._fingerprint

    @property
    def traits(self) -> Traits:
        """Of the scorer that the replicas run, but for `concurrency`, which is this process's."""
        return self._traits

    def token_spans(self, text: str) -> Sequence[Span]:
        """Read here where the scorer lends its reader, else by a replica.

        Raises:
            ScoringError: a replica had to be asked, and none answered.
        """
        if self._read is not None:
            return self._read(text)
        known = self._texts.get(text)
        if known is None:
            known = self._texts[text] = self._wait(lambda: self._ask("token_spans", text), Abort())
            if len(self._texts) > _TEXTS:
                self._texts.popitem(last=False)
        return known

    def prepare(self, windows: Sequence[Window], *, abort: Abort) -> Prepared:
        """Put the windows into the object store, and have their replica encode them.

        Raises:
            ScoringError: no replica did in time, or `abort` was set.
        """
        self._refuse_closed()
        box = self._ray.put(tuple(windows))
        premises = Premises(digest(windows), (box,), self._mark)
        return self._encoded(_Sent(tuple(windows), premises, 0), abort)

    def renew(self, prepared: Prepared, *, abort: Abort) -> Prepared:
        """As `prepare` of the same windows, which are in the store already.

        Raises:
            ScoringError: no replica did in time, or `abort` was set.
        """
        assert isinstance(prepared, _Sent), "prepared by another scorer"
        return self._encoded(prepared, abort)

    def score(self, prepared: Prepared, claims: Sequence[Claim], *, abort: Abort) -> list[ClaimScore]:
        """Have each claim scored, in order.

        Raises:
            ScoringError: no replica did in time, every one that tried went away, or `abort` was set.
        """
        assert isinstance(prepared, _Sent), "prepared by another scorer"
        question = Question(prepared.premises, tuple(claims))
        found: list[ClaimScore] = self._wait(lambda: self._ask("score", question), abort)
        return found

    def close(self) -> None:
        """Call off what is under way, and disconnect if this scorer connected; the replicas go on."""
        if self._closed:
            return
        self._closed = True
        self._portal.close()
        if self._connected:
            self._ray.shutdown()

    def _encoded(self, sent: _Sent, abort: Abort) -> _Sent:
        from_cache: int = self._wait(lambda: self._ask("prepare", sent.premises), abort)
        return replace(sent, from_cache=from_cache)

    def _wait(self, ask: Callable[[], Awaitable[T]], abort: Abort) -> T:
        """The answer, awaited in the loop of this scorer while the calling thread waits."""
        self._refuse_closed()
        task = self._portal.begin(ask)

        def call_off() -> None:
            task.cancel()

        detach = abort.attach(call_off)
        try:
            return task.result()
        except CancelledError as error:
            raise ScoringError("stopped: the check was called off") from error
        finally:
            detach()
            call_off()

    async def _ask(self, method: str, *asked: object) -> Any:
        lost: Exception | None = None
        for _ in range(self._retries + 1):
            try:
                return await self._asked(method, asked)
            except self._lost as error:
                lost = error
        raise ScoringError(
            f"{self._retries + 1} replicas of {self._name!r} in a row went away: {_short(lost)}"
        ) from lost

    async def _asked(self, method: str, asked: Sequence[object]) -> Any:
        response = getattr(self._handle, method).remote(*asked)
        answered = False
        try:
            with anyio.fail_after(self._timeout):
                told = await response
            answered = True
        except TimeoutError:
            raise ScoringTimeoutError(self._timeout) from None
        except (*self._lost, anyio.get_cancelled_exc_class()):
            raise
        except self._called_off as error:
            raise ScoringError(f"the request was called off: {_short(error)}") from error
        except Exception as error:
            raise ScoringError(f"the replicas of {self._name!r} failed: {_short(error)}") from error
        finally:
            if not answered:
                response.cancel()
        if isinstance(told, Failure):
            raise ScoringError(told.text)
        return told

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StreamStateError("the scorer is closed")
        if self._process != os.getpid():
            raise StreamStateError("this process was forked: make a RayScorer in the child")


def _handle(serve: Any, name: str) -> Any:
    try:
        return serve.get_app_handle(name)
    except Exception as error:  # Ray Serve's own errors share no base with those of a missing controller
        raise ModelNotFoundError(
            name, f"deploy one with serve.run(application(), name={name!r})", what="Ray Serve application"
        ) from error


def _short(error: BaseException | None) -> str:
    """The first line: Ray's errors carry tracebacks."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__
