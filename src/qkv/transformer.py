"""The block around attention. Chapters 5 and 7 derive it."""

from torch import nn


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

    def __init__(self, attention, feed_forward, norm=nn.LayerNorm, *,
                 cross_attention=None, norm_first=True):
        super().__init__()
        self.attention, self.feed_forward = attention, feed_forward
        self.cross_attention = cross_attention
        self.norm_1 = norm(attention.d_model)
        self.norm_2 = norm(attention.d_model)
        self.norm_cross = cross_attention and norm(attention.d_model)
        self.norm_first = norm_first

    def forward(self, x, attn_mask=None, is_causal=False, *, cache=None,
                source=None, source_mask=None, return_weights=False):
        """Update x (B, T, d_model); the options are those of attention.

        `source`, keys and values: ``cross_attention.project_source(other)``,
        once for all steps. `source_mask` broadcasts to (B, H, T, S). Returns
        x, and with ``return_weights=True`` the weights of each attention.
        """
        if (source is None) != (self.cross_attention is None):
            raise ValueError("source needs cross_attention, and it a source")
        weights = []

        def kept(result):
            update, *found = result if return_weights else (result,)
            weights.extend(found)
            return update

        x = self._add(x, self.norm_1, lambda x: kept(self.attention(
            x, attn_mask=attn_mask, is_causal=is_causal, cache=cache,
            return_weights=return_weights)))
        if self.cross_attention is not None:
            cross = self.cross_attention
            x = self._add(x, self.norm_cross, lambda x: kept(cross.attend(
                cross.project_query(x), *source, source_mask,
                return_weights=return_weights)))
        x = self._add(x, self.norm_2, self.feed_forward)
        return (x, *weights) if return_weights else x

    def _add(self, x, norm, sublayer):
        if self.norm_first:
            return x + sublayer(norm(x))
        return norm(x + sublayer(x))
