# %% wrong: the two shares swapped
    s = query @ key.swapaxes(-1, -2)
    a, b = softmax(s / np.sqrt(query.shape[-1])), softmax(s)
    return (a.max(-1) > limit).mean(), (b.max(-1) > limit).mean()
# %% wrong: divided by d_k
# like: the two shares swapped
# s / np.sqrt(query.shape[-1])), softmax(s → s), softmax(s / query.shape[-1]
# %% wrong: divided by the root of the number of keys
    s = query @ key.swapaxes(-1, -2)
    a, b = softmax(s), softmax(s / np.sqrt(s.shape[-1]))
    return (a.max(-1) > limit).mean(), (b.max(-1) > limit).mean()
# %% wrong: the largest weight each key receives
    s = query @ key.swapaxes(-1, -2)
    a, b = softmax(s), softmax(s / np.sqrt(query.shape[-1]))
    return (a.max(-2) > limit).mean(), (b.max(-2) > limit).mean()
# %% wrong: share of the weights, not of the queries
# like: the largest weight each key receives
# a.max(-2) > limit).mean(), (b.max(-2) → a > limit).mean(), (b
# %% wrong: a count
    s = query @ key.swapaxes(-1, -2)
    a, b = softmax(s), softmax(s / np.sqrt(query.shape[-1]))
    return (a.max(-1) > limit).sum(), (b.max(-1) > limit).sum()
# %% wrong: the limit of the example
# like: the largest weight each key receives
# 2) > limit).mean(), (b.max(-2) > limit → 1) > 0.9).mean(), (b.max(-1) > 0.9
# %% wrong: one share for each sequence
# like: a count
# sum(), (b.max(-1) > limit).sum() → mean(-1), (b.max(-1) > limit).mean(-1)
# %% wrong: softmax over the queries
    s = (query @ key.swapaxes(-1, -2)).swapaxes(-1, -2)
    a, b = softmax(s), softmax(s / np.sqrt(query.shape[-1]))
    return (a.max(-1) > limit).mean(), (b.max(-1) > limit).mean()
# %% wrong: weights divided, not scores
    a = softmax(query @ key.swapaxes(-1, -2)).max(-1)
    b = a / np.sqrt(query.shape[-1])
    return (a > limit).mean(), (b > limit).mean()
# %% wrong: above or equal
    scores = query @ np.swapaxes(key, -1, -2)
    root = np.sqrt(query.shape[-1])
    largest = [softmax(s).max(axis=-1) for s in (scores, scores / root)]
    return tuple(np.mean(m >= limit) for m in largest)
# %% wrong: divides by the root of L
    scores = query @ np.swapaxes(key, -1, -2)
    root = np.sqrt(query.shape[-2])
    first = softmax(scores).max(-1) > limit
    second = softmax(scores / root).max(-1) > limit
    return first.mean(), second.mean()
# %% wrong: divides by 8, whatever d_k
    scores = np.einsum("...ld,...sd->...ls", query, key)
    first = (softmax(scores).max(axis=-1) > limit).mean()
    second = (softmax(scores / 8).max(axis=-1) > limit).mean()
    return first, second
# %% wrong: counts weights, not queries
    scores = query @ np.swapaxes(key, -1, -2)
    n = scores[..., 0].size
    root = np.sqrt(query.shape[-1])
    first = (softmax(scores) > limit).sum() / n
    second = (softmax(scores / root) > limit).sum() / n
    return first, second
# %% wrong: looks at the first sequence only
# like: divides by the root of L
# query @ np.swapaxes(key, -1, -2) → query[0] @ np.swapaxes(key[0], -1, -2)
# shape[-2] → shape[-1]
# %% wrong: reshape where keys should turn
    *front, s, d_k = key.shape
    scores = query @ key.reshape(*front, d_k, s)
    first = softmax(scores).max(-1) > limit
    second = softmax(scores / np.sqrt(d_k)).max(-1) > limit
    return first.mean(), second.mean()
