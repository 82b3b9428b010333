"""Fit the learned part of the reader: does a sentence claim anything?

    python -m training.claimhood cross            cross-validated by writer, with the learning curve
    python -m training.claimhood fit              fit on all development sets and write the weights

Logistic regression with an L2 penalty, by conjugate gradients inside Newton's method, in plain NumPy. The
rows are `tests/claims/claimhood.jsonl`, those of the sets in `sets/` that `SETS` names, and plain claims of
the answers there, which weigh less. The held-out sets are never read here.
"""

from __future__ import annotations

import argparse
import hashlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from streamverify.claims import linear
from streamverify.claims.features import features
from streamverify.claims.linear import BUCKETS, REASON_BUCKETS, REASONS
from streamverify.claims.nonclaims import Reason
from streamverify.sentences.segmenter import segment
from streamverify.types import SentenceKind
from training.jsonl import json_lines

HERE = Path(__file__).parent
SETS = {
    "dev": HERE.parent / "tests/claims/claimhood.jsonl",
    "more": HERE / "sets/claimhood_more.jsonl.gz",
    "wide": HERE / "sets/claimhood_wide.jsonl.gz",
    "varied": HERE / "sets/claimhood_varied.jsonl.gz",
    "lookalikes": HERE / "sets/claimhood_lookalikes.jsonl.gz",
    "products": HERE / "sets/claimhood_products.jsonl.gz",
    "talk": HERE / "sets/claimhood_talk.jsonl.gz",
    "silence": HERE / "sets/claimhood_silence.jsonl.gz",
}
ANSWERS = (
    "replies",
    "ordinary_a",
    "ordinary_b",
    "ordinary_c",
    "ordinary_d",
    "ordinary_f",
    "contrasts",
    "details",
)
PLAIN = 9000
PLAIN_WEIGHT = 0.4
DEV_WEIGHT = 0.4
"""The rules were made with the first set in view, so its sentences tell less about what they are worth."""
PENALTY = 0.3
REASON_OF_KIND = {
    "abstention": Reason.ABSTENTION,
    "acknowledgement": Reason.GREETING,
    "advice_to_check": Reason.ADVICE,
    "disclaimer": Reason.META,
    "heading": Reason.HEADING,
    "lead_in": Reason.LEAD_IN,
    "meta": Reason.META,
    "offer": Reason.OFFER,
    "politeness": Reason.GREETING,
    "question": Reason.QUESTION,
    "reference": Reason.REFERENCE,
    "transition": Reason.META,
}

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """A sentence, what is known of it and how much it counts."""

    features: dict[str, float]
    claims: bool
    kind: str
    writer: str
    weight: float


@dataclass(frozen=True)
class Matrix:
    """Sparse rows: row `i` has `amounts[starts[i]:starts[i + 1]]` at `places` of the same range."""

    places: NDArray[np.int64]
    amounts: Floats
    starts: NDArray[np.int64]
    columns: int

    def times(self, weights: Floats) -> Floats:
        return np.add.reduceat(self.amounts * weights[self.places], self.starts[:-1])

    def back(self, values: Floats) -> Floats:
        spread = np.repeat(values, np.diff(self.starts)) * self.amounts
        return np.bincount(self.places, spread, self.columns)


@dataclass(frozen=True)
class Sentence:
    """A sentence to learn from."""

    text: str
    form: SentenceKind
    before: str
    claims: bool
    kind: str
    writer: str
    set: str
    weight: float


def sentences(sets: Mapping[str, Path] = SETS) -> Iterator[Sentence]:
    """The sentences of labelled sets. A case of several counts as its last where it is a claim."""
    for name, path in sets.items():
        for case in json_lines(path):
            found = segment(case["text"])
            claims = case["label"] == "claim"
            for place, sentence in enumerate(found):
                if claims and place + 1 < len(found):
                    continue
                yield Sentence(
                    text=sentence.text,
                    form=sentence.kind,
                    before=found[place - 1].text if place else case["previous"],
                    claims=claims,
                    kind=case["kind"],
                    writer=case.get("writer", name),
                    set=name,
                    weight=DEV_WEIGHT if name == "dev" else 1.0,
                )


def plain_claims() -> Iterator[Sentence]:
    """Claims as answers make them."""
    claims = []
    for name in ANSWERS:
        for case in json_lines(HERE / f"sets/{name}.jsonl.gz"):
            before = ""
            for claim in case["claims"]:
                claims.append((claim["claim"], before))
                before = claim["claim"]
    random.Random(1).shuffle(claims)
    for text, before in claims[:PLAIN]:
        yield Sentence(text, SentenceKind.PROSE, before, True, "plain", "plain", "plain", PLAIN_WEIGHT)


def rows() -> list[Row]:
    """All sentences to fit on."""
    return [
        Row(dict(features(one.text, one.form, one.before)), one.claims, one.kind, one.writer, one.weight)
        for one in (*sentences(), *plain_claims())
    ]


