"""Formulas of capacity: how busy a fleet is, how often its caches hold what is asked for, how late verdicts
are.

The model. Streams are many and independent, so that their sentences arrive like a Poisson process (Palm and
Khintchine; Daley and Vere-Jones, An Introduction to the Theory of Point Processes, 2003, section 11.2). A
sentence takes a core for its claim; an answer brings a set of windows, which are encoded where no cache
holds them. Sets are as popular as Zipf's law says (Breslau et al., Web Caching and Zipf-like Distributions,
INFOCOM 1999). A machine's cache is least recently used; how often it holds a set follows from Che's
approximation (Che, Tung and Wang, IEEE JSAC 20(7), 2002; Fricker, Robert and Roberts, ITC 24, 2012). A
machine is an M/G/c queue, first come, first served: the probability of waiting is Erlang's C (Kleinrock,
Queueing Systems I, 1975, section 3.5), the mean wait Allen and Cunneen's approximation (Allen, Probability,
Statistics and Queueing Theory, 2nd edition 1990, section 5.3), which scales that of M/M/c by (1 + cv²) / 2;
the tail is taken as exponential.

Two fleets are compared. *Alone*: every machine has a scorer for its own streams, and any machine gets any
set. *Routed*: requests go to the machine that the set's content names (`streamverify/scale/`), so that
caches add up, and each request costs both sides something.

What is not in it: machines that fail, the network, the work of Ray itself, machines of different speed,
passages that are popular in ever new sets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

BUSY = 0.7
"""Share of the cores above which a routed fleet passes on so much that passing on keeps it busy."""
LAG_S = 0.25
"""What the 95th percentile of lags must stay below where a fleet is sized."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds of one core, as measured."""

    claim: float
    """Everything a sentence costs but the encoding of windows."""
    cv: float
    """Standard deviation of a claim's seconds / their mean."""
    window: float
    request: float
    """What a claim costs more where another process scores it, both sides together."""
    window_bytes: int


@dataclass(frozen=True, slots=True)
class Load:
    """What the streams ask for."""

    streams: int
    """At once."""
    rate: float = 1.0
    """Sentences a second of one stream: 20 tokens a second, 20 tokens a sentence."""
    sentences: int = 12
    """Of an answer; after its last the stream is followed by another one."""
    windows: int = 30
    """Of an answer's set of passages: ten of 200 words."""
    sets: int = 100_000
    zipf: float = 0.9


@dataclass(frozen=True, slots=True)
class Fleet:
    """What serves them."""

    machines: int
    cores: int = 16
    """Of a machine."""
    cache_bytes: int = 8 * 2**30
    """Of a machine."""
    routed: bool = False


@dataclass(frozen=True, slots=True)
class Forecast:
    """What comes of it; lags in seconds, from a sentence's end to its verdict."""

    busy: float
    """Share of all cores."""
    hits: float
    """Share of sets that need no encoding."""
    lag_p50: float
    lag_p95: float


def popularity(sets: int, exponent: float) -> np.ndarray:
    """Probabilities of the sets, the most popular first; they sum to 1."""
    weights = np.arange(1, sets + 1, dtype=np.float64) ** -exponent
    return weights / weights.sum()


def lru_hits(probabilities: np.ndarray, capacity: int) -> float:
    """Share of requests that an LRU cache of so many items answers, by Che's approximation."""
    if capacity >= len(probabilities):
        return 1.0
    if capacity <= 0:
        return 0.0
    low, high = 0.0, 1.0
    while -np.expm1(-probabilities * high).sum() < capacity:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if -np.expm1(-probabilities * middle).sum() < capacity else (low, middle)
    return float((probabilities * -np.expm1(-probabilities * high)).sum())


def erlang_c(servers: int, offered: float) -> float:
    """Probability that a customer of M/M/c waits, `offered` Erlangs in all; 1 where they do not suffice."""
    if offered >= servers:
        return 1.0
    blocked = 1.0
    for count in range(1, servers + 1):  # Erlang's B by its recursion, which never overflows
        blocked = offered * blocked / (count + offered * blocked)
    return blocked / (1 - offered / servers * (1 - blocked))


def held(load: Load, fleet: Fleet, costs: Costs) -> int:
    """Sets that the caches hold whose content decides where a set goes."""
    one = fleet.cache_bytes // (load.windows * costs.window_bytes)
    return one * (fleet.machines if fleet.routed else 1)


def forecast(load: Load, fleet: Fleet, costs: Costs) -> Forecast:
    """By the formulas alone."""
    hits = lru_hits(popularity(load.sets, load.zipf), held(load, fleet, costs))
    # Alone, a machine has the streams that chance gives it, for as long as they last: judged by the number
    # that one machine in twenty exceeds. Routed, what is too much for one goes to the next.
    mean = load.streams / fleet.machines
    spread = 0.0 if fleet.routed else 1.645 * math.sqrt(mean * (1 - 1 / fleet.machines))
    claims = (mean + spread) * load.rate
    claim = costs.claim + (costs.request if fleet.routed else 0.0)
    encoding = claims / load.sentences * load.windows * (1 - hits) * costs.window
    offered = claims * claim + encoding
    if offered >= fleet.cores:
        return Forecast(offered / fleet.cores, hits, math.inf, math.inf)
    waiting = erlang_c(fleet.cores, offered)
    # Encoding takes cores and is not waited for: a customer is a claim, in a machine that is busier for it.
    scale = (1 + costs.cv**2) / 2 * claim / (fleet.cores - offered)

    def lag(share: float) -> float:
        # A percentile of the wait on top of the mean service: that of their sum has no simple form.
        return claim + (scale * math.log(waiting / share) if share < waiting else 0.0)

    return Forecast(offered / fleet.cores * mean / (mean + spread), hits, lag(0.5), lag(0.05))


def sized(load: Load, fleet: Fleet, costs: Costs) -> Fleet:
    """The fewest machines of this kind that keep lags below the bar."""

    def too_few(machines: int) -> bool:
        told = forecast(load, replace(fleet, machines=machines), costs)
        return told.lag_p95 > LAG_S or (fleet.routed and told.busy > BUSY)

    low, high = 0, 1
    while too_few(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if too_few(middle) else (low, middle)
    return replace(fleet, machines=high)
