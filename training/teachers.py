"""What larger or earlier networks say of the very views that the student is shown.

The teachers read each batch as it was packed for the student: the same windows, the same
selections of them, the same tokens.  So a claim shown the passages of another case, or one that
nobody labelled, has a target like any other, and nothing has to be looked up by what was shown.
Each batch is seen about once in a run; targets kept on disk would be read once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F

from training.evaluate import load_model
from training.losses import Taught

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from training.architecture import Packed, PremiseCachedEncoder


class Teachers:
    """The mean of what several networks say, as log-odds."""

    def __init__(self, networks: Sequence[PremiseCachedEncoder]) -> None:
        if not networks:
            raise ValueError("no teacher: name at least one network")
        self._networks = [network.eval().requires_grad_(False) for network in networks]

    @classmethod
    def load(cls, paths: Sequence[Path]) -> Teachers:
        """The networks of safetensors files, whose word lists are the student's."""
        return cls([load_model(path) for path in paths])

    def say(self, packed: Packed) -> Taught:
        """What is said of a batch's claims and of their tokens.

        The mean of log probabilities, not of probabilities: a teacher that is sure outweighs one
        that is not, as in a verdict that adds log-odds.
        """
        claims, tokens = [], []
        for network in self._networks:
            with torch.no_grad(), network.precision():
                logits, token_logits = network(packed)
            claims.append(F.log_softmax(logits.float(), -1))
            tokens.append(token_logits.float())
        return Taught(torch.stack(claims).mean(0), torch.stack(tokens).mean(0))
