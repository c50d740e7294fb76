# %% wrong: cut without transposing
def head_terms(found, w_o):
    heads, d_v = found.shape[1], found.shape[3]
    return found @ w_o.reshape(heads, d_v, -1)


# %% wrong: added up already
def head_terms(found, w_o):
    return found.transpose(1, 2).flatten(-2) @ w_o.T


# %% wrong: an equal share of the sum for each
def head_terms(found, w_o):
    total = found.transpose(1, 2).flatten(-2) @ w_o.T
    heads = found.shape[1]
    return (total / heads)[:, None].expand(-1, heads, -1, -1)


# %% wrong: averaged over heads
def head_terms(found, w_o):
    heads, d_v = found.shape[1], found.shape[3]
    return found @ w_o.T.unflatten(0, (heads, d_v)) / heads


# %% wrong: columns of the heads alternate
def head_terms(found, w_o):
    heads, d_v = found.shape[1], found.shape[3]
    return found @ w_o.T.unflatten(0, (d_v, heads)).transpose(0, 1)


# %% wrong: every head meets the first block
def head_terms(found, w_o):
    return found @ w_o[:, : found.shape[3]].T


# %% wrong: blocks in the opposite order
def head_terms(found, w_o):
    blocks = w_o.T.unflatten(0, (found.shape[1], found.shape[3]))
    return found @ blocks.flip(0)


# %% wrong: rows of w_o for the heads
def head_terms(found, w_o):
    blocks = w_o.chunk(found.shape[1], dim=0)
    return torch.stack(
        [found[:, h] @ b.T for h, b in enumerate(blocks)], dim=1)


# %% wrong: heads behind the positions
def head_terms(found, w_o):
    blocks = w_o.T.unflatten(0, (found.shape[1], found.shape[3]))
    return (found @ blocks).transpose(1, 2)


# %% right: a loop over slices
def head_terms(found, w_o):
    d = found.shape[-1]
    terms = []
    for h in range(found.shape[1]):
        terms.append(found[:, h] @ w_o[:, h * d : (h + 1) * d].T)
    return torch.stack(terms, 1)


# %% right: einsum
def head_terms(found, w_o):
    cut = w_o.unflatten(1, (found.shape[1], -1))
    return torch.einsum("bhld,mhd->bhlm", found, cut)


# %% right: all other heads set to zero
def head_terms(found, w_o):
    terms = []
    for h in range(found.shape[1]):
        only = torch.zeros_like(found)
        only[:, h] = found[:, h]
        terms.append(only.transpose(1, 2).flatten(2) @ w_o.T)
    return torch.stack(terms, dim=1)
