"""Where a token stands, told to attention in two ways. Chapter 9 derives them.

Sinusoidal positions are added to the vectors that enter the first block;
rotary positions turn queries and keys, in every block.
"""

import torch


def sinusoidal(d_model, length, start=0, *, base=10000.0):
    """Return the vectors of positions start, start + 1 …: (length, d_model).

    Numbers 2i and 2i + 1 are the sine and the cosine of the angle
    p / base^(2i / d_model), so `d_model` is even: each pair is the hand of a
    clock, fast for small i. Vaswani et al. (2017), section 3.5.
    """
    if d_model % 2:
        raise ValueError(f"sines and cosines come in pairs, got {d_model=}")
    angle = _angles(base, d_model, start, length)
    pairs = torch.stack([angle.sin(), angle.cos()], dim=-1)
    return pairs.flatten(-2).to(torch.get_default_dtype())


def rotary(theta, d_k):
    """Return ``rotate(x, start)``: queries or keys turned by their position.

    Numbers i and i + d_k/2 of x (B, H, T, d_k) are the two coordinates of an
    arrow. At position p it is turned by the angle p / theta^(2i / d_k), fast
    for small i. The product of a query and a key then depends on where they
    stand only through the distance. Su et al. (2021).
    """
    if d_k % 2:
        raise ValueError(f"an arrow has two coordinates, got {d_k=}")

    def rotate(x, start=0):
        angle = _angles(theta, d_k, start, x.shape[-2])
        cos, sin = angle.cos().to(x), angle.sin().to(x)
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)

    return rotate


def _angles(base, d, start, length):
    """Angles (length, d / 2), in float64: large positions keep their turn."""
    speed = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    return torch.arange(start, start + length)[:, None] * speed
