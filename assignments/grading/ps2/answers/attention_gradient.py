# %% wrong: the division forgotten on the way back
    a = softmax(query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1]))
    g_a = g_output @ value.swapaxes(-1, -2)
    g_s = a * (g_a - (a * g_a).sum(-1, keepdims=True))
    return (g_s @ key, g_s.swapaxes(-1, -2) @ query,
            a.swapaxes(-1, -2) @ g_output)
# %% wrong: the division forgotten on the way forth
    scale = np.sqrt(query.shape[-1])
    a = softmax(query @ key.swapaxes(-1, -2))
    g_a = g_output @ value.swapaxes(-1, -2)
    g_s = a * (g_a - (a * g_a).sum(-1, keepdims=True)) / scale
    return (g_s @ key, g_s.swapaxes(-1, -2) @ query,
            a.swapaxes(-1, -2) @ g_output)
# %% wrong: softmax as if it were a sigmoid
# like: the division forgotten on the way forth
# key.swapaxes(-1, -2) → key.swapaxes(-1, -2) / scale
# (g_a - (a * g_a).sum(-1, keepdims=True)) → (1 - a) * g_a
# %% wrong: softmax left out on the way back
    scale = np.sqrt(query.shape[-1])
    a = softmax(query @ key.swapaxes(-1, -2) / scale)
    g_s = g_output @ value.swapaxes(-1, -2) / scale
    return (g_s @ key, g_s.swapaxes(-1, -2) @ query,
            a.swapaxes(-1, -2) @ g_output)
# %% wrong: the row's sum forgotten
# like: softmax left out on the way back
# g_output @ value.swapaxes(-1, -2) → a * (g_output @ value.swapaxes(-1, -2))
# %% wrong: the sum runs over the queries
# like: the division forgotten on the way forth
# key.swapaxes(-1, -2) → key.swapaxes(-1, -2) / scale
# 1, keepdims → 2, keepdims
# %% wrong: query and key swapped
# like: the division forgotten on the way forth
# key.swapaxes(-1, -2) → key.swapaxes(-1, -2) / scale
# - return (g_s @ key, g_s.swapaxes(-1, -2) @ query,
# + return (g_s.swapaxes(-1, -2) @ query, g_s @ key,
# %% wrong: the value's gradient without the weights
# like: the division forgotten on the way forth
# key.swapaxes(-1, -2) → key.swapaxes(-1, -2) / scale
#       g_s = a * (g_a - (a * g_a).sum(-1, keepdims=True)) / scale
# +     even = np.ones_like(a) / a.shape[-1]
# a.swapaxes → even.swapaxes
# %% wrong: √d_v in place of √d_k
# like: the division forgotten on the way forth
# query.shape → value.shape
# key.swapaxes(-1, -2) → key.swapaxes(-1, -2) / scale
# %% wrong: no batch, .T
    scale = np.sqrt(query.shape[-1])
    a = softmax(query @ key.T / scale)
    g_a = g_output @ value.T
    g_s = a * (g_a - (a * g_a).sum(-1, keepdims=True)) / scale
    return g_s @ key, g_s.T @ query, a.T @ g_output
# %% wrong: numerically, which is to check it with -> takes more than
    def loss(q, k, v):
        return (attention(q, k, v) * g_output).sum()

    return (numeric_gradient(lambda z: loss(z, key, value), query),
            numeric_gradient(lambda z: loss(query, z, value), key),
            numeric_gradient(lambda z: loss(query, key, z), value))
# %% wrong: divides by 2, whatever d_k
    a = softmax(query @ np.swapaxes(key, -1, -2) / 2)
    g_value = np.swapaxes(a, -1, -2) @ g_output
    g_a = g_output @ np.swapaxes(value, -1, -2)
    g_s = a * (g_a - (a * g_a).sum(axis=-1, keepdims=True)) / 2
    return g_s @ key, np.swapaxes(g_s, -1, -2) @ query, g_value
# %% wrong: back by the batch size, not √d_k
    root = np.sqrt(query.shape[-1])
    a = softmax(query @ np.swapaxes(key, -1, -2) / root)
    g_value = np.swapaxes(a, -1, -2) @ g_output
    g_a = g_output @ np.swapaxes(value, -1, -2)
    g_s = a * (g_a - (a * g_a).sum(axis=-1, keepdims=True))
    g_s = g_s / len(query)
    return g_s @ key, np.swapaxes(g_s, -1, -2) @ query, g_value
