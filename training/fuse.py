"""Fits the verdict: one logistic map from the model's scores and the checks' signals to P(supported).

    python -m training.fuse GOLDEN.jsonl HELD_OUT.jsonl[.gz] --model FOLDER --out calibration.json

Everything is measured through the library itself (`Assessor.measure`), so the features are those a stream
has. Weights are kept to the sign they mean: more entailment never lowers, and a missing number never raises,
the probability. Cross-validated by case; fitted on development sets only. Needs the library installed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score

from streamverify.calibration import Calibration
from streamverify.judging.assessor import VerifierConfig as Basis
from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.scorers.protocol import Abort
from streamverify.sentences.segmenter import segment
from streamverify.types import Passage

RISING = frozenset({"single", "second", "joint", "verbatim"})
"""Features whose weight for P(supported) may not be negative; that of every other may not be positive."""

SUPPORT = (
    "single",
    "risk",
    "risk_mean",
    "number_missing",
    "value_unaligned",
    "date_missing",
    "quote_missing",
    "name_missing",
    "name_missing_near",
    "negation_mismatch",
    "general_missing",
    "causal_missing",
    "tentative_missing",
    "superseded",
    "verbatim",
)
WITH_JOINT = ("joint", *SUPPORT)
COMPARED = {
    "single passes alone": ("single",),
    "joint pass alone": ("joint",),
    "single passes and joint pass": ("single", "joint"),
    "single passes, token risks and the checks": SUPPORT,
    "all of these": WITH_JOINT,
}
"""Sets of features whose figures are printed, to tell what each part is worth."""
AGAINST = (
    "contradiction",
    "negation_mismatch",
    "number_missing",
    "number_rival",
    "value_unaligned",
    "date_missing",
)
"""For P(contradicted) every weight may only be positive."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled claim."""

    case: str
    label: str
    features: dict[str, float]


def read(path: Path) -> list[dict[str, Any]]:
    """The records of a set of whole answers or of single claims."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def among(
    records: Sequence[dict[str, Any]], windows: int, scorer: PremiseCachedScorer
) -> list[dict[str, Any]]:
    """The whole answers with passages of the answers after them added until a context has so many windows.

    What is supported stays so: the passages added are about other matters.
    """
    room = scorer.traits.window_tokens

    def size(passages: Sequence[dict[str, Any]]) -> int:
        return sum(-(-len(scorer.token_spans(p["text"])) // room) for p in passages)

    found = []
    for number, record in enumerate(records):
        passages = list(record["passages"])
        others = [p for later in (*records[number + 1 :], *records[:number]) for p in later["passages"]]
        for place, other in enumerate(others):
            if size(passages) >= windows:
                break
            passages.append({**other, "id": f"other-{place}"})
        found.append({**record, "passages": passages})
    return found


def copied(records: Sequence[dict[str, Any]], seed: int = 1) -> list[dict[str, Any]]:
    """One sentence of each passage of a set of single claims, as a claim: supported, if anything is."""
    rng = random.Random(seed)
    passages = sorted({record["premise"] for record in records})
    found = []
    for number, passage in enumerate(passages):
        whole = [s.text.strip() for s in segment(passage) if len(s.text.split()) > 4]
        if whole:
            claim = rng.choice(whole)
            found.append({"id": f"copied-{number}", "premise": passage, "claim": claim, "label": "entail"})
    return found


def rows(records: Sequence[dict[str, Any]], scorer: PremiseCachedScorer) -> list[Row]:
    """Every claim of the records."""
    basis = Basis(scorer, scorer.traits.calibration)
    with ThreadPoolExecutor(scorer.traits.concurrency) as pool:
        return [
            row for found in pool.map(lambda record: list(measured(basis, record)), records) for row in found
        ]


def measured(basis: Basis, record: dict[str, Any]) -> Iterator[Row]:
    """The claims of one record, read and scored as a stream would."""
    answer, passages, labels = parts(record)
    assessor = basis.assessor(passages, record.get("question"), Abort())
    sentences = segment(answer)
    for index, sentence in enumerate(sentences):
        overlaps = [min(sentence.end, end) - max(sentence.start, start) for start, end, _ in labels]
        label = labels[int(np.argmax(overlaps))][2]
        markers, reading = assessor.read(sentence, sentences[max(index - 40, 0) : index])
        if reading.claim is None or label == "no_claim":
            continue
        if len(basis.scorer.token_spans(reading.claim.text)) > basis.scorer.traits.claim_tokens:
            continue
        features = assessor.measure(reading.claim, markers, Abort()).features
        case = str(record["id"]).rsplit("-", 1)[0] if "premise" in record else str(record["id"])
        yield Row(case, label, dict(features))


LABELS = {"entail": "supported", "contradict": "contradicted", "neutral": "unsupported"}
"""Labels of claims in the words of verdicts."""


def parts(record: dict[str, Any]) -> tuple[str, list[Passage], list[tuple[int, int, str]]]:
    """Answer, passages and labelled stretches of an answer, a case with its claims or a claim."""
    if "premise" in record:
        claim = record["claim"]
        label = LABELS.get(record["label"], "not_supported")
        return claim, [Passage("p1", record["premise"])], [(0, len(claim), label)]
    if "claims" in record:  # a case of `sets/`: its claims are the sentences, in order
        sentences = [(c["claim"], LABELS.get(c["label"], "not_supported")) for c in record["claims"]]
        answer = " ".join(text for text, _ in sentences)
    else:
        sentences = [(s["text"], s["label"]) for s in record["sentences"]]
        answer = record["answer"]
    labels, at = [], 0
    for text, label in sentences:
        start = answer.index(text, at)
        at = start + len(text)
        labels.append((start, at, label))
    passages = [
        Passage(p.get("id", f"p{number}"), p["text"], p.get("title"))
        for number, p in enumerate(record["passages"], 1)
    ]
    return answer, passages, labels


def fit(
    inputs: Floats, truth: Floats, weights: Floats, signs: Sequence[int], penalty: float
) -> tuple[Floats, float]:
    """Weights and bias of a penalised logistic regression whose weights keep their signs.

    Features are scaled, not centred, so that a weight of 0 means the feature is not used.
    """
    scale = inputs.std(0) + 1e-9
    scaled = inputs / scale

    def loss(point: Floats) -> tuple[float, Floats]:
        margin = scaled @ point[:-1] + point[-1]
        value = np.logaddexp(0, -margin) * truth + np.logaddexp(0, margin) * (1 - truth)
        slope = (1 / (1 + np.exp(-margin)) - truth) * weights / weights.sum()
        gradient = np.append(scaled.T @ slope + 2 * penalty * point[:-1], slope.sum())
        return float((weights * value).sum() / weights.sum() + penalty * (point[:-1] ** 2).sum()), gradient

    bounds = [(0, None) if sign > 0 else (None, 0) for sign in signs] + [(None, None)]
    best = minimize(loss, np.zeros(len(signs) + 1), jac=True, bounds=bounds, method="L-BFGS-B").x
    return best[:-1] / scale, float(best[-1])


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far probabilities agree with labels, cross-validated."""

    auroc: float
    balanced_accuracy: float
    missed_per_100: float
    """Of those that should be above the threshold; false alarms where that means supported."""
    calibration_error: float

    def __str__(self) -> str:
        return (
            f"AUROC {self.auroc:.3f}, balanced accuracy {self.balanced_accuracy:.3f}, "
            f"missed of 100 {self.missed_per_100:.1f}, calibration error {self.calibration_error:.3f}"
        )


