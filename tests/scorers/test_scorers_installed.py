"""Models that other distributions bring are found by name, and nothing of theirs is run."""

import shutil
import sys
from pathlib import Path

import pytest

import streamverify
from streamverify import Passage, Verifier
from streamverify.errors import ModelNotFoundError, UsageError
from streamverify.scorers.installed import hint, installed_folder, installed_models
from streamverify.scorers.named import scorer_named

MODEL = Path(streamverify.__file__).parent / "model"


def bring(folder, name, package="borrowed_model", distribution="borrowed"):
    """What installing a wheel with a model leaves behind."""
    info = folder / f"{distribution}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[streamverify.models]\n{name} = {package}\n")
    return folder / package


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.model
def test_a_model_of_another_distribution_is_chosen_by_its_name(place):
    package = bring(place, "borrowed")
    shutil.copytree(MODEL, package)
    (package / "__init__.py").write_text("raise RuntimeError('a model is data: it must not be imported')\n")
    with Verifier(model="borrowed") as verifier:
        report = verifier.check_sync("It opened in 1889.", [Passage("p", "The tower opened in 1889.")])
    assert report.sentences[0].label is streamverify.Label.SUPPORTED
    assert "sv-minilm" in report.fingerprint.model
    assert "borrowed_model" not in sys.modules


def test_an_entry_point_without_its_package_is_one_clear_error(place):
    bring(place, "borrowed")
    with pytest.raises(ModelNotFoundError, match="names 'borrowed_model', which is no installed package"):
        installed_folder("borrowed")


def test_an_entry_point_may_not_name_code_inside_a_package(place):
    bring(place, "borrowed", package="os.path")
    with pytest.raises(ModelNotFoundError, match="no installed package folder"):
        installed_folder("borrowed")


def test_two_models_of_one_name_are_ambiguous(place):
    bring(place, "borrowed")
    bring(place, "borrowed", package="other", distribution="other")
    with pytest.raises(UsageError, match="two installed models are called 'borrowed'"):
        installed_models()


def test_a_known_model_that_is_not_installed_names_the_command():
    assert hint("accurate") == (
        "it is a distribution of its own, in the repository: pip install ./models/accurate"
    )


def test_an_unknown_name_tells_what_is_installed():
    with pytest.raises(ModelNotFoundError, match="installed are fast"):
        scorer_named("acurate")


@pytest.mark.parametrize("name", ["fast", "default"])
@pytest.mark.model
def test_the_model_in_the_package_has_a_name(name):
    scorer = scorer_named(name)()
    assert scorer.fingerprint.model.startswith("sv-")
    scorer.close()


def test_a_scorer_and_a_model_exclude_each_other():
    with pytest.raises(UsageError, match="not both"):
        Verifier("lexical", model="fast")
    with pytest.raises(UsageError, match="scorer='lexical'"):
        Verifier(model="lexical")
