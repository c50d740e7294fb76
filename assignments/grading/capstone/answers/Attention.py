# %% wrong: no mask
# masked_fill(~may, -torch.inf).softmax → softmax
# %% wrong: a position does not see itself
# (S - L) → (S - L - 1)
# %% wrong: the next position is seen
# (S - L) → (S - L + 1)
# %% wrong: softmax over the queries
# softmax(-1) → softmax(-2)
# %% wrong: softmax over the heads
# softmax(-1) → softmax(1)
# %% wrong: softmax over the batch
# softmax(-1) → softmax(0)
# %% wrong: mask after softmax
# masked_fill(~may, -torch.inf).softmax(-1) → softmax(-1) * may
# %% wrong: hidden scores are 0
# may, -torch.inf → may, 0.0
# %% wrong: sigmoid in place of softmax
# softmax(-1) → sigmoid()
# %% wrong: the cache is never read
# -                 k = torch.cat([cache["k"], k], dim=2)
# -                 v = torch.cat([cache["v"], v], dim=2)
# +                 pass
# %% wrong: the cache is not appended, only the first piece is kept
# -             cache["k"], cache["v"] = k, v
# +             cache.setdefault("k", k)
# +             cache.setdefault("v", v)
# %% wrong: only the newest piece is kept
#           if cache is not None:
# +             new = k, v
# ["v"] = k, v → ["v"] = new
# %% wrong: cached keys stand behind the new ones
# cache["k"], k → k, cache["k"]
# cache["v"], v → v, cache["v"]
# %% wrong: keys are cached, values overwritten
# cache["v"], v → v.new_zeros(cache["v"].shape), v
# %% wrong: with a cache the mask is anchored top left
# tril(S - L) → tril()
# %% wrong: with a cache there is no mask
# - weights = scores.masked_fill(~may, -torch.inf).softmax(-1)
# + weights = (scores if cache else scores.masked_fill(~may, -torch.inf)).softmax(-1)
# %% wrong: keys are kept on the module
# cache: → hasattr(self, "old"):
# cache["k"], k → self.old[0], k
# cache["v"], v → self.old[1], v
# cache["k"], cache["v"] → self.old
# %% wrong: heads cut at once
# - q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
# + q, k, v = (w(x).reshape(len(x), self.heads, x.shape[1], -1)
# %% wrong: heads joined without moving back
# transpose(1, 2).flatten(-2) → reshape(x.shape)
# %% wrong: one head
# heads = heads → heads = 1
# %% wrong: all heads share the weights of head 0
# weights @ v → weights[:, :1] @ v
# %% wrong: weights are averaged over heads
# weights @ v → weights.mean(1, keepdim=True) @ v
# %% wrong: the residual is added
# return self → return x + self
# %% wrong: no scores: a mean over the past
# q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 → 0 * q @ k.transpose(-1, -2)
# %% wrong: dropout is on in evaluation
# weights @ v → F.dropout(weights, 0.1) @ v
# %% wrong: every sequence gets the first one's weights
# weights @ v → weights[:1] @ v
# %% wrong: output projection is made and not used
# - return self.w_o((weights @ v).transpose(1, 2).flatten(-2))
# + return (weights @ v).transpose(1, 2).flatten(-2)
# %% wrong: the keys are detached
#               cache["k"], cache["v"] = k, v
# +         k = k.detach()
# %% wrong: a triangle of 256, for 512 tokens
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.c_attn = nn.Linear(d_model, 3 * d_model)
        self.c_proj = nn.Linear(d_model, d_model)
        self.register_buffer("bias", torch.tril(torch.ones(256, 256)).view(
            1, 1, 256, 256))

    def forward(self, x, cache=None):
        B, T, C = x.shape
        q, k, v = self.c_attn(x).split(C, dim=2)
        q, k, v = (a.view(B, T, self.heads, C // self.heads).transpose(1, 2)
                   for a in (q, k, v))
        if cache is not None:
            if "k" in cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        S = k.shape[2]
        att = q @ k.transpose(-2, -1) / (C // self.heads) ** 0.5
        att = att.masked_fill(self.bias[:, :, S - T:S, :S] == 0, -torch.inf)
        y = att.softmax(-1) @ v
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))
# %% wrong: the cache keeps the last 128 positions
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, -1).permute(
            2, 0, 3, 1, 4)
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=-2)
                v = torch.cat([cache["v"], v], dim=-2)
            cache["k"], cache["v"] = k[:, :, -128:], v[:, :, -128:]
        S = k.shape[-2]
        later = torch.ones(T, S, dtype=torch.bool).triu(S - T + 1)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        weights = scores.masked_fill(later, -torch.inf).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(B, T, C))
