"""The program `streamverify`: every command of every room, by name.

Before: a shell. After: `console/`, `server/cli.py`.

The one place that knows the console and the server; neither knows the other. The dashboard knows both.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import typer
import typer.main
from typer.core import TyperGroup

from streamverify.console import audit, audit_graph, audit_runs, cli, datasets, domains, monitor
from streamverify.console.arms import ab_decide, ab_size
from streamverify.console.calibrate import calibrate
from streamverify.console.evaluate import compare, evaluate
from streamverify.console.help import Unnamed, in_one_style
from streamverify.console.judging import agree
from streamverify.console.reports import report
from streamverify.console.shell import USAGE, complain, guarded
from streamverify.dashboard.cli import dashboard
from streamverify.demo_day.cli import monitor as day_monitor
from streamverify.server.cli import serve
from streamverify.server.label_cli import label


class _Program(TyperGroup):
    """All commands; what is wrong with an option is told in its own words."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; pydantic, with which newer typers read, puts words of its own before others."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise


app = typer.Typer(
    cls=_Program,
    no_args_is_help=True,
    epilog="Try: streamverify demo",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.callback(invoke_without_command=True)(guarded(cli.streamverify))

app.command(
    epilog="Example: streamverify check -p passages.jsonl -a answer.txt --fail-on unsupported,contradicted"
)(guarded(cli.check))
app.command(epilog="Example: my-model | streamverify stream -p passages.jsonl | jq -c .kind")(
    guarded(cli.stream)
)


class _CaseOrCommand(TyperGroup):
    """`streamverify demo citations` is `streamverify demo case citations`: what is no command is a case."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command's name before what is left out without one."""
        return super().parse_args(ctx, args if args and args[0] in self.commands else ["case", *args])


shows = typer.Typer(cls=_CaseOrCommand, rich_markup_mode=None, help="See it work; no key, no network.")
shows.command(
    "case",
    cls=Unnamed,
    epilog="Example: streamverify demo citations --speed 60 --policy redact. "
    "Also: streamverify demo monitor, a day of traffic and what is seen of it.",
)(guarded(cli.demo))
shows.command("monitor", epilog="Example: streamverify demo monitor --seconds 20")(guarded(day_monitor))
app.add_typer(shows, name="demo")
app.command(epilog="Example: streamverify serve --demo")(guarded(serve))
app.command(epilog="Example: streamverify dashboard --records answers.db")(guarded(dashboard))
app.command(epilog="Example: streamverify evaluate answers.jsonl")(guarded(evaluate))
app.command(epilog="Example: streamverify compare main.json branch.json")(guarded(compare))
app.command(epilog="Example: streamverify calibrate labelled.jsonl --out calibration.json")(
    guarded(calibrate)
)

ab = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Decide between two configurations.")
ab.command("size", epilog="Example: streamverify ab size --effect 0.2")(guarded(ab_size))
ab.command("decide", epilog="Example: streamverify ab decide a.json b.json --metric faithfulness")(
    guarded(ab_decide)
)
app.add_typer(ab, name="ab")
app.command(epilog="Example: streamverify report journal.jsonl --html run.html")(guarded(report))

dataset = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Make, label and divide datasets.")
dataset.command("make", epilog="Example: streamverify dataset make passages.jsonl --out questions.jsonl")(
    guarded(datasets.make)
)
dataset.command(
    "sample", epilog="Example: streamverify dataset sample all.jsonl --count 50 --out some.jsonl"
)(guarded(datasets.sample))
dataset.command("split", epilog="Example: streamverify dataset split all.jsonl --out parts")(
    guarded(datasets.split)
)
dataset.command("agree", epilog="Example: streamverify dataset agree ann.jsonl ben.jsonl")(
    guarded(datasets.agree)
)
dataset.command("convert", epilog="Example: streamverify dataset convert r.jsonl --from ragas --out d.jsonl")(
    guarded(datasets.convert)
)
dataset.command("label", epilog="Example: streamverify dataset label answers.jsonl --out labels.jsonl")(
    guarded(label)
)
dataset.command(
    "merge", epilog="Example: streamverify dataset merge answers.jsonl labels.jsonl --out golden.jsonl"
)(guarded(datasets.merge))
app.add_typer(dataset, name="dataset")

judge = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Look at a model that judges.")
judge.callback()(lambda: None)  # one command all the same: `judge agree`
judge.command(
    "agree", epilog="Example: streamverify judge agree labelled.jsonl --judge URL --judge-model NAME"
)(guarded(agree))
app.add_typer(judge, name="judge")

records = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Ask what was recorded of streams.")
for _name, _given, _asked in (
    ("list", "--user ann", audit.listed),
    ("show", "STREAM", audit.show),
    ("documents", "STREAM 0", audit.documents),
    ("access", "STREAM", audit.access),
    ("withheld", "", audit.withheld),
    ("failed", "", audit.failed),
    ("judge", "STREAM 1 incorrect --by ann", audit.judge),
    ("verify", "", audit.verify),
    ("erase", "--user ann --reason 'request 17'", audit.erase),
    ("upgrade", "", audit.upgrade),
    ("cited", "--since 2026-11-01", audit_graph.cited),
    ("scopes", "", audit_graph.scopes),
    ("depends", "", audit_graph.depends),
    ("failures", "--criterion grounding", audit_graph.failures),
    ("blamed", "", audit_graph.blamed),
    ("replay", "--graph answers.graph", audit_graph.replay),
    ("import", "journal.jsonl", audit_runs.add),
    ("runs", "", audit_runs.runs),
):
    _example = " ".join(filter(None, ("streamverify audit", _name, _given, "--records answers.db")))
    records.command(_name, epilog=f"Example: {_example}")(guarded(_asked))
app.add_typer(records, name="audit")

watch = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Watch what was recorded of streams.")
watch.command(
    "drift",
    epilog="Example: streamverify monitor drift --records answers.db --reference 2026-11-01..2026-11-08",
)(guarded(monitor.drift))
watch.command("check", epilog="Example: streamverify monitor check --records answers.db --rules alerts.toml")(
    guarded(monitor.check)
)
watch.command("files", epilog="Example: streamverify monitor files /etc/prometheus/rules")(
    guarded(monitor.files)
)
app.add_typer(watch, name="monitor")

app.command(epilog="Example: streamverify validate answers.jsonl --domain company_expert --as ann")(
    guarded(domains.validate)
)
kinds = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Kinds of answers, and their rules.")
kinds.command("list", epilog="Example: streamverify domains list")(guarded(domains.listed))
kinds.command("show", epilog="Example: streamverify domains show company_expert")(guarded(domains.show))
kinds.command("check", epilog="Example: streamverify domains check company_expert -a answer.txt -p p.jsonl")(
    guarded(domains.check)
)
app.add_typer(kinds, name="domains")

model = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Look at the model that scores.")
model.command("info", epilog="Example: streamverify model info")(guarded(cli.model_info))
model.command("verify", epilog="Example: streamverify model verify")(guarded(cli.model_verify))
app.add_typer(model, name="model")
in_one_style(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: without the program's name; None for those of this process.

    Returns:
        The exit status, as `console/shell.py` lists them.
    """
    if sys.stdout is None:  # closed by whoever started this: a result would vanish without a word
        complain("standard output is closed")
        return USAGE
    if sys.stderr is None:  # a result is no worse for it; and no file opened later becomes number 2
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - as long as the process
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A terminal that cannot show a character gets its escape, never a traceback.
            stream.reconfigure(errors="backslashreplace")
    try:
        _command()(args=None if arguments is None else list(arguments), prog_name="streamverify")
    except SystemExit as ending:
        return int(ending.code or 0)
    return 0


@cache
def _command() -> Callable[..., object]:
    # Reading the signatures of all commands takes longer than most of them do, and tests run hundreds.
    return typer.main.get_command(app)
