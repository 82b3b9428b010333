"""Scorers as a Ray Serve application that any number of processes ask through `RayScorer`.

Before: somebody deploys it, with `serve.run(application())` or Ray's own `serve run`. After: `wire.py` says
what goes back.

A replica is a process with one scorer. On a CPU a run holds one window or one claim, as in every process;
threads of the replica run as many at once as the scorer says. A request that is called off ends what runs for
it.
"""

from __future__ import annotations

import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from streamverify._extras import require
from streamverify.calibration import Calibration
from streamverify.errors import StreamVerifyError, UsageError
from streamverify.scale.wire import Description, Failure, Premises, Question
from streamverify.scorers.named import ScorerLike, Share, scorer_from
from streamverify.scorers.protocol import Abort, ClaimScore, Deferring, Lending, Prepared, Renewing, Scorer
from streamverify.streaming.workers import Workers
from streamverify.types import Span

if TYPE_CHECKING:
    from ray.serve import Application

NAME = "streamverify"
"""Of the application, and of its one deployment."""

CHARACTERS = 8_000_000
"""Characters of windows whose tokens a replica remembers; keys and values have a bound of their own."""


class Replica:
    """One scorer in a process of its own, as Ray Serve runs it; every method may run many times at once."""

    def __init__(
        self, make: Callable[[], Scorer], calibration: Calibration | None = None, characters: int = CHARACTERS
    ) -> None:
        """Load the scorer.

        Args:
            make: gives it; the replica closes it.
            calibration: what it names replaces the scorer's own.
            characters: of windows that are remembered.

        Raises:
            ModelError: it cannot be loaded. Operator.
        """
        self._scorer, self._limit = make(), characters
        traits = self._scorer.traits
        mark = self._scorer.fingerprint
        if calibration is not None:
            used = calibration.over(traits.calibration).promising(f"{mark.model} {mark.revision}".strip())
            traits = replace(traits, calibration=used)
        self._traits, self._fingerprint = traits, mark.model_dump_json()
        self._workers = Workers(traits.concurrency, "streamverify-replica")
        self._preparers = Workers(traits.concurrency, "streamverify-replica-prepare")
        self._lock = threading.Lock()
        self._known: OrderedDict[bytes, tuple[Prepared, int]] = OrderedDict()
        self._characters = 0

    async def describe(self) -> Description:
        """What the asker must know before it asks."""
        scorer = self._scorer
        reader = pickle.dumps(scorer.reader) if isinstance(scorer, Lending) else None
        return Description(scorer.fingerprint, self._traits, reader)

    async def token_spans(self, text: str) -> list[Span]:
        """Where the tokens stand, for askers to whom the scorer lends no reader."""
        return list(self._scorer.token_spans(text))

    async def prepare(self, premises: Premises) -> int | Failure:
        """Encode windows ahead; how many needed no work."""
        abort = Abort()
        try:
            known = self._held(premises.key)
            if known is None:
                return (await self._read(premises, abort)).from_cache
            if not isinstance(self._scorer, Renewing):
                return len(known.windows)
            renewing = self._scorer
            return (await self._preparers.run(lambda: renewing.renew(known, abort=abort), abort)).from_cache
        except StreamVerifyError as error:
            return Failure(str(error))

    async def score(self, question: Question) -> list[ClaimScore] | Failure:
        """Scores of claims, in order."""
        abort = Abort()
        try:
            ready = self._held(question.key)
            if ready is None:
                # Its windows' own replica is busy or gone: of many windows a claim needs a few.
                ready = await self._read(question.premises, abort, ahead=False)
            prepared = ready
            return await self._workers.run(
                lambda: self._scorer.score(prepared, question.claims, abort=abort), abort
            )
        except StreamVerifyError as error:
            return Failure(str(error))

    def check_health(self) -> None:
        """Nothing can be wrong with a process that answers."""

    def __del__(self) -> None:
        """Ray Serve's word for the end: stop what runs and free the model."""
        if hasattr(self, "_preparers"):  # else it never came to be
            self._workers.close()
            self._preparers.close()
            self._scorer.close()

    def _held(self, key: bytes) -> Prepared | None:
        with self._lock:
            held = self._known.get(key)
            if held is None:
                return None
            self._known.move_to_end(key)
            return held[0]

    async def _read(self, premises: Premises, abort: Abort, *, ahead: bool = True) -> Prepared:
        """Prepare windows that are new here."""
        if premises.fingerprint != self._fingerprint:
            raise UsageError(
                "the replicas run another scorer by now; make a new RayScorer: one judges all of an answer"
            )
        windows = await premises.box[0]
        scorer = self._scorer
        read = scorer.read if isinstance(scorer, Deferring) and not ahead else scorer.prepare
        prepared = await self._preparers.run(lambda: read(windows, abort=abort), abort)
        size = sum(len(window.text) + len(window.title) for window in windows)
        with self._lock:
            if premises.key not in self._known:
                self._known[premises.key] = prepared, size
                self._characters += size
            while self._characters > self._limit and len(self._known) > 1:
                _, (_, freed) = self._known.popitem(last=False)
                self._characters -= freed
        return prepared


