"""What is hidden stays hidden, whatever its numbers are.

0 · NaN is NaN, and 0 · ∞ too: a weight of 0 does not keep a broken value
out of a sum, nor a slope of 0 a broken key out of a gradient. The products
here leave out the pairs that may not see each other. `qkv.attention` uses
them for inputs that are not calm, which is rare: calm means that nothing is
NaN, infinite or so large that a product may overflow.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.autograd import Function

from . import checks


def is_right(output: Tensor, query: Tensor, key: Tensor, value: Tensor,
             mask: Tensor | None, scale: float) -> bool:
    """Tell whether the output of torch's kernels can be believed.

    A NaN or an infinity that a kernel meets, hidden or not, shows in the
    output, with two exceptions that look like an empty row, 0: scores all
    below the smallest number, and (on CPUs, up to 15 keys) scores all NaN.
    Gradients are another matter: for them the inputs are looked at.
    """
    def look():
        rows = output.detach().sum(-1, dtype=wide(output)).abs()
        low, high = map(float, rows.aminmax()) if rows.numel() else (1, 1)
        if not high < math.inf:  # NaN is not
            return False
        if low > 0 and key.shape[-2] > 15 and not output.requires_grad:
            return True
        return is_calm(query, key, value, mask, scale)

    return _looked(look)


def is_calm(query: Tensor, key: Tensor, value: Tensor,
            mask: Tensor | None, scale: float) -> bool:
    """Tell whether nothing is NaN, infinite or nearly too large."""
    def look():
        dtype = wide(query)
        norms = (float(torch.linalg.vector_norm(x.detach(), dtype=dtype))
                 for x in (query, key, value))
        calm = checks.is_calm(norms, scale, torch.finfo(dtype).max)
        if calm and mask is not None and mask.dtype != torch.bool:
            return bool((mask < math.inf).all())  # NaN is not
        return calm

    return _looked(look)


def _looked(look):
    """Look at numbers, or hope for the best where there are none yet."""
    if torch.compiler.is_compiling():
        return True
    try:
        return look()
    except RuntimeError:  # vmap, meta and fake tensors
        return True


def wide(x: Tensor) -> torch.dtype:
    """Return the precision to compute in: float32 or more."""
    return torch.promote_types(x.dtype, torch.float32)


class Pairs(Function):
    """Scores q · k of the pairs that are seen, 0 for the others.

    ``Pairs.apply(query, key, seen)``: (..., L, d), (..., S, d) and a boolean
    (..., L, S) to (..., L, S), all with the same leading dimensions.
    """

    @staticmethod
    def forward(ctx, query: Tensor, key: Tensor, seen: Tensor) -> Tensor:
        """Multiply, then forget what is hidden: no product meets another."""
        ctx.save_for_backward(query, key, seen)
        return (query @ key.mT).masked_fill(~seen, 0)

    @staticmethod
    def backward(ctx, slope):
        """Slopes of query and key: sums over what is seen."""
        query, key, seen = ctx.saved_tensors
        return (Sums.apply(slope, key, seen),
                Sums.apply(slope.mT, query, seen.mT), None)


class Sums(Function):
    """Weighted sums of the values that are seen.

    ``Sums.apply(weights, value, seen)``: (..., L, S), (..., S, d) and a
    boolean (..., L, S) to (..., L, d), all with the same leading dimensions.
    """

    @staticmethod
    def forward(ctx, weights: Tensor, value: Tensor, seen: Tensor) -> Tensor:
        """Add up what is finite; then say where NaN and infinities arrive."""
        ctx.save_for_backward(weights, value, seen)
        weights = weights.masked_fill(~seen, 0)
        finite = value.isfinite()
        total = weights @ value.masked_fill(~finite, 0)
        if finite.all():
            return total

        def meet(pairs, values):  # how many such pairs have such a value
            return pairs.to(total.dtype) @ values.to(total.dtype)

        up, down = weights > 0, weights < 0
        plus, minus = value == torch.inf, value == -torch.inf
        rises = meet(up, plus) + meet(down, minus) > 0
        falls = meet(up, minus) + meet(down, plus) > 0
        lost = (meet(seen & (weights == 0), plus | minus)  # 0 · inf
                + meet(seen, value.isnan())) > 0
        lost |= rises & falls  # inf - inf
        total = torch.where(rises, torch.inf, total)
        total = torch.where(falls, -torch.inf, total)
        return total.masked_fill(lost, torch.nan)

    @staticmethod
    def backward(ctx, slope):
        """Slopes of weights and value, of the pairs that are seen."""
        weights, value, seen = ctx.saved_tensors
        return (Pairs.apply(slope, value, seen),
                Sums.apply(weights.mT, slope, seen.mT), None)
