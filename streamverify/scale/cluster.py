"""A Ray cluster of this machine alone, for as long as a block runs.

Before: nothing runs. After: nothing runs.

Ray reads how it behaves from the environment of whoever starts it; what is put there is taken away again with
the cluster. Its processes listen on loopback (a replica of Ray Serve also on a port of all interfaces, which
cannot be told otherwise); all of them ask for a token that is made for this cluster and written nowhere.
"""

from __future__ import annotations

import logging
import os
import secrets
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from streamverify._extras import require
from streamverify.errors import ModelNotFoundError, UsageError

_RAYS_OWN = ("RAY_CLIENT_MODE", "PYTHONBREAKPOINT")
"""What Ray sets itself in the process that imports or connects it."""

_TRIES = 4
_LOOPBACK = ("127.0.0.1", "::1")


@contextmanager
def local_ray(cores: int | None = None, *, store_bytes: int = 256 * 2**20) -> Iterator[None]:
    """Start a cluster, connect this process to it, and stop all of it on the way out, Ray Serve included.

    Nothing is reported to anybody, and there is no dashboard.

    Args:
        cores: that Ray may give away; None for those of this process.
        store_bytes: of the object store, in shared memory.

    Raises:
        MissingExtraError: the extra `ray` is not installed. Caller.
        UsageError: this process is connected to a cluster already, or Ray was loaded before in a way that has
            it listen on all interfaces. Caller.
        ModelNotFoundError: the cluster did not start. Operator.
    """
    settings = {
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        # Ray's word for taking the loopback address as its own, on Linux too; read when Ray is imported.
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_enable_metrics_collection": "0",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    }
    with _environment(settings, _RAYS_OWN):
        ray = require("ray", extra="ray", feature="a cluster of this machine")
        if ray.is_initialized():
            raise UsageError("this process is connected to a Ray cluster already: use that one")
        with tempfile.TemporaryDirectory(prefix="sv-ray-", ignore_cleanup_errors=True) as folder:
            try:
                _start(ray, folder, cores, store_bytes)
                if (where := ray.util.get_node_ip_address()) not in _LOOPBACK:
                    raise UsageError(
                        f"Ray listens on {where}, because it was imported before: start the cluster first"
                    )
                yield
            finally:
                _stop(ray)
                _end_all(folder)


def connect(address: str | None) -> bool:
    """Connect this process, unless it is connected; whether that was done here, and is to be undone.

    Args:
        address: as `ray.init` takes it; None for what `RAY_ADDRESS` or this machine's files name. None is
            ever started.

    Raises:
        MissingExtraError: the extra `ray` is not installed. Caller.
        UsageError: there is a connection already, and an address was given. Caller.
        ModelNotFoundError: there is no cluster. Operator.
    """
    ray = require("ray", extra="ray", feature="a Ray cluster")
    if ray.is_initialized():
        if address is not None:
            raise UsageError("this process is connected to a Ray cluster already: leave the address out")
        return False
    where = address or os.environ.get("RAY_ADDRESS") or "auto"
    try:
        ray.init(where, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ModelNotFoundError(where, _first_line(error), what="Ray cluster") from error
    return True


@contextmanager
def attached(address: str) -> Iterator[None]:
    """Be connected to the cluster at an address.

    Raises:
        MissingExtraError, UsageError, ModelNotFoundError: as `connect`.
    """
    connect(address)
    try:
        yield
    finally:
        require("ray", extra="ray", feature="a Ray cluster").shutdown()


def _start(ray: Any, folder: str, cores: int | None, store_bytes: int) -> None:
    """Ray gives a node 30 seconds to start, which it may take longer on a busy machine."""
    for left in reversed(range(_TRIES)):
        try:
            ray.init(
                address="local",
                num_cpus=cores,
                object_store_memory=store_bytes,
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
                _temp_dir=folder,
            )
        except Exception as error:
            ray.shutdown()
            _end_all(folder)
            if not left:
                raise ModelNotFoundError(
                    "this machine", f"it did not start: {_first_line(error)}", what="Ray cluster"
                ) from error
        else:
            return


def _end_all(folder: str) -> None:
    """End what was started for this folder and still runs: Ray forgets its processes where starting fails."""
    processes = Path("/proc")  # elsewhere they end with this process
    for entry in processes.iterdir() if processes.is_dir() else ():
        if entry.name.isdecimal():
            # It may end meanwhile, and others' may not be looked at.
            with suppress(OSError):
                if folder.encode() in (entry / "cmdline").read_bytes():
                    os.kill(int(entry.name), signal.SIGKILL)
                    os.waitpid(int(entry.name), 0)  # an error where it is nobody's child of this process


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def _stop(ray: Any) -> None:
    try:
        if ray.is_initialized() and (serve := sys.modules.get("ray.serve")) is not None:
            serve.shutdown()
    finally:
        ray.shutdown()


@contextmanager
def _environment(settings: Mapping[str, str], others: Sequence[str]) -> Iterator[None]:
    """These settings, and at the end these and the others as they were."""
    before = {name: os.environ.get(name) for name in (*settings, *others)}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
