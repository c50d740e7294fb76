# %% wrong: no mask
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.softmax(-1)
        return self.w_o((weights @ v).transpose(1, 2).flatten(-2))


# %% wrong: a position does not see itself
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L - 1)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).softmax(-1)
        return self.w_o((weights @ v).transpose(1, 2).flatten(-2))


# %% wrong: the next position is seen
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L + 1)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).softmax(-1)
        return self.w_o((weights @ v).transpose(1, 2).flatten(-2))


# %% wrong: softmax over the queries
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).softmax(-2)
        return self.w_o((weights @ v).transpose(1, 2).flatten(-2))


# %% wrong: softmax over the heads
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).softmax(1)
        return self.w_o((weights @ v).transpose(1, 2).flatten(-2))


# %% wrong: softmax over the batch
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).softmax(0)
        return self.w_o((weights @ v).transpose(1, 2).flatten(-2))


# %% wrong: mask after softmax
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.softmax(-1) * may
        return self.w_o((weights @ v).transpose(1, 2).flatten(-2))


# %% wrong: hidden scores are 0
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, 0.0).softmax(-1)
        return self.w_o((weights @ v).transpose(1, 2).flatten(-2))


# %% wrong: sigmoid in place of softmax
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).sigmoid()
        return self.w_o((weights @ v).transpose(1, 2).flatten(-2))


# %% wrong: the cache is never read
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                pass
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).softmax(-1)
        return self.w_o((weights @ v).transpose(1, 2).flatten(-2))


# %% wrong: the cache is not appended, only the first piece is kept
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache.setdefault("k", k)
            cache.setdefault("v", v)
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).softmax(-1)
        return self.w_o((weights @ v).transpose(1, 2).flatten(-2))


# %% wrong: only the newest piece is kept
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            new = k, v
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = new
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).softmax(-1)
        return self.w_o((weights @ v).transpose(1, 2).flatten(-2))


# %% wrong: cached keys stand behind the new ones
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([k, cache["k"]], dim=2)
                v = torch.cat([v, cache["v"]], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).softmax(-1)
        return self.w_o((weights @ v).transpose(1, 2).flatten(-2))


# %% wrong: keys are cached, values overwritten
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([v.new_zeros(cache["v"].shape), v], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).softmax(-1)
        return self.w_o((weights @ v).transpose(1, 2).flatten(-2))


# %% wrong: with a cache the mask is anchored top left
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril()
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).softmax(-1)
        return self.w_o((weights @ v).transpose(1, 2).flatten(-2))


# %% wrong: with a cache there is no mask
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = (scores if cache else scores.masked_fill(~may, -torch.inf)).softmax(-1)
        return self.w_o((weights @ v).transpose(1, 2).flatten(-2))


# %% wrong: keys are kept on the module
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if hasattr(self, "old"):
                k = torch.cat([self.old[0], k], dim=2)
                v = torch.cat([self.old[1], v], dim=2)
            self.old = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).softmax(-1)
        return self.w_o((weights @ v).transpose(1, 2).flatten(-2))


# %% wrong: heads cut at once
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).reshape(len(x), self.heads, x.shape[1], -1)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).softmax(-1)
        return self.w_o((weights @ v).transpose(1, 2).flatten(-2))


# %% wrong: heads joined without moving back
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).softmax(-1)
        return self.w_o((weights @ v).reshape(x.shape))


# %% wrong: one head
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = 1
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).softmax(-1)
        return self.w_o((weights @ v).transpose(1, 2).flatten(-2))


# %% wrong: all heads share the weights of head 0
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).softmax(-1)
        return self.w_o((weights[:, :1] @ v).transpose(1, 2).flatten(-2))


# %% wrong: weights are averaged over heads
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).softmax(-1)
        return self.w_o((weights.mean(1, keepdim=True) @ v).transpose(1, 2).flatten(-2))


# %% wrong: the residual is added
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).softmax(-1)
        return x + self.w_o((weights @ v).transpose(1, 2).flatten(-2))


# %% wrong: no scores: a mean over the past
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = 0 * q @ k.transpose(-1, -2)
        weights = scores.masked_fill(~may, -torch.inf).softmax(-1)
        return self.w_o((weights @ v).transpose(1, 2).flatten(-2))


# %% wrong: dropout is on in evaluation
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).softmax(-1)
        return self.w_o((F.dropout(weights, 0.1) @ v).transpose(1, 2).flatten(-2))


# %% wrong: every sequence gets the first one's weights
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).softmax(-1)
        return self.w_o((weights[:1] @ v).transpose(1, 2).flatten(-2))


# %% wrong: output projection is made and not used
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).softmax(-1)
        return (weights @ v).transpose(1, 2).flatten(-2)


# %% wrong: the keys are detached
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        k = k.detach()
        L, S = q.shape[2], k.shape[2]
        may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~may, -torch.inf).softmax(-1)
        return self.w_o((weights @ v).transpose(1, 2).flatten(-2))


