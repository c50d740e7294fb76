"""Attention in NumPy, line by line in the order of the formula.

Clarity first: this is the oracle that everything else is compared with.
Chapter 2 derives it, chapter 5 adds the masks.
"""

import math
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from .checks import as_array, check_mask, check_options, score_shape


def softmax(x: ArrayLike, axis: int = -1) -> np.ndarray:
    """Turn scores into weights that are positive and sum to 1.

    Parameters
    ----------
    x : array_like
        Scores. ``-inf`` means "never": its weight is exactly 0.
    axis : int
        The axis along which the weights sum to 1.

    Returns
    -------
    ndarray, the shape of `x`
        A slice that is all ``-inf`` has nothing to choose from: all 0.
    """
    x = as_array("x", x)
    if x.dtype.kind != "f":
        x = x.astype(float)  # integers have no -inf
    largest = x.max(axis=axis, keepdims=True, initial=-np.inf)
    largest = np.where(largest == -np.inf, 0, largest)  # avoids inf - inf
    e = np.exp(x - largest)  # the largest cancels, but exp never overflows
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1, total)


@overload
def scaled_dot_product_attention(
        query: np.ndarray, key: np.ndarray, value: np.ndarray,
        attn_mask: np.ndarray | None = None, *, is_causal: bool = False,
        scale: float | None = None, enable_gqa: bool = False,
        softcap: float | None = None,
        return_weights: Literal[False] = False) -> np.ndarray: ...


@overload
def scaled_dot_product_attention(
        query: np.ndarray, key: np.ndarray, value: np.ndarray,
        attn_mask: np.ndarray | None = None, *, is_causal: bool = False,
        scale: float | None = None, enable_gqa: bool = False,
        softcap: float | None = None,
        return_weights: Literal[True]) -> tuple[np.ndarray, np.ndarray]: ...


@np.errstate(invalid="ignore", over="ignore")  # NaN in, NaN out: no news
def scaled_dot_product_attention(
        query: Any, key: Any, value: Any, attn_mask: Any = None, *,
        is_causal: bool = False, scale: float | None = None,
        enable_gqa: bool = False, softcap: float | None = None,
        return_weights: bool = False) -> Any:
    """softmax(Q Kᵀ / √d_k) V, with masks: the NumPy oracle.

    Parameters
    ----------
    query : ndarray, (..., L, d_k)
        What each of the L target positions is looking for.
    key : ndarray, (..., S, d_k)
        What each of the S source positions offers to be found by.
    value : ndarray, (..., S, d_v)
        What each source position hands over.
    attn_mask : ndarray, broadcasts to (..., L, S), optional
        Boolean: True may attend. Floating point: added to the scores, where
        ``-inf`` means "may not attend".
    is_causal : bool
        Position i sees positions 0 to i. Needs L == S; with `attn_mask` a key
        must be allowed by both.
    scale : float, optional
        Factor on the scores; 1/√d_k if not given.
    enable_gqa : bool
        Grouped-query attention: each key/value head serves a block of
        consecutive query heads.
    softcap : float, optional
        Squash scores smoothly into (-softcap, softcap) before masking.
    return_weights : bool
        Also return the attention weights.

    Returns
    -------
    output : ndarray, (..., L, d_v)
    weights : ndarray, (..., L, S), only with ``return_weights=True``
        A row with no allowed key is all 0, and so is its output.

    Raises
    ------
    TypeError, ValueError
        See `qkv.checks`; the message names the argument and the shapes.

    Notes
    -----
    What is hidden cannot be seen: a forbidden key or value changes nothing,
    even if it is NaN or infinite. What is visible counts as it does in
    arithmetic: a NaN stays NaN.

    References
    ----------
    Vaswani et al. (2017), section 3.2.1.
    """
    query, key, value = map(
        as_array, ("query", "key", "value"), (query, key, value))
    shape = score_shape(query, key, value, enable_gqa)
    check_options(shape, query.dtype, is_causal=is_causal, scale=scale,
                  softcap=softcap, enable_gqa=enable_gqa,
                  return_weights=return_weights)
    if enable_gqa:  # (..., H_kv, S, d) -> (..., H, S, d)
        key = np.repeat(key, query.shape[-3] // key.shape[-3], axis=-3)
        value = np.repeat(value, query.shape[-3] // value.shape[-3], axis=-3)
    # Python's float keeps float32 float32, NumPy's (np.sqrt) would not.
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    dtype = query.dtype  # half precision is rounded once, at the end
    query, key, value = (
        x.astype(np.result_type(dtype, np.float32), copy=False)
        for x in (query, key, value))

    # 0. Who may see whom?
    seen, bias = np.ones(shape, bool), 0
    if is_causal:
        seen &= np.tri(*shape[-2:], dtype=np.bool_)
    if attn_mask is not None:
        attn_mask = as_array("attn_mask", attn_mask)
        check_mask(attn_mask, shape)
        if attn_mask.dtype == bool:
            seen &= attn_mask
        else:
            bias = attn_mask.astype(dtype).astype(query.dtype)
            seen &= bias != -np.inf

    # 1. Relate.
    scores = (query * scale) @ key.swapaxes(-1, -2)  # (..., L, S)
    if softcap is not None:
        scores = float(softcap) * np.tanh(scores / float(softcap))

    # 2. Normalise, over the keys that may be attended.
    scores = np.where(seen, scores + bias, -np.inf)
    weights = np.where(seen, softmax(scores), 0)  # each row sums to 1

    # 3. Extract: average the values with these weights.
    if np.isfinite(value).all():
        output = weights @ value  # (..., L, S) @ (..., S, d_v)
    else:  # 0 · NaN is NaN: add up only what is seen, one product at a time
        parts = weights[..., None] * value[..., None, :, :]
        output = np.where(seen[..., None], parts, 0).sum(-2)
    output, weights = output.astype(dtype), weights.astype(dtype)
    return (output, weights) if return_weights else output
