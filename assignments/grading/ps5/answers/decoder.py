# %% wrong: no causal mask
# own, may=causal → own
# %% wrong: no padding mask
# cross, may=real → cross
# %% wrong: a causal mask on the source as well
#       real = (np.arange(S) < lengths[:, None])[:, None]  # (B, 1, S)
# +     real = real & np.tri(T, S, dtype=bool)
# %% wrong: a causal mask instead of the padding mask
# -     output, _ = cross_attention(y, source, *cross, may=real)
# +     causal = np.tri(T, S, dtype=bool)
# +     output, _ = cross_attention(y, source, *cross, may=causal)
# %% wrong: the first sum is missing
# y = y + output → y = output
# %% wrong: the second sum is missing
# return y + output → return output
# %% wrong: the source is read by the old y
# -     output, _ = cross_attention(y, y, *own, may=causal)
# -     y = y + output
#       real = (np.arange(S) < lengths[:, None])[:, None]  # (B, 1, S)
# +     output, _ = cross_attention(y, y, *own, may=causal)
# +     total = y + output
# return y → return total
# %% wrong: one word of padding too many
# < lengths[:, None])[:, None]  # (B, 1, S) → <= lengths[:, None])[:, None]
# %% wrong: one word too few
# None])[:, None]  # (B, 1, S) → None] - 1)[:, None]
# %% wrong: a position does not see itself
# T, dtype → T, k=-1, dtype
# %% wrong: one word of the future
# T, dtype → T, k=1, dtype
# %% wrong: the past is hidden
# (T, dtype=bool) → (T, dtype=bool).T
# %% wrong: the matrices are exchanged
# y, *own → y, *cross
# source, *cross → source, *own
# %% wrong: one set of matrices
# cross, may → own, may
# %% wrong: padding set to zero instead of masked
# -     output, _ = cross_attention(y, source, *cross, may=real)
# +     source = source * real.swapaxes(1, 2)
# +     output, _ = cross_attention(y, source, *cross)
# %% wrong: the mask lies over the queries
# [:, None]  # (B, 1, S) → [..., None]
# %% wrong: the first length for all
# [:, None])[:, None]  # (B, 1, S) → [:1, None])[:, None]
# %% wrong: the weights are added
# return y + output → return y + _ @ source
# %% wrong: the source's lengths hide the target too
    T, S = y.shape[1], source.shape[1]
    lengths = lengths[:, None, None]
    causal = np.tri(T, dtype=bool) & (np.arange(T) < lengths)
    z = y + cross_attention(y, y, *own, causal)[0]
    return z + cross_attention(z, source, *cross, np.arange(S) < lengths)[0]
# %% wrong: a position sees only itself
    T, S = y.shape[1], source.shape[1]
    z = y + cross_attention(y, y, *own, np.eye(T, dtype=bool))[0]
    real = np.arange(S) < lengths[:, None, None]
    return z + cross_attention(z, source, *cross, real)[0]
# %% wrong: sees itself and just the one before
    T, S = y.shape[1], source.shape[1]
    t = np.arange(T)
    gap = t[:, None] - t
    z = y + cross_attention(y, y, *own, (gap == 0) | (gap == 1))[0]
    real = np.arange(S) < lengths[:, None, None]
    return z + cross_attention(z, source, *cross, real)[0]
# %% wrong: cross triple unpacked as k, q, v
    w_q, w_k, w_v = own
    causal = np.tri(y.shape[1], dtype=bool)
    z = y + attention(y @ w_q, y @ w_k, y @ w_v, causal)[0]
    w_k, w_q, w_v = cross
    real = np.arange(source.shape[1]) < lengths[:, None, None]
    return z + attention(z @ w_q, source @ w_k, source @ w_v, real)[0]
# %% wrong: batch of two hard-coded
    T, S = y.shape[1], source.shape[1]
    z = y + cross_attention(y, y, *own, np.tri(T, dtype=bool))[0]
    result = z.copy()
    for b in range(2):
        real = np.arange(S) < lengths[b]
        result[b] += cross_attention(z[b], source[b], *cross, real)[0]
    return result
