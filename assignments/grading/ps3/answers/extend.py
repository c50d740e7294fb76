# %% wrong: no mask in the prefill, nor later
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    if cache is not None:
        k = np.concatenate([cache[0], k], axis=-2)
        v = np.concatenate([cache[1], v], axis=-2)
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    return masked_softmax(s, np.ones(s.shape, dtype=bool)) @ v, (k, v)
# %% wrong: a mask in the prefill only
# like: no mask in the prefill, nor later
#       q, k, v = x @ w_q, x @ w_k, x @ w_v
# +     may = np.tri(x.shape[-2], dtype=bool)
#           v = np.concatenate([cache[1], v], axis=-2)
# +         may = np.ones((x.shape[-2], k.shape[-2]), dtype=bool)
# np.ones(s.shape, dtype=bool) → may
# %% wrong: the triangle in the upper left corner
# - may = causal_mask(query.shape[-2], key.shape[-2])
# + may = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
# %% wrong: a square mask, which does not fit a cache
# [-2], key → [-2], query
# %% wrong: new tokens in front of the old ones
# cache[0], key → key, cache[0]
# cache[1], value → value, cache[1]
# %% wrong: lined up along the first axis
# [cache[0], key], axis=-2 → [cache[0], key]
# [cache[1], value], axis=-2 → [cache[1], value]
# %% wrong: only the new keys are kept
# -     query, key, value = x @ w_q, x @ w_k, x @ w_v
# +     query, new_k, new_v = x @ w_q, x @ w_k, x @ w_v
# +     key, value = new_k, new_v
# (key, value) → (new_k, new_v)
# %% wrong: the cache is not read
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    output = masked_softmax(s, causal_mask(*s.shape[-2:])) @ v
    if cache is not None:
        k = np.concatenate([cache[0], k], axis=-2)
        v = np.concatenate([cache[1], v], axis=-2)
    return output, (k, v)
# %% wrong: new tokens do not see themselves
# -     may = causal_mask(query.shape[-2], key.shape[-2])
# +     n, S = scores.shape[-2:]
# +     may = np.tri(n, S, S - n - 1, dtype=bool)
# %% wrong: √d_model
# query.shape[-1] → x.shape[-1]
# %% wrong: not divided
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    if cache is not None:
        k = np.concatenate([cache[0], k], axis=-2)
        v = np.concatenate([cache[1], v], axis=-2)
    may = causal_mask(q.shape[-2], k.shape[-2])
    return masked_softmax(q @ k.swapaxes(-1, -2), may) @ v, (k, v)
# %% wrong: values from the keys' projection
# x @ w_v → x @ w_k
# %% wrong: keys of all calls kept in a global
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
# %% wrong: divided by the root of d_v
# -     scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
# -     may = causal_mask(query.shape[-2], key.shape[-2])
# +     scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(value.shape[-1])
# +     may = causal_mask(scores.shape[-2], scores.shape[-1])
# %% wrong: divided by a fixed root
# -     scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
# -     may = causal_mask(query.shape[-2], key.shape[-2])
# +     scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(3)
# +     may = causal_mask(scores.shape[-2], scores.shape[-1])
# %% wrong: multiplied by the root of d_k
# -     scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
# -     may = causal_mask(query.shape[-2], key.shape[-2])
# +     scores = query @ np.swapaxes(key, -1, -2) * key.shape[-1] ** 0.5
# +     may = causal_mask(scores.shape[-2], scores.shape[-1])
# %% wrong: joined along axis 1
# [cache[0], key], axis=-2 → (cache[0], key), axis=1
# [cache[1], value], axis=-2 → (cache[1], value), axis=1
# key.swapaxes(-1, -2) / np.sqrt(query → np.swapaxes(key, -1, -2) / np.sqrt(key
# query.shape[-2], key.shape[-2] → scores.shape[-2], scores.shape[-1]
# %% wrong: transpose(0, 2, 1)
# [cache[0], key] → (cache[0], key)
# [cache[1], value] → (cache[1], value)
# key.swapaxes(-1, -2) / np.sqrt(query → key.transpose(0, 2, 1) / np.sqrt(key
# query.shape[-2], key.shape[-2] → scores.shape[-2], scores.shape[-1]
# %% wrong: scaled keys in the cache
    q, v = x @ w_q, x @ w_v
    k = x @ w_k / np.sqrt(w_k.shape[-1])
    if cache is not None:
        k = np.concatenate((cache[0], k), axis=-2)
        v = np.concatenate((cache[1], v), axis=-2)
    s = q @ np.swapaxes(k, -1, -2)
    may = causal_mask(s.shape[-2], s.shape[-1])
    return masked_softmax(s, may) @ v, (k, v)
