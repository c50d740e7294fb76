"""What `bench.py` compares, each built for one shape, in float32.

A builder takes (B, H, N, d), `is_causal` and `backward`; it returns a call
without arguments. NumPy's never import torch: they have a process each.
"""

import math

import numpy as np

import qkv

# ------------------------------------------------------------ torch functions


def _function(attend):
    def build(shape, is_causal, backward):
        import torch

        torch.manual_seed(0)
        q, k, v, slope = torch.randn(4, *shape)
        if not backward:
            return torch.no_grad()(lambda: attend(q, k, v, is_causal))
        for x in (q, k, v):
            x.requires_grad_()
        return lambda: torch.autograd.grad(
            attend(q, k, v, is_causal), (q, k, v), slope
        )

    build.attend = attend
    return build


def ours(q, k, v, is_causal):
    """Call `qkv.scaled_dot_product_attention`."""
    return qkv.scaled_dot_product_attention(q, k, v, is_causal=is_causal)


def fused(q, k, v, is_causal):
    """Call torch's fused kernel."""
    from torch.nn.functional import scaled_dot_product_attention

    return scaled_dot_product_attention(q, k, v, is_causal=is_causal)


def textbook(q, k, v, is_causal):
    """Write the formula down in torch, in five lines."""
    import torch

    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if is_causal:
        future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(future, -math.inf)
    return scores.softmax(-1) @ v


# -------------------------------------------------------------- torch modules


def _module(make):
    def build(shape, is_causal, backward):
        import torch

        batch, heads, N, d = shape
        torch.manual_seed(0)
        module, call = make(heads * d, heads, N, is_causal)
        module.eval()
        x, slope = torch.randn(2, batch, N, heads * d)
        if not backward:
            return torch.no_grad()(lambda: call(x))
        inputs = [x.requires_grad_(), *module.parameters()]
        return lambda: torch.autograd.grad(call(x), inputs, slope)

    build.make = make
    return build


def our_heads(d_model, heads, N, is_causal):
    """Build `qkv.MultiHeadAttention`: four linear layers."""
    module = qkv.MultiHeadAttention(d_model, heads)
    return module, lambda x: module(x, is_causal=is_causal)


def packed(d_model, heads, N, is_causal):
    """Write heads by hand: Q, K and V in one linear layer, fused kernel."""
    from torch import nn

    module = nn.ModuleList(
        [nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)]
    )

    def call(x):
        batch, N, _ = x.shape
        qkv = module[0](x).view(batch, N, 3, heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)  # three of (B, H, N, d)
        output = fused(q, k, v, is_causal)
        return module[1](output.transpose(1, 2).reshape(batch, N, d_model))

    return module, call


def _torch_heads(need_weights):
    def make(d_model, heads, N, is_causal):
        from torch import nn

        module = nn.MultiheadAttention(d_model, heads, batch_first=True)
        future = nn.Transformer.generate_square_subsequent_mask(N)
        mask = future if is_causal else None
        return module, lambda x: module(
            x, x, x, need_weights=need_weights, attn_mask=mask,
            is_causal=is_causal,
        )[0]  # fmt: skip

    return make


# ---------------------------------------------------------------------- NumPy


def _numpy(attend):
    def build(shape, is_causal, backward):
        draw = np.random.default_rng(0).standard_normal
        q, k, v = draw((3, *shape), dtype=np.float32)
        return lambda: attend(q, k, v, is_causal)

    build.attend = attend
    return build


def blocks(q, k, v, is_causal):
    """Call `qkv.blockwise`."""
    attend = qkv.blockwise.scaled_dot_product_attention
    return attend(q, k, v, is_causal=is_causal)


def reference(q, k, v, is_causal):
    """Call `qkv.reference`."""
    attend = qkv.reference.scaled_dot_product_attention
    return attend(q, k, v, is_causal=is_causal)


def textbook_numpy(q, k, v, is_causal):
    """Write the formula down in NumPy."""
    scores = q @ k.swapaxes(-2, -1) / math.sqrt(q.shape[-1])
    if is_causal:
        past = np.tri(scores.shape[-1], dtype=bool)
        scores = np.where(past, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


# ------------------------------------------------------------- side by side

FUSED = "torch, fused"
#: The first of each is what the others are divided by.
CONTENDERS = {
    "functions": {
        FUSED: _function(fused),
        "qkv": _function(ours),
        "torch, textbook": _function(textbook),
    },
    "modules": {
        "packed by hand": _module(packed),
        "qkv.MultiHeadAttention": _module(our_heads),
        "nn.MultiheadAttention, no weights": _module(_torch_heads(False)),
        "nn.MultiheadAttention": _module(_torch_heads(True)),
    },
    "NumPy": {
        FUSED: _function(fused),
        "qkv.blockwise": _numpy(blocks),
        "qkv.reference": _numpy(reference),
        "NumPy, textbook": _numpy(textbook_numpy),
    },
}


def check(build, L=37):
    """Refuse a contender that is wrong or sees the future, on a small case.

    Raises
    ------
    AssertionError
        A function differs from the reference; an output changes with what
        comes after it, or does not with what comes before.
    """
    rng = np.random.default_rng(1)
    x = rng.standard_normal((2, 3, L, 16), dtype=np.float32)
    cut = L // 2
    for is_causal in (False, True):
        if hasattr(build, "make"):  # a module: (B, L, d_model)
            x = x.reshape(2, L, 48) if x.ndim == 4 else x
            call = _quiet(*build.make(48, 3, L, is_causal))
        else:
            call = _as_numpy(build.attend, is_causal)
            expected = reference(x, x, x, is_causal)
            assert np.allclose(call(x), expected, atol=1e-5), "wrong result"
        output = call(x)
        later, first = x.copy(), x.copy()
        later[..., cut:, :] += 1
        first[..., 0, :] += 1
        kept = np.allclose(
            call(later)[..., :cut, :], output[..., :cut, :], atol=1e-5
        )
        assert kept == is_causal, f"{is_causal=}, but later tokens say else"
        assert not np.allclose(call(first)[..., 1:, :], output[..., 1:, :])


def _as_numpy(attend, is_causal):
    def call(x):
        if attend in (blocks, reference, textbook_numpy):
            return attend(x, x, x, is_causal)
        import torch

        x = torch.from_numpy(x)
        return attend(x, x, x, is_causal).numpy()

    return call


def _quiet(module, call):
    import torch

    module.eval()
    with torch.no_grad():
        return torch.no_grad()(lambda x: call(torch.from_numpy(x)).numpy())
