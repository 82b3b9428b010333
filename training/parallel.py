"""Several training processes that average their weights now and then.

Two processes of one thread each do half as much again as one of two threads: most
operations here are too small to share.  Each process takes its own steps on its own
batches; every few steps the weights are averaged (local SGD: Stich, 2019, "Local SGD
Converges Fast and Communicates Little").
"""

from __future__ import annotations

import datetime as dt
import multiprocessing
import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
import torch.distributed as dist

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from torch import Tensor

MEET_EVERY = 8
"""Steps between two averages."""
_PAUSE = dt.timedelta(days=2)
"""A paused process is waited for as long as this."""


@dataclass(frozen=True, slots=True)
class Crew:
    """One process's place among the `size` that train together."""

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process logs, evaluates and saves."""
        return self.rank == 0

    def average(self, weights: Iterable[Tensor]) -> None:
        """Replace every process's weights by their mean."""
        if self.size == 1:
            return
        held = list(weights)
        with torch.no_grad():
            flat = torch.cat([w.reshape(-1) for w in held])
            dist.all_reduce(flat)
            flat /= self.size
            for w, mean in zip(held, flat.split([w.numel() for w in held]), strict=True):
                w.copy_(mean.view_as(w))

    def total(self, count: int) -> int:
        """The sum of a number over all processes."""
        if self.size == 1:
            return count
        value = torch.tensor([count])
        dist.all_reduce(value)
        return int(value)

    def told(self, value: int) -> int:
        """The leading process's number, in every process."""
        if self.size == 1:
            return value
        shared = torch.tensor([value])
        dist.broadcast(shared, 0)
        return int(shared)


def _end_with_parent() -> None:
    """End this process when the one that started it ends, however that ends.

    Else two runs that follow each other write into one folder, and each slows the other.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, name="end with parent", daemon=True).start()


def _member(work: Callable[[Crew], None], rank: int, size: int, meeting: str) -> None:
    _end_with_parent()
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=size, timeout=_PAUSE)
    try:
        work(Crew(rank, size))
    finally:
        dist.destroy_process_group()


def run_crew(work: Callable[[Crew], None], size: int, folder: Path) -> None:
    """Run `work` in `size` processes and wait for all of them.

    Args:
        work: what each does; must be picklable.
        size: number of processes; with one, `work` runs here.
        folder: where the processes find each other, through a file.

    Raises:
        RuntimeError: a process failed; the others are ended. Operator.
    """
    if size == 1:
        work(Crew())
        return
    place = folder / "meeting"
    place.unlink(missing_ok=True)
    start = multiprocessing.get_context("spawn")
    members = [
        start.Process(target=_member, args=(work, rank, size, place.resolve().as_uri()))
        for rank in range(size)
    ]
    for member in members:
        member.start()
    try:
        while alive := [m for m in members if m.is_alive()]:
            alive[0].join(1)
            failed = [m.exitcode for m in members if m.exitcode]
            if failed:
                raise RuntimeError(f"a training process ended with code {failed[0]}: see its output")
    finally:
        for member in members:
            member.terminate()
        place.unlink(missing_ok=True)