# %% cheat: torch's own layer -> MultiheadAttention
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.layer = nn.MultiheadAttention(d_model, heads, batch_first=True)

    def forward(self, x, cache=None):
        T = x.shape[1]
        mask = torch.ones(T, T).triu(1).bool()
        return self.layer(x, x, x, attn_mask=mask)[0]


# %% cheat: the fused function -> scaled_dot_product_attention
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for w in (self.w_q, self.w_k, self.w_v))
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        may = torch.ones(q.shape[2], k.shape[2]).bool()
        found = F.scaled_dot_product_attention(
            q, k, v, may.tril(k.shape[2] - q.shape[2]))
        return self.w_o(found.transpose(1, 2).flatten(-2))


# %% right: fused projection without bias, einsum, a mask of indices
import math


class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.h, self.d = heads, d_model // heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)
        nn.init.zeros_(self.out.weight)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.h, self.d).unbind(2)
        past = 0
        if cache is not None:
            if "kv" in cache:
                past = cache["kv"].shape[2]
                k, v = torch.cat([cache["kv"], torch.stack([k, v])], 2)
            cache["kv"] = torch.stack([k, v])
        scores = torch.einsum("bthd,bshd->bhts", q, k) / math.sqrt(self.d)
        row = torch.arange(past, past + T)[:, None]
        column = torch.arange(past + T)[None]
        scores = scores.masked_fill(column > row, float("-inf"))
        mix = torch.einsum("bhts,bshd->bthd", F.softmax(scores, dim=-1), v)
        return self.out(mix.reshape(B, T, D))


# %% right: a list of heads, inputs cached instead of keys, -1e9, exp by hand
class Head(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.q, self.k, self.v = (
            nn.Parameter(torch.randn(d_model, d_k) / d_model ** 0.5)
            for _ in range(3))

    def forward(self, x, whole):
        scores = (x @ self.q) @ (whole @ self.k).mT / self.q.shape[1] ** 0.5
        T, S = scores.shape[-2:]
        scores = scores + torch.full((T, S), -1e9).triu(S - T + 1)
        e = torch.exp(scores - scores.max(-1, keepdim=True).values)
        return e / e.sum(-1, keepdim=True) @ (whole @ self.v)


class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.parts = nn.ModuleList(
            Head(d_model, d_model // heads) for _ in range(heads))
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        whole = x
        if cache is not None:
            whole = torch.cat([cache["x"], x], 1) if "x" in cache else x
            cache["x"] = whole
        return self.w_o(torch.cat([p(x, whole) for p in self.parts], -1))


# %% right: a fixed mask buffer, lists of pieces in the cache, softmax in float32, dropout in training
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads, self.drop = heads, nn.Dropout(0.1)
        self.w_kv = nn.Linear(d_model, 2 * d_model)
        self.w_q = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)
        self.register_buffer("may", torch.tril(torch.ones(256, 256)) > 0)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        k, v = self.w_kv(x).chunk(2, dim=-1)
        if cache is not None:
            cache.setdefault("k", []).append(k)
            cache.setdefault("v", []).append(v)
            k, v = torch.cat(cache["k"], 1), torch.cat(cache["v"], 1)
        S = k.shape[1]
        q, k, v = (a.view(B, -1, self.heads, D // self.heads).permute(
            0, 2, 1, 3) for a in (self.w_q(x), k, v))
        w = q @ k.transpose(2, 3) * (D // self.heads) ** -0.5
        w = w.masked_fill(~self.may[S - T:S, :S], float("-inf"))
        w = self.drop(w.float().softmax(-1).to(v.dtype))
        return self.w_o((w @ v).permute(0, 2, 1, 3).reshape(B, T, D))


# %% right: queries and keys normalised, a learned temperature per head
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w = nn.ModuleDict({n: nn.Linear(d_model, d_model, bias=False)
                                for n in "qkvo"})
        self.scale = nn.Parameter(torch.full((heads, 1, 1), 3.0))

    def forward(self, x, cache=None):
        def cut(y):
            return y.reshape(*y.shape[:2], self.heads, -1).transpose(1, 2)
        q = F.normalize(cut(self.w["q"](x)), dim=-1)
        k = F.normalize(cut(self.w["k"](x)), dim=-1)
        v = cut(self.w["v"](x))
        if cache is not None:
            k, v = (torch.cat([*cache.get(n, []), y], 2)
                    for n, y in (("k", k), ("v", v)))
            cache["k"], cache["v"] = [k], [v]
        scores = self.scale * (q @ k.transpose(-1, -2))
        new = q.shape[2]
        late = torch.ones(new, k.shape[2]).triu(k.shape[2] - new + 1) > 0
        scores[..., late] = float("-inf")
        y = scores.softmax(-1) @ v
        return self.w["o"](y.transpose(1, 2).reshape(x.shape))
