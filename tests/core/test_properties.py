"""Shapes, masks and precisions nobody thought of; gradients in float64."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from torch.autograd import gradcheck, gradgradcheck

import contract
import qkv
from contract import LIMIT, loops

quick = settings(
    derandomize=True, deadline=None, max_examples=80, database=None
)


@st.composite
def problems(draw):
    """Draw inputs and options of one call, in float64."""
    size = st.integers(1, 4)
    batch, kv_heads, group, d_k, d_v, L = (draw(size) for _ in range(6))
    is_causal = draw(st.booleans())
    S = L if is_causal else draw(st.integers(0, 5))
    heads = kv_heads * group
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    query = rng.normal(size=(batch, heads, L, d_k))
    key = rng.normal(size=(batch, kv_heads, S, d_k))
    value = rng.normal(size=(batch, kv_heads, S, d_v))
    shape = (batch, heads, L, S)[draw(st.integers(0, 3)) :]
    shape = [n if draw(st.booleans()) else 1 for n in shape]
    allowed = rng.random(shape) < draw(st.sampled_from([0.2, 0.7, 1]))
    masks = {
        "none": None,
        "bool": allowed,
        "float": np.where(allowed, rng.normal(size=shape), -np.inf),
    }
    kind = draw(st.sampled_from(sorted(masks)))
    options = {
        "attn_mask": masks[kind],
        "is_causal": is_causal,
        "scale": draw(st.none() | st.sampled_from([0.0, -0.7, 3.0])),
        "enable_gqa": group > 1,
        "softcap": draw(st.none() | st.sampled_from([0.5, 20.0])),
    }
    return (query, key, value), options


def expected(inputs, options):
    """Ask the loops, in their own words."""
    mask, L = options["attn_mask"], inputs[0].shape[-2]
    allowed = np.tri(L, dtype=bool) if options["is_causal"] else np.True_
    bias = 0
    if mask is not None and mask.dtype == bool:
        allowed = allowed & mask
    elif mask is not None:
        bias = mask
    return loops(
        *inputs, allowed=allowed, bias=bias, scale=options["scale"],
        softcap=options["softcap"],
    )  # fmt: skip


@quick
@given(problems(), st.sampled_from(["float64", "float32", "float16"]))
def test_every_path_equals_the_loops(problem, dtype):
    """Kills paths that differ for some shape, mask or option."""
    inputs, options = problem
    inputs = [x.astype(dtype) for x in inputs]
    want = expected([x.astype("float64") for x in inputs], options)
    tensors = [torch.from_numpy(x) for x in inputs]
    found = {
        "reference": qkv.reference.scaled_dot_product_attention(
            *inputs, **options, return_weights=True
        ),
        "blockwise": contract.blockwise(
            *inputs, **options, return_weights=True
        ),
        "computed": qkv.scaled_dot_product_attention(
            *tensors, **options, return_weights=True
        ),
        "without weights": (
            qkv.scaled_dot_product_attention(*tensors, **options),
        ),
    }
    for path, results in found.items():
        for result, right in zip(results, want, strict=False):
            assert str(result.dtype).endswith(dtype), path
            contract.same(result, right, path, dtype=dtype)


@quick
@given(
    hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4),
        elements=st.floats(-1e4, 1e4) | st.just(-np.inf),
    ),
    st.data(),
)
def test_softmax(x, data):
    """Kills a wrong axis, NaN for -inf, and a softmax that overflows."""
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    weights = qkv.reference.softmax(x, axis)
    assert weights.shape == x.shape
    assert (weights >= 0).all()
    some = np.isfinite(x).any(axis)
    np.testing.assert_allclose(weights.sum(axis), np.where(some, 1, 0))
    if some.all() and x.size:
        theirs = torch.softmax(torch.from_numpy(x), axis)
        np.testing.assert_allclose(weights, theirs, atol=1e-12)
        shifted = qkv.reference.softmax(x + 7, axis)
        np.testing.assert_allclose(shifted, weights, atol=1e-9)


def test_softmax_of_a_list():
    """Kills a softmax along the first axis, or only for arrays."""
    whole = qkv.reference.softmax([2, 2])  # numbers without a point
    np.testing.assert_array_equal(whole, [0.5, 0.5])
    weights = qkv.reference.softmax([[0, np.log(3)], [5, 5]])
    np.testing.assert_allclose(weights, [[0.25, 0.75], [0.5, 0.5]])
    down = qkv.reference.softmax([[0, 0], [np.log(4), -np.inf]], axis=0)
    np.testing.assert_allclose(down, [[0.2, 1], [0.8, 0]])


MASKS = {
    "none": None,
    "bool": torch.tensor([[1, 0, 1], [0, 0, 0]], dtype=torch.bool),
    "float": torch.tensor([[0.3, -torch.inf, -2], [-torch.inf] * 3]).double(),
}


@pytest.mark.parametrize("softcap", [None, 1.5])
@pytest.mark.parametrize("return_weights", [False, True])
@pytest.mark.parametrize("mask", MASKS)
def test_gradcheck(mask, return_weights, softcap):
    """Kills NaN or wrong gradients beside an empty row, with grouped heads."""
    torch.manual_seed(0)
    inputs = [
        torch.randn(shape, dtype=torch.float64, requires_grad=True)
        for shape in ((1, 4, 2, 3), (1, 2, 3, 3), (1, 2, 3, 2))
    ]

    def attend(*inputs):
        return qkv.scaled_dot_product_attention(
            *inputs, MASKS[mask], enable_gqa=True, softcap=softcap,
            return_weights=return_weights,
        )  # fmt: skip

    assert gradcheck(attend, inputs)
    if return_weights:
        assert gradgradcheck(attend, inputs)


def test_a_learned_bias_has_a_gradient():
    """Kills a float mask that is detached on its way to the scores."""
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 2, 3, 4, 5, dtype=torch.float64)
    bias = torch.randn(3, 4, 4, dtype=torch.float64, requires_grad=True)
    for options in ({}, {"return_weights": True}):
        assert gradcheck(
            lambda bias, options=options: qkv.scaled_dot_product_attention(
                q, k, v, bias, is_causal=True, **options
            ),
            [bias],
        )


def test_limits_are_tight():
    """Kills a tolerance so wide that a wrong scale passes."""
    assert max(LIMIT.values()) < 0.1
    assert LIMIT["float64"] <= 1e-10
