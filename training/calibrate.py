"""Fit the map from a graph's scores to P(supported), on development sets only.

Scores are taken as the library takes them: the int8 graph, one window or one
claim a run.  Two maps are fitted and compared by cross-validation over cases:
from the best single pass alone, and from the best single pass and the joint
pass together.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from training.batches import context_windows
from training.data import LABEL_IDS, load_set
from training.evaluate import MAX_WINDOWS, load_golden, sample_contexts
from training.export import Session
from training.metrics import auroc, balanced_accuracy, calibration_error
from training.windows import CLS, SEP, load_tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from training.data import Context
    from training.metrics import Scores, Truth

WINDOW = 126


@dataclass(frozen=True, slots=True)
class Measured:
    """Log-odds of every claim and what is true of it."""

    single: Scores
    joint: Scores
    supported: Truth
    case: NDArray[np.int64]
    """Number of the context a claim belongs to: folds never split one."""


def log_odds(logits: NDArray[np.float32]) -> float:
    """Log-odds of entailment from three logits, kept 1e-5 away from certainty."""
    shifted = np.exp(logits.astype(np.float64) - logits.max())
    p = float(np.clip(shifted[0] / shifted.sum(), 1e-5, 1 - 1e-5))
    return float(np.log(p / (1 - p)))


def measure(graph: Path, contexts: Sequence[Context], *, threads: int = 1) -> Measured:
    """Run the graph over every claim, alone against each window and against all together."""
    session = Session(graph, threads=threads)
    single, joint, supported, case = [], [], [], []
    for number, context in enumerate(contexts):
        windows = [
            session.encode([CLS, *w.tolist(), SEP]) for w in context_windows(context, WINDOW)[:MAX_WINDOWS]
        ]
        for claim in context.claims:
            ids = claim.ids.tolist()
            together = log_odds(session.read(ids, windows)[0])
            alone = [log_odds(session.read(ids, [w])[0]) for w in windows] if len(windows) > 1 else [together]
            single.append(max(alone))
            joint.append(together)
            supported.append(claim.label == LABEL_IDS["entail"])
            case.append(number)
    return Measured(np.array(single), np.array(joint), np.array(supported), np.array(case))


def fit(features: Scores, supported: Truth, weights: Scores) -> tuple[list[float], float]:
    """Weights and bias of a logistic map, nearly unregularised."""
    model = LogisticRegression(C=1e3).fit(features, supported, sample_weight=weights)
    return [float(w) for w in model.coef_[0]], float(model.intercept_[0])


def probability(features: Scores, weights: Sequence[float], bias: float) -> Scores:
    """P(supported) under a logistic map."""
    result: Scores = 1 / (1 + np.exp(-(features @ np.array(weights) + bias)))
    return result


def cross_validated(features: Scores, measured: Measured) -> Scores:
    """P(supported) of every claim by maps fitted without its case."""
    found = np.zeros(len(features))
    for train, test in GroupKFold(8).split(features, groups=measured.case):
        weights, bias = fit(features[train], measured.supported[train], np.ones(len(train)))
        found[test] = probability(features[test], weights, bias)
    return found


def figures(p: Scores, supported: Truth) -> dict[str, float]:
    """What a threshold of one half on calibrated probabilities does."""
    return {
        "auroc": round(auroc(p, supported), 4),
        "balanced_accuracy": round(balanced_accuracy(p, supported, 0.5), 4),
        "false_alarms_per_100_supported": round(100 * float((p[supported] < 0.5).mean()), 1),
        "missed_per_100_others": round(100 * float((p[~supported] >= 0.5).mean()), 1),
        "calibration_error": round(calibration_error(p, supported), 4),
    }


def calibrate(graph: Path, golden: Sequence[Context], hand: Sequence[Context]) -> dict[str, object]:
    """The calibration and what it does, for `calibration.json` and the card.

    The golden cases count as much as the hand-written claims, however many there are of each: they are
    the nearer to what the model is used for.
    """
    sets = {"golden": measure(graph, golden), "handwritten_dev": measure(graph, hand)}
    supported = np.concatenate([m.supported for m in sets.values()])
    weights = np.concatenate([np.full(len(m.supported), 1 / len(m.supported)) for m in sets.values()])
    weights *= len(weights) / weights.sum()
    maps = {"single": ("single",), "both": ("single", "joint")}
    fitted: dict[str, tuple[list[float], float]] = {}
    report: dict[str, object] = {}
    for name, columns in maps.items():
        parts = {key: np.stack([getattr(m, c) for c in columns], 1) for key, m in sets.items()}
        fitted[name] = fit(np.concatenate(list(parts.values())), supported, weights)
        report[name] = {
            key: figures(probability(x, *fitted[name]), sets[key].supported) for key, x in parts.items()
        }
        report[f"{name}, golden cross-validated"] = figures(
            cross_validated(parts["golden"], sets["golden"]), sets["golden"].supported
        )
    for key, m in sets.items():
        report[f"raw {key}"] = {
            "auroc_single": round(auroc(m.single, m.supported), 4),
            "auroc_joint": round(auroc(m.joint, m.supported), 4),
        }
    (a,), b = fitted["single"]
    (single, joint), bias = fitted["both"]
    source = (
        f"{len(golden)} hand-written RAG cases and the claims about {len(hand)} held-out hand-written "
        "contexts (development sets)"
    )
    thresholds = {"threshold": 0.5, "contradiction_threshold": 0.5, "token_risk": 0.5, "fitted_on": source}

    def logistic(weights: dict[str, float], bias: float) -> dict[str, object]:
        return {"kind": "logistic", "weights": weights, "bias": round(bias, 6), **thresholds}

    return {
        "single": logistic({"single": round(a, 6)}, b),
        "both": logistic({"single": round(single, 6), "joint": round(joint, 6)}, bias),
        "figures": report,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folder", type=Path, help="release folder with model.int8.onnx; files are written here"
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with dev/ and golden/")
    parser.add_argument("--claims", type=int, default=400, help="hand-written claims to use, 0 for all")
    options = parser.parse_args()
    tokenizer = load_tokenizer(options.folder / "tokenizer.json")
    golden = load_golden(options.data / "golden" / "golden.jsonl", tokenizer)
    hand = load_set(options.data / "dev" / "handwritten_dev.jsonl.gz", tokenizer)
    if options.claims:
        hand = sample_contexts(hand, options.claims)
    found = calibrate(options.folder / "model.int8.onnx", golden, hand)
    (options.folder / "calibration.json").write_text(json.dumps(found["single"], indent=2) + "\n")
    (options.folder / "calibration.both.json").write_text(json.dumps(found["both"], indent=2) + "\n")
    (options.folder / "calibration.figures.json").write_text(json.dumps(found["figures"], indent=1) + "\n")
    print(json.dumps(found["figures"], indent=1))


if __name__ == "__main__":
    main()
