"""Masked attention with its own backward pass, several times faster on a CPU than the built-in one.

PyTorch's fused attention has a quick forward pass on CPUs, but its backward
pass does not use the matrix units and takes most of a training step at the
short lengths seen here.  Keeping the probabilities and writing the backward
pass as four batched products costs memory that is small at these lengths.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable


class MaskedAttention(torch.autograd.Function):
    """softmax(q k^T / sqrt(d) + bias) v for tensors (..., tokens, head size)."""

    @staticmethod
    def forward(ctx: FunctionCtx, q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Tensor:
        scores = torch.matmul(q, k.transpose(-1, -2)).mul_(q.shape[-1] ** -0.5).add_(bias)
        weights = torch.softmax(scores, -1)
        out = torch.matmul(weights, v)
        ctx.save_for_backward(q, k, v, weights, out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        q, k, v, weights, out = ctx.saved_tensors  # type: ignore[attr-defined]
        grad_v = torch.matmul(weights.transpose(-1, -2), grad)
        scores = torch.matmul(grad, v.transpose(-1, -2))
        scores.sub_((grad * out).sum(-1, keepdim=True)).mul_(weights).mul_(q.shape[-1] ** -0.5)
        return torch.matmul(scores, k), torch.matmul(scores.transpose(-1, -2), q), grad_v, None


def attend(q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Tensor:
    """Attention of q to k and v; `bias` is added to the scores and gets no gradient."""
    if torch.is_autocast_enabled("cpu"):
        # The products inside the function are not autocast in the backward pass.
        dtype = torch.get_autocast_dtype("cpu")
        q, k, v, bias = q.to(dtype), k.to(dtype), v.to(dtype), bias.to(dtype)
    out: Tensor = MaskedAttention.apply(q, k, v, bias)
    return out