# %% wrong: a window of 64 positions
# like: the cache keeps the last 128 positions
# d_model, heads → d_model, heads, window=64
# heads = heads → heads, self.window = heads, window
# d_model, d_model, bias=False → d_model, d_model
# k[:, :, -128:], v[:, :, -128:] → k, v
# -         later = torch.ones(T, S, dtype=torch.bool).triu(S - T + 1)
# +         i = torch.arange(S - T, S)[:, None]
# +         j = torch.arange(S)[None]
# +         seen = (j <= i) & (j > i - self.window)
# later, -torch → ~seen, -torch
# %% wrong: a text of exactly 512 tokens is refused
# like: the cache keeps the last 128 positions
# 3 * d_model, bias=False → 3 * d_model
# d_model, d_model, bias=False → d_model, d_model
# -         if cache is not None:
# -             if cache:
# -                 k = torch.cat([cache["k"], k], dim=-2)
# -                 v = torch.cat([cache["v"], v], dim=-2)
# -             cache["k"], cache["v"] = k[:, :, -128:], v[:, :, -128:]
# +         if cache:
# +             k = torch.cat([cache["k"], k], dim=-2)
# +             v = torch.cat([cache["v"], v], dim=-2)
#           S = k.shape[-2]
# +         if S >= 512:
# +             raise ValueError("the text is too long")
# +         if cache is not None:
# +             cache.update(k=k, v=v)
# %% wrong: keys on the layer, a count in the dict
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads, self.width = heads, d_model // heads
        self.wq = nn.Linear(d_model, d_model, bias=False)
        self.wk = nn.Linear(d_model, d_model, bias=False)
        self.wv = nn.Linear(d_model, d_model, bias=False)
        self.wo = nn.Linear(d_model, d_model, bias=False)
        self.cache_k = self.cache_v = None

    def forward(self, x, cache=None):
        B, T, C = x.shape
        shape = (B, T, self.heads, self.width)
        q, k, v = (w(x).view(shape) for w in (self.wq, self.wk, self.wv))
        if cache is not None:
            start = cache.get("start", 0)
            if start == 0:
                self.cache_k = x.new_zeros(B, 512, self.heads, self.width)
                self.cache_v = x.new_zeros(B, 512, self.heads, self.width)
            self.cache_k[:, start:start + T] = k.detach()
            self.cache_v[:, start:start + T] = v.detach()
            k = self.cache_k[:, :start + T]
            v = self.cache_v[:, :start + T]
            cache["start"] = start + T
        S = k.shape[1]
        scores = torch.einsum("bthd,bshd->bhts", q, k) / self.width ** 0.5
        mask = torch.full((T, S), float("-inf"), dtype=x.dtype).triu(
            S - T + 1)
        weights = (scores + mask).softmax(-1)
        y = torch.einsum("bhts,bshd->bthd", weights, v)
        return self.wo(y.reshape(B, T, C))
