"""The command that fits thresholds to labels: parse, call, print.

Before: `program.py` registers it. After: `evaluate/fitting.py`.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from streamverify.console.evaluate import progress
from streamverify.console.options import ModelOption, ScorerOption
from streamverify.console.outputs import refuse_unwritable
from streamverify.console.shell import complain, write


def calibrate(
    labelled: Annotated[Path, typer.Argument(help="JSON Lines; rows label the answer's sentences.")],
    *,
    max_miss_rate: Annotated[
        float | None,
        typer.Option(
            "--max-miss-rate",
            help="Ungrounded sentences that may be called supported, 0-1; 0.05 if left out.",
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            "--confidence", help="Probability that this holds, over sets of labels, 0-1; 0.95 if left out."
        ),
    ] = None,
    per: Annotated[
        str | None,
        typer.Option("--per", help="Have it hold in each kind, category, domain … by itself."),
    ] = None,
    fit_weights: Annotated[
        bool, typer.Option("--fit-weights", help="Also fit scores to the labels, as probabilities.")
    ] = False,
    cost_miss: Annotated[
        float | None, typer.Option("--cost-miss", min=0, help="Take the cheapest threshold; no guarantee.")
    ] = None,
    cost_alarm: Annotated[
        float | None, typer.Option("--cost-alarm", min=0, help="What a false alarm costs beside it.")
    ] = None,
    labels: Annotated[
        list[Path] | None,
        typer.Option("--labels", help="File of `dataset label`, in place of the rows' own; repeatable."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write the calibration file here.")] = None,
    curve: Annotated[
        Path | None, typer.Option("--curve", help="Write misses and false alarms by threshold here, as JSON.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Picks the one sentence of each answer.")] = 0,
    workers: Annotated[int | None, typer.Option("--workers", min=1, help="Cases at once.")] = None,
    scorer: ScorerOption = None,
    model: ModelOption = None,
    calibration: Annotated[
        Path | None, typer.Option("--calibration", help="Start from this one, not from the model's own.")
    ] = None,
) -> None:
    """Choose the threshold by labels of your own, with a guarantee.

    Exit status: 0; 2 for bad input, too few labels included.
    """
    from streamverify.calibration import Calibration  # noqa: PLC0415 - loads pydantic
    from streamverify.errors import UsageError  # noqa: PLC0415 - as above
    from streamverify.evaluate import fitting, read_dataset  # noqa: PLC0415 - as above
    from streamverify.evaluate.merging import labelled_dataset  # noqa: PLC0415 - as above
    from streamverify.files.written import write_whole  # noqa: PLC0415 - as above
    from streamverify.verifier import Verifier  # noqa: PLC0415 - as above

    costs = (cost_miss, cost_alarm) != (None, None)
    if costs and (max_miss_rate, confidence) != (None, None):
        raise UsageError(
            "costs choose the cheapest threshold, without a guarantee: leave them out, or "
            "--max-miss-rate and --confidence"
        )
    refuse_unwritable((labelled, *(labels or ())), {"--out": out, "--curve": curve})
    cases = (
        labelled_dataset(labelled, labels, warn=complain) if labels else read_dataset(labelled, warn=complain)
    )
    start = None if calibration is None else Calibration.read(calibration)
    with progress(len(cases)) as tell, Verifier(scorer, model=model, calibration=start) as verifier:
        found = fitting.calibrate(
            cases,
            0.05 if max_miss_rate is None else max_miss_rate,
            0.95 if confidence is None else confidence,
            per,
            fit_weights=fit_weights,
            cost_miss=cost_miss,
            cost_alarm=cost_alarm,
            verifier=verifier,
            seed=seed,
            workers=workers,
            progress=tell.update,
        )
    if out is not None:
        found.calibration.write(out)
    if curve is not None:
        write_whole(curve, json.dumps([asdict(point) for point in found.curve], indent=1) + "\n")
    write("\n".join(fitting.lines(found)) + "\n")
