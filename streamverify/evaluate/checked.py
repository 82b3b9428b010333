"""An evaluation with its gates and its baseline, as commands and tests ask for it.

Before: a dataset, a gates file, a baseline. After: an exit status, or a failed test with a table.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from streamverify.errors import UsageError
from streamverify.evaluate.comparison import Comparison, compare, lines
from streamverify.evaluate.dataset import Dataset
from streamverify.evaluate.gates import Gate, GateResult, Gates, decide, gates_from, read_gates, responsible
from streamverify.evaluate.metrics.grounding import is_unchecked
from streamverify.evaluate.pack import Pack
from streamverify.evaluate.packs import adjusted, pack_named
from streamverify.evaluate.protocol import Embedder, Judge, Metric
from streamverify.evaluate.result import PASSED, CaseResult
from streamverify.evaluate.run import Run
from streamverify.evaluate.runner import Progress, evaluate, usual
from streamverify.evaluate.settings import read_settings
from streamverify.figure import NotComputed, shown
from streamverify.policy import PolicyLike
from streamverify.verifier import Verifier

WORST = 5
"""Cases of each metric that got worse, and sentences of each case, that a message shows."""
SHOWN = 10
"""Cases that a message shows."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A run, and what gates and baseline say about it."""

    run: Run
    gates: tuple[GateResult, ...] = ()
    comparison: Comparison | None = None
    allow_errors: bool = False
    notes: tuple[str, ...] = ()
    """What was asked for and had nothing to be held against."""
    named: tuple[str, ...] | None = None
    """Metrics that were asked for by name; None where they were left to the library."""

    @property
    def failed(self) -> bool:
        """Whether a gate or the baseline is not passed, the run checked nothing, or a case went wrong."""
        gates = any(result.status != "passed" for result in self.gates)
        worse = self.comparison is not None and self.comparison.failed
        return gates or worse or bool(self.idle or (self.run.errors and not self.allow_errors))

    @property
    def problems(self) -> list[str]:
        """A line for each case that went wrong, and one for a run that checked nothing."""
        wrong = [f"case {case.id}: {case.error}" for case in self.run.errors]
        return [*wrong, self.idle] if self.idle else wrong

    @property
    def idle(self) -> str:
        """How the run checked nothing, in one line; empty where it did.

        A metric that was named was computed for no case; or, where none was named, no metric was, or none of
        the sentences that make a claim could be checked.
        """
        run = self.run
        asked = tuple(run.header.metrics) if self.named is None else self.named
        empty = [name for name in asked if isinstance(run[name].figure, NotComputed)]
        if empty and (self.named is not None or len(empty) == len(run.header.metrics)):
            return f"computed for no case, so that it checked nothing: {', '.join(empty)}"
        waiting = [name for name in empty if any(map(is_unchecked, run[name].not_computed))]
        if waiting and not any(_verdicts(case) for case in run.cases):
            return f"no sentence was checked, so that the run says nothing: {waiting[0]}: {run[waiting[0]]}"
        return ""


