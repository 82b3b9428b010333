"""The commands: parse, call, print.

Before: `program.py` names them, `shell.py` guards them. After: `files.py`, `verifier.py`, `views.py`.

Nothing heavy is imported before a command needs it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterable, Awaitable, Callable
from enum import StrEnum
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import typer

from streamverify import __version__
from streamverify.console.options import (
    CalibrationOption,
    Judging,
    ModelOption,
    PresetOption,
    ScorerOption,
)
from streamverify.console.paths import path_from
from streamverify.console.shell import FAILED, complain, write
from streamverify.text.printing import printable_json

if TYPE_CHECKING:
    from streamverify.demo import Case
    from streamverify.events import Event
    from streamverify.policy import Policy
    from streamverify.types import JudgedSentence, Label, Report
    from streamverify.verifier import Verifier

T = TypeVar("T")


class PolicyName(StrEnum):
    """The policies that need no code."""

    OBSERVE = "observe"
    FLAG = "flag"
    REDACT = "redact"
    HALT = "halt"


class Unverified(StrEnum):
    """What becomes of a held sentence that could not be checked."""

    WITHHOLD = "withhold"
    RELEASE = "release"


class CitationNeed(StrEnum):
    """Which sentences must carry a citation."""

    NEVER = "never"
    CLAIMS = "claims"
    NUMBERS = "numbers"


PassagesOption = Annotated[
    Path,
    typer.Option(
        "--passages",
        "-p",
        help="JSON Lines or a JSON array of id, text, title, metadata; or a text file, or a folder of them.",
        parser=path_from,
        metavar="<path>",
    ),
]
PolicyOption = Annotated[PolicyName, typer.Option("--policy", help="What to do with what is not supported.")]
UnverifiedOption = Annotated[
    Unverified,
    typer.Option("--on-unverified", help="What cannot be checked, where the policy holds text."),
]
QuestionOption = Annotated[
    str | None, typer.Option("--question", "-q", help="What was asked; its figures count as known.")
]
CitationsOption = Annotated[
    CitationNeed, typer.Option("--require-citations", help="Which sentences must carry a citation.")
]


def streamverify(
    *, version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False
) -> None:
    """Tell which sentences of an answer its passages support, while it streams."""
    if version:
        print(f"streamverify {__version__}")
        raise typer.Exit


def check(
    *,
    passages: PassagesOption,
    answer: Annotated[
        str | None, typer.Option("--answer", "-a", help="A text file, or - for standard input.")
    ] = None,
    answer_text: Annotated[str | None, typer.Option("--answer-text", help="The answer itself.")] = None,
    question: QuestionOption = None,
    policy: PolicyOption = PolicyName.FLAG,
    on_unverified: UnverifiedOption = Unverified.WITHHOLD,
    scorer: ScorerOption = None,
    model: ModelOption = None,
    calibration: CalibrationOption = None,
    preset: PresetOption = None,
    require_citations: CitationsOption = CitationNeed.NEVER,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    fail_on: Annotated[
        str, typer.Option("--fail-on", help="Labels, with commas between, that make the exit status 1.")
    ] = "",
) -> None:
    """Check one whole answer.

    Exit status: 0; 1 when a sentence has a label named by --fail-on; 2 for bad input.
    """
    from streamverify.console.files import read_answer, read_passages  # noqa: PLC0415 - loads anyio
    from streamverify.console.progress import with_progress  # noqa: PLC0415 - loads pydantic
    from streamverify.types import Label  # noqa: PLC0415 - as above

    labels = _labels(fail_on)
    sources, text = read_passages(passages), _answer(answer, answer_text, read_answer)
    verifier = _verifier(Judging(scorer, model, calibration, preset), on_unverified, require_citations.value)
    show = _unseen if as_json else _viewer("", question or "", None, whole=True)

    async def whole() -> Report:
        async with (
            verifier,
            verifier.stream(text, sources, policy=_policy(policy), question=question) as stream,
        ):
            # A live view shows how far it is by itself.
            quiet = as_json or not sys.stdout.isatty()
            await show(with_progress(stream, len(text), sys.stderr) if quiet else stream)
            return stream.report

    report = _run(whole)
    if as_json:
        write(printable_json(report.model_dump_json(indent=2)))
    unchecked = report.counts[Label.UNVERIFIED]
    if unchecked and Label.UNVERIFIED not in labels:
        some, them = ("1 sentence", "it") if unchecked == 1 else (f"{unchecked} sentences", "them")
        complain(f"{some} could not be checked; add unverified to --fail-on to fail on {them}")
    if any(report.counts[label] for label in labels):
        raise typer.Exit(FAILED)


def stream(
    *,
    passages: PassagesOption,
    question: QuestionOption = None,
    policy: PolicyOption = PolicyName.FLAG,
    on_unverified: UnverifiedOption = Unverified.WITHHOLD,
    scorer: ScorerOption = None,
    model: ModelOption = None,
    calibration: CalibrationOption = None,
    preset: PresetOption = None,
    require_citations: CitationsOption = CitationNeed.NEVER,
) -> None:
    """Read an answer on standard input as it arrives; write events, one JSON object a line, at once."""
    from streamverify.console.files import read_passages, stdin_pieces  # noqa: PLC0415 - loads anyio

    sources = read_passages(passages)
    verifier = _verifier(Judging(scorer, model, calibration, preset), on_unverified, require_citations.value)

    async def events() -> None:
        from anyio.to_thread import run_sync  # noqa: PLC0415 - as above

        source = stdin_pieces()
        async with (
            verifier,
            verifier.stream(source, sources, policy=_policy(policy), question=question) as told,
        ):
            async for event in told:
                # In a thread: a reader that is behind must hold up the source, not the verdicts' deadlines.
                await run_sync(write, printable_json(event.model_dump_json()))

    _run(events)


def demo(
    case: Annotated[str, typer.Argument(help="Which bundled case; see --list.", show_default=True)] = "docs",
    *,
    speed: Annotated[float, typer.Option("--speed", help="Tokens a second; 0 for no pause.")] = 40.0,
    policy: PolicyOption = PolicyName.FLAG,
    on_unverified: UnverifiedOption = Unverified.WITHHOLD,
    scorer: ScorerOption = None,
    model: ModelOption = None,
    preset: PresetOption = None,
    list_cases: Annotated[bool, typer.Option("--list", help="Name the bundled cases and exit.")] = False,
) -> None:
    """Replay a bundled answer with live badges; no key, no network."""
    from streamverify.demo import SLOWEST, case_ids, load_case, replay  # noqa: PLC0415 - loads anyio
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic

    if list_cases:
        for name in case_ids():
            print(f"{name:<10} {load_case(name).title} ({load_case(name).domain})")
        return
    if not (speed == 0 or speed >= SLOWEST):
        raise UsageError(
            f"--speed must be {SLOWEST:g} or more tokens a second, or 0 for no pause, not {speed:g}"
        )
    shown = load_case(case)
    verifier = _verifier(Judging(scorer, model, None, preset), on_unverified, shown.require_citations)
    # Time for the passages to be read, as any model takes before its first token.
    source = replay(shown.answer, speed or float("inf"), first_token_after=0.4 if speed else 0.0)

    show = _viewer(f"{shown.title} · {policy}", shown.question, shown, whole=not 0 < speed < inf)

    async def live() -> None:
        told = verifier.stream(source, shown.sources(), policy=_policy(policy), question=shown.question)
        async with verifier, told:
            await show(told)

    _run(live)


ModelArgument = Annotated[
    str, typer.Argument(help="fast, the one inside; an installed model; or a model's folder.")
]


def model_info(
    model: ModelArgument = "fast",
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Name, checksum, sizes and thresholds of the model, and the provider it really runs on."""
    from streamverify.scorers.model_card import describe, folder_named  # noqa: PLC0415 - loads onnxruntime

    card = describe(folder_named(model))
    write(card.model_dump_json(indent=2) if as_json else "\n".join(card.lines()))