def application(
    scorer: ScorerLike = "default",
    *,
    replicas: int | None = 1,
    autoscaling: dict[str, Any] | None = None,
    calibration: Calibration | None = None,
    cpus: float = 1.0,
    gpus: float = 0.0,
    ongoing: int | None = None,
    **actor_options: Any,
) -> Application:
    """A Ray Serve application of replicas, to be given to `serve.run(..., route_prefix=None)`.

    Args:
        scorer: a name, a function that makes a scorer, or a scoring function; it is made once a replica, so a
            scorer that was made already is refused.
        replicas: processes; None with `autoscaling`.
        autoscaling: Ray Serve's `autoscaling_config`, in place of a number.
        calibration: what it names replaces the scorer's own.
        cpus: cores that Ray counts for a replica. A named model takes as many threads; a scorer that is made
            by a function must be told itself.
        gpus: likewise; the scorer must ask for the provider itself.
        ongoing: requests that a replica has at once before others are asked about its windows; four a core,
            and 8 at least, if None.
        actor_options: more of Ray's `ray_actor_options`, such as `runtime_env`.

    Raises:
        MissingExtraError: the extra `ray` is not installed. Caller.
        UsageError: a number is out of range, or the scorer was made already. Caller.
    """
    if (replicas is None) == (autoscaling is None):
        raise UsageError("give a number of replicas, or autoscaling and replicas=None")
    if (
        (ongoing is not None and ongoing < 1)
        or cpus < 0
        or gpus < 0
        or (replicas is not None and replicas < 1)
    ):
        raise UsageError("replicas and ongoing must be at least 1, cpus and gpus at least 0")
    make, owned = scorer_from(scorer, share=Share(threads=max(1, int(cpus))))
    if not owned:
        raise UsageError(
            "a scorer that was made already stays in its process: give a function that makes one, or a name"
        )
    serve = require("ray.serve", extra="ray", feature="serving scorers with Ray")
    config = require("ray.serve.config", extra="ray", feature="serving scorers with Ray")
    size = {"autoscaling_config": autoscaling} if replicas is None else {"num_replicas": replicas}
    deployment = serve.deployment(
        Replica,
        name=NAME,
        max_ongoing_requests=ongoing or max(8, int(4 * cpus)),
        ray_actor_options={"num_cpus": cpus, "num_gpus": gpus, **actor_options},
        request_router_config=config.RequestRouterConfig(
            request_router_class="streamverify.scale.routing.PremiseRouter"
        ),
        graceful_shutdown_timeout_s=5,
        **size,
    )
    bound: Application = deployment.bind(make, calibration)
    return bound
