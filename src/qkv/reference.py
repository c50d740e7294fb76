"""Attention in NumPy, line by line in the order of the formula.

Clarity first: this is the oracle that everything else is compared with.
Chapter 2 derives it, chapter 5 adds the masks.
"""

import math

import numpy as np

from .checks import check_mask, check_options, score_shape


def softmax(x, axis=-1):
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
    x = np.asarray(x)
    if x.dtype.kind != "f":
        x = x.astype(float)  # integers have no -inf
    largest = x.max(axis=axis, keepdims=True, initial=-np.inf)
    largest = np.where(largest == -np.inf, 0, largest)  # avoids inf - inf
    e = np.exp(x - largest)  # the largest cancels, but exp never overflows
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1, total)


def scaled_dot_product_attention(
        query, key, value, attn_mask=None, is_causal=False, scale=None,
        enable_gqa=False, *, softcap=None, return_weights=False):
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
        Boolean: True may attend. Floating point: added to the scores.
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

    References
    ----------
    Vaswani et al. (2017), section 3.2.1.
    """
    query, key, value = np.asarray(query), np.asarray(key), np.asarray(value)
    shape = score_shape(query, key, value, enable_gqa)
    check_options(shape, is_causal, softcap)
    if enable_gqa:  # (..., H_kv, S, d) -> (..., H, S, d)
        key = np.repeat(key, query.shape[-3] // key.shape[-3], axis=-3)
        value = np.repeat(value, query.shape[-3] // value.shape[-3], axis=-3)
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1])

    # 1. Relate. Scaling the query first is the same product, but float16
    #    does not overflow on the way. Python's float keeps float32 float32,
    #    NumPy's (np.sqrt) would not.
    scores = (query * float(scale)) @ key.swapaxes(-1, -2)  # (..., L, S)
    if softcap is not None:
        softcap = float(softcap)
        scores = softcap * np.tanh(scores / softcap)

    # 2. Normalise, over the keys that may be attended.
    if is_causal:
        scores = np.where(np.tri(*shape[-2:], dtype=bool), scores, -np.inf)
    if attn_mask is not None:
        attn_mask = np.asarray(attn_mask)
        check_mask(attn_mask, shape)
        if attn_mask.dtype == bool:
            scores = np.where(attn_mask, scores, -np.inf)
        else:
            scores = scores + attn_mask.astype(scores.dtype)
    weights = softmax(scores)  # each row sums to 1

    # 3. Extract: average the values with these weights.
    output = weights @ value  # (..., L, S) @ (..., S, d_v) -> (..., L, d_v)
    return (output, weights) if return_weights else output
