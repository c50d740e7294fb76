# %% wrong: cut without transposing
    heads, d_v = found.shape[1], found.shape[3]
    return found @ w_o.reshape(heads, d_v, -1)
# %% wrong: added up already
    return found.transpose(1, 2).flatten(-2) @ w_o.T
# %% wrong: an equal share of the sum for each
    total = found.transpose(1, 2).flatten(-2) @ w_o.T
    heads = found.shape[1]
    return (total / heads)[:, None].expand(-1, heads, -1, -1)
# %% wrong: averaged over heads
    heads, d_v = found.shape[1], found.shape[3]
    return found @ w_o.T.unflatten(0, (heads, d_v)) / heads
# %% wrong: columns of the heads alternate
    heads, d_v = found.shape[1], found.shape[3]
    return found @ w_o.T.unflatten(0, (d_v, heads)).transpose(0, 1)
# %% wrong: every head meets the first block
    return found @ w_o[:, : found.shape[3]].T
# %% wrong: blocks in the opposite order
    blocks = w_o.T.unflatten(0, (found.shape[1], found.shape[3]))
    return found @ blocks.flip(0)
# %% wrong: rows of w_o for the heads
    blocks = w_o.chunk(found.shape[1], dim=0)
    return torch.stack(
        [found[:, h] @ b.T for h, b in enumerate(blocks)], dim=1)
# %% wrong: heads behind the positions
    blocks = w_o.T.unflatten(0, (found.shape[1], found.shape[3]))
    return (found @ blocks).transpose(1, 2)
# %% wrong: w_o cut into rows by reshape
    H, d_v = found.shape[1], found.shape[3]
    w = w_o.reshape(H, -1, d_v)
    return found @ w.transpose(1, 2)
# %% wrong: a width of 4 hard-coded
    terms = []
    for h in range(found.shape[1]):
        w = w_o[:, 4 * h:4 * h + 4]
        terms.append(found[:, h] @ w.T)
    return torch.stack(terms, dim=1)
# %% wrong: three heads hard-coded
    a, b, c = w_o.chunk(3, dim=1)
    return torch.stack([found[:, 0] @ a.T, found[:, 1] @ b.T,
                        found[:, 2] @ c.T], dim=1)
# %% wrong: d_model of 10 hard-coded
    B, H, L, d_v = found.shape
    terms = found.new_zeros(B, H, L, 10)
    for h in range(H):
        terms[:, h] = found[:, h] @ w_o[:, h * d_v:(h + 1) * d_v].T
    return terms
# %% wrong: index -h: terms 0, last, …, 1
    H = found.shape[1]
    heads, parts = found.unbind(1), w_o.chunk(H, dim=1)
    return torch.stack([heads[-h] @ parts[-h].T for h in range(H)], dim=1)
# %% wrong: heads that found nothing are left out
    H, d_v = found.shape[1], found.shape[3]
    terms = [found[:, h] @ w_o[:, h * d_v:(h + 1) * d_v].T
             for h in range(H) if found[:, h].any()]
    return torch.stack(terms, dim=1)
# %% wrong: squeeze drops dimensions of 1
    parts = torch.stack(w_o.chunk(found.shape[1], dim=1))
    terms = found[..., None, :] @ parts[:, None].transpose(-1, -2)
    return terms.squeeze()
# %% wrong: the whole output booked on head 0
    B, H, L, d_v = found.shape
    terms = found.new_zeros(B, H, L, w_o.shape[0])
    merged = found.transpose(1, 2).reshape(B, L, H * d_v)
    terms[:, 0] = merged @ w_o.T
    return terms
# %% wrong: a running total
    B, H, L, d_v = found.shape
    terms, only = [], torch.zeros_like(found)
    for h in range(H):
        only[:, h] = found[:, h]
        merged = only.transpose(1, 2).reshape(B, L, H * d_v)
        terms.append(merged @ w_o.T)
    return torch.stack(terms, dim=1)
# %% wrong: joined without moving the positions back
    B, H, L, d_v = found.shape
    terms = []
    for h in range(H):
        only = torch.zeros_like(found)
        only[:, h] = found[:, h]
        terms.append(only.reshape(B, L, H * d_v) @ w_o.T)
    return torch.stack(terms, dim=1)
# %% wrong: a batch of two hard-coded
    H, d_v = found.shape[1], found.shape[3]
    w = w_o.T.reshape(H, d_v, -1)
    return torch.stack([torch.bmm(found[0], w), torch.bmm(found[1], w)])
# %% wrong: the other heads are zeroed in place
    terms = []
    for kept in found.clone().unbind(1):
        found.zero_()
        found[:, len(terms)] = kept
        terms.append(found.transpose(1, 2).flatten(2) @ w_o.T)
    return torch.stack(terms, dim=1)
# %% wrong: a list of terms
    blocks = w_o.chunk(found.shape[1], dim=1)
    return [o @ b.T for o, b in zip(found.unbind(1), blocks)]
# %% right: a loop over slices
    d = found.shape[-1]
    terms = []
    for h in range(found.shape[1]):
        terms.append(found[:, h] @ w_o[:, h * d : (h + 1) * d].T)
    return torch.stack(terms, 1)
# %% right: einsum
    cut = w_o.unflatten(1, (found.shape[1], -1))
    return torch.einsum("bhld,mhd->bhlm", found, cut)
# %% right: all other heads set to zero
# like: joined without moving the positions back
# -     B, H, L, d_v = found.shape
# range(H) → range(found.shape[1])
# reshape(B, L, H * d_v) → transpose(1, 2).flatten(2)
# %% right: each head alone, by a table of ones
    B, H, L, d_v = found.shape
    alone = torch.eye(H, dtype=found.dtype)[:, None, :, None, None] * found
    merged = alone.transpose(2, 3).reshape(H, B, L, H * d_v)
    return (merged @ w_o.T).transpose(0, 1)
# %% right: with and without each head, subtracted
    def output(heads):
        return torch.cat(heads.unbind(1), dim=-1) @ w_o.T

    terms = []
    for h in range(found.shape[1]):
        without = found.clone()
        without[:, h] = 0
        terms.append(output(found) - output(without))
    return torch.stack(terms, dim=1)
# %% right: product and sum by broadcasting
    d_v = found.shape[-1]
    w = w_o.unflatten(1, (-1, d_v)).swapaxes(0, 1)
    return (found.unsqueeze(-2) * w.unsqueeze(1)).sum(-1)
# %% right: in single precision
# like: d_model of 10 hard-coded
# found.new_zeros(B, H, L, 10) → torch.zeros(B, H, L, len(w_o))
