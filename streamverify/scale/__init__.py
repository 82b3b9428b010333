"""More than one machine, with Ray: scorers that many processes share, evaluations that many machines work on.

Before: one process has a model of its own. After: `serving.py` puts scorers into a Ray cluster, `scorer.py`
asks them from any process, `evaluation.py` spreads the cases of an evaluation, `cluster.py` starts a cluster
of one machine where there is none.

The classes are loaded when they are first asked for; Ray itself when one of them is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamverify.scale.cluster import local_ray
    from streamverify.scale.evaluation import evaluate_on_ray
    from streamverify.scale.scorer import RayScorer
    from streamverify.scale.serving import application

__all__ = ["RayScorer", "application", "evaluate_on_ray", "local_ray"]

_MODULES = {
    "RayScorer": "scorer",
    "application": "serving",
    "evaluate_on_ray": "evaluation",
    "local_ray": "cluster",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
