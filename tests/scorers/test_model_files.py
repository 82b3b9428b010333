from __future__ import annotations

import hashlib
import json
import shutil

import pytest

from streamverify.errors import ModelChecksumError, ModelContractError, ModelError, ModelNotFoundError
from streamverify.scorers.model_files import ModelFiles, embedded, verify

CONFIG = {
    "kind": "premise-cached-nli",
    "name": "tiny",
    "version": "1",
    "precision": "int8",
    "window_tokens": 128,
    "claim_tokens": 96,
}


def sums(folder, names=None):
    names = names or sorted(path.name for path in folder.iterdir() if path.name != "sha256sums")
    lines = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (folder / "sha256sums").write_text("".join(lines))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (tmp_path / "calibration.json").write_text('{"weights": {"single": 2.0}}')
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "model.int8.onnx").write_bytes(b"graph")
    sums(tmp_path)
    return tmp_path


def test_the_embedded_model_is_whole_and_lists_every_file_beside_it():
    listed = verify(embedded())
    assert set(listed) == {path.name for path in embedded().iterdir()} - {"sha256sums"}


def test_the_embedded_models_files_say_what_they_are():
    files = ModelFiles.open()
    assert files.config.name == "sv-minilm-premise-cache"
    assert files.config.window_tokens == 128
    assert files.calibration.weights["single"] > 0
    assert "development" in files.calibration.fitted_on
    assert files.revision == hashlib.sha256(files.graph.read_bytes()).hexdigest()[:12]


def test_a_folder_is_read(folder):
    files = ModelFiles.open(folder)
    assert files.config.name == "tiny"
    assert files.calibration.weights == {"single": 2.0}
    assert files.graph.read_bytes() == b"graph"


def test_a_changed_byte_is_an_error_that_names_the_file_and_both_sums(folder):
    expected = hashlib.sha256(b"graph").hexdigest()
    (folder / "model.int8.onnx").write_bytes(b"grapj")
    with pytest.raises(ModelChecksumError) as caught:
        ModelFiles.open(folder)
    assert caught.value.path == str(folder / "model.int8.onnx")
    assert caught.value.expected == expected
    assert caught.value.found == hashlib.sha256(b"grapj").hexdigest()


def test_a_missing_file_is_an_error_that_names_it(folder):
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ModelNotFoundError, match=r"tokenizer\.json"):
        ModelFiles.open(folder)


def test_a_missing_folder_is_an_error_that_names_it(tmp_path):
    with pytest.raises(ModelNotFoundError, match="nowhere"):
        ModelFiles.open(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "calibration.json", "model.int8.onnx"])
def test_a_file_that_is_not_listed_is_not_trusted(folder, name):
    sums(folder, sorted(path.name for path in folder.iterdir() if path.name not in (name, "sha256sums")))
    with pytest.raises(ModelContractError, match=name):
        ModelFiles.open(folder)


@pytest.mark.parametrize(
    "line", ["short  config.json", "0" * 64, f"{'0' * 64}  ../config.json", f"{'0' * 64}  /etc/passwd"]
)
def test_a_list_that_is_none_is_an_error_that_names_the_line(folder, line):
    (folder / "sha256sums").write_text(f"\n{line}\n")
    with pytest.raises(ModelContractError, match="line 2"):
        verify(folder)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", b"[]"),
        ("config.json", b"\xff\xfe"),
        ("config.json", json.dumps({**CONFIG, "kind": "other"}).encode()),
        ("config.json", json.dumps({**CONFIG, "window_tokens": 1}).encode()),
        ("calibration.json", b'{"threshold": 2}'),
    ],
)
def test_a_file_that_says_nonsense_is_an_error_that_names_it(folder, name, content):
    (folder / name).write_bytes(content)
    sums(folder)
    with pytest.raises(ModelContractError, match=name):
        ModelFiles.open(folder)


def test_every_way_to_damage_the_embedded_model_is_noticed(tmp_path):
    for name in verify(embedded()):
        copy = tmp_path / name
        shutil.copytree(embedded(), copy)
        damaged = bytearray((copy / name).read_bytes())
        damaged[len(damaged) // 2] ^= 1
        (copy / name).write_bytes(damaged)
        with pytest.raises(ModelError, match=name):
            ModelFiles.open(copy)
        shutil.rmtree(copy)
