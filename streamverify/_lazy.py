"""Names of a package that load their module when they are first used (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """A package's `__getattr__` and `__dir__`.

    Args:
        package: its `__name__`.
        homes: module, without `streamverify.`, to the public names that live in it, with blanks between.
    """
    home_of = {name: module for module, names in homes.items() for name in names.split()}

    def load(name: str) -> object:
        """The public name, its module loaded now."""
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found: object = getattr(import_module(f"streamverify.{home_of[name]}"), name)
        # Importing a submodule binds its name here, over a function that is called like it.
        setattr(sys.modules[package], name, found)
        return found

    def names() -> list[str]:
        """The public names."""
        return sorted(home_of)

    return load, names
