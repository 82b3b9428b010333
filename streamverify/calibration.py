"""From what was measured about a sentence to one calibrated probability; the only home of thresholds.

A calibration is a logistic function of named features (Platt scaling with more than one input; Platt
1999, "Probabilistic outputs for support vector machines"). Which features it weighs, and the
thresholds, come from the model's own file, fitted on development data only.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias, get_args

from pydantic import Field, ValidationError

from streamverify.bounds import guaranteed_threshold, platt
from streamverify.errors import ModelContractError, ModelNotFoundError, UsageError
from streamverify.files.written import write_whole
from streamverify.value import Value

MAX_BYTES = 1 << 20
"""Of a calibration file: hundreds of times what one needs."""

_ABOUT = frozenset({"fitted_on", "guarantee", "band", "presets"})
"""What a file says about its numbers, and others to choose from; changes no verdict of this scorer."""

PresetName: TypeAlias = Literal["strict", "balanced", "lenient"]
"""Which mistake to make less often: letting wrong text pass, both alike, or flagging right text."""


class Guarantee(Value):
    """What a threshold promises, and what the promise rests on.

    In an answer with sentences that are not grounded, one of them, picked by chance, reaches the threshold
    with a probability of at most `alpha`. That holds with probability 1 - `delta` over sets of labels, for
    answers that come about as the labelled ones did.
    """

    rule: Literal["binomial"] = "binomial"
    alpha: float = Field(gt=0, lt=1)
    delta: float = Field(gt=0, lt=1)
    labels: int = Field(ge=1)
    """Answers with such a sentence; of the smallest group where the guarantee holds for each of several."""
    groups: tuple[str, ...] = ()
    """Each of which it holds for by itself; empty where it was fitted on all together."""
    model: str = ""
    """Whose scores they were."""
    digest: str = ""
    """SHA-256 of the labelled cases."""


class DoubtBand(Value):
    """Where this scorer should decide in place of a quicker one that speaks before it."""

    low: float = Field(ge=0, le=1)
    high: float = Field(ge=0, le=1)
    """Probabilities of the one before it that leave it in doubt, ends included; equal for never."""
    first: str
    """The `scale` of its calibration: with other weights its probabilities mean something else."""
    kept: float = Field(default=0.0, ge=0, lt=1)
    """Share of the first's log-odds in the label's probability; the rest is this scorer's own."""
    fitted_on: str = ""


class Preset(Value):
    """A threshold that was fitted for a purpose, with its mistakes on answers it was not fitted on."""

    threshold: float = Field(gt=0, lt=1)
    false_alarms: float = Field(ge=0, le=1)
    """Share of supported sentences that fall below it."""
    misses: float = Field(ge=0, le=1)
    """Share of sentences that are not supported which reach it."""
    measured_on: str = ""


