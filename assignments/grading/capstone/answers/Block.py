# %% wrong: no residual around attention
# x = x + self → x = self
# %% wrong: no residual around the feed-forward network
# return x + self → return self
# %% wrong: no norm
# -         self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
# self.norm_1(x) → x
# self.norm_2(x) → x
# %% wrong: no norm before the feed-forward network
# norm_1, self.norm_2 = nn.LayerNorm(d_model), nn → norm_1 = nn
# self.norm_2(x) → x
# %% wrong: no norm before attention
# norm_1, self.norm_2 = nn.LayerNorm(d_model), nn → norm_2 = nn
# self.norm_1(x) → x
# %% wrong: the cache is not passed on
# (x), cache → (x)
# %% wrong: a fresh cache each time
# (x), cache → (x), {}
# %% wrong: no activation
# , nn.GELU(), → ,
# %% wrong: no feed-forward network
# -         self.feed_forward = nn.Sequential(
# -             nn.Linear(d_model, 4 * d_model), nn.GELU(),
# -             nn.Linear(4 * d_model, d_model))
# -         self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
# +         self.norm_1 = nn.LayerNorm(d_model)
# x + self.feed_forward(self.norm_2(x)) → x
# %% wrong: feed-forward made and not used
# x + self.feed_forward(self.norm_2(x)) → self.norm_2(x)
# %% wrong: norm over the positions
# norm_1, self.norm_2 = nn.LayerNorm(d_model), nn → norm_2 = nn
# -         x = x + self.attention(self.norm_1(x), cache)
# +         mean, std = x.mean(1, keepdim=True), x.std(1, keepdim=True)
# +         x = x + self.attention((x - mean) / (std + 1e-5), cache)
# %% wrong: norm over positions and features
# norm_1, self.norm_2 = nn.LayerNorm(d_model), nn → norm_2 = nn
# self.norm_1(x) → F.layer_norm(x, x.shape[1:])
# %% wrong: norm over the batch
# norm_1, self.norm_2 = nn.LayerNorm(d_model), nn → norm_2 = nn
# self.norm_1(x) → (x - x.mean(0)) / (x.std(0) + 1)
# %% wrong: dropout is on in evaluation
# - return x + self.feed_forward(self.norm_2(x))
# + return x + F.dropout(self.feed_forward(self.norm_2(x)), 0.1)
# %% wrong: attention is run twice with one cache
# -         x = x + self.attention(self.norm_1(x), cache)
# +         x = self.norm_1(x) + 0 * self.attention(x, cache) + self.attention(
# +             x, cache)
# %% wrong: batch norm over the features
# norm_2 = nn.LayerNorm → norm_2 = nn.BatchNorm1d
# (x), cache → (x.transpose(1, 2)).transpose(1, 2), cache
# %% wrong: post-norm without a feed-forward network
# like: no feed-forward network
# self.norm_1(x) → x
# return x → return self.norm_1(x)
# %% wrong: the norm's result is thrown away
# -         x = x + self.attention(self.norm_1(x), cache)
# +         self.norm_1(x)
# +         x = x + self.attention(x, cache)
# %% wrong: the feed-forward network reads the mean of all positions
# norm_2(x) → norm_2(x.mean(1, keepdim=True))
# %% wrong: post-norm without residuals
# -         x = x + self.attention(self.norm_1(x), cache)
# -         return x + self.feed_forward(self.norm_2(x))
# +         x = self.norm_1(self.attention(x, cache))
# +         return self.norm_2(self.feed_forward(x))
# %% wrong: post-norm, residual around attention forgotten
# like: post-norm without residuals
# self.feed_forward(x) → x + self.feed_forward(x)
# %% right: post-norm with ReLU
# like: post-norm, residual around attention forgotten
# nn.GELU → nn.ReLU
# self.attention(x, cache) → x + self.attention(x, cache)
# %% wrong: SwiGLU, three matrices
class RMSNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return self.gain * x * (x.square().mean(-1, True) + 1e-6).rsqrt()


