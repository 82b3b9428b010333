"""Whether a model gives on this machine what it gave where it was made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, Field, ValidationError

from streamverify.errors import ModelContractError, ModelNotFoundError
from streamverify.scorers.protocol import Abort, Claim, NliScore, Scorer, Window

TOLERANCE = 0.05
"""Largest difference of a probability that counts as the same.

8-bit arithmetic rounds differently on other processors and over keys and values kept in half precision,
which moves a probability by up to 0.025; a model that is really another one differs by several tenths.
"""

Logits = tuple[float, float, float]
"""Entailment, neutral, contradiction."""


class Parity(NamedTuple):
    """The outcome of a comparison."""

    values: int
    """Probabilities compared."""
    largest: float
    """Largest absolute difference between two of them."""

    @property
    def holds(self) -> bool:
        """Whether the model is the same for all purposes."""
        return self.largest <= TOLERANCE


class _Reference(BaseModel):
    """`reference.json`; what is not needed here is ignored."""

    windows: list[str] = Field(min_length=1)
    claims: list[dict[str, Any]] = Field(min_length=1)


class _ReferenceClaim(BaseModel):
    claim: str
    single: list[Logits]
    """One for each window."""
    joint: Logits
    """Over all windows at once."""


def parity(scorer: Scorer, reference: Path) -> Parity:
    """Score the claims of a reference file and compare the probabilities, single and joint.

    Raises:
        ModelNotFoundError: there is no such file. Operator.
        ModelContractError: it is not a reference file, or the scorer did not look at every window. Operator.
        ScoringError: the model failed. Operator.
    """
    windows, claims = _read(reference)
    prepared = scorer.prepare(
        [Window(number, text, 0, len(text)) for number, text in enumerate(windows)], abort=Abort()
    )
    focus = tuple(range(len(windows)))
    scores = scorer.score(
        prepared, [Claim(entry.claim, focus=focus, together=(focus,)) for entry in claims], abort=Abort()
    )
    differences: list[float] = []
    for entry, score in zip(claims, scores, strict=True):
        found = {single.window: single.score for single in score.single}
        if len(found) != len(windows) or len(entry.single) != len(windows) or not score.together:
            raise ModelContractError(f"{reference}: its claims cannot be compared with this scorer's scores")
        for window, logits in enumerate(entry.single):
            differences += _differences(found[window], logits)
        differences += _differences(score.together[0], entry.joint)
    return Parity(len(differences), max(differences))


def _read(path: Path) -> tuple[list[str], list[_ReferenceClaim]]:
    try:
        reference = _Reference.model_validate_json(path.read_text(encoding="utf-8"))
        return reference.windows, [_ReferenceClaim.model_validate(claim) for claim in reference.claims]
    except FileNotFoundError:
        raise ModelNotFoundError(path, what="file of reference values") from None
    except OSError as error:
        raise ModelContractError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValidationError, UnicodeDecodeError) as error:
        raise ModelContractError(f"{path} is not a file of reference values: {error}") from error


def _differences(score: NliScore, logits: Logits) -> list[float]:
    expected = _softmax(logits)
    found = (score.entailment, score.neutral, score.contradiction)
    return [abs(one - other) for one, other in zip(found, expected, strict=True)]


def _softmax(logits: Sequence[float]) -> list[float]:
    top = max(logits)
    powers = [math.exp(logit - top) for logit in logits]
    return [power / sum(powers) for power in powers]
