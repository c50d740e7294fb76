# %% wrong: NaN in an empty row
    s = np.where(may, scores, -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
# %% wrong: −1e9, so an empty row looks everywhere
# like: NaN in an empty row
# np.inf → 1e9
# %% wrong: filled with 0
# like: NaN in an empty row
# scores, -np.inf → scores, 0
# %% wrong: after softmax
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) * may
# %% wrong: after softmax, and divided again
    e = np.exp(scores - scores.max(axis=-1, keepdims=True)) * may
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)
# %% wrong: the same, plus a small number below
    e = np.exp(scores - scores.max(axis=-1, keepdims=True)) * may
    return e / (e.sum(axis=-1, keepdims=True) + 1e-9)
# %% wrong: the mask added as 0 and 1
# like: NaN in an empty row
# np.where(may, scores, -np.inf) → scores + may
# %% wrong: True taken for blocked
# scores, -np.inf → -np.inf, scores
# %% wrong: −10000 added, which scores can reach
    s = scores + np.where(may, 0, -1e4)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return w * np.any(may, axis=-1, keepdims=True)
# %% wrong: no maximum subtracted
    e = np.where(may, np.exp(scores), 0)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)
# %% wrong: one maximum for all rows
    s = np.where(may, scores, -np.inf)
    e = np.exp(s - s.max())
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)
# %% wrong: over the queries
# max(axis=-1, keepdims=True) → max(axis=-2, keepdims=True)
# e.sum(axis=-1, keepdims=True) → e.sum(axis=-2, keepdims=True)
# %% wrong: writes into the scores
    scores[~np.broadcast_to(may, scores.shape)] = -np.inf
    largest = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)
# %% wrong: the mask multiplied with the scores
# like: NaN in an empty row
# np.where(may, scores, -np.inf) → scores * may
# %% wrong: fill -1e5 beats allowed scores
    s = np.where(may, scores, -1e5)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return np.where(np.any(may, axis=-1, keepdims=True), w, 0)
# %% wrong: -2e6 added, and a forbidden score ties
# like: −10000 added, which scores can reach
# 0, -1e4 → 0.0, -2e6
# %% wrong: the mean subtracted, which overflows
    may = np.broadcast_to(may, scores.shape)
    count = np.maximum(may.sum(axis=-1, keepdims=True), 1)
    kept = np.where(may, scores, 0)
    mean = kept.sum(axis=-1, keepdims=True) / count
    e = np.where(may, np.exp(np.where(may, scores - mean, 0)), 0)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)
# %% wrong: maximum starts at 0
    may = np.broadcast_to(may, scores.shape)
    top = np.max(scores, axis=-1, keepdims=True, where=may, initial=0)
    e = np.exp(np.where(may, scores - top, -np.inf))
    total = e.sum(axis=-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)
# %% wrong: index s[~may], no broadcasting
    s = scores.copy()
    s[~may] = -np.inf
    top = s.max(axis=-1, keepdims=True)
    top[np.isinf(top)] = 0
    e = np.exp(s - top)
    total = e.sum(axis=-1, keepdims=True)
    total[total == 0] = 1
    return e / total
# %% wrong: axis 1 instead of the last
# max(axis=-1, keepdims=True) → max(axis=1, keepdims=True)
# e.sum(axis=-1, keepdims=True) → e.sum(axis=1, keepdims=True)
# %% wrong: changes the caller's mask
    empty = ~may.any(axis=-1)
    may[empty] = True
    s = np.where(may, scores, -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return np.where(empty[..., None], 0.0, w)
# %% wrong: float32 cast
    s = np.where(may, scores, -np.inf).astype(np.float32)
    top = s.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, np.float32(0))
    e = np.exp(s - top)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, np.float32(1), total)
# %% wrong: small differences cut at -10
# -     e = np.exp(masked - np.where(np.isfinite(largest), largest, 0))
# +     largest = np.where(np.isfinite(largest), largest, 0)
# +     e = np.exp(np.clip(masked - largest, -10, 0)) * may
# %% wrong: [:, None], two axes only
    s = np.where(may, scores, -np.inf)
    top = s.max(axis=-1)
    top[~np.isfinite(top)] = 0
    e = np.exp(s - top[:, None])
    total = e.sum(axis=-1)
    total[total == 0] = 1
    return e / total[:, None]
# %% wrong: scores of -1e6 count as forbidden
    s = np.where(may, scores, scores.min() - 1000)
    e = np.exp(s - s.max(axis=-1, keepdims=True)) * may
    total = np.abs(e).sum(axis=-1, keepdims=True)
    w = e / np.maximum(total, 1e-9)
    # "no sensible score is that far down": treat it as a filler
    return np.where(scores <= -1e6, 0, w)
# %% right: finfo.min, and zeros afterwards
    s = np.where(may, scores, np.finfo(scores.dtype).min)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.where(may, e / e.sum(axis=-1, keepdims=True), 0)
# %% right: NaN replaced at the end
    s = np.where(may, scores, -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.nan_to_num(e / e.sum(axis=-1, keepdims=True))
# %% right: harmless scores for empty rows, then zeros
    empty = ~np.any(may, axis=-1, keepdims=True)
    s = np.where(may | empty, scores, -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) * ~empty
# %% right: row by row, only what is allowed
    may = np.broadcast_to(may, scores.shape)
    weights = np.zeros_like(scores)
    for row in np.ndindex(scores.shape[:-1]):
        keys = np.flatnonzero(may[row])
        if len(keys):
            e = np.exp(scores[row][keys] - scores[row][keys].max())
            weights[(*row, keys)] = e / e.sum()
    return weights
# %% right: maximum over the allowed, divide where
    may = np.broadcast_to(may, scores.shape)
    top = np.max(scores, axis=-1, keepdims=True, where=may, initial=-np.inf)
    shifted = np.subtract(scores, top, out=np.zeros(scores.shape), where=may)
    e = np.exp(shifted) * may
    total = e.sum(axis=-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)
# %% right: log of the sum, fill far below
    s = np.where(may, scores, np.where(may, scores, 0).min() - 1000.0)
    s = s - s.max(axis=-1, keepdims=True)
    log_total = np.log(np.exp(s).sum(axis=-1, keepdims=True))
    return np.exp(s - log_total) * may
# %% right: one plain-Python helper per row
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
    from scipy.special import softmax

    return softmax(np.where(may, scores, -1e30), axis=-1) * may
