"""The command line: parse, call, print.

Before: a shell. After: `files.py`, `verifier.py`, `terminal.py`.

Exit status: 0 done · 1 what was asked to fail on was found · 2 bad usage, bad input or no model ·
130 interrupted · 141 the reader of standard output went away. Standard output carries results only;
errors are one line on standard error. Nothing heavy is imported before a command needs it.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, ParamSpec, TypeVar

import typer

from streamverify import __version__
from streamverify.server.cli import serve

if TYPE_CHECKING:
    from streamverify.demo import Case
    from streamverify.policy import Policy
    from streamverify.stream import VerifiedStream
    from streamverify.types import JudgedSentence, Label, Report
    from streamverify.verifier import Verifier

P = ParamSpec("P")
T = TypeVar("T")

FAILED, USAGE, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141

app = typer.Typer(
    no_args_is_help=True,
    epilog="Try: streamverify demo",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
model_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Look at the model that scores.")
app.add_typer(model_app, name="model")


class PolicyName(StrEnum):
    """The policies that need no code."""

    OBSERVE = "observe"
    FLAG = "flag"
    REDACT = "redact"
    HALT = "halt"


class CitationNeed(StrEnum):
    """Which sentences must carry a citation."""

    NEVER = "never"
    CLAIMS = "claims"
    NUMBERS = "numbers"


PassagesOption = Annotated[
    Path,
    typer.Option(
        "--passages", "-p", help="JSON Lines with id, text, title, metadata; or a folder of text files."
    ),
]
PolicyOption = Annotated[PolicyName, typer.Option("--policy", help="What to do with what is not supported.")]
QuestionOption = Annotated[
    str | None, typer.Option("--question", "-q", help="What was asked; its figures count as known.")
]
ScorerOption = Annotated[str, typer.Option("--scorer", help="default, lexical, or a model's folder.")]
CalibrationOption = Annotated[
    Path | None, typer.Option("--calibration", help="Thresholds to use in place of the model's own.")
]
CitationsOption = Annotated[
    CitationNeed, typer.Option("--require-citations", help="Which sentences must carry a citation.")
]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: without the program's name; None for those of this process.

    Returns:
        The exit status.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A terminal that cannot show a character gets its escape, never a traceback.
            stream.reconfigure(errors="backslashreplace")
    try:
        app(args=None if arguments is None else list(arguments), prog_name="streamverify")
    except SystemExit as ending:
        return int(ending.code or 0)
    return 0


def _guarded(command: Callable[P, None]) -> Callable[P, None]:
    """The command with every expected way of going wrong turned into one line and an exit status."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        from streamverify.errors import StreamVerifyError  # noqa: PLC0415 - loads pydantic

        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except StreamVerifyError as error:
            _complain(str(error))
            raise typer.Exit(USAGE) from None
        except KeyboardInterrupt:
            _complain("interrupted before the end; what was shown is not a whole result")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # What is still buffered has no reader; the interpreter would complain when flushing it at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(BROKEN_PIPE) from None

    return run


@app.callback(invoke_without_command=True)
def streamverify(
    *, version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False
) -> None:
    """Tell which sentences of an answer its passages support, while it streams."""
    if version:
        print(f"streamverify {__version__}")
        raise typer.Exit