def threshold_for(positive: Floats, alarms: float | None) -> float:
    """The threshold, in hundredths, below which this share of what should be above lies; 0.5 without one."""
    if alarms is None:
        return 0.5
    return float(np.floor(np.quantile(positive, alarms) * 100) / 100)


@dataclass(frozen=True, slots=True)
class Fitting:
    """What is fitted on what."""

    first: Sequence[Row]
    """The set to be right on; cross-validated."""
    second: Sequence[Row]
    share: float
    """Weight of the second set beside the first."""
    penalty: float
    alarms: float | None = None
    """Share of the first set's positive rows that may fall below the threshold; None: it is 0.5."""

    def map(
        self, names: Sequence[str], positive: str, signs: Sequence[int], keep: NDArray[np.bool_]
    ) -> tuple[Floats, float]:
        """Weights and bias from the kept rows of the first set and all of the second."""
        first = [row for row, kept in zip(self.first, keep, strict=True) if kept]
        share = self.share * len(first) / max(len(self.second), 1)
        weights = np.array([1.0] * len(first) + [share] * len(self.second))
        both = [*first, *self.second]
        inputs = np.array([[row.features[name] for name in names] for row in both])
        return fit(
            inputs, np.array([row.label == positive for row in both], float), weights, signs, self.penalty
        )

    def validate(
        self, names: Sequence[str], positive: str, signs: Sequence[int], folds: int = 8, repeats: int = 4
    ) -> Agreement:
        """Cross-validated figures on the first set, cases never split, mean over repeated foldings."""
        cases = sorted({row.case for row in self.first})
        inputs = np.array([[row.features[name] for name in names] for row in self.first])
        truth = np.array([row.label == positive for row in self.first])
        figures = []
        for seed in range(repeats):
            called = np.zeros(len(truth), bool)
            order = np.random.default_rng(seed).permutation(len(cases))
            fold = {cases[case]: place % folds for place, case in enumerate(order)}
            number = np.array([fold[row.case] for row in self.first])
            chance = np.zeros(len(truth))
            for one in range(folds):
                weights, bias = self.map(names, positive, signs, number != one)
                every = 1 / (1 + np.exp(-(inputs @ weights + bias)))
                held = number == one
                chance[held] = every[held]
                called[held] = every[held] >= threshold_for(every[truth & ~held], self.alarms)
            figures.append(agreement(chance, called, truth))
        return Agreement(*(round(float(value), 4) for value in np.mean(figures, 0)))


