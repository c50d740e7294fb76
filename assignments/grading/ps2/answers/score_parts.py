# %% wrong: not halved
def score_parts(w_q, w_k):
    m = w_q @ w_k.swapaxes(-1, -2)
    mutual, one_way = m + m.swapaxes(-1, -2), m - m.swapaxes(-1, -2)
    return mutual, one_way


# %% wrong: the two parts the other way round
def score_parts(w_q, w_k):
    m = w_q @ w_k.swapaxes(-1, -2)
    one_way = (m + m.swapaxes(-1, -2)) / 2
    mutual = (m - m.swapaxes(-1, -2)) / 2
    return mutual, one_way


# %% wrong: W_K W_Qᵀ, so who asks whom is swapped
def score_parts(w_q, w_k):
    m = w_k @ w_q.swapaxes(-1, -2)
    mutual = (m + m.swapaxes(-1, -2)) / 2
    one_way = (m - m.swapaxes(-1, -2)) / 2
    return mutual, one_way


# %% wrong: .T turns heads around too
def score_parts(w_q, w_k):
    m = w_q @ w_k.swapaxes(-1, -2)
    mutual, one_way = (m + m.T) / 2, (m - m.T) / 2
    return mutual, one_way


# %% wrong: multiplied from the other side, d_k by d_k
def score_parts(w_q, w_k):
    m = w_q.swapaxes(-1, -2) @ w_k
    mutual = (m + m.swapaxes(-1, -2)) / 2
    one_way = (m - m.swapaxes(-1, -2)) / 2
    return mutual, one_way


# %% wrong: triangles instead of parts
def score_parts(w_q, w_k):
    m = w_q @ w_k.swapaxes(-1, -2)
    mutual, one_way = np.tril(m), np.triu(m, 1)
    return mutual, one_way


# %% wrong: each matrix with itself
def score_parts(w_q, w_k):
    mutual = w_q @ w_q.swapaxes(-1, -2)
    one_way = w_q @ w_k.swapaxes(-1, -2) - mutual
    return mutual, one_way


# %% wrong: scaled, though the text leaves the division aside
def score_parts(w_q, w_k):
    m = w_q @ w_k.swapaxes(-1, -2) / np.sqrt(w_q.shape[-1])
    mutual = (m + m.swapaxes(-1, -2)) / 2
    one_way = (m - m.swapaxes(-1, -2)) / 2
    return mutual, one_way


# %% right: einsum
def score_parts(w_q, w_k):
    there = np.einsum("...ik,...jk->...ij", w_q, w_k)
    back = np.einsum("...jk,...ik->...ij", w_q, w_k)
    mutual, one_way = 0.5 * (there + back), 0.5 * (there - back)
    return mutual, one_way


# %% right: the rest of one part
def score_parts(w_q, w_k):
    m = np.matmul(w_q, np.moveaxis(w_k, -1, -2))
    mutual = (m + np.swapaxes(m, -1, -2)) / 2
    one_way = m - mutual
    return mutual, one_way


# %% right: wide matrices, as in the surgery on a trained model
def score_parts(w_q, w_k):
    left = np.concatenate([w_q, w_k], axis=-1) / 2
    right = np.concatenate([w_k, w_q], axis=-1)
    mutual = left @ right.swapaxes(-1, -2)
    signed = np.concatenate([w_q, -w_k], axis=-1) / 2
    one_way = signed @ right.swapaxes(-1, -2)
    return mutual, one_way


# %% right: number by number
def score_parts(w_q, w_k):
    n = w_q.shape[-2]
    mutual = np.empty((*w_q.shape[:-1], n))
    one_way = np.empty_like(mutual)
    for i in range(n):
        for j in range(n):
            s = (w_q[..., i, :] * w_k[..., j, :]).sum(-1)
            t = (w_q[..., j, :] * w_k[..., i, :]).sum(-1)
            mutual[..., i, j] = (s + t) / 2
            one_way[..., i, j] = (s - t) / 2
    return mutual, one_way
