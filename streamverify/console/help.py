"""How a command shows its arguments: in capitals, as `DATASET`, `[SENTENCE]` and `FILES...`.

Before: `program.py` has every command made of this class. After: `--help`, and errors of usage.

Typer's own way differs between its versions and shows types as Python writes them.
"""

from __future__ import annotations

import re
from typing import Any

import typer
from typer.core import TyperCommand

_SEVERAL = re.compile(r"<list\[(\w+)\]>")


class Command(TyperCommand):
    """A command whose arguments have names in capitals, in its usage, its help and its errors."""

    def __init__(self, name: str | None, **settings: Any) -> None:
        super().__init__(name, **settings)
        for argument in self._arguments():
            argument.metavar = argument.metavar or (argument.name or "").upper()

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ARG002 - as the base class has it
        """What stands behind the command's name in its usage."""
        pieces = [
            _named(argument) if argument.required else f"[{_named(argument)}]"
            for argument in self._arguments()
        ]
        return ["[OPTIONS]", *pieces]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The sections of arguments, without types, and of options."""
        arguments, options = [], []
        for parameter in self.get_params(ctx):
            told = parameter.get_help_record(ctx)
            if told is None:
                continue
            if parameter.param_type_name == "argument":
                arguments.append((_named(parameter), told[1]))
            else:
                options.append((_SEVERAL.sub(lambda kind: f"<{kind[1].lower()}>", told[0]), told[1]))
        for title, rows in (("Arguments", arguments), ("Options", options)):
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def _arguments(self) -> list[Any]:
        return [one for one in self.params if one.param_type_name == "argument"]


class Unnamed(Command):
    """A command that is run where its group is called without the name of one."""

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """The usage as one writes it, without the command's own name."""
        formatter.write_usage(ctx.parent.command_path, " ".join(self.collect_usage_pieces(ctx)))


def in_one_style(app: typer.Typer) -> None:
    """Have all commands of an application, and of those below it, made of these classes."""
    for command in app.registered_commands:
        if not issubclass(command.cls or TyperCommand, Command):
            command.cls = Command
    for group in app.registered_groups:
        if group.typer_instance is not None:
            in_one_style(group.typer_instance)


def _named(argument: Any) -> str:
    return f"{argument.metavar}..." if argument.nargs != 1 else str(argument.metavar)
