# %% wrong: the other convention
def grouped_attention(query, key, value):
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    shared = [h % H_kv for h in range(H)]
    return attention(query, key[:, shared], value[:, shared])


# %% wrong: keys as asked, values the other way
def grouped_attention(query, key, value):
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    mine = [h // G for h in range(H)]
    other = [h % H_kv for h in range(H)]
    return attention(query, key[:, mine], value[:, other])


# %% wrong: queries of a group averaged
def grouped_attention(query, key, value):
    H, H_kv = query.shape[1], key.shape[1]
    query = query.unflatten(1, (H_kv, H // H_kv)).mean(2)
    return attention(query, key, value)


# %% wrong: everybody reads the first head
def grouped_attention(query, key, value):
    return attention(query, key[:, :1], value[:, :1])


# %% wrong: no sharing, broadcasting is hoped for
def grouped_attention(query, key, value):
    return attention(query, key, value)


# %% wrong: keys and values averaged over heads
def grouped_attention(query, key, value):
    return attention(query, key.mean(1, True), value.mean(1, True))


# %% wrong: repeated along the positions
def grouped_attention(query, key, value):
    H, H_kv = query.shape[1], key.shape[1]
    B = len(key)
    wide = key.repeat_interleave(H // H_kv, dim=2)
    key = wide.reshape(B, H, -1, key.shape[-1])
    wide = value.repeat_interleave(H // H_kv, dim=2)
    value = wide.reshape(B, H, -1, value.shape[-1])
    return attention(query, key, value)


# %% wrong: divides by the wrong number
def grouped_attention(query, key, value):
    H, H_kv = query.shape[1], key.shape[1]
    shared = [min(h // H_kv, H_kv - 1) for h in range(H)]
    return attention(query, key[:, shared], value[:, shared])


# %% wrong: heads in the opposite order
def grouped_attention(query, key, value):
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    shared = [H_kv - 1 - h // G for h in range(H)]
    return attention(query, key[:, shared], value[:, shared])


# %% wrong: only one answer for a group
def grouped_attention(query, key, value):
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    return torch.stack([
        attention(query[:, h * G], key[:, h], value[:, h])
        for h in range(H_kv)], dim=1)


# %% right: a loop over the query heads
def grouped_attention(query, key, value):
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    found = []
    for h in range(H):
        i = h // G
        found.append(attention(query[:, h], key[:, i], value[:, i]))
    return torch.stack(found, dim=1)


# %% right: picked by a table of zeros and ones
def grouped_attention(query, key, value):
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    pick = torch.zeros(H, H_kv, dtype=key.dtype)
    for h in range(H):
        pick[h, h // G] = 1
    key = torch.einsum("hg,bgsd->bhsd", pick, key)
    value = torch.einsum("hg,bgsd->bhsd", pick, value)
    return attention(query, key, value)


# %% right: a loop over the shared heads, answers put in place
def grouped_attention(query, key, value):
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    out = query.new_zeros(*query.shape[:3], value.shape[-1])
    for i in range(H_kv):
        mine = [h for h in range(H) if h // G == i]
        out[:, mine] = attention(
            query[:, mine], key[:, i : i + 1], value[:, i : i + 1])
    return out


# %% right: index_select, written out
def grouped_attention(query, key, value):
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    h = torch.arange(H)
    k = key.index_select(1, h // G)
    v = value.index_select(1, h // G)
    s = torch.einsum("bhld,bhsd->bhls", query, k) / query.size(-1) ** 0.5
    e = torch.exp(s - s.amax(-1, keepdim=True))
    return (e @ v) / e.sum(-1, keepdim=True)
