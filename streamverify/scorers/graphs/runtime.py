"""ONNX Runtime, held the way a library inside someone else's process must hold it.

One session, shared by all threads; each run uses the calling thread only, so parallelism is the
number of callers and no pool spins while nothing is scored. The execution provider is read back
after the session was made, because ONNX Runtime falls back to the CPU without an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from streamverify.errors import ModelContractError, ModelNotFoundError, ProviderError, ScoringError
from streamverify.scorers.graphs.onnx_runtime import onnxruntime as ort
from streamverify.scorers.graphs.onnx_runtime import state as _state
from streamverify.scorers.protocol import Abort, Provider

CPU, _CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"

# The runtime's own errors share no base, and their number grows with its versions.
_RUNTIME_ERRORS: tuple[type[Exception], ...] = (
    RuntimeError,
    ValueError,
    *(kind for kind in vars(_state).values() if isinstance(kind, type) and issubclass(kind, Exception)),
)


class Tensor(NamedTuple):
    """An input or output as the graph declares it."""

    type: str
    """`tensor(float)`, `tensor(int64)`, …"""
    shape: tuple[int | str | None, ...]
    """A number where the size is fixed, a name or None where it is not."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What a graph takes and gives, by name, in the graph's order."""

    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]


def providers_for(wanted: Provider, available: Sequence[str]) -> list[str]:
    """The providers to ask a session for, the one expected in use first.

    Raises:
        ProviderError: CUDA was asked for and this runtime does not have it. Operator.
    """
    if wanted == "cpu" or (wanted == "auto" and _CUDA not in available):
        return [CPU]
    if _CUDA not in available:
        raise ProviderError(wanted, available)
    return [_CUDA, CPU]


def on_cpu(wanted: Provider) -> bool:
    """Whether a session for this provider would run on the CPU.

    Raises:
        ProviderError: as `providers_for`. Operator.
    """
    return providers_for(wanted, ort.get_available_providers())[0] == CPU


class OnnxSession:
    """One loaded graph; `run` may be called from any number of threads at once."""

    def __init__(
        self,
        path: Path,
        *,
        provider: Provider = "cpu",
        change: Callable[[bytes], bytes] | None = None,
        as_written: bool = False,
    ) -> None:
        """Load the graph.

        Args:
            path: the `.onnx` file; external data is looked for beside it.
            provider: `auto` takes CUDA where the runtime offers it and the CPU elsewhere.
            change: what to do to the file's content, which must hold all of the graph; None to load the file.
            as_written: run the graph's nodes as they are and in their order, none joined with another.

        Raises:
            ModelNotFoundError: there is no such file. Operator.
            ModelContractError: the file is not a graph this runtime can load. Operator.
            ProviderError: CUDA was asked for and is not there, or did not start. Operator.
        """
        if not path.is_file():
            raise ModelNotFoundError(path)
        providers = providers_for(provider, ort.get_available_providers())
        try:
            graph = str(path) if change is None else change(path.read_bytes())
            self._session = ort.InferenceSession(graph, _options(as_written=as_written), providers=providers)
        except OSError as error:
            raise ModelContractError(f"{path} cannot be read: {error.strerror or error}") from error
        except _RUNTIME_ERRORS as error:
            raise ModelContractError(f"{path} cannot be loaded as an ONNX model: {error}") from error
        # The wrapper keeps the content, to load it again on another provider; nothing here asks for that.
        self._session._model_bytes = None  # noqa: SLF001 - tens of megabytes
        in_use: list[str] = self._session.get_providers()
        if provider == "cuda" and in_use[0] != _CUDA:
            raise ProviderError(provider, in_use)
        self.provider: str = in_use[0]
        """The execution provider in use, as the session reports it."""
        self.signature = Signature(
            {value.name: Tensor(value.type, tuple(value.shape)) for value in self._session.get_inputs()},
            {value.name: Tensor(value.type, tuple(value.shape)) for value in self._session.get_outputs()},
        )

    def run(
        self, outputs: Sequence[str], inputs: Mapping[str, NDArray[Any]], *, abort: Abort
    ) -> list[NDArray[Any]]:
        """Compute `outputs`.

        The arrays lie in the runtime's own heap, which is never given back to the system: keep them for a
        moment only (docs/decisions/memory.md).

        Raises:
            ScoringError: the run failed, or `abort` was set before it ended.
        """

        def compute(options: ort.RunOptions) -> list[NDArray[Any]]:
            arrays: list[NDArray[Any]] = self._session.run(list(outputs), dict(inputs), options)
            return arrays

        return _until(abort, compute)

    def run_into(
        self, outputs: Mapping[str, NDArray[Any]], inputs: Mapping[str, NDArray[Any]], *, abort: Abort
    ) -> None:
        """Compute `outputs` into arrays of the caller's.

        Args:
            outputs: by name, of the shapes that come out; each without gaps. Only written where it succeeds.
            inputs: by name, each without gaps.
            abort: as of `run`.

        Raises:
            ScoringError: the run failed, or `abort` was set before it ended.
        """

        def compute(options: ort.RunOptions) -> None:
            binding = self._session.io_binding()
            for name, array in inputs.items():
                binding.bind_cpu_input(name, array)
            for name, array in outputs.items():
                binding.bind_output(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
            self._session.run_with_iobinding(binding, options)

        _until(abort, compute)


T = TypeVar("T")


def _until(abort: Abort, compute: Callable[[ort.RunOptions], T]) -> T:
    """Run something of the runtime's that ends when `abort` is set."""
    options = ort.RunOptions()
    options.log_severity_level = 4  # whatever fails is raised below; a run called off is no error at all

    def terminate() -> None:
        options.terminate = True

    detach = abort.attach(terminate)
    try:
        return compute(options)
    except _RUNTIME_ERRORS as error:
        if abort.is_set:
            raise ScoringError("stopped: the check was called off") from error
        raise ScoringError(f"the model failed: {error}") from error
    finally:
        detach()


def softmax(logits: NDArray[Any]) -> NDArray[np.float64]:
    """Probabilities over the last axis."""
    shifted = np.exp(logits.astype(np.float64) - logits.max(axis=-1, keepdims=True))
    probabilities: NDArray[np.float64] = shifted / shifted.sum(axis=-1, keepdims=True)
    return probabilities


def sigmoid(logits: NDArray[Any]) -> NDArray[np.float64]:
    """Probabilities, element by element."""
    wide = logits.astype(np.float64)
    small = np.exp(-np.abs(wide))  # never overflows
    probabilities: NDArray[np.float64] = np.where(wide >= 0, 1.0, small) / (1.0 + small)
    return probabilities


def _options(*, as_written: bool = False) -> ort.SessionOptions:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    if as_written:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        # By their place in the file; the other order follows each output back to its beginning.
        options.execution_order = ort.ExecutionOrder.PRIORITY_BASED
    # Idle threads that spin take the cores of the application around us.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Warnings about the graph are for whoever made it; errors still come as exceptions.
    options.log_severity_level = 3
    return options
