"""Scaled dot-product attention in torch, with one contract for all masks.

The same steps as `qkv.reference`; chapter 2 proves them equal.
"""

import math

import torch
from torch.nn import functional as F

from .checks import check_mask, check_options, score_shape
from .masks import causal_mask


def scaled_dot_product_attention(
        query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False,
        scale=None, enable_gqa=False, *, softcap=None, return_weights=False):
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
    one for decoding; mistakes raise TypeError or ValueError.
    """
    if not torch.is_tensor(query):
        raise TypeError(f"query must be a torch.Tensor, not {type(query)}")
    shape = score_shape(query, key, value, enable_gqa)
    check_options(shape, is_causal, softcap)
    if not 0 <= dropout_p <= 1:
        raise ValueError(f"dropout_p must lie in [0, 1], got {dropout_p}")
    mask = _as_tensor(attn_mask, query, shape)

    if is_causal and (mask is not None or return_weights or softcap):
        mask = restrict(mask, causal_mask(*shape[-2:], like=query))
        is_causal = False

    if not return_weights and softcap is None:
        return F.scaled_dot_product_attention(
            query, key, value, mask, dropout_p, is_causal,
            scale=scale, enable_gqa=enable_gqa)

    if enable_gqa:  # (..., H_kv, S, d) -> (..., H, S, d)
        heads = query.shape[-3]
        key = key.repeat_interleave(heads // key.shape[-3], dim=-3)
        value = value.repeat_interleave(heads // value.shape[-3], dim=-3)
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1])

    # 1. Relate. Scaling the query first is the same product, but float16
    #    does not overflow on the way.
    scores = (query * scale) @ key.transpose(-2, -1)  # (..., L, S)
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)

    # 2. Normalise, over the keys that may be attended.
    if mask is not None and mask.dtype == torch.bool:
        scores = scores.masked_fill(~mask, -math.inf)
    elif mask is not None:
        scores = scores + mask
    empty = (scores == -math.inf).all(-1, keepdim=True)  # no key allowed
    weights = torch.softmax(scores.masked_fill(empty, 0), dim=-1)
    weights = weights.masked_fill(empty, 0)

    # 3. Extract: (..., L, S) @ (..., S, d_v) -> (..., L, d_v)
    output = torch.dropout(weights, dropout_p, train=True) @ value
    return (output, weights) if return_weights else output


def _as_tensor(attn_mask, query, scores):
    """Return the mask as a checked tensor, at least (L, S), or None."""
    if attn_mask is None:
        return None
    check_mask(attn_mask, scores)
    mask = _to(query.device, attn_mask)
    mask = mask if mask.dtype == torch.bool else mask.to(query.dtype)
    return mask.expand(torch.broadcast_shapes(mask.shape, scores[-2:]))


def restrict(attn_mask, allowed):
    """Let pass what both `attn_mask` (or None) and boolean `allowed` do."""
    if attn_mask is None:
        return allowed
    mask = _to(allowed.device, attn_mask)
    if mask.dtype == torch.bool:
        return mask & allowed
    return mask.masked_fill(~allowed, -math.inf)


def _to(device, mask):
    if not isinstance(mask, torch.Tensor):
        mask = mask.copy()  # torch takes no read-only or flipped view
    return torch.as_tensor(mask, device=device)
