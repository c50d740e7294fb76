# %% wrong: not halved
    m = w_q @ w_k.swapaxes(-1, -2)
    mutual, one_way = m + m.swapaxes(-1, -2), m - m.swapaxes(-1, -2)
    return mutual, one_way
# %% wrong: the two parts the other way round
    m = w_q @ w_k.swapaxes(-1, -2)
    one_way = (m + m.swapaxes(-1, -2)) / 2
    mutual = (m - m.swapaxes(-1, -2)) / 2
    return mutual, one_way
# %% wrong: W_K W_Qᵀ, so who asks whom is swapped
    m = w_k @ w_q.swapaxes(-1, -2)
    mutual = (m + m.swapaxes(-1, -2)) / 2
    one_way = (m - m.swapaxes(-1, -2)) / 2
    return mutual, one_way
# %% wrong: .T turns heads around too
# like: not halved
# m + m.swapaxes(-1, -2), m - m.swapaxes(-1, -2) → (m + m.T) / 2, (m - m.T) / 2
# %% wrong: multiplied from the other side, d_k by d_k
# like: W_K W_Qᵀ, so who asks whom is swapped
# w_k @ w_q.swapaxes(-1, -2) → w_q.swapaxes(-1, -2) @ w_k
# %% wrong: triangles instead of parts
# like: not halved
# m + m.swapaxes(-1, -2), m - m.swapaxes(-1, -2) → np.tril(m), np.triu(m, 1)
# %% wrong: each matrix with itself
    mutual = w_q @ w_q.swapaxes(-1, -2)
    one_way = w_q @ w_k.swapaxes(-1, -2) - mutual
    return mutual, one_way
# %% wrong: scaled, though the text leaves the division aside
    m = w_q @ w_k.swapaxes(-1, -2) / np.sqrt(w_q.shape[-1])
    mutual = (m + m.swapaxes(-1, -2)) / 2
    one_way = (m - m.swapaxes(-1, -2)) / 2
    return mutual, one_way
# %% wrong: transpose knows one head axis only
# w_k.swapaxes(-1, -2) → np.transpose(w_k, (0, 2, 1))
# m.swapaxes(-1, -2) → np.transpose(m, (0, 2, 1))
# %% wrong: the diagonal is given to one_way
    m = w_q @ np.swapaxes(w_k, -1, -2)
    m_t = np.swapaxes(m, -1, -2)
    off_diagonal = 1 - np.eye(m.shape[-1])
    mutual = (m + m_t) / 2 * off_diagonal
    one_way = m - mutual
    return mutual, one_way
# %% wrong: diagonal mirrored, so twice in mutual
    m = w_q @ np.swapaxes(w_k, -1, -2)
    upper = np.triu((m + np.swapaxes(m, -1, -2)) / 2)
    mutual = upper + np.swapaxes(upper, -1, -2)
    one_way = m - mutual
    return mutual, one_way
# %% wrong: loops over heads, m.T inside
    mutual, one_way = [], []
    for q, k in zip(w_q, w_k):
        m = q @ np.swapaxes(k, -1, -2)
        mutual.append((m + m.T) / 2)
        one_way.append((m - m.T) / 2)
    mutual, one_way = np.array(mutual), np.array(one_way)
    return mutual, one_way
# %% wrong: head axes flattened and left so
    d_model, d_k = w_q.shape[-2:]
    q = w_q.reshape(-1, d_model, d_k)
    k = w_k.reshape(-1, d_model, d_k)
    m = np.einsum("hik,hjk->hij", q, k)
    m_t = m.swapaxes(1, 2)
    mutual, one_way = 0.5 * (m + m_t), 0.5 * (m - m_t)
    return mutual, one_way
# %% wrong: room for 3 heads of d_model 5
    mutual = np.zeros((3, 5, 5))
    one_way = np.zeros((3, 5, 5))
    for i in range(5):
        for j in range(5):
            ij = (w_q[:, i] * w_k[:, j]).sum(-1)
            ji = (w_q[:, j] * w_k[:, i]).sum(-1)
            mutual[:, i, j] = (ij + ji) / 2
            one_way[:, i, j] = (ij - ji) / 2
    return mutual, one_way
