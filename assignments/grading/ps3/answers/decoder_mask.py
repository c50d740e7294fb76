# %% wrong: allowed by one of the two
# (L, S) & → (L, S) |
# %% wrong: the side is not passed on
# lengths, S, side → lengths, S
# %% wrong: a square triangle, cut to its first rows
# (L, S) → (S, S)[:L]
# %% wrong: empty is the opposite
# ~may.any → may.any
# %% wrong: empty if anything at all is forbidden
# may.any → may.all
# %% wrong: keys that nobody sees
# axis=-1 → axis=-2
# %% wrong: padded queries masked as well
    padding = padding_mask(lengths, S, side)
    rows = padding[:, :, 0, S - L:, None]
    may = causal_mask(L, S) & padding & rows
    return may, ~may.any(axis=-1)
# %% wrong: empty are the padded queries
    padding = padding_mask(lengths, S, side)
    return causal_mask(L, S) & padding, ~padding[:, :, 0, S - L:]
# %% wrong: no padding
    may = np.broadcast_to(causal_mask(L, S), (len(lengths), 1, L, S))
    return may, ~may.any(axis=-1)
# %% wrong: heads forgotten
# (lengths, S, side) → (lengths, S, side)[:, 0]
# %% wrong: empty rows are opened, against NaN
    may = causal_mask(L, S) & padding_mask(lengths, S, side)
    empty = ~may.any(axis=-1)
    return may | empty[..., None], empty
# %% wrong: empty keeps the axis of the keys
# axis=-1 → axis=-1, keepdims=True
# %% wrong: left formula for empty on both sides
    may = causal_mask(L, S) & padding_mask(lengths, S, side)
    position = np.arange(S - L, S)
    empty = position < (S - lengths)[:, None, None]
    return may, empty
# %% wrong: triangle alone on the right
    may = causal_mask(L, S)[None, None]
    if side == "left":
        may = may & padding_mask(lengths, S, side)
    else:  # right fillers are in the future anyway
        may = np.repeat(may, len(lengths), axis=0)
    return may, ~may.any(axis=-1)
# %% wrong: no triangle on the right
    may = padding_mask(lengths, S, side)
    if side == "left":
        may = may & causal_mask(L, S)
    else:
        may = np.repeat(may, L, axis=2)
    return may, ~may.any(axis=-1)
# %% wrong: empty queries get column 0
    may = causal_mask(L, S) & padding_mask(lengths, S, side)
    empty = ~may.any(axis=-1)
    may[..., 0] |= empty
    return may, empty
# %% wrong: empty is 0 and 1, not bool
    may = causal_mask(L, S) & padding_mask(lengths, S, side)
    empty = np.where(may.sum(axis=-1) == 0, 1, 0)
    return may, empty
# %% wrong: may holds 1.0 and 0.0
    causal = causal_mask(L, S).astype(float)
    pad = padding_mask(lengths, S, side).astype(float)
    may = causal * pad
    return may, may.sum(axis=-1) == 0
# %% wrong: empty asks the last L columns only
# may.any → may[..., S - L:].any
# %% wrong: another default for the side
# "right" → "left"
# %% wrong: never empty on the right
    may = causal_mask(L, S) & padding_mask(lengths, S, side)
    if side == "right":  # column 0 is a word: always somebody to see
        empty = np.zeros(may.shape[:-1], dtype=bool)
    else:
        empty = ~may.any(axis=-1)
    return may, empty
# %% right: multiplied, counted
    may = causal_mask(L, S) * padding_mask(lengths, S, side)
    return may, may.sum(axis=-1) == 0
# %% right: nothing that is forbidden by either
    no = ~causal_mask(L, S) | ~padding_mask(lengths, S, side)
    return ~no, no.all(axis=-1)
# %% right: without the earlier items
    may = np.zeros((len(lengths), 1, L, S), dtype=bool)
    for b, n in enumerate(lengths):
        start = 0 if side == "right" else S - n
        for i in range(L):
            may[b, 0, i, start:min(start + n, S - L + i + 1)] = True
    return may, np.logical_not(np.logical_or.reduce(may, axis=-1))
# %% right: np.where and a sum
    causal = causal_mask(L, S)[None, None, :, :]
    pad = padding_mask(lengths, S, side)
    may = np.where(causal, pad, False)
    empty = may.sum(axis=-1) == 0
    return may, empty
# %% right: empty from positions alone, product of bools
    may = causal_mask(L, S) * padding_mask(lengths, S, side)
    q = np.arange(S - L, S)
    n = np.asarray(lengths)[:, None, None]
    first = S - n if side == "left" else np.zeros_like(n)
    empty = (q < first) | (n == 0)
    return may, empty