# %% wrong: the old cache is changed
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    if cache is None:
        cache = [k, v]
    else:
        cache[0] = np.concatenate((cache[0], k), axis=-2)
        cache[1] = np.concatenate((cache[1], v), axis=-2)
    s = q @ np.swapaxes(cache[0], -1, -2) / np.sqrt(k.shape[-1])
    may = causal_mask(s.shape[-2], s.shape[-1])
    return masked_softmax(s, may) @ cache[1], cache
# %% wrong: own history, the cache given is ignored
seen = []


def extend(x, cache, w_q, w_k, w_v):
    if cache is None:
        seen.clear()
    seen.append(x)
    text = np.concatenate(seen, axis=-2)
    q, k, v = x @ w_q, text @ w_k, text @ w_v
    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(k.shape[-1])
    may = causal_mask(s.shape[-2], s.shape[-1])
    return masked_softmax(s, may) @ v, (k, v)
# %% wrong: one buffer for all branches
buffers = {}


def extend(x, cache, w_q, w_k, w_v):
    k, v = x @ w_k, x @ w_v
    n, S = x.shape[-2], 0
    if cache is None:
        buffers["k"] = np.zeros(k.shape[:-2] + (256, k.shape[-1]))
        buffers["v"] = np.zeros(v.shape[:-2] + (256, v.shape[-1]))
    else:
        S = cache[0].shape[-2]
    buffers["k"][..., S:S + n, :] = k
    buffers["v"][..., S:S + n, :] = v
    k = buffers["k"][..., :S + n, :]
    v = buffers["v"][..., :S + n, :]
    s = x @ w_q @ np.swapaxes(k, -1, -2) / np.sqrt(k.shape[-1])
    return masked_softmax(s, causal_mask(n, S + n)) @ v, (k, v)
# %% wrong: softmax without the maximum
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    if cache is not None:
        k = np.concatenate((cache[0], k), axis=-2)
        v = np.concatenate((cache[1], v), axis=-2)
    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(k.shape[-1])
    e = np.exp(s) * causal_mask(s.shape[-2], s.shape[-1])
    return e / e.sum(axis=-1, keepdims=True) @ v, (k, v)
# %% wrong: -1e4 lets large scores leak
# like: softmax without the maximum
# -     e = np.exp(s) * causal_mask(s.shape[-2], s.shape[-1])
# +     may = causal_mask(s.shape[-2], s.shape[-1])
# +     s = np.where(may, s, -1e4)
# +     e = np.exp(s - s.max(axis=-1, keepdims=True))
# %% wrong: keys in half precision
# like: softmax without the maximum
# x @ w_k → (x @ w_k).astype(np.float16)
# e = np.exp(s) * causal_mask → may = causal_mask
# e / e.sum(axis=-1, keepdims=True) → masked_softmax(s, may)
# %% wrong: divided by the fourth root
# like: scaled keys in the cache
# -     q, v = x @ w_q, x @ w_v
# -     k = x @ w_k / np.sqrt(w_k.shape[-1])
# +     q, k, v = x @ w_q, x @ w_k, x @ w_v
#           v = np.concatenate((cache[1], v), axis=-2)
# +     q = q / k.shape[-1] ** 0.25  # should be done to k as well
# %% wrong: sees only 4 tokens back
# like: softmax without the maximum
# -     e = np.exp(s) * causal_mask(s.shape[-2], s.shape[-1])
# -     return e / e.sum(axis=-1, keepdims=True) @ v, (k, v)
# +     L, S = s.shape[-2:]
# +     may = causal_mask(L, S) & ~np.tri(L, S, S - L - 5, dtype=bool)
# +     return masked_softmax(s, may) @ v, (k, v)
# %% wrong: root of len(x), the batch
# like: softmax without the maximum
# k.shape[-1] → len(x)
# e = np.exp(s) * causal_mask → may = causal_mask
# e / e.sum(axis=-1, keepdims=True) → masked_softmax(s, may)
# %% right: one new token at a time, without a mask
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
# %% right: einsum, pre-scaled queries
    d_k = w_q.shape[-1]
    q = np.einsum("...nd,...dk->...nk", x, w_q / d_k ** 0.5)
    k = np.einsum("...nd,...dk->...nk", x, w_k)
    v = np.einsum("...nd,...dk->...nk", x, w_v)
    if cache is not None:
        old_k, old_v = cache
        k = np.concatenate((old_k, k), axis=-2)
        v = np.concatenate((old_v, v), axis=-2)
    s = np.einsum("...nk,...mk->...nm", q, k)
    w = masked_softmax(s, causal_mask(q.shape[-2], k.shape[-2]))
    return np.einsum("...nm,...mv->...nv", w, v), (k, v)