def checked(
    cases: Dataset,
    *,
    metrics: Iterable[str | Metric] | None = None,
    pack: Pack | str | None = None,
    gates: Path | str | Gates | None = None,
    baseline: Path | str | Run | None = None,
    allow_different_cases: bool = False,
    allow_errors: bool = False,
    verifier: Verifier | None = None,
    policy: PolicyLike | None = None,
    embedder: Embedder | None = None,
    judge: Judge | None = None,
    out: Path | str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    evaluator: Callable[..., Run] | None = None,
    rescue: Path | None = None,
) -> Checked:
    """Evaluate, hold the run against gates and baseline; every file is read before anything is scored.

    Arguments are those of `evaluate` and `compare`; an `evaluator` takes the place of `evaluate` and its
    `verifier`. A run that the baseline cannot be set beside is written to `rescue`, unless that is the
    baseline's own file: what was measured is not lost. Rules for a baseline that is not there are told as a
    warning of the logger `streamverify`, and stand in the result's notes.

    Raises:
        UsageError: as `evaluate`, `read_gates` and `compare`; or all that is asked is to be no worse than a
            baseline, and there is none. Caller.
        ModelError: the model cannot be loaded. Operator.
    """
    asked = read_gates(gates) if isinstance(gates, str | Path) else gates
    before = Run.read(baseline) if isinstance(baseline, str | Path) else baseline
    notes = _left_out(asked, gates) if before is None else ()
    named = list(metrics) if metrics is not None else None
    wanted = named if named is not None else ([] if pack is not None else list(usual(cases)))
    bundle = pack_named(pack) if isinstance(pack, str) else pack
    known = set(map(_name, wanted))
    extra = [] if asked is None else [one for one in asked.metrics if one not in known and not _of_pack(one)]
    run = (evaluator or partial(evaluate, verifier=verifier))(
        cases,
        metrics=[*wanted, *extra],
        pack=bundle,
        policy=policy,
        embedder=embedder,
        judge=judge,
        out=out,
        workers=workers,
        progress=progress,
    )
    results = decide(run, asked) if asked is not None else ()
    if bundle is not None and bundle.gates:
        results = (*decide(run, gates_from({"gates": bundle.gates})), *results)
    rules = asked.baseline if asked is not None else None
    compared = None
    if before is not None:
        try:
            compared = compare(before, run, rules=rules, allow_different_cases=allow_different_cases)
        except UsageError as error:
            if rescue is None or (isinstance(baseline, str | Path) and _same(rescue, Path(baseline))):
                raise
            run.write(rescue)
            raise UsageError(f"{error}; the run itself is in {rescue}") from error
    asked_by_name = None if named is None else tuple(map(_name, named))
    return Checked(run, results, compared, allow_errors, notes, asked_by_name)


def _name(one: str | Metric) -> str:
    return one if isinstance(one, str) else one.name


def _verdicts(case: CaseResult) -> int:
    """Sentences of the case whose check said what they are worth."""
    return sum(case.counts.get(label, 0) for label in ("supported", "contradicted", "unsupported"))


def _left_out(asked: Gates | None, source: Path | str | Gates | None) -> tuple[str, ...]:
    """What is told, here too, of rules that need a baseline."""
    if asked is None:
        return ()
    note = asked.unheld("the gates" if isinstance(source, Gates) else source)
    if note:
        logging.getLogger("streamverify").warning("%s", note)
    return (note,) if note else ()


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def pack_of(
    pack: Pack | str | None,
    settings: Path | str | None,
    weights: Mapping[str, float],
    thresholds: Mapping[str, float],
) -> Pack | None:
    """The pack that some options name together; None where they name none.

    Raises:
        UsageError: weights or thresholds without a pack, or a made pack beside a file that sets one. Caller.
    """
    if pack is None and settings is None:
        if weights or thresholds:
            raise UsageError("weights and thresholds are of a pack's stages: name a pack or its settings")
        return None
    if settings is not None:
        if isinstance(pack, Pack):
            raise UsageError("a pack made in code takes no settings of a file: keep one of them")
        return adjusted(read_settings(settings, pack=pack), weights, thresholds)
    assert pack is not None
    return adjusted(pack_named(pack) if isinstance(pack, str) else pack, weights, thresholds)


def passing(gates: Path | str | None, pack: Pack | None, least: float | None) -> Gates | None:
    """The gates of a file, and beside them that so many cases pass the pack: all unless told otherwise.

    Raises:
        InputFileError: the file holds no gates. Caller.
        UsageError: a share without a pack, or out of range. Caller.
    """
    asked = read_gates(gates) if gates is not None else None
    if pack is None:
        if least is not None:
            raise UsageError("min_passed is of the cases that pass a pack: name a pack or its settings")
        return asked
    if least is not None and not 0 <= least <= 1:
        raise UsageError(f"min_passed must be between 0 and 1, not {least:g}")
    base = asked if asked is not None else gates_from({})
    if least is None and PASSED in base.everywhere:
        return base
    return replace(base, everywhere={PASSED: Gate(min=1.0 if least is None else least), **base.everywhere})


def _of_pack(metric: str) -> bool:
    return metric.startswith(("stage.", "pack_"))


