"""The command that holds a judge to people's labels, and the options that name a judge.

Before: `program.py` registers it. After: `evaluate/agreement.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamverify.console.shell import FAILED, complain, write

if TYPE_CHECKING:
    from streamverify.evaluate.judge.client import Judge
    from streamverify.figure import Figure

JudgeOption = Annotated[
    str, typer.Option("--judge", help="Base address of an OpenAI-compatible API that judges.")
]
JudgeModelOption = Annotated[str, typer.Option("--judge-model", help="Its model's name.")]
JudgeCacheOption = Annotated[
    Path | None, typer.Option("--judge-cache", help="SQLite file with its answers; made if need be.")
]


def judge_of(address: str, model: str, cache: Path | None) -> Judge | None:
    """The judge that the options name; None where they name none.

    Raises:
        UsageError: only some of what it takes was given. Caller.
    """
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic
    from streamverify.evaluate.judge.client import Judge  # noqa: PLC0415 - as above

    if not address and not model and cache is None:
        return None
    if not address or not model:
        raise UsageError("a judge needs both --judge ADDRESS and --judge-model NAME")
    return Judge(address, model, cache=cache)


def agree(
    labelled: Annotated[Path, typer.Argument(help="JSON Lines; rows hold passages and what people decided.")],
    *,
    judge: JudgeOption,
    model: JudgeModelOption,
    cache: JudgeCacheOption = None,
    against: Annotated[str, typer.Option("--against", help="human: the labels of the rows.")] = "human",
    criterion: Annotated[
        str,
        typer.Option(
            "--criterion",
            help="sentences: their labels; or helpfulness, correctness, relevance, non_fabrication, "
            "groundedness: the rows' judgments of whole answers.",
        ),
    ] = "sentences",
    labels: Annotated[
        list[Path] | None,
        typer.Option("--labels", help="File of `dataset label`, in place of the rows' own; repeatable."),
    ] = None,
    min_kappa: Annotated[
        float | None, typer.Option("--min-kappa", min=-1, max=1, help="Fail below this agreement.")
    ] = None,
) -> None:
    """Tell how far a judge agrees with people beyond chance: in sentence labels, or in grades by distance.

    Exit status: 0; 1 when agreement is below --min-kappa or could not be computed; 2 for bad input.
    """
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic
    from streamverify.evaluate import read_dataset  # noqa: PLC0415 - as above
    from streamverify.evaluate.agreement import with_judge  # noqa: PLC0415 - as above
    from streamverify.evaluate.grading import BY, grades_with_judge  # noqa: PLC0415 - as above
    from streamverify.evaluate.merging import labelled_dataset  # noqa: PLC0415 - as above
    from streamverify.figure import NotComputed  # noqa: PLC0415 - as above

    if against != "human":
        raise UsageError(f"--against: choose human, not {against!r}")
    if criterion not in ("sentences", *BY):
        raise UsageError(f"--criterion: choose sentences, {', '.join(BY)}, not {criterion!r}")
    if labels and criterion != "sentences":
        raise UsageError("--labels are of sentences; grades stand in the rows, under judgments")
    cases = (
        labelled_dataset(labelled, labels, warn=complain) if labels else read_dataset(labelled, warn=complain)
    )
    named = judge_of(judge, model, cache)
    if named is None:
        raise UsageError("a judge needs both --judge ADDRESS and --judge-model NAME")
    kappa: Figure
    with named:
        if criterion == "sentences":
            found = with_judge(cases, named)
            kappa, told = found.kappa, [f"kappa  {found}"]
        else:
            grades = grades_with_judge(cases, named, criterion)
            kappa, told = grades.weighted, [f"weighted kappa  {grades}", f"kappa  {grades.plain}"]
            told += [
                f"far apart: case {one!r}: {human} by hand, {by} by the judge"
                for one, human, by in grades.far
            ]
        complain(str(named.usage))
    write("\n".join(told))
    if min_kappa is not None and (isinstance(kappa, NotComputed) or kappa < min_kappa):
        raise typer.Exit(FAILED)
