"""An evaluation whose cases are checked by many machines, with Ray Data.

    dataset ──► object store ──► workers: check ► measure ──► journal, a line a case ──► Run

Before: `evaluate/runner.py` settles what is measured with what. After: its journal and its `Run`. The run is
that of one process to the last byte; the journal differs in what was spent and in the order of its lines.
"""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio

from streamverify._extras import require
from streamverify.errors import ModelError, ScoringError, UsageError
from streamverify.evaluate.case import Case
from streamverify.evaluate.dataset import Dataset
from streamverify.evaluate.examiner import Examiner, checking
from streamverify.evaluate.journal import record_of
from streamverify.evaluate.protocol import Embedder, Judge, Metric, Tools
from streamverify.evaluate.records import CaseRecord
from streamverify.evaluate.run import Run
from streamverify.evaluate.runner import Begun, Progress, begin
from streamverify.policy import PolicyLike
from streamverify.scale.cluster import attached, local_ray
from streamverify.verifier import Verifier

if TYPE_CHECKING:
    from streamverify.evaluate.pack import Pack

_BLOCK = 256
"""Cases of a block, which goes to one worker as a whole and is done again as a whole if that one dies."""
_AT_ONCE = 8
"""Cases that a worker checks at once, as threads of one model."""
_FEATURE = "an evaluation with Ray"


class _Worker:
    """A process of the cluster with a verifier of its own."""

    def __init__(self, make: Callable[[], Verifier], begun: bytes) -> None:
        import ray.cloudpickle  # noqa: PLC0415 - the extra

        self._verifier = make().open()
        told: tuple[Any, ...] = ray.cloudpickle.loads(begun)
        policy, metrics, pack, embedder, wanted = told
        if self._verifier.fingerprint != wanted:
            raise UsageError("a worker's scorer is another one than that of the process that asks")
        self._examiner = Examiner(
            self._verifier, policy, wanted, metrics, pack, Tools(embedder, None, checking(self._verifier))
        )

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[bytes]]:
        """Records of cases, as JSON; what must end the run as `!` and its message."""
        cases: list[tuple[int, Case]] = [pickle.loads(one) for one in batch["case"]]  # noqa: S301 - our own
        return {"record": self._verifier.portal.run(lambda: self._examined(cases))}

    async def _examined(self, cases: list[tuple[int, Case]]) -> list[bytes]:
        found = [b""] * len(cases)

        async def examine(place: int, number: int, case: Case) -> None:
            try:
                examined = await self._examiner.examine(number, case)
            except ModelError as error:
                found[place] = b"!" + str(error).encode()
                return
            found[place] = (
                record_of(
                    examined.result,
                    examined.report,
                    question=case.question,
                    recorded=examined.recorded,
                    check_ms=examined.check_ms,
                )
                .model_dump_json(exclude_defaults=True)
                .encode()
            )

        async with anyio.create_task_group() as group:
            for place, (number, case) in enumerate(cases):
                group.start_soon(examine, place, number, case)
        return found


