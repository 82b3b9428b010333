"""ONNX Runtime, imported so that it tells nobody.

Before: nothing. After: `runtime.py`.

From 1.32 its wheels report to their maker: importing one makes a device id and a store below the home folder
and starts threads that send. Only a variable that is there while it is imported keeps it from that; the
variable is taken away again, and one that was set before stays as it is.
"""

from __future__ import annotations

import os

_SWITCH = "ORT_DISABLE_TELEMETRY"

_ours = _SWITCH not in os.environ
if _ours:
    os.environ[_SWITCH] = "1"
try:
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as state
finally:
    if _ours:
        del os.environ[_SWITCH]

# Where somebody else had imported it before, what is left is to have it send no events.
onnxruntime.disable_telemetry_events()

__all__ = ["onnxruntime", "state"]
