"""Has every case of a dataset checked by one verifier and measured; goes on where it was stopped.

Before: `dataset.py` reads cases. After: `run.py` holds the results.

    dataset ──► workers: check ► measure ──► journal, a line a case ──► Run

Which worker takes which case, and how many there are, changes the order of the journal's lines and nothing of
the run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream

from streamverify import __version__
from streamverify.errors import UsageError
from streamverify.evaluate.case import Case
from streamverify.evaluate.dataset import Dataset, dataset_of
from streamverify.evaluate.examiner import Examiner, checking
from streamverify.evaluate.journal import Journal
from streamverify.evaluate.protocol import Embedder, Judge, Metric, Need, Tools, chosen, unmet
from streamverify.evaluate.records import Header, MetricRecord
from streamverify.evaluate.run import Run
from streamverify.policy import Policy, PolicyLike, policy_from
from streamverify.types import Fingerprint
from streamverify.verifier import Verifier

if TYPE_CHECKING:
    from streamverify.evaluate.pack import Pack

Progress = Callable[[int, int], None]
"""Told how many cases are done, and of how many, after each."""


def evaluate(
    cases: Dataset | Iterable[Case],
    *,
    metrics: Iterable[str | Metric] | None = None,
    pack: Pack | str | None = None,
    verifier: Verifier | None = None,
    policy: PolicyLike | None = None,
    embedder: Embedder | None = None,
    judge: Judge | None = None,
    out: Path | str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Run:
    """Check and measure every case; `evaluate_async` for code in an event loop.

    Args:
        cases: of `read_dataset`, or made in code.
        metrics: names or metrics; those of the pack, or all that need neither judge nor embedder, if None;
            none at all only beside a pack.
        pack: stages with gates, by name or made in code.
        verifier: stays the caller's to close; one with the embedded model if None.
        policy: in place of the verifier's, itself or by its word; recorded streams of another one are
            scored again.
        embedder: for metrics that compare meanings.
        judge: for metrics that ask.
        out: journal; where it exists and is of the same evaluation, what it holds is not done again.
        workers: cases at once; as many as there are processors if None. The scorer takes one sentence more
            than that, so that a case that is begun or written down leaves none of them free for long; a third
            case on two of them only has more threads wait for the interpreter.
        progress: told after each case.

    Raises:
        UsageError: nothing to evaluate, an unknown metric, or a journal of another evaluation. Caller.
        ModelError: the model cannot be loaded. Operator.
    """
    if verifier is not None:
        return verifier.portal.run(
            lambda: evaluate_async(
                cases,
                metrics=metrics,
                pack=pack,
                verifier=verifier,
                policy=policy,
                embedder=embedder,
                judge=judge,
                out=out,
                workers=workers,
                progress=progress,
            )
        )
    with Verifier() as own:
        return evaluate(
            cases,
            metrics=metrics,
            pack=pack,
            verifier=own,
            policy=policy,
            embedder=embedder,
            judge=judge,
            out=out,
            workers=workers,
            progress=progress,
        )


async def evaluate_async(
    cases: Dataset | Iterable[Case],
    *,
    metrics: Iterable[str | Metric] | None = None,
    pack: Pack | str | None = None,
    verifier: Verifier,
    policy: PolicyLike | None = None,
    embedder: Embedder | None = None,
    judge: Judge | None = None,
    out: Path | str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Run:
    """As `evaluate`, with a verifier of the application, which stays open."""
    if workers is not None and workers < 1:
        raise UsageError(f"workers must be 1 or more, not {workers}")
    begun = await anyio.to_thread.run_sync(
        lambda: begin(
            cases,
            metrics=metrics,
            pack=pack,
            fingerprint=lambda: verifier.fingerprint,
            policy=policy,
            usual_policy=verifier.policy,
            embedder=embedder,
            judge=judge,
            out=out,
        )
    )
    examiner = Examiner(
        verifier,
        begun.policy,
        begun.header.fingerprint,
        begun.metrics,
        begun.pack,
        Tools(embedder, judge, checking(verifier)),
    )
    job = _Job(examiner, begun.journal, progress, len(begun.dataset))
    try:
        await job.run(begun.dataset, workers if workers is not None else os.cpu_count() or 1)
        return Run(begun.header, await anyio.to_thread.run_sync(begun.journal.finish))
    except BaseException:
        begun.journal.close()
        raise


class Begun(NamedTuple):
    """An evaluation that was settled and has not measured anything yet."""

    dataset: Dataset
    header: Header
    journal: Journal
    metrics: tuple[Metric, ...]
    pack: Pack | None
    policy: Policy | None
    """None for the verifier's."""


def begin(
    cases: Dataset | Iterable[Case],
    *,
    metrics: Iterable[str | Metric] | None,
    pack: Pack | str | None,
    fingerprint: Callable[[], Fingerprint],
    policy: PolicyLike | None,
    usual_policy: Policy,
    embedder: Embedder | None,
    judge: Judge | None,
    out: Path | str | None,
) -> Begun:
    """Read the cases, and begin or go on with a journal; arguments as of `evaluate`. Blocking.

    Raises:
        UsageError: as `evaluate`. Caller.
    """
    dataset = dataset_of(cases)
    bundle, told = _pack(pack), policy_from(policy) if policy is not None else None
    wanted = chosen_metrics(metrics, bundle, dataset)
    header = Header(
        version=__version__,
        dataset=dataset.digest,
        questions=dataset.questions,
        cases=len(dataset),
        fingerprint=fingerprint(),
        policy=(told or usual_policy).name,
        metrics={one.name: MetricRecord.of(one) for one in wanted}
        | (dict(bundle.figures) if bundle is not None else {}),
        pack=bundle.digest if bundle is not None else "",
        embedder=embedder.name if embedder is not None else "",
        judge=judge.name if judge is not None else "",
    )
    path = Path(out) if out is not None else None
    return Begun(dataset, header, Journal(path, header, dataset.recordings), wanted, bundle, told)