class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attend = Attention(d_model, heads)
        self.norms = nn.ModuleList([RMSNorm(d_model), RMSNorm(d_model)])
        self.gate = nn.Linear(d_model, 4 * d_model, bias=False)
        self.up = nn.Linear(d_model, 4 * d_model, bias=False)
        self.down = nn.Linear(4 * d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        x = x + self.attend(self.norms[0](x), cache=cache)
        y = self.norms[1](x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))
# %% wrong: both in parallel, one norm for the two
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, heads)
        self.w_1 = nn.Linear(d_model, 4 * d_model)
        self.w_2 = nn.Linear(4 * d_model, d_model)
        self.drop = nn.Dropout(0.2)

    def forward(self, x, cache=None):
        y = self.norm(x)
        found = self.attention(y, cache) + self.w_2(torch.relu(self.w_1(y)))
        return x + self.drop(found)
# %% right: norms behind both, inside the residual; gains
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.a = Attention(d_model, heads)
        self.f = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.SiLU(),
                               nn.Dropout(0.1),
                               nn.Linear(4 * d_model, d_model))
        self.n_a, self.n_f = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.gain = nn.Parameter(torch.tensor([0.5, 0.5]))

    def forward(self, x, cache=None):
        x = x + self.gain[0] * self.n_a(self.a(x, cache))
        return x + self.gain[1] * self.n_f(self.f(x))
# %% right: RMSNorm, SiLU, no biases
# like: SwiGLU, three matrices
# class RMSNorm → class RMS
# (self, d) → (self, width)
# ones(d) → ones(width)
# -         return self.gain * x * (x.square().mean(-1, True) + 1e-6).rsqrt()
# +         mean = x.pow(2).mean(-1, keepdim=True)
# +         return self.gain * x * torch.rsqrt(mean + 1e-6)
# -         self.attend = Attention(d_model, heads)
# -         self.norms = nn.ModuleList([RMSNorm(d_model), RMSNorm(d_model)])
# -         self.gate = nn.Linear(d_model, 4 * d_model, bias=False)
# -         self.up = nn.Linear(d_model, 4 * d_model, bias=False)
# -         self.down = nn.Linear(4 * d_model, d_model, bias=False)
# +         self.norms = nn.ModuleList([RMS(d_model), RMS(d_model)])
# +         self.attention = Attention(d_model, heads)
# +         self.w1 = nn.Linear(d_model, 4 * d_model, bias=False)
# +         self.w2 = nn.Linear(4 * d_model, d_model, bias=False)
# x + self.attend → x + self.attention
# y = self → h = self
# down(F.silu(self.gate(y)) * self.up(y)) → w2(F.silu(self.w1(h)))
# %% right: norm after the first sum, then before
# like: no feed-forward network
# -         self.norm_1 = nn.LayerNorm(d_model)
# +         self.after = nn.LayerNorm(d_model)
# +         self.before = nn.LayerNorm(d_model)
# +         self.ff = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.ReLU(),
# +                                 nn.Linear(4 * d_model, d_model))
# -         x = x + self.attention(self.norm_1(x), cache)
# +         x = self.after(x + self.attention(x, cache))
# +         x = x + self.ff(self.before(x))
# %% right: nn.Parameter and einsum, norms without any
def standardise(x):
    x = x - x.mean(dim=-1, keepdim=True)
    return x / (x.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt()


class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.w = nn.Parameter(torch.randn(4 * d_model, d_model)
                              / d_model ** 0.5)
        self.b = nn.Parameter(torch.zeros(4 * d_model))
        self.u = nn.Parameter(torch.randn(d_model, 4 * d_model)
                              / (4 * d_model) ** 0.5)
        self.c = nn.Parameter(torch.zeros(d_model))

    def forward(self, x, cache=None):
        found = self.attention(standardise(x), cache)
        x = found + x
        hidden = torch.einsum("btd,hd->bth", standardise(x), self.w) + self.b
        hidden = torch.where(hidden > 0, hidden, torch.zeros_like(hidden))
        return x + torch.einsum("bth,dh->btd", hidden, self.u) + self.c
# %% right: a wrapper with dropout for both
class Sublayer(nn.Module):
    def __init__(self, size, dropout):
        super().__init__()
        self.a = nn.Parameter(torch.ones(size))
        self.b = nn.Parameter(torch.zeros(size))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, part):
        mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True)
        normed = self.a * (x - mean) / (std + 1e-6) + self.b
        return x + self.dropout(part(normed))


