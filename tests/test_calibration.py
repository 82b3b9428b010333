from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamverify import Verifier
from streamverify.calibration import Calibration, Guarantee, Preset
from streamverify.errors import ModelContractError, NotEnoughLabelsError, UsageError
from streamverify.testing import ScriptedScorer

OWN = Calibration(
    weights={"joint": 0.5}, bias=2.0, threshold=0.4, token_risk=0.3, fitted_on="its development set"
)
unit = st.floats(0, 0.99999)


def test_a_file_may_name_only_what_it_changes(tmp_path):
    file = tmp_path / "calibration.json"
    file.write_text('{"threshold": 0.62}')
    found = Calibration.read(file).completed(OWN)
    assert found == OWN.model_copy(update={"threshold": 0.62, "fitted_on": found.fitted_on})
    assert found.fitted_on == "its development set; changed by hand"


def test_weights_bring_their_bias_along():
    assert Calibration(weights={"single": 1.0}).completed(OWN).bias == 0.0
    assert Calibration(bias=1.0).completed(OWN).weights == {"joint": 0.5}


def test_a_whole_calibration_takes_nothing(tmp_path):
    OWN.write(tmp_path / "own.json")
    whole = Calibration.read(tmp_path / "own.json")
    assert whole == OWN
    assert whole.completed(Calibration(threshold=0.9, guarantee=None)).digest == OWN.digest


def test_a_verifier_fills_what_a_file_leaves_out(tmp_path):
    file = tmp_path / "calibration.json"
    file.write_text('{"threshold": 0.62}')
    with Verifier("lexical") as plain, Verifier("lexical", calibration=Calibration.read(file)) as changed:
        assert changed.calibration.threshold == 0.62
        assert changed.calibration.weights == plain.calibration.weights
        assert changed.calibration.bias == plain.calibration.bias
        assert changed.fingerprint.calibration != plain.fingerprint.calibration


def test_what_is_no_calibration_is_refused(tmp_path):
    with pytest.raises(ModelContractError, match="cannot be read"):
        Calibration.read(tmp_path)
    file = tmp_path / "calibration.json"
    file.write_text('{"threshold": NaN}')
    with pytest.raises(ModelContractError, match="not a calibration file"):
        Calibration.read(file)
    with pytest.raises(UsageError, match="cannot be written"):
        OWN.write(tmp_path / "nowhere" / "c.json")


@given(st.lists(unit, min_size=22, max_size=150), st.lists(unit, max_size=50))
@settings(max_examples=80)
def test_fitting_keeps_its_promise_on_its_own_labels(bad, good):
    found = Calibration.fit(
        [*bad, *good], [False] * len(bad) + [True] * len(good), base=OWN, max_miss_rate=0.1, confidence=0.9
    )
    assert sum(score >= found.threshold for score in bad) <= 0.1 * len(bad)
    assert found.guarantee.labels == len(bad)
    assert found.weights == OWN.weights
    assert (found.token_risk, found.contradiction_weights) == (0.3, OWN.contradiction_weights)


@given(st.lists(st.floats(0, 0.6), min_size=22, max_size=60), st.lists(st.floats(0.7, 0.999), min_size=5))
@settings(max_examples=60)
def test_fitted_weights_leave_the_same_sentences_above_the_threshold(bad, good):
    scores, grounded = [*bad, *good], [False] * len(bad) + [True] * len(good)
    more = {"base": OWN, "max_miss_rate": 0.1, "confidence": 0.9}
    plain = Calibration.fit(scores, grounded, **more)
    moved, again = OWN.refitted(scores, grounded)
    found = Calibration.fit(scores, grounded, fit_weights=True, **more)
    assert found.weights == moved.weights
    assert sum(score >= found.threshold for score in again[: len(bad)]) <= 0.1 * len(bad)
    assert sorted(scores) == [score for _, score in sorted(zip(again, scores, strict=True))]
    assert plain.guarantee == found.guarantee


def test_too_few_labels_are_counted():
    with pytest.raises(NotEnoughLabelsError, match="58 answers .* needs 59"):
        Calibration.fit([0.1] * 60, [False] * 58 + [True] * 2)


def test_what_is_said_about_a_threshold_changes_no_digest():
    found = Calibration.fit([0.1] * 59, [False] * 59, base=OWN)
    assert found.digest == found.model_copy(update={"guarantee": None, "fitted_on": "x"}).digest
    assert json.loads(found.model_dump_json())["guarantee"]["rule"] == "binomial"
    assert found.completed(OWN) == found
    with pytest.raises(UsageError, match="score between 0 and 1"):
        Calibration.fit([1.2], [True])