def chosen_metrics(
    metrics: Iterable[str | Metric] | None, pack: Pack | None, cases: Iterable[Case]
) -> tuple[Metric, ...]:
    """The metrics of an evaluation: those named and those of the pack; the usual ones without either."""
    from streamverify.evaluate.metrics import CATALOGUE  # noqa: PLC0415 - a package of this one

    if metrics is not None and not (metrics := list(metrics)) and pack is None:
        raise UsageError("no metric is named: name some with --metrics, or leave it out for the usual ones")
    named = [*(metrics or ()), *(pack.metrics if pack is not None else ())]
    return chosen(named or usual(cases), CATALOGUE)


def usual(cases: Iterable[Case]) -> tuple[str, ...]:
    """The usual metrics that at least one of the cases has what it takes for; all of them if none has."""
    from streamverify.evaluate.metrics import CATALOGUE, USUAL  # noqa: PLC0415 - a package of this one

    left, tools = dict.fromkeys(USUAL), Tools()
    for case in cases:
        for name in [one for one in left if unmet(CATALOGUE[one], case, tools) is None]:
            del left[name]
    return tuple(name for name in USUAL if name not in left) or USUAL


def _pack(given: Pack | str | None) -> Pack | None:
    if not isinstance(given, str):
        return given
    from streamverify.evaluate.packs import pack_named  # noqa: PLC0415 - a package of this one

    return pack_named(given)


@dataclass(frozen=True, slots=True)
class _Job:
    examiner: Examiner
    journal: Journal
    progress: Progress | None
    total: int

    async def run(self, dataset: Dataset, workers: int) -> None:
        """Every case that the journal does not hold, or holds as one that went wrong."""
        done = {number for number, result in self.journal.results.items() if not result.error}
        failures: list[Exception] = []
        send, receive = anyio.create_memory_object_stream[tuple[int, Case]]()
        async with anyio.create_task_group() as group:

            async def work(cases: MemoryObjectReceiveStream[tuple[int, Case]]) -> None:
                try:
                    async with cases:
                        async for number, case in cases:
                            await self._case(number, case)
                            done.add(number)
                            if self.progress is not None:
                                self.progress(len(done), self.total)
                except Exception as error:  # noqa: BLE001 - raised below, outside of the group, as itself
                    failures.append(error)
                    group.cancel_scope.cancel()

            async with receive:
                for _ in range(min(workers, self.total)):
                    group.start_soon(work, receive.clone())
            async with send:
                rows = enumerate(dataset)
                held = frozenset(done)
                while (entry := await anyio.to_thread.run_sync(next, rows, None)) is not None:
                    if entry[0] in held:
                        continue
                    try:
                        await send.send(entry)
                    except anyio.BrokenResourceError:
                        break  # every worker has failed, and says so below
        if failures:
            raise failures[0]

    async def _case(self, number: int, case: Case) -> None:
        examined = await self.examiner.examine(number, case)
        await anyio.to_thread.run_sync(
            lambda: self.journal.append(
                examined.result,
                examined.report,
                question=case.question,
                recorded=examined.recorded,
                check_ms=examined.check_ms,
            )
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """What an evaluation would do."""

    cases: int
    answers: int
    """Cases with an answer."""
    recorded: int
    """Of those, cases with a recorded stream: scored again where scorer, calibration or policy differ."""
    computed: Mapping[str, int]
    """Metric to the cases for which it can be tried."""
    gaps: Mapping[str, Mapping[str, int]]
    """Metric to reason to cases for which it cannot."""
    judge_calls: int = 0
    """Questions to the judge, those that its cache may answer included."""


def plan(
    cases: Dataset | Iterable[Case],
    *,
    metrics: Iterable[str | Metric] | None = None,
    pack: Pack | str | None = None,
    embedder: Embedder | None = None,
    judge: Judge | None = None,
) -> Plan:
    """What `evaluate` would compute, for how many cases; loads no model and runs nothing."""
    dataset = dataset_of(cases)
    wanted = chosen_metrics(metrics, _pack(pack), dataset)
    tools = Tools(embedder, judge)
    computed = {one.name: 0 for one in wanted}
    gaps: dict[str, dict[str, int]] = {one.name: {} for one in wanted}
    answers = recorded = 0
    for case in dataset:
        answers += bool(case.answer and case.answer.strip())
        recorded += case.recording is not None
        for one in wanted:
            gap = unmet(one, case, tools)
            if gap is None:
                computed[one.name] += 1
            else:
                gaps[one.name][gap.reason] = gaps[one.name].get(gap.reason, 0) + 1
    asking = [one.name for one in wanted if _asks(one, tools)]
    calls = sum(computed[name] for name in asking)
    return Plan(len(dataset), answers, recorded, computed, gaps, calls)


def _asks(one: Metric, tools: Tools) -> bool:
    from streamverify.evaluate.metrics import ASK_IF_GIVEN, ASK_WITHOUT_EMBEDDER  # noqa: PLC0415 - of this one

    if tools.judge is None:
        return False
    asks = Need.JUDGE in one.needs or one.name in ASK_IF_GIVEN
    return asks or (tools.embedder is None and one.name in ASK_WITHOUT_EMBEDDER)
