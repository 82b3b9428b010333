"""Model folders in the Hugging Face layout, on this disk or fetched from the hub by a pinned revision."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from streamverify._extras import require
from streamverify.errors import ModelChecksumError, ModelNotFoundError

GRAPHS = ("model.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx")
"""Where a graph is looked for, in this order."""

_NEEDED = ("config.json", "tokenizer.json")
_OPTIONAL = ("tokenizer_config.json", "calibration.json")


@dataclass(frozen=True, slots=True)
class Located:
    """A model's files."""

    folder: Path
    graph: Path
    name: str
    """Folder name, or hub id."""
    revision: str
    """Commit of the hub where it came from there, and the start of the graph's SHA-256."""


def locate(
    source: Path | str,
    *,
    revision: str | None = None,
    graph: str | None = None,
    sha256: str | None = None,
    cache_dir: Path | None = None,
    local_files_only: bool = False,
) -> Located:
    """The files of a model.

    Args:
        source: a folder, or a hub id `owner/name`, which needs the extra `hub`, and a `revision` where a
            folder `owner` stands here: without one a folder is meant that is missing.
        revision: of the hub id: a commit, tag or branch. A branch moves; the commit it stood at is recorded.
        graph: path of the ONNX file inside the folder; None takes the first of `GRAPHS` that is there.
        sha256: what the graph must hash to; None takes what is there and records it.
        cache_dir: the hub's cache; None for its own default.
        local_files_only: never ask the network.

    Raises:
        ModelNotFoundError: no such folder, id, revision or file, or the hub cannot be reached. Operator.
        ModelChecksumError: the graph is not what `sha256` says. Operator.
        MissingExtraError: a hub id without `huggingface_hub`. Caller.
    """
    folder = Path(source)
    if os.path.isdir(folder):  # noqa: PTH112 - unlike `Path.is_dir`, for a name that is too long too
        name, commit = folder.resolve().name, ""
        path = _local(folder, graph)
    else:
        name = _hub_id(source, revision)
        path, folder, commit = _Hub(name, revision, cache_dir, local_files_only).fetch(graph)
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if sha256 is not None and found != sha256.lower():
        raise ModelChecksumError(path, sha256, found)
    return Located(folder, path, name, "/".join(filter(None, (commit[:12], found[:12]))))


def _hub_id(source: Path | str, revision: str | None) -> str:
    """What is no folder here, where it can be a hub id: nobody waits for the network over a mistyped path."""
    if not isinstance(source, str) or source.count("/") != 1 or source.startswith((".", "/", "~")):
        raise ModelNotFoundError(
            source, "no such folder; give one in the Hugging Face layout, or a hub id 'owner/name'"
        )
    owner = source.partition("/")[0]
    if revision is None and os.path.isdir(owner):  # noqa: PTH112 - as above
        raise ModelNotFoundError(
            source, f"no such folder in {owner!r}; where a hub id is meant, give its revision, such as 'main'"
        )
    return source


def _local(folder: Path, graph: str | None) -> Path:
    for needed in _NEEDED:
        if not (folder / needed).is_file():
            raise ModelNotFoundError(folder / needed)
    for candidate in (graph,) if graph is not None else GRAPHS:
        if (folder / candidate).is_file():
            return folder / candidate
    wanted = graph if graph is not None else ", ".join(GRAPHS)
    raise ModelNotFoundError(folder, f"no ONNX file in it; looked for {wanted}")


class _Hub:
    """One repository of the hub at one revision."""

    def __init__(
        self, name: str, revision: str | None, cache_dir: Path | None, local_files_only: bool
    ) -> None:
        self._name, self._revision = name, revision
        self._where: dict[str, Any] = {"cache_dir": cache_dir, "local_files_only": local_files_only}
        feature = f"the hub model {name!r}"
        self._hub = require("huggingface_hub", extra="hub", feature=feature)
        # Submodules by their own names: the package loads them late, and not every one as its attribute.
        constants = require("huggingface_hub.constants", extra="hub", feature=feature)
        self._errors: ModuleType = require("huggingface_hub.errors", extra="hub", feature=feature)
        self._offline: bool = local_files_only or constants.HF_HUB_OFFLINE

    def fetch(self, graph: str | None) -> tuple[Path, Path, str]:
        """The graph's path, the snapshot's folder and its commit."""
        first = self._file(_NEEDED[0])
        folder = first.parent
        # Everything else comes from the commit the first file came from, even if a branch moves meanwhile.
        self._revision = folder.name
        for needed in _NEEDED[1:]:
            self._file(needed)
        for optional in _OPTIONAL:
            self._file_if_any(optional)
        for candidate in (graph,) if graph is not None else GRAPHS:
            if (path := self._file_if_any(candidate)) is not None:
                self._file_if_any(f"{candidate}_data")
                return path, folder, folder.name
        wanted = graph if graph is not None else ", ".join(GRAPHS)
        raise ModelNotFoundError(self._name, f"no ONNX file in it; looked for {wanted}")

    def _file_if_any(self, name: str) -> Path | None:
        try:
            return self._file(name)
        except ModelNotFoundError as error:
            absent = isinstance(error.__cause__, self._errors.EntryNotFoundError)
            # Online, a file that is not in the cache may be there after all: another must not take its place.
            unreached = (
                isinstance(error.__cause__, self._errors.LocalEntryNotFoundError) and not self._offline
            )
            if absent and not unreached:
                return None
            raise

    def _file(self, name: str) -> Path:
        errors = self._errors
        try:
            return Path(self._hub.hf_hub_download(self._name, name, revision=self._revision, **self._where))
        except errors.LocalEntryNotFoundError as error:
            hint = (
                f"{name} is not in the local cache and the hub was not reached; download the model once "
                "where there is a network, or give its folder; local_files_only=True takes what is cached"
            )
            raise ModelNotFoundError(self._name, hint) from error
        except errors.RevisionNotFoundError as error:
            raise ModelNotFoundError(
                self._name, f"the hub has no revision {self._revision!r} of it"
            ) from error
        except errors.RepositoryNotFoundError as error:
            raise ModelNotFoundError(
                self._name, "the hub has no such repository, or it needs a login"
            ) from error
        except errors.EntryNotFoundError as error:
            raise ModelNotFoundError(self._name, f"there is no {name} in it") from error
        except (
            errors.HFValidationError,
            errors.HfHubHTTPError,
            errors.OfflineModeIsEnabled,
            OSError,
        ) as error:
            raise ModelNotFoundError(self._name, f"the hub did not give {name}: {error}") from error
