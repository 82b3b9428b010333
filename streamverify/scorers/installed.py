"""Models that other distributions bring: an entry point of the group `streamverify.models` names a package.

    [project.entry-points."streamverify.models"]
    accurate = "streamverify_model_accurate"

The package's folder is the model's folder (`model_files.py`). Nothing of it is imported or run: a model is
data.
"""

from __future__ import annotations

from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from streamverify.errors import ModelNotFoundError, UsageError

GROUP = "streamverify.models"
EMBEDDED = "fast"
"""The name of the model that comes with the library."""
KNOWN = {"accurate": "./models/accurate"}
"""Models of this project, and where the distributions that bring them stand in its repository."""


def installed_models() -> dict[str, EntryPoint]:
    """The entry points of installed models by name, in alphabetical order.

    Raises:
        UsageError: two distributions bring models of one name. Operator.
    """
    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:
            raise UsageError(
                f"two installed models are called {entry.name!r} ({other.value} and {entry.value}): "
                "uninstall one, or give the folder of the one you mean"
            )
    return found


def installed_folder(name: str) -> Path | None:
    """The folder of an installed model; None where none has this name.

    Raises:
        ModelNotFoundError: its entry point names a package that is not there, or not a folder. Operator.
        UsageError: the name is ambiguous. Operator.
    """
    entry = installed_models().get(name)
    if entry is None:
        return None
    # Found without being imported, which for a package inside a package would run its parent.
    spec = PathFinder.find_spec(entry.value) if entry.value.isidentifier() else None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    if not places or not Path(places[0]).is_dir():
        raise ModelNotFoundError(
            name, f"the entry point of {GROUP} names {entry.value!r}, which is no installed package folder"
        )
    return Path(places[0])


def hint(name: str) -> str:
    """What to do about a name that no installed model has."""
    if name in KNOWN:
        return f"it is a distribution of its own, in the repository: pip install {KNOWN[name]}"
    names = ", ".join([EMBEDDED, *installed_models()])
    return f"installed are {names}"
