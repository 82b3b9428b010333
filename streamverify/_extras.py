"""Optional packages: loaded when a feature needs them, refused by name when they are missing."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from streamverify.errors import MissingExtraError


def require(package: str, *, extra: str, feature: str) -> ModuleType:
    """The imported package.

    Args:
        package: import name, dotted where a submodule is meant.
        extra: name of the extra of this distribution that installs it.
        feature: what needs it, as it should stand at the start of the message.

    Raises:
        MissingExtraError: the package is not installed. Caller. A package that is installed and fails
            inside its own imports raises its own error.
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{package}.".startswith(f"{error.name}."):
            raise
        raise MissingExtraError(extra, error.name, feature) from error