class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.ff = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.ReLU(),
                                nn.Linear(4 * d_model, d_model))
        self.sub1 = Sublayer(d_model, 0.05)
        self.sub2 = Sublayer(d_model, 0.05)

    def forward(self, x, cache=None):
        x = self.sub1(x, lambda h: self.attention(h, cache))
        return self.sub2(x, self.ff)
# %% right: norm before the first, after the second sum
#           super().__init__()
# +         self.n = nn.LayerNorm(d_model)
# +         self.m = nn.LayerNorm(d_model)
# -         self.feed_forward = nn.Sequential(
# -             nn.Linear(d_model, 4 * d_model), nn.GELU(),
# -             nn.Linear(4 * d_model, d_model))
# -         self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
# +         self.ff = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(),
# +                                 nn.Linear(4 * d_model, d_model))
# x = x + self.attention(self.norm_1 → h = x + self.attention(self.n
# x + self.feed_forward(self.norm_2(x)) → self.m(h + self.ff(h))
# %% right: unit length, one position after the other
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.size = d_model ** 0.5
        self.attention = Attention(d_model, heads)
        self.up = nn.Linear(d_model, 4 * d_model)
        self.back = nn.Linear(4 * d_model, d_model)

    def norm(self, x):
        return F.normalize(x, dim=-1) * self.size

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm(x), cache)
        rows = []
        for t in range(x.shape[1]):
            row = x[:, t]
            rows.append(row + self.back(F.gelu(self.up(self.norm(row)))))
        return torch.stack(rows, dim=1)
# %% right: feed-forward as convolutions of width 1
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attn = Attention(d_model, heads)
        self.c1 = nn.Conv1d(d_model, 4 * d_model, 1)
        self.c2 = nn.Conv1d(4 * d_model, d_model, 1)

    def forward(self, x, cache=None):
        x = x + self.attn(self.ln1(x), cache)
        h = self.ln2(x).transpose(1, 2)
        return x + self.c2(F.silu(self.c1(h))).transpose(1, 2)
