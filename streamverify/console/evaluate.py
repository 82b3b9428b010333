"""The commands about many answers: parse, call, print.

Before: `program.py` registers them. After: `evaluate/`.

Standard output carries the result only; progress and notes go to standard error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self, cast

import typer

from streamverify.console.judging import JudgeCacheOption, JudgeModelOption, JudgeOption, judge_of
from streamverify.console.options import CalibrationOption, Judging, ModelOption, PresetOption, ScorerOption
from streamverify.console.reports import (
    HtmlOption,
    JunitOption,
    MarkdownOption,
    RedactOption,
    ready,
    write_reports,
)
from streamverify.console.shell import FAILED, complain, murmur, write
from streamverify.console.turns import rare_collections, short_turns

if TYPE_CHECKING:
    from streamverify.evaluate.checked import Checked
    from streamverify.evaluate.pack import Pack
    from streamverify.evaluate.protocol import Embedder
    from streamverify.evaluate.run import Run
    from streamverify.evaluate.runner import Plan
    from streamverify.policy import PolicyWord


def evaluate(
    dataset: Annotated[Path, typer.Argument(help="JSON Lines, one recorded answer a row.")],
    *,
    metrics: Annotated[
        str | None, typer.Option("--metrics", help="Names, with commas between; the usual ones without it.")
    ] = None,
    pack: Annotated[str, typer.Option("--pack", help="Stages with gates: rag, legal or d2d.")] = "",
    weights: Annotated[
        list[str] | None, typer.Option("--weights", help="STAGE=WEIGHT in the pack's score; repeatable.")
    ] = None,
    thresholds: Annotated[
        list[str] | None, typer.Option("--thresholds", help="STAGE=SCORE that passes; repeatable.")
    ] = None,
    min_passed: Annotated[
        float | None,
        typer.Option("--min-passed", min=0, max=1, help="Fail below this share of cases that pass the pack."),
    ] = None,
    settings: Annotated[
        Path | None,
        typer.Option("--settings", help="TOML with a pack, and what its stages weigh and ask for."),
    ] = None,
    embedder: Annotated[
        str, typer.Option("--embedder", help="default: the library's own, for metrics that compare meanings.")
    ] = "",
    gates: Annotated[Path | None, typer.Option("--gates", help="TOML with what figures must reach.")] = None,
    baseline: Annotated[
        Path | None, typer.Option("--baseline", help="A run's file that this one may not be worse than.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Journal; the same command again goes on with it.")
    ] = None,
    as_json: Annotated[Path | None, typer.Option("--json", help="Write the run's figures here.")] = None,
    html: HtmlOption = None,
    md: MarkdownOption = None,
    junit: JunitOption = None,
    redact_pii: RedactOption = False,
    workers: Annotated[int | None, typer.Option("--workers", min=1, help="Cases at once.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="At most so many cases.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Take a sample for --limit.")] = None,
    where: Annotated[
        list[str] | None, typer.Option("--where", help="FIELD=VALUE of the cases to take; repeatable.")
    ] = None,
    policy: Annotated[
        str, typer.Option("--policy", help="Of recorded streams that are not scored again.")
    ] = "flag",
    scorer: ScorerOption = None,
    model: ModelOption = None,
    calibration: CalibrationOption = None,
    preset: PresetOption = None,
    judge: JudgeOption = "",
    judge_model: JudgeModelOption = "",
    judge_cache: JudgeCacheOption = None,
    ray: Annotated[
        bool,
        typer.Option("--ray", help="With the Ray cluster at RAY_ADDRESS, or all cores of this machine."),
    ] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Say what would be computed; run nothing.")] = False,
    allow_errors: Annotated[
        bool, typer.Option("--allow-errors", help="Do not fail because a case went wrong.")
    ] = False,
    allow_different_cases: Annotated[
        bool, typer.Option("--allow-different-cases", help="Compare the cases that both runs have.")
    ] = False,
) -> None:
    """Measure recorded answers with the engine that checks live ones.

    Exit status: 0; 1 when a gate or the baseline fails, a gated figure could not be computed, a named metric
    was computed for no case, no sentence could be checked, or a case went wrong; 2 for bad input.
    """
    from streamverify import evaluate as offline  # noqa: PLC0415 - loads pydantic
    from streamverify.evaluate.checked import checked, passing  # noqa: PLC0415 - as above
    from streamverify.policy import policy_from  # noqa: PLC0415 - as above

    cases = offline.read_dataset(
        dataset, where=_pairs(where, "--where"), limit=limit, seed=seed, warn=complain
    )
    names = None if metrics is None else _words(metrics)
    bundle = _pack(pack, settings, weights, thresholds)
    held = gates if min_passed is None else passing(gates, bundle, min_passed)
    meanings = _embedder(embedder)
    if plan:
        # Without the cache, which would be made by being named.
        with judge_of(judge, judge_model, None) or nullcontext() as asked:
            _print(_planned(offline.plan(cases, metrics=names, pack=bundle, embedder=meanings, judge=asked)))
        return
    reports = {"--html": html, "--md": md, "--junit": junit}
    ready((dataset, gates, settings), {"--out": out, "--json": as_json} | reports)
    asked = judge_of(judge, judge_model, judge_cache)
    judging = Judging(scorer, model, calibration, preset)
    with asked or nullcontext(), progress(len(cases)) as tell, _engine(judging, ray=ray) as engine:
        found = checked(
            cases,
            metrics=names,
            pack=bundle,
            gates=held,
            baseline=baseline,
            allow_different_cases=allow_different_cases,
            allow_errors=allow_errors,
            judge=asked,
            embedder=meanings,
            policy=policy_from(cast("PolicyWord", policy)),
            out=out,
            workers=workers,
            progress=tell.update,
            evaluator=engine,
            rescue=as_json,
        )
    if asked is not None:
        complain(str(asked.usage))
    if as_json is not None:
        found.run.write(as_json)
    quoted = {case.id: case.passages or () for case in cases}
    write_reports(found, html=html, md=md, junit=junit, redact_pii=redact_pii, passages=quoted)
    _print(summary(found))
    for problem in found.problems:
        complain(problem)
    if found.failed:
        raise typer.Exit(FAILED)


def compare(
    before: Annotated[Path, typer.Argument(metavar="A", help="The baseline: a run's file or journal.")],
    after: Annotated[Path, typer.Argument(metavar="B", help="The run that may be worse.")],
    *,
    max_drop: Annotated[
        float, typer.Option("--max-drop", min=0, help="Of any metric, relative to A.")
    ] = 0.05,
    absolute: Annotated[bool, typer.Option("--absolute", help="Take drops as differences.")] = False,
    critical: Annotated[
        list[str] | None, typer.Option("--critical", help="METRIC=DROP of its own; repeatable.")
    ] = None,
    new_failures: Annotated[
        int, typer.Option("--new-failures", min=0, help="Cases that may fail though they passed.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    allow_different_cases: Annotated[
        bool, typer.Option("--allow-different-cases", help="Compare the cases that both runs have.")
    ] = False,
    allow_different_scorers: Annotated[
        bool, typer.Option("--allow-different-scorers", help="Compare what different scorers found.")
    ] = False,
) -> None:
    """Say whether run B is worse than run A, case by case.

    Exit status: 0; 1 when a metric is worse than allowed or a case fails that passed; 2 for bad input.
    """
    from streamverify import evaluate as offline  # noqa: PLC0415 - loads pydantic
    from streamverify.evaluate.comparison import lines  # noqa: PLC0415 - as above
    from streamverify.evaluate.result import to_json  # noqa: PLC0415 - as above

    given = _pairs(critical, "--critical")
    own = {name: _drop(value, "--critical", absolute=absolute) for name, value in given.items()}
    rules = offline.BaselineRules(
        max_drop=_drop(str(max_drop), "--max-drop", absolute=absolute),
        absolute=absolute,
        critical=own,
        new_failures=new_failures,
    )
    found = offline.compare(
        offline.Run.read(before),
        offline.Run.read(after),
        rules=rules,
        allow_different_cases=allow_different_cases,
        allow_different_scorers=allow_different_scorers,
    )
    _print([to_json(found.to_dict())] if as_json else lines(found))
    if found.failed:
        raise typer.Exit(FAILED)


class progress:  # noqa: N801 - reads as a function
    """On a terminal a bar with an estimate; otherwise a line every ten per cent; both on standard error."""

    def __init__(self, total: int) -> None:
        self._total, self._told = total, 0
        self._bar: Callable[[int], None] | None = None
        self._stop: Callable[[], None] = lambda: None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console  # noqa: PLC0415 - kept out of start-up
            from rich.progress import Progress, TimeRemainingColumn  # noqa: PLC0415 - as above

            shown = Progress(
                *Progress.get_default_columns()[:-1], TimeRemainingColumn(), console=Console(stderr=True)
            )
            shown.start()
            task = shown.add_task("cases", total=self._total)
            self._bar = lambda done: shown.update(task, completed=done)
            self._stop = shown.stop
        return self

    def update(self, done: int, total: int) -> None:
        """Tell that so many cases are done."""
        if self._bar is not None:
            self._bar(done)
        elif (tenth := 10 * done // total) > self._told:
            self._told = tenth
            murmur(f"{done} of {total} cases")

    def __exit__(self, *_: object) -> None:
        self._stop()


def summary(found: Checked) -> list[str]:
    """The run in lines: what it rests on, a line a metric, the gates, the comparison."""
    from streamverify.evaluate.checked import stages, table  # noqa: PLC0415 - loads pydantic
    from streamverify.evaluate.comparison import lines  # noqa: PLC0415 - as above

    run, mark = found.run, found.run.header.fingerprint
    told = [f"{run.header.cases} cases, scored by {mark.model} {mark.revision} {mark.precision}".rstrip()]
    told += table(run)
    told += stages(run)
    if found.gates:
        told += ["", "gates", *map(str, found.gates)]
        told += [
            f"{one.metric} not computed for {', '.join(one.missing[:10])}"
            for one in found.gates
            if one.missing
        ]
    if found.comparison is not None:
        told += ["", "against the baseline", *lines(found.comparison)]
    return told


@contextmanager
def _engine(judging: Judging, *, ray: bool) -> Iterator[Callable[..., Run]]:
    """What evaluates: this process, or a cluster."""
    if ray:
        from streamverify.scale.evaluation import cluster, evaluate_on_ray  # noqa: PLC0415 - an extra

        with cluster(os.environ.get("RAY_ADDRESS")):
            yield partial(evaluate_on_ray, verifier=judging.verifier)
        return
    from streamverify.evaluate.runner import evaluate as local  # noqa: PLC0415 - loads pydantic

    with short_turns(), rare_collections(), judging.verifier() as verifier:
        yield partial(local, verifier=verifier)


def _planned(plan: Plan) -> list[str]:
    width = max(len(name) for name in plan.computed)
    told = f"{plan.cases} cases, {plan.answers} with an answer, {plan.recorded} recorded streams"
    lines = [f"{told}; {plan.judge_calls} judge calls"]
    for name, count in plan.computed.items():
        gaps = "; ".join(f"{count} {reason}" for reason, count in sorted(plan.gaps[name].items()))
        lines.append(f"{name:<{width}}  {count} of {plan.cases} cases{f' (not: {gaps})' if gaps else ''}")
    return lines


def _pack(
    name: str, settings: Path | None, weights: Sequence[str] | None, thresholds: Sequence[str] | None
) -> Pack | None:
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic
    from streamverify.evaluate.packs import adjusted, pack_named  # noqa: PLC0415 - as above
    from streamverify.evaluate.settings import read_settings  # noqa: PLC0415 - as above

    if not name and settings is None:
        if weights or thresholds:
            raise UsageError(
                "--weights and --thresholds are of a pack's stages: choose one with --pack or --settings"
            )
        return None
    read = [
        {stage: _number(value, option) for stage, value in _pairs(given, option).items()}
        for given, option in ((weights, "--weights"), (thresholds, "--thresholds"))
    ]
    bundle = pack_named(name) if settings is None else read_settings(settings, pack=name or None)
    return adjusted(bundle, *read)


def _embedder(name: str) -> Embedder | None:
    from streamverify.evaluate.embedder import embedder_named  # noqa: PLC0415 - loads numpy

    return embedder_named(name) if name else None


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _pairs(given: Sequence[str] | None, option: str) -> dict[str, str]:
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic

    pairs = {}
    for one in given or ():
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise UsageError(f"{option}: write FIELD=VALUE, not {one!r}")
        pairs[name] = value
    return pairs


def _number(text: str, option: str) -> float:
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic

    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise UsageError(f"{option}: {text!r} is no number of 0 or more")
    return number


def _drop(text: str, option: str, *, absolute: bool) -> float:
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic

    drop = _number(text, option)
    if not absolute and drop >= 1:
        raise UsageError(
            f"{option}: {drop:g} is a share of the baseline's figure: give one below 1 "
            f"({drop / 100:g} for {drop:g} %), or add --absolute"
        )
    return drop


def _print(lines: Sequence[str]) -> None:
    write("\n".join(lines))
