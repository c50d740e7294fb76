"""Attention in NumPy, a block of queries at a time: never an L × S matrix."""

import math
from functools import partial
from itertools import product

import numpy as np

from .checks import check_mask, check_options, score_shape
from .threads import share

ROWS = 256  # queries in a block; with is_causal fewer, which skips more
SCORES = 2**18  # a block takes in more heads while it has no more scores


def scaled_dot_product_attention(
        query, key, value, attn_mask=None, is_causal=False, scale=None,
        enable_gqa=False, *, softcap=None):
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
    """
    query, key, value = np.asarray(query), np.asarray(key), np.asarray(value)
    shape = score_shape(query, key, value, enable_gqa)
    check_options(shape, is_causal, softcap)
    *batch, L, S = shape if len(shape) > 2 else (1, *shape)
    if attn_mask is not None:
        attn_mask = np.asarray(attn_mask)
        check_mask(attn_mask, shape)
        attn_mask = np.broadcast_to(attn_mask, (*batch, L, S))  # no copy
    if enable_gqa:  # (..., H_kv, S, d) -> (..., H, S, d)
        key, value = (np.repeat(x, query.shape[-3] // x.shape[-3], axis=-3)
                      for x in (key, value))

    heads, dtype = math.prod(batch), np.result_type(query, np.float32)
    q, k, v = (  # the heads of all sequences: (heads, L or S, d)
        np.broadcast_to(x, (*batch, *x.shape[-2:]))
        .reshape(heads, *x.shape[-2:]).astype(dtype, copy=False)
        for x in (query, key, value))

    # e^x = 2^(x log2 e): exp2 takes half the time, the factor none, as part
    # of the scale. A float mask goes without: times this it could overflow.
    added = attn_mask is not None and attn_mask.dtype != bool
    exp, unit = (np.exp, 1) if added else (np.exp2, math.log2(math.e))
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    scale *= unit if softcap is None else 1 / float(softcap)

    output = np.empty((heads, L, v.shape[-1]), query.dtype)
    rows = min(3 * ROWS // 4, -(-L // 4)) if is_causal else min(ROWS, L)
    group = SCORES // (rows * S or 1) or 1
    future = ~np.tri(rows, dtype=bool)

    def attend(memory, head, row):
        some = slice(head, min(head + group, heads))
        block = slice(row, min(row + rows, L))
        seen = slice(block.stop if is_causal else S)
        # 1. Relate: (group, rows, d_k) @ (group, d_k, seen)
        size = some.stop - head, block.stop - row, seen.stop
        scores = memory[:math.prod(size)].reshape(size)
        np.matmul(q[some, block] * scale, k[some, seen].mT, out=scores)
        if softcap is not None:
            np.tanh(scores, out=scores)
            scores *= float(softcap) * unit

        # 2. Normalise, all but the division.
        if is_causal:  # only the newest keys can be in the future
            np.copyto(scores[..., row:], -np.inf,
                      where=future[:size[1], :size[1]])
        if attn_mask is not None:
            which = np.unravel_index(range(head, some.stop), batch)
            mask = attn_mask[(*which, block, seen)]
            if added:
                scores += mask
            else:
                np.copyto(scores, -np.inf, where=~mask)
        top = scores.max(-1, keepdims=True, initial=np.finfo(dtype).min)
        if not np.abs(top).max() <= 16:  # NaN too; else exp is safe as is
            scores -= top
        exp(scores, out=scores)
        sums = np.einsum("hij->hi", scores)[..., None]  # faster than sum
        # 3. Extract, then divide: that is less. No key allowed: 0 / 1.
        output[some, block] = scores @ v[some, seen] / np.where(sums, sums, 1)

    blocks = product(range(0, heads, group), range(0, L, rows or 1))
    share(attend, blocks, partial(np.empty, group * rows * S, dtype))
    return output.reshape(*shape[:-1], v.shape[-1])
