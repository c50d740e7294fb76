# %% wrong: axes the other way round
def read_heatmap(weights):
    return weights.argmax(axis=-2), weights.sum(axis=-1)


# %% wrong: favourite along the queries
def read_heatmap(weights):
    return weights.argmax(axis=-2), weights.sum(axis=-2)


# %% wrong: received sums rows
def read_heatmap(weights):
    return weights.argmax(axis=-1), weights.sum(axis=-1)


# %% wrong: the mean instead of the sum
def read_heatmap(weights):
    return weights.argmax(axis=-1), weights.mean(axis=-2)


# %% wrong: the largest weight instead of its place
def read_heatmap(weights):
    return weights.max(axis=-1), weights.sum(axis=-2)


# %% wrong: axes counted from the front
def read_heatmap(weights):
    return weights.argmax(axis=1), weights.sum(axis=0)


# %% wrong: the other order
def read_heatmap(weights):
    return weights.sum(axis=-2), weights.argmax(axis=-1)


# %% right: sorting and einsum
def read_heatmap(weights):
    order = np.argsort(-weights, axis=-1)
    return order[..., 0], np.einsum("...ls->...s", weights)


# %% right: transposed first
def read_heatmap(weights):
    columns = np.swapaxes(weights, -1, -2)
    return np.argmax(columns, axis=-2), columns.sum(-1)


# %% right: one row at a time
def read_heatmap(weights):
    rows = np.moveaxis(weights, -2, 0)
    favourite = np.stack([np.argmax(row, -1) for row in rows], axis=-1)
    return favourite, sum(row for row in rows)
