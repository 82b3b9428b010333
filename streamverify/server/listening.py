"""Takes the port, before anything is loaded for it.

Before: a command that serves. After: uvicorn, which takes sockets that listen; by itself it would tell a port
that is taken in a line of its log, once all has been loaded, and end with a status of its own.
"""

from __future__ import annotations

from socket import AF_INET, AF_INET6, create_server, socket

from streamverify.errors import UsageError

_BACKLOG = 2048


def listening(host: str, port: int) -> socket:
    """A socket that listens; whoever asks closes it.

    Args:
        host: a name or an address of this machine.
        port: 0-65535; 0 for any that is free.

    Raises:
        UsageError: the host is none of this machine's, or the port is taken or not ours to take. Operator.
    """
    try:
        return create_server((host, port), family=AF_INET6 if ":" in host else AF_INET, backlog=_BACKLOG)
    except (OSError, UnicodeError) as error:  # the latter of names that no machine can have
        # What follows in brackets is the address again.
        reason = (getattr(error, "strerror", None) or str(error)).partition(" (while ")[0]
        raise UsageError(f"port {port} cannot be used on {host}: {reason}") from error
