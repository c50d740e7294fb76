# %% wrong: not scaled
    return query @ key.swapaxes(-1, -2)
# %% wrong: divided by d_k
    return query @ key.swapaxes(-1, -2) / query.shape[-1]
# %% wrong: divided by the root of the number of keys
    return query @ key.swapaxes(-1, -2) / np.sqrt(key.shape[-2])
# %% wrong: divided by the root of the number of queries
    return query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-2])
# %% wrong: divided by 2, the root of 4
    return query @ key.swapaxes(-1, -2) / 2
# %% wrong: .T turns all axes
    return query @ key.T / np.sqrt(query.shape[-1])
# %% wrong: keys as rows
    return key @ query.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
# %% wrong: only one axis in front
    s = np.einsum("bld,bsd->bls", query, key)
    return s / np.sqrt(query.shape[-1])
# %% wrong: cosine instead of the dot product
    q = query / np.linalg.norm(query, axis=-1, keepdims=True)
    k = key / np.linalg.norm(key, axis=-1, keepdims=True)
    return q @ k.swapaxes(-1, -2)
# %% wrong: d ** 1 / 2 is d / 2
# key.swapaxes(-1, -2) / np.sqrt(d_k → np.swapaxes(key, -1, -2) / (d_k ** 1 / 2
# %% wrong: swapaxes(1, 2), for three axes only
# query @ key.swapaxes(-1, -2) → np.matmul(query, key.swapaxes(1, 2))
# %% wrong: a loop over one axis in front only
    d_k = key.shape[-1]
    if key.ndim == 2:
        return query @ key.T / np.sqrt(d_k)
    return np.array([q @ k.T for q, k in zip(query, key)]) / np.sqrt(d_k)
# %% wrong: integer root of d_k
import math


def scores(query, key):
    root = math.isqrt(query.shape[-1])
    return np.einsum("...ld,...sd->...ls", query, key) / root
# %% wrong: divided by len(query), the batch size
    return np.einsum("...ld,...sd->...ls", query, key) / len(query)
# %% wrong: d_k read from shape[2], which may be L
    d_k = query.shape[2]
    return query @ np.moveaxis(key, -1, -2) / np.sqrt(d_k)
# %% wrong: axes in front stay flattened
    L, d_k = query.shape[-2:]
    S = key.shape[-2]
    q = query.reshape(-1, L, d_k)
    k = key.reshape(-1, S, d_k)
    return q @ k.transpose(0, 2, 1) / np.sqrt(d_k)
# %% wrong: squeeze drops axes of length 1
    q = query[..., :, np.newaxis, :]
    k = key[..., np.newaxis, :, :]
    s = (q * k).sum(axis=-1) / np.sqrt(query.shape[-1])
    return s.squeeze()
# %% wrong: clips the scores to ±20 for safety
    s = query @ np.swapaxes(key, -1, -2) / np.sqrt(query.shape[-1])
    return np.clip(s, -20, 20)
# %% wrong: integers in, cut to integers
    d_k = query.shape[-1]
    s = np.zeros(query.shape[:-1] + (key.shape[-2],), dtype=query.dtype)
    for i in np.ndindex(s.shape):
        s[i] = query[i[:-1]] @ key[i[:-2] + i[-1:]] / np.sqrt(d_k)
    return s
# %% wrong: reshape instead of transpose
    S, d_k = key.shape[-2:]
    turned = key.reshape(key.shape[:-2] + (d_k, S))
    return query @ turned / np.sqrt(d_k)
# %% wrong: multiplied by the root
    return query @ np.swapaxes(key, -1, -2) * np.sqrt(query.shape[-1])
# %% wrong: the query is divided in place
    query /= np.sqrt(query.shape[-1])
    return query @ key.swapaxes(-1, -2)
# %% right: query scaled first
    query = query * query.shape[-1] ** -0.5
    return np.matmul(query, np.swapaxes(key, -1, -2))
# %% right: einsum
    s = np.einsum("...id,...jd->...ij", query, key)
    return s / np.sqrt(key.shape[-1])
# %% right: broadcast product, summed
    product = query[..., :, None, :] * key[..., None, :, :]
    return product.sum(-1) / np.sqrt(query.shape[-1])
# %% right: both sides scaled by the fourth root
    root = query.shape[-1] ** 0.25
    axes = list(range(key.ndim))
    axes[-1], axes[-2] = axes[-2], axes[-1]
    return (query / root) @ (key / root).transpose(axes)
# %% right: broadcast product, mean times root
    product = query[..., :, None, :] * key[..., None, :, :]
    return product.mean(axis=-1) * np.sqrt(query.shape[-1])
# %% right: one key at a time, stacked as columns
    d_k = query.shape[-1]
    columns = []
    for j in range(key.shape[-2]):
        one_key = key[..., j, :]
        dots = (query * one_key[..., None, :]).sum(axis=-1)
        columns.append(dots / np.sqrt(d_k))
    return np.stack(columns, axis=-1)
# %% right: axes in front flattened and put back
    L, d_k = query.shape[-2:]
    S = key.shape[-2]
    q = query.reshape((-1, L, d_k))
    k = key.reshape((-1, S, d_k))
    s = np.array([a.dot(b.T) / d_k ** 0.5 for a, b in zip(q, k)])
    return s.reshape(query.shape[:-2] + (L, S))
# %% right: keys times queries, then turned
    s = key @ query.swapaxes(-2, -1)
    return np.swapaxes(s, -2, -1) / np.sqrt(key.shape[-1])
