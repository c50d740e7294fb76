"""Masks against small matrices written by hand. True may attend."""

import numpy as np
import pytest
import torch

from qkv import causal_mask, padding_mask, sliding_window_mask


def rows(mask):
    """Write a mask as text: x may attend, . may not."""
    return ["".join(".x"[int(cell)] for cell in row) for row in mask]


@pytest.mark.parametrize(
    ("L", "S", "picture"),
    [
        (3, None, ["x..", "xx.", "xxx"]),
        (3, 3, ["x..", "xx.", "xxx"]),
        (2, 4, ["xxx.", "xxxx"]),  # decoding: the last query sees the last key
        (1, 3, ["xxx"]),
        (4, 2, ["..", "..", "x.", "xx"]),  # the first queries see nothing
        (1, None, ["x"]),
        (2, 0, ["", ""]),
        (0, 2, []),
    ],
)
def test_causal(L, S, picture):
    """Kills off-by-one diagonals and the top-left corner."""
    mask = causal_mask(L, S)
    assert rows(mask) == picture
    assert mask.shape == (L, L if S is None else S)
    assert mask.dtype == bool


@pytest.mark.parametrize(
    ("L", "S", "window", "picture"),
    [
        (4, 4, 1, ["x...", ".x..", "..x.", "...x"]),
        (4, 4, 2, ["x...", "xx..", ".xx.", "..xx"]),
        (4, 4, 3, ["x...", "xx..", "xxx.", ".xxx"]),
        (3, 3, 3, ["x..", "xx.", "xxx"]),
        (3, 3, 99, ["x..", "xx.", "xxx"]),
        (2, 5, 2, ["..xx.", "...xx"]),
        (4, 2, 1, ["..", "..", "x.", ".x"]),
    ],
)
def test_window(L, S, window, picture):
    """Kills a window one too wide or too narrow, or anchored top-left."""
    mask = sliding_window_mask(L, S, window)
    assert rows(mask) == picture
    assert mask.dtype == bool


@pytest.mark.parametrize(
    ("side", "picture"),
    [
        ("right", ["....", "x...", "xxx.", "xxxx"]),
        ("left", ["....", "...x", ".xxx", "xxxx"]),
    ],
)
@pytest.mark.parametrize("kind", [list, tuple, np.array, torch.tensor])
def test_padding(side, picture, kind):
    """Kills padding on the wrong side, polarity, a shape that is not 4-D."""
    mask = padding_mask(kind([0, 1, 3, 4]), 4, side=side)
    assert mask.shape == (4, 1, 1, 4)
    assert rows(mask[:, 0, 0]) == picture
    assert isinstance(mask, torch.Tensor) == (kind is torch.tensor)


def test_padding_is_on_the_right():
    """Kills another default; an empty batch and S=0 are fine."""
    assert rows(padding_mask([1, 2], 3)[:, 0, 0]) == ["x..", "xx."]
    assert padding_mask([], 3).shape == (0, 1, 1, 3)
    assert padding_mask([0, 0], 0).shape == (2, 1, 1, 0)


def test_padding_from_another_device():
    """Kills lengths that NumPy cannot read because they are on a GPU."""

    class Lengths:  # stands in for a tensor on an accelerator
        device = "cpu"

        def cpu(self):
            return torch.tensor([1, 2])

    mask = padding_mask(Lengths(), 2)
    assert isinstance(mask, torch.Tensor)
    assert rows(mask[:, 0, 0]) == ["x.", "xx"]


def test_masks_combine():
    """Kills masks that need a reshape before ``&``."""
    both = causal_mask(3) & padding_mask([2, 3], 3)
    assert both.shape == (2, 1, 3, 3)
    assert rows(both[0, 0]) == ["x..", "xx.", "xx."]
    assert rows(both[1, 0]) == ["x..", "xx.", "xxx"]


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_like(device):
    """Kills a mask on the wrong device, or of the wrong kind."""
    like = torch.zeros(1, device=device)
    for mask in (
        causal_mask(2, 3, like=like),
        sliding_window_mask(2, 3, 2, like=like),
        padding_mask(torch.tensor([1, 2]), 3).to(device),
    ):
        assert isinstance(mask, torch.Tensor)
        assert mask.device == like.device
        assert mask.dtype == torch.bool
    assert rows(causal_mask(2, 3, like=torch.zeros(1))) == ["xx.", "xxx"]
    window = sliding_window_mask(2, 3, 2, like=torch.zeros(1))
    assert rows(window) == ["xx.", ".xx"]
    for like in (None, np.zeros(1)):
        assert isinstance(causal_mask(2, like=like), np.ndarray)
        assert isinstance(sliding_window_mask(2, 2, 1, like=like), np.ndarray)


@pytest.mark.parametrize(
    ("error", "words", "call"),
    [
        (
            ValueError,
            "L .*least 0, got -1",
            lambda: causal_mask(-1, 3),
        ),
        (
            ValueError,
            "S .*least 0, got -1",
            lambda: causal_mask(3, -1),
        ),
        (TypeError, "L must be an integer", lambda: causal_mask(2.0)),
        (TypeError, "S must be an integer", lambda: causal_mask(2, 3.0)),
        (TypeError, "got True", lambda: causal_mask(True)),
        (TypeError, "S must be an integer", lambda: padding_mask([2], 5.5)),
        (TypeError, "got True", lambda: sliding_window_mask(2, 2, True)),
        (TypeError, "masked", lambda: padding_mask(np.ma.array([2]), 3)),
        (
            ValueError,
            "L must be at least 0, got -2",
            lambda: sliding_window_mask(-2, 3, 1),
        ),
        (
            ValueError,
            "window must be at least 1, got 0",
            lambda: sliding_window_mask(2, 2, 0),
        ),
        (
            TypeError,
            "window must be an",
            lambda: sliding_window_mask(2, 2, 1.0),
        ),
        (
            ValueError,
            r"\(B,\), got \(2, 1\)",
            lambda: padding_mask([[1], [2]], 3),
        ),
        (ValueError, r"\(B,\), got \(\)", lambda: padding_mask(2, 3)),
        (TypeError, "integers, got float64", lambda: padding_mask([1.0], 3)),
        (TypeError, "integers, got bool", lambda: padding_mask([True], 3)),
        (
            ValueError,
            r"between 0 and S=3: \[2 4\]",
            lambda: padding_mask([2, 4], 3),
        ),
        (
            ValueError,
            r"between 0 and S=3: \[-1  2\]",
            lambda: padding_mask([-1, 2], 3),
        ),
        (
            ValueError,
            "side must be 'right' or 'left', got 'both'",
            lambda: padding_mask([1], 3, side="both"),
        ),
    ],
)
def test_refused(error, words, call):
    """Kills a mask that is quietly wrong where the call was."""
    with pytest.raises(error, match=words):
        call()


def test_lengths_of_any_integer_type():
    """Kills a check that knows int64 only; numbers like 2 are accepted."""
    for dtype in (np.uint8, np.int32, np.int64):
        mask = padding_mask(np.array([1, 2], dtype), 2)
        assert rows(mask[:, 0, 0]) == ["x.", "xx"]
    assert causal_mask(np.int64(2)).shape == (2, 2)
    assert sliding_window_mask(2, 2, np.int64(1)).sum() == 2
