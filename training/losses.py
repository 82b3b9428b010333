"""What is minimised: sentence labels, "not entailed", and unsupported tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F

from training.data import ENTAIL, NOT_ENTAIL

if TYPE_CHECKING:
    from torch import Tensor

    from training.batches import Batch

TOKEN_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Losses:
    """The loss to minimise and its parts, for the log."""

    total: Tensor
    sentence: float
    token: float | None


def sentence_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Negative log likelihood of each claim, (claims,).

    Label 3 says only that the claim is not entailed: neutral and contradiction
    then share the probability as the model likes.
    """
    log_p = F.log_softmax(logits.float(), -1)
    exact = -log_p.gather(1, labels.clamp(max=NOT_ENTAIL - 1)[:, None])[:, 0]
    not_entailed = -torch.logsumexp(log_p[:, ENTAIL + 1 :], -1)
    return torch.where(labels == NOT_ENTAIL, not_entailed, exact)


def batch_losses(logits: Tensor, token_logits: Tensor, batch: Batch) -> Losses:
    """Weighted mean over the views of a batch, and the token loss where spans are known."""
    weighted = sentence_loss(logits, batch.labels) * batch.weights
    sentence = weighted.sum() / batch.weights.sum()
    known = batch.marks >= 0
    if not bool(known.any()):
        return Losses(sentence, float(sentence.detach()), None)
    token = F.binary_cross_entropy_with_logits(token_logits.float()[known], batch.marks[known])
    return Losses(sentence + TOKEN_WEIGHT * token, float(sentence.detach()), float(token.detach()))
