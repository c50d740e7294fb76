# %% wrong: not scaled
def scores(query, key):
    return query @ key.swapaxes(-1, -2)


# %% wrong: divided by d_k
def scores(query, key):
    return query @ key.swapaxes(-1, -2) / query.shape[-1]


# %% wrong: divided by the root of the number of keys
def scores(query, key):
    return query @ key.swapaxes(-1, -2) / np.sqrt(key.shape[-2])


# %% wrong: divided by the root of the number of queries
def scores(query, key):
    return query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-2])


# %% wrong: divided by 2, right for the visible d_k = 4 alone
def scores(query, key):
    return query @ key.swapaxes(-1, -2) / 2


# %% wrong: .T turns all axes
def scores(query, key):
    return query @ key.T / np.sqrt(query.shape[-1])


# %% wrong: keys as rows
def scores(query, key):
    return key @ query.swapaxes(-1, -2) / np.sqrt(query.shape[-1])


# %% wrong: only one axis in front
def scores(query, key):
    s = np.einsum("bld,bsd->bls", query, key)
    return s / np.sqrt(query.shape[-1])


# %% wrong: cosine instead of the dot product
def scores(query, key):
    q = query / np.linalg.norm(query, axis=-1, keepdims=True)
    k = key / np.linalg.norm(key, axis=-1, keepdims=True)
    return q @ k.swapaxes(-1, -2)


# %% right: query scaled first
def scores(query, key):
    query = query * query.shape[-1] ** -0.5
    return np.matmul(query, np.swapaxes(key, -1, -2))


# %% right: einsum
def scores(query, key):
    s = np.einsum("...id,...jd->...ij", query, key)
    return s / np.sqrt(key.shape[-1])


# %% right: broadcast product, summed
def scores(query, key):
    product = query[..., :, None, :] * key[..., None, :, :]
    return product.sum(-1) / np.sqrt(query.shape[-1])
