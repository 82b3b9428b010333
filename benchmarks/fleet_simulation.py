"""A fleet simulated sentence by sentence: bursts, queues, caches, passing on."""

from __future__ import annotations

import heapq
import random
from collections import OrderedDict
from collections.abc import Iterator, Sequence

import numpy as np

from queueing import Costs, Fleet, Forecast, Load, held, popularity

ONGOING = 4
"""Requests a core that a machine takes before others are asked about its windows (`scale/serving.py`)."""
NEAR = 4
"""Windows that a claim reads: what a machine encodes of a set that was passed on to it."""


class _Machine:
    """Claims and windows wait in a line each, and share the cores where both have work, as threads do."""

    def __init__(self, cores: int, capacity: int) -> None:
        self.claims, self.encoding = [0.0] * cores, [0.0] * cores
        self.under_way: list[float] = []
        self.cache: OrderedDict[int, None] = OrderedDict()
        self.capacity = capacity
        self.worked = 0.0

    def run(self, now: float, seconds: float) -> float:
        """A claim, first come, first served; when it has its verdict."""
        end = self._run(self.claims, self.encoding, now, seconds)
        heapq.heappush(self.under_way, end)
        return end

    def encode(self, now: float, seconds: float) -> None:
        """A window."""
        self._run(self.encoding, self.claims, now, seconds)

    def _run(self, line: list[float], other: list[float], now: float, seconds: float) -> float:
        begin = max(now, line[0])
        beside = sum(until > begin for until in other) / len(other)
        mine = sum(until > begin for until in line) / len(line)
        end = begin + seconds * max(1.0, beside + mine)
        heapq.heapreplace(line, end)
        self.worked += seconds
        return end

    def take_up(self, which: int, now: float, windows: Sequence[float]) -> bool:
        """Encode these windows of a set unless the cache has it; whether it had."""
        known = self.knows(which)
        for seconds in () if known else windows:
            self.encode(now, seconds)
        return known

    def has(self, now: float) -> int:
        """Claims under way."""
        while self.under_way and self.under_way[0] <= now:
            heapq.heappop(self.under_way)
        return len(self.under_way)

    def knows(self, which: int) -> bool:
        """Whether the cache has a set; then it does."""
        known = which in self.cache
        self.cache[which] = None
        self.cache.move_to_end(which)
        if len(self.cache) > max(self.capacity, 1):  # what is read now is held
            self.cache.popitem(last=False)
        return known


def order(which: int, machines: int) -> Iterator[int]:
    """The machines that a set prefers: a stand-in for the hash that `streamverify/scale/` sorts them by."""
    first = which * 2_654_435_761 % machines
    return ((first + step) % machines for step in range(machines))


def arrivals(load: Load, seconds: float, seed: int, *, together: bool) -> Iterator[tuple[float, int, int]]:
    """Time, stream and number of each sentence; number -1 for the begin of an answer, in order of time."""
    generator = random.Random(seed)
    pause = 1 / load.rate
    pending: list[tuple[float, int, int]] = []
    for stream in range(load.streams):
        # Streams are somewhere in their answer when the clock starts, or all of them begin.
        at = 0.0 if together else -generator.uniform(0, load.sentences * pause)
        pending.append((at, stream, -1))
    heapq.heapify(pending)
    while pending:
        at, stream, number = heapq.heappop(pending)
        if at > seconds:
            return
        yield at, stream, number
        if number + 1 < load.sentences:
            # Sentences are of different length; together their pauses take what the answer takes.
            heapq.heappush(pending, (at + generator.gammavariate(4, pause / 4), stream, number + 1))
        elif not together:
            heapq.heappush(pending, (at, stream, -1))


def warmed(load: Load, fleet: Fleet, costs: Costs, seed: int) -> list[_Machine]:
    """Machines with caches as long use leaves them."""
    capacity = fleet.cache_bytes // (load.windows * costs.window_bytes)
    machines = [_Machine(fleet.cores, capacity) for _ in range(fleet.machines)]
    cumulative = np.cumsum(popularity(load.sets, load.zipf))
    draws = np.random.default_rng(seed).random(min(20 * held(load, fleet, costs), 300_000))
    for one in np.searchsorted(cumulative, draws).tolist():
        machines[next(order(one, fleet.machines)) if fleet.routed else 0].knows(one)
    if not fleet.routed:  # each has seen the same traffic
        for machine in machines[1:]:
            machine.cache = OrderedDict(machines[0].cache)
    return machines


def simulate(
    load: Load, fleet: Fleet, costs: Costs, *, seconds: float, seed: int = 0, together: bool = False
) -> Forecast:
    """What comes of it; the first third only fills the queues.

    Args:
        load: with at most some thousand streams; machines are independent but for routing.
        fleet: as many machines as serve it.
        costs: of its work.
        seconds: that are simulated.
        seed: of all that chance does.
        together: all streams begin at once, on one machine that knows no set, and end with their answer.
    """
    generator = random.Random(seed + 1)
    cumulative = np.cumsum(popularity(load.sets, load.zipf))
    draws = np.random.default_rng(seed + 2)
    machines = [_Machine(fleet.cores, 0)] if together else warmed(load, fleet, costs, seed)
    claim = costs.claim + (costs.request if fleet.routed else 0.0)
    shape, warm = 1 / costs.cv**2, 0.0 if together else seconds / 3
    place, sets = [0] * load.streams, [0] * load.streams
    lags: list[float] = []
    asked = found = 0
    before: float | None = None

    for at, stream, number in arrivals(load, seconds, seed, together=together):
        if at >= warm and before is None:
            before = sum(machine.worked for machine in machines)
        if number < 0:
            sets[stream] = int(np.searchsorted(cumulative, draws.random()))
            place[stream] = generator.randrange(fleet.machines)
        home = place[stream]
        if fleet.routed:  # a machine that has as much as it may is passed over
            places = order(sets[stream], fleet.machines)
            free = (one for one in places if machines[one].has(at) < ONGOING * fleet.cores)
            home, place[stream] = next(order(sets[stream], fleet.machines)), next(free, place[stream])
        machine = machines[place[stream]]
        if number < 0:
            known = machine.take_up(sets[stream], at, [costs.window] * load.windows)
            asked, found = asked + (at >= warm), found + (at >= warm and known)
        elif place[stream] != home and sets[stream] not in machine.cache:
            for _ in range(min(NEAR, load.windows)):
                machine.encode(at, costs.window)
        if number < 0:
            continue
        ended = machines[place[stream]].run(at, generator.gammavariate(shape, claim / shape))
        if at >= warm:
            lags.append(ended - at)
    worked = sum(machine.worked for machine in machines) - (before or 0.0)
    p50, p95 = np.quantile(lags, [0.5, 0.95])
    busy = worked / (seconds - warm) / fleet.machines / fleet.cores
    return Forecast(busy, found / max(asked, 1), float(p50), float(p95))
