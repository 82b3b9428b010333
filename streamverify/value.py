"""The base of every value that crosses a process border, and how it becomes ready on its first use.

Before: pydantic. After: `types` and every module with values of its own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from threading import RLock
from typing import Any

from pydantic import BaseModel, ConfigDict

_BUILDING = RLock()  # reentrant: to build a value is to build the values within it
if hasattr(os, "register_at_fork"):
    # A child in which this lock, or the one pydantic takes within it, is held by a thread that it does not
    # have would wait for ever: nobody forks while a value is made ready.
    os.register_at_fork(
        before=_BUILDING.acquire, after_in_parent=_BUILDING.release, after_in_child=_BUILDING.release
    )


class Value(BaseModel):
    """Base of the values on the wire: frozen, closed to unknown fields and to numbers that are none."""

    # Validators are built on first use: an application that only imports the library does not wait for them.
    # NaN and infinities are refused; one that gets past that is written as text, which reading refuses.
    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, ser_json_inf_nan="strings", defer_build=True
    )

    @classmethod
    def model_rebuild(
        cls,
        *,
        force: bool = False,
        raise_errors: bool = True,
        _parent_namespace_depth: int = 2,
        _types_namespace: Mapping[str, Any] | None = None,
    ) -> bool | None:
        """Build the validator, one thread at a time.

        A scorer's threads use a value first at once. Before pydantic 2.14 each of them builds, takes
        away what another has just built, and meanwhile the validator of the class above answers: without this
        lock "extra inputs are not permitted" is said of a value that is right.
        """
        with _BUILDING:
            return super().model_rebuild(
                force=force,
                raise_errors=raise_errors,
                _parent_namespace_depth=_parent_namespace_depth + (1 if _parent_namespace_depth > 0 else 0),
                _types_namespace=_types_namespace,
            )
