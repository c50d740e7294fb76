# %% wrong: no causal mask
def decoder(y, source, lengths, own, cross):
    T, S = y.shape[1], source.shape[1]
    causal = np.tri(T, dtype=bool)
    output, _ = cross_attention(y, y, *own)
    y = y + output
    real = (np.arange(S) < lengths[:, None])[:, None]
    output, _ = cross_attention(y, source, *cross, may=real)
    return y + output


# %% wrong: no padding mask
def decoder(y, source, lengths, own, cross):
    T, S = y.shape[1], source.shape[1]
    causal = np.tri(T, dtype=bool)
    output, _ = cross_attention(y, y, *own, may=causal)
    y = y + output
    real = (np.arange(S) < lengths[:, None])[:, None]
    output, _ = cross_attention(y, source, *cross)
    return y + output


# %% wrong: a causal mask on the source as well
def decoder(y, source, lengths, own, cross):
    T, S = y.shape[1], source.shape[1]
    causal = np.tri(T, dtype=bool)
    output, _ = cross_attention(y, y, *own, may=causal)
    y = y + output
    real = (np.arange(S) < lengths[:, None])[:, None]
    real = real & np.tri(T, S, dtype=bool)
    output, _ = cross_attention(y, source, *cross, may=real)
    return y + output


# %% wrong: a causal mask instead of the padding mask
def decoder(y, source, lengths, own, cross):
    T, S = y.shape[1], source.shape[1]
    causal = np.tri(T, dtype=bool)
    output, _ = cross_attention(y, y, *own, may=causal)
    y = y + output
    real = (np.arange(S) < lengths[:, None])[:, None]
    causal = np.tri(T, S, dtype=bool)
    output, _ = cross_attention(y, source, *cross, may=causal)
    return y + output


# %% wrong: the first sum is missing
def decoder(y, source, lengths, own, cross):
    T, S = y.shape[1], source.shape[1]
    causal = np.tri(T, dtype=bool)
    output, _ = cross_attention(y, y, *own, may=causal)
    y = output
    real = (np.arange(S) < lengths[:, None])[:, None]
    output, _ = cross_attention(y, source, *cross, may=real)
    return y + output


# %% wrong: the second sum is missing
def decoder(y, source, lengths, own, cross):
    T, S = y.shape[1], source.shape[1]
    causal = np.tri(T, dtype=bool)
    output, _ = cross_attention(y, y, *own, may=causal)
    y = y + output
    real = (np.arange(S) < lengths[:, None])[:, None]
    output, _ = cross_attention(y, source, *cross, may=real)
    return output


# %% wrong: the source is read by the old y
def decoder(y, source, lengths, own, cross):
    T, S = y.shape[1], source.shape[1]
    causal = np.tri(T, dtype=bool)
    real = (np.arange(S) < lengths[:, None])[:, None]
    output, _ = cross_attention(y, y, *own, may=causal)
    total = y + output
    output, _ = cross_attention(y, source, *cross, may=real)
    return total + output


# %% wrong: one word of padding too many
def decoder(y, source, lengths, own, cross):
    T, S = y.shape[1], source.shape[1]
    causal = np.tri(T, dtype=bool)
    output, _ = cross_attention(y, y, *own, may=causal)
    y = y + output
    real = (np.arange(S) <= lengths[:, None])[:, None]
    output, _ = cross_attention(y, source, *cross, may=real)
    return y + output


# %% wrong: one word too few
def decoder(y, source, lengths, own, cross):
    T, S = y.shape[1], source.shape[1]
    causal = np.tri(T, dtype=bool)
    output, _ = cross_attention(y, y, *own, may=causal)
    y = y + output
    real = (np.arange(S) < lengths[:, None] - 1)[:, None]
    output, _ = cross_attention(y, source, *cross, may=real)
    return y + output


# %% wrong: a position does not see itself
def decoder(y, source, lengths, own, cross):
    T, S = y.shape[1], source.shape[1]
    causal = np.tri(T, k=-1, dtype=bool)
    output, _ = cross_attention(y, y, *own, may=causal)
    y = y + output
    real = (np.arange(S) < lengths[:, None])[:, None]
    output, _ = cross_attention(y, source, *cross, may=real)
    return y + output