class Calibration(Value):
    """Weights and thresholds of one scorer.

    Given to a `Verifier`, only what is named replaces the scorer's own:
    `Calibration(threshold=0.6)` keeps its weights.
    """

    kind: Literal["logistic"] = "logistic"
    weights: dict[str, float] = Field(default_factory=lambda: {"single": 1.0})
    """Feature name to weight; `judging/verdict.py` defines the features and refuses unknown names."""
    bias: float = 0.0
    threshold: float = Field(default=0.5, gt=0, lt=1)
    """A sentence whose probability reaches this is SUPPORTED."""
    contradiction_weights: dict[str, float] = Field(default_factory=lambda: {"contradiction": 1.0})
    """Likewise for P(contradicted), asked only of sentences that are not supported."""
    contradiction_bias: float = 0.0
    contradiction_threshold: float = Field(default=0.5, gt=0, lt=1)
    """A sentence that is not supported is CONTRADICTED when P(contradicted) reaches this."""
    contradiction_about: float = Field(default=0.0, ge=0, le=1)
    """And when a sentence of the window that opposes it holds this share of its content words: who speaks
    of something else is silent on it. 0 takes the scorer at its word."""
    token_risk: float = Field(default=0.5, gt=0, lt=1)
    """A token at or above this risk belongs to an unsupported span."""
    fitted_on: str = "nothing: default weights"
    guarantee: Guarantee | None = None
    """Of `threshold`; None where it promises nothing."""
    band: DoubtBand | None = None
    """For a cascade in which this scorer is the second."""
    presets: dict[PresetName, Preset] = Field(default_factory=dict)
    """Thresholds in place of `threshold`, each for a purpose."""

    @property
    def scale(self) -> str:
        """Twelve hexadecimal digits of SHA-256 over what makes the probabilities: weights and bias."""
        content = json.dumps([self.weights, self.bias], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:12]

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits of SHA-256 over weights and thresholds, not over what is said of them."""
        content = json.dumps(self.model_dump(mode="json", exclude=set(_ABOUT)), sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:12]

    def preset(self, name: PresetName) -> Self:
        """With the threshold that was fitted for a purpose, which promises nothing.

        Raises:
            UsageError: there is no such preset, or none was fitted. Caller.
        """
        if name not in self.presets:
            known = ", ".join(self.presets) or "none was fitted for this scorer"
            raise UsageError(
                f"no preset {name!r} (presets: {known}); Calibration(threshold=...) sets a threshold by hand"
            )
        return self.model_copy(update={"threshold": self.presets[name].threshold, "guarantee": None})

    def probability(self, features: Mapping[str, float]) -> float:
        """P(supported) for these features; monotone in each, with the sign of its weight."""
        return _logistic(self.bias + sum(weight * features[name] for name, weight in self.weights.items()))

    def leaning(self, margin: float, share: float) -> Self:
        """With part of its log-odds replaced by those of a scorer that spoke before.

        Args:
            margin: log-odds by which the other's probability lies above its own threshold.
            share: of the log-odds that are the other's, 0-1.
        """
        weights = {name: weight * (1 - share) for name, weight in self.weights.items()}
        bias = (1 - share) * self.bias + share * (margin + logit(self.threshold))
        return self.model_copy(update={"weights": weights, "bias": bias})

    def contradiction_probability(self, features: Mapping[str, float]) -> float:
        """P(contradicted), given that the sentence is not supported."""
        weights = self.contradiction_weights.items()
        return _logistic(self.contradiction_bias + sum(weight * features[name] for name, weight in weights))

    def over(self, base: Self) -> Self:
        """What this calibration says itself, and `base` for the rest.

        Said is what was given when it was made, or stands in the file it was read from. Weights and their
        bias belong together: one that gives weights gives their bias too, 0 where it names none.
        """
        said = set(self.model_fields_set)
        if "weights" in said:
            said.add("bias")
        if "contradiction_weights" in said:
            said.add("contradiction_bias")
        update = {name: getattr(self, name) for name in said}
        if said & {"weights", "bias"}:
            update["presets"] = self.presets  # those of the base were fitted for its weights
        if said and "fitted_on" not in said:
            update["fitted_on"] = f"{base.fitted_on}; then changed: {', '.join(sorted(said))}"
        if said & {"threshold", "weights", "bias"} and "guarantee" not in said:
            update["guarantee"] = None  # that of the base is of its threshold
        return base.model_copy(update=update)

    def promising(self, model: str) -> Self:
        """The same for scores of this model: without its guarantee where that was fitted to another's.

        A warning of the logger `streamverify` tells of one that is taken away.

        Args:
            model: name and revision, as `Guarantee.model` has them.
        """
        if self.guarantee is None or self.guarantee.model in ("", model):
            return self
        logging.getLogger("streamverify").warning(
            "the calibration was fitted to scores of %s, and %s scores here: its threshold promises nothing; "
            "fit one to these scores with `streamverify calibrate`",
            self.guarantee.model,
            model,
        )
        return self.model_copy(update={"guarantee": None})

    def completed(self, own: Calibration) -> Calibration:
        """With what it does not name taken from the scorer's own.

        Weights bring their bias along: where only weights are named, the bias is 0.
        """
        named = self.model_fields_set
        taken: dict[str, Any] = {}
        for name in type(self).model_fields:
            partner = name.removesuffix("bias") + "weights" if name.endswith("bias") else name
            if not named & {name, partner} and name not in _ABOUT:
                taken[name] = getattr(own, name)
        if not taken or "fitted_on" in named:
            return self.model_copy(update=taken)
        return self.model_copy(update={**taken, "fitted_on": f"{own.fitted_on}; changed by hand"})

    @classmethod
    def fit(
        cls,
        scores: Sequence[float],
        grounded: Sequence[bool],
        *,
        base: Calibration | None = None,
        max_miss_rate: float = 0.05,
        confidence: float = 0.95,
        fit_weights: bool = False,
        fitted_on: str = "labels of its own",
    ) -> Calibration:
        """The lowest threshold that keeps misses rare with a guarantee; `evaluate.calibrate` goes by files.

        Args:
            scores: calibrated probabilities under `base`, 0-1, of sentences that are independent of each
                other: at most one that is not grounded from each answer.
            grounded: whether the passages support them, in the same order.
            base: what they were scored with; weights, contradiction and token thresholds are kept.
            max_miss_rate: share of sentences that are not grounded which may reach the threshold, 0-1.
            confidence: probability that this holds, over sets of labels, 0-1.
            fit_weights: also stretch and shift the log-odds to fit the labels (Platt 1999), so that scores
                are probabilities on such text; changes no sentence's rank.
            fitted_on: for people.

        Raises:
            NotEnoughLabelsError: too few sentences that are not grounded. Caller.
            UsageError: no threshold below 1 is enough, or an argument is out of range. Caller.
        """
        if len(scores) != len(grounded) or not all(0 <= score <= 1 for score in scores):
            raise UsageError("each sentence needs a score between 0 and 1 and a label")
        start = base if base is not None else cls()
        if fit_weights:
            start, scores = start.refitted(scores, grounded)
        bad = [score for score, good in zip(scores, grounded, strict=True) if not good]
        threshold, _ = guaranteed_threshold(bad, max_miss_rate, confidence)
        promise = Guarantee(alpha=max_miss_rate, delta=1 - confidence, labels=len(bad))
        return start.model_copy(update={"threshold": threshold, "guarantee": promise, "fitted_on": fitted_on})

    def refitted(self, scores: Sequence[float], grounded: Sequence[bool]) -> tuple[Calibration, list[float]]:
        """Log-odds stretched and shifted to fit labels (Platt 1999), and what becomes of the scores.

        One factor for all weights: no sentence changes its rank, so that a threshold chosen by rank on the
        same labels keeps what it promises.

        Raises:
            UsageError: only one label occurs, or the scores rank the labels the wrong way round. Caller.
        """
        margins = [_margin(score) for score in scores]
        slope, shift = platt(margins, grounded)
        weights = {name: weight * slope for name, weight in self.weights.items()}
        update = {"weights": weights, "bias": self.bias * slope + shift, "guarantee": None}
        return self.model_copy(update=update), [_logistic(slope * margin + shift) for margin in margins]

    def write(self, path: Path | str) -> None:
        """Write a whole file, which `read` reads.

        Raises:
            UsageError: it cannot be written. Caller.
        """
        content = self.model_dump(mode="json", exclude_none=True)
        write_whole(path, json.dumps(content, indent=2) + "\n")

    @classmethod
    def read(cls, path: Path) -> Self:
        """The calibration written in a JSON file; a `Verifier` fills what it does not name.

        Raises:
            ModelNotFoundError: there is no such file. Operator.
            ModelContractError: the file is not a calibration. Operator.
        """
        try:
            with Path(path).open("rb") as file:
                content = file.read(MAX_BYTES + 1)
            if len(content) > MAX_BYTES:  # a device may have no end
                raise ModelContractError(
                    f"{path} is not a calibration file: longer than {MAX_BYTES >> 20} MiB"
                )
            return cls.model_validate_json(content.decode("utf-8"))
        except FileNotFoundError:
            raise ModelNotFoundError(path, what="calibration file") from None
        except OSError as error:
            raise ModelContractError(f"{path} cannot be read: {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            problem = f"invalid UTF-8 at byte {error.start}; save it as UTF-8"
            raise ModelContractError(f"{path} is not a calibration file: {problem}") from error
        except ValidationError as error:
            raise ModelContractError(f"{path} is not a calibration file: {_first(error)}") from error


def _first(error: ValidationError) -> str:
    """The first of what is wrong, by its field."""
    found = error.errors(include_url=False)[0]
    field = ".".join(str(part) for part in found["loc"])
    known = f" (fields: {', '.join(Calibration.model_fields)})" if found["type"] == "extra_forbidden" else ""
    return f"field {field!r}: {found['msg']}{known}" if field else found["msg"]


def refuse_thresholds(calibration: object, preset: object, *, scorers: int) -> None:
    """Refuse what says nothing of a verifier's threshold, or too much.

    Args:
        calibration: what should be one, or None.
        preset: what should be the name of one, or None.
        scorers: how many the verifier has.

    Raises:
        UsageError: either is none, both are given, or a calibration for several scorers. Caller.
    """
    if not isinstance(calibration, Calibration | None):
        raise UsageError("calibration must be a Calibration; Calibration.read(path) reads a file")
    if calibration is not None and scorers > 1:
        raise UsageError("a cascade's scorers have a calibration each: give it to the scorer it is for")
    if preset is not None and preset not in get_args(PresetName):
        raise UsageError(f"preset must be 'strict', 'balanced' or 'lenient', not {preset!r}")
    if preset is not None and calibration is not None:
        raise UsageError("give a calibration or a preset, not both: it is a threshold of the scorer's own")


def _logistic(margin: float) -> float:
    # The two forms are equal; each is used where exp() cannot overflow.
    return 1 / (1 + math.exp(-margin)) if margin >= 0 else math.exp(margin) / (1 + math.exp(margin))


def _margin(probability: float) -> float:
    """Log-odds, without the limits of `logit`; next to 1, where digits are lost, too high rather than low."""
    rest = 1 - probability - 2.5e-16
    if rest <= 0:
        return 750.0
    return math.log(probability / rest) if probability > 0 else -750.0


def logit(probability: float) -> float:
    """Log-odds, with the probability kept 1e-5 away from 0 and 1."""
    bounded = min(max(probability, 1e-5), 1 - 1e-5)
    return math.log(bounded / (1 - bounded))
