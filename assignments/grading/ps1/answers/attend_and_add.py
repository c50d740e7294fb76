# %% wrong: x itself is missing
    return attention(x @ w_q, x @ w_k, x @ w_v)[0]
# %% wrong: adds the values instead of x
    v = x @ w_v
    return v + attention(x @ w_q, x @ w_k, v)[0]
# %% wrong: queries and keys swapped
    return x + attention(x @ w_k, x @ w_q, x @ w_v)[0]
# %% wrong: values not projected
    return x + attention(x @ w_q, x @ w_k, x)[0]
# %% wrong: w_v transposed
    return x + attention(x @ w_q, x @ w_k, x @ w_v.T)[0]
# %% wrong: x added twice
    return x + (x + attention(x @ w_q, x @ w_k, x @ w_v)[0])
# %% wrong: multiplied, not added
    return x * attention(x @ w_q, x @ w_k, x @ w_v)[0]
# %% wrong: keys from the queries' projection
    q = x @ w_q
    return x + attention(q, q, x @ w_v)[0]
# %% wrong: einsum for three axes only
    q = np.einsum("bld,dk->blk", x, w_q)
    k = np.einsum("bld,dk->blk", x, w_k)
    v = np.einsum("bld,de->ble", x, w_v)
    output, _ = attention(q, k, v)
    return x + output
# %% wrong: a causal mask nobody asked for
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    later = np.triu(np.ones(s.shape[-2:], dtype=bool), k=1)
    s = np.where(later, -1e9, s)
    s = np.exp(s - s.max(axis=-1, keepdims=True))
    w = s / s.sum(axis=-1, keepdims=True)
    return x + w @ v
# %% wrong: w_q w_k.T merged, root of d_model
    merged = w_q @ w_k.T
    output, _ = attention(x @ merged, x, x @ w_v)
    return x + output
# %% wrong: values projected twice
    values = x @ w_v
    out = attention(x @ w_q, x @ w_k, values)[0]
    return x + out @ w_v
# %% wrong: each position adds only its own value
    return x + x @ w_v
# %% wrong: softmax over the queries
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    s = np.einsum("...ld,...sd->...ls", q, k) / np.sqrt(q.shape[-1])
    e = np.exp(s - s.max(axis=-2, keepdims=True))
    return x + (e / e.sum(axis=-2, keepdims=True)) @ v
# %% wrong: uniform average of the values
    return x + (x @ w_v).mean(axis=-2, keepdims=True)
# %% wrong: only the first position's reading
# x + output → x + output[..., :1, :]
# %% wrong: queries scaled before attention scales
    q = x @ w_q / np.sqrt(w_q.shape[-1])
    output, _ = attention(q, x @ w_k, x @ w_v)
    return x + output
# %% wrong: all sequences joined into one
    flat = x.reshape(-1, x.shape[-1])
    output, _ = attention(flat @ w_q, flat @ w_k, flat @ w_v)
    return x + output.reshape(x.shape)
# %% wrong: x added to both parts of the tuple
    return x + attention(x @ w_q, x @ w_k, x @ w_v)
# %% wrong: all three projections transposed
# w_q, x @ w_k, x @ w_v → w_q.T, x @ w_k.T, x @ w_v.T
# %% wrong: half stream, half reading
    return (x + attention(x @ w_q, x @ w_k, x @ w_v)[0]) / 2
# %% wrong: x is changed in place
    output, _ = attention(x @ w_q, x @ w_k, x @ w_v)
    x += output
    return x
# %% wrong: filled into an array like x
    output, _ = attention(x @ w_q, x @ w_k, x @ w_v)
    y = np.empty_like(x)
    y[...] = x + output
    return y
# %% right: fused projections
    d_k = w_q.shape[1]
    qkv = x @ np.concatenate([w_q, w_k, w_v], axis=1)
    q, k, v = np.split(qkv, [d_k, 2 * d_k], axis=-1)
    output, _ = attention(q, k, v)
    return output + x
# %% right: einsum and everything written out
    q = np.einsum("...lm,mk->...lk", x, w_q) / np.sqrt(w_q.shape[-1])
    s = q @ np.swapaxes(x @ w_k, -1, -2)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return x + e / e.sum(axis=-1, keepdims=True) @ x @ w_v
# %% right: projects after averaging
    mixed, _ = attention(x @ w_q, x @ w_k, x)
    return np.add(x, mixed @ w_v)
# %% right: nothing reused, einsum
    q = np.einsum("...ld,dk->...lk", x, w_q) / w_q.shape[1] ** 0.5
    k = np.einsum("...ld,dk->...lk", x, w_k)
    v = np.einsum("...ld,de->...le", x, w_v)
    s = np.einsum("...lk,...sk->...ls", q, k)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    e = e / e.sum(axis=-1, keepdims=True)
    return x + np.einsum("...ls,...sd->...ld", e, v)
# %% right: sequence after sequence, on a copy
    y = np.array(x, dtype=float)
    for i in np.ndindex(x.shape[:-2]):
        part = x[i]
        output, _ = attention(part @ w_q, part @ w_k, part @ w_v)
        y[i] += output
    return y
# %% right: w_q w_k.T merged, its root corrected
    d_model, d_k = w_q.shape
    q = x @ (w_q @ w_k.T) * np.sqrt(d_model / d_k)
    output, _ = attention(q, x, x @ w_v)
    return np.add(x, output)
