# %% wrong: NaN in an empty row
def masked_softmax(scores, may):
    s = np.where(may, scores, -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


# %% wrong: −1e9, so an empty row looks everywhere
def masked_softmax(scores, may):
    s = np.where(may, scores, -1e9)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


# %% wrong: filled with 0
def masked_softmax(scores, may):
    s = np.where(may, scores, 0)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


# %% wrong: after softmax
def masked_softmax(scores, may):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) * may


# %% wrong: after softmax, and divided again
def masked_softmax(scores, may):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True)) * may
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


# %% wrong: the same with a small number in the denominator
def masked_softmax(scores, may):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True)) * may
    return e / (e.sum(axis=-1, keepdims=True) + 1e-9)


# %% wrong: the mask added as 0 and 1
def masked_softmax(scores, may):
    s = scores + may
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


# %% wrong: True taken for blocked
def masked_softmax(scores, may):
    s = np.where(may, -np.inf, scores)
    largest = s.max(axis=-1, keepdims=True)
    e = np.exp(s - np.where(np.isfinite(largest), largest, 0))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


# %% wrong: −10000 added, which scores can reach
def masked_softmax(scores, may):
    s = scores + np.where(may, 0, -1e4)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return w * np.any(may, axis=-1, keepdims=True)


# %% wrong: no maximum subtracted
def masked_softmax(scores, may):
    e = np.where(may, np.exp(scores), 0)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


# %% wrong: one maximum for all rows
def masked_softmax(scores, may):
    s = np.where(may, scores, -np.inf)
    e = np.exp(s - s.max())
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


# %% wrong: over the queries
def masked_softmax(scores, may):
    s = np.where(may, scores, -np.inf)
    largest = s.max(axis=-2, keepdims=True)
    e = np.exp(s - np.where(np.isfinite(largest), largest, 0))
    total = e.sum(axis=-2, keepdims=True)
    return e / np.where(total == 0, 1, total)


# %% wrong: writes into the scores
def masked_softmax(scores, may):
    scores[~np.broadcast_to(may, scores.shape)] = -np.inf
    largest = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


# %% right: finfo.min, and zeros afterwards
def masked_softmax(scores, may):
    s = np.where(may, scores, np.finfo(scores.dtype).min)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.where(may, e / e.sum(axis=-1, keepdims=True), 0)


# %% right: NaN replaced at the end, there are no gradients here
def masked_softmax(scores, may):
    s = np.where(may, scores, -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.nan_to_num(e / e.sum(axis=-1, keepdims=True))


# %% right: harmless scores for empty rows, then zeros
def masked_softmax(scores, may):
    empty = ~np.any(may, axis=-1, keepdims=True)
    s = np.where(may | empty, scores, -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) * ~empty


# %% right: row by row, only what is allowed
def masked_softmax(scores, may):
    may = np.broadcast_to(may, scores.shape)
    weights = np.zeros_like(scores)
    for row in np.ndindex(scores.shape[:-1]):
        keys = np.flatnonzero(may[row])
        if len(keys):
            e = np.exp(scores[row][keys] - scores[row][keys].max())
            weights[(*row, keys)] = e / e.sum()
    return weights


# %% right: the maximum over the allowed only, division where possible
def masked_softmax(scores, may):
    may = np.broadcast_to(may, scores.shape)
    top = np.max(scores, axis=-1, keepdims=True, where=may, initial=-np.inf)
    shifted = np.subtract(scores, top, out=np.zeros(scores.shape), where=may)
    e = np.exp(shifted) * may
    total = e.sum(axis=-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)


# %% cheat: borrowed from scipy -> imports scipy
def masked_softmax(scores, may):
    from scipy.special import softmax

    return softmax(np.where(may, scores, -1e30), axis=-1) * may
