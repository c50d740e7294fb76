"""Scaled dot-product attention in torch, with one contract for all masks.

The same steps as `qkv.reference`; chapter 2 proves them equal.
"""

from __future__ import annotations

import math
from typing import Any, Literal, overload

import torch
from torch import Tensor
from torch.nn import functional as F

from .checks import check_mask, check_options, score_shape
from .hidden import Pairs, Sums, is_calm, is_right, wide
from .masks import as_tensor, causal_mask, restrict


@overload
def scaled_dot_product_attention(
        query: Tensor, key: Tensor, value: Tensor, attn_mask: Any = None,
        dropout_p: float = 0.0, is_causal: bool = False, *,
        scale: float | None = None, enable_gqa: bool = False,
        softcap: float | None = None,
        return_weights: Literal[False] = False) -> Tensor: ...


@overload
def scaled_dot_product_attention(
        query: Tensor, key: Tensor, value: Tensor, attn_mask: Any = None,
        dropout_p: float = 0.0, is_causal: bool = False, *,
        scale: float | None = None, enable_gqa: bool = False,
        softcap: float | None = None,
        return_weights: Literal[True]) -> tuple[Tensor, Tensor]: ...


@overload
def scaled_dot_product_attention(
        query: Tensor, key: Tensor, value: Tensor, attn_mask: Any = None,
        dropout_p: float = 0.0, is_causal: bool = False, *,
        scale: float | None = None, enable_gqa: bool = False,
        softcap: float | None = None, return_weights: bool) -> Any: ...


def scaled_dot_product_attention(
        query: Tensor, key: Tensor, value: Tensor, attn_mask: Any = None,
        dropout_p: float = 0.0, is_causal: bool = False, *,
        scale: float | None = None, enable_gqa: bool = False,
        softcap: float | None = None, return_weights: bool = False) -> Any:
    """softmax(Q Kᵀ / √d_k) V, a drop-in for torch's function of this name.

    Vaswani et al. (2017), section 3.2.1.

    Parameters
    ----------
    query, key, value : Tensor, (..., L, d_k), (..., S, d_k), (..., S, d_v)
    attn_mask : Tensor or ndarray, broadcasts to (..., L, S), optional
    dropout_p : float
        Share of weights dropped, whenever it is not 0. Pass 0.0 in evaluation:
        a function cannot know that it is being evaluated.
    is_causal, scale, enable_gqa, softcap
        As in `qkv.reference.scaled_dot_product_attention`.
    return_weights : bool
        Also return the weights, per head and before dropout. Without this and
        `softcap`, torch's fused kernels do the work.

    Returns
    -------
    output : Tensor, (..., L, d_v)
    weights : Tensor, (..., L, S), only with ``return_weights=True``
        A row with no allowed key has weights 0, output 0 and gradient 0.

    Raises
    ------
    TypeError, ValueError
        See `qkv.checks`; the message names the argument and the shapes.

    Notes
    -----
    Differences from ``torch.nn.functional.scaled_dot_product_attention``:
    `attn_mask` and `is_causal` may be given together; `is_causal` with
    L != S is an error, because there torch's corner (top-left) is the wrong
    one for decoding; mistakes raise TypeError or ValueError. The order of
    arguments is torch's, so `dropout_p` and `is_causal` may be given by
    position, and nothing behind them.

    What is hidden cannot be seen, and what is visible and NaN stays NaN, in
    output and gradients. torch's kernels do not promise that, so their output
    is looked at, and computed again where it is not finite. Inside
    ``torch.compile``, ``torch.export`` and ``torch.vmap``, where numbers
    cannot be looked at, theirs is what you get.
    """
    if not torch.is_tensor(query):
        raise TypeError(f"query must be a torch.Tensor, not {type(query)}")
    shape = score_shape(query, key, value, enable_gqa)
    check_options(shape, query.dtype, is_causal=is_causal, scale=scale,
                  softcap=softcap, dropout_p=dropout_p, enable_gqa=enable_gqa,
                  return_weights=return_weights)
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1])
    mask = None if attn_mask is None else _checked(attn_mask, query, shape)
    if is_causal and mask is not None:  # torch takes one of the two
        mask = restrict(mask, causal_mask(*shape[-2:], like=query))
        is_causal = False

    if not return_weights and softcap is None:
        output = F.scaled_dot_product_attention(
            query, key, value, mask, dropout_p, is_causal,
            scale=float(scale), enable_gqa=enable_gqa)
        if is_right(output, query, key, value, mask, scale):
            return output

    if is_causal:
        mask = causal_mask(*shape[-2:], like=query)
    if enable_gqa:  # (..., H_kv, S, d) -> (..., H, S, d)
        heads = query.shape[-3]
        key = key.repeat_interleave(heads // key.shape[-3], dim=-3)
        value = value.repeat_interleave(heads // value.shape[-3], dim=-3)
    output, weights = _attend(
        query, key, value, mask, shape, dropout_p, float(scale), softcap)
    return (output, weights) if return_weights else output


def _attend(query, key, value, mask, shape, dropout_p, scale, softcap):
    """Compute output and weights step by step, as `qkv.reference` does."""
    dtype = query.dtype  # half precision is rounded once, at the end
    query, key, value = (x.to(wide(x)) for x in (query, key, value))
    bias = None if mask is None or mask.dtype == torch.bool else mask
    seen = mask if bias is None else bias != -math.inf
    calm = is_calm(query, key, value, mask, scale)
    if not calm:
        query, key, value = (
            x.expand(*shape[:-2], *x.shape[-2:]) for x in (query, key, value))
        every = torch.ones((), dtype=torch.bool, device=query.device)
        pairs = (every if seen is None else seen).expand(shape)

    # 1. Relate.
    query = query * scale
    scores = (query @ key.mT if calm  # (..., L, d_k) @ (..., d_k, S)
              else Pairs.apply(query, key, pairs))
    if softcap is not None:
        scores = float(softcap) * torch.tanh(scores / float(softcap))

    # 2. Normalise, over the keys that may be attended.
    if bias is not None:
        scores = scores + bias
    if seen is not None:
        scores = scores.masked_fill(~seen, -math.inf)
    empty = (scores == -math.inf).all(-1, keepdim=True)  # no key allowed
    weights = torch.softmax(scores.masked_fill(empty, 0), dim=-1)
    hidden = empty if seen is None else empty | ~seen
    weights = weights.masked_fill(hidden, 0)

    # 3. Extract: (..., L, S) @ (..., S, d_v) -> (..., L, d_v)
    kept = torch.dropout(weights, dropout_p, train=True)
    output = kept @ value if calm else Sums.apply(kept, value, pairs)
    return output.to(dtype), weights.to(dtype)


def _checked(attn_mask, query, scores):
    """Return the mask as a tensor of at least two dimensions, (L, S)."""
    check_mask(attn_mask, scores)
    mask = as_tensor(attn_mask, query.device)
    mask = mask if mask.dtype == torch.bool else mask.to(query.dtype)
    return mask.expand(torch.broadcast_shapes(mask.shape, scores[-2:]))


def output_and_weights(result: Any) -> tuple[Tensor, Tensor | None]:
    """Return (output, weights or None), whatever `return_weights` was."""
    return result if isinstance(result, tuple) else (result, None)
