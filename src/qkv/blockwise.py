"""Attention in NumPy, a block of queries at a time: memory linear in length.

A block holds the scores of its queries for all keys, never those of all
queries. Chapter 10 derives it.
"""

import math
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from . import reference
from .checks import as_array, check_mask, check_options, is_calm, score_shape
from .masks import causal_mask, restrict
from .threads import share

ROWS = 256  # queries in a block; with is_causal fewer, which skips more
SCORES = 2**18  # a block takes in more heads while it has no more scores


@np.errstate(invalid="ignore", over="ignore")  # NaN in, NaN out: no news
def scaled_dot_product_attention(
        query: Any, key: Any, value: Any, attn_mask: Any = None, *,
        is_causal: bool = False, scale: float | None = None,
        enable_gqa: bool = False, softcap: float | None = None) -> np.ndarray:
    """softmax(Q Kᵀ / √d_k) V, holding the scores of a block for each thread.

    Parameters
    ----------
    query, key, value : ndarray, (..., L, d_k), (..., S, d_k), (..., S, d_v)
    attn_mask, is_causal, scale, enable_gqa, softcap
        As in `qkv.reference.scaled_dot_product_attention`; so are the errors.

    Returns
    -------
    output : ndarray, (..., L, d_v)

    Notes
    -----
    A block sees all keys (with `is_causal` up to its last query): its softmax
    needs no correction later, as where keys come in blocks too (Dao et al.,
    2022). Threads share the blocks (`qkv.threads`). float16 uses float32.
    Where a number is NaN, infinite or nearly too large, the reference does
    the work of each block.
    """
    query, key, value = map(
        as_array, ("query", "key", "value"), (query, key, value))
    shape = score_shape(query, key, value, enable_gqa)
    check_options(shape, query.dtype, is_causal=is_causal, scale=scale,
                  softcap=softcap, enable_gqa=enable_gqa)
    *batch, L, S = shape if len(shape) > 2 else (1, *shape)
    if enable_gqa:  # (..., H_kv, S, d) -> (..., H, S, d)
        key, value = (np.repeat(x, query.shape[-3] // x.shape[-3], axis=-3)
                      for x in (key, value))
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    heads, dtype = math.prod(batch), np.result_type(query, np.float32)
    q, k, v = (  # the heads of all sequences: (heads, L or S, d)
        np.broadcast_to(x, (*batch, *x.shape[-2:]))
        .reshape(heads, *x.shape[-2:]).astype(dtype, copy=False)
        for x in (query, key, value))
    calm = is_calm(map(_norm, (q, k, v)), scale, np.finfo(dtype).max)
    if attn_mask is not None:
        attn_mask = as_array("attn_mask", attn_mask)
        check_mask(attn_mask, shape)
        if attn_mask.dtype != bool:
            attn_mask = attn_mask.astype(query.dtype).astype(dtype)
            calm = calm and bool((attn_mask < np.inf).all())
        attn_mask = np.broadcast_to(attn_mask, (*batch, L, S))  # no copy

    output = np.empty((heads, L, v.shape[-1]), query.dtype)
    rows = min(3 * ROWS // 4, -(-L // 4)) if is_causal else min(ROWS, L)
    group = SCORES // (rows * S or 1) or 1
    future = ~np.tri(rows, dtype=bool)

    def attend(memory, head, row):
        some = slice(head, min(head + group, heads))
        block = slice(row, min(row + rows, L))
        seen = slice(block.stop if is_causal else S)
        mask = None
        if attn_mask is not None:
            which = np.unravel_index(range(head, some.stop), batch)
            mask = attn_mask[(*which, block, seen)]
        if not calm:
            if is_causal:
                mask = restrict(mask, causal_mask(block.stop - row, seen.stop))
            output[some, block] = reference.scaled_dot_product_attention(
                q[some, block], k[some, seen], v[some, seen], mask,
                scale=scale, softcap=softcap)
            return

        # 1. Relate: (group, rows, d_k) @ (group, d_k, seen)
        size = some.stop - head, block.stop - row, seen.stop
        scores = memory[:math.prod(size)].reshape(size)
        np.matmul(q[some, block] * scale, k[some, seen].mT, out=scores)
        if softcap is not None:
            np.tanh(np.divide(scores, float(softcap), out=scores), out=scores)
            scores *= float(softcap)

        # 2. Normalise, all but the division.
        if is_causal:  # only the newest keys can be in the future
            np.copyto(scores[..., row:], -np.inf,
                      where=future[:size[1], :size[1]])
        if mask is not None and mask.dtype == bool:
            np.copyto(scores, -np.inf, where=~mask)
        elif mask is not None:
            scores += mask
        scores -= scores.max(-1, keepdims=True, initial=np.finfo(dtype).min)
        np.exp(scores, out=scores)
        sums = scores.sum(-1, keepdims=True)
        # 3. Extract, then divide: that is less. No key allowed: 0 / 1.
        output[some, block] = scores @ v[some, seen] / np.where(sums, sums, 1)

    blocks = product(range(0, heads, group), range(0, L, rows or 1))
    share(attend, blocks, partial(np.empty, group * rows * S, dtype))
    return output.reshape(*shape[:-1], v.shape[-1])


def _norm(x):
    """Return the root of the sum of all squares."""
    return math.sqrt(np.vdot(x, x))
