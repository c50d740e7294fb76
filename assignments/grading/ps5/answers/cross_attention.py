# %% wrong: the wrong side asks
# asks @ w_q, asked @ w_k, asked → asked @ w_q, asks @ w_k, asks
# %% wrong: keys from the side that asks
# w_q, asked → w_q, asks
# %% wrong: values from the side that asks
# w_k, asked → w_k, asks
# %% wrong: the side that asks reads itself
# asked @ w_k, asked → asks @ w_k, asks
# %% wrong: the mask is not passed on
# asked @ w_v, may → asked @ w_v
# %% wrong: the mask means the opposite
    hidden = np.logical_not(may)
    output, weights = attention(
        asks @ w_q, asked @ w_k, asked @ w_v, hidden)
    return output, weights
# %% wrong: a causal mask as well
    causal = np.tri(asks.shape[-2], asked.shape[-2], dtype=bool)
    output, weights = attention(
        asks @ w_q, asked @ w_k, asked @ w_v, np.logical_and(may, causal))
    return output, weights
# %% wrong: the other order
# return output, weights → return weights, output
# %% wrong: values are not projected
# asked @ w_v → asked
# %% wrong: the side that asks is added
#       output, weights = attention(asks @ w_q, asked @ w_k, asked @ w_v, may)
# +     output = asks + output
# %% wrong: mask after softmax
    output, weights = attention(asks @ w_q, asked @ w_k, asked @ w_v)
    weights = weights * may
    output = weights @ (asked @ w_v)
    return output, weights
# %% wrong: scaled by the width of the stream
    query = asks @ w_q * np.sqrt(w_q.shape[1] / asks.shape[-1])
    output, weights = attention(query, asked @ w_k, asked @ w_v, may)
    return output, weights
# %% wrong: w_q and w_k exchanged
    query = asks @ w_k
    key = asked @ w_q
    value = asked @ w_v
    output, weights = attention(query, key, value, may)
    return output, weights
# %% wrong: keys projected with w_v
    query, key, value = asks @ w_q, asked @ w_v, asked @ w_v
    output, weights = attention(query, key, value, may)
    return output, weights
# %% wrong: scaled twice
# like: scaled by the width of the stream
# w_q * np.sqrt(w_q.shape[1] / asks.shape[-1]) → w_q / np.sqrt(w_q.shape[-1])
# %% wrong: einsum for exactly one batch axis
    query = np.einsum("bld,dk->blk", asks, w_q)
    key = np.einsum("bsd,dk->bsk", asked, w_k)
    value = np.einsum("bsd,dv->bsv", asked, w_v)
    output, weights = attention(query, key, value, may)
    return output, weights
# %% wrong: every mask taken as a key mask
#   def cross_attention(asks, asked, w_q, w_k, w_v, may=True):
# +     if may is not True:
# +         may = np.asarray(may)[..., None, :]
# %% wrong: the query is not projected
# asks @ w_q → asks
# %% wrong: the mask is transposed
#   def cross_attention(asks, asked, w_q, w_k, w_v, may=True):
# +     may = np.asarray(may)
# +     if may.ndim >= 2:
# +         may = may.swapaxes(-1, -2)
# %% wrong: w_q, w_k transposed as in nn.Linear
    query = asks @ w_q.T
    key = asked @ w_k.T
    output, weights = attention(query, key, asked @ w_v, may)
    return output, weights
# %% wrong: whole mask given to each sentence
    outputs, weights = [], []
    for y, x in zip(asks, asked):
        o, w = attention(y @ w_q, x @ w_k, x @ w_v, may)
        outputs.append(o)
        weights.append(w)
    output, weights = np.stack(outputs), np.stack(weights)
    return output, weights
# %% wrong: the first sentence's mask for all
#   def cross_attention(asks, asked, w_q, w_k, w_v, may=True):
# +     may = np.asarray(may)
# +     while may.ndim > 2:
# +         may = may[0]
# %% wrong: the sources as one long text
    flat = asked.reshape(-1, asked.shape[-1])
    output, weights = attention(asks @ w_q, flat @ w_k, flat @ w_v, may)
    return output, weights