# %% wrong: one word of the future
def decoder(y, source, lengths, own, cross):
    T, S = y.shape[1], source.shape[1]
    causal = np.tri(T, k=1, dtype=bool)
    output, _ = cross_attention(y, y, *own, may=causal)
    y = y + output
    real = (np.arange(S) < lengths[:, None])[:, None]
    output, _ = cross_attention(y, source, *cross, may=real)
    return y + output


# %% wrong: the past is hidden
def decoder(y, source, lengths, own, cross):
    T, S = y.shape[1], source.shape[1]
    causal = np.tri(T, dtype=bool).T
    output, _ = cross_attention(y, y, *own, may=causal)
    y = y + output
    real = (np.arange(S) < lengths[:, None])[:, None]
    output, _ = cross_attention(y, source, *cross, may=real)
    return y + output


# %% wrong: the matrices are exchanged
def decoder(y, source, lengths, own, cross):
    T, S = y.shape[1], source.shape[1]
    causal = np.tri(T, dtype=bool)
    output, _ = cross_attention(y, y, *cross, may=causal)
    y = y + output
    real = (np.arange(S) < lengths[:, None])[:, None]
    output, _ = cross_attention(y, source, *own, may=real)
    return y + output


# %% wrong: one set of matrices
def decoder(y, source, lengths, own, cross):
    T, S = y.shape[1], source.shape[1]
    causal = np.tri(T, dtype=bool)
    output, _ = cross_attention(y, y, *own, may=causal)
    y = y + output
    real = (np.arange(S) < lengths[:, None])[:, None]
    output, _ = cross_attention(y, source, *own, may=real)
    return y + output


# %% wrong: padding set to zero instead of masked
def decoder(y, source, lengths, own, cross):
    T, S = y.shape[1], source.shape[1]
    causal = np.tri(T, dtype=bool)
    output, _ = cross_attention(y, y, *own, may=causal)
    y = y + output
    real = (np.arange(S) < lengths[:, None])[:, None]
    source = source * real.swapaxes(1, 2)
    output, _ = cross_attention(y, source, *cross)
    return y + output


# %% wrong: the mask lies over the queries
def decoder(y, source, lengths, own, cross):
    T, S = y.shape[1], source.shape[1]
    causal = np.tri(T, dtype=bool)
    output, _ = cross_attention(y, y, *own, may=causal)
    y = y + output
    real = (np.arange(S) < lengths[:, None])[..., None]
    output, _ = cross_attention(y, source, *cross, may=real)
    return y + output


# %% wrong: the first length for all
def decoder(y, source, lengths, own, cross):
    T, S = y.shape[1], source.shape[1]
    causal = np.tri(T, dtype=bool)
    output, _ = cross_attention(y, y, *own, may=causal)
    y = y + output
    real = (np.arange(S) < lengths[:1, None])[:, None]
    output, _ = cross_attention(y, source, *cross, may=real)
    return y + output


# %% wrong: the weights are added
def decoder(y, source, lengths, own, cross):
    T, S = y.shape[1], source.shape[1]
    causal = np.tri(T, dtype=bool)
    output, _ = cross_attention(y, y, *own, may=causal)
    y = y + output
    real = (np.arange(S) < lengths[:, None])[:, None]
    output, _ = cross_attention(y, source, *cross, may=real)
    return y + _ @ source


# %% right: with the given attention, written out
def decoder(y, source, lengths, own, cross):
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
def decoder(y, source, lengths, own, cross):
    rows = []
    causal = np.tril(np.ones((y.shape[1],) * 2, bool))
    for one, words, n in zip(y, source, lengths):
        output, _ = cross_attention(one, one, *own, causal)
        one = one + output
        output, _ = cross_attention(one, words[:n], *cross)
        rows.append(one + output)
    return np.stack(rows)


# %% right: word by word, as when writing
def decoder(y, source, lengths, own, cross):
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
def decoder(y, source, lengths, own, cross):
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
