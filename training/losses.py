"""What is minimised: sentence labels, "not entailed", the order of claims about one context, and tokens."""

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
MARKED_WEIGHT = 3.0
"""An unsupported token counts as this many others: there is about one among seven."""
ORDER_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Losses:
    """The loss to minimise and its parts, for the log."""

    total: Tensor
    sentence: float
    order: float | None
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


def order_loss(logits: Tensor, labels: Tensor, shown: Tensor) -> Tensor | None:
    """Negative log likelihood that an entailed claim's margin is above that of another claim shown the same.

    What both claims have in common, style and shared words, cancels; what is left is the detail in which
    they differ. None where no two such claims were shown the same windows.

    Args:
        logits: (claims, 3).
        labels: (claims,) class ids.
        shown: (claims,) number of the selection of windows that a claim was shown; below 0: left out.
    """
    logits = logits.float()
    margin = logits[:, ENTAIL] - torch.logsumexp(logits[:, ENTAIL + 1 :], -1)
    together = (shown[:, None] == shown[None, :]) & (shown >= 0)[:, None]
    above = together & (labels == ENTAIL)[:, None] & (labels != ENTAIL)[None, :]
    if not bool(above.any()):
        return None
    return F.softplus(margin[None, :] - margin[:, None])[above].mean()


def batch_losses(logits: Tensor, token_logits: Tensor, batch: Batch) -> Losses:
    """Weighted mean over the views of a batch, the order loss, and the token loss where spans are known."""
    weighted = sentence_loss(logits, batch.labels) * batch.weights
    sentence = total = weighted.sum() / batch.weights.sum()
    order = order_loss(logits, batch.labels, batch.shown)
    if order is not None:
        total = total + ORDER_WEIGHT * order
    token = None
    known = batch.marks >= 0
    if bool(known.any()):
        marks = batch.marks[known]
        weights = 1 + (MARKED_WEIGHT - 1) * marks
        token = F.binary_cross_entropy_with_logits(token_logits.float()[known], marks, weights)
        total = total + TOKEN_WEIGHT * token
    return Losses(
        total,
        float(sentence.detach()),
        None if order is None else float(order.detach()),
        None if token is None else float(token.detach()),
    )