@app.command(
    epilog="Example: streamverify check -p passages.jsonl -a answer.txt --fail-on unsupported,contradicted"
)
@_guarded
def check(
    *,
    passages: PassagesOption,
    answer: Annotated[str, typer.Option("--answer", "-a", help="A text file, or - for standard input.")],
    question: QuestionOption = None,
    policy: PolicyOption = PolicyName.FLAG,
    scorer: ScorerOption = "default",
    calibration: CalibrationOption = None,
    require_citations: CitationsOption = CitationNeed.NEVER,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    fail_on: Annotated[
        str, typer.Option("--fail-on", help="Labels, with commas between, that make the exit status 1.")
    ] = "",
) -> None:
    """Check one whole answer.

    Exit status: 0; 1 when a sentence has a label named by --fail-on; 2 for bad input.
    """
    from streamverify.files import read_answer, read_passages  # noqa: PLC0415 - loads anyio
    from streamverify.types import Label  # noqa: PLC0415 - loads pydantic

    labels = _labels(fail_on)
    sources, text = read_passages(passages), read_answer(answer)
    verifier = _verifier(scorer, calibration, require_citations.value)
    show = _unseen if as_json else _viewer("", question or "", None)

    async def whole() -> Report:
        async with (
            verifier,
            verifier.stream(text, sources, policy=_policy(policy), question=question) as stream,
        ):
            await show(stream)
            return stream.report

    report = _run(whole)
    if as_json:
        _write(report.model_dump_json(indent=2))
    unchecked = report.counts[Label.UNVERIFIED]
    if labels and unchecked and Label.UNVERIFIED not in labels:
        _complain(f"{unchecked} sentences could not be checked; add unverified to --fail-on to fail on them")
    if any(report.counts[label] for label in labels):
        raise typer.Exit(FAILED)


@app.command(epilog="Example: my-model | streamverify stream -p passages.jsonl | jq -c .kind")
@_guarded
def stream(
    *,
    passages: PassagesOption,
    question: QuestionOption = None,
    policy: PolicyOption = PolicyName.FLAG,
    scorer: ScorerOption = "default",
    calibration: CalibrationOption = None,
    require_citations: CitationsOption = CitationNeed.NEVER,
) -> None:
    """Read an answer on standard input as it arrives; write events, one JSON object a line, at once."""
    from streamverify.files import read_passages, stdin_pieces  # noqa: PLC0415 - loads anyio

    sources = read_passages(passages)
    verifier = _verifier(scorer, calibration, require_citations.value)

    async def events() -> None:
        from anyio.to_thread import run_sync  # noqa: PLC0415 - as above

        source = stdin_pieces()
        async with (
            verifier,
            verifier.stream(source, sources, policy=_policy(policy), question=question) as told,
        ):
            async for event in told:
                # In a thread: a reader that is behind must hold up the source, not the verdicts' deadlines.
                await run_sync(_write, event.model_dump_json())

    _run(events)


@app.command(epilog="Example: streamverify demo citations --speed 60 --policy redact")
@_guarded
def demo(
    case: Annotated[str, typer.Argument(help="Which bundled case; see --list.", show_default=True)] = "docs",
    *,
    speed: Annotated[float, typer.Option("--speed", help="Tokens a second; 0 for no pause.")] = 40.0,
    policy: PolicyOption = PolicyName.FLAG,
    scorer: ScorerOption = "default",
    list_cases: Annotated[bool, typer.Option("--list", help="Name the bundled cases and exit.")] = False,
) -> None:
    """Replay a bundled answer with live badges; no key, no network."""
    from streamverify.demo import case_ids, load_case, replay  # noqa: PLC0415 - loads anyio
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic

    if list_cases:
        for name in case_ids():
            print(f"{name:<10} {load_case(name).title} ({load_case(name).domain})")
        return
    if not speed >= 0:
        raise UsageError(f"--speed must be 0 or more, not {speed:g}")
    shown = load_case(case)
    verifier = _verifier(scorer, None, shown.require_citations)
    # Time for the passages to be read, as any model takes before its first token.
    source = replay(shown.answer, speed or float("inf"), first_token_after=0.4 if speed else 0.0)

    show = _viewer(f"{shown.title} · {policy}", shown.question, shown)

    async def live() -> None:
        told = verifier.stream(source, shown.sources(), policy=_policy(policy), question=shown.question)
        async with verifier, told:
            await show(told)

    _run(live)


app.command("serve", epilog="Example: streamverify serve --demo")(_guarded(serve))