# %% right: written out with einsum
    q = np.einsum("...ld,dk->...lk", asks, w_q)
    k = np.einsum("...sd,dk->...sk", asked, w_k)
    s = np.einsum("...lk,...sk->...ls", q, k) / np.sqrt(w_q.shape[1])
    s = np.where(may, s, np.finfo(s.dtype).min)
    e = np.exp(s - s.max(-1, keepdims=True))
    weights = e / e.sum(-1, keepdims=True)
    output = np.einsum("...ls,...sd,dv->...lv", weights, asked, w_v)
    return output, weights
# %% right: keys and values projected at once
    both = asked @ np.hstack([w_k, w_v])
    key, value = both[..., : w_k.shape[1]], both[..., w_k.shape[1] :]
    output, weights = attention(asks @ w_q, key, value, may)
    return output, weights
# %% right: w_q and w_k multiplied first
    s = asks @ (w_q @ w_k.T) @ asked.swapaxes(-1, -2) / w_k.shape[-1] ** 0.5
    s = s + np.where(may, 0.0, -np.inf)
    e = np.exp(s - np.max(s, axis=-1, keepdims=True))
    weights = e / np.sum(e, axis=-1, keepdims=True)
    output = weights @ asked @ w_v
    return output, weights
# %% right: one question at a time
    key, value = asked @ w_k, asked @ w_v
    L, S = asks.shape[-2], asked.shape[-2]
    may = np.broadcast_to(may, (*asks.shape[:-2], L, S))
    parts = [attention(asks[..., i : i + 1, :] @ w_q, key, value,
                       may[..., i : i + 1, :]) for i in range(L)]
    output = np.concatenate([o for o, _ in parts], axis=-2)
    weights = np.concatenate([w for _, w in parts], axis=-2)
    return output, weights
# %% right: einsum with an ellipsis
    def project(x, w):
        return np.einsum("...nd,de->...ne", x, w)

    output, weights = attention(
        project(asks, w_q), project(asked, w_k), project(asked, w_v), may)
    return output, weights
# %% right: values are projected after the mixing
    mixed, weights = attention(asks @ w_q, asked @ w_k, asked, may=may)
    output = mixed @ w_v
    return output, weights
# %% right: one matrix for both, the scale repaired
    both = w_q @ w_k.T  # (d_y, d_x)
    query = asks @ both * np.sqrt(w_k.shape[0] / w_k.shape[1])
    output, weights = attention(query, asked, asked @ w_v, may)
    return output, weights
# %% right: tensordot, keywords, a list returned
    query = np.tensordot(asks, w_q, axes=1)
    key = np.dot(asked, w_k)
    value = np.tensordot(asked, w_v, axes=([-1], [0]))
    output, weights = attention(query=query, key=key, value=value, may=may)
    return [output, weights]
# %% right: one sentence after the other
    lead, rows, cols = asks.shape[:-2], asks.shape[-2], asked.shape[-2]
    may = np.broadcast_to(may, lead + (rows, cols))
    output = np.zeros(lead + (rows, w_v.shape[1]))
    weights = np.zeros(lead + (rows, cols))
    for i in np.ndindex(*lead):
        output[i], weights[i] = attention(
            asks[i] @ w_q, asked[i] @ w_k, asked[i] @ w_v, may[i])
    return output, weights
# %% cheat: the book's package -> imports qkv
from qkv import reference


def cross_attention(asks, asked, w_q, w_k, w_v, may=True):
    weights = reference.softmax(
        asks @ w_q @ (asked @ w_k).swapaxes(-1, -2) / w_q.shape[1] ** 0.5)
    output = weights @ (asked @ w_v)
    return output, weights
# %% cheat: torch, which this set does not use -> imports torch
import torch
from torch.nn import functional as F


def cross_attention(asks, asked, w_q, w_k, w_v, may=True):
    q, k, v = map(torch.tensor, (asks @ w_q, asked @ w_k, asked @ w_v))
    output = F.scaled_dot_product_attention(q, k, v).numpy()
    weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1).numpy()
    return output, weights
