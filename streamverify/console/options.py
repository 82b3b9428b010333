"""Options that say what judges, for every command that judges.

Before: `program.py` builds the commands. After: `verifier.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from streamverify.verifier import Verifier


class PresetWord(StrEnum):
    """Thresholds that come with a model."""

    STRICT = "strict"
    BALANCED = "balanced"
    LENIENT = "lenient"


ScorerOption = Annotated[
    str | None,
    typer.Option("--scorer", help="default, lexical, or a model's folder."),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model", help="fast, accurate, cascade, an installed model, or a folder; not with --scorer."
    ),
]
CalibrationOption = Annotated[
    Path | None, typer.Option("--calibration", help="Thresholds to use in place of the model's own.")
]
PresetOption = Annotated[
    PresetWord | None,
    typer.Option(
        "--preset",
        help="Fewer wrong sentences pass, both alike, or fewer right ones flagged; of the model's own.",
    ),
]


@dataclass(frozen=True, slots=True)
class Judging:
    """What these options said."""

    scorer: str | None
    model: str | None
    calibration: Path | None = None
    preset: PresetWord | None = None

    def verifier(self, **more: Any) -> Verifier:
        """A verifier that judges so.

        Raises:
            UsageError: two of them exclude each other. Caller.
            ModelError: the calibration cannot be read. Operator.
        """
        from streamverify.calibration import Calibration  # noqa: PLC0415 - loads pydantic
        from streamverify.verifier import Verifier  # noqa: PLC0415 - loads anyio and pydantic

        return Verifier(
            self.scorer,
            model=self.model,
            calibration=None if self.calibration is None else Calibration.read(self.calibration),
            preset=None if self.preset is None else self.preset.value,
            **more,
        )
