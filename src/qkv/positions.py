"""Where a token stands, told to attention in two ways. Chapter 9 derives them.

Sinusoidal positions are added to the vectors that enter the first block;
rotary positions turn queries and keys, in every block.
"""

import torch
from torch import Tensor

from .checks import check_integer


def sinusoidal(d_model: int, length: int, start: int = 0, *,
               base: float = 10000.0) -> Tensor:
    """Return the vectors of positions start, start + 1 …: (length, d_model).

    Numbers 2i and 2i + 1 are the sine and the cosine of the angle
    p / base^(2i / d_model), so `d_model` is even: each pair is the hand of a
    clock, fast for small i. Vaswani et al. (2017), section 3.5.

    Raises
    ------
    TypeError, ValueError
        `d_model`, `length` or `start` is no integer or negative; `d_model`
        is odd; `base` is not positive and finite.
    """
    if check_integer("d_model", d_model) % 2:
        raise ValueError(f"sines and cosines come in pairs, got {d_model=}")
    angle = _angles(base, d_model, start, length)
    pairs = torch.stack([angle.sin(), angle.cos()], dim=-1)
    return pairs.flatten(-2).to(torch.get_default_dtype())


class Rotary:
    """Turns queries or keys by their position: ``Rotary(d_k)(x, start)``.

    Numbers i and i + d_k/2 of x (B, H, T, d_k) are the two coordinates of an
    arrow. At position p it is turned by the angle p / base^(2i / d_k), fast
    for small i. The product of a query and a key then depends on where they
    stand only through the distance. Su et al. (2021).

    Parameters
    ----------
    d_k : int
        Width of a query or key, even.
    base : float
        The larger, the slower the slowest arrow.

    Raises
    ------
    TypeError, ValueError
        `d_k` is no positive even integer; `base` not positive and finite;
        when called: x has another width, `start` is negative.
    """

    def __init__(self, d_k: int, *, base: float = 10000.0) -> None:
        if check_integer("d_k", d_k, 1) % 2:
            raise ValueError(f"an arrow has two coordinates, got {d_k=}")
        self.d_k, self.base = d_k, base
        _angles(base, d_k, 0, 0)  # checks the base

    def __call__(self, x: Tensor, start: int = 0) -> Tensor:
        """Turn x (..., T, d_k), whose first position is `start`."""
        if x.shape[-1] != self.d_k:
            raise ValueError(
                f"x needs width d_k={self.d_k}, got {tuple(x.shape)}")
        angle = _angles(self.base, self.d_k, start, x.shape[-2])
        cos, sin = angle.cos().to(x), angle.sin().to(x)
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)

    def __repr__(self) -> str:
        return f"Rotary({self.d_k}, base={self.base})"


def _angles(base, d, start, length):
    """Angles (length, d / 2), in float64: large positions keep their turn."""
    if not 0 < base < float("inf"):
        raise ValueError(f"base must be positive and finite, got {base}")
    start = check_integer("start", start)
    length = check_integer("length", length)
    speed = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    return torch.arange(start, start + length)[:, None] * speed
