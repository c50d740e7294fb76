# %% wrong: the two shares swapped
def saturated(query, key, limit):
    s = query @ key.swapaxes(-1, -2)
    a, b = softmax(s / np.sqrt(query.shape[-1])), softmax(s)
    return (a.max(-1) > limit).mean(), (b.max(-1) > limit).mean()


# %% wrong: divided by d_k
def saturated(query, key, limit):
    s = query @ key.swapaxes(-1, -2)
    a, b = softmax(s), softmax(s / query.shape[-1])
    return (a.max(-1) > limit).mean(), (b.max(-1) > limit).mean()


# %% wrong: divided by the root of the number of keys
def saturated(query, key, limit):
    s = query @ key.swapaxes(-1, -2)
    a, b = softmax(s), softmax(s / np.sqrt(s.shape[-1]))
    return (a.max(-1) > limit).mean(), (b.max(-1) > limit).mean()


# %% wrong: the largest weight each key receives
def saturated(query, key, limit):
    s = query @ key.swapaxes(-1, -2)
    a, b = softmax(s), softmax(s / np.sqrt(query.shape[-1]))
    return (a.max(-2) > limit).mean(), (b.max(-2) > limit).mean()


# %% wrong: share of the weights, not of the queries
def saturated(query, key, limit):
    s = query @ key.swapaxes(-1, -2)
    a, b = softmax(s), softmax(s / np.sqrt(query.shape[-1]))
    return (a > limit).mean(), (b > limit).mean()


# %% wrong: a count
def saturated(query, key, limit):
    s = query @ key.swapaxes(-1, -2)
    a, b = softmax(s), softmax(s / np.sqrt(query.shape[-1]))
    return (a.max(-1) > limit).sum(), (b.max(-1) > limit).sum()


# %% wrong: the limit of the example
def saturated(query, key, limit):
    s = query @ key.swapaxes(-1, -2)
    a, b = softmax(s), softmax(s / np.sqrt(query.shape[-1]))
    return (a.max(-1) > 0.9).mean(), (b.max(-1) > 0.9).mean()


# %% wrong: one share for each sequence
def saturated(query, key, limit):
    s = query @ key.swapaxes(-1, -2)
    a, b = softmax(s), softmax(s / np.sqrt(query.shape[-1]))
    return (a.max(-1) > limit).mean(-1), (b.max(-1) > limit).mean(-1)


# %% wrong: softmax over the queries
def saturated(query, key, limit):
    s = (query @ key.swapaxes(-1, -2)).swapaxes(-1, -2)
    a, b = softmax(s), softmax(s / np.sqrt(query.shape[-1]))
    return (a.max(-1) > limit).mean(), (b.max(-1) > limit).mean()


# %% wrong: weights divided, not scores
def saturated(query, key, limit):
    a = softmax(query @ key.swapaxes(-1, -2)).max(-1)
    b = a / np.sqrt(query.shape[-1])
    return (a > limit).mean(), (b > limit).mean()


# %% right: the query scaled before, a list returned
def saturated(query, key, limit):
    shares = []
    for scale in (1, query.shape[-1] ** -0.5):
        s = np.einsum("...ld,...sd->...ls", query * scale, key)
        shares.append(float(np.mean(np.max(softmax(s), axis=-1) > limit)))
    return shares


# %% right: any weight above the limit
def saturated(query, key, limit):
    def share(s):
        e = np.exp(s - s.max(-1, keepdims=True))
        above = e > limit * e.sum(-1, keepdims=True)
        return above.any(-1).mean()

    s = query @ np.moveaxis(key, -1, -2)
    return share(s), share(s / query.shape[-1] ** 0.5)


# %% right: one row after the other
def saturated(query, key, limit):
    d_k = query.shape[-1]
    s = (query @ key.swapaxes(-1, -2)).reshape(-1, key.shape[-2])
    counts = [0, 0]
    for row in s:
        for i, r in enumerate((row, row / np.sqrt(d_k))):
            e = np.exp(r - r.max())
            counts[i] += e.max() / e.sum() > limit
    return counts[0] / len(s), counts[1] / len(s)
