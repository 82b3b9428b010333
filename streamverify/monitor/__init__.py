"""What is watched while an application runs: traces, metrics, drift, alerts, experiments.

    from streamverify.monitor import OpenTelemetryObserver, PrometheusObserver

    Verifier(observers=[OpenTelemetryObserver(), PrometheusObserver()])

    observe.py ──► tracing.py, prometheus.py        as it happens, each in a thread of its own
    records/   ──► windows.py ──► drift.py, alerts.py    what happened in a stretch of time

Importing this package loads nothing of it; a name is loaded with its module when it is first used.
"""

from typing import TYPE_CHECKING

from streamverify._lazy import lazy_names

if TYPE_CHECKING:
    from streamverify.monitor.experiments import arm_of
    from streamverify.monitor.online import OnlineEvaluation, OnlineStatistics, by_metric, by_verifier
    from streamverify.monitor.prometheus import PrometheusObserver
    from streamverify.monitor.routing import ArmState, ThompsonRouter
    from streamverify.monitor.tracing import OpenTelemetryObserver

__all__ = [
    "ArmState",
    "OnlineEvaluation",
    "OnlineStatistics",
    "OpenTelemetryObserver",
    "PrometheusObserver",
    "ThompsonRouter",
    "arm_of",
    "by_metric",
    "by_verifier",
]

_HOMES = {
    "monitor.experiments": "arm_of",
    "monitor.online": "OnlineEvaluation OnlineStatistics by_metric by_verifier",
    "monitor.prometheus": "PrometheusObserver",
    "monitor.routing": "ArmState ThompsonRouter",
    "monitor.tracing": "OpenTelemetryObserver",
}
"""Module to the public names that live in it."""

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
