"""The benchmark runs, and refuses what it should. No time is asserted."""

import json
import subprocess
import sys

import numpy as np
import pytest

import bench
import contenders


@pytest.mark.slow
def test_small_run(tmp_path):
    """Kills a benchmark that no longer runs, or loses a contender."""
    command = [sys.executable, bench.__file__, "--small", "--threads", "1"]
    subprocess.run([*command, "--out", tmp_path], check=True)
    results = json.loads((tmp_path / "results.json").read_text())
    timed = {(row["kind"], row["name"]) for row in results["times"]}
    assert timed == {
        (kind, name)
        for kind, names in contenders.CONTENDERS.items()
        for name in names
    }
    # Two shapes, causal or not; with a backward pass where there is one.
    assert len(results["times"]) == 2 * 2 * (2 * 3 + 2 * 4 + 4)
    assert {row["backward"] for row in results["memory"]} == {False, True}
    assert len(results["decoding"]["cached"]) == 3
    table = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert table.count("## ") == 4 + 4 + 2 + 2
    assert (tmp_path / "figure.svg").read_text().startswith("<?xml")


def sees_the_future(q, k, v, is_causal):
    """Hand over an inverted mask."""
    import torch

    future = torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool).triu()
    if not is_causal:
        future = None
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, future)


def unscaled(q, k, v, is_causal):
    """Forget the scale."""
    return contenders.ours(q * q.shape[-1] ** 0.5, k, v, is_causal)


@pytest.mark.parametrize("wrong", [sees_the_future, unscaled])
def test_wrong_functions_are_not_timed(wrong):
    """Kills a race that is won by a wrong result."""
    with pytest.raises(AssertionError):
        contenders.check(contenders._function(wrong))


def test_blind_modules_are_not_timed():
    """Kills a race that is won by heads that ignore `is_causal`."""

    def make(d_model, heads, N, is_causal):
        return contenders.packed(d_model, heads, N, False)

    with pytest.raises(AssertionError):
        contenders.check(contenders._module(make))


def test_flops():
    """Kills a share of the peak that is off by a factor."""
    product = 2 * 3 * 4 * 5 * 5 * 6 / 1e9  # (B, H, N, d) = (3, 4, 5, 6)
    shape = 3, 4, 5, 6
    assert np.isclose(
        bench.gflop("functions", shape, False, False), 2 * product
    )
    assert np.isclose(
        bench.gflop("functions", shape, True, True), 3 * 2 * product * 15 / 25
    )
    linear = 2 * 3 * 5 * 24 * 24 / 1e9
    assert np.isclose(
        bench.gflop("modules", shape, False, False), 2 * product + 4 * linear
    )
