"""What is made on its first use: names of a package (PEP 562), and properties of values."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property:  # noqa: N801 - what it stands for is named so
        """`functools.cached_property` without a lock, and with one value however many threads ask first.

        Up to Python 3.11 that has one lock for all instances: a child that is forked while a thread holds it
        waits for ever. From 3.12 on it has none, and threads that ask at once go on with values of their own.
        """

        def __init__(self, compute: Callable[[Any], Any]) -> None:
            self._compute, self.__doc__ = compute, compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            # There is no `__set__`: from now on the instance's own value is found first.
            return instance.__dict__.setdefault(self._name, self._compute(instance))


__all__ = ["cached_property", "lazy_names"]


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
