"""The larger model, as its distribution brings it: read from the folder that its wheel installs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from streamverify import Label, Passage, Verifier
from streamverify.demo import case_ids, load_case
from streamverify.passages import cut
from streamverify.scorers.cascade import Cascade
from streamverify.scorers.model_card import describe, measured_parity
from streamverify.scorers.model_files import verify
from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.scorers.protocol import Abort, Claim, Window

FOLDER = Path(__file__).parents[2] / "models" / "accurate" / "streamverify_model_accurate"
PASSAGES = [
    Passage(
        "tower", "The tower was finished in 1889 and is 330 metres tall. It is painted every seven years."
    ),
    Passage("park", "The park around it opens at six in the morning. Dogs are kept on a lead."),
]

pytestmark = [pytest.mark.model, pytest.mark.slow]


@pytest.fixture(scope="module")
def accurate() -> Iterator[Verifier]:
    with Verifier(model=str(FOLDER)) as verifier:
        yield verifier


def test_its_files_are_what_was_released_and_it_computes_what_it_did_then():
    assert {"model.int8.onnx", "tokenizer.json", "calibration.json"} <= set(verify(FOLDER))
    found = measured_parity(FOLDER)
    assert found.holds, found


def test_it_is_larger_and_says_so(accurate):
    card = describe(FOLDER)
    assert card.fingerprint.model.startswith("sv-mpnet-premise-cache")
    assert list(card.calibration.presets) == ["strict", "balanced", "lenient"]
    assert accurate.fingerprint.model == card.fingerprint.model


@pytest.mark.parametrize(
    ("sentence", "label"),
    [
        ("The tower was completed in 1889.", Label.SUPPORTED),
        ("The tower is 330 metres tall.", Label.SUPPORTED),
        ("The tower is painted every seven years.", Label.SUPPORTED),
        ("The tower belongs to a bank in Geneva.", Label.UNSUPPORTED),
    ],
)
def test_it_reads_plain_sentences(accurate, sentence, label):
    [found] = accurate.check_sync(sentence, PASSAGES).sentences
    assert found.label is label, found.why


def test_it_decides_behind_the_fast_one_where_that_is_in_doubt():
    with Verifier(Cascade("fast", str(FOLDER), band=(0.0, 1.0))) as verifier:
        report = verifier.check_sync("The tower was completed in 1889.", PASSAGES)
    [opinion] = report.second_opinions
    assert opinion.scorer.startswith("sv-mpnet-premise-cache")
    assert opinion.asked == 1
    assert report.sentences[0].scorer == opinion.scorer
    with Verifier(Cascade("fast", str(FOLDER))) as fitted:  # the band that its calibration brings
        assert fitted.fingerprint.later[0].band is not None


def entailments(
    scorer: PremiseCachedScorer, windows: Sequence[Window], claims: Sequence[Claim]
) -> list[float]:
    prepared = scorer.prepare(windows, abort=Abort())
    found = scorer.score(prepared, claims, abort=Abort())
    singles = [sorted((one.window, one.score.entailment) for one in score.single) for score in found]
    joints = [score.joint.entailment for score in found if score.joint is not None]
    return [entailment for some in singles for _, entailment in some] + joints


def test_its_8_bits_say_nearly_what_its_numbers_say() -> None:
    """One step for all tokens put them 0.07 off on average (docs/decisions/a-step-for-each-token.md)."""
    plain = PremiseCachedScorer(FOLDER, early_exit=False)
    batched = PremiseCachedScorer(FOLDER, batched=True, early_exit=False)
    apart: list[float] = []
    try:
        for case in map(load_case, case_ids()[:4]):
            windows = cut(case.sources(), plain.token_spans, plain.traits.window_tokens)
            claims = [Claim(sentence.text) for sentence in case.sentences]
            both = (entailments(scorer, windows, claims) for scorer in (plain, batched))
            apart += [abs(one - other) for one, other in zip(*both, strict=True)]
    finally:
        plain.close()
        batched.close()
    assert len(apart) > 50
    assert sum(apart) / len(apart) < 0.03
