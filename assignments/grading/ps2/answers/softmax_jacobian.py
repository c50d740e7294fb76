# %% wrong: only the diagonal
def softmax_jacobian(weights):
    n = weights.shape[-1]
    return (weights * (1 - weights))[..., None] * np.eye(n)


# %% wrong: a vector of slopes
def softmax_jacobian(weights):
    return weights * (1 - weights)


# %% wrong: the sign
def softmax_jacobian(weights):
    a = weights[..., :, None]
    return a * (weights[..., None, :] - np.eye(weights.shape[-1]))


# %% wrong: the identity instead of diag(a)
def softmax_jacobian(weights):
    outer = weights[..., :, None] * weights[..., None, :]
    return np.eye(weights.shape[-1]) - outer


# %% wrong: for one row only
def softmax_jacobian(weights):
    return np.diag(weights) - np.outer(weights, weights)


# %% wrong: softmax once more
def softmax_jacobian(weights):
    a = softmax(weights)
    return a[..., :, None] * (np.eye(a.shape[-1]) - a[..., None, :])


# %% wrong: the outer product alone
def softmax_jacobian(weights):
    return -weights[..., :, None] * weights[..., None, :]


# %% wrong: one outer product summed over the batch
def softmax_jacobian(weights):
    rows = weights.reshape(-1, weights.shape[-1])
    return weights[..., None] * np.eye(rows.shape[1]) - rows.T @ rows


# %% right: diag and einsum
def softmax_jacobian(weights):
    n = weights.shape[-1]
    diagonal = np.einsum("...i,ij->...ij", weights, np.eye(n))
    return diagonal - np.einsum("...i,...j->...ij", weights, weights)


# %% right: one row of weights at a time
def softmax_jacobian(weights):
    n = weights.shape[-1]
    rows = [np.diag(a) - np.outer(a, a) for a in weights.reshape(-1, n)]
    return np.array(rows).reshape(*weights.shape, n)


# %% right: number by number
def softmax_jacobian(weights):
    n = weights.shape[-1]
    J = np.empty((*weights.shape, n))
    for i in range(n):
        for j in range(n):
            same = 1.0 if i == j else 0.0
            J[..., i, j] = weights[..., i] * (same - weights[..., j])
    return J


# %% right: numerically, from log weights
def softmax_jacobian(weights):
    n, step = weights.shape[-1], 1e-5
    up = np.log(weights)[..., None, :] + step * np.eye(n)
    down = np.log(weights)[..., None, :] - step * np.eye(n)
    return ((softmax(up) - softmax(down)) / (2 * step)).swapaxes(-1, -2)