# %% wrong: the position is counted on the layer
# like: a window of 64 positions
# heads, window=64 → heads
# heads, self.window = heads, window → heads = heads
# d_model, bias=False → d_model
#           self.out = nn.Linear(d_model, d_model)
# +         self.pos = 0
#           B, T, C = x.shape
# +         if not cache:
# +             self.pos = 0
# if cache: → if "k" in cache:
# [cache["k"], k], dim=-2 → [cache["k"], k], dim=2
# [cache["v"], v], dim=-2 → [cache["v"], v], dim=2
# -         S = k.shape[-2]
# -         i = torch.arange(S - T, S)[:, None]
# -         j = torch.arange(S)[None]
# -         seen = (j <= i) & (j > i - self.window)
# +         query = torch.arange(self.pos, self.pos + T)
# +         self.pos += T
# +         seen = query[:, None] >= torch.arange(k.shape[2])
# %% wrong: keys on the layer under the dict's id
# like: the cache keeps the last 128 positions
# -         self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
# -         self.out = nn.Linear(d_model, d_model, bias=False)
# +         self.qkv = nn.Linear(d_model, 3 * d_model)
# +         self.out = nn.Linear(d_model, d_model)
# +         self.store = {}
# -             if cache:
# -                 k = torch.cat([cache["k"], k], dim=-2)
# -                 v = torch.cat([cache["v"], v], dim=-2)
# -             cache["k"], cache["v"] = k[:, :, -128:], v[:, :, -128:]
# -         S = k.shape[-2]
# +             if "begun" in cache and id(cache) in self.store:
# +                 old_k, old_v = self.store[id(cache)]
# +                 k = torch.cat([old_k, k], dim=2)
# +                 v = torch.cat([old_v, v], dim=2)
# +             cache["begun"] = True
# +             self.store[id(cache)] = k, v
# +         S = k.shape[2]
# %% wrong: cache with room for a batch of 4
# like: the cache keeps the last 128 positions
# d_model, heads → d_model, heads, max_batch=4, max_len=512
# heads = heads → heads, self.room = heads, (max_batch, max_len)
# 3 * d_model, bias=False → 3 * d_model
# d_model, d_model, bias=False → d_model, d_model
# 0, 3, 1 → 0, 1, 3
# -             if cache:
# -                 k = torch.cat([cache["k"], k], dim=-2)
# -                 v = torch.cat([cache["v"], v], dim=-2)
# -             cache["k"], cache["v"] = k[:, :, -128:], v[:, :, -128:]
# -         S = k.shape[-2]
# +             if not cache:
# +                 cache["kv"] = x.new_zeros(2, *self.room, *k.shape[2:])
# +                 cache["n"] = 0
# +             n = cache["n"]
# +             cache["kv"][0, :B, n:n + T] = k.detach()
# +             cache["kv"][1, :B, n:n + T] = v.detach()
# +             cache["n"] = n + T
# +             k, v = cache["kv"][:, :B, :n + T]
# +         S = k.shape[1]
# +         q, k, v = (a.transpose(1, 2) for a in (q, k, v))
# %% wrong: a LayerNorm in front
# like: the cache keeps the last 128 positions
# -         self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
# -         self.out = nn.Linear(d_model, d_model, bias=False)
# +         self.norm = nn.LayerNorm(d_model)
# +         self.qkv = nn.Linear(d_model, 3 * d_model)
# +         self.out = nn.Linear(d_model, d_model)
# -         q, k, v = self.qkv(x).view(B, T, 3, self.heads, -1).permute(
# -             2, 0, 3, 1, 4)
# +         qkv = self.qkv(self.norm(x))
# +         q, k, v = qkv.view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
# [cache["k"], k], dim=-2 → [cache["k"], k], dim=2
# [cache["v"], v], dim=-2 → [cache["v"], v], dim=2
# k[:, :, -128:], v[:, :, -128:] → k, v
# k.shape[-2] → k.shape[2]
# %% wrong: learned slopes of distance, 0 at first
# like: a LayerNorm in front
# -         self.norm = nn.LayerNorm(d_model)
#           self.out = nn.Linear(d_model, d_model)
# +         self.slopes = nn.Parameter(torch.zeros(heads))  # ALiBi, learned
# -         qkv = self.qkv(self.norm(x))
# -         q, k, v = qkv.view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
# +         q, k, v = self.qkv(x).view(B, T, 3, self.heads, -1).permute(
# +             2, 0, 3, 1, 4)
# - later = torch.ones(T, S, dtype=torch.bool).triu(S - T + 1)
# + distance = torch.arange(S - T, S)[:, None] - torch.arange(S)
# -         weights = scores.masked_fill(later, -torch.inf).softmax(-1)
# +         scores = scores - self.slopes[:, None, None] * distance
# +         weights = scores.masked_fill(distance < 0, -torch.inf).softmax(-1)
# %% wrong: a gated residual, 0 at first
# like: a LayerNorm in front
# -         self.norm = nn.LayerNorm(d_model)
#           self.out = nn.Linear(d_model, d_model)
# +         self.skip = nn.Parameter(torch.zeros(d_model))
# -         qkv = self.qkv(self.norm(x))
# -         q, k, v = qkv.view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
# +         q, k, v = self.qkv(x).view(B, T, 3, self.heads, -1).permute(
# +             2, 0, 3, 1, 4)
# -         return self.out((weights @ v).transpose(1, 2).reshape(B, T, C))
# +         y = self.out((weights @ v).transpose(1, 2).reshape(B, T, C))
# +         return y + self.skip * x
# %% wrong: plain exp, which overflows
# like: the cache keeps the last 128 positions
# 3 * d_model, bias=False → 3 * d_model
# d_model, d_model, bias=False → d_model, d_model
# [cache["k"], k], dim=-2 → [cache["k"], k], dim=2
# [cache["v"], v], dim=-2 → [cache["v"], v], dim=2
# k[:, :, -128:], v[:, :, -128:] → k, v
# k.shape[-2] → k.shape[2]
# -         weights = scores.masked_fill(later, -torch.inf).softmax(-1)
# +         e = scores.masked_fill(later, -torch.inf).exp()
# +         weights = e / e.sum(-1, keepdim=True)
# %% wrong: one largest score for all rows
# like: plain exp, which overflows
# -         e = scores.masked_fill(later, -torch.inf).exp()
# +         scores = scores.masked_fill(later, -torch.inf)
# +         e = (scores - scores.max()).exp()
# %% wrong: hidden scores are -1e4
# like: plain exp, which overflows
# (T, S, dtype=torch.bool).triu(S - T + 1) → (T, S, dtype=x.dtype).tril(S - T)
# -         e = scores.masked_fill(later, -torch.inf).exp()
# -         weights = e / e.sum(-1, keepdim=True)
# -         return self.out((weights @ v).transpose(1, 2).reshape(B, T, C))
# +         scores = scores * later - 1e4 * (1 - later)
# +         weights = scores.softmax(-1) @ v
# +         return self.out(weights.transpose(1, 2).reshape(B, T, C))
# %% wrong: mask after softmax, divided by the sum
# like: plain exp, which overflows
# -         later = torch.ones(T, S, dtype=torch.bool).triu(S - T + 1)
# -         scores = q @ k.mT / q.shape[-1] ** 0.5
# -         e = scores.masked_fill(later, -torch.inf).exp()
# -         weights = e / e.sum(-1, keepdim=True)
# +         weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
# +         weights = weights.tril(S - T)
# +         weights = weights / (weights.sum(-1, keepdim=True) + 1e-9)
# %% wrong: each head is d_model wide
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.tokeys = nn.Linear(d_model, d_model * heads, bias=False)
        self.toqueries = nn.Linear(d_model, d_model * heads, bias=False)
        self.tovalues = nn.Linear(d_model, d_model * heads, bias=False)
        self.unify = nn.Linear(heads * d_model, d_model)

    def forward(self, x, cache=None):
        b, t, k = x.shape
        h = self.heads
        keys = self.tokeys(x).view(b, t, h, k).transpose(1, 2)
        queries = self.toqueries(x).view(b, t, h, k).transpose(1, 2)
        values = self.tovalues(x).view(b, t, h, k).transpose(1, 2)
        if cache is not None:
            if cache:
                keys = torch.cat([cache["k"], keys], dim=2)
                values = torch.cat([cache["v"], values], dim=2)
            cache["k"], cache["v"] = keys, values
        s = keys.shape[2]
        dot = queries @ keys.transpose(2, 3) / k ** 0.5
        later = torch.ones(t, s, dtype=torch.bool).triu(s - t + 1)
        dot = dot.masked_fill(later, -torch.inf).softmax(-1)
        out = (dot @ values).transpose(1, 2).reshape(b, t, h * k)
        return self.unify(out)