# %% wrong: squeeze drops axes of length 1
    m = np.einsum("...ik,...jk->...ij", w_q, w_k)
    m_t = np.einsum("...ij->...ji", m)
    mutual = np.squeeze((m + m_t) / 2)
    one_way = np.squeeze((m - m_t) / 2)
    return mutual, one_way
# %% wrong: m overwritten before one_way uses it
# like: the diagonal is given to one_way
# m_t = np.swapaxes(m, -1, -2) → mutual = m
# off_diagonal = 1 - np.eye(m.shape[-1]) → mutual += np.swapaxes(m, -1, -2)
# mutual = (m + m_t) / 2 * off_diagonal → mutual /= 2
# %% wrong: heads are averaged first
    m = (w_q @ np.swapaxes(w_k, -1, -2)).mean(axis=0)
    m = np.broadcast_to(m, w_q.shape[:-1] + m.shape[-1:])
    m_t = np.swapaxes(m, -1, -2)
    mutual, one_way = (m + m_t) / 2, (m - m_t) / 2
    return mutual, one_way
# %% right: einsum
    there = np.einsum("...ik,...jk->...ij", w_q, w_k)
    back = np.einsum("...jk,...ik->...ij", w_q, w_k)
    mutual, one_way = 0.5 * (there + back), 0.5 * (there - back)
    return mutual, one_way
# %% right: the rest of one part
# w_q @ w_k.swapaxes(-1, -2) → np.matmul(w_q, np.moveaxis(w_k, -1, -2))
# flipped = m.swapaxes(-1, -2) → mutual = (m + np.swapaxes(m, -1, -2)) / 2
# mutual, one_way = (m + flipped) / 2, (m - flipped) / 2 → one_way = m - mutual
# %% right: wide matrices, as in the surgery on a trained model
    left = np.concatenate([w_q, w_k], axis=-1) / 2
    right = np.concatenate([w_k, w_q], axis=-1)
    mutual = left @ right.swapaxes(-1, -2)
    signed = np.concatenate([w_q, -w_k], axis=-1) / 2
    one_way = signed @ right.swapaxes(-1, -2)
    return mutual, one_way
# %% right: number by number
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
# %% right: loops over all heads and over the pairs
    n = w_q.shape[-2]
    mutual = np.zeros(w_q.shape[:-1] + (n,))
    one_way = np.zeros(w_q.shape[:-1] + (n,))
    for h in np.ndindex(*w_q.shape[:-2]):
        for i in range(n):
            for j in range(n):
                ij = w_q[h][i] @ w_k[h][j]
                ji = w_q[h][j] @ w_k[h][i]
                mutual[h][i, j] = (ij + ji) / 2
                one_way[h][i, j] = (ij - ji) / 2
    return mutual, one_way
# %% right: products summed, a helper for the flip
    def flip(a):
        axes = list(range(a.ndim))
        axes[-2:] = axes[:-3:-1]
        return a.transpose(axes)

    m = (w_q[..., :, None, :] * w_k[..., None, :, :]).sum(axis=-1)
    mutual, one_way = [(m + sign * flip(m)) / 2 for sign in (1, -1)]
    return mutual, one_way
# %% right: heads flattened and restored
    *front, d_model, d_k = w_q.shape
    q = w_q.reshape(-1, d_model, d_k)
    k = w_k.reshape(-1, d_model, d_k)
    ms = [a @ b.T for a, b in zip(q, k)]
    one_way = np.array([m / 2 - m.T / 2 for m in ms])
    mutual = np.array([m / 2 + m.T / 2 for m in ms])
    shape = (*front, d_model, d_model)
    mutual, one_way = mutual.reshape(shape), one_way.reshape(shape)
    return mutual, one_way
