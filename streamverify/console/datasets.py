"""The commands that make, divide, convert and compare datasets: parse, call, print.

Before: `program.py` registers them. After: `evaluate/making.py`, `dividing.py` and their neighbours.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamverify.console.judging import JudgeCacheOption, judge_of
from streamverify.console.outputs import refuse_unwritable
from streamverify.console.paths import path_from
from streamverify.console.shell import FAILED, complain, write

if TYPE_CHECKING:
    from streamverify.evaluate.agreement import Agreement

OutOption = Annotated[Path, typer.Option("--out", help="Write the rows here.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Equal seeds give equal rows.")]


def make(
    passages: Annotated[
        Path,
        typer.Argument(help="Passages file, or a folder of text files.", parser=path_from),
    ],
    *,
    out: OutOption,
    per_type: Annotated[int, typer.Option("--per-type", min=1, help="Questions of each type, at most.")] = 20,
    seed: SeedOption = 0,
    writer: Annotated[
        str, typer.Option("--writer", help="Base address of an OpenAI-compatible API that writes.")
    ] = "",
    writer_model: Annotated[str, typer.Option("--writer-model", help="Its model's name.")] = "",
    cache: JudgeCacheOption = None,
) -> None:
    """Make questions with references from passages; without a writer, by rules that say what they cannot."""
    from streamverify.console.files import read_passages  # noqa: PLC0415 - loads anyio
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic
    from streamverify.evaluate.converting import write_rows  # noqa: PLC0415 - as above
    from streamverify.evaluate.making import make as made  # noqa: PLC0415 - as above

    if bool(writer) != bool(writer_model):
        raise UsageError("a writer needs both --writer ADDRESS and --writer-model NAME")
    refuse_unwritable((passages,), {"--out": out})
    texts = read_passages(passages)
    named = judge_of(writer, writer_model, cache) if writer else None
    if named is None:
        found = made(texts, per_type=per_type, seed=seed)
        complain("made by rules, without a language model; read them before you rely on them")
    else:
        with named:
            found = made(texts, per_type=per_type, seed=seed, writer=named)
            complain(str(named.usage).replace("judge:", "writer:"))
    for kind, (count, why) in found.missing.items():
        complain(f"{kind}: {count} of {per_type} not made: {why}")
    if not found.rows:
        raise UsageError(f"{passages}: no question could be made of these passages")
    write_rows(found.rows, out)
    write(f"{len(found.rows)} questions")


def sample(
    dataset: Annotated[Path, typer.Argument(help="JSON Lines, one case a row.")],
    *,
    count: Annotated[int, typer.Option("--count", min=1, help="Rows to take.")],
    out: OutOption,
    seed: SeedOption = 0,
) -> None:
    """Take a seeded sample of a dataset, in its order."""
    from streamverify.evaluate.dividing import sample as taken  # noqa: PLC0415 - loads pydantic

    write(f"{taken(dataset, count, seed=seed, to=out)} rows")


def split(
    dataset: Annotated[Path, typer.Argument(help="JSON Lines, one case a row.")],
    *,
    out: Annotated[
        Path,
        typer.Option("--out", help="Folder for NAME.jsonl of each part.", parser=path_from, metavar="<path>"),
    ],
    parts: Annotated[str, typer.Option("--parts", help="NAME=SHARE, with commas between.")] = (
        "train=0.8,test=0.2"
    ),
    seed: SeedOption = 0,
) -> None:
    """Split a dataset so that no passage is in two parts."""
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic
    from streamverify.evaluate.dividing import split as divided  # noqa: PLC0415 - as above

    shares: dict[str, float] = {}
    for one in parts.split(","):
        name, _, share = (word.strip() for word in one.partition("="))
        try:
            shares[name] = float(share)
        except ValueError:
            raise UsageError(f"--parts: write NAME=SHARE, not {one!r}") from None
    for name, rows in divided(dataset, shares, seed=seed, to=out).items():
        write(f"{name}: {rows} rows")


def agree(
    files: Annotated[
        list[Path], typer.Argument(help="The same cases, a file an annotator; or files of `dataset label`.")
    ],
    *,
    min_kappa: Annotated[
        float | None, typer.Option("--min-kappa", min=-1, max=1, help="Fail below this agreement.")
    ] = None,
) -> None:
    """Tell how far annotators agree beyond chance: Cohen's kappa of two, Fleiss' of more.

    Exit status: 0; 1 when agreement is below --min-kappa or could not be computed; 2 for bad input.
    """
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic
    from streamverify.evaluate import read_dataset  # noqa: PLC0415 - as above
    from streamverify.evaluate.agreement import between  # noqa: PLC0415 - as above
    from streamverify.evaluate.merging import agreement_of, holds_labels, read_labels  # noqa: PLC0415 - as above

    if len({file.resolve() for file in files}) < len(files):
        raise UsageError("a file given twice agrees with itself: name one file for each annotator")
    by_hand = [holds_labels(file) for file in files]
    if all(by_hand):
        labels = read_labels(files)
        found, hands = agreement_of(labels), len({one.annotator for one in labels})
    elif any(by_hand):
        raise UsageError(f"{files[by_hand.index(True)]} holds labels by hand and another file does not")
    else:
        found, hands = between([read_dataset(file, warn=complain) for file in files]), len(files)
    _tell(found, hands, min_kappa)


def _tell(found: Agreement, hands: int, least: float | None) -> None:
    from streamverify.figure import NotComputed  # noqa: PLC0415 - loads pydantic

    write(f"{'Cohen' if hands == 2 else 'Fleiss'} kappa  {found}")
    if least is not None and (isinstance(found.kappa, NotComputed) or found.kappa < least):
        raise typer.Exit(FAILED)


def merge(
    dataset: Annotated[Path, typer.Argument(help="JSON Lines whose answers were labelled.")],
    labels: Annotated[list[Path], typer.Argument(help="Files of `dataset label`.")],
    *,
    out: OutOption,
    replacing: Annotated[
        bool, typer.Option("--replace", help="Drop the labels that a row has already.")
    ] = False,
    min_kappa: Annotated[
        float | None, typer.Option("--min-kappa", min=-1, max=1, help="Fail below this agreement.")
    ] = None,
) -> None:
    """Put labels by hand into a dataset; of several annotators what most of them say.

    Sentences on which no label has most votes are told and left without one.
    Exit status: 0; 1 when agreement is below --min-kappa or could not be computed; 2 for bad input.
    """
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic
    from streamverify.evaluate import merging, read_dataset  # noqa: PLC0415 - as above

    refuse_unwritable((dataset, *labels), {"--out": out})
    found = merging.merge(read_dataset(dataset, warn=complain), merging.read_labels(labels))
    if min_kappa is not None and found.agreement is None:
        raise UsageError("--min-kappa: there is one annotator, and nobody to agree with")
    for conflict in found.conflicts:
        complain(str(conflict))
    answers = merging.write_golden(dataset, found, out, replacing=replacing)
    told = [f"{found.sentences} sentences of {answers} answers labelled by {', '.join(found.annotators)}"]
    for count, what in (
        (found.outvoted, "against a vote"),
        (len(found.conflicts), "divided, without a label"),
        (found.unlabelled, "that nobody labelled"),
    ):
        told += [f"{count} {what}"] if count else []
    write("; ".join(told))
    if found.agreement is not None:
        _tell(found.agreement, len(found.annotators), min_kappa)


def convert(
    file: Annotated[Path, typer.Argument(help="The other tool's file.")],
    *,
    form: Annotated[str, typer.Option("--from", help="ragas, deepeval or trec.")],
    out: OutOption,
    qrels: Annotated[
        Path | None, typer.Option("--qrels", help="Judgments of relevance beside a TREC run.")
    ] = None,
) -> None:
    """Turn a dataset of another tool into rows of ours."""
    from streamverify.evaluate.converting import convert as converted  # noqa: PLC0415 - loads pydantic
    from streamverify.evaluate.converting import write_rows  # noqa: PLC0415 - as above

    refuse_unwritable((file, qrels), {"--out": out})
    rows = converted(file, form, qrels=qrels, warn=complain)
    write_rows(rows, out)
    write(f"{len(rows)} rows")