# %% right: token by token, products and sums
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    S = 0
    if cache is not None:
        S = cache[0].shape[-2]
        k = np.concatenate([cache[0], k], axis=-2)
        v = np.concatenate([cache[1], v], axis=-2)
    outputs = []
    for i in range(x.shape[-2]):
        upto = S + i + 1
        s = (k[..., :upto, :] * q[..., i:i + 1, :]).sum(axis=-1)
        s = s / np.sqrt(k.shape[-1])
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        outputs.append((w[..., None] * v[..., :upto, :]).sum(axis=-2))
    return np.stack(outputs, axis=-2), (k, v)
# %% right: a helper for one token, called in a loop
    def one(token, cache):
        q, k, v = token @ w_q, token @ w_k, token @ w_v
        if cache is not None:
            k = np.append(cache[0], k, axis=-2)
            v = np.append(cache[1], v, axis=-2)
        s = q @ np.moveaxis(k, -1, -2) / np.sqrt(q.shape[-1])
        all_seen = np.ones((1, s.shape[-1]), dtype=bool)
        return masked_softmax(s, all_seen) @ v, (k, v)

    outputs = []
    for token in np.split(x, x.shape[-2], axis=-2):
        output, cache = one(token, cache)
        outputs.append(output)
    return np.concatenate(outputs, axis=-2), cache
# %% right: past and new apart, one softmax over both
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    n, root = x.shape[-2], np.sqrt(w_k.shape[-1])
    own = np.where(np.tri(n, dtype=bool), q @ k.swapaxes(-1, -2) / root,
                   -np.inf)
    if cache is None:
        old = (np.zeros_like(k[..., :0, :]), np.zeros_like(v[..., :0, :]))
    else:
        old = cache
    past = q @ old[0].swapaxes(-1, -2) / root
    s = np.concatenate([past, own], axis=-1)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    S = past.shape[-1]
    output = w[..., :S] @ old[1] + w[..., S:] @ v
    return output, (np.concatenate([old[0], k], axis=-2),
                    np.concatenate([old[1], v], axis=-2))
# %% right: a helper that fills a larger cache
    def join(old, new):
        S, n = old.shape[-2], new.shape[-2]
        out = np.empty(new.shape[:-2] + (S + n, new.shape[-1]))
        out[..., :S, :] = old
        out[..., S:, :] = new
        return out

    keys, values = x @ w_k, x @ w_v
    if cache is not None:
        keys, values = join(cache[0], keys), join(cache[1], values)
    n, total = x.shape[-2], keys.shape[-2]
    s = (x @ w_q) @ np.swapaxes(keys, -1, -2) * w_k.shape[-1] ** -0.5
    ahead = np.arange(total) > np.arange(total - n, total)[:, None]
    s = np.where(ahead, np.finfo(float).min, s)
    e = np.exp(s - s.max(-1, keepdims=True)) * ~ahead
    return (e / e.sum(-1, keepdims=True)) @ values, (keys, values)
# %% cheat: the book's own cache -> imports qkv
    from qkv import causal_mask as triangle
    from qkv import reference

    k, v = x @ w_k, x @ w_v
    if cache is not None:
        k = np.concatenate([cache[0], k], axis=-2)
        v = np.concatenate([cache[1], v], axis=-2)
    may = triangle(x.shape[-2], k.shape[-2])
    return reference.scaled_dot_product_attention(x @ w_q, k, v, may), (k, v)
# %% cheat: the book's mask, called by name -> imports qkv
# like: no mask in the prefill, nor later
# - def extend(x, cache, w_q, w_k, w_v):
# + from qkv import causal_mask
# +
# +
# + def extend(x, cache, w_q, w_k, w_v):
# np.ones(s.shape, dtype=bool) → causal_mask(*s.shape[-2:])
