# %% wrong: softmax over the queries
def attention(query, key, value):
    weights = softmax(scores(query, key), axis=-2)
    return weights @ value, weights


# %% wrong: scaled a second time
def attention(query, key, value):
    weights = softmax(scores(query, key) / np.sqrt(query.shape[-1]))
    return weights @ value, weights


# %% wrong: no softmax
def attention(query, key, value):
    weights = scores(query, key)
    return weights @ value, weights


# %% wrong: the other order
def attention(query, key, value):
    weights = softmax(scores(query, key))
    return weights, weights @ value


# %% wrong: only the output
def attention(query, key, value):
    return softmax(scores(query, key)) @ value


# %% wrong: keys averaged instead of values
def attention(query, key, value):
    weights = softmax(scores(query, key))
    return weights @ key, weights


# %% wrong: returns the scores beside the output
def attention(query, key, value):
    s = scores(query, key)
    return softmax(s) @ value, s


# %% wrong: softmax over the last axis of the flattened batch
def attention(query, key, value):
    s = scores(query, key)
    weights = softmax(s.reshape(*s.shape[:-2], -1)).reshape(s.shape)
    return weights @ value, weights


# %% right: written out, without the earlier items
def attention(query, key, value):
    s = np.einsum("...ld,...sd->...ls", query, key) / query.shape[-1] ** 0.5
    e = np.exp(s - s.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True)
    return np.einsum("...ls,...sv->...lv", w, value), w


# %% right: divides at the end
def attention(query, key, value):
    s = scores(query, key)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    total = e.sum(axis=-1, keepdims=True)
    return (e @ value) / total, e / total


# %% right: one query at a time
def attention(query, key, value):
    rows = []
    for i in range(query.shape[-2]):
        rows.append(softmax(scores(query[..., i : i + 1, :], key)))
    weights = np.concatenate(rows, axis=-2)
    return weights @ value, weights
