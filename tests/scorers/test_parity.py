from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamverify.errors import ModelContractError, ModelError, ModelNotFoundError
from streamverify.scorers.model_files import embedded
from streamverify.scorers.named import scorer_named
from streamverify.scorers.parity import TOLERANCE, parity
from streamverify.scorers.protocol import Scorer
from streamverify.testing import ScriptedScorer

REFERENCE = {
    "windows": ["The tower is tall."],
    "claims": [{"claim": "It is tall.", "single": [[2.0, 0.0, -2.0]], "joint": [2.0, 0.0, -2.0]}],
}


@pytest.fixture(scope="module")
def scorer() -> Iterator[Scorer]:
    scorer = scorer_named("default")()
    yield scorer
    scorer.close()


def written(folder: Path, content: object) -> Path:
    path = folder / "reference.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.model
def test_the_model_in_the_package_gives_its_recorded_scores(scorer: Scorer) -> None:
    measured = parity(scorer, embedded() / "reference.json")
    assert measured.values >= 30
    assert 0 <= measured.largest <= TOLERANCE
    assert measured.holds


@pytest.mark.model
def test_another_models_scores_do_not_pass(scorer: Scorer, tmp_path: Path) -> None:
    reference = json.loads((embedded() / "reference.json").read_text(encoding="utf-8"))
    reference["claims"][0]["joint"].reverse()
    assert not parity(scorer, written(tmp_path, reference)).holds


@pytest.mark.parametrize("content", ["", "[]", {"windows": [], "claims": []}, {**REFERENCE, "claims": [{}]}])
def test_a_file_that_is_no_reference_is_named(tmp_path: Path, content: object) -> None:
    path = written(tmp_path, content)
    with pytest.raises(ModelContractError, match="is not a file of reference values"):
        parity(ScriptedScorer(), path)


def test_a_missing_reference_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="no file of reference values at"):
        parity(ScriptedScorer(), tmp_path / "reference.json")


def test_a_scorer_without_joint_passes_cannot_be_compared(tmp_path: Path) -> None:
    with pytest.raises(ModelContractError, match="cannot be compared"):
        parity(ScriptedScorer(), written(tmp_path, REFERENCE))


def test_a_scorer_is_found_by_name_and_a_wrong_name_is_refused_at_once(tmp_path: Path) -> None:
    assert "lexical" in scorer_named("lexical")().fingerprint.model
    with pytest.raises(
        ModelNotFoundError, match=r"installed are fast(, \w+)*; or give cascade, lexical or a model"
    ):
        scorer_named("nope")
    # An empty folder is neither kind of model: refused when it is loaded.
    with pytest.raises(ModelError):
        scorer_named(str(tmp_path))()
    written(tmp_path, "").rename(tmp_path / "sha256sums")
    with pytest.raises(ModelContractError, match=r"does not list config\.json"):
        scorer_named(str(tmp_path))()