def model_verify(
    model: ModelArgument = "fast",
) -> None:
    """Check every file against its checksum, and the model's scores against recorded ones.

    Exit status: 0; 1 when the scores differ; 2 when a file is damaged or missing.
    """
    from streamverify.scorers.model_card import (  # noqa: PLC0415 - loads onnxruntime
        describe,
        folder_named,
        measured_parity,
    )
    from streamverify.scorers.parity import TOLERANCE  # noqa: PLC0415 - as above

    folder = folder_named(model)
    for file in describe(folder).files:
        write(f"ok      {file.name:<20} sha256 {file.sha256}")
    parity = measured_parity(folder)
    outcome = "ok" if parity.holds else "FAILED"
    write(
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
    judging: Judging, on_unverified: Unverified, require_citations: Literal["never", "claims", "numbers"]
) -> Verifier:
    from streamverify.judging.citations import CitationOptions  # noqa: PLC0415 - loads pydantic

    return judging.verifier(
        on_unverified=on_unverified.value, citations=CitationOptions(require=require_citations)
    )


def _run(work: Callable[[], Awaitable[T]]) -> T:
    import anyio  # noqa: PLC0415 - kept out of start-up

    return anyio.run(work)


def _viewer(
    title: str, question: str, case: Case | None, *, whole: bool = False
) -> Callable[[AsyncIterable[Event]], Awaitable[None]]:
    """What shows a stream on standard output until it has ended; made before the stream's clock runs."""
    from streamverify.console.screen import Screen  # noqa: PLC0415 - loads rich
    from streamverify.console.views import Heading, view_for, watch  # noqa: PLC0415 - as above

    def by_hand(sentence: JudgedSentence) -> Label | None:
        labelled = case.by_hand(sentence.start, sentence.end) if case is not None else None
        return None if labelled is None else labelled.label

    heading = Heading(title, question, by_hand if case is not None else None, whole)
    view = view_for(Screen(), heading)
    return lambda told: watch(told, view)


def _answer(path: str | None, text: str | None, read: Callable[[str], str]) -> str:
    """The one answer that was given, by its path or as it is."""
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic

    if text is None and path is not None:
        if not path:
            raise UsageError("--answer takes a file, or - for standard input; --answer-text takes the text")
        if " " in path and not os.path.lexists(path):
            raise UsageError("--answer takes a file, and none has this name; --answer-text takes the text")
        return read(path)
    if text is None or path is not None:
        raise UsageError("give the answer once: --answer FILE, --answer - or --answer-text TEXT")
    if not text.strip():
        raise UsageError("--answer-text: the answer is empty")
    return text


async def _unseen(told: AsyncIterable[Event]) -> None:
    async for _ in told:
        pass
