"""The block around attention. Chapter 5 derives it."""

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
        Makes the two normalisations.
    norm_first : bool
        True normalises what goes into a sublayer (GPT-2 and later), False
        what comes out of the sum (the original Transformer, BERT).

    References
    ----------
    Vaswani et al. (2017), section 3.1; Xiong et al. (2020) for the order.
    """

    def __init__(self, attention, feed_forward, norm=nn.LayerNorm, *,
                 norm_first=True):
        super().__init__()
        self.attention, self.feed_forward = attention, feed_forward
        self.norm_1 = norm(attention.d_model)
        self.norm_2 = norm(attention.d_model)
        self.norm_first = norm_first

    def forward(self, x, attn_mask=None, is_causal=False, *, cache=None,
                return_weights=False):
        """Update x (B, T, d_model); the options are those of attention."""
        def attend(x):
            return self.attention(
                x, attn_mask=attn_mask, is_causal=is_causal, cache=cache,
                return_weights=return_weights)

        update = attend(self.norm_1(x) if self.norm_first else x)
        update, *weights = update if return_weights else (update,)
        if self.norm_first:
            x = x + update
            x = x + self.feed_forward(self.norm_2(x))
        else:
            x = self.norm_1(x + update)
            x = self.norm_2(x + self.feed_forward(x))
        return (x, *weights) if return_weights else x
