# %% wrong: allowed by one of the two
def decoder_mask(lengths, L, S, side="right"):
    may = causal_mask(L, S) | padding_mask(lengths, S, side)
    return may, ~may.any(axis=-1)


# %% wrong: the side is not passed on
def decoder_mask(lengths, L, S, side="right"):
    may = causal_mask(L, S) & padding_mask(lengths, S)
    return may, ~may.any(axis=-1)


# %% wrong: a square triangle, cut to its first rows
def decoder_mask(lengths, L, S, side="right"):
    may = causal_mask(S, S)[:L] & padding_mask(lengths, S, side)
    return may, ~may.any(axis=-1)


# %% wrong: empty is the opposite
def decoder_mask(lengths, L, S, side="right"):
    may = causal_mask(L, S) & padding_mask(lengths, S, side)
    return may, may.any(axis=-1)


# %% wrong: empty if anything at all is forbidden
def decoder_mask(lengths, L, S, side="right"):
    may = causal_mask(L, S) & padding_mask(lengths, S, side)
    return may, ~may.all(axis=-1)


# %% wrong: keys that nobody sees
def decoder_mask(lengths, L, S, side="right"):
    may = causal_mask(L, S) & padding_mask(lengths, S, side)
    return may, ~may.any(axis=-2)


# %% wrong: padded queries masked as well
def decoder_mask(lengths, L, S, side="right"):
    padding = padding_mask(lengths, S, side)
    rows = padding[:, :, 0, S - L:, None]
    may = causal_mask(L, S) & padding & rows
    return may, ~may.any(axis=-1)


# %% wrong: empty are the padded queries
def decoder_mask(lengths, L, S, side="right"):
    padding = padding_mask(lengths, S, side)
    return causal_mask(L, S) & padding, ~padding[:, :, 0, S - L:]


# %% wrong: no padding
def decoder_mask(lengths, L, S, side="right"):
    may = np.broadcast_to(causal_mask(L, S), (len(lengths), 1, L, S))
    return may, ~may.any(axis=-1)


# %% wrong: heads forgotten
def decoder_mask(lengths, L, S, side="right"):
    may = causal_mask(L, S) & padding_mask(lengths, S, side)[:, 0]
    return may, ~may.any(axis=-1)


# %% wrong: the empty row is opened, to be spared the NaN
def decoder_mask(lengths, L, S, side="right"):
    may = causal_mask(L, S) & padding_mask(lengths, S, side)
    empty = ~may.any(axis=-1)
    return may | empty[..., None], empty


# %% right: multiplied, counted
def decoder_mask(lengths, L, S, side="right"):
    may = causal_mask(L, S) * padding_mask(lengths, S, side)
    return may, may.sum(axis=-1) == 0


# %% right: nothing that is forbidden by either
def decoder_mask(lengths, L, S, side="right"):
    no = ~causal_mask(L, S) | ~padding_mask(lengths, S, side)
    return ~no, no.all(axis=-1)


# %% right: without the earlier items
def decoder_mask(lengths, L, S, side="right"):
    may = np.zeros((len(lengths), 1, L, S), dtype=bool)
    for b, n in enumerate(lengths):
        start = 0 if side == "right" else S - n
        for i in range(L):
            may[b, 0, i, start:min(start + n, S - L + i + 1)] = True
    return may, np.logical_not(np.logical_or.reduce(may, axis=-1))
