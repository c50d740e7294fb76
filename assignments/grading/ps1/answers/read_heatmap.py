# %% wrong: axes the other way round
    return weights.argmax(axis=-2), weights.sum(axis=-1)
# %% wrong: favourite along the queries
    return weights.argmax(axis=-2), weights.sum(axis=-2)
# %% wrong: received sums rows
    return weights.argmax(axis=-1), weights.sum(axis=-1)
# %% wrong: the mean instead of the sum
    return weights.argmax(axis=-1), weights.mean(axis=-2)
# %% wrong: the largest weight instead of its place
    return weights.max(axis=-1), weights.sum(axis=-2)
# %% wrong: axes counted from the front
    return weights.argmax(axis=1), weights.sum(axis=0)
# %% wrong: the other order
    return weights.sum(axis=-2), weights.argmax(axis=-1)
# %% wrong: received sums over the batch
    favourite = np.argmax(weights, axis=-1)
    received = np.sum(weights, axis=0)
    return favourite, received
# %% wrong: received mixes all heads
# like: received sums over the batch
# np.sum(weights, axis=0) → weights.reshape(-1, weights.shape[-1]).sum(axis=0)
# %% wrong: the key that receives most, for all
    received = weights.sum(axis=-2)
    top = received.argmax(axis=-1)
    favourite = np.repeat(top[..., None], weights.shape[-2], axis=-1)
    return favourite, received
# %% wrong: always key 0
    favourite = np.zeros(weights.shape[:-1], dtype=int)
    return favourite, weights.sum(axis=-2)
# %% wrong: favourite as floats
    L = weights.shape[-2]
    favourite = np.zeros(weights.shape[:-1])
    for i in range(L):
        favourite[..., i] = weights[..., i, :].argmax(axis=-1)
    return favourite, weights.sum(axis=-2)
# %% wrong: received rounded to one decimal
    return weights.argmax(axis=-1), weights.sum(axis=-2).round(1)
# %% wrong: np.where loses the axes in front
    best = weights == weights.max(axis=-1, keepdims=True)
    favourite = np.where(best)[-1]
    return favourite, weights.sum(axis=-2)
# %% wrong: mean times 2, as if for two queries
    received = weights.mean(axis=-2) * 2
    return weights.argmax(axis=-1), received
# %% wrong: small weights left out of the sum
    shown = np.where(weights >= 0.1, weights, 0)
    return np.argmax(weights, axis=-1), shown.sum(axis=-2)
# %% wrong: weights not above 0.4 are no favourite
    favourite = np.argmax(weights > 0.4, axis=-1)
    return favourite, weights.sum(axis=-2)
# %% wrong: compares keys 0 and 1 only
    favourite = (weights[..., 1] > weights[..., 0]).astype(int)
    return favourite, weights.sum(axis=-2)
# %% wrong: int8, too small for many keys
    favourite = weights.argmax(axis=-1).astype(np.int8)
    return favourite, weights.sum(axis=-2)
# %% wrong: the least favourite
    return np.argsort(weights, axis=-1)[..., 0], weights.sum(axis=-2)
# %% wrong: one argmax for all
    return weights.argmax(), weights.sum(axis=-2)
# %% wrong: counts queries instead of weights
    favourite = weights.argmax(axis=-1)
    keys = np.arange(weights.shape[-1])
    return favourite, (favourite[..., None] == keys).sum(axis=-2)
# %% wrong: no return
    favourite = weights.argmax(axis=-1)
    received = weights.sum(axis=-2)
# %% wrong: keys counted from 1
    return weights.argmax(axis=-1) + 1, weights.sum(axis=-2)
# %% wrong: lists instead of arrays
    return weights.argmax(axis=-1).tolist(), weights.sum(axis=-2).tolist()
# %% right: sorting and einsum
    order = np.argsort(-weights, axis=-1)
    return order[..., 0], np.einsum("...ls->...s", weights)
# %% right: transposed first
    columns = np.swapaxes(weights, -1, -2)
    return np.argmax(columns, axis=-2), columns.sum(-1)
# %% right: one row at a time
    rows = np.moveaxis(weights, -2, 0)
    favourite = np.stack([np.argmax(row, -1) for row in rows], axis=-1)
    return favourite, sum(row for row in rows)
# %% right: a row of ones times the table
    order = np.argsort(-weights, axis=-1, kind="stable")
    ones = np.ones((1, weights.shape[-2]))
    return order[..., 0], (ones @ weights)[..., 0, :]
# %% right: einsum, a running best in a loop
    favourite = np.zeros(weights.shape[:-1], dtype=int)
    best = weights[..., 0]
    for j in range(1, weights.shape[-1]):
        better = weights[..., j] > best
        favourite = np.where(better, j, favourite)
        best = np.maximum(best, weights[..., j])
    return favourite, np.einsum("...ls->...s", weights)
# %% right: plain loops over each heatmap
    front, (L, S) = weights.shape[:-2], weights.shape[-2:]
    favourite = np.zeros(front + (L,), dtype=int)
    received = np.zeros(front + (S,))
    for b in np.ndindex(*front):
        for i in range(L):
            row = list(weights[b][i])
            favourite[b + (i,)] = row.index(max(row))
            for j in range(S):
                received[b + (j,)] += row[j]
    return favourite, received
# %% right: apply_along_axis and a list of columns
    favourite = np.apply_along_axis(np.argmax, -1, weights)
    S = weights.shape[-1]
    parts = [weights[..., j].sum(axis=-1) for j in range(S)]
    return favourite, np.stack(parts, axis=-1)