# %% right: keeps what came in and reads it again
# like: norm before the first, after the second sum
# -         self.n = nn.LayerNorm(d_model)
# -         self.m = nn.LayerNorm(d_model)
# +         self.norm1 = nn.LayerNorm(d_model, elementwise_affine=False)
# +         self.norm2 = nn.LayerNorm(d_model, elementwise_affine=False)
# nn.GELU → nn.ReLU
# -         h = x + self.attention(self.n(x), cache)
# -         return self.m(h + self.ff(h))
# +         T, whole = x.shape[1], x
# +         if cache is not None:
# +             if "x" in cache:
# +                 whole = torch.cat([cache["x"], x], dim=1)
# +             cache["x"] = whole
# +         found = self.attention(self.norm1(whole))[:, -T:]
# +         x = x + found
# +         return x + self.ff(self.norm2(x))
# %% wrong: post-norm with one norm only, at the end
# like: norm after the first sum, then before
#           super().__init__()
# +         self.norm = nn.LayerNorm(d_model)
# -         self.after = nn.LayerNorm(d_model)
# -         self.before = nn.LayerNorm(d_model)
# self.after(x + self.attention(x, cache)) → x + self.attention(x, cache)
# self.before(x) → x
# return x → return self.norm(x)
# %% wrong: one norm at the entry, x itself is lost
# like: no feed-forward network
#           super().__init__()
# +         self.norm = nn.LayerNorm(d_model)
# -         self.norm_1 = nn.LayerNorm(d_model)
# +         self.ff = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.ReLU(),
# +                                 nn.Linear(4 * d_model, d_model))
# -         x = x + self.attention(self.norm_1(x), cache)
# +         x = self.norm(x)
# +         x = x + self.attention(x, cache)
# +         x = x + self.ff(x)
# %% wrong: the residual is the normed input, not x
# like: one norm at the entry, x itself is lost
# -         self.norm = nn.LayerNorm(d_model)
# +         self.norm1 = nn.LayerNorm(d_model)
# +         self.norm2 = nn.LayerNorm(d_model)
# nn.ReLU → nn.GELU
# norm(x) → norm1(x)
#           x = x + self.attention(x, cache)
# +         x = self.norm2(x)
# %% wrong: the norm divides by the variance
# like: norm before the first, after the second sum
# - class Block(nn.Module):
# + class Norm(nn.Module):
# +     def __init__(self, d_model):
# +         super().__init__()
# +         self.gain = nn.Parameter(torch.ones(d_model))
# +         self.bias = nn.Parameter(torch.zeros(d_model))
# +
# +     def forward(self, x):
# +         mean = x.mean(-1, keepdim=True)
# +         var = x.var(-1, keepdim=True, unbiased=False)
# +         return self.gain * (x - mean) / (var + 1e-5) + self.bias
# +
# +
# + class Block(nn.Module):
# -         self.n = nn.LayerNorm(d_model)
# -         self.m = nn.LayerNorm(d_model)
# +         self.norm1, self.norm2 = Norm(d_model), Norm(d_model)
# h = x + self.attention(self.n → x = x + self.attention(self.norm1
# self.m(h + self.ff(h)) → x + self.ff(self.norm2(x))
# %% wrong: the norm only subtracts the mean
# -         self.feed_forward = nn.Sequential(
# -             nn.Linear(d_model, 4 * d_model), nn.GELU(),
# -             nn.Linear(4 * d_model, d_model))
# -         self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
# +         self.ff = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(),
# +                                 nn.Linear(4 * d_model, d_model))
# self.norm_1(x) → x - x.mean(-1, keepdim=True)
# feed_forward(self.norm_2(x)) → ff(x - x.mean(-1, keepdim=True))
# %% wrong: tanh of each feature instead of a norm
# like: the norm only subtracts the mean
# x - x.mean(-1, keepdim=True), cache → torch.tanh(x), cache
# (x - x.mean(-1, keepdim=True)) → (torch.tanh(x))
# %% wrong: norm in half precision, overflows
# like: the norm only subtracts the mean
#                                   nn.Linear(4 * d_model, d_model))
#
# +     def norm(self, x):
# +         h = x.half()
# +         h = h - h.mean(-1, keepdim=True)
# +         h = h / h.abs().mean(-1, keepdim=True)
# +         return h.to(x.dtype)
# +
# x - x.mean(-1, keepdim=True), cache → self.norm(x), cache
# (x - x.mean(-1, keepdim=True)) → (self.norm(x))
# %% wrong: one residual round both
# like: norm before the first, after the second sum
# n = nn → norm1 = nn
# m = nn → norm2 = nn
# -         h = x + self.attention(self.n(x), cache)
# -         return self.m(h + self.ff(h))
# +         h = self.attention(self.norm1(x), cache)
# +         h = self.ff(self.norm2(h))
# +         return x + h
# %% wrong: post-norm, one residual round both
# like: norm before the first, after the second sum
# n = nn → norm1 = nn
# m = nn → norm2 = nn
# x + self.attention(self.n(x), cache) → self.norm1(self.attention(x, cache))
# m(h + self.ff(h)) → norm2(x + self.ff(h))
# %% wrong: x is added a second time at the end
# like: one residual round both
# h = self.attention → h = x + self.attention
# h = self.ff → h = h + self.ff
# %% wrong: what attention found is added twice
# like: one residual round both
# h = self.attention → found = self.attention
# self.ff(self.norm2(h)) → x + found
# x + h → h + found + self.ff(self.norm2(h))
# %% wrong: ReLU before the two matrices, none between
# like: norm before the first, after the second sum
# n = nn → norm1 = nn
# m = nn → norm2 = nn
# - self.ff = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(),
# + self.ff = nn.Sequential(nn.ReLU(), nn.Linear(d_model, 4 * d_model),
# h = x + self.attention(self.n → x = x + self.attention(self.norm1
# self.m(h + self.ff(h)) → x + self.ff(self.norm2(x))
# %% wrong: ReLU after the two matrices, none between
# like: ReLU before the two matrices, none between
# -         self.ff = nn.Sequential(nn.ReLU(), nn.Linear(d_model, 4 * d_model),
# -                                 nn.Linear(4 * d_model, d_model))
# +         self.up = nn.Linear(d_model, 4 * d_model)
# +         self.down = nn.Linear(4 * d_model, d_model)
# self.ff(self.norm2(x)) → F.relu(self.down(self.up(self.norm2(x))))
# %% wrong: ReLU on the sum, as in a ResNet
# like: post-norm, one residual round both
# -         self.ff = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(),
# -                                 nn.Linear(4 * d_model, d_model))
# +         self.up = nn.Linear(d_model, 4 * d_model)
# +         self.down = nn.Linear(4 * d_model, d_model)
# h = self.norm1(self → x = self.norm1(x + self
# x + self.ff(h) → F.relu(x + self.down(self.up(x)))
# %% wrong: tanh instead of ReLU, GELU or SiLU
# like: ReLU before the two matrices, none between
# - self.ff = nn.Sequential(nn.ReLU(), nn.Linear(d_model, 4 * d_model),
# + self.ff = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.Tanh(),
# %% wrong: feed-forward no wider than the model
# like: ReLU before the two matrices, none between
# ReLU(), nn.Linear(d_model, 4 * d_model) → Linear(d_model, d_model), nn.GELU()
# 4 * d_model, d_model → d_model, d_model
# %% wrong: hidden width 48 for every d_model
# like: ReLU before the two matrices, none between
# ReLU(), nn.Linear(d_model, 4 * d_model) → Linear(d_model, 48), nn.GELU()
# 4 * d_model, d_model → 48, d_model
# %% wrong: always four heads
# like: norm before the first, after the second sum
# self, d_model, heads → self, d_model, heads=4
# n = nn → norm1 = nn
# m = nn → norm2 = nn
# (d_model, heads) → (d_model, 4)
# h = x + self.attention(self.n → x = x + self.attention(self.norm1
# self.m(h + self.ff(h)) → x + self.ff(self.norm2(x))
# %% wrong: feed-forward is a causal convolution
# like: ReLU before the two matrices, none between
# -         self.ff = nn.Sequential(nn.ReLU(), nn.Linear(d_model, 4 * d_model),
# -                                 nn.Linear(4 * d_model, d_model))
# +         self.up = nn.Conv1d(d_model, 4 * d_model, 3)
# +         self.down = nn.Conv1d(4 * d_model, d_model, 1)
# -         return x + self.ff(self.norm2(x))
# +         h = F.pad(self.norm2(x).transpose(1, 2), (2, 0))
# +         return x + self.down(F.gelu(self.up(h))).transpose(1, 2)
# %% wrong: feed-forward mixes in the position before
# like: post-norm, one residual round both
# -         h = self.norm1(self.attention(x, cache))
# -         return self.norm2(x + self.ff(h))
# +         x = x + self.attention(self.norm1(x), cache)
# +         h = self.norm2(x)
# +         last = torch.zeros_like(h[:, :1])
# +         if cache is not None:
# +             last = cache.get("ff_last", last)
# +             cache["ff_last"] = h[:, -1:]
# +         before = torch.cat([last, h[:, :-1]], dim=1)
# +         return x + self.ff((h + before) / 2)
# %% wrong: adds positions inside the block
# like: ReLU before the two matrices, none between
# - self.ff = nn.Sequential(nn.ReLU(), nn.Linear(d_model, 4 * d_model),
# + self.ff = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(),
#       def forward(self, x, cache=None):
# +         start = 0
# +         if cache is not None:
# +             start = cache.get("block_start", 0)
# +             cache["block_start"] = start + x.shape[1]
# +         t = torch.arange(start, start + x.shape[1], dtype=x.dtype)
# +         speed = 0.5 ** torch.arange(x.shape[2], dtype=x.dtype)
# +         x = x + torch.sin(torch.outer(t, speed))
# %% wrong: an empty cache counts as no cache
# like: post-norm, one residual round both
# -         h = self.norm1(self.attention(x, cache))
# -         return self.norm2(x + self.ff(h))
# +         if cache:
# +             found = self.attention(self.norm1(x), cache)
# +         else:
# +             found = self.attention(self.norm1(x))
# +         x = x + found
# +         return x + self.ff(self.norm2(x))
# %% wrong: what was before is kept in the block
# like: post-norm, one residual round both
#                                   nn.Linear(4 * d_model, d_model))
# +         self.kept = {}
# -         h = self.norm1(self.attention(x, cache))
# -         return self.norm2(x + self.ff(h))
# +         if cache is None:
# +             found = self.attention(self.norm1(x))
# +         else:
# +             if not cache:  # a new text
# +                 self.kept = {}
# +                 cache["started"] = True
# +             found = self.attention(self.norm1(x), self.kept)
# +         x = x + found
# +         return x + self.ff(self.norm2(x))
# %% wrong: x is changed in place
# like: norm before the first, after the second sum
# n = nn → norm1 = nn
# m = nn → norm2 = nn
# h = x + self.attention(self.n → x += self.attention(self.norm1
# self.m(h + self.ff(h)) → x + self.ff(self.norm2(x))
# %% wrong: the feed-forward layers are in a Python list
# like: ReLU before the two matrices, none between
# -         self.ff = nn.Sequential(nn.ReLU(), nn.Linear(d_model, 4 * d_model),
# -                                 nn.Linear(4 * d_model, d_model))
# +         self.ff = [nn.Linear(d_model, 4 * d_model), nn.GELU(),
# +                    nn.Linear(4 * d_model, d_model)]
# -         return x + self.ff(self.norm2(x))
# +         h = self.norm2(x)
# +         for layer in self.ff:
# +             h = layer(h)
# +         return x + h
# %% wrong: returns the cache as well
# like: x is changed in place
# x += self → x = x + self
# (self.norm2(x)) → (self.norm2(x)), cache
# %% wrong: post-norm without an activation
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.norm1 = nn.LayerNorm(d_model)
        self.up = nn.Linear(d_model, 4 * d_model)
        self.down = nn.Linear(4 * d_model, d_model)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, x, cache=None):
        x = self.norm1(x + self.attention(x, cache))
        return self.norm2(x + self.down(self.up(x)))
# %% wrong: feed-forward reads what attention found
# like: x is changed in place
# x += self → found = self
# self.ff(self.norm2(x)) → found + self.ff(self.norm2(found))
# %% right: one norm, after the first sum
# like: norm before the first, after the second sum
# -         self.n = nn.LayerNorm(d_model)
# -         self.m = nn.LayerNorm(d_model)
# +         self.norm = nn.LayerNorm(d_model)
# -         h = x + self.attention(self.n(x), cache)
# -         return self.m(h + self.ff(h))
# +         x = self.norm(x + self.attention(x, cache))
# +         return x + self.ff(x)
# %% right: both use the same norm
# like: one norm, after the first sum
# -         x = self.norm(x + self.attention(x, cache))
# -         return x + self.ff(x)
# +         x = x + self.attention(self.norm(x), cache)
# +         return x + self.ff(self.norm(x))
# %% wrong: gates that start at 0
# like: x is changed in place
#                                   nn.Linear(4 * d_model, d_model))
# +         self.gate1 = nn.Parameter(torch.zeros(d_model))
# +         self.gate2 = nn.Parameter(torch.zeros(d_model))
# x += self → x = x + self.gate1 * self
# x + self.ff → x + self.gate2 * self.ff