# %% wrong: one axis in front, no more, no less
    root = np.sqrt(query.shape[-1])
    a = softmax(np.einsum("bld,bsd->bls", query, key) / root)
    g_value = np.einsum("bls,blv->bsv", a, g_output)
    g_a = np.einsum("blv,bsv->bls", g_output, value)
    g_s = a * (g_a - (a * g_a).sum(axis=-1, keepdims=True)) / root
    g_query = np.einsum("bls,bsd->bld", g_s, key)
    g_key = np.einsum("bls,bld->bsd", g_s, query)
    return g_query, g_key, g_value
# %% wrong: exp overflows
    root = np.sqrt(query.shape[-1])
    e = np.exp(query @ np.swapaxes(key, -1, -2) / root)
    a = e / e.sum(axis=-1, keepdims=True)
    g_value = np.swapaxes(a, -1, -2) @ g_output
    g_a = g_output @ np.swapaxes(value, -1, -2)
    g_s = a * (g_a - (a * g_a).sum(axis=-1, keepdims=True)) / root
    return g_s @ key, np.swapaxes(g_s, -1, -2) @ query, g_value
# %% wrong: scores clipped at 8
# like: exp overflows
# -     e = np.exp(query @ np.swapaxes(key, -1, -2) / root)
# -     a = e / e.sum(axis=-1, keepdims=True)
# +     scores = query @ np.swapaxes(key, -1, -2) / root
# +     a = softmax(np.clip(scores, -8, 8))
# %% wrong: squeeze drops axes of length 1
    root = np.sqrt(query.shape[-1])
    a = softmax(query @ np.swapaxes(key, -1, -2) / root)
    g_value = np.swapaxes(a, -1, -2) @ g_output
    g_a = g_output @ np.swapaxes(value, -1, -2)
    g_s = a * (g_a - (a * g_a).sum(axis=-1, keepdims=True)) / root
    g_query, g_key = g_s @ key, np.swapaxes(g_s, -1, -2) @ query
    return [np.squeeze(g) for g in (g_query, g_key, g_value)]
# %% wrong: axes in front flattened, left so
    q, k, v, g = [z.reshape(-1, *z.shape[-2:])
                  for z in (query, key, value, g_output)]
    root = q.shape[-1] ** 0.5
    g_q, g_k, g_v = [], [], []
    for n in range(len(q)):
        a = softmax(q[n] @ k[n].T / root)
        g_a = g[n] @ v[n].T
        g_s = a * (g_a - (a * g_a).sum(1, keepdims=True)) / root
        g_q.append(g_s @ k[n])
        g_k.append(g_s.T @ q[n])
        g_v.append(a.T @ g[n])
    return np.array(g_q), np.array(g_k), np.array(g_v)
# %% wrong: weights below 0.1% count as zero
# like: exp overflows
# e = np.exp → a = softmax
# e / e.sum(axis=-1, keepdims=True) → np.where(a < 1e-3, 0, a)
# %% wrong: 0 / 0 where a weight is zero
    root = np.sqrt(query.shape[-1])
    a = softmax(query @ np.swapaxes(key, -1, -2) / root)
    g_value = np.swapaxes(a, -1, -2) @ g_output
    pull = a * (g_output @ np.swapaxes(value, -1, -2))
    g_s = a * (pull / a - pull.sum(axis=-1, keepdims=True)) / root
    return g_s @ key, np.swapaxes(g_s, -1, -2) @ query, g_value
