"""The scorers of a verifier in this process: loaded, with the threads that call them.

Before: `scorers/cascade.py` says which. After: `verifier.py` has every stream share them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streamverify import events
from streamverify.calibration import Calibration, PresetName
from streamverify.judging.assessor import VerifierConfig
from streamverify.judging.citations import CitationOptions
from streamverify.scorers.cascade import Step, band_for
from streamverify.scorers.protocol import Scorer
from streamverify.scorers.windows.cache import CacheStatistics
from streamverify.streaming.cascade import LaterScorer, cascaded
from streamverify.streaming.workers import Workers, WorkersStatistics
from streamverify.types import Fingerprint


@dataclass(frozen=True, slots=True)
class Scoring:
    """What scores, in the order in which it is asked."""

    first: VerifierConfig
    workers: Workers
    """That call the first."""
    later: tuple[LaterScorer, ...]
    owned: tuple[Scorer, ...]
    """Those to be closed."""

    @property
    def fingerprint(self) -> Fingerprint:
        """Of all of them."""
        return cascaded(self.first, self.later)

    def statistics(self) -> WorkersStatistics:
        """Checks running and waiting now, over all scorers."""
        known = [self.workers.statistics(), *(later.workers.statistics() for later in self.later)]
        return WorkersStatistics(sum(one.running for one in known), sum(one.waiting for one in known))

    @property
    def window_cache_bytes(self) -> int:
        """Taken by encoded windows, over all scorers that keep any."""
        told = [
            getattr(one, "statistics", None)
            for one in (self.first.scorer, *(later.config.scorer for later in self.later))
        ]
        found = [tell() for tell in told if callable(tell)]
        return sum(one.bytes for one in found if isinstance(one, CacheStatistics))

    def close(self) -> None:
        """Stop what runs and free the models."""
        for pool in (self.workers, *(pool for one in self.later for pool in (one.workers, one.preparers))):
            pool.close()
        for scorer in self.owned:
            scorer.close()


def load(
    steps: Sequence[Step],
    calibration: Calibration | None,
    citations: CitationOptions,
    preset: PresetName | None = None,
) -> Scoring:
    """Load every scorer; where one fails, those before it are closed.

    Args:
        steps: one or more.
        calibration: what it names replaces the scorer's own.
        citations: for all of them.
        preset: each goes by its own of this name.

    Raises:
        UsageError: one has no such preset. Caller.
        ModelError: one cannot be loaded, or a cascade has no band. Operator.
    """
    events.build()
    configs: list[VerifierConfig] = []
    owned: list[Scorer] = []
    try:
        for step in steps:
            scorer = step.make()
            owned += [scorer] if step.owned else []
            own = scorer.traits.calibration
            used = own if calibration is None else calibration.over(own)
            mark = scorer.fingerprint
            used = used.promising(f"{mark.model} {mark.revision}".strip())
            used = used if preset is None else used.preset(preset)
            configs.append(VerifierConfig(scorer=scorer, calibration=used, citations=citations))
        later = _later(steps, configs)
    except BaseException:
        for scorer in owned:
            scorer.close()
        raise
    workers = Workers(configs[0].scorer.traits.concurrency, "streamverify-score")
    return Scoring(configs[0], workers, later, tuple(owned))


def _later(steps: Sequence[Step], configs: Sequence[VerifierConfig]) -> tuple[LaterScorer, ...]:
    """What stands behind the first scorer, each with its band and with threads of its own."""
    later: list[LaterScorer] = []
    for step, before, config in zip(steps[1:], configs, configs[1:], strict=False):
        known = later[0].band if later else None
        band = band_for(step, config.scorer, before.scorer, before.calibration, known)
        workers = Workers(config.scorer.traits.concurrency, "streamverify-later")
        later.append(LaterScorer(config, band, workers, Workers(1, "streamverify-prepare-later")))
    return tuple(later)