def matrix(rows: Sequence[Row], columns: int) -> Matrix:
    """Features by the place of their weight."""
    hashes = [linear.hashed(row.features) for row in rows]
    return Matrix(
        np.concatenate([places for places, _ in hashes]) % columns,
        np.concatenate([amounts for _, amounts in hashes]).astype(float),
        np.cumsum([0, *(len(places) for places, _ in hashes)]),
        columns,
    )


def fit(x: Matrix, wanted: Floats, weight: Floats, penalty: float, *, steps: int = 8) -> Floats:
    """Weights that minimise the log loss plus `penalty` times half their squared length."""
    weights = np.zeros(x.columns)
    for _ in range(steps):
        chance = 1 / (1 + np.exp(-x.times(weights)))
        slope = x.back(weight * (chance - wanted)) + penalty * weights
        bend = weight * chance * (1 - chance)
        change = _solve(lambda v, bend=bend: x.back(bend * x.times(v)) + penalty * v, slope)
        weights -= change
        if np.abs(change).max() < 1e-3:
            break
    return weights


def _solve(times: Callable[[Floats], Floats], wanted: Floats, *, steps: int = 25) -> Floats:
    """Conjugate gradients for a positive matrix that is known by its products alone."""
    found = np.zeros_like(wanted)
    left = wanted.copy()
    way = left.copy()
    size = left @ left
    for _ in range(steps):
        product = times(way)
        along = size / (way @ product)
        found += along * way
        left -= along * product
        now = left @ left
        if now < 1e-6 * (wanted @ wanted):
            break
        way = left + (now / size) * way
        size = now
    return found


def train(rows: Sequence[Row]) -> linear.Linear:
    """The weights of the learned part, in eight bits."""
    claims = np.array([float(row.claims) for row in rows])
    weight = np.array([row.weight for row in rows])
    claim, claim_step = _eight_bits(fit(matrix(rows, BUCKETS), claims, weight, PENALTY))
    silent = [row for row in rows if row.kind in REASON_OF_KIND]
    x = matrix(silent, REASON_BUCKETS)
    fitted = [
        _eight_bits(
            fit(
                x,
                np.array([float(REASON_OF_KIND[row.kind] is reason) for row in silent]),
                np.ones(len(silent)),
                1.0,
                steps=4,
            )
        )
        for reason in REASONS
    ]
    steps = np.array([step for _, step in fitted], np.float32)
    return linear.Linear(claim, claim_step, np.stack([weights for weights, _ in fitted]), steps)


def _eight_bits(weights: Floats) -> tuple[NDArray[np.int8], float]:
    step = float(np.abs(weights).max()) / 127
    return np.round(weights / step).astype(np.int8), step


def cross() -> None:
    """Print what is right of every writer whose sentences were left out."""
    everything = rows()
    writers = sorted({row.writer for row in everything} - {"plain"})
    x = matrix(everything, BUCKETS)
    claims = np.array([row.claims for row in everything])
    writer = np.array([row.writer for row in everything])
    weight = np.array([row.weight for row in everything])
    for share in (0.125, 0.25, 0.5, 1.0):
        taken = np.random.default_rng(0).random(len(everything)) < share
        odds = np.zeros(len(everything))
        for fold in range(6):
            out = np.isin(writer, writers[fold::6])
            weights = fit(x, claims.astype(float), weight * (taken & ~out), PENALTY, steps=6)
            odds[out] = x.times(weights)[out]
        seen = np.isin(writer, [name for name in writers if name != "dev"])
        right = (odds > 0) == claims
        print(
            f"{int((taken & (writer != 'plain')).sum()):5d} sentences: {right[seen].mean():.3f} right, "
            f"{(odds <= 0)[seen & claims].mean():.3f} of claims lost, "
            f"{(odds > 0)[seen & ~claims].mean():.3f} of others judged"
        )
    for name in writers:
        print(f"{name:8} {right[writer == name].mean():.3f}")
    for bar in (0.0, -0.25, -0.5, -0.75, -1.0):
        lost, judged = (odds <= bar)[seen & claims].mean(), (odds > bar)[seen & ~claims].mean()
        rate = ((odds > bar) == claims)[seen].mean()
        print(f"bar {bar:5.2f}: {rate:.3f} right, {lost:.3f} of claims lost, {judged:.3f} of others judged")


def main() -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("cross", "fit"))
    if parser.parse_args().command == "cross":
        cross()
        return
    content = linear.pack(train(rows()))
    folder = Path(linear.__file__).parent
    (folder / "claimhood.npz").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    (folder / "claimhood.npz.sha256").write_text(f"{digest}  claimhood.npz\n", encoding="ascii")
    print(f"{len(content)} bytes, sha256 {digest}")


if __name__ == "__main__":
    main()
