"""How good the embedder that comes with the library is, on pairs written for this and used for nothing else.

python benchmarks/embedding.py [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from machine import describe
from streamverify.evaluate.embedder import WordEmbedder

PAIRS = (
    # Two sentences, and how much of the meaning they share, 0-5, by the writer's judgement.
    ("The museum opens at nine.", "Visitors can enter the museum from nine o'clock.", 4.6),
    ("The museum opens at nine.", "Tickets for the museum cost twelve euros.", 1.8),
    ("The museum opens at nine.", "Bees collect nectar from flowers.", 0.0),
    ("She bought a new car last week.", "Last week she purchased a new automobile.", 4.9),
    ("She bought a new car last week.", "She sold her old bicycle last year.", 2.0),
    ("She bought a new car last week.", "The senate rejected the bill.", 0.0),
    ("The vaccine prevents measles.", "Measles can be avoided by immunisation.", 4.4),
    ("The vaccine prevents measles.", "The vaccine must be kept cold.", 1.9),
    ("The vaccine prevents measles.", "The orchestra played until midnight.", 0.0),
    ("Invoices must be paid within 30 days.", "Payment of bills is due in thirty days.", 4.6),
    ("Invoices must be paid within 30 days.", "Invoices are sent by e-mail.", 1.7),
    ("Invoices must be paid within 30 days.", "The glacier is melting quickly.", 0.1),
    ("The lawyer appealed against the verdict.", "An attorney challenged the ruling.", 4.4),
    ("The lawyer appealed against the verdict.", "The judge read the verdict aloud.", 2.1),
    ("The lawyer appealed against the verdict.", "Tomatoes need plenty of sun.", 0.0),
    ("The battery lasts ten hours.", "It runs for ten hours on one charge.", 4.2),
    ("The battery lasts ten hours.", "The battery does not last ten hours.", 2.6),
    ("The battery lasts ten hours.", "Our aunt lives in a small village.", 0.0),
    ("The river flooded the town.", "The town was flooded by the river.", 5.0),
    ("The river flooded the town.", "The town lies beside a river.", 2.3),
    ("The river flooded the town.", "He tuned the piano.", 0.0),
)
QUESTIONS = (
    # A question, and the passage that answers it; the other passages are the wrong ones.
    ("When does the museum open?", "Visitors can enter from nine o'clock, on Sundays from ten."),
    ("Who discovered penicillin?", "Alexander Fleming noticed in 1928 that a mould killed bacteria."),
    ("How do I reset my password?", "Open the account page, choose security and set another password there."),
    ("What is the boiling point of water?", "At sea level water turns to steam at 100 degrees Celsius."),
    ("How many employees does the firm have?", "The company has a staff of about 4,200 people."),
    ("What should I do with a fever?", "A raised temperature usually passes; rest and drink plenty."),
    ("Why is the sky blue?", "Short wavelengths of sunlight are scattered more strongly by the air."),
    ("When must an invoice be paid?", "Payment of bills is due within thirty days of receipt."),
    (
        "Which planet is the largest?",
        "Jupiter has more mass than all the others of the solar system together.",
    ),
    ("How long is parental leave?", "Mothers and fathers may stay at home for up to fourteen months."),
    ("Where is the river's source?", "It springs from a glacier in the Alps."),
    ("What damages the battery?", "Heat and full discharge shorten the life of the cells."),
    ("Is smoking allowed in the building?", "Cigarettes are forbidden in all offices and corridors."),
    ("How is cheese made?", "Milk is curdled with rennet, pressed and left to ripen."),
)

Likeness = Callable[[str, str], float]


def measured(alike: Likeness) -> dict[str, float]:
    """Agreement with the judged pairs, and how well the right passage is told from the others."""
    judged = [score for _, _, score in PAIRS]
    table = np.array([[alike(question, passage) for _, passage in QUESTIONS] for question, _ in QUESTIONS])
    own, other = np.diag(table), table[~np.eye(len(table), dtype=bool)]
    return {
        "spearman": float(spearmanr(judged, [alike(one, two) for one, two, _ in PAIRS]).statistic),
        "right_passage_first": float((table.argmax(axis=1) == np.arange(len(table))).mean()),
        "auc_right_against_wrong": float((own[:, None] > other[None]).mean()),
        "mean_right": float(own.mean()),
        "mean_wrong": float(other.mean()),
    }


def shared_words(one: str, two: str) -> float:
    """The yardstick: common words / all words."""
    first, second = ({word.strip("?.,;").lower() for word in text.split()} for text in (one, two))
    return len(first & second) / len(first | second)


def main() -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    embedder = WordEmbedder()

    def alike(one: str, two: str) -> float:
        first, second = embedder([one, two])
        return float(np.dot(first, second))

    found = {
        "embedder": embedder.name,
        "n": {"pairs": len(PAIRS), "questions": len(QUESTIONS)},
        "figures": measured(alike),
        "shared_words": measured(shared_words),
        "machine": describe(),
    }
    print(json.dumps(found, indent=2))
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