@model_app.command("info", epilog="Example: streamverify model info")
@_guarded
def model_info(
    folder: Annotated[Path | None, typer.Argument(help="A model's folder; default: the one inside.")] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Name, checksum, sizes and thresholds of the model, and the provider it really runs on."""
    from streamverify.model_card import describe  # noqa: PLC0415 - loads onnxruntime

    card = describe(folder)
    _write(card.model_dump_json(indent=2) if as_json else "\n".join(card.lines()))


@model_app.command("verify", epilog="Example: streamverify model verify")
@_guarded
def model_verify(
    folder: Annotated[Path | None, typer.Argument(help="A model's folder; default: the one inside.")] = None,
) -> None:
    """Check every file against its checksum, and the model's scores against recorded ones.

    Exit status: 0; 1 when the scores differ; 2 when a file is damaged or missing.
    """
    from streamverify.model_card import describe, measured_parity  # noqa: PLC0415 - loads onnxruntime
    from streamverify.scorers.parity import TOLERANCE  # noqa: PLC0415 - as above

    for file in describe(folder).files:
        _write(f"ok      {file.name:<20} sha256 {file.sha256}")
    parity = measured_parity(folder)
    outcome = "ok" if parity.holds else "FAILED"
    _write(
        f"{outcome:<7} {parity.values} recorded probabilities, largest difference {parity.largest:.4f} "
        f"(at most {TOLERANCE:g})"
    )
    if not parity.holds:
        raise typer.Exit(FAILED)


def _labels(names: str) -> frozenset[Label]:
    """The labels in a comma-separated list."""
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic
    from streamverify.types import Label  # noqa: PLC0415 - as above

    wanted = [name.strip().lower() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in set(Label):
            raise UsageError(f"--fail-on: {name!r} is no label; choose from {', '.join(Label)}")
    return frozenset(Label(name) for name in wanted)


def _policy(name: PolicyName) -> Policy:
    from streamverify.policy import Flag, Halt, Observe, Redact  # noqa: PLC0415 - loads pydantic

    match name:
        case PolicyName.OBSERVE:
            return Observe()
        case PolicyName.FLAG:
            return Flag()
        case PolicyName.REDACT:
            return Redact()
        case PolicyName.HALT:
            return Halt()


def _verifier(
    scorer: str, calibration: Path | None, require_citations: Literal["never", "claims", "numbers"]
) -> Verifier:
    from streamverify.calibration import Calibration  # noqa: PLC0415 - loads pydantic
    from streamverify.citing import CitationOptions  # noqa: PLC0415 - as above
    from streamverify.scorers.named import scorer_named  # noqa: PLC0415 - as above
    from streamverify.verifier import Verifier  # noqa: PLC0415 - loads anyio and pydantic

    return Verifier(
        scorer_named(scorer),
        calibration=None if calibration is None else Calibration.read(calibration),
        citations=CitationOptions(require=require_citations),
    )


def _run(work: Callable[[], Awaitable[T]]) -> T:
    import anyio  # noqa: PLC0415 - kept out of start-up

    return anyio.run(work)


def _viewer(title: str, question: str, case: Case | None) -> Callable[[VerifiedStream], Awaitable[None]]:
    """What shows a stream on standard output until it has ended; made before the stream's clock runs."""
    from rich.console import Console  # noqa: PLC0415 - kept out of start-up

    from streamverify.terminal import Heading, view_for, watch  # noqa: PLC0415 - as above

    def by_hand(sentence: JudgedSentence) -> Label | None:
        labelled = case.by_hand(sentence.start, sentence.end) if case is not None else None
        return None if labelled is None else labelled.label

    view = view_for(Console(highlight=False), Heading(title, question, by_hand if case is not None else None))
    return lambda told: watch(told, view)


async def _unseen(told: VerifiedStream) -> None:
    async for _ in told:
        pass


def _write(text: str) -> None:
    """A line of results, handed over at once."""
    print(text, flush=True)


def _complain(message: str) -> None:
    from streamverify.transcript import one_line  # noqa: PLC0415 - loads rich

    print(f"streamverify: {one_line(message)}", file=sys.stderr, flush=True)
