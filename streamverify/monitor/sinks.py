"""Where alerts go: the log, an address, a program.

Before: `alerts.py` says what is on. After: whoever is told.
"""

from __future__ import annotations

import logging
import os
import socket
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamverify.figure import NotComputed
from streamverify.files.jsonl import json_text
from streamverify.monitor.alerts import Alert, Sinks
from streamverify.monitor.firing import Change

_LOG = logging.getLogger("streamverify.alerts")
_SECONDS = 30.0
"""That an address or a program may take."""


def told(alert: Alert) -> dict[str, Any]:
    """An alert as JSON."""

    def figure(value: float | NotComputed) -> Any:
        return {"not_computed": value.reason} if isinstance(value, NotComputed) else value

    return {
        "figure": alert.figure,
        "domain": alert.domain,
        "rule": str(alert.rule),
        "status": alert.status,
        "value": figure(alert.value),
        "bound": figure(alert.bound),
        "streams": alert.streams,
        "open": [str(one) for one in alert.open],
        "detail": alert.detail,
    }


def told_change(change: Change) -> dict[str, Any]:
    """A change as JSON: the alert, whether it fired or was resolved, and when."""
    until = change.firing.until
    return {
        **told(change.alert),
        "change": change.kind,
        "since": change.firing.since.isoformat(),
        "until": None if until is None else until.isoformat(),
    }


def names(sinks: Sinks) -> tuple[str, ...]:
    """The sinks there are: `log`, `webhook`, `command`."""
    given = {"log": sinks.log, "webhook": sinks.webhook is not None, "command": bool(sinks.command)}
    return tuple(name for name, there in given.items() if there)


def send(sinks: Sinks, alerts: Sequence[Alert]) -> list[str]:
    """Tell every sink of the alerts that are on, whether it was told before or not.

    Returns:
        What went wrong, a line for each sink that could not be told; the others are told all the same.
    """
    on = [alert for alert in alerts if alert.status == "on"]
    lines, facts = [str(alert) for alert in on], [told(alert) for alert in on]
    return [wrong for name in names(sinks) if on and (wrong := _tell(sinks, name, lines, facts))]


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of telling changes."""

    untold: tuple[tuple[str, Change], ...]
    """Sinks, and the changes that each could not be told."""
    wrong: tuple[str, ...]
    """A line for each of these sinks."""


def deliver(sinks: Sinks, changes: Sequence[Change]) -> Delivery:
    """Tell each sink of the changes it has not been told; one that fails keeps nothing from the others."""
    untold: list[tuple[str, Change]] = []
    wrong = []
    for name in names(sinks):
        own = [change for change in changes if name in change.firing.untold]
        said = own and _tell(sinks, name, [str(one) for one in own], [told_change(one) for one in own])
        if said:
            wrong.append(said)
            untold += [(name, change) for change in own]
    return Delivery(tuple(untold), tuple(wrong))


def _tell(sinks: Sinks, name: str, lines: Sequence[str], facts: Sequence[Mapping[str, Any]]) -> str:
    """Tell one sink; what went wrong, or nothing."""
    text = json_text({"alerts": facts})
    try:
        if name == "log":
            # Where nobody has set logging up, Python would print what the command prints anyway.
            for line in lines if _LOG.hasHandlers() else ():
                _LOG.warning("%s", line)
        elif name == "webhook":
            assert sinks.webhook is not None
            _post(sinks.webhook, text)
        else:
            _run(sinks.command, text)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        # An address may hold a secret: the error's kind alone is told, or the status that came back.
        said = _answered(error.code) if isinstance(error, urllib.error.HTTPError) else type(error).__name__
        if isinstance(error, urllib.error.URLError) and not isinstance(error, urllib.error.HTTPError):
            said = _cause(error)
        if isinstance(error, subprocess.CalledProcessError):
            said = f"exit status {error.returncode}"
        return f"the {name} could not be told: {said}"
    return ""


_REDIRECTS = frozenset({301, 302, 303, 307, 308})


def _answered(status: int) -> str:
    if status in _REDIRECTS:
        return f"answered {status}, redirects are not followed; give the address it leads to"
    return str(status)


def _cause(error: urllib.error.URLError) -> str:
    """Why nobody could be reached, without the words of the error, which may hold the address."""
    cause = error.reason
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"the certificate was refused: {cause.verify_message}"
    if isinstance(cause, socket.gaierror):
        return "its host was not found"
    if isinstance(cause, OSError) and cause.errno:
        return os.strerror(cause.errno)
    return type(cause if isinstance(cause, Exception) else error).__name__


def _post(url: str, text: str) -> None:
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(url, text.encode(), headers)  # noqa: S310 - `Sinks` refuses other schemes
    with urllib.request.build_opener(_Unmoved).open(request, timeout=_SECONDS) as answer:
        answer.read(1)


class _Unmoved(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: most are followed with a GET, which carries no alert."""

    def redirect_request(self, *_: object) -> None:
        """No request takes this one's place; the answer is raised as an error."""


def _run(command: Sequence[str], text: str) -> None:
    subprocess.run(command, input=text.encode(), check=True, timeout=_SECONDS)  # noqa: S603 - the operator's own