# %% wrong: query divided in place
# like: back by the batch size, not √d_k
# -     a = softmax(query @ np.swapaxes(key, -1, -2) / root)
# +     query /= root
# +     a = softmax(query @ np.swapaxes(key, -1, -2))
# g_s = g_s / len(query) → g_key = np.swapaxes(g_s, -1, -2) @ query
# key, np.swapaxes(g_s, -1, -2) @ query → key / root, g_key
# %% wrong: mean where the weighted sum belongs
# like: back by the batch size, not √d_k
# -     g_s = a * (g_a - (a * g_a).sum(axis=-1, keepdims=True))
# -     g_s = g_s / len(query)
# +     g_s = a * (g_a - g_a.mean(axis=-1, keepdims=True)) / root
# %% wrong: transposes missing, square only
    root = np.sqrt(query.shape[-1])
    a = softmax(query @ np.swapaxes(key, -1, -2) / root)
    g_a = g_output @ np.swapaxes(value, -1, -2)
    g_s = a * (g_a - (a * g_a).sum(axis=-1, keepdims=True)) / root
    return g_s @ key, g_s @ query, a @ g_output
# %% wrong: reshape where weights should turn
# like: transposes missing, square only
#       a = softmax(query @ np.swapaxes(key, -1, -2) / root)
# +     *front, length, s = a.shape
# +     g_value = a.reshape(*front, s, length) @ g_output
# g_s @ query, a @ g_output → np.swapaxes(g_s, -1, -2) @ query, g_value
# %% right: with the Jacobian of item 4
    root = query.shape[-1] ** 0.5
    a = softmax(np.einsum("...ld,...sd->...ls", query, key) / root)
    g_a = np.einsum("...lv,...sv->...ls", g_output, value)
    g_s = np.einsum("...lij,...li->...lj", softmax_jacobian(a), g_a)
    return (np.einsum("...ls,...sd->...ld", g_s, key) / root,
            np.einsum("...ls,...ld->...sd", g_s, query) / root,
            np.einsum("...ls,...lv->...sv", a, g_output))
# %% right: the scale goes with the query, and with the output's mean
    scale = 1 / np.sqrt(query.shape[-1])
    q = query * scale
    a = softmax(q @ key.swapaxes(-1, -2))
    output = a @ value
    mean = (g_output * output).sum(-1, keepdims=True)
    g_s = a * (g_output @ value.swapaxes(-1, -2) - mean)
    return [g_s @ key * scale, g_s.swapaxes(-1, -2) @ q,
            a.swapaxes(-1, -2) @ g_output]
# %% right: query by query
    g_q, g_k, g_v = (np.zeros_like(x) for x in (query, key, value))
    root = np.sqrt(query.shape[-1])
    for place in np.ndindex(query.shape[:-1]):
        front = place[:-1]
        q, g, k, v = query[place], g_output[place], key[front], value[front]
        a = softmax(k @ q / root)
        g_v[front] += np.outer(a, g)
        g_s = (np.diag(a) - np.outer(a, a)) @ (v @ g) / root
        g_q[place] = g_s @ k
        g_k[front] += np.outer(g_s, q)
    return g_q, g_k, g_v
# %% right: sequence by sequence, then restored
    def one(q, k, v, g):
        a = softmax(q @ k.T / np.sqrt(q.shape[1]))
        pull = a * (g @ v.T)
        g_s = pull - a * pull.sum(axis=1, keepdims=True)
        g_s /= np.sqrt(q.shape[1])
        return g_s @ k, g_s.T @ q, a.T @ g

    flat = [z.reshape(-1, *z.shape[-2:])
            for z in (query, key, value, g_output)]
    parts = [one(*sequence) for sequence in zip(*flat)]
    return tuple(np.stack(g).reshape(z.shape) for g, z in
                 zip(zip(*parts), (query, key, value)))
# %% right: keys by queries inside, softmax on axis -2
    root = np.sqrt(query.shape[-1])
    s = key @ np.swapaxes(query, -1, -2) / root  # (..., S, L)
    e = np.exp(s - s.max(axis=-2, keepdims=True))
    a = e / e.sum(axis=-2, keepdims=True)
    g_a = value @ np.swapaxes(g_output, -1, -2)
    g_a = g_a - (a * g_a).sum(axis=-2, keepdims=True)
    g_s = a * g_a / root
    return [np.swapaxes(g_s, -1, -2) @ key, g_s @ query, a @ g_output]
# %% cheat: torch takes the gradient -> imports torch
    import torch

    q, k, v = (torch.tensor(x, requires_grad=True)
               for x in (query, key, value))
    a = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1)
    (a @ v).backward(torch.tensor(g_output))
    return q.grad.numpy(), k.grad.numpy(), v.grad.numpy()
