"""The commands about two arms of an experiment: parse, call, print.

Before: `program.py` registers them. After: `evaluate/arms.py`; of what is recorded, `monitor/experiments.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamverify._extras import require
from streamverify.console.shell import FAILED, write


def ab_size(
    *,
    effect: Annotated[float, typer.Option("--effect", help="Cohen's d that should be seen.")],
    power: Annotated[float, typer.Option("--power", help="Probability of seeing it.")] = 0.8,
    alpha: Annotated[float, typer.Option("--alpha", help="Level of the two-sided test.")] = 0.05,
    paired: Annotated[bool, typer.Option("--paired", help="Each case is answered by both arms.")] = False,
) -> None:
    """Say how many cases it takes to see an effect.

    Exit status: 0; 2 for values that make no sense.
    """
    from streamverify.evaluate.stats import sample_size  # noqa: PLC0415 - loads pydantic

    count = sample_size(effect, power=power, alpha=alpha, paired=paired)
    write(f"{count} {'pairs' if paired else 'cases an arm'}")


def ab_decide(
    before: Annotated[str, typer.Argument(metavar="A", help="A run's file: what is used now.")],
    after: Annotated[str, typer.Argument(metavar="B", help="A run's file: what could replace it.")],
    *,
    metric: Annotated[str, typer.Option("--metric", help="What decides.")] = "faithfulness",
    look: Annotated[int, typer.Option("--look", help="Which of the planned looks this is, from 1.")] = 1,
    looks: Annotated[int, typer.Option("--looks", help="How many looks are planned.")] = 1,
    records: Annotated[
        str | None, typer.Option("--records", help="Records in which A and B are names of runs.")
    ] = None,
    window: Annotated[
        str | None, typer.Option("--window", help="Of the records: 2026-11-01..2026-11-08; all if left out.")
    ] = None,
    tenant: Annotated[str, typer.Option("--tenant", help="Of the records: whose data it is.")] = "",
) -> None:
    """Say whether B, tried on other cases than A, should replace it.

    Exit status: 0 adopt B; 1 keep A; 2 for bad input.
    """
    from streamverify.evaluate.arms import decide_arms  # noqa: PLC0415 - loads pydantic
    from streamverify.evaluate.run import Run  # noqa: PLC0415 - as above

    if records is None:
        decision = decide_arms(Run.read(Path(before)), Run.read(Path(after)), metric, look=look, looks=looks)
    else:
        require("sqlalchemy", extra="records", feature="streamverify ab decide --records")
        from streamverify.console.monitor import answers_of_runs  # noqa: PLC0415 - an extra
        from streamverify.monitor.experiments import decide_recorded  # noqa: PLC0415 - as above

        a, b = answers_of_runs(records, (before, after), window, tenant)
        decision = decide_recorded(a, b, metric, look=look, looks=looks)
    write(str(decision))
    if not decision.adopt:
        raise typer.Exit(FAILED)
