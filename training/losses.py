"""What is minimised: sentence labels, "not entailed", the order of claims about one context, and tokens.

With teachers, a share of it is how far the student is from what they say of the same claims and tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F

from training.data import ENTAIL, NOT_ENTAIL
from training.windows import CLS, SEP

if TYPE_CHECKING:
    from torch import Tensor

    from training.batches import Batch

TOKEN_WEIGHT = 0.5
MARKED_WEIGHT = 3.0
"""An unsupported token counts as this many others: there is about one among seven."""
ORDER_WEIGHT = 0.5
TEMPERATURE = 2.0
"""Teachers and student are compared at log-odds divided by this: how sure a sure teacher is counts too."""


@dataclass(frozen=True, slots=True)
class Taught:
    """What teachers say of a batch."""

    claims: Tensor
    """(claims, 3) log-odds up to a constant a claim."""
    tokens: Tensor
    """(tokens,) log-odds that a token is unsupported."""


@dataclass(frozen=True, slots=True)
class Losses:
    """The loss to minimise and its parts, for the log."""

    total: Tensor
    sentence: float
    order: float | None
    token: float | None
    taught: float | None = None
    """How far the student is from its teachers."""


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


def taught_loss(logits: Tensor, token_logits: Tensor, batch: Batch, taught: Taught) -> Tensor:
    """How far the student is from its teachers: claims by their divergence, tokens by cross-entropy.

    Labels take no part, so it can be asked of claims that nobody labelled. The divergence is multiplied by
    the squared temperature, which keeps its gradient's size (Hinton et al., 2015, "Distilling the
    Knowledge in a Neural Network").
    """
    said = F.log_softmax(logits.float() / TEMPERATURE, -1)
    target = F.log_softmax(taught.claims / TEMPERATURE, -1)
    apart = (target.exp() * (target - said)).sum(-1) * TEMPERATURE**2
    ids = batch.packed.claim_ids
    words = (ids > 0) & (ids != CLS) & (ids != SEP)
    tokens = F.binary_cross_entropy_with_logits(
        token_logits.float()[words], torch.sigmoid(taught.tokens[words])
    )
    return (apart * batch.weights).sum() / batch.weights.sum() + TOKEN_WEIGHT * tokens


def batch_losses(
    logits: Tensor, token_logits: Tensor, batch: Batch, taught: Taught | None = None, share: float = 0.0
) -> Losses:
    """Weighted mean over the views of a batch, the order loss, and the token loss where spans are known.

    Args:
        logits: (claims, 3) of the student.
        token_logits: (tokens,) of the student.
        batch: the batch with its labels.
        taught: what teachers say of it.
        share: part of the loss that is the distance from them; with 1 the labels count for nothing.
    """
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
    apart = None
    if taught is not None and share:
        apart = taught_loss(logits, token_logits, batch, taught)
        total = (1 - share) * total + share * apart
    return Losses(total, float(sentence.detach()), *(_number(part) for part in (order, token, apart)))


def _number(part: Tensor | None) -> float | None:
    return None if part is None else float(part.detach())
