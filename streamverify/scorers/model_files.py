"""The folder of a premise-cached model: which files, how they are checked, what they say.

config.json        name, version, precision, longest window and claim
model.int8.onnx    the graph
tokenizer.json     Hugging Face tokenizers
calibration.json   `streamverify.calibration.Calibration`
reference.json     inputs and outputs for the parity test
sha256sums         of all of them, as `sha256sum` writes it
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from streamverify.calibration import Calibration
from streamverify.errors import ModelChecksumError, ModelContractError, ModelNotFoundError
from streamverify.value import Value

_SUMS = "sha256sums"
_NEEDED = ("config.json", "tokenizer.json", "calibration.json")


class ModelConfig(Value):
    """`config.json`."""

    kind: Literal["premise-cached-nli"]
    name: str = Field(min_length=1)
    version: str = Field(min_length=1)
    precision: str = Field(min_length=1)
    graph: str = "model.int8.onnx"
    window_tokens: int = Field(gt=2)
    """Longest window the model was trained on, special tokens counted."""
    claim_tokens: int = Field(gt=2)
    """Longest claim, likewise."""
    title_tokens: int = Field(default=0, ge=0)
    """Of a window's tokens, those kept for the passage's title; 0 for a model that is not shown titles."""
    special_tokens: int = Field(default=2, ge=0)
    """Special tokens the tokenizer puts around a text."""


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A folder whose files are all there and are what their checksums say."""

    folder: Path
    config: ModelConfig
    calibration: Calibration
    revision: str
    """First 12 hexadecimal digits of the graph's SHA-256."""

    @property
    def graph(self) -> Path:
        """The ONNX file."""
        return self.folder / self.config.graph

    @property
    def tokenizer(self) -> Path:
        """The tokenizer's file."""
        return self.folder / "tokenizer.json"

    @classmethod
    def open(cls, folder: Path | None = None) -> ModelFiles:
        """Read and check a model's folder; None is the model that comes with the library.

        Every file that is listed is read and hashed, a matter of tens of milliseconds, so that a damaged
        download is told by name and not by strange verdicts.

        Raises:
            ModelNotFoundError: the folder, or a file that is listed or needed, is missing. Operator.
            ModelChecksumError: a file differs from its checksum. Operator.
            ModelContractError: a file cannot be read as what it should be. Operator.
        """
        folder = embedded() if folder is None else folder
        sums = verify(folder)
        for name in _NEEDED:
            if name not in sums:
                raise ModelContractError(f"{folder / _SUMS} does not list {name}")
        config = _config(folder / "config.json")
        if config.graph not in sums:
            raise ModelContractError(
                f"{folder / _SUMS} does not list {config.graph}, which config.json names"
            )
        calibration = Calibration.read(folder / "calibration.json")
        if "weights" not in calibration.model_fields_set:
            raise ModelContractError(f"{folder / 'calibration.json'} gives no weights; a model's own must")
        return cls(folder, config, calibration, sums[config.graph][:12])


def embedded() -> Path:
    """The folder of the model that comes with the library.

    Raises:
        ModelNotFoundError: the library is not installed as files in a folder. Operator.
    """
    folder = resources.files("streamverify") / "model"
    if not isinstance(folder, Path):
        # ONNX Runtime maps the graph from a file; a zip archive offers none.
        raise ModelNotFoundError(str(folder), "install streamverify unpacked, not inside a zip archive")
    return folder


def verify(folder: Path) -> dict[str, str]:
    """Hash every listed file; the SHA-256 sums by file name, in the order of the list.

    Raises:
        ModelNotFoundError: the folder, its list or a listed file is missing. Operator.
        ModelChecksumError: a file differs from its checksum. Operator.
        ModelContractError: the list cannot be read. Operator.
    """
    sums: dict[str, str] = {}
    try:
        lines = (folder / _SUMS).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise ModelNotFoundError(folder, f"there is no {_SUMS} file in it") from None
    except OSError as error:
        raise _unreadable(folder / _SUMS, error) from error
    except UnicodeDecodeError as error:
        raise ModelContractError(f"{folder / _SUMS} is not text: {error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        expected, _, name = line.partition(" ")
        name = name.strip().removeprefix("*")
        if len(expected) != 64 or not name or Path(name).name != name:
            raise ModelContractError(f"{folder / _SUMS}, line {number}: expected '<sha256>  <file name>'")
        path = folder / name
        try:
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except FileNotFoundError:
            raise ModelNotFoundError(path, f"{_SUMS} lists it") from None
        except OSError as error:
            raise _unreadable(path, error) from error
        if found != expected.lower():
            raise ModelChecksumError(path, expected, found)
        sums[name] = found
    return sums


def _unreadable(path: Path, error: OSError) -> ModelContractError:
    """What is at the path is no file that can be read: a folder, a loop of links, no permission."""
    return ModelContractError(f"{path} cannot be read: {error.strerror or error}")


def _config(path: Path) -> ModelConfig:
    try:
        return ModelConfig.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _unreadable(path, error) from error
    except (ValidationError, UnicodeDecodeError) as error:
        raise ModelContractError(f"{path} does not describe a premise-cached model: {error}") from error