# %% wrong: own attention without the scale
    def look(q, k, v, may):
        scores = np.where(may, q @ k.swapaxes(-1, -2), -np.inf)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True) @ v

    causal = np.tri(y.shape[1], dtype=bool)
    z = y + look(y @ own[0], y @ own[1], y @ own[2], causal)
    real = np.arange(source.shape[1]) < lengths[:, None, None]
    return z + look(z @ cross[0], source @ cross[1], source @ cross[2], real)
# %% wrong: own w_q asks in both steps
# like: cross triple unpacked as k, q, v
# z = y → y = y
# w_k, w_q → _, w_k
# z + attention(z → y + attention(y
# %% wrong: the target cut at the source's length
    causal = np.tri(y.shape[1], dtype=bool)
    z = y + cross_attention(y, y, *own, causal)[0]
    for b, n in enumerate(lengths):
        part, x = z[b, :n], source[b, :n]
        z[b, :n] = part + cross_attention(part, x, *cross)[0]
    return z
# %% wrong: only the last word hidden from the rest
    T, S = y.shape[1], source.shape[1]
    may = np.ones((T, T), dtype=bool)
    may[:-1, -1] = False
    z = y + cross_attention(y, y, *own, may)[0]
    real = np.arange(S) < lengths[:, None, None]
    return z + cross_attention(z, source, *cross, real)[0]
# %% wrong: values of step two projected twice
    T, S = y.shape[1], source.shape[1]
    z = y + cross_attention(y, y, *own, np.tri(T, dtype=bool))[0]
    real = np.arange(S) < lengths[:, None, None]
    found = cross_attention(z, source @ cross[2], *cross, real)[0]
    return z + found
# %% wrong: what y found in itself asks, and is dropped
# like: a position sees only itself
# np.eye → np.tri
# return z → return y
# %% wrong: the longest length for all
    T = y.shape[1]
    z = y + cross_attention(y, y, *own, np.tri(T, dtype=bool))[0]
    return z + cross_attention(z, source[:, :max(lengths)], *cross)[0]
# %% wrong: a mask (B, S), without an axis for queries
# like: a position sees only itself
# np.eye → np.tri
# None, None → None
# %% wrong: y is changed in place
    T, S = y.shape[1], source.shape[1]
    real = (np.arange(S) < lengths[:, None])[:, None]
    y += cross_attention(y, y, *own, np.tri(T, dtype=bool))[0]
    y += cross_attention(y, source, *cross, real)[0]
    return y
# %% wrong: padding set to 0 in place, and hidden
    T, S = y.shape[1], source.shape[1]
    real = np.arange(S) < lengths[:, None]
    source[~real] = 0
    z = y + cross_attention(y, y, *own, np.tri(T, dtype=bool))[0]
    return z + cross_attention(z, source, *cross, real[:, None])[0]
# %% wrong: the real words are hidden
    T, S = y.shape[1], source.shape[1]
    padding = (np.arange(S) >= lengths[:, None])[:, None]
    z = y + cross_attention(y, y, *own, np.tri(T, dtype=bool))[0]
    return z + cross_attention(z, source, *cross, padding)[0]
# %% wrong: both, output and weights, returned
    T, S = y.shape[1], source.shape[1]
    real = (np.arange(S) < lengths[:, None])[:, None]
    z = y + cross_attention(y, y, *own, np.tri(T, dtype=bool))[0]
    return cross_attention(z, source, *cross, real)
# %% wrong: padding of just one word is read
    T, S = y.shape[1], source.shape[1]
    n = np.where(lengths < S - 1, lengths, S)
    real = (np.arange(S) < n[:, None])[:, None]
    z = y + cross_attention(y, y, *own, np.tri(T, dtype=bool))[0]
    return z + cross_attention(z, source, *cross, real)[0]
