"""Several heads of attention side by side. Chapter 6 derives it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from torch import Tensor, nn

from .attention import output_and_weights, scaled_dot_product_attention
from .cache import KVCache
from .checks import check_dropout, check_flags, check_integer, check_mask
from .masks import causal_mask, restrict


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Cut the last dimension into heads: (B, T, H * d) -> (B, H, T, d)."""
    # Cut first, then move: viewing as (B, H, T, d) at once would scramble.
    return x.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


def merge_heads(x: Tensor) -> Tensor:
    """Put the heads side by side again: (B, H, T, d) -> (B, T, H * d)."""
    return x.transpose(-3, -2).flatten(-2)


class MultiHeadAttention(nn.Module):
    """Multi-head attention: self, cross, grouped-query, cached.

    Parameters
    ----------
    d_model : int
        Width of what comes in and goes out.
    num_heads : int
        H query heads, each d_k = d_model / num_heads wide.
    num_kv_heads : int, optional
        H_kv heads of keys and values, each shared by a block of query heads
        (grouped-query attention); as many as there are query heads if not
        given.
    bias : bool
        Whether the four projections have biases.
    dropout : float
        Share of the weights dropped, in training mode only.
    rotary : callable, optional
        ``rotary(x, start)`` returns queries or keys x (B, H, T, d_k) with the
        positions start, start + 1 … encoded, such as `qkv.positions.Rotary`.
        For self-attention only.

    Attributes
    ----------
    w_q, w_k, w_v, w_o : torch.nn.Linear
        The projections, (d_model, d_model); W_K and W_V (d_model, H_kv * d_k).

    Raises
    ------
    TypeError, ValueError
        A number of heads is no integer, or does not divide; `dropout` is not
        from 0 to 1.

    References
    ----------
    Vaswani et al. (2017), section 3.2.2; Ainslie et al. (2023).
    """

    def __init__(self, d_model: int, num_heads: int,
                 num_kv_heads: int | None = None, *, bias: bool = True,
                 dropout: float = 0.0,
                 rotary: Callable[[Tensor, int], Tensor] | None = None):
        super().__init__()
        d_model = check_integer("d_model", d_model, 1)
        if d_model % check_integer("num_heads", num_heads, 1):
            raise ValueError(f"{num_heads=} must divide {d_model=}")
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        if num_heads % check_integer("num_kv_heads", num_kv_heads, 1):
            raise ValueError(f"{num_kv_heads=} must divide {num_heads=}")
        check_flags(bias=bias)
        check_dropout("dropout", dropout)
        self.d_model, self.dropout, self.rotary = d_model, dropout, rotary
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        d_kv = d_model // num_heads * num_kv_heads
        self.w_q = nn.Linear(d_model, d_model, bias)
        self.w_k = nn.Linear(d_model, d_kv, bias)
        self.w_v = nn.Linear(d_model, d_kv, bias)
        self.w_o = nn.Linear(d_model, d_model, bias)

    def forward(self, query: Tensor, key: Tensor | None = None,
                value: Tensor | None = None, *, attn_mask: Any = None,
                is_causal: bool = False, cache: KVCache | None = None,
                return_weights: bool = False) -> Any:
        """Let each query position attend to the key positions.

        Parameters
        ----------
        query : Tensor, (B, L, d_model)
        key : Tensor, (B, S, d_model), optional
            Without it this is self-attention: `query`, and S = L.
        value : Tensor, (B, S, d_model), optional
            `key` if not given.
        attn_mask : Tensor or ndarray, broadcasts to (B, H, L, S), optional
            Boolean: True may attend. Floating point: added to the scores.
        is_causal : bool
            Position i sees positions 0 to i; with a cache the queries are
            the last L of all S positions.
        cache : KVCache, optional
            Gets the new keys and values; the queries then see all S so far.
            For self-attention only: for cross-attention see `attend`.
        return_weights : bool
            Also return the weights.

        Returns
        -------
        output : Tensor, (B, L, d_model)
        weights : Tensor, (B, H, L, S), only with ``return_weights=True``
            Per head, before dropout.

        Raises
        ------
        TypeError, ValueError
            Inputs or options that do not fit. The cache is then as before.
        """
        key, value = self._sources(query, key, value, cache)
        q = self.project_query(query)
        k, v = self.project_source(key, value)
        start = 0 if cache is None else len(cache)
        if self.rotary is not None:
            q, k = self.rotary(q, start), self.rotary(k, start)
        check_flags(is_causal=is_causal)
        with nullcontext() if cache is None else cache.restored_on_error():
            if cache is not None:
                k, v = cache.update(k, v)  # (B, H_kv, S, d_k), all so far
            if is_causal and start:
                shape = (*q.shape[:-1], k.shape[-2])
                if attn_mask is not None:
                    check_mask(attn_mask, shape)
                corner = causal_mask(*shape[-2:], like=q)
                attn_mask, is_causal = restrict(attn_mask, corner), False
            return self.attend(q, k, v, attn_mask=attn_mask,
                               is_causal=is_causal,
                               return_weights=return_weights)

    def project_query(self, query: Tensor) -> Tensor:
        """Return query heads: (B, L, d_model) -> (B, H, L, d_k)."""
        return split_heads(self.w_q(query), self.num_heads)

    def project_source(self, key: Tensor, value: Tensor | None = None,
                       ) -> tuple[Tensor, Tensor]:
        """Return key and value heads, each (B, H_kv, S, d_k).

        Parameters
        ----------
        key : Tensor, (B, S, d_model)
        value : Tensor, (B, S, d_model), optional
            `key` if not given.
        """
        k, v = self.w_k(key), self.w_v(key if value is None else value)
        return (split_heads(k, self.num_kv_heads),
                split_heads(v, self.num_kv_heads))

    def attend(self, q: Tensor, k: Tensor, v: Tensor, *, attn_mask: Any = None,
               is_causal: bool = False, return_weights: bool = False) -> Any:
        """Attention between projected heads, merged and sent through W_O.

        The keys of cross-attention do not grow: a decoder projects them once,
        ``k, v = module.project_source(source)``, and at each step calls
        ``module.attend(module.project_query(x), k, v)``.

        Parameters
        ----------
        q : Tensor, (B, H, L, d_k)
        k, v : Tensor, (B, H_kv, S, d_k)
        attn_mask, is_causal, return_weights
            As in `forward`; is_causal needs L == S.

        Returns
        -------
        output : Tensor, (B, L, d_model)
        weights : Tensor, (B, H, L, S), only with ``return_weights=True``

        Raises
        ------
        TypeError, ValueError
            See `qkv.scaled_dot_product_attention`.
        """
        output, weights = output_and_weights(scaled_dot_product_attention(
            q, k, v, attn_mask, self.dropout if self.training else 0.0,
            is_causal, enable_gqa=self.num_kv_heads < self.num_heads,
            return_weights=return_weights))
        output = self.w_o(merge_heads(output))  # (B, L, d_model)
        return (output, weights) if return_weights else output

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