def agreement(chance: Floats, called: NDArray[np.bool_], truth: NDArray[np.bool_]) -> tuple[float, ...]:
    """The figures of `Agreement` from probabilities, what was called so and what is."""
    bins = np.minimum((chance * 10).astype(int), 9)
    gap = sum(
        abs(chance[bins == b].mean() - truth[bins == b].mean()) * (bins == b).mean() for b in np.unique(bins)
    )
    balanced = (called[truth].mean() + (~called[~truth]).mean()) / 2
    return (float(roc_auc_score(truth, chance)), balanced, 100 * (~called[truth]).mean(), gap)


def beside(calibration: Calibration, found: Sequence[Row]) -> Agreement:
    """How the fitted verdict agrees with claims that it was not fitted on."""
    chance = np.array([calibration.probability(row.features) for row in found])
    truth = np.array([row.label == "supported" for row in found])
    figures = agreement(chance, chance >= calibration.threshold, truth)
    return Agreement(*(round(float(value), 4) for value in figures))


def main() -> None:
    """Measure, compare, fit, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("first", type=Path, help="whole answers with labelled sentences")
    parser.add_argument("second", type=Path, help="held-out claims")
    parser.add_argument("--model", type=Path, help="folder of the model; the embedded one without")
    parser.add_argument("--share", type=float, default=0.3)
    parser.add_argument("--penalty", type=float, default=0.01)
    parser.add_argument(
        "--alarms",
        type=float,
        help="share of supported claims that may fall below the threshold; 0.5 without",
    )
    parser.add_argument("--joint", action="store_true", help="weigh the joint pass too")
    parser.add_argument(
        "--among", type=int, help="add other answers' passages until each answer has so many windows"
    )
    parser.add_argument(
        "--beside", type=Path, nargs="*", default=[], help="sets to measure the fitted verdict on, beside"
    )
    parser.add_argument("--figures", type=Path, help="write the cross-validated figures here, for the card")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    if options.alarms is not None and not 0 <= options.alarms < 1:
        parser.error(f"--alarms is a share of the supported claims, 0 to 1, not {options.alarms:g}")
    scorer = PremiseCachedScorer(options.model, joint_windows=3)
    answers, held_out = read(options.first), read(options.second)
    if options.among is not None:
        answers = among(answers, options.among, scorer)
    first, second = rows(answers, scorer), rows([*held_out, *copied(held_out)], scorer)
    fitting = Fitting(first, second, options.share, options.penalty, options.alarms)
    everything = np.ones(len(first), bool)
    figures = {
        name: fitting.validate(names, "supported", [1 if n in RISING else -1 for n in names])
        for name, names in COMPARED.items()
    }
    for name, found in figures.items():
        print(f"{name}: {found}", flush=True)
    chosen = WITH_JOINT if options.joint else SUPPORT
    weights, bias = fitting.map(chosen, "supported", [1 if n in RISING else -1 for n in chosen], everything)
    rejected = [row for row in first if row.label in ("unsupported", "contradicted")]
    against = Fitting(rejected, (), 0.0, options.penalty)
    print(f"contradicted among the rejected: {against.validate(AGAINST, 'contradicted', [1] * len(AGAINST))}")
    opposed, start = against.map(AGAINST, "contradicted", [1] * len(AGAINST), np.ones(len(rejected), bool))
    inputs = np.array([[row.features[name] for name in chosen] for row in first])
    supported = np.array([row.label == "supported" for row in first])
    chance = 1 / (1 + np.exp(-(inputs @ weights + bias)))
    calibration = Calibration(
        threshold=threshold_for(chance[supported], options.alarms),
        weights={name: round(float(w), 4) for name, w in zip(chosen, weights, strict=True) if abs(w) > 1e-4},
        bias=round(bias, 4),
        contradiction_weights={
            n: round(float(w), 4) for n, w in zip(AGAINST, opposed, strict=True) if w > 1e-4
        },
        contradiction_bias=round(start, 4),
        fitted_on=(
            f"{options.first.name} and, at {options.share:g} of its weight, "
            f"{options.second.name} with a sentence copied from each passage (development sets)"
        ),
    )
    for path in options.beside:
        name = f"all of these, on {path.name.split('.')[0]} as fitted"
        figures[name] = beside(calibration, rows(read(path), scorer))
        print(f"{name}: {figures[name]}", flush=True)
    if options.figures is not None:
        shown = {name: asdict(found) for name, found in figures.items()}
        options.figures.write_text(json.dumps(shown, indent=1) + "\n", encoding="utf-8")
    options.out.write_text(calibration.model_dump_json(indent=2) + "\n", encoding="utf-8")
    print(options.out.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
