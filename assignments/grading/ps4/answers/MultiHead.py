# %% wrong: w_o is forgotten
# - return self.w_o(merge_heads(attention(q, k, v, may)))
# + return merge_heads(attention(q, k, v, may))
# %% wrong: heads cut and joined at once
# -         q = split_heads(self.w_q(x), self.heads)
# -         k = split_heads(self.w_k(source), self.heads)
# -         v = split_heads(self.w_v(source), self.heads)
# -         return self.w_o(merge_heads(attention(q, k, v, may)))
# +         B, L, d = x.shape
# +         shape = B, self.heads, -1, d // self.heads
# +         q, k = self.w_q(x).view(shape), self.w_k(source).view(shape)
# +         v = self.w_v(source).view(shape)
# +         return self.w_o(attention(q, k, v, may).reshape(B, L, d))
# %% wrong: joined without moving back
# merge_heads(attention(q, k, v, may) → attention(q, k, v, may).reshape(x.shape
# %% wrong: the mask is not passed on
# v, may → v
# %% wrong: the mask means the opposite
#           v = split_heads(self.w_v(source), self.heads)
# +         may = None if may is None else ~may
# %% wrong: the source is ignored
# x if source is None else source → x
# %% wrong: the source asks
# (x), self → (source), self
# w_k(source) → w_k(x)
# w_v(source) → w_v(x)
# %% wrong: values from x
# w_v(source) → w_v(x)
# %% wrong: keys and values exchanged
# q, k, v → q, v, k
# %% wrong: x is added
# return self → return x + self
# %% wrong: scaled by the width of the model
#           v = split_heads(self.w_v(source), self.heads)
# +         q = q * (q.shape[-1] / x.shape[-1]) ** 0.5
# %% wrong: one head, whatever was asked for
# (x), self.heads → (x), 1
# w_k(source), self.heads → w_k(source), 1
# w_v(source), self.heads → w_v(source), 1
# %% wrong: every head as wide as the model
# w_q = nn.Linear(d_model, d_model → w_q = nn.Linear(d_model, heads * d_model
# w_k = nn.Linear(d_model, d_model → w_k = nn.Linear(d_model, heads * d_model
# w_v = nn.Linear(d_model, d_model → w_v = nn.Linear(d_model, heads * d_model
# w_o = nn.Linear(d_model → w_o = nn.Linear(heads * d_model
# %% wrong: with a bias
# -         self.w_q = nn.Linear(d_model, d_model, bias=False)
# -         self.w_k = nn.Linear(d_model, d_model, bias=False)
# -         self.w_v = nn.Linear(d_model, d_model, bias=False)
# -         self.w_o = nn.Linear(d_model, d_model, bias=False)
# +         self.w_q = nn.Linear(d_model, d_model)
# +         self.w_k = nn.Linear(d_model, d_model)
# +         self.w_v = nn.Linear(d_model, d_model)
# +         self.w_o = nn.Linear(d_model, d_model)
# %% wrong: new matrices at every call
# -         self.w_q = nn.Linear(d_model, d_model, bias=False)
# -         self.w_k = nn.Linear(d_model, d_model, bias=False)
# -         self.w_v = nn.Linear(d_model, d_model, bias=False)
# -         self.w_o = nn.Linear(d_model, d_model, bias=False)
#           source = x if source is None else source
# +         d = x.shape[-1]
# +         self.w_q, self.w_k, self.w_v, self.w_o = (
# +             nn.Linear(d, d, bias=False).double() for _ in range(4))
# %% wrong: heads averaged before w_o
# -         return self.w_o(merge_heads(attention(q, k, v, may)))
# +         found = attention(q, k, v, may).mean(1)
# +         return self.w_o(found.repeat(1, 1, self.heads))
# %% wrong: the mask is dropped when there is a source
# like: w_o is forgotten
# -         source = x if source is None else source
# +         if source is None:
# +             out = self.ask(x, x, may)
# +         else:
# +             out = self.ask(x, source)
# +         return self.w_o(out)
# +
# +     def ask(self, x, y, may=None):
# w_k(source) → w_k(y)
# w_v(source) → w_v(y)
# %% wrong: two dimensions in front of every mask
# -         source = x if source is None else source
# +         if source is None:
# +             source = x
# -         return self.w_o(merge_heads(attention(q, k, v, may)))
# +         if may is not None:
# +             may = may[None, None, :, :]
# +         found = attention(q, k, v, may)
# +         return self.w_o(merge_heads(found))
# %% wrong: one dimension in front of the last three
# like: two dimensions in front of every mask
# [None, None, :, :] → .unsqueeze(-3)
# %% wrong: scaled twice, here and in attention
# like: two dimensions in front of every mask
# -         if may is not None:
# -             may = may[None, None, :, :]
# +         q = q / q.shape[-1] ** 0.5
# %% wrong: always three heads
# like: scaled twice, here and in attention
# heads = heads → heads = 3
# -         q = q / q.shape[-1] ** 0.5
# %% wrong: keys come from w_v
# like: scaled twice, here and in attention
# w_k(source) → w_v(source)
# -         q = q / q.shape[-1] ** 0.5
# %% wrong: keys come from w_q, copied and pasted
# like: scaled twice, here and in attention
# w_k(source) → w_q(source)
# -         q = q / q.shape[-1] ** 0.5
# %% wrong: w_o by hand, not transposed
# like: scaled twice, here and in attention
# -         q = q / q.shape[-1] ** 0.5
# self.w_o(merge_heads(found)) → merge_heads(found) @ self.w_o.weight
# %% wrong: w_k by hand, not transposed
# like: scaled twice, here and in attention
# -         k = split_heads(self.w_k(source), self.heads)
# +         k = source @ self.w_k.weight
# +         k = split_heads(k, self.heads)
# -         q = q / q.shape[-1] ** 0.5
# %% wrong: causal if L = S and there is no mask
# like: scaled twice, here and in attention
# -         q = q / q.shape[-1] ** 0.5
# +         L, S = q.shape[-2], k.shape[-2]
# +         if may is None and L == S:
# +             may = torch.ones(L, S, dtype=torch.bool).tril()
# %% wrong: every mask is made causal as well
# like: two dimensions in front of every mask
# -             may = may[None, None, :, :]
# +             L, S = q.shape[-2], k.shape[-2]
# +             may = may & torch.ones(L, S, dtype=torch.bool).tril()
# %% wrong: a residual when there is a source
# -         source = x if source is None else source
# +         cross = source is not None
# +         if not cross:
# +             source = x
# -         return self.w_o(merge_heads(attention(q, k, v, may)))
# +         found = attention(q, k, v, may)
# +         out = self.w_o(merge_heads(found))
# +         return x + out if cross else out
# %% wrong: normalises first, like a pre-norm block
# like: scaled twice, here and in attention
#               source = x
# +         x = nn.functional.layer_norm(x, x.shape[-1:])
# +         source = nn.functional.layer_norm(source, source.shape[-1:])
# -         q = q / q.shape[-1] ** 0.5
# %% wrong: d_model // heads heads
# like: scaled twice, here and in attention
# heads = heads → heads = d_model // heads
# -         q = q / q.shape[-1] ** 0.5
# %% wrong: the first sequence's mask for all
# like: two dimensions in front of every mask
# not None → not None and may.dim() == 4
# None, None, :, : → :1
# %% wrong: the mask of head 0 for all heads
# like: two dimensions in front of every mask
# not None → not None and may.dim() > 2
# None, None → ..., :1
# %% wrong: the source is cut to the length of x
# like: scaled twice, here and in attention
#               source = x
# +         source = source[:, :x.shape[1]]
# -         q = q / q.shape[-1] ** 0.5
# %% wrong: no gradient through the values
#           v = split_heads(self.w_v(source), self.heads)
# +         v = v.detach()
# %% wrong: no gradient at all: no_grad in forward
#           self.w_o = nn.Linear(d_model, d_model, bias=False)
#
# +     @torch.no_grad()
# %% wrong: returns the heads as well
# -         return self.w_o(merge_heads(attention(q, k, v, may)))
# +         found = attention(q, k, v, may)
# +         return self.w_o(merge_heads(found)), found
# %% right: a loop over slices of columns
# -         source = x if source is None else source
# -         q = split_heads(self.w_q(x), self.heads)
# -         k = split_heads(self.w_k(source), self.heads)
# -         v = split_heads(self.w_v(source), self.heads)
# -         return self.w_o(merge_heads(attention(q, k, v, may)))
# +         if source is None:
# +             source = x
# +         q, k, v = self.w_q(x), self.w_k(source), self.w_v(source)
# +         if may is not None:
# +             may = may.expand(len(x), self.heads, x.shape[1], source.shape[1])
# +         found = []
# +         d = x.shape[-1] // self.heads
# +         for h in range(self.heads):
# +             c = slice(h * d, (h + 1) * d)
# +             mask = None if may is None else may[:, h]
# +             found.append(attention(q[..., c], k[..., c], v[..., c], mask))
# +         return self.w_o(torch.cat(found, dim=-1))
# %% right: einsum, scaled beforehand, finfo.min
# heads = heads → heads, self.d_k = heads, d_model // heads
# -         q = split_heads(self.w_q(x), self.heads)
# -         k = split_heads(self.w_k(source), self.heads)
# -         v = split_heads(self.w_v(source), self.heads)
# -         return self.w_o(merge_heads(attention(q, k, v, may)))
# +         q = self.w_q(x).unflatten(-1, (self.heads, -1)) * self.d_k**-0.5
# +         k = self.w_k(source).unflatten(-1, (self.heads, -1))
# +         v = self.w_v(source).unflatten(-1, (self.heads, -1))
# +         s = torch.einsum("blhd,bshd->bhls", q, k)
# +         if may is not None:
# +             s = s.masked_fill(~may, torch.finfo(s.dtype).min)
# +         w = torch.softmax(s, dim=-1)
# +         found = torch.einsum("bhls,bshd->blhd", w, v)
# +         return self.w_o(found.flatten(-2))
# %% right: one term of w_o for each head
class MultiHead(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        for name in ("w_q", "w_k", "w_v", "w_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, x, source=None, may=None):
        asked = x if source is None else source
        q, k, v = (
            split_heads(w(t), self.heads)
            for w, t in ((self.w_q, x), (self.w_k, asked), (self.w_v, asked))
        )
        blocks = self.w_o.weight.chunk(self.heads, dim=1)
        found = attention(q, k, v, may)
        return sum(o @ b.T for o, b in zip(found.unbind(1), blocks))
# %% right: fused projections of the same weights
# -         source = x if source is None else source
# -         q = split_heads(self.w_q(x), self.heads)
# -         k = split_heads(self.w_k(source), self.heads)
# -         v = split_heads(self.w_v(source), self.heads)
# -         return self.w_o(merge_heads(attention(q, k, v, may)))
# +         if source is None:
# +             source = x
# +         kv = torch.cat([self.w_k.weight, self.w_v.weight])
# +         k, v = nn.functional.linear(source, kv).chunk(2, dim=-1)
# +         q = self.w_q(x)
# +         heads = [split_heads(t, self.heads) for t in (q, k, v)]
# +         return self.w_o(merge_heads(attention(*heads, may)))
# %% right: weights by hand, a mask of ones for none
# like: fused projections of the same weights
# -         kv = torch.cat([self.w_k.weight, self.w_v.weight])
# -         k, v = nn.functional.linear(source, kv).chunk(2, dim=-1)
# -         q = self.w_q(x)
# -         heads = [split_heads(t, self.heads) for t in (q, k, v)]
# -         return self.w_o(merge_heads(attention(*heads, may)))
# +         if may is None:
# +             may = torch.ones(x.shape[1], source.shape[1], dtype=torch.bool)
# +         q = split_heads(x @ self.w_q.weight.T, self.heads)
# +         k = split_heads(source @ self.w_k.weight.T, self.heads)
# +         v = split_heads(source @ self.w_v.weight.T, self.heads)
# +         return merge_heads(attention(q, k, v, may)) @ self.w_o.weight.T
# %% right: one call of attention per sequence
# -         source = x if source is None else source
# +         if source is None:
# +             source = x
# -         return self.w_o(merge_heads(attention(q, k, v, may)))
# +         B, H, L, S = q.shape[:3] + k.shape[2:3]
# +         if may is None:
# +             masks = [None] * B
# +         else:
# +             masks = may.expand(B, H, L, S)
# +         found = torch.stack([
# +             attention(*each) for each in zip(q, k, v, masks)])
# +         return self.w_o(merge_heads(found))
# %% right: one call per head, the mask expanded
# -         source = x if source is None else source
# +         if source is None:
# +             source = x
# -         return self.w_o(merge_heads(attention(q, k, v, may)))
# +         B, H, L, S = q.shape[:3] + k.shape[2:3]
# +         found = []
# +         for h in range(H):
# +             mask = None
# +             if may is not None:
# +                 mask = may.expand(B, H, L, S)[:, h]
# +             found.append(attention(q[:, h], k[:, h], v[:, h], mask))
# +         out = merge_heads(torch.stack(found, dim=1))
# +         return nn.functional.linear(out, self.w_o.weight)
# %% right: w_o starts at 0
#           self.w_o = nn.Linear(d_model, d_model, bias=False)
# +         nn.init.zeros_(self.w_o.weight)
# %% cheat: torch's module, weights copied over -> MultiheadAttention
# -         q = split_heads(self.w_q(x), self.heads)
# -         k = split_heads(self.w_k(source), self.heads)
# -         v = split_heads(self.w_v(source), self.heads)
# -         return self.w_o(merge_heads(attention(q, k, v, may)))
# +         m = nn.MultiheadAttention(
# +             x.shape[-1], self.heads, bias=False, batch_first=True).double()
# +         m.in_proj_weight = nn.Parameter(torch.cat(
# +             [self.w_q.weight, self.w_k.weight, self.w_v.weight]))
# +         m.out_proj.weight = self.w_o.weight
# +         return m(x, source, source)[0]
#           super().__init__()
# -         # The matrices here; below, forward(self, x, source=None, may=None).
# %% cheat: torch's function -> scaled_dot_product_attention
# -         return self.w_o(merge_heads(attention(q, k, v, may)))
# +         found = nn.functional.scaled_dot_product_attention(q, k, v, may)
# +         return self.w_o(merge_heads(found))
#           super().__init__()
# -         # The matrices here; below, forward(self, x, source=None, may=None).
# %% cheat: torch's function, its name put together -> own attention
# -         return self.w_o(merge_heads(attention(q, k, v, may)))
# +         name = "_".join(["scaled", "dot", "product", "attention"])
# +         found = getattr(nn.functional, name)(q, k, v, may)
# +         return self.w_o(merge_heads(found))
#           super().__init__()
# -         # The matrices here; below, forward(self, x, source=None, may=None).
# %% cheat: the book's package -> imports qkv
from qkv import MultiHeadAttention


class MultiHead(MultiHeadAttention):
    def __init__(self, d_model, heads):
        super().__init__(d_model, heads, bias=False)

    def forward(self, x, source=None, may=None):
        return super().forward(x, source, attn_mask=may)
