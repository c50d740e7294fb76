"""Several heads of attention side by side. Chapter 6 derives it."""

from torch import nn

from .attention import restrict, scaled_dot_product_attention
from .checks import check_mask
from .masks import causal_mask


def split_heads(x, num_heads):
    """Cut the last dimension into heads: (B, T, H * d) -> (B, H, T, d)."""
    # Cut first, then move: viewing as (B, H, T, d) at once would scramble.
    return x.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


def merge_heads(x):
    """Put the heads side by side again: (B, H, T, d) -> (B, T, H * d)."""
    return x.transpose(-3, -2).flatten(-2)


class MultiHeadAttention(nn.Module):
    """Multi-head attention: self, cross, grouped-query, cached.

    `num_heads` query heads, each d_k = d_model / num_heads wide, share
    `num_kv_heads` key and value heads: as many if not given, fewer for
    grouped-query attention. `dropout` acts on the weights, in training mode
    only. ``rotary(x, start)`` returns queries or keys x (B, H, T, d_k) with
    positions start, start + 1 … encoded (self-attention only).
    Vaswani et al. (2017), section 3.2.2; Ainslie et al. (2023).
    """

    def __init__(self, d_model, num_heads, num_kv_heads=None, *, bias=True,
                 dropout=0.0, rotary=None):
        super().__init__()
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        if num_heads < 1 or d_model % num_heads:
            raise ValueError(f"{num_heads=} must divide {d_model=}")
        if num_kv_heads < 1 or num_heads % num_kv_heads:
            raise ValueError(f"{num_kv_heads=} must divide {num_heads=}")
        if not 0 <= dropout <= 1:
            raise ValueError(f"dropout must lie in [0, 1], got {dropout}")
        self.d_model, self.dropout, self.rotary = d_model, dropout, rotary
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        d_kv = d_model // num_heads * num_kv_heads
        self.w_q = nn.Linear(d_model, d_model, bias)
        self.w_k = nn.Linear(d_model, d_kv, bias)
        self.w_v = nn.Linear(d_model, d_kv, bias)
        self.w_o = nn.Linear(d_model, d_model, bias)

    def forward(self, query, key=None, value=None, attn_mask=None,
                is_causal=False, *, cache=None, return_weights=False):
        """Attend from `query` (B, L, d_model) to `key` (B, S, d_model).

        Without `key` this is self-attention; without `value` the values come
        from the key. `attn_mask` broadcasts to (B, H, L, S). A `qkv.KVCache`
        gets the new keys and values, and the queries see all S so far, as
        the last L of them with ``is_causal``. For cross-attention: `attend`.

        Returns the output (B, L, d_model), and with ``return_weights=True``
        the weights (B, H, L, S), per head and before dropout. Inputs that do
        not fit raise ValueError or TypeError; a cache is then unchanged.
        """
        key, value = self._sources(query, key, value, cache)
        q = self.project_query(query)
        k, v = self.project_source(key, value)
        start = 0 if cache is None else len(cache)
        if attn_mask is not None:  # while the cache is still unchanged
            check_mask(attn_mask, (*q.shape[:-1], start + k.shape[-2]))
        if self.rotary is not None:
            q, k = self.rotary(q, start), self.rotary(k, start)
        if cache is not None:
            k, v = cache.update(k, v)  # (B, H_kv, L, d_k) -> (B, H_kv, S, d_k)
        if is_causal and start:
            corner = causal_mask(q.shape[-2], k.shape[-2], like=q)
            attn_mask, is_causal = restrict(attn_mask, corner), False
        return self.attend(q, k, v, attn_mask, is_causal, return_weights)

    def project_query(self, query):
        """Query heads: (B, L, d_model) -> (B, H, L, d_k)."""
        return split_heads(self.w_q(query), self.num_heads)

    def project_source(self, key, value=None):
        """Key and value heads: (B, S, d_model) -> two of (B, H_kv, S, d_k)."""
        k, v = self.w_k(key), self.w_v(key if value is None else value)
        return tuple(split_heads(x, self.num_kv_heads) for x in (k, v))

    def attend(self, q, k, v, attn_mask=None, is_causal=False,
               return_weights=False):
        """Attention between projected heads, merged and sent through W_O.

        The keys of cross-attention do not grow: a decoder projects them once,
        ``k, v = module.project_source(source)``, and at each step calls
        ``module.attend(module.project_query(x), k, v)``.
        """
        output = scaled_dot_product_attention(
            q, k, v, attn_mask, self.dropout if self.training else 0.0,
            is_causal, enable_gqa=self.num_kv_heads < self.num_heads,
            return_weights=return_weights)
        output, *weights = output if return_weights else (output,)
        output = self.w_o(merge_heads(output))  # (B, L, d_model)
        return (output, *weights) if return_weights else output

    def _sources(self, query, key, value, cache):
        """Check the inputs; return what keys and values are made from."""
        if key is None and value is not None:
            raise ValueError("value needs a key; self-attention gives neither")
        if key is not None and (cache is not None or self.rotary is not None):
            raise ValueError(
                "cache and rotary are for self-attention, without a key. The "
                "keys of cross-attention do not grow: k, v = project_source("
                "key, value) once, then attend(project_query(query), k, v)")
        key = query if key is None else key
        value = key if value is None else value
        q, k, v = (tuple(x.shape) for x in (query, key, value))
        if not (len(q) == len(k) == 3 and k == v and q[0] == k[0]
                and q[2] == k[2] == self.d_model):
            raise ValueError(
                f"query needs shape (B, L, {self.d_model}), key and value "
                f"(B, S, {self.d_model}): query {q}, key {k}, value {v}")
        return key, value
