# %% wrong: the division forgotten on the way back
def attention_gradient(query, key, value, g_output):
    a = softmax(query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1]))
    g_a = g_output @ value.swapaxes(-1, -2)
    g_s = a * (g_a - (a * g_a).sum(-1, keepdims=True))
    return (g_s @ key, g_s.swapaxes(-1, -2) @ query,
            a.swapaxes(-1, -2) @ g_output)


# %% wrong: the division forgotten on the way forth
def attention_gradient(query, key, value, g_output):
    scale = np.sqrt(query.shape[-1])
    a = softmax(query @ key.swapaxes(-1, -2))
    g_a = g_output @ value.swapaxes(-1, -2)
    g_s = a * (g_a - (a * g_a).sum(-1, keepdims=True)) / scale
    return (g_s @ key, g_s.swapaxes(-1, -2) @ query,
            a.swapaxes(-1, -2) @ g_output)


# %% wrong: softmax as if it were a sigmoid
def attention_gradient(query, key, value, g_output):
    scale = np.sqrt(query.shape[-1])
    a = softmax(query @ key.swapaxes(-1, -2) / scale)
    g_a = g_output @ value.swapaxes(-1, -2)
    g_s = a * (1 - a) * g_a / scale
    return (g_s @ key, g_s.swapaxes(-1, -2) @ query,
            a.swapaxes(-1, -2) @ g_output)


# %% wrong: softmax left out on the way back
def attention_gradient(query, key, value, g_output):
    scale = np.sqrt(query.shape[-1])
    a = softmax(query @ key.swapaxes(-1, -2) / scale)
    g_s = g_output @ value.swapaxes(-1, -2) / scale
    return (g_s @ key, g_s.swapaxes(-1, -2) @ query,
            a.swapaxes(-1, -2) @ g_output)


# %% wrong: the row's sum forgotten
def attention_gradient(query, key, value, g_output):
    scale = np.sqrt(query.shape[-1])
    a = softmax(query @ key.swapaxes(-1, -2) / scale)
    g_s = a * (g_output @ value.swapaxes(-1, -2)) / scale
    return (g_s @ key, g_s.swapaxes(-1, -2) @ query,
            a.swapaxes(-1, -2) @ g_output)


# %% wrong: the sum runs over the queries
def attention_gradient(query, key, value, g_output):
    scale = np.sqrt(query.shape[-1])
    a = softmax(query @ key.swapaxes(-1, -2) / scale)
    g_a = g_output @ value.swapaxes(-1, -2)
    g_s = a * (g_a - (a * g_a).sum(-2, keepdims=True)) / scale
    return (g_s @ key, g_s.swapaxes(-1, -2) @ query,
            a.swapaxes(-1, -2) @ g_output)


# %% wrong: query and key swapped
def attention_gradient(query, key, value, g_output):
    scale = np.sqrt(query.shape[-1])
    a = softmax(query @ key.swapaxes(-1, -2) / scale)
    g_a = g_output @ value.swapaxes(-1, -2)
    g_s = a * (g_a - (a * g_a).sum(-1, keepdims=True)) / scale
    return (g_s.swapaxes(-1, -2) @ query, g_s @ key,
            a.swapaxes(-1, -2) @ g_output)


# %% wrong: the value's gradient without the weights
def attention_gradient(query, key, value, g_output):
    scale = np.sqrt(query.shape[-1])
    a = softmax(query @ key.swapaxes(-1, -2) / scale)
    g_a = g_output @ value.swapaxes(-1, -2)
    g_s = a * (g_a - (a * g_a).sum(-1, keepdims=True)) / scale
    even = np.ones_like(a) / a.shape[-1]
    return (g_s @ key, g_s.swapaxes(-1, -2) @ query,
            even.swapaxes(-1, -2) @ g_output)


# %% wrong: √d_v in place of √d_k
def attention_gradient(query, key, value, g_output):
    scale = np.sqrt(value.shape[-1])
    a = softmax(query @ key.swapaxes(-1, -2) / scale)
    g_a = g_output @ value.swapaxes(-1, -2)
    g_s = a * (g_a - (a * g_a).sum(-1, keepdims=True)) / scale
    return (g_s @ key, g_s.swapaxes(-1, -2) @ query,
            a.swapaxes(-1, -2) @ g_output)


# %% wrong: no batch, .T
def attention_gradient(query, key, value, g_output):
    scale = np.sqrt(query.shape[-1])
    a = softmax(query @ key.T / scale)
    g_a = g_output @ value.T
    g_s = a * (g_a - (a * g_a).sum(-1, keepdims=True)) / scale
    return g_s @ key, g_s.T @ query, a.T @ g_output


# %% right: with the Jacobian of item 4
def attention_gradient(query, key, value, g_output):
    root = query.shape[-1] ** 0.5
    a = softmax(np.einsum("...ld,...sd->...ls", query, key) / root)
    g_a = np.einsum("...lv,...sv->...ls", g_output, value)
    g_s = np.einsum("...lij,...li->...lj", softmax_jacobian(a), g_a)
    return (np.einsum("...ls,...sd->...ld", g_s, key) / root,
            np.einsum("...ls,...ld->...sd", g_s, query) / root,
            np.einsum("...ls,...lv->...sv", a, g_output))


# %% right: the scale goes with the query, and with the output's mean
def attention_gradient(query, key, value, g_output):
    scale = 1 / np.sqrt(query.shape[-1])
    q = query * scale
    a = softmax(q @ key.swapaxes(-1, -2))
    output = a @ value
    mean = (g_output * output).sum(-1, keepdims=True)
    g_s = a * (g_output @ value.swapaxes(-1, -2) - mean)
    return [g_s @ key * scale, g_s.swapaxes(-1, -2) @ q,
            a.swapaxes(-1, -2) @ g_output]


# %% right: query by query
def attention_gradient(query, key, value, g_output):
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


# %% wrong: numerically, which is to check it with -> takes more than
def attention_gradient(query, key, value, g_output):
    def loss(q, k, v):
        return (attention(q, k, v) * g_output).sum()

    return (numeric_gradient(lambda z: loss(z, key, value), query),
            numeric_gradient(lambda z: loss(query, z, value), key),
            numeric_gradient(lambda z: loss(query, key, z), value))


# %% cheat: torch takes the gradient -> imports torch
def attention_gradient(query, key, value, g_output):
    import torch

    q, k, v = (torch.tensor(x, requires_grad=True)
               for x in (query, key, value))
    a = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1)
    (a @ v).backward(torch.tensor(g_output))
    return q.grad.numpy(), k.grad.numpy(), v.grad.numpy()
