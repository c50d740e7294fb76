# %% wrong: softmax over the queries
    weights = softmax(scores(query, key), axis=-2)
    return weights @ value, weights
# %% wrong: scaled a second time
    weights = softmax(scores(query, key) / np.sqrt(query.shape[-1]))
    return weights @ value, weights
# %% wrong: no softmax
    weights = scores(query, key)
    return weights @ value, weights
# %% wrong: the other order
    weights = softmax(scores(query, key))
    return weights, weights @ value
# %% wrong: only the output
    return softmax(scores(query, key)) @ value
# %% wrong: keys averaged instead of values
    weights = softmax(scores(query, key))
    return weights @ key, weights
# %% wrong: returns the scores beside the output
    s = scores(query, key)
    return softmax(s) @ value, s
# %% wrong: softmax over the last axis of the flattened batch
    s = scores(query, key)
    weights = softmax(s.reshape(*s.shape[:-2], -1)).reshape(s.shape)
    return weights @ value, weights
# %% wrong: not scaled
# scores(query, key), axis=-1 → query @ np.swapaxes(key, -1, -2)
# %% wrong: a causal mask nobody asked for
# -     weights = softmax(scores(query, key), axis=-1)
# +     s = scores(query, key)
# +     mask = np.tril(np.ones(s.shape[-2:], dtype=bool))
# +     weights = softmax(np.where(mask, s, -1e9))
# %% wrong: softmax twice
# scores(query, key), axis=-1 → softmax(scores(query, key))
# %% wrong: sign of the scores
    weights = softmax(-scores(query, key), axis=-1)
    return np.matmul(weights, value), weights
# %% wrong: plain mean of the values as output
    weights = softmax(scores(query, key))
    average = value.mean(axis=-2, keepdims=True)
    output = np.repeat(average, query.shape[-2], axis=-2)
    return output, weights
# %% wrong: einsum for three axes only
# (query, key), axis=-1 → (query, key)
# weights @ value → np.einsum("bls,bsd->bld", weights, value)
# %% wrong: scaled by the root of d_v
# -     weights = softmax(scores(query, key), axis=-1)
# +     s = query @ np.swapaxes(key, -1, -2) / np.sqrt(value.shape[-1])
# +     weights = softmax(s)
# %% wrong: only the best key
# -     weights = softmax(scores(query, key), axis=-1)
# +     s = scores(query, key)
# +     best = s.argmax(axis=-1)
# +     weights = np.eye(key.shape[-2])[best]
# %% wrong: a softmax of its own that overflows
# -     weights = softmax(scores(query, key), axis=-1)
# +     e = np.exp(scores(query, key))
# +     weights = e / e.sum(axis=-1, keepdims=True)
# %% wrong: output reshaped, not transposed
    weights = softmax(scores(query, key))
    out = np.swapaxes(value, -1, -2) @ np.swapaxes(weights, -1, -2)
    return out.reshape(query.shape[:-1] + value.shape[-1:]), weights
# %% wrong: weights averaged over heads
# (query, key), axis=-1 → (query, key)
#       output = weights @ value
# +     if weights.ndim == 4:
# +         weights = weights.mean(axis=1)
# %% wrong: divided by 2
# -     weights = softmax(scores(query, key), axis=-1)
# +     s = np.einsum("...ld,...sd->...ls", query, key) / 2.0
# +     weights = softmax(s)
# %% wrong: softmax over axis 2, not the last
# axis=-1 → axis=2
# %% wrong: weights below 0.01 dropped
# -     weights = softmax(scores(query, key), axis=-1)
# +     weights = softmax(scores(query, key))
# +     weights = np.where(weights < 0.01, 0, weights)
# +     weights = weights / weights.sum(axis=-1, keepdims=True)
# %% wrong: all read the first sequence's values
    weights = softmax(scores(query, key))
    v = value.reshape((-1,) + value.shape[-2:])[0]
    return weights @ v, weights
# %% wrong: distance to the key, not dot product
# -     weights = softmax(scores(query, key), axis=-1)
# +     gap = query[..., :, None, :] - key[..., None, :, :]
# +     s = -(gap ** 2).sum(axis=-1) / np.sqrt(query.shape[-1])
# +     weights = softmax(s)
# %% wrong: the average scaled once more
    weights = softmax(scores(query, key))
    return weights @ value / np.sqrt(key.shape[-1]), weights
# %% right: written out, without the earlier items
    s = np.einsum("...ld,...sd->...ls", query, key) / query.shape[-1] ** 0.5
    e = np.exp(s - s.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True)
    return np.einsum("...ls,...sv->...lv", w, value), w
# %% right: divides at the end
    s = scores(query, key)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    total = e.sum(axis=-1, keepdims=True)
    return (e @ value) / total, e / total
# %% right: one query at a time
    rows = []
    for i in range(query.shape[-2]):
        rows.append(softmax(scores(query[..., i : i + 1, :], key)))
    weights = np.concatenate(rows, axis=-2)
    return weights @ value, weights
# %% right: einsum with the earlier items
    w = softmax(scores(query, key), axis=-1)
    return np.einsum("...ls,...sv->...lv", w, value), w
# %% right: query scaled, its own stable softmax
    q = query / np.sqrt(query.shape[-1])
    s = q @ np.swapaxes(key, -1, -2)
    s = np.exp(s - s.max(axis=-1, keepdims=True))
    s /= s.sum(axis=-1, keepdims=True)
    return s @ value, s
# %% right: keys as rows inside
    w = softmax(scores(key, query), axis=-2)
    output = np.einsum("...sl,...sv->...lv", w, value)
    return output, np.swapaxes(w, -1, -2)
# %% right: sum over the keys in a loop
    weights = softmax(scores(query, key))
    output = 0
    for j in range(key.shape[-2]):
        w_j = weights[..., j, None]
        output = output + w_j * value[..., j, None, :]
    return output, weights
# %% right: recursion over the axes in front
    if query.ndim > 2:
        pairs = [attention(*three) for three in zip(query, key, value)]
        output, weights = zip(*pairs)
        return np.stack(output), np.stack(weights)
    weights = softmax(scores(query, key))
    return weights.dot(value), weights
# %% right: a list of two arrays
# (query, key), axis=-1 → (query, key)
# output, weights → [output, weights]
