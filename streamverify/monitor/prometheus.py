"""Streams as Prometheus metrics.

Before: `observe.py` tells each stream, in a thread of the observer's own. After: Prometheus, which asks.

Sentences are counted when their stream ends, from its report: a verdict that a later scorer revised counts
once, as it stands. With PROMETHEUS_MULTIPROC_DIR set before Python starts, worker processes share a folder
and any of them answers for all.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING, Any

from streamverify._extras import require
from streamverify.events import Event, StreamFailed, StreamFinished, StreamHalted
from streamverify.monitor import metric_names as names
from streamverify.observe import Observer, Opening
from streamverify.types import Label, Report

require("prometheus_client", extra="prometheus", feature="streamverify.monitor.PrometheusObserver")

import prometheus_client  # noqa: E402 - after the check of the extra
from prometheus_client import multiprocess  # noqa: E402 - as above

if TYPE_CHECKING:
    from streamverify.verifier import Verifier

OPEN = 10_000
"""Streams that are taken to be open at once: one whose end was never told must not count for ever."""
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable of prometheus-client: where worker processes share their metrics."""


class PrometheusObserver(Observer):
    """Counts what streams said: `Verifier(observers=[PrometheusObserver(registry)])`.

    One for a registry; several verifiers may share it. Every series is there from the start, at 0, so that a
    rate is right from the first event on.
    """

    def __init__(
        self,
        registry: prometheus_client.CollectorRegistry | None = None,
        *,
        records_dropped: Callable[[], int] | None = None,
        shared_cache: bool = False,
    ) -> None:
        """The metrics are registered.

        Args:
            registry: where; a new one by default, which `exposition` reads.
            records_dropped: how many records were dropped so far, e.g. `lambda: records.statistics.dropped`.
            shared_cache: the worker processes keep encoded windows together (`Share.windows`), so that the
                cache each tells of is the same one.

        Raises:
            ValueError: the registry has metrics of these names already.
        """
        self.registry = registry if registry is not None else prometheus_client.CollectorRegistry()
        self._lock = threading.Lock()
        self._open: OrderedDict[str, str] = OrderedDict()
        self._records_dropped = records_dropped
        self._verifiers: list[weakref.ref[Verifier]] = []
        self._dropped_before: dict[str, int] = {}
        alike = {names.CACHE.name} if shared_cache else set()
        self._made = {
            family.name: _made(family, self.registry, alike=family.name in alike) for family in names.FAMILIES
        }
        for family in names.FAMILIES:
            for values in product(*family.labels.values()) if family.labels else ():
                self._made[family.name].labels(*values)

    def watch(self, verifier: Verifier) -> None:
        """Also tell a verifier's cache and what its observers dropped, read when streams have ended."""
        self._verifiers.append(weakref.ref(verifier))  # a verifier holds its observers, and not the reverse

    def opened(self, opening: Opening) -> None:
        """Remember the policy."""
        with self._lock:
            self._open[opening.stream] = names.policy_word(opening.policy)
            while len(self._open) > OPEN:
                self._open.popitem(last=False)
            self._made[names.OPEN_STREAMS.name].set(len(self._open))

    def event(self, stream: str, event: Event) -> None:
        """Count a stream that has ended."""
        if not isinstance(event, StreamFinished | StreamHalted | StreamFailed):
            return
        with self._lock:
            policy = self._open.pop(stream, names.OTHER)
            self._made[names.OPEN_STREAMS.name].set(len(self._open))
        self._count(event.report, policy)

    def idle(self) -> None:
        """Read what has no event: drops, and the cache."""
        if self._records_dropped is not None:
            self._raise_to(names.RECORD_DROPS, self._records_dropped())
        if verifiers := [found for told in self._verifiers if (found := told()) is not None]:
            dropped = sum(one.dropped for each in verifiers for one in each.observer_statistics())
            self._raise_to(names.OBSERVER_DROPS, dropped)
            self._made[names.CACHE.name].set(sum(each.window_cache_bytes() for each in verifiers))

    def exposition(self) -> tuple[bytes, str]:
        """What `/metrics` answers: text and content type; for all workers where they share a folder."""
        registry = self.registry
        if os.environ.get(SHARED_FOLDER):
            registry = prometheus_client.CollectorRegistry()
            multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return prometheus_client.generate_latest(registry), prometheus_client.CONTENT_TYPE_LATEST

    def _count(self, report: Report, policy: str) -> None:
        made = self._made
        made[names.STREAMS.name].labels(report.outcome).inc()
        for sentence in report.sentences:
            made[names.SENTENCES.name].labels(sentence.label.value, policy).inc()
            made[names.ACTIONS.name].labels(sentence.action.value).inc()
            if sentence.label is Label.UNVERIFIED:
                made[names.FAILURES.name].labels(sentence.reason or names.NO_REASON).inc()
            if sentence.latency_ms is not None:
                made[names.LAG.name].observe(sentence.latency_ms / 1000)
            for citation in sentence.citations:
                made[names.CITATIONS.name].labels(citation.finding.value).inc()
            for finding in sentence.findings:
                made[names.FINDINGS.name].labels(finding.kind.value).inc()
        if report.timings.prepare_ms is not None:
            made[names.PREPARATION.name].observe(report.timings.prepare_ms / 1000)
        if report.grounding_score is not None:
            made[names.SCORE.name].observe(report.grounding_score)

    def _raise_to(self, family: names.MetricFamily, total: int) -> None:
        """Bring a counter to a total that others count; each process adds what it saw itself."""
        with self._lock:
            before = self._dropped_before.get(family.name, 0)
            # Several threads tell, and one that was held up tells an older total: it counts nothing anew.
            self._dropped_before[family.name] = max(before, total)
            new = total - before
        if new > 0:
            self._made[family.name].inc(new)


def _made(family: names.MetricFamily, registry: prometheus_client.CollectorRegistry, *, alike: bool) -> Any:
    """A metric; `alike` where all worker processes tell of the same thing."""
    labels = tuple(family.labels)
    match family.kind:
        case "counter":
            return prometheus_client.Counter(family.name, family.help, labels, registry=registry)
        case "gauge":
            # Of processes that have ended nothing is open, and nothing cached.
            return prometheus_client.Gauge(
                family.name,
                family.help,
                labels,
                registry=registry,
                multiprocess_mode="livemax" if alike else "livesum",
            )
        case "histogram":
            return prometheus_client.Histogram(
                family.name, family.help, labels, registry=registry, buckets=family.buckets
            )
