"""The block against torch's layers, with the same weights in both."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from qkv import KVCache, MultiHeadAttention, causal_mask, padding_mask
from qkv.transformer import Block

B, T, S, D, HEADS = 2, 6, 5, 12, 3  # d_k = 4


def pair(norm_first, *, cross=True):
    """Return our block and torch's layer, with the same random weights."""
    torch.manual_seed(0)
    layer = nn.TransformerDecoderLayer if cross else nn.TransformerEncoderLayer
    theirs = layer(
        D, HEADS, 20, 0.0, batch_first=True, norm_first=norm_first,
        dtype=torch.float64,
    )  # fmt: skip
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.5)  # no norm, no bias is trivial
    ours = Block(
        MultiHeadAttention(D, HEADS),
        nn.Sequential(nn.Linear(D, 20), nn.ReLU(), nn.Linear(20, D)),
        cross_attention=MultiHeadAttention(D, HEADS) if cross else None,
        norm_first=norm_first,
    ).double()
    copy_attention(theirs.self_attn, ours.attention)
    copies = [
        (theirs.linear1, ours.feed_forward[0]),
        (theirs.linear2, ours.feed_forward[2]),
        (theirs.norm1, ours.norm_1),
        (theirs.norm3 if cross else theirs.norm2, ours.norm_2),
    ]
    if cross:
        copy_attention(theirs.multihead_attn, ours.cross_attention)
        copies.append((theirs.norm2, ours.norm_cross))
    for source, target in copies:
        target.load_state_dict(source.state_dict())
    return ours, theirs


def copy_attention(theirs, ours):
    weights, biases = theirs.in_proj_weight.chunk(3), theirs.in_proj_bias
    with torch.no_grad():
        for mine, weight, bias in zip(
            (ours.w_q, ours.w_k, ours.w_v),
            weights,
            biases.chunk(3),
            strict=True,
        ):
            mine.weight.copy_(weight)
            mine.bias.copy_(bias)
    ours.w_o.load_state_dict(theirs.out_proj.state_dict())


def inputs():
    torch.manual_seed(1)
    return (torch.randn(B, n, D, dtype=torch.float64) for n in (T, S))


@pytest.mark.parametrize("norm_first", [True, False])
def test_encoder_block(norm_first):
    """Kills a norm in the wrong place, a lost residual, two norms swapped."""
    ours, theirs = pair(norm_first, cross=False)
    x, _ = inputs()
    assert_close(ours(x), theirs(x))


@pytest.mark.parametrize("norm_first", [True, False])
def test_decoder_block(norm_first):
    """Kills cross-attention before self-attention, a wrong norm, no mask."""
    ours, theirs = pair(norm_first)
    x, source = inputs()
    mask = padding_mask(torch.tensor([S, 3]), S)
    expected = theirs(
        x, source, tgt_mask=~torch.from_numpy(causal_mask(T)),
        memory_key_padding_mask=~mask[:, 0, 0],
    )  # fmt: skip
    projected = ours.cross_attention.project_source(source)
    out, *weights = ours(
        x, is_causal=True, source=projected, source_mask=mask,
        return_weights=True,
    )  # fmt: skip
    assert_close(out, expected)
    assert [tuple(w.shape) for w in weights] == [
        (B, HEADS, T, T), (B, HEADS, T, S)]  # fmt: skip
    assert weights[1][1, ..., 3:].abs().max() == 0
    assert_close(ours(x, is_causal=True, source=projected, source_mask=mask),
                 expected)  # fmt: skip


def test_decoding_step_by_step():
    """Kills a block that forgets its cache when it has a source."""
    ours, _ = pair(True)
    x, source = inputs()
    projected = ours.cross_attention.project_source(source)
    whole, cache = ours(x, is_causal=True, source=projected), KVCache()
    steps = [
        ours(x[:, t : t + 1], is_causal=True, cache=cache, source=projected)
        for t in range(T)
    ]
    assert_close(torch.cat(steps, dim=1), whole)


def test_source_and_cross_attention_need_each_other():
    """Kills a decoder that silently reads nothing, or an ignored source."""
    x, source = inputs()
    with pytest.raises(ValueError, match="source needs cross_attention"):
        pair(True)[0](x)
    with pytest.raises(ValueError, match="source needs cross_attention"):
        pair(True, cross=False)[0](x, source=(source, source))


def test_a_refused_call_leaves_the_cache_alone():
    """Kills a cache that has grown when the source's mask was refused."""
    ours, _ = pair(True)
    x, source = inputs()
    projected = ours.cross_attention.project_source(source)
    cache = KVCache()
    ours(x[:, :2], is_causal=True, cache=cache, source=projected)
    before = cache.key.clone()
    with pytest.raises(ValueError, match="attn_mask"):
        ours(
            x[:, 2:3], is_causal=True, cache=cache, source=projected,
            source_mask=torch.ones(1, S + 1) > 0,
        )  # fmt: skip
    assert torch.equal(cache.key, before)
    with pytest.raises(TypeError, match="positional"):
        ours(x, torch.ones(T, T) > 0)