# %% wrong: divides the query in place
    shares = []
    for root in (1.0, np.sqrt(query.shape[-1])):
        query /= root
        weights = softmax(query @ np.swapaxes(key, -1, -2))
        shares.append(np.mean(weights.max(axis=-1) > limit))
    return shares
# %% wrong: transpose of 3 axes only
    scores = query @ key.transpose(0, 2, 1)
    root = query.shape[-1] ** 0.5
    first = softmax(scores).max(-1) > limit
    second = softmax(scores / root).max(-1) > limit
    return float(first.mean()), float(second.mean())
# %% wrong: exp overflows
    def share(scores):
        e = np.exp(scores)
        weights = e / e.sum(axis=-1, keepdims=True)
        return np.mean(weights.max(axis=-1) > limit)

    scores = query @ np.swapaxes(key, -1, -2)
    return share(scores), share(scores / np.sqrt(query.shape[-1]))
# %% wrong: any query saturates its sequence
    scores = query @ np.swapaxes(key, -1, -2)
    root = np.sqrt(query.shape[-1])
    first = softmax(scores).max(axis=(-1, -2)) > limit
    second = softmax(scores / root).max(axis=(-1, -2)) > limit
    return first.mean(), second.mean()
# %% wrong: mean largest weight, not a share
    scores = query @ np.swapaxes(key, -1, -2)
    root = np.sqrt(query.shape[-1])
    first = softmax(scores).max(axis=-1).mean()
    second = softmax(scores / root).max(axis=-1).mean()
    return first, second
# %% wrong: compares the mean weight per sequence
# like: any query saturates its sequence
# (scores).max(axis=(-1, -2)) → (scores).max(axis=-1).mean(axis=-1)
# root).max(axis=(-1, -2) → root).max(axis=-1).mean(axis=-1
# %% right: the query scaled before, a list returned
    shares = []
    for scale in (1, query.shape[-1] ** -0.5):
        s = np.einsum("...ld,...sd->...ls", query * scale, key)
        shares.append(float(np.mean(np.max(softmax(s), axis=-1) > limit)))
    return shares
# %% right: any weight above the limit
    def share(s):
        e = np.exp(s - s.max(-1, keepdims=True))
        above = e > limit * e.sum(-1, keepdims=True)
        return above.any(-1).mean()

    s = query @ np.moveaxis(key, -1, -2)
    return share(s), share(s / query.shape[-1] ** 0.5)
# %% right: one row after the other
    d_k = query.shape[-1]
    s = (query @ key.swapaxes(-1, -2)).reshape(-1, key.shape[-2])
    counts = [0, 0]
    for row in s:
        for i, r in enumerate((row, row / np.sqrt(d_k))):
            e = np.exp(r - r.max())
            counts[i] += e.max() / e.sum() > limit
    return counts[0] / len(s), counts[1] / len(s)
# %% right: largest weight as 1 / sum of exp
    scores = query @ np.swapaxes(key, -1, -2)
    gap = scores - scores.max(axis=-1, keepdims=True)
    undivided = 1 / np.exp(gap).sum(axis=-1)
    divided = 1 / np.exp(gap / query.shape[-1] ** 0.5).sum(axis=-1)
    return np.mean(undivided > limit), np.mean(divided > limit)
# %% right: both at once, stacked
    scores = query @ np.swapaxes(key, -1, -2)
    both = np.stack([scores, scores / np.sqrt(key.shape[-1])])
    above = np.any(softmax(both) > limit, axis=-1)
    undivided, divided = above.reshape(2, -1).mean(axis=1)
    return undivided, divided
# %% right: keys by queries inside, weights on axis -2
    scores = key @ np.swapaxes(query, -1, -2)  # (..., S, L)
    shares = []
    for root in (1, np.sqrt(query.shape[-1])):
        s = scores / root
        e = np.exp(s - s.max(axis=-2, keepdims=True))
        w = e / e.sum(axis=-2, keepdims=True)
        top = w.max(axis=-2)
        shares.append(np.count_nonzero(top > limit) / top.size)
    return shares
