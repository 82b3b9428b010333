"""The released folders agree with each other, as far as can be told without running a network."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamverify.calibration import Calibration
from streamverify.scorers.model_files import verify

ROOT = Path(__file__).parents[2]
EMBEDDED = ROOT / "streamverify" / "model"
LARGER = ROOT / "models" / "accurate" / "streamverify_model_accurate"


def calibration(folder: Path) -> Calibration:
    return Calibration.model_validate_json((folder / "calibration.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("folder", [EMBEDDED, LARGER], ids=lambda folder: folder.parent.name)
def test_the_files_are_those_that_were_summed(folder):
    assert "calibration.json" in verify(folder)


def test_the_band_of_doubt_is_of_the_embedded_models_probabilities():
    band = calibration(LARGER).band
    assert band is not None
    assert band.first == calibration(EMBEDDED).scale