def table(run: Run) -> list[str]:
    """A line a metric."""
    width = max(len(name) for name in run.header.metrics)
    return [f"{name:<{width}}  {run[name]}" for name in run.header.metrics]


def stages(run: Run) -> list[str]:
    """A line a stage of the run's pack: how many cases passed it, failed it, were not computed or skipped.

    Where it had nothing to judge, it was left out.
    """
    names = dict.fromkeys(stage.name for case in run.cases for stage in case.stages)
    told = []
    for name in names:
        held = [
            "left out" if stage.score.nothing else stage.status
            for case in run.cases
            for stage in case.stages
            if stage.name == name
        ]
        counts = ", ".join(f"{held.count(one)} {one}" for one in dict.fromkeys(sorted(held)))
        told.append(f"stage {name}: {counts}")
    return told


def message(found: Checked) -> str:
    """What a failed test shows: failing cases first, then gates, comparison and figures."""
    why = failing(found)
    told: list[str] = []
    if why:
        told += [f"{len(why)} of {found.run.header.cases} cases do not hold", ""]
        cases = {case.id: case for case in found.run.cases}
        for id_ in list(why)[:SHOWN]:
            told += [f"case {id_}: {'; '.join(why[id_])}", *_sentences(cases[id_])]
        if len(why) > SHOWN:
            told += [f"and {len(why) - SHOWN} more"]
        told += [""]
    told += [str(result) for result in found.gates]
    told += [found.idle] if found.idle else []
    told += found.notes
    if found.comparison is not None:
        told += ["", "against the baseline", *lines(found.comparison)]
    told += ["", f"{found.run.header.cases} cases", *table(found.run), *stages(found.run)]
    return "\n".join(told).strip()


def failing(found: Checked) -> dict[str, list[str]]:
    """Cases that do not hold, and why: errors first, then a pack's stages, gates, the baseline."""
    why: dict[str, list[str]] = {}
    for id_, reason in (*_wrong(found.run), *_of_stages(found), *_of_gates(found), *_of_baseline(found)):
        if reason not in why.setdefault(id_, []):
            why[id_].append(reason)
    return why


def _wrong(run: Run) -> Iterator[tuple[str, str]]:
    for case in run.errors:
        yield case.id, f"went wrong: {case.error}"


def _of_stages(found: Checked) -> Iterator[tuple[str, str]]:
    if not any(result.status != "passed" and _of_pack(result.metric) for result in found.gates):
        return
    for case in found.run.cases:
        for stage in case.stages:
            if stage.status in ("failed", "not computed") and not stage.score.nothing:
                # Its last finding says by how much it missed, or why it could not be computed.
                yield case.id, "; ".join([f"stage {stage.name} {stage.status}", *stage.findings])


def _of_gates(found: Checked) -> Iterator[tuple[str, str]]:
    for result in found.gates:
        if result.status != "passed" and not _of_pack(result.metric):
            yield from _beside(found.run, result)


def _of_baseline(found: Checked) -> Iterator[tuple[str, str]]:
    if found.comparison is None or not found.comparison.failed:
        return
    for id_ in found.comparison.newly_failing:
        yield id_, "passed in the baseline"
    for one in found.comparison.differences.values():
        for case in found.run.worst(one.metric, WORST) if one.failed else ():
            yield case.id, f"{one.metric} {shown(case[one.metric])}"


def _beside(run: Run, result: GateResult) -> Iterator[tuple[str, str]]:
    for case in responsible(run, result, WORST):
        figure = case[result.metric]
        told = f"not computed: {figure.reason}" if isinstance(figure, NotComputed) else shown(figure)
        yield case.id, f"{result.metric} {told}"


def _sentences(case: CaseResult) -> list[str]:
    """The sentences of a failing case that did not pass; none where the case has no report at hand."""
    report = case.report
    if report is None:
        return []
    told = []
    for sentence in report.failed[:WORST]:
        score = "  - " if sentence.score is None else f"{sentence.score:.2f}"
        told.append(
            f"  > {sentence.index + 1:>3} {sentence.label:<12} {score}  {' '.join(sentence.text.split())}"
        )
    return told
