"""The worked examples of the metrics' definitions, each a row."""

from __future__ import annotations

import pytest
from builders import case, verifier

from streamverify import Passage, Verifier
from streamverify.citations import citation_completeness, citation_precision
from streamverify.evaluate import CATALOGUE, Tools, evaluate
from streamverify.evaluate.metrics.grounding import combined, cosine, weighted
from streamverify.evaluate.stats import normal, wilson
from streamverify.figure import NotComputed
from streamverify.testing import ScriptedScorer
from streamverify.types import Label

PARIS = [Passage("a", "Text about the matter at hand."), Passage("b", "More of it.")]


def figures_of(answer, script, *names, passages=PARIS, tools=None, **more):
    with Verifier(ScriptedScorer(script)) as one:
        run = evaluate(
            [case(0, answer, passages=passages, **more)],
            metrics=names,
            verifier=one,
            embedder=tools.embedder if tools else None,
        )
    return [run.cases[0][name] for name in names]


@pytest.mark.parametrize(
    ("answer", "wrong", "expected"),
    [
        ("Einstein was born in Germany. He was a physicist. He was born on 20 March.", "20 March", 2 / 3),
        (
            "Tea has antioxidants. It lowers risks. It helps the heart. It has caffeine. It cures cancer.",
            "cures",
            4 / 5,
        ),
    ],
)
def test_faithfulness(answer, wrong, expected):
    script = {wrong: Label.UNSUPPORTED}
    faithfulness, hallucinated = figures_of(answer, script, "faithfulness", "hallucination_rate")
    assert faithfulness == pytest.approx(expected)
    assert hallucinated == pytest.approx(1 - expected)


def test_the_three_weightings_of_faithfulness():
    flags = [True, False, True]
    assert weighted(flags, [1, 1, 1]) == pytest.approx(2 / 3)
    assert weighted(flags, [1, 1 / 2, 1 / 3]) == pytest.approx((4 / 3) / (11 / 6))
    assert weighted(flags, [0.9, 0.1, 0.5]) == pytest.approx(1.4 / 1.5)
    assert isinstance(weighted(flags, [0, 0, 0]), NotComputed)


class Letters:
    """Counts letters: like texts have like vectors."""

    name = "letters 1"

    def __call__(self, texts):
        return [
            [float(text.lower().count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts
        ]


def test_importance_is_likeness_to_the_question():
    first, second = "The zebra ran.", "Milk costs two euros."
    [found] = figures_of(
        f"{first} {second}",
        {"Milk": Label.UNSUPPORTED},
        "faithfulness_weighted_importance",
        question="The zebra ran?",
        tools=Tools(embedder=Letters()),
    )
    question, one, two = Letters()(["The zebra ran?", first, second])
    likeness = [cosine(question, one), cosine(question, two)]
    assert found == pytest.approx(likeness[0] / sum(likeness))
    assert found > 0.5


def test_intervals_of_45_of_50():
    interval = normal(45, 50)
    assert (interval.low, interval.high) == pytest.approx((0.817, 0.983), abs=5e-4)
    interval = wilson(45, 50)
    assert (interval.low, interval.high) == pytest.approx((0.786, 0.957), abs=5e-4)


@pytest.mark.parametrize(
    ("alone", "together", "expected"), [(0.9, 0.2, 0.9), (0.5, 0.85, 0.85), (0.7, 0.3, 0.7), (0.8, 0.99, 0.8)]
)
def test_a_statement_that_no_passage_carries_alone_is_read_with_all_of_them(alone, together, expected):
    assert combined(alone, together) == expected


def test_climate_example_of_citation_accuracy():
    """Three citations, one of them wrong: 2 of 3."""
    passages = [
        Passage("1", "The temperature has risen by 1.1 degrees since 1880."),
        Passage("2", "The sea level rose by 20 centimetres."),
        Passage("3", "The ice is melting fast."),
    ]
    answer = "It has warmed by 1.1 degrees [1]. The sea rose by 20 centimetres [2]. Penguins moved away [3]."
    [accuracy] = figures_of(answer, {"Penguins": Label.UNSUPPORTED}, "citation_accuracy", passages=passages)
    assert accuracy == pytest.approx(2 / 3)


def test_citation_precision_and_completeness():
    cited, supporting = [["a", "b", "c"]], [["a", "b"]]
    assert citation_precision(cited, supporting) == pytest.approx(2 / 3)
    assert citation_completeness(cited, supporting) == 1.0


def test_a_claim_counts_as_grounded_only_by_what_it_cites():
    [rate] = figures_of("It stands here [a]. It stands there.", {}, "grounded_claim_rate")
    assert rate == 0.5


def test_contradicted_contexts_are_a_share_of_the_passages():
    [share, none] = figures_of(
        "It never stood.",
        {"never": Label.CONTRADICTED},
        "contradicted_contexts",
        "source_conflicts_acknowledged",
    )
    assert share == 1.0
    assert none == NotComputed("no passages contradict each other here")


def test_a_citation_matches_its_label():
    [match] = figures_of(
        "The mill was built in 1712 [a]. It has two wheels [a].",
        {},
        "citation_match",
        claims=(
            ("mill was built in 1712", "a"),
            ("has two wheels", "b"),
            ("nothing of the kind was ever said", "b"),
        ),
    )
    assert match == 0.5


def test_every_metric_says_what_it_needs_and_which_way_is_up():
    for name, metric in CATALOGUE.items():
        assert metric.name == name
        assert metric.version
        assert metric.__class__.__call__
        assert metric.function.__doc__
    lower = {name for name, metric in CATALOGUE.items() if not metric.higher_is_better}
    assert {"hallucination_rate", "contradicted_contexts", "citation_fabricated"} <= lower
    with verifier() as one:
        assert one.fingerprint.calibration
