"""The errors, sorted by who must act.

    StreamVerifyError
    ├─ UsageError (ValueError)            the caller must change a call
    │  ├─ PassageError                    a passage cannot be read
    │  ├─ PieceError                      the source yielded something that is not text
    │  ├─ InputFileError                  a file, or standard input, does not hold what it should
    │  ├─ NotEnoughLabelsError            too few labels for the guarantee asked for
    │  ├─ MissingExtraError (ImportError) an optional package is not installed
    │  └─ StreamStateError (RuntimeError) read twice, or used before opening or after closing
    ├─ ModelError                         the operator must change a model
    │  ├─ ModelNotFoundError              nothing at the path tried
    │  ├─ ModelChecksumError              a file is not what its checksum says
    │  ├─ ModelContractError              inputs, outputs or labels differ from what is expected
    │  └─ ProviderError                   the execution provider asked for is not available
    ├─ ScoringError                       a check failed while a stream was running
    │  ├─ JudgeError                      a judge gave no usable answer
    │  └─ ScoringTimeoutError (TimeoutError)
    └─ StreamInterruptedError             the application ended a stream before its source did

Errors of the source and of user callables are never wrapped: they arrive as themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path


class StreamVerifyError(Exception):
    """Base of every error this library raises on purpose; a copy, or one that was pickled, says the same."""

    def __reduce__(self) -> tuple[Callable[..., StreamVerifyError], tuple[object, ...], dict[str, object]]:
        """Message and fields, past a subclass's own constructor, which makes the one of the others."""
        return _restored, (type(self), *self.args), self.__dict__


def _restored(kind: type[StreamVerifyError], *args: object) -> StreamVerifyError:
    error = kind.__new__(kind)
    error.args = args
    return error


class UsageError(StreamVerifyError, ValueError):
    """The caller must change a call."""


class PassageError(UsageError):
    """A passage cannot be read; the message names which and what to change."""


class PieceError(UsageError):
    """The source yielded something that is not text."""


class InputFileError(UsageError):
    """A file, or standard input, does not hold what it should; the message names the place in one line."""

    def __init__(
        self, path: Path | str, problem: str, *, line: int | None = None, field: str | None = None
    ) -> None:
        """Name the file, the line (from 1) and the field where there are any, and what is wrong."""
        self.path, self.line, self.field, self.problem = str(path), line, field, problem
        where = self.path if line is None else f"{self.path}:{line}"
        super().__init__(f"{where}: {problem}" if field is None else f"{where}: field {field!r}: {problem}")


class NotEnoughLabelsError(UsageError):
    """Too few labels for the guarantee that was asked for; says how many are needed."""

    def __init__(self, found: int, needed: int, where: str = "") -> None:
        """Name what there is, what it takes, and among which sentences."""
        self.found, self.needed, self.where = found, needed, where
        super().__init__(
            f"{where + ': ' if where else ''}{found} answers with a sentence labelled as not grounded; the "
            f"guarantee needs {needed}: label more answers, or allow more misses or less confidence"
        )


class MissingExtraError(UsageError, ImportError):
    """An optional package is missing; the message is the pip command that installs it."""

    def __init__(self, extra: str, package: str, feature: str) -> None:
        """Name the extra, the package that failed to import, and what needs it."""
        self.extra = extra
        self.package = package
        super().__init__(f"{feature} needs {package}: pip install 'streamverify[{extra}]'")


class StreamStateError(UsageError, RuntimeError):
    """A stream was used twice, before it was opened, or asked for its report before its end."""


class ModelError(StreamVerifyError):
    """The operator must change a model."""


class ModelNotFoundError(ModelError):
    """Nothing at the path tried."""

    def __init__(self, path: Path | str, hint: str = "", *, what: str = "model") -> None:
        """Name what was looked for and where, and what to do where that is known."""
        self.path = str(path)
        super().__init__(f"no {what} at {path}" + (f": {hint}" if hint else ""))


class ModelChecksumError(ModelError):
    """A file of the model differs from its recorded checksum."""

    def __init__(self, path: Path | str, expected: str, found: str) -> None:
        """Name the file and both SHA-256 sums."""
        self.path, self.expected, self.found = str(path), expected, found
        super().__init__(
            f"{path} is damaged or was changed: sha256 {found[:16]}… found, {expected[:16]}… expected; "
            "reinstall the package or fetch the model again"
        )


class ModelContractError(ModelError):
    """The model's inputs, outputs, labels or files differ from what the scorer needs."""


class ProviderError(ModelError):
    """The execution provider asked for is not available."""

    def __init__(self, wanted: str, available: Sequence[str]) -> None:
        """Name the provider wanted and those the runtime offers."""
        self.wanted, self.available = wanted, tuple(available)
        super().__init__(
            f"provider {wanted!r} is not available here, only {', '.join(available) or 'none'}: "
            "for CUDA, uninstall onnxruntime and install onnxruntime-gpu, or choose provider='cpu'"
        )


class ScoringError(StreamVerifyError):
    """A check failed while a stream was running; `__cause__` holds the scorer's own error."""


class ScoringTimeoutError(ScoringError, TimeoutError):
    """A check did not end within its deadline."""

    def __init__(self, seconds: float) -> None:
        """Name the deadline in seconds."""
        self.seconds = seconds
        super().__init__(f"no verdict within {seconds:g} s; raise verdict_timeout or use a faster scorer")


class OverloadedError(ScoringError):
    """A sentence waited longer for its check than the verifier's `max_lag` allows."""

    def __init__(self, seconds: float) -> None:
        """Name the limit in seconds."""
        self.seconds = seconds
        super().__init__(f"no core was free for this check within {seconds:g} s")


class JudgeError(ScoringError):
    """A judge gave no usable answer."""


class StreamInterruptedError(StreamVerifyError):
    """The application ended a stream before its source did; the message is its reason."""
