# %% wrong: no mask in the prefill, nor later
def extend(x, cache, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    if cache is not None:
        k = np.concatenate([cache[0], k], axis=-2)
        v = np.concatenate([cache[1], v], axis=-2)
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    return masked_softmax(s, np.ones(s.shape, dtype=bool)) @ v, (k, v)


# %% wrong: a mask in the prefill only
def extend(x, cache, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    may = np.tri(x.shape[-2], dtype=bool)
    if cache is not None:
        k = np.concatenate([cache[0], k], axis=-2)
        v = np.concatenate([cache[1], v], axis=-2)
        may = np.ones((x.shape[-2], k.shape[-2]), dtype=bool)
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    return masked_softmax(s, may) @ v, (k, v)


# %% wrong: the triangle in the upper left corner
def extend(x, cache, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    if cache is not None:
        k = np.concatenate([cache[0], k], axis=-2)
        v = np.concatenate([cache[1], v], axis=-2)
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    may = np.tri(q.shape[-2], k.shape[-2], dtype=bool)
    return masked_softmax(s, may) @ v, (k, v)


# %% wrong: a square mask, which does not fit a cache
def extend(x, cache, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    if cache is not None:
        k = np.concatenate([cache[0], k], axis=-2)
        v = np.concatenate([cache[1], v], axis=-2)
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    may = causal_mask(q.shape[-2], q.shape[-2])
    return masked_softmax(s, may) @ v, (k, v)


# %% wrong: new tokens in front of the old ones
def extend(x, cache, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    if cache is not None:
        k = np.concatenate([k, cache[0]], axis=-2)
        v = np.concatenate([v, cache[1]], axis=-2)
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    may = causal_mask(q.shape[-2], k.shape[-2])
    return masked_softmax(s, may) @ v, (k, v)


# %% wrong: lined up along the first axis
def extend(x, cache, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    if cache is not None:
        k = np.concatenate([cache[0], k])
        v = np.concatenate([cache[1], v])
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    may = causal_mask(q.shape[-2], k.shape[-2])
    return masked_softmax(s, may) @ v, (k, v)


# %% wrong: only the new keys are kept
def extend(x, cache, w_q, w_k, w_v):
    q, new_k, new_v = x @ w_q, x @ w_k, x @ w_v
    k, v = new_k, new_v
    if cache is not None:
        k = np.concatenate([cache[0], k], axis=-2)
        v = np.concatenate([cache[1], v], axis=-2)
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    may = causal_mask(q.shape[-2], k.shape[-2])
    return masked_softmax(s, may) @ v, (new_k, new_v)


# %% wrong: the cache is not read
def extend(x, cache, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    output = masked_softmax(s, causal_mask(*s.shape[-2:])) @ v
    if cache is not None:
        k = np.concatenate([cache[0], k], axis=-2)
        v = np.concatenate([cache[1], v], axis=-2)
    return output, (k, v)


# %% wrong: new tokens do not see themselves
def extend(x, cache, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    if cache is not None:
        k = np.concatenate([cache[0], k], axis=-2)
        v = np.concatenate([cache[1], v], axis=-2)
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    n, S = s.shape[-2:]
    may = np.tri(n, S, S - n - 1, dtype=bool)
    return masked_softmax(s, may) @ v, (k, v)


# %% wrong: √d_model
def extend(x, cache, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    if cache is not None:
        k = np.concatenate([cache[0], k], axis=-2)
        v = np.concatenate([cache[1], v], axis=-2)
    s = q @ k.swapaxes(-1, -2) / np.sqrt(x.shape[-1])
    may = causal_mask(q.shape[-2], k.shape[-2])
    return masked_softmax(s, may) @ v, (k, v)


# %% wrong: not divided
def extend(x, cache, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    if cache is not None:
        k = np.concatenate([cache[0], k], axis=-2)
        v = np.concatenate([cache[1], v], axis=-2)
    may = causal_mask(q.shape[-2], k.shape[-2])
    return masked_softmax(q @ k.swapaxes(-1, -2), may) @ v, (k, v)


# %% wrong: values from the keys' projection
def extend(x, cache, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_k
    if cache is not None:
        k = np.concatenate([cache[0], k], axis=-2)
        v = np.concatenate([cache[1], v], axis=-2)
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    may = causal_mask(q.shape[-2], k.shape[-2])
    return masked_softmax(s, may) @ v, (k, v)


# %% wrong: old weights on the first call's cache, kept in a global
kept = {}


def extend(x, cache, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    if kept:
        k = np.concatenate([kept["k"], k], axis=-2)
        v = np.concatenate([kept["v"], v], axis=-2)
    kept.update(k=k, v=v)
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    may = causal_mask(q.shape[-2], k.shape[-2])
    return masked_softmax(s, may) @ v, (k, v)


# %% right: one new token at a time, without a mask
def extend(x, cache, w_q, w_k, w_v):
    keys, values = cache if cache is not None else (
        (x @ w_k)[..., :0, :], (x @ w_v)[..., :0, :])
    outputs = []
    for i in range(x.shape[-2]):
        token = x[..., i:i + 1, :]
        keys = np.concatenate([keys, token @ w_k], axis=-2)
        values = np.concatenate([values, token @ w_v], axis=-2)
        s = token @ w_q @ keys.swapaxes(-1, -2) / w_q.shape[-1] ** 0.5
        e = np.exp(s - s.max(-1, keepdims=True))
        outputs.append(e @ values / e.sum(-1, keepdims=True))
    return np.concatenate(outputs, axis=-2), (keys, values)


# %% right: fused projections, einsum, finfo.min
def extend(x, cache, w_q, w_k, w_v):
    d_k = w_q.shape[1]
    qkv = x @ np.concatenate([w_q / np.sqrt(d_k), w_k, w_v], axis=1)
    q, k, v = np.split(qkv, [d_k, 2 * d_k], axis=-1)
    if cache is not None:
        k, v = (np.concatenate(pair, axis=-2) for pair in zip(cache, (k, v)))
    s = np.einsum("...ld,...sd->...ls", q, k)
    n, S = s.shape[-2:]
    s = np.where(np.tri(n, S, S - n, dtype=bool), s, np.finfo(float).min)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return np.einsum("...ls,...sv->...lv", w, v), [k, v]


# %% right: old and new scores side by side
def extend(x, cache, w_q, w_k, w_v):
    n, root = x.shape[-2], np.sqrt(w_q.shape[-1])
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    own = np.where(np.tri(n, dtype=bool),
                   q @ k.swapaxes(-1, -2) / root, -np.inf)
    if cache is None:
        old = np.empty((*x.shape[:-1], 0))
    else:
        old = q @ cache[0].swapaxes(-1, -2) / root
        k = np.concatenate([cache[0], k], axis=-2)
        v = np.concatenate([cache[1], v], axis=-2)
    s = np.concatenate([old, own], axis=-1)
    return masked_softmax(s, np.isfinite(s)) @ v, (k, v)


# %% cheat: the book's own cache -> imports qkv
def extend(x, cache, w_q, w_k, w_v):
    from qkv import causal_mask as triangle
    from qkv import reference

    k, v = x @ w_k, x @ w_v
    if cache is not None:
        k = np.concatenate([cache[0], k], axis=-2)
        v = np.concatenate([cache[1], v], axis=-2)
    may = triangle(x.shape[-2], k.shape[-2])
    return reference.scaled_dot_product_attention(x @ w_q, k, v, may), (k, v)


# %% cheat: the book's mask, called by name -> imports qkv
from qkv import causal_mask


def extend(x, cache, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    if cache is not None:
        k = np.concatenate([cache[0], k], axis=-2)
        v = np.concatenate([cache[1], v], axis=-2)
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    return masked_softmax(s, causal_mask(*s.shape[-2:])) @ v, (k, v)
