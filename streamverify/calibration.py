"""From what was measured about a sentence to one calibrated probability; the only home of thresholds.

A calibration is a logistic function of named features (Platt scaling with more than one input; Platt
1999, "Probabilistic outputs for support vector machines"). Which features it weighs, and the
thresholds, come from the model's own file, fitted on development data only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError

from streamverify.errors import ModelContractError, ModelNotFoundError
from streamverify.types import Value


class Calibration(Value):
    """Weights and thresholds of one scorer."""

    kind: Literal["logistic"] = "logistic"
    weights: dict[str, float] = Field(default_factory=lambda: {"single": 1.0})
    """Feature name to weight; `judge.py` defines the features and refuses unknown names."""
    bias: float = 0.0
    threshold: float = Field(default=0.5, gt=0, lt=1)
    """A sentence whose probability reaches this is SUPPORTED."""
    contradiction_weights: dict[str, float] = Field(default_factory=lambda: {"contradiction": 1.0})
    """Likewise for P(contradicted), asked only of sentences that are not supported."""
    contradiction_bias: float = 0.0
    contradiction: float = Field(default=0.5, gt=0, lt=1)
    """A sentence that is not supported is CONTRADICTED when P(contradicted) reaches this."""
    token_risk: float = Field(default=0.5, gt=0, lt=1)
    """A token at or above this risk belongs to an unsupported span."""
    fitted_on: str = "nothing: default weights"

    def probability(self, features: Mapping[str, float]) -> float:
        """P(supported) for these features; monotone in each, with the sign of its weight."""
        return _logistic(self.bias + sum(weight * features[name] for name, weight in self.weights.items()))

    def contradiction_probability(self, features: Mapping[str, float]) -> float:
        """P(contradicted), given that the sentence is not supported."""
        weights = self.contradiction_weights.items()
        return _logistic(self.contradiction_bias + sum(weight * features[name] for name, weight in weights))

    @classmethod
    def read(cls, path: Path) -> Self:
        """The calibration written in a JSON file.

        Raises:
            ModelNotFoundError: there is no such file. Operator.
            ModelContractError: the file is not a calibration. Operator.
        """
        try:
            return cls.model_validate_json(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ModelNotFoundError(path) from None
        except (ValidationError, UnicodeDecodeError) as error:
            raise ModelContractError(f"{path} is not a calibration file: {error}") from error


def _logistic(margin: float) -> float:
    # The two forms are equal; each is used where exp() cannot overflow.
    return 1 / (1 + math.exp(-margin)) if margin >= 0 else math.exp(margin) / (1 + math.exp(margin))


def logit(probability: float) -> float:
    """Log-odds, with the probability kept 1e-5 away from 0 and 1."""
    bounded = min(max(probability, 1e-5), 1 - 1e-5)
    return math.log(bounded / (1 - bounded))
