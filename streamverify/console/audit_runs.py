"""`streamverify audit runs`: figures of evaluations, into the records and out of them.

Before: `program.py` registers the command. After: `evaluate/run.py` reads, `records/runs.py` keeps.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamverify.console.asking import LimitOption, RecordsOption, asks, id_of, opened
from streamverify.console.shell import complain, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamverify.records import Reader


def add(
    runs: Annotated[list[Path], typer.Argument(metavar="RUNS", help="Runs' files, or whole journals.")],
    *,
    records: RecordsOption,
    name: Annotated[
        str | None, typer.Option("--name", help="Of the run; by default its file's name.")
    ] = None,
) -> None:
    """Add the figures of finished evaluations; what was not computed stays so. Prints their ids.

    A run that is there already is left as it is.
    """
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic
    from streamverify.evaluate import Run  # noqa: PLC0415 - as above
    from streamverify.records import add_run  # noqa: PLC0415 - an extra

    if name is not None and len(runs) > 1:
        raise UsageError("--name is the name of one run: give one")
    read = [(path, Run.read(path)) for path in runs]  # all of them, before anything is added
    with opened(records, empty=True) as database:
        for path, run in read:
            identity, new = add_run(database, name or path.stem, run.digest, run.aggregates, text=run.text())
            if not new:
                complain(f"{path} is there already")
            write(str(identity))


@asks
def runs(
    reader: Reader,
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="Id, as the list shows it.")] = None,
    *,
    limit: LimitOption = 50,
) -> Sequence[object]:
    """Evaluations whose figures were added, the latest first; or the figures of one of them."""
    return reader.runs(limit=limit) if run is None else reader.run_figures(id_of(run, "run"))
