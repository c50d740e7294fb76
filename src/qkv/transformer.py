"""The block around attention. Chapters 5 and 7 derive it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

from torch import Tensor, nn

from .attention import output_and_weights
from .cache import KVCache
from .multihead import MultiHeadAttention


class Block(nn.Module):
    """Attention, then a feed-forward network, each added to its input.

    Parameters
    ----------
    attention : MultiHeadAttention
        Moves information between positions.
    feed_forward : Module, (..., d_model) -> (..., d_model)
        Works on each position alone.
    norm : callable, d_model -> Module
        Makes the normalisations, one for each sum.
    cross_attention : MultiHeadAttention, optional
        Between the two: reads another sequence. Makes a decoder's block.
    norm_first : bool
        True normalises what goes into a sublayer (GPT-2 and later), False
        what comes out of the sum (the original Transformer, BERT).

    References
    ----------
    Vaswani et al. (2017), section 3.1; Xiong et al. (2020) for the order.
    """

    def __init__(self, attention: MultiHeadAttention, feed_forward: nn.Module,
                 norm: Callable[[int], nn.Module] = nn.LayerNorm, *,
                 cross_attention: MultiHeadAttention | None = None,
                 norm_first: bool = True) -> None:
        super().__init__()
        self.attention, self.feed_forward = attention, feed_forward
        self.cross_attention = cross_attention
        self.norm_1 = norm(attention.d_model)
        self.norm_2 = norm(attention.d_model)
        self.norm_cross = cross_attention and norm(attention.d_model)
        self.norm_first = norm_first

    def forward(self, x: Tensor, *, attn_mask: Any = None,
                is_causal: bool = False, cache: KVCache | None = None,
                source: tuple[Tensor, Tensor] | None = None,
                source_mask: Any = None, return_weights: bool = False) -> Any:
        """Update each position of x.

        Parameters
        ----------
        x : Tensor, (B, T, d_model)
        attn_mask, is_causal, cache
            Those of `MultiHeadAttention.forward`.
        source : pair of Tensor, (B, H_kv, S, d_k), optional
            Keys and values of the other sequence, projected once for all
            steps: ``cross_attention.project_source(other)``.
        source_mask : Tensor or ndarray, broadcasts to (B, H, T, S), optional
            Which of them may be seen.
        return_weights : bool
            Also return the weights of each attention.

        Returns
        -------
        x : Tensor, (B, T, d_model)
        weights : Tensor, (B, H, T, T), only with ``return_weights=True``
        cross_weights : Tensor, (B, H, T, S), as well if there is a source

        Raises
        ------
        TypeError, ValueError
            A source without cross-attention or the other way round; what
            `MultiHeadAttention.forward` refuses. The cache is then as before.
        """
        if (source is None) != (self.cross_attention is None):
            raise ValueError("source needs cross_attention, and it a source")
        undo = nullcontext() if cache is None else cache.restored_on_error()
        before, after = self._before, self._after
        attention = partial(
            self.attention, attn_mask=attn_mask, is_causal=is_causal,
            cache=cache, return_weights=return_weights)
        with undo:
            update, weights = output_and_weights(
                attention(before(x, self.norm_1)))
            x = after(x + update, self.norm_1)
            kept = [weights]
            if self.cross_attention is not None and source is not None:
                q = self.cross_attention.project_query(
                    before(x, self.norm_cross))
                update, weights = output_and_weights(
                    self.cross_attention.attend(
                        q, *source, attn_mask=source_mask,
                        return_weights=return_weights))
                x = after(x + update, self.norm_cross)
                kept.append(weights)
        x = after(x + self.feed_forward(before(x, self.norm_2)), self.norm_2)
        return (x, *kept) if return_weights else x

    def _before(self, x, norm):
        return norm(x) if self.norm_first else x

    def _after(self, x, norm):
        return x if self.norm_first else norm(x)
