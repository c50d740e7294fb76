"""Positions: what the two papers say of them, and the start of each."""

import math

import pytest
import torch

from qkv import KVCache, MultiHeadAttention
from qkv.positions import Rotary, sinusoidal


def test_sinusoids_are_the_formula():
    """Kills: sine and cosine swapped or in halves, a wrong exponent."""
    found = sinusoidal(6, 4, start=3)
    for p, row in zip(range(3, 7), found, strict=True):
        for i in range(3):
            angle = p / 10000 ** (2 * i / 6)
            expected = torch.tensor([math.sin(angle), math.cos(angle)])
            torch.testing.assert_close(row[2 * i : 2 * i + 2], expected)


def test_a_start_goes_on_where_the_positions_before_ended():
    """Kills a start that is ignored, or one too many."""
    whole = sinusoidal(8, 7)
    torch.testing.assert_close(whole[3:], sinusoidal(8, 4, start=3))
    turn, x = Rotary(8), torch.randn(2, 3, 7, 8)
    parts = torch.cat([turn(x[..., :3, :]), turn(x[..., 3:, :], 3)], dim=-2)
    torch.testing.assert_close(turn(x), parts)


def test_a_rotary_score_knows_the_distance_and_nothing_else():
    """Kills: keys turned the other way, one angle for all pairs."""
    turn = Rotary(8)
    q, k = torch.randn(2, 1, 1, 1, 8).double()

    def score(m, n):
        return (turn(q, m) * turn(k, n)).sum()

    for m, n in ((3, 1), (1, 3), (9, 9)):
        torch.testing.assert_close(score(m, n), score(m + 500, n + 500))
    assert abs(score(3, 1) - score(1, 3)) > 1e-3  # before is not after
    torch.testing.assert_close(turn(q, 7).norm(), q.norm())
    torch.testing.assert_close(score(5, 5), (q * k).sum())


def test_with_a_cache_rotary_positions_go_on():
    """Kills decoding with every new token at position 0."""
    torch.manual_seed(0)
    module = MultiHeadAttention(16, 2, rotary=Rotary(8)).double()
    x, cache = torch.randn(1, 6, 16).double(), KVCache()
    steps = [module(x[:, t : t + 1], cache=cache) for t in range(6)]
    torch.testing.assert_close(
        torch.cat(steps, dim=1), module(x, is_causal=True)
    )


def test_far_positions_keep_their_angle_in_float32():
    """Kills angles in float32, which are off by 0.03 at position 1e6."""
    found = sinusoidal(2, 1, start=1_000_001)[0]
    expected = [math.sin(1_000_001), math.cos(1_000_001)]
    torch.testing.assert_close(found, torch.tensor(expected))


@pytest.mark.parametrize("make", [lambda d: sinusoidal(d, 4), Rotary])
def test_odd_widths_are_refused(make):
    with pytest.raises(ValueError, match="7"):
        make(7)
