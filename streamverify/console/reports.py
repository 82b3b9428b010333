"""`streamverify report`, and where `streamverify evaluate` writes its reports.

Before: `program.py` registers the command. After: `evaluate/report/`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamverify.console.outputs import refuse_unwritable
from streamverify.console.shell import complain

if TYPE_CHECKING:
    from streamverify.evaluate.checked import Checked
    from streamverify.types import Passage

HtmlOption = Annotated[
    Path | None, typer.Option("--html", help="Write one page to look at and to mail around here.")
]
MarkdownOption = Annotated[Path | None, typer.Option("--md", help="Write a note for a pull request here.")]
RedactOption = Annotated[bool, typer.Option("--redact-pii", help="Put blocks over personal data in these.")]
JunitOption = Annotated[Path | None, typer.Option("--junit", help="Write JUnit's XML here.")]


def report(
    run: Annotated[Path, typer.Argument(help="A finished journal; or a run's file, which has no answers.")],
    *,
    html: HtmlOption = None,
    md: MarkdownOption = None,
    junit: JunitOption = None,
    redact_pii: RedactOption = False,
    gates: Annotated[Path | None, typer.Option("--gates", help="TOML with what figures must reach.")] = None,
    baseline: Annotated[
        Path | None, typer.Option("--baseline", help="A run's file to set beside this one.")
    ] = None,
    allow_different_cases: Annotated[
        bool, typer.Option("--allow-different-cases", help="Compare the cases that both runs have.")
    ] = False,
) -> None:
    """Write a run's reports again; nothing is scored.

    Exit status: 0, whatever the gates say; 2 for bad input.
    """
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic
    from streamverify.evaluate import Run, compare, decide, read_gates  # noqa: PLC0415 - as above
    from streamverify.evaluate.checked import Checked  # noqa: PLC0415 - as above

    if html is None and md is None and junit is None:
        raise UsageError("nothing to write: give --html, --md or --junit with a path")
    ready((run, gates), {"--html": html, "--md": md, "--junit": junit})
    asked = read_gates(gates) if gates is not None else None
    found = Run.read(run)
    compared = None
    if asked is not None and baseline is None and (note := asked.unheld(gates)):
        complain(note)
    if baseline is not None:
        rules = asked.baseline if asked is not None else None
        before = Run.read(baseline)
        compared = compare(before, found, rules=rules, allow_different_cases=allow_different_cases)
    write_reports(
        Checked(found, decide(found, asked) if asked is not None else (), compared),
        html=html,
        md=md,
        junit=junit,
        redact_pii=redact_pii,
    )


def ready(reads: Iterable[Path | None], writes: Mapping[str, Path | None]) -> None:
    """Refuse what could not be written at the end, before anything is scored; see `refuse_unwritable`.

    Raises:
        MissingExtraError: the extra that a page needs is not installed. Caller.
        UsageError: a file cannot be written, or would be written over the input. Caller.
    """
    refuse_unwritable(reads, writes)
    if writes.get("--html") is not None:
        from streamverify._extras import require  # noqa: PLC0415 - kept out of start-up

        require("jinja2", extra="eval", feature="--html")


def write_reports(
    found: Checked,
    *,
    html: Path | None,
    md: Path | None,
    junit: Path | None,
    redact_pii: bool = False,
    passages: Mapping[str, Sequence[Passage]] | None = None,
) -> None:
    """Write those that were asked for; `passages` are those of each case, where they are at hand.

    Raises:
        UsageError: one cannot be written. Caller.
    """
    from streamverify.files.written import write_whole  # noqa: PLC0415 - loads pydantic

    run = found.run
    if redact_pii:
        from streamverify.evaluate import redacted_run  # noqa: PLC0415 - loads pydantic

        run = redacted_run(run, passages=passages)
    if html is not None:
        run.html(html, gates=found.gates, comparison=found.comparison)
    if md is not None:
        from streamverify.evaluate.report import markdown  # noqa: PLC0415 - loads pydantic

        write_whole(md, markdown.render(run, gates=found.gates, comparison=found.comparison))
    if junit is not None:
        from streamverify.evaluate.report import junit as xml  # noqa: PLC0415 - as above

        write_whole(junit, xml.render(run, gates=found.gates, comparison=found.comparison))
