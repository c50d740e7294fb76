# %% wrong: only the diagonal
    n = weights.shape[-1]
    return (weights * (1 - weights))[..., None] * np.eye(n)
# %% wrong: a vector of slopes
    return weights * (1 - weights)
# %% wrong: the sign
    a = weights[..., :, None]
    return a * (weights[..., None, :] - np.eye(weights.shape[-1]))
# %% wrong: the identity instead of diag(a)
    outer = weights[..., :, None] * weights[..., None, :]
    return np.eye(weights.shape[-1]) - outer
# %% wrong: for one row only
    return np.diag(weights) - np.outer(weights, weights)
# %% wrong: softmax once more
    a = softmax(weights)
    return a[..., :, None] * (np.eye(a.shape[-1]) - a[..., None, :])
# %% wrong: the outer product alone
    return -weights[..., :, None] * weights[..., None, :]
# %% wrong: one outer product summed over the batch
    rows = weights.reshape(-1, weights.shape[-1])
    return weights[..., None] * np.eye(rows.shape[1]) - rows.T @ rows
# %% wrong: equal weights taken for the diagonal
    row, column = weights[..., :, None], weights[..., None, :]
    return np.where(row == column, row * (1 - row), -row * column)
# %% wrong: changes its input
    n = weights.shape[-1]
    off = weights[..., :, None] * weights[..., None, :]
    off *= 1 - np.eye(n)
    weights *= 1 - weights
    return np.eye(n) * weights[..., None] - off
# %% wrong: exactly two axes in front
    outer = np.einsum("bli,blj->blij", weights, weights)
    return weights[:, :, :, None] * np.eye(weights.shape[2]) - outer
# %% wrong: four weights only
    outer = weights[..., :, None] * weights[..., None, :]
    return np.eye(4) * weights[..., None] - outer
# %% wrong: 0 / 0 where a weight is zero
    row, column = weights[..., :, None], weights[..., None, :]
    eye = np.eye(weights.shape[-1])
    return (eye / row - 1) * row * column
# %% wrong: squeeze drops axes of length 1
    column = weights[..., None]
    eye = np.eye(weights.shape[-1])
    return np.squeeze(column * (eye - np.swapaxes(column, -1, -2)))
# %% wrong: needs at least one axis in front
    matrices = []
    for block in weights:
        rows = block.reshape(-1, weights.shape[-1])
        one = [np.diag(a) - np.outer(a, a) for a in rows]
        matrices.append(one)
    return np.array(matrices).reshape(*weights.shape, -1)
# %% wrong: weights below 1% count as zero
    a = np.where(weights < 0.01, 0, weights)
    outer = a[..., :, None] * a[..., None, :]
    return np.eye(a.shape[-1]) * a[..., None] - outer
# %% wrong: minus missing off the diagonal
    outer = weights[..., :, None] * weights[..., None, :]
    eye = np.eye(weights.shape[-1])
    return eye * weights[..., None] + outer * (1 - 2 * eye)
# %% wrong: all rows of a sequence mixed
    outer = np.einsum("...li,...lj->...ij", weights, weights)
    eye = np.eye(weights.shape[-1])
    return eye * weights[..., None] - outer[..., None, :, :]
# %% right: diag and einsum
    n = weights.shape[-1]
    diagonal = np.einsum("...i,ij->...ij", weights, np.eye(n))
    return diagonal - np.einsum("...i,...j->...ij", weights, weights)
# %% right: one row of weights at a time
    n = weights.shape[-1]
    rows = [np.diag(a) - np.outer(a, a) for a in weights.reshape(-1, n)]
    return np.array(rows).reshape(*weights.shape, n)
# %% right: number by number
    n = weights.shape[-1]
    J = np.empty((*weights.shape, n))
    for i in range(n):
        for j in range(n):
            same = 1.0 if i == j else 0.0
            J[..., i, j] = weights[..., i] * (same - weights[..., j])
    return J
# %% right: numerically, from log weights
    n, step = weights.shape[-1], 1e-5
    up = np.log(weights)[..., None, :] + step * np.eye(n)
    down = np.log(weights)[..., None, :] - step * np.eye(n)
    return ((softmax(up) - softmax(down)) / (2 * step)).swapaxes(-1, -2)
# %% right: weights added on the diagonal
    n = weights.shape[-1]
    jacobian = -weights[..., None] * weights[..., None, :]
    place = np.arange(n)
    jacobian[..., place, place] += weights
    return jacobian
# %% right: diagonal as the others' sum
    n = weights.shape[-1]
    index = np.arange(n)
    same = index[:, None] == index
    off = np.where(same, 0, -weights[..., None] * weights[..., None, :])
    return off - np.where(same, off.sum(-2, keepdims=True), 0)
