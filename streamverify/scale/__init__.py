"""More than one machine, with Ray: scorers that many processes share, evaluations that many machines work on.

Before: one process has a model of its own. After: `serving.py` puts scorers into a Ray cluster, `scorer.py`
asks them from any process, `evaluation.py` spreads the cases of an evaluation, `cluster.py` starts a cluster
of one machine where there is none.

The classes are loaded when they are first asked for; Ray itself when one of them is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamverify._lazy import lazy_names

if TYPE_CHECKING:
    from streamverify.scale.cluster import local_ray
    from streamverify.scale.evaluation import evaluate_on_ray
    from streamverify.scale.scorer import RayScorer
    from streamverify.scale.serving import application

__all__ = ["RayScorer", "application", "evaluate_on_ray", "local_ray"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "scale.scorer": "RayScorer",
        "scale.serving": "application",
        "scale.evaluation": "evaluate_on_ray",
        "scale.cluster": "local_ray",
    },
)