def evaluate_on_ray(
    cases: Dataset | Iterable[Case],
    *,
    verifier: Callable[[], Verifier] = Verifier,
    metrics: Iterable[str | Metric] | None = None,
    pack: Pack | str | None = None,
    policy: PolicyLike | None = None,
    embedder: Embedder | None = None,
    judge: Judge | None = None,
    out: Path | str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Run:
    """As `evaluate`, by the workers of the cluster that this process is connected to.

    Args:
        cases: of `read_dataset`, or made in code.
        verifier: makes one, here and in each worker; it and what it needs must be installed there.
        metrics: as of `evaluate`; those made in code are sent along.
        pack: likewise.
        policy: likewise.
        embedder: likewise.
        judge: must be None: a judge's connections and its cache belong to one process.
        out: journal, on the machine of this process; what it holds is not done again.
        workers: processes, a core each; as many as the cluster has cores if None.
        progress: told after each case.

    Raises:
        MissingExtraError: the extra `ray` is not installed. Caller.
        UsageError: as `evaluate`; no connection to a cluster, a judge, or what cannot be sent. Caller.
        ModelError: the model cannot be loaded. Operator.
        ScoringError: the cluster failed; the journal can be gone on with. Operator.
    """
    ray = require("ray", extra="ray", feature=_FEATURE)
    require("ray.data", extra="ray", feature=_FEATURE)
    if judge is not None:
        raise UsageError("a judge's connections and cache belong to one process: leave out the judge, or Ray")
    if workers is not None and workers < 1:
        raise UsageError(f"workers must be 1 or more, not {workers}")
    if not ray.is_initialized():
        raise UsageError("connect to a Ray cluster first: ray.init(address=…), or `with local_ray():`")
    with verifier() as own:
        begun = begin(
            cases,
            metrics=metrics,
            pack=pack,
            fingerprint=lambda: own.fingerprint,
            policy=policy,
            usual_policy=own.policy,
            embedder=embedder,
            judge=None,
            out=out,
        )
    count = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
    try:
        _run(ray, begun, _Work(verifier, embedder, count), progress)
        return Run(begun.header, begun.journal.finish())
    except BaseException:
        begun.journal.close()
        raise


class _Work(NamedTuple):
    verifier: Callable[[], Verifier]
    embedder: Embedder | None
    workers: int


def _run(ray: Any, begun: Begun, work: _Work, progress: Progress | None) -> None:
    done = {number for number, result in begun.journal.results.items() if not result.error}
    blocks = list(_blocks(ray, ((n, one) for n, one in enumerate(begun.dataset) if n not in done)))
    if not blocks:
        return
    told = _sendable(ray, (begun.policy, begun.metrics, begun.pack, work.embedder, begun.header.fingerprint))
    _sendable(ray, work.verifier)
    with _quiet(ray):
        records = ray.data.from_arrow_refs(blocks).map_batches(
            _Worker,
            fn_constructor_args=(work.verifier, told),
            batch_size=_AT_ONCE,
            batch_format="numpy",
            num_cpus=1,
            compute=ray.data.ActorPoolStrategy(size=work.workers),
        )
        try:
            for row in records.iter_rows():
                if row["record"].startswith(b"!"):
                    raise ModelError(row["record"][1:].decode())
                record = CaseRecord.model_validate_json(row["record"])
                begun.journal.put(record)
                done.add(record.number)
                if progress is not None:
                    progress(len(done), len(begun.dataset))
        except ray.exceptions.RayError as error:
            cause = getattr(error, "cause", None) or error.__cause__ or error
            last = str(cause).strip().splitlines()[-1:] or [type(cause).__name__]
            raise ScoringError(f"the cluster failed: {last[0][:300]}") from error


def _blocks(ray: Any, cases: Iterator[tuple[int, Case]]) -> Iterator[Any]:
    """References to tables of cases; only one of them is in this process's memory at a time."""
    arrow = require("pyarrow", extra="ray", feature=_FEATURE)
    while some := [ray.cloudpickle.dumps(entry) for entry in islice(cases, _BLOCK)]:
        yield ray.put(arrow.table({"case": arrow.array(some, arrow.large_binary())}))


def _sendable(ray: Any, value: object) -> bytes:
    try:
        data: bytes = ray.cloudpickle.dumps(value)
    except Exception as error:  # whatever an object of somebody's own raises
        raise UsageError(
            f"a metric, pack, policy, embedder or verifier cannot be sent to workers: {error}"
        ) from error
    return data


@contextmanager
def _quiet(ray: Any) -> Iterator[None]:
    """Ray Data draws no bars and tells no plans: `progress` tells how far it is."""
    context, log = ray.data.DataContext.get_current(), logging.getLogger("ray.data")
    bars, level = context.enable_progress_bars, log.level
    context.enable_progress_bars = False
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        context.enable_progress_bars = bars
        log.setLevel(level)


@contextmanager
def cluster(address: str | None) -> Iterator[None]:
    """The cluster at an address, or one of this machine alone that ends with the block.

    Raises:
        MissingExtraError: the extra `ray` is not installed. Caller.
        ModelNotFoundError: there is no cluster at the address. Operator.
    """
    with local_ray() if address is None else attached(address):
        yield
