"""Online evaluation of `streamverify serve`: what judges a share of the answers, and which share.

Before: the options of `launch.py`. After: `monitor/online.py` watches the streams and keeps the figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from streamverify.errors import UsageError

if TYPE_CHECKING:
    from streamverify.monitor import OnlineEvaluation
    from streamverify.records import Database
    from streamverify.verifier import Verifier

SHARE = 0.05
"""Of the answers, where nothing else is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineOptions:
    """The words of the command line."""

    model: str | None = None
    """Whose grounding score is kept."""
    metrics: Sequence[str] = ()
    """Of the catalogue; `precision=context_precision_by_judge` keeps one under another criterion."""
    share: float | None = None
    domains: Sequence[str] = ()
    """Shares of their own: `legal=1`."""
    seed: str = ""
    judge: str | None = None
    judge_model: str | None = None

    @property
    def wanted(self) -> bool:
        """Whether anything is to be judged."""
        return self.model is not None or bool(self.metrics)

    def refuse(self, *, recorded: bool) -> None:
        """Refuse what makes no sense before anything is opened.

        Raises:
            UsageError: there is nothing to judge with, or nowhere to keep it. Operator.
        """
        asked = self.wanted or self.share is not None or any((self.domains, self.seed, self.judge))
        if asked and not self.wanted:
            raise UsageError("say what judges the share: --online-model, or --online-metric")
        if asked and not recorded:
            raise UsageError("online figures stand beside records: name them with --records")
        if (self.judge is None) != (self.judge_model is None):
            raise UsageError("a judge needs both --online-judge ADDRESS and --online-judge-model NAME")
        if self.judge is not None and not self.metrics:
            raise UsageError("--online-judge is asked by metrics: name one with --online-metric")
        for one in (self.share, *self.shares().values()):
            if one is not None and not 0 <= one <= 1:
                raise UsageError(f"a share of the answers lies between 0 and 1, not at {one:g}")

    def shares(self) -> dict[str, float]:
        """Domain to its share.

        Raises:
            UsageError: one is not written as `legal=1`. Operator.
        """
        found = {}
        for given in self.domains:
            name, sign, share = given.rpartition("=")
            try:
                found[name] = float(share)
            except ValueError:
                sign = ""
            if not sign or not name:
                raise UsageError(f"--online-domain: write legal=0.5, a domain and its share, not {given!r}")
        return found


@contextmanager
def online_evaluation(
    options: OnlineOptions, database: Database, verifier: Callable[[], Verifier]
) -> Iterator[OnlineEvaluation | None]:
    """The observer, which is to be closed before the block is left; None where nothing is to be judged.

    Args:
        options: of the command line; `refuse` has let them through.
        database: that the same answers are recorded in.
        verifier: gives the one that judges the answers while they stream.

    Raises:
        UsageError: there is no such metric or model, or it asks a judge and there is none. Operator.
    """
    if not options.wanted:
        yield None
        return
    from streamverify.monitor import OnlineEvaluation, by_metric, by_verifier  # noqa: PLC0415 - an extra
    from streamverify.verifier import Verifier  # noqa: PLC0415 - loads anyio and pydantic

    with ExitStack() as stack:
        judge = None
        if options.judge is not None and options.judge_model is not None:
            from streamverify.evaluate import Judge  # noqa: PLC0415 - an extra

            judge = stack.enter_context(Judge(options.judge, options.judge_model))
        named = [metric.rpartition("=") for metric in options.metrics]
        scorers = {name or metric: by_metric(metric, verifier, judge) for name, _, metric in named}
        if options.model is not None:
            scorers[f"{Path(options.model).name}_grounding"] = by_verifier(
                stack.enter_context(Verifier(model=options.model))
            )
        yield OnlineEvaluation(
            database,
            scorers,
            by=", ".join(filter(None, (options.model, options.judge_model))) or "streamverify",
            share=SHARE if options.share is None else options.share,
            shares=options.shares(),
            seed=options.seed,
        )
