"""Blocks of queries as large as they are in use, and what they save.

That the numbers are right for every mask and option is in `contract.py`.
"""

import tracemalloc

import numpy as np
import pytest

import qkv
from qkv import blockwise, threads
from test_threads import FakeBlas


@pytest.fixture(autouse=True, params=[1, 2])
def workers(request, monkeypatch):
    """Run each test in one thread, and in two."""
    monkeypatch.setattr(threads, "_blas", lambda: FakeBlas(request.param))


def inputs(heads, N, d):
    """Draw query, key and value in float32."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(3, heads, N, d)).astype("float32")


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("heads, N", [(31, 201), (31, 301), (2, 1025)])
def test_blocks_in_use(heads, N, is_causal, monkeypatch):
    """Kills constants that only work when they are small."""
    done = []

    def share(work, jobs, scratch):
        done.extend(jobs)
        threads.share(work, done, scratch)

    monkeypatch.setattr(blockwise, "share", share)
    q, k, v = inputs(heads, N, 8)
    ours = blockwise.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
    first_heads, first_rows = (set(first) for first in zip(*done, strict=True))
    assert 1 < len(first_heads) <= heads
    assert (len(first_rows) > 1) == (is_causal or N > blockwise.ROWS)
    right = qkv.reference.scaled_dot_product_attention(
        q, k, v, is_causal=is_causal
    )
    np.testing.assert_allclose(ours, right, atol=2e-6)


@pytest.mark.parametrize("constant", [-1000, 1000])
def test_scores_far_from_zero(constant):
    """Kills an exp without a shift, and one with a shift one way only."""
    q, k, v = inputs(2, 6, 8)
    ours = blockwise.scaled_dot_product_attention(
        q, k, v, attn_mask=np.full((6, 6), constant, "float32")
    )
    right = blockwise.scaled_dot_product_attention(q, k, v)
    np.testing.assert_allclose(ours, right, atol=1e-4)


def test_nan_beside_high_scores():
    """Kills a shift that is left out where the highest score is NaN."""
    q, k, v = inputs(1, 6, 8)
    q[:, :3] *= 1000
    q[:, 5] = np.nan
    ours = blockwise.scaled_dot_product_attention(q, k, v)
    right = qkv.reference.scaled_dot_product_attention(q, k, v)
    np.testing.assert_allclose(ours, right, atol=1e-4)
    assert np.isfinite(ours[:, :5]).all()


def test_the_future_is_not_even_read():
    """Kills a causal mask laid over all keys: twice the work."""
    q, k, v = inputs(1, 2 * blockwise.ROWS, 8)
    block = blockwise.ROWS // 2  # a quarter of the length
    k[:, block:] = v[:, block:] = np.nan
    output = blockwise.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert np.isfinite(output[:, :block]).all()
    assert np.isnan(output[:, block:]).all()


def peak(N, heads=2, **options):
    """Measure the megabytes a call needs at its worst moment."""
    q, k, v = inputs(heads, N, 16)
    tracemalloc.start()
    try:
        blockwise.scaled_dot_product_attention(q, k, v, **options)
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("mask", ["none", "causal", "padding", "alibi"])
def test_memory_grows_with_the_length(mask):
    """Kills an L × S matrix, of scores or of a mask made as large."""

    def needed(N):
        masks = {
            "none": {},
            "causal": {"is_causal": True},
            "padding": {"attn_mask": np.arange(N) < N - 5},
            "alibi": {"attn_mask": -np.arange(N, dtype="float32")},
        }
        return peak(N, **masks[mask])

    short, long = needed(1024), needed(4096)
    assert long < 20 < 2 * 4096**2 * 4 / 2**20
    assert long < 4.5 * short


def test_the_lowest_number_as_a_mask():
    """Kills a factor on float masks that overflows to -inf."""
    q, k, v = inputs(1, 4, 8)
    low = np.full((4, 4), np.finfo("float32").min, "float32")
    output = blockwise.scaled_dot_product_attention(q, k, v, attn_mask=low)
    mean = np.broadcast_to(v.mean(-2, keepdims=True), v.shape)
    np.testing.assert_allclose(output, mean, atol=1e-6)


def test_more_keys_than_float16_can_count():
    """Kills a sum of weights in float16, whose largest number is 65504."""
    q, k, v = (np.ones((n, 1), "float16") for n in (1, 70_000, 70_000))
    output = blockwise.scaled_dot_product_attention(q, k, v)
    assert output.dtype == np.float16
    np.testing.assert_allclose(output, 1, rtol=1e-3)