# %% wrong: weights from the keys alone
# like: a LayerNorm in front
# norm = nn.LayerNorm(d_model) → score = nn.Linear(d_model, heads)
# qkv = nn.Linear(d_model, 3 * d_model) → value = nn.Linear(d_model, d_model)
# -         qkv = self.qkv(self.norm(x))
# -         q, k, v = qkv.view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
# +         s = self.score(x).transpose(1, 2)  # (B, heads, T)
# +         v = self.value(x).view(B, T, self.heads, -1).transpose(1, 2)
# k = torch.cat([cache["k"], k], dim=2) → s = torch.cat([cache["s"], s], dim=2)
# ["k"], cache["v"] = k → ["s"], cache["v"] = s
# k.shape → s.shape
# q @ k.mT / q.shape[-1] ** 0.5 → s[:, :, None].expand(B, self.heads, T, S)
# %% wrong: sqrt(width - 1), 0 for heads one wide
# like: plain exp, which overflows
# heads = heads → heads, self.width = heads, d_model // heads
#               2, 0, 3, 1, 4)
# +         q = q / (self.width - 1) ** 0.5
# -         scores = q @ k.mT / q.shape[-1] ** 0.5
# -         e = scores.masked_fill(later, -torch.inf).exp()
# -         weights = e / e.sum(-1, keepdim=True)
# +         weights = (q @ k.mT).masked_fill(later, -torch.inf).softmax(-1)
# %% wrong: off by one where a piece continues
# like: plain exp, which overflows
#               2, 0, 3, 1, 4)
# +         past = 0
#               if cache:
# +                 past = cache["k"].shape[2] + 1
# -         S = k.shape[2]
# -         later = torch.ones(T, S, dtype=torch.bool).triu(S - T + 1)
# +         seen = torch.ones(T, k.shape[2], dtype=torch.bool).tril(past)
# -         e = scores.masked_fill(later, -torch.inf).exp()
# -         weights = e / e.sum(-1, keepdim=True)
# +         weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
# %% wrong: cached keys joined on the wrong axis
# like: the cache keeps the last 128 positions
# 3 * d_model, bias=False → 3 * d_model
# d_model, d_model, bias=False → d_model, d_model
# [cache["k"], k], dim=-2 → [cache["k"], k], dim=1
# [cache["v"], v], dim=-2 → [cache["v"], v], dim=1
# k[:, :, -128:], v[:, :, -128:] → k, v
# k.shape[-2] → k.shape[2]
# %% wrong: `cache or {}` replaces the empty dict
# like: cached keys joined on the wrong axis
#           B, T, C = x.shape
# +         cache = cache or {}
# -         if cache is not None:
# -             if cache:
# -                 k = torch.cat([cache["k"], k], dim=1)
# -                 v = torch.cat([cache["v"], v], dim=1)
# -             cache["k"], cache["v"] = k, v
# +         if "k" in cache:
# +             k = torch.cat([cache["k"], k], dim=2)
# +             v = torch.cat([cache["v"], v], dim=2)
# +         cache["k"], cache["v"] = k, v
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
# -         L, S = q.shape[2], k.shape[2]
# -         may = torch.ones(L, S, dtype=torch.bool).tril(S - L)
# -         scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
# -         weights = scores.masked_fill(~may, -torch.inf).softmax(-1)
# -         return self.w_o((weights @ v).transpose(1, 2).flatten(-2))
# +         may = torch.ones(q.shape[2], k.shape[2]).bool()
# +         found = F.scaled_dot_product_attention(
# +             q, k, v, may.tril(k.shape[2] - q.shape[2]))
# +         return self.w_o(found.transpose(1, 2).flatten(-2))
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
        self.register_buffer("may", torch.tril(torch.ones(512, 512)) > 0)

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
# %% right: fused projection, comparison of positions, -inf
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.c_attn = nn.Linear(d_model, 3 * d_model)
        self.c_proj = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(C, dim=2)
        q = q.view(B, T, self.heads, -1).transpose(1, 2)
        k = k.view(B, T, self.heads, -1).transpose(1, 2)
        v = v.view(B, T, self.heads, -1).transpose(1, 2)
        past = 0
        if cache is not None:
            if "k" in cache:
                past = cache["k"].size(2)
                k = torch.cat((cache["k"], k), dim=2)
                v = torch.cat((cache["v"], v), dim=2)
            cache["k"], cache["v"] = k, v
        rows = torch.arange(past, past + T).unsqueeze(1)
        seen = rows >= torch.arange(past + T)
        att = (q @ k.transpose(-2, -1)) * k.size(-1) ** -0.5
        att = att.masked_fill(~seen, float("-inf"))
        y = F.softmax(att, dim=-1) @ v
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))
# %% right: heads with a dict of their own inside
class Head(nn.Module):
    def __init__(self, d_model, width):
        super().__init__()
        self.query = nn.Linear(d_model, width, bias=False)
        self.key = nn.Linear(d_model, width, bias=False)
        self.value = nn.Linear(d_model, width, bias=False)

    def forward(self, x, memory):
        q = self.query(x) / self.query.out_features ** 0.5
        k = torch.cat([*memory.get("k", []), self.key(x)], dim=1)
        v = torch.cat([*memory.get("v", []), self.value(x)], dim=1)
        memory["k"], memory["v"] = [k], [v]
        scores = q @ k.transpose(1, 2)
        T, S = scores.shape[1:]
        future = torch.triu(torch.ones(T, S), diagonal=S - T + 1) == 1
        return torch.softmax(
            torch.where(future, -torch.inf, scores), dim=2) @ v