PRESETS = {
    "strict": Preset(threshold=0.7, false_alarms=0.3, misses=0.1, measured_on="made up"),
    "lenient": Preset(threshold=0.3, false_alarms=0.05, misses=0.4, measured_on="made up"),
}


class _Set(ScriptedScorer):
    """With presets."""

    @property
    def traits(self):
        return replace(super().traits, calibration=OWN_SET)


OWN_SET = Calibration(presets=PRESETS, guarantee=Guarantee(alpha=0.1, delta=0.05, labels=30))


def test_a_preset_is_the_scorers_own_threshold_and_promises_nothing():
    with Verifier(_Set()) as plain, Verifier(_Set(), preset="strict") as strict:
        assert (plain.calibration.threshold, strict.calibration.threshold) == (0.5, 0.7)
        assert strict.calibration.guarantee is None
        assert strict.fingerprint.calibration != plain.fingerprint.calibration


def test_a_promise_made_for_another_models_scores_is_taken_away_and_told(tmp_path, caplog):
    def promise(model):
        return Guarantee(alpha=0.1, delta=0.05, labels=30, model=model)

    file = tmp_path / "calibration.json"
    for model in ("scripted", ""):  # an empty one does not say whose scores they were
        Calibration(threshold=0.6, guarantee=promise(model)).write(file)
        with Verifier(ScriptedScorer(), calibration=Calibration.read(file)) as verifier:
            assert verifier.calibration.guarantee == promise(model)
    assert caplog.text == ""
    Calibration(threshold=0.6, guarantee=promise("larger 2")).write(file)
    with Verifier(ScriptedScorer(), calibration=Calibration.read(file)) as verifier:
        assert (verifier.calibration.threshold, verifier.calibration.guarantee) == (0.6, None)
    assert "fitted to scores of larger 2, and scripted scores here: its threshold promises" in caplog.text


def test_a_threshold_by_hand_takes_the_promise_of_the_scorers_own_away():
    with Verifier(_Set(), calibration=Calibration(threshold=0.4)) as verifier:
        assert verifier.calibration.guarantee is None
    with Verifier(_Set(), calibration=Calibration(token_risk=0.4)) as verifier:
        assert verifier.calibration.guarantee == OWN_SET.guarantee


def test_a_preset_that_was_not_fitted_is_told_by_what_there_is():
    with pytest.raises(UsageError, match=r"no preset 'balanced' \(presets: strict, lenient\)"):
        Verifier(_Set(), preset="balanced").open()
    with pytest.raises(UsageError, match="none was fitted for this scorer"):
        Verifier("lexical", preset="strict").open()


def test_presets_are_asked_for_by_name_and_not_beside_a_calibration():
    with pytest.raises(UsageError, match="preset must be 'strict', 'balanced' or 'lenient', not 'severe'"):
        Verifier(preset="severe")
    with pytest.raises(UsageError, match="a calibration or a preset, not both"):
        Verifier(preset="strict", calibration=Calibration(threshold=0.4))


def test_presets_say_nothing_of_the_verdict_and_belong_to_their_weights():
    assert OWN_SET.digest == OWN_SET.model_copy(update={"presets": {}}).digest
    assert Calibration(threshold=0.6).over(OWN_SET).presets == PRESETS
    assert Calibration(weights={"joint": 1.0}).over(OWN_SET).presets == {}
    assert Calibration(weights={"joint": 1.0}).completed(OWN_SET).presets == {}


@pytest.mark.parametrize("model", ["default"])
@pytest.mark.model
def test_the_models_presets_are_in_order_and_measured(model):
    with Verifier(model) as verifier:
        presets = verifier.calibration.presets
    assert list(presets) == ["strict", "balanced", "lenient"]
    thresholds = [one.threshold for one in presets.values()]
    assert thresholds == sorted(thresholds, reverse=True)
    assert all(one.measured_on for one in presets.values())
    misses = [one.misses for one in presets.values()]
    assert misses == sorted(misses)


@pytest.mark.parametrize("given_", ["cal.json", {"threshold": 0.6}, 0.6])
def test_what_is_no_calibration_is_refused_with_the_way_to_read_one(given_):
    with pytest.raises(UsageError, match=r"must be a Calibration; Calibration\.read\(path\) reads a file"):
        Verifier(calibration=given_)
