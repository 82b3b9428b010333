"""Scorers by name, as the command line and configuration files spell them, or from what a caller gives."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from streamverify.errors import ModelNotFoundError, UsageError
from streamverify.scorers.installed import EMBEDDED, hint, installed_folder
from streamverify.scorers.protocol import Provider, Scorer

if TYPE_CHECKING:
    from streamverify.scorers.function import ScoringFunction

NAMES = ("default", EMBEDDED, "lexical")
"""The scorers that need neither a path nor another distribution."""


@dataclass(frozen=True, slots=True)
class Share:
    """What a process takes of a machine on which others of its kind serve beside it.

    It holds for models made by name; a scorer given as an object or by a function has settings of its own.
    """

    windows: Path | None = None
    """Folder in which all of them keep encoded windows, so that none is encoded twice; None for a cache of
    the process's own. Whoever makes the folder removes it."""
    threads: int | None = None
    """Threads that score, 1 or more; None for the cores this process may use, or for what suits a graphics
    processor."""
    provider: Provider = "cpu"
    """Where models run: `cpu`; `cuda`, an error where it is missing; `auto` for CUDA where there is some."""

    def __post_init__(self) -> None:
        """Refuse no thread, and a provider that there is not.

        Raises:
            UsageError: fewer than one thread, or another word for a provider. Caller.
        """
        if self.threads is not None and self.threads < 1:
            raise UsageError("a share has at least one thread")
        if self.provider not in get_args(Provider):
            raise UsageError(f"provider: {' or '.join(get_args(Provider))}, not {self.provider!r}")


ScorerLike: TypeAlias = "Scorer | Callable[[], Scorer] | ScoringFunction | str"
"""What is accepted wherever a scorer is taken."""


def model_named(name: str, *, share: Share | None = None) -> Callable[[], Scorer]:
    """`scorer_named`, for models only.

    Raises:
        ModelNotFoundError: neither a name nor a folder. Operator.
        UsageError: it names a scorer without a model. Caller.
    """
    if name == "lexical":
        raise UsageError("'lexical' has no model: give scorer='lexical'")
    return scorer_named(name, share=share)


def scorer_from(
    given: ScorerLike, *, later: bool = False, share: Share | None = None
) -> tuple[Callable[[], Scorer], bool]:
    """A function that gives the scorer, and whether whoever calls it must close what it gives.

    Args:
        given: a scorer; a name; a function without parameters that makes one; or a scoring function with
            two, the claim and the texts of the passages.
        later: it stands behind another one in a cascade; see `scorer_named`.
        share: of the machine, for a scorer given by name.

    Raises:
        ModelNotFoundError: a text that is neither a name nor a folder. Caller.
        UsageError: nothing of these; raised by the function that is returned, what `given` made is no scorer.
            Caller.
    """
    if isinstance(given, str):
        return scorer_named(given, later=later, share=share), True
    # A class has the methods of its instances, and is called like a function.
    if isinstance(given, Scorer) and not isinstance(given, type):
        return lambda: given, False
    factory: Any = given
    if _takes(given, 0):
        return lambda: _made(factory), True
    if _takes(given, 2) and not isinstance(given, type):
        return lambda: _function(factory), True
    raise UsageError(
        f"{given!r} is no scorer: give a name ({', '.join(NAMES)}, or a model's folder), a scorer, a "
        "function that makes one, or a function (claim, passages) that returns a probability"
    )


def _made(factory: Callable[[], object]) -> Scorer:
    made = factory()
    if not isinstance(made, Scorer):
        raise UsageError(
            f"a function without parameters makes a scorer, and {factory!r} made {made!r}; one that returns "
            "a probability takes two, the claim and the texts of the passages"
        )
    return made


def _takes(given: object, count: int) -> bool:
    """Whether it can be called with so many positional arguments."""
    if not callable(given):
        return False
    try:
        inspect.signature(given).bind(*range(count))
    except (TypeError, ValueError):  # the latter for built-in functions, which tell no signature
        return False
    return True


def scorer_named(name: str, *, later: bool = False, share: Share | None = None) -> Callable[[], Scorer]:
    """A function that makes the scorer; nothing heavy is loaded before it is called.

    Args:
        name: `fast` or `default` (the model in the package), the name of an installed model
            (`accurate`), `lexical` (no model), or a folder that holds a premise-cached model or an ONNX
            cross-encoder in the Hugging Face layout.
        later: it stands behind another one in a cascade: windows are encoded when a claim first asks for
            them, and a core is left to the one before it.
        share: of the machine, for a premise-cached model; None for all of it.

    Raises:
        ModelNotFoundError: neither a name nor a folder. Operator.
    """
    if name == "lexical":
        return _lexical
    taken = share if share is not None else Share()
    if name in NAMES:
        return lambda: _premise_cached(None, taken, later=later)
    if (brought := installed_folder(name)) is not None:
        return lambda: _premise_cached(brought, taken, later=later)
    folder = Path(name)
    if not os.path.isdir(folder):  # noqa: PTH112 - unlike `Path.is_dir`, for a name that is too long too
        raise ModelNotFoundError(name, f"{hint(name)}; or give cascade, lexical or a model's folder")
    # The two kinds are told apart by the list of checksums that a premise-cached model must have.
    if (folder / "sha256sums").is_file():
        return lambda: _premise_cached(folder, taken, later=later)
    return lambda: _cross_encoder(folder, taken)


def _premise_cached(folder: Path | None, share: Share, *, later: bool) -> Scorer:
    from streamverify.scorers.premise_cached import (  # noqa: PLC0415 - loads onnxruntime
        PremiseCachedScorer,
        cores,
    )

    threads = share.threads
    if later and share.provider == "cpu":
        threads = max((threads or cores()) - 1, 1)
    return PremiseCachedScorer(
        folder,
        provider=share.provider,
        ahead=not later,
        threads=threads,
        shared_windows=share.windows,
    )


def _cross_encoder(folder: Path, share: Share) -> Scorer:
    from streamverify.scorers.cross_encoder import CrossEncoderScorer  # noqa: PLC0415 - loads onnxruntime

    return CrossEncoderScorer(folder, provider=share.provider)


def _lexical() -> Scorer:
    from streamverify.scorers.lexical import LexicalScorer  # noqa: PLC0415 - kept out of start-up

    return LexicalScorer()


def _function(function: ScoringFunction) -> Scorer:
    from streamverify.scorers.function import FunctionScorer  # noqa: PLC0415 - as above

    return FunctionScorer(function)