class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.parts = nn.ModuleList(
            [Head(d_model, d_model // heads) for _ in range(heads)])
        self.join = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        if cache is None:
            cache = {}
        found = [part(x, cache.setdefault(number, {}))
                 for number, part in enumerate(self.parts)]
        return self.join(torch.cat(found, dim=-1))
# %% right: heads interleaved, finfo.min, zeroed
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.shape = (d_model // heads, heads)
        self.to_q = nn.Linear(d_model, d_model)
        self.to_kv = nn.Linear(d_model, 2 * d_model)
        self.to_out = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q = self.to_q(x).unflatten(-1, self.shape) * self.shape[0] ** -0.5
        kv = self.to_kv(x).unflatten(-1, (2, *self.shape))
        if cache is not None:
            if cache:
                kv = torch.cat([cache["kv"], kv], dim=1)
            cache["kv"] = kv
        k, v = kv.unbind(2)
        T, S = q.shape[1], k.shape[1]
        seen = torch.ones(S, S, dtype=torch.bool).tril()[S - T:]
        scores = torch.einsum("btdh,bsdh->bths", q, k)
        seen = seen[:, None]
        scores = scores.masked_fill(~seen, torch.finfo(x.dtype).min)
        weights = scores.softmax(-1) * seen
        weights = weights / weights.sum(-1, keepdim=True)
        found = torch.einsum("bths,bsdh->btdh", weights, v)
        return self.to_out(found.flatten(2))
# %% right: inputs cached, keys computed again
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(d_model, d_model)
        self.k = nn.Linear(d_model, d_model)
        self.v = nn.Linear(d_model, d_model)
        self.o = nn.Linear(d_model, d_model)

    def split(self, x):
        B, T, C = x.shape
        return x.reshape(B, T, self.heads, C // self.heads).permute(
            0, 2, 1, 3)

    def forward(self, x, cache=None):
        pieces = [x] if cache is None else [*cache.get("pieces", ()), x]
        if cache is not None:
            cache["pieces"] = pieces
        whole = torch.cat(pieces, dim=1)
        q = self.split(self.q(x))
        k = self.split(self.k(whole))
        v = self.split(self.v(whole))
        bias = x.new_full((whole.shape[1],) * 2, -torch.inf).triu(1)
        bias = bias[-x.shape[1]:]
        scores = torch.matmul(q, k.permute(0, 1, 3, 2)) / q.size(-1) ** 0.5
        found = torch.matmul(torch.softmax(scores + bias, dim=3), v)
        return self.o(found.permute(0, 2, 1, 3).flatten(2))
# %% right: position by position, no mask
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, C = x.shape
        qkv = self.qkv(x).reshape(B, T, 3, self.heads, C // self.heads)
        q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
        past = 0
        if cache:
            past = cache["keys"].shape[1]
            k = torch.cat([cache["keys"], k], 1)
            v = torch.cat([cache["values"], v], 1)
        if cache is not None:
            cache.update(keys=k, values=v)
        rows = []
        for t in range(T):
            end = past + t + 1
            s = (q[:, t, None] * k[:, :end]).sum(-1) / q.shape[-1] ** 0.5
            e = torch.exp(s - s.amax(1, keepdim=True))
            w = e / e.sum(1, keepdim=True)
            rows.append((w[..., None] * v[:, :end]).sum(1).flatten(1))
        return self.out(torch.stack(rows, dim=1))
# %% right: 3-D parameters, no scale
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        width = d_model // heads

        def new(*shape):
            return nn.Parameter(torch.randn(shape) * d_model ** -0.5)

        # a constant factor for the scores is part of w_q
        self.w_q, self.w_k, self.w_v = (new(heads, d_model, width)
                                        for _ in range(3))
        self.w_o = new(heads, width, d_model)

    def forward(self, x, cache=None):
        q = torch.einsum("btc,hcd->hbtd", x, self.w_q)
        k = torch.einsum("btc,hcd->hbtd", x, self.w_k)
        v = torch.einsum("btc,hcd->hbtd", x, self.w_v)
        if cache is not None:
            old_k, old_v = cache.get("kv", (k[:, :, :0], v[:, :, :0]))
            k = torch.cat([old_k, k], dim=2)
            v = torch.cat([old_v, v], dim=2)
            cache["kv"] = k, v
        T, S = q.shape[2], k.shape[2]
        scores = torch.einsum("hbtd,hbsd->hbts", q, k)
        at = torch.arange(S)
        scores = scores.masked_fill(at > at[S - T:, None], -torch.inf)
        weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
        return torch.einsum("hbts,hbsd,hdc->btc", weights, v, self.w_o)
# %% right: room for 512 in the dict, unused places are masked
class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        B, T, C = x.shape
        k, v, start = self.key(x), self.value(x), 0
        if cache is not None:
            if not cache:
                room = x.new_zeros(B, 512, C)
                cache.update(start=0, k=room, v=room)
            start = cache["start"]
            for name, new in (("k", k), ("v", v)):
                cache[name] = torch.cat([cache[name][:, :start], new,
                                         cache[name][:, start + T:]], dim=1)
            k, v, cache["start"] = cache["k"], cache["v"], start + T
        places = torch.arange(k.shape[1])
        mask = places[None] <= start + torch.arange(T)[:, None]
        found = []
        for q_h, k_h, v_h in zip(self.query(x).chunk(self.heads, -1),
                                 k.chunk(self.heads, -1),
                                 v.chunk(self.heads, -1)):
            scores = q_h @ k_h.mT / q_h.shape[-1] ** 0.5
            scores = scores.masked_fill(~mask, -torch.inf)
            found.append(scores.softmax(-1) @ v_h)
        return self.out(torch.cat(found, -1))