# %% right: with the given attention, written out
    B, T, d = y.shape
    S = source.shape[1]
    w_q, w_k, w_v = own
    future = np.triu(np.ones((T, T)), k=1).astype(bool)
    y = y + attention(y @ w_q, y @ w_k, y @ w_v, ~future)[0]
    w_q, w_k, w_v = cross
    real = np.zeros((B, 1, S), bool)
    for b, n in enumerate(lengths):
        real[b, :, :n] = True
    return y + attention(y @ w_q, source @ w_k, source @ w_v, real)[0]
# %% right: one sentence at a time, padding cut off
    rows = []
    causal = np.tril(np.ones((y.shape[1],) * 2, bool))
    for one, words, n in zip(y, source, lengths):
        output, _ = cross_attention(one, one, *own, causal)
        one = one + output
        output, _ = cross_attention(one, words[:n], *cross)
        rows.append(one + output)
    return np.stack(rows)
# %% right: word by word, as when writing
    S = source.shape[1]
    real = (np.arange(S)[None] < lengths[:, None])[:, None]
    key, value = source @ cross[1], source @ cross[2]  # once
    rows = []
    for t in range(y.shape[1]):
        x, past = y[:, t : t + 1], y[:, : t + 1]
        x = x + attention(x @ own[0], past @ own[1], past @ own[2])[0]
        x = x + attention(x @ cross[0], key, value, real)[0]
        rows.append(x)
    return np.concatenate(rows, axis=1)
# %% right: numbers of minus infinity
    def softmax(s):
        e = np.exp(s - s.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def read(asks, asked, w, mask):
        s = (asks @ w[0]) @ np.swapaxes(asked @ w[1], 1, 2)
        return softmax(s / w[0].shape[1] ** 0.5 + mask) @ (asked @ w[2])

    T, S = y.shape[1], source.shape[1]
    y = y + read(y, y, own, np.triu(np.full((T, T), -np.inf), 1))
    mask = np.where(np.arange(S) >= lengths[:, None], -1e30, 0.0)
    return y + read(y, source, cross, mask[:, None, :])
# %% right: position by position, with attention itself
    B, T, d = y.shape
    z = np.empty((B, T, d))
    for b in range(B):
        x = source[b, :int(lengths[b])]
        for t in range(T):
            me, past = y[b, t:t + 1], y[b, :t + 1]
            me = me + attention(me @ own[0], past @ own[1], past @ own[2])[0]
            found = attention(me @ cross[0], x @ cross[1], x @ cross[2])[0]
            z[b, t] = (me + found)[0]
    return z
# %% right: attention written anew, weights set to 0
    def step(a, x, w, may):
        q = np.einsum("btd,dk->btk", a, w[0]) / w[0].shape[1] ** 0.5
        k = np.einsum("bsd,dk->bsk", x, w[1])
        v = np.einsum("bsd,dv->bsv", x, w[2])
        scores = np.einsum("btk,bsk->bts", q, k)
        scores = np.where(may, scores, np.finfo(float).min)
        e = np.exp(scores - scores.max(axis=2, keepdims=True)) * may
        e = e / e.sum(axis=2)[:, :, None]
        return a + np.einsum("bts,bsd->btd", e, v)

    T, S = y.shape[1], source.shape[1]
    z = step(y, y, own, ~np.triu(np.ones((T, T), bool), 1))
    return step(z, source, cross, np.arange(S) < lengths.reshape(-1, 1, 1))
# %% right: cut to the longest sentence
    T, longest = y.shape[1], max(lengths)
    source = source[:, :longest]
    mask = np.zeros((len(y), 1, longest), dtype=bool)
    for b in range(len(y)):
        mask[b, 0, :lengths[b]] = True
    past = np.tril(np.ones((1, T, T))) == 1
    z = y + cross_attention(y, y, *own, may=past)[0]
    return z + cross_attention(z, source, *cross, may=mask)[0]
