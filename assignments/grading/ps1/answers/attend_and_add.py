# %% wrong: x itself is missing
def attend_and_add(x, w_q, w_k, w_v):
    return attention(x @ w_q, x @ w_k, x @ w_v)[0]


# %% wrong: adds the values instead of x
def attend_and_add(x, w_q, w_k, w_v):
    v = x @ w_v
    return v + attention(x @ w_q, x @ w_k, v)[0]


# %% wrong: queries and keys swapped
def attend_and_add(x, w_q, w_k, w_v):
    return x + attention(x @ w_k, x @ w_q, x @ w_v)[0]


# %% wrong: values not projected
def attend_and_add(x, w_q, w_k, w_v):
    return x + attention(x @ w_q, x @ w_k, x)[0]


# %% wrong: w_v transposed
def attend_and_add(x, w_q, w_k, w_v):
    return x + attention(x @ w_q, x @ w_k, x @ w_v.T)[0]


# %% wrong: x added twice
def attend_and_add(x, w_q, w_k, w_v):
    return x + (x + attention(x @ w_q, x @ w_k, x @ w_v)[0])


# %% wrong: multiplied, not added
def attend_and_add(x, w_q, w_k, w_v):
    return x * attention(x @ w_q, x @ w_k, x @ w_v)[0]


# %% wrong: keys from the queries' projection
def attend_and_add(x, w_q, w_k, w_v):
    q = x @ w_q
    return x + attention(q, q, x @ w_v)[0]


# %% right: fused projections
def attend_and_add(x, w_q, w_k, w_v):
    d_k = w_q.shape[1]
    qkv = x @ np.concatenate([w_q, w_k, w_v], axis=1)
    q, k, v = np.split(qkv, [d_k, 2 * d_k], axis=-1)
    output, _ = attention(q, k, v)
    return output + x


# %% right: einsum and everything written out
def attend_and_add(x, w_q, w_k, w_v):
    q = np.einsum("...lm,mk->...lk", x, w_q) / np.sqrt(w_q.shape[-1])
    s = q @ np.swapaxes(x @ w_k, -1, -2)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return x + e / e.sum(axis=-1, keepdims=True) @ x @ w_v


# %% right: projects after averaging
def attend_and_add(x, w_q, w_k, w_v):
    mixed, _ = attention(x @ w_q, x @ w_k, x)
    return np.add(x, mixed @ w_v)
