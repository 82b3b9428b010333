"""The trace that a request belongs to: from its headers, through our spans, into the upstream's headers.

Before: `app.py` has a request. After: `upstream.py` sends the headers; streams find the span current.

Only W3C's `traceparent` and `tracestate` are passed on; baggage may hold anything, and stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, runtime_checkable

from streamverify.observe import Observer

HEADERS = ("traceparent", "tracestate")


@runtime_checkable
class Traces(Protocol):
    """An observer that makes spans of requests too, as `OpenTelemetryObserver` does."""

    def request(self, headers: Mapping[str, str]) -> AbstractContextManager[Mapping[str, str]]:
        """A span around a request; gives the headers for the next server."""
        ...


@contextmanager
def traced(observers: Sequence[Observer], headers: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The request's headers, with those of its trace as the upstream must know them.

    Args:
        observers: the first that makes spans of requests makes one; without any the trace passes as it came.
        headers: of the request, with names in lower case.
    """
    traces = next((one for one in observers if isinstance(one, Traces)), None)
    if traces is None:
        yield dict(headers)
        return
    with traces.request(headers) as told:
        yield {name: value for name, value in headers.items() if name not in HEADERS} | dict(told)
