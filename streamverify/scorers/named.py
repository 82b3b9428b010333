"""Scorers by name, as the command line and configuration files spell them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from streamverify.errors import ModelNotFoundError

if TYPE_CHECKING:
    from streamverify.scorers.protocol import Scorer

NAMES = ("default", "lexical")
"""The scorers that need no path."""


def scorer_named(name: str) -> Callable[[], Scorer]:
    """A function that makes the scorer; nothing heavy is loaded before it is called.

    Args:
        name: `default` (the model in the package), `lexical` (no model), or a folder that holds a
            premise-cached model or an ONNX cross-encoder in the Hugging Face layout.

    Raises:
        ModelNotFoundError: neither a name nor a folder. Operator.
    """
    if name == "default":
        return _premise_cached
    if name == "lexical":
        return _lexical
    folder = Path(name)
    if not folder.is_dir():
        raise ModelNotFoundError(name, f"give {', '.join(NAMES)} or a model's folder")
    # The two kinds are told apart by the list of checksums that a premise-cached model must have.
    if (folder / "sha256sums").is_file():
        return lambda: _premise_cached(folder)
    return lambda: _cross_encoder(folder)


def _premise_cached(folder: Path | None = None) -> Scorer:
    from streamverify.scorers.premise_cached import PremiseCachedScorer  # noqa: PLC0415 - loads onnxruntime

    return PremiseCachedScorer(folder)


def _cross_encoder(folder: Path) -> Scorer:
    from streamverify.scorers.cross_encoder import CrossEncoderScorer  # noqa: PLC0415 - loads onnxruntime

    return CrossEncoderScorer(folder)


def _lexical() -> Scorer:
    from streamverify.scorers.lexical import LexicalScorer  # noqa: PLC0415 - kept out of start-up

    return LexicalScorer()
