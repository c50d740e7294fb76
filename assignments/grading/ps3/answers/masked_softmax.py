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


# %% wrong: the same, plus a small number below
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


# %% wrong: the mask multiplied with the scores
def masked_softmax(scores, may):
    s = scores * may
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


# %% wrong: fill -1e5 beats allowed scores
def masked_softmax(scores, may):
    s = np.where(may, scores, -1e5)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return np.where(np.any(may, axis=-1, keepdims=True), w, 0)


# %% wrong: -2e6 added, and a forbidden score ties
def masked_softmax(scores, may):
    s = scores + np.where(may, 0.0, -2e6)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return w * np.any(may, axis=-1, keepdims=True)


# %% wrong: the mean subtracted, which overflows
def masked_softmax(scores, may):
    may = np.broadcast_to(may, scores.shape)
    count = np.maximum(may.sum(axis=-1, keepdims=True), 1)
    kept = np.where(may, scores, 0)
    mean = kept.sum(axis=-1, keepdims=True) / count
    e = np.where(may, np.exp(np.where(may, scores - mean, 0)), 0)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


# %% wrong: maximum starts at 0
def masked_softmax(scores, may):
    may = np.broadcast_to(may, scores.shape)
    top = np.max(scores, axis=-1, keepdims=True, where=may, initial=0)
    e = np.exp(np.where(may, scores - top, -np.inf))
    total = e.sum(axis=-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)


# %% wrong: index s[~may], no broadcasting
def masked_softmax(scores, may):
    s = scores.copy()
    s[~may] = -np.inf
    top = s.max(axis=-1, keepdims=True)
    top[np.isinf(top)] = 0
    e = np.exp(s - top)
    total = e.sum(axis=-1, keepdims=True)
    total[total == 0] = 1
    return e / total


# %% wrong: axis 1 instead of the last
def masked_softmax(scores, may):
    s = np.where(may, scores, -np.inf)
    top = s.max(axis=1, keepdims=True)
    e = np.exp(s - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=1, keepdims=True)
    return e / np.where(total == 0, 1, total)


# %% wrong: changes the caller's mask
def masked_softmax(scores, may):
    empty = ~may.any(axis=-1)
    may[empty] = True
    s = np.where(may, scores, -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return np.where(empty[..., None], 0.0, w)


# %% wrong: float32 cast
def masked_softmax(scores, may):
    s = np.where(may, scores, -np.inf).astype(np.float32)
    top = s.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, np.float32(0))
    e = np.exp(s - top)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, np.float32(1), total)


# %% wrong: small differences cut at -10
def masked_softmax(scores, may):
    s = np.where(may, scores, -np.inf)
    top = s.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    e = np.exp(np.clip(s - top, -10, 0)) * may
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


# %% wrong: [:, None], two axes only
def masked_softmax(scores, may):
    s = np.where(may, scores, -np.inf)
    top = s.max(axis=-1)
    top[~np.isfinite(top)] = 0
    e = np.exp(s - top[:, None])
    total = e.sum(axis=-1)
    total[total == 0] = 1
    return e / total[:, None]


# %% wrong: scores of -1e6 count as forbidden
def masked_softmax(scores, may):
    s = np.where(may, scores, scores.min() - 1000)
    e = np.exp(s - s.max(axis=-1, keepdims=True)) * may
    total = np.abs(e).sum(axis=-1, keepdims=True)
    w = e / np.maximum(total, 1e-9)
    # "no sensible score is that far down": treat it as a filler
    return np.where(scores <= -1e6, 0, w)


# %% right: finfo.min, and zeros afterwards
def masked_softmax(scores, may):
    s = np.where(may, scores, np.finfo(scores.dtype).min)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.where(may, e / e.sum(axis=-1, keepdims=True), 0)


# %% right: NaN replaced at the end
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


# %% right: maximum over the allowed, divide where
def masked_softmax(scores, may):
    may = np.broadcast_to(may, scores.shape)
    top = np.max(scores, axis=-1, keepdims=True, where=may, initial=-np.inf)
    shifted = np.subtract(scores, top, out=np.zeros(scores.shape), where=may)
    e = np.exp(shifted) * may
    total = e.sum(axis=-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)


# %% right: log of the sum, fill far below
def masked_softmax(scores, may):
    s = np.where(may, scores, np.where(may, scores, 0).min() - 1000.0)
    s = s - s.max(axis=-1, keepdims=True)
    log_total = np.log(np.exp(s).sum(axis=-1, keepdims=True))
    return np.exp(s - log_total) * may


# %% right: one plain-Python helper per row
def masked_softmax(scores, may):
    import math

    def row(values, ok):
        seen = [float(v) for v, o in zip(values, ok) if o]
        if not seen:
            return [0.0] * len(values)
        top = max(seen)
        total = sum(math.exp(v - top) for v in seen)
        return [math.exp(float(v) - top) / total if o else 0.0
                for v, o in zip(values, ok)]

    may = np.broadcast_to(may, scores.shape)
    S = scores.shape[-1]
    rows = [row(s, m) for s, m in zip(scores.reshape(-1, S),
                                      may.reshape(-1, S))]
    return np.array(rows).reshape(scores.shape)


# %% cheat: borrowed from scipy -> imports scipy
def masked_softmax(scores, may):
    from scipy.special import softmax

    return softmax(np.where(may, scores, -1e30), axis=-1) * may
