# %% wrong: queries of a group averaged
    H, H_kv = query.shape[1], key.shape[1]
    query = query.unflatten(1, (H_kv, H // H_kv)).mean(2)
    return attention(query, key, value)
# %% wrong: the other convention
# h // G → h % H_kv
# %% wrong: keys as asked, values the other way
# -     return attention(query, key[:, shared], value[:, shared])
# +     other = [h % H_kv for h in range(H)]
# +     return attention(query, key[:, shared], value[:, other])
# %% wrong: everybody reads the first head
    return attention(query, key[:, :1], value[:, :1])
# %% wrong: no sharing, broadcasting is hoped for
    return attention(query, key, value)
# %% wrong: keys and values averaged over heads
    return attention(query, key.mean(1, True), value.mean(1, True))
# %% wrong: repeated along the positions
    H, H_kv = query.shape[1], key.shape[1]
    B = len(key)
    wide = key.repeat_interleave(H // H_kv, dim=2)
    key = wide.reshape(B, H, -1, key.shape[-1])
    wide = value.repeat_interleave(H // H_kv, dim=2)
    value = wide.reshape(B, H, -1, value.shape[-1])
    return attention(query, key, value)
# %% wrong: divides by the wrong number
    H, H_kv = query.shape[1], key.shape[1]
    shared = [min(h // H_kv, H_kv - 1) for h in range(H)]
    return attention(query, key[:, shared], value[:, shared])
# %% wrong: heads in the opposite order
# h // G → H_kv - 1 - h // G
# %% wrong: only one answer for a group
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    return torch.stack([
        attention(query[:, h * G], key[:, h], value[:, h])
        for h in range(H_kv)], dim=1)
# %% wrong: keys the other way, values as asked
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    key = key.repeat(1, G, 1, 1)
    value = value.repeat_interleave(G, dim=1)
    return attention(query, key, value)
# %% wrong: groups of two hard-coded
# like: keys the other way, values as asked
# key.repeat(1, G, 1, 1) → key.repeat_interleave(2, dim=1)
# G, dim → 2, dim
# %% wrong: a table for six query heads hard-coded
# shared = [h // G for h in range(H)] → which = [0, 0, 1, 1, 2, 2]
# [:, shared], value[:, shared] → [:, which], value[:, which]
# %% wrong: the loop leaves out the last query head
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    B, _, L, _ = query.shape
    out = query.new_zeros(B, H, L, value.shape[-1])
    for h in range(H - 1):
        out[:, h] = attention(query[:, h], key[:, h // G], value[:, h // G])
    return out
# %% wrong: scaled twice
# like: keys the other way, values as asked
# -     key = key.repeat(1, G, 1, 1)
# +     query = query / query.shape[-1] ** 0.5
# +     key = key.repeat_interleave(G, dim=1)
# %% wrong: sequence 0 for the whole batch
# like: keys the other way, values as asked
# key.repeat(1, G, 1, 1) → torch.repeat_interleave(key[0], G, dim=0)
# value.repeat_interleave(G, dim=1 → torch.repeat_interleave(value[0], G, dim=0
# %% wrong: everybody reads the keys of head 0
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    value = value.repeat_interleave(G, dim=1)
    return attention(query, key[:, :1], value)
# %% wrong: query heads in steps of H_kv
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    found = []
    for j in range(H_kv):
        mine = query[:, j::H_kv]
        found.append(attention(mine, key[:, j:j + 1], value[:, j:j + 1]))
    return torch.cat(found, dim=1)
# %% wrong: answers in the order of the members
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    found = [attention(query[:, g::G], key, value) for g in range(G)]
    return torch.cat(found, dim=1)
# %% wrong: view, but queries may be a view already
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    B, _, L, d_k = query.shape
    found = attention(query.view(B, H_kv, G * L, d_k), key, value)
    return found.view(B, H, L, -1)
# %% wrong: queries averaged, the answer repeated
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    query = query.unflatten(1, (H_kv, G)).mean(2)
    found = attention(query, key, value)
    return found.repeat_interleave(G, dim=1)
# %% wrong: squeeze drops dimensions of 1
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    key = key.repeat_interleave(G, dim=1)
    value = value.repeat_interleave(G, dim=1)
    return attention(query, key, value).squeeze()
# %% wrong: positions repeated, groups broadcast
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    query = query.unflatten(1, (H_kv, G))
    key = key.repeat_interleave(G, dim=2).unsqueeze(2)
    value = value.repeat(1, 1, G, 1).unsqueeze(2)
    return attention(query, key, value).flatten(1, 2)
# %% wrong: key heads averaged, value heads shared
# like: keys the other way, values as asked
# key.repeat(1, G, 1, 1) → key.mean(1, keepdim=True)
# %% wrong: a causal mask nobody asked for
# like: squeeze drops dimensions of 1
#       G = H // H_kv
# +     L, S = query.shape[2], key.shape[2]
# +     may = torch.ones(L, S, dtype=torch.bool).tril()
# (query, key, value).squeeze() → (query, key, value, may)
# %% wrong: the keys are scaled in place
    H, H_kv = query.shape[1], key.shape[1]
    key /= query.shape[-1] ** 0.5
    key = key.repeat_interleave(H // H_kv, dim=1)
    value = value.repeat_interleave(H // H_kv, dim=1)
    return (query @ key.mT).softmax(-1) @ value
# %% right: a loop over the query heads
# like: query heads in steps of H_kv
# j in range(H_kv) → h in range(H)
# mine = query[:, j::H_kv] → i = h // G
# mine, key[:, j:j + 1], value[:, j:j + 1 → query[:, h], key[:, i], value[:, i
# torch.cat → torch.stack
# %% right: picked by a table of zeros and ones
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    pick = torch.zeros(H, H_kv, dtype=key.dtype)
    for h in range(H):
        pick[h, h // G] = 1
    key = torch.einsum("hg,bgsd->bhsd", pick, key)
    value = torch.einsum("hg,bgsd->bhsd", pick, value)
    return attention(query, key, value)
# %% right: a loop over the shared heads
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    out = query.new_zeros(*query.shape[:3], value.shape[-1])
    for i in range(H_kv):
        mine = [h for h in range(H) if h // G == i]
        out[:, mine] = attention(
            query[:, mine], key[:, i : i + 1], value[:, i : i + 1])
    return out
# %% right: index_select, written out
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    h = torch.arange(H)
    k = key.index_select(1, h // G)
    v = value.index_select(1, h // G)
    s = torch.einsum("bhld,bhsd->bhls", query, k) / query.size(-1) ** 0.5
    e = torch.exp(s - s.amax(-1, keepdim=True))
    return (e @ v) / e.sum(-1, keepdim=True)
# %% right: groups get a dimension, keys broadcast
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    grouped = query.unflatten(1, (H_kv, G))
    found = attention(grouped, key.unsqueeze(2), value.unsqueeze(2))
    return found.flatten(1, 2)
# %% right: queries of a group one after the other
# like: view, but queries may be a view already
# query.view → query.reshape
# found.view → found.reshape
# %% right: one index, h * H_kv // H
# [h // G for h in range(H)] → torch.tensor([h * H_kv // H for h in range(H)])
# value[:, shared] → value.index_select(1, shared)
# %% right: members of the groups in turn
# like: answers in the order of the members
# cat(found, dim=1) → stack(found, dim=2).flatten(1, 2)
# %% right: expand and flatten in a helper
    H, H_kv = query.shape[1], key.shape[1]
    G = H // H_kv
    def shared(x):
        return x[:, :, None].expand(-1, -1, G, -1, -1).flatten(1, 2)

    return attention(query, shared(key), shared(value))
