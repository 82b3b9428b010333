"""Fits the verdict: one logistic map from the model's scores and the checks' signals to P(supported).

    python -m training.fuse GOLDEN HELD_OUT --model FOLDER --beside OTHER… --out calibration.json

Everything is measured through the library itself (`Assessor.measure`), so the features are those a stream
has. Weights are kept to the sign they mean: more entailment never lowers, and a missing number never raises,
the probability. Cross-validated by case; fitted on development sets only. Needs the library installed.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from streamverify.calibration import Calibration
from streamverify.judging.assessor import VerifierConfig
from streamverify.judging.premises import Measured
from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.scorers.protocol import Abort, Scorer
from streamverify.sentences.segmenter import segment
from streamverify.types import Passage, Sentence
from training.fitting import Fitting, Flips, Row, beside, paying, threshold_for
from training.jsonl import json_lines
from training.kept_rows import COPIED, KeptRows

RISING = frozenset({"single", "second", "joint", "verbatim"})
"""Features whose weight for P(supported) may not be negative; that of every other may not be positive."""

CHECKS = (
    "number_missing",
    "value_unaligned",
    "date_missing",
    "quote_missing",
    "name_missing",
    "name_missing_near",
    "general_missing",
    "causal_missing",
    "tentative_missing",
)
"""Each weighs as far as it pays on held-out claims (`--beside`); what has a finding is told in any case."""
OF_VERSIONS = {"superseded": -3.9}
"""Weight fitted on versions made of passages: no development set has two versions of one."""
COUNTED = {
    "opposite": -4.5,
    "value_replaced": -7.0,
    "unit_replaced": -1.0,
    "name_moved": -2.0,
    "year_missing": -2.0,
    "verb_denied": -2.5,
    "exchanged": -2.5,
    "negation_mismatch": -1.0,
}
"""Weights that are not fitted here, since development sets hold next to no such claims: of `accused.py`."""
GIVEN = OF_VERSIONS | COUNTED
SUPPORT = ("single", "risk", "risk_mean", *CHECKS, "verbatim")
WITH_JOINT = ("joint", *SUPPORT)
COMPARED = {
    "single passes alone": ("single",),
    "joint pass alone": ("joint",),
    "single passes and joint pass": ("single", "joint"),
    "all but the checks": ("joint", "single", "risk", "risk_mean"),
    "single passes, token risks and the checks": SUPPORT,
    "all of these": WITH_JOINT,
}
"""Sets of features whose figures are printed, to tell what each part is worth."""
SHIPPED = "all of these, checks as far as they pay"
AGAINST = (
    "contradiction",
    "negation_mismatch",
    "number_missing",
    "number_rival",
    "value_unaligned",
    "date_missing",
)
"""For P(contradicted) every weight may only be positive."""


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


def rows(records: Sequence[dict[str, Any]], scorer: Scorer) -> list[Row]:
    """Every claim of the records."""
    basis = VerifierConfig(scorer, scorer.traits.calibration)
    with ThreadPoolExecutor(scorer.traits.concurrency) as pool:
        return [
            row for found in pool.map(lambda record: list(measured(basis, record)), records) for row in found
        ]


def set_name(path: Path) -> str:
    """What the set in a file is called."""
    return path.name.split(".")[0]


def rows_of(path: Path, kept: KeptRows, scorer: Scorer) -> list[Row]:
    """Every claim of the set in a file, kept or measured now."""
    return kept.of(set_name(path), lambda: rows(list(json_lines(path)), scorer))


def measured(basis: VerifierConfig, record: dict[str, Any]) -> Iterator[Row]:
    """The claims of one record, read and scored as a stream would."""
    _, _, labels = parts(record)
    for place, _, found in claims(basis, record, lambda place: labels[place][2] != "no_claim"):
        if found is not None:
            case = str(record["id"]).rsplit("-", 1)[0] if "premise" in record else str(record["id"])
            yield Row(case, labels[place][2], dict(found.features))


def claims(
    basis: VerifierConfig, record: dict[str, Any], wanted: Callable[[int], bool]
) -> Iterator[tuple[int, Sentence, Measured | None]]:
    """The sentences of one record, each with the labelled stretch it overlaps most and what was measured.

    Args:
        basis: who scores.
        record: an answer, a case or a claim.
        wanted: whether a labelled stretch is asked for, by its place.

    Yields:
        The stretch's place, the sentence, and None where it claims nothing or is too long to be read.
    """
    answer, passages, labels = parts(record)
    assessor = basis.assessor(passages, record.get("question"), Abort())
    sentences = segment(answer)
    for index, sentence in enumerate(sentences):
        overlaps = [min(sentence.end, end) - max(sentence.start, start) for start, end, _ in labels]
        place = int(np.argmax(overlaps))
        if not wanted(place):
            continue
        markers, reading = assessor.read(sentence, sentences[max(index - 40, 0) : index])
        claim = reading.claim
        if claim is None or len(basis.scorer.token_spans(claim.text)) > basis.scorer.traits.claim_tokens:
            yield place, sentence, None
        else:
            yield place, sentence, assessor.measure(claim, markers, Abort())


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
        "--beside", type=Path, nargs="*", default=[], help="other sets, on which checks must pay to weigh"
    )
    parser.add_argument(
        "--rows", type=Path, help="file that keeps what was measured, for the next fit and `contradiction.py`"
    )
    parser.add_argument("--figures", type=Path, help="write the cross-validated figures here, for the card")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    if options.alarms is not None and not 0 <= options.alarms < 1:
        parser.error(f"--alarms is a share of the supported claims, 0 to 1, not {options.alarms:g}")
    if options.among is not None and options.rows is not None:
        parser.error("--rows keeps the sets as they are, not with --among")
    scorer = PremiseCachedScorer(options.model, joint_windows=3)
    kept = KeptRows(options.rows, scorer.fingerprint.revision)

    if options.among is not None:
        first = rows(among(list(json_lines(options.first)), options.among, scorer), scorer)
    else:
        first = rows_of(options.first, kept, scorer)
    second = [
        *rows_of(options.second, kept, scorer),
        *kept.of(COPIED, lambda: rows(copied(list(json_lines(options.second))), scorer)),
    ]
    fitting = Fitting(first, second, options.share, options.penalty, options.alarms)
    everything = np.ones(len(first), bool)
    figures = {
        name: fitting.validate(names, "supported", [1 if n in RISING else -1 for n in names])
        for name, names in COMPARED.items()
    }
    for name, found in figures.items():
        print(f"{name}: {found}", flush=True)
    chosen = WITH_JOINT if options.joint else SUPPORT
    signs = [1 if n in RISING else -1 for n in chosen]
    weights, bias = fitting.map(chosen, "supported", signs, everything)
    held = {set_name(path): rows_of(path, kept, scorer) for path in options.beside}
    others = [row for found in held.values() for row in found]
    for name in CHECKS:
        print(f"labels that {name} changes beside: {Flips.of(name, chosen, weights, bias, others)}")
    shares = paying(CHECKS, chosen, weights, bias, others)
    weights = np.array([weight * shares.get(name, 1.0) for name, weight in zip(chosen, weights, strict=True)])
    figures[SHIPPED] = fitting.validate(chosen, "supported", signs, shares, GIVEN)
    print(f"{SHIPPED}: {figures[SHIPPED]}", flush=True)
    for name in CHECKS:
        print(f"{name} at {shares[name]:g}: {Flips.of(name, chosen, weights, bias, others)}")
    rejected = [row for row in first if row.label in ("unsupported", "contradicted")]
    against = Fitting(rejected, (), 0.0, options.penalty)
    print(f"contradicted among the rejected: {against.validate(AGAINST, 'contradicted', [1] * len(AGAINST))}")
    opposed, start = against.map(AGAINST, "contradicted", [1] * len(AGAINST), np.ones(len(rejected), bool))
    inputs = np.array([[row.features[name] for name in chosen] for row in first])
    supported = np.array([row.label == "supported" for row in first])
    chance = 1 / (1 + np.exp(-(inputs @ weights + bias)))
    calibration = Calibration(
        threshold=threshold_for(chance[supported], options.alarms),
        weights={name: round(float(w), 4) for name, w in zip(chosen, weights, strict=True) if abs(w) > 1e-4}
        | GIVEN,
        bias=round(bias, 4),
        contradiction_weights={
            n: round(float(w), 4) for n, w in zip(AGAINST, opposed, strict=True) if w > 1e-4
        },
        contradiction_bias=round(start, 4),
        fitted_on=(
            f"{options.first.name} and, at {options.share:g} of its weight, "
            f"{options.second.name} with a sentence copied from each passage (development sets); "
            f"checks as far as they pay on {', '.join(held) or 'nothing else'}; "
            f"{', '.join(OF_VERSIONS)} on versions made from passages; "
            f"{', '.join(COUNTED)} from how often they are right about sentences models are trained on"
        ),
    )
    for name, found in held.items():
        place = f"all of these, on {name} as fitted"
        figures[place] = beside(calibration, found)
        print(f"{place}: {figures[place]}", flush=True)
    if options.figures is not None:
        shown = {name: asdict(found) for name, found in figures.items()}
        options.figures.write_text(json.dumps(shown, indent=1) + "\n", encoding="utf-8")
    options.out.write_text(calibration.model_dump_json(indent=2) + "\n", encoding="utf-8")
    print(options.out.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
