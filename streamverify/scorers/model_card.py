"""What can be told about a model's folder, and whether the model still is what it was."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from streamverify.calibration import Calibration
from streamverify.errors import ModelNotFoundError, UsageError
from streamverify.scorers.cascade import NAME as CASCADE
from streamverify.scorers.installed import EMBEDDED, hint, installed_folder
from streamverify.scorers.model_files import embedded, verify
from streamverify.scorers.parity import Parity, parity
from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.types import Fingerprint
from streamverify.value import Value


class ModelFile(Value):
    """A file of a model; its checksum is the recorded one, and was found to be right."""

    name: str
    bytes: int
    sha256: str


class ModelCard(Value):
    """A model that was loaded and checked."""

    folder: str
    fingerprint: Fingerprint
    window_tokens: int
    """Longest window of a passage."""
    claim_tokens: int
    """Longest claim; a longer one is unverified."""
    calibration: Calibration
    files: tuple[ModelFile, ...]

    def lines(self) -> Iterator[str]:
        """The card for a person, line by line."""
        mark, thresholds = self.fingerprint, self.calibration
        weights = ", ".join(f"{name} {weight:+.3f}" for name, weight in thresholds.weights.items())
        yield f"model        {mark.model}"
        yield f"revision     {mark.revision}"
        yield f"precision    {mark.precision}"
        yield f"provider     {mark.provider}"
        yield f"reads        windows of {self.window_tokens} tokens, claims of {self.claim_tokens}"
        yield f"supported    from a calibrated probability of {thresholds.threshold:g}"
        opposed = thresholds.contradiction_threshold
        yield f"contradicted from {opposed:g}; token at risk from {thresholds.token_risk:g}"
        for name, one in thresholds.presets.items():
            rates = f"{100 * one.false_alarms:.1f} false alarms, {100 * one.misses:.1f} misses of 100"
            yield f"{name:<12} from {one.threshold:g}: {rates} on {one.measured_on}"
        yield f"calibration  {weights}, bias {thresholds.bias:+.3f}"
        yield f"fitted on    {thresholds.fitted_on}"
        yield f"folder       {self.folder}"
        for file in self.files:
            yield f"  {file.name:<20} {file.bytes:>11,} bytes  sha256 {file.sha256[:12]}…"


def folder_named(name: str) -> Path:
    """The folder of the model in the package, of an installed one, or the folder that is named itself.

    Raises:
        ModelNotFoundError: neither a name nor a folder. Operator.
        UsageError: it names what is no single model. Caller.
    """
    if name in ("lexical", CASCADE):
        no_model = "has no model" if name == "lexical" else "asks two models, one after the other"
        raise UsageError(f"{name!r} {no_model}: name {EMBEDDED}, an installed model, or a model's folder")
    if name in ("default", EMBEDDED):
        return embedded()
    folder = installed_folder(name) or Path(name)
    if not os.path.isdir(folder):  # noqa: PTH112 - unlike `Path.is_dir`, for a name that is too long too
        raise ModelNotFoundError(name, f"{hint(name)}; or give a model's folder")
    return folder


def describe(folder: Path | None = None) -> ModelCard:
    """Load a model and tell what it is; None is the model that comes with the library.

    Raises:
        ModelError: a file is missing, damaged, or not what it should be. Operator.
    """
    folder = embedded() if folder is None else folder
    sums = verify(folder)
    scorer = PremiseCachedScorer(folder)
    try:
        return ModelCard(
            folder=str(folder),
            fingerprint=scorer.fingerprint,
            window_tokens=scorer.traits.window_tokens,
            claim_tokens=scorer.traits.claim_tokens,
            calibration=scorer.traits.calibration,
            files=tuple(
                ModelFile(name=name, bytes=(folder / name).stat().st_size, sha256=found)
                for name, found in sums.items()
            ),
        )
    finally:
        scorer.close()


def measured_parity(folder: Path | None = None) -> Parity:
    """Compare a model's scores on this machine with those recorded in its `reference.json`.

    Raises:
        ModelError: a file is missing, damaged, or not what it should be. Operator.
    """
    folder = embedded() if folder is None else folder
    scorer = PremiseCachedScorer(folder)
    try:
        return parity(scorer, folder / "reference.json")
    finally:
        scorer.close()
