"""What attention refuses, and the words it uses to say so.

Shared by the NumPy and the torch functions, so that the same mistake raises
the same error. Works on anything with ``shape`` and ``dtype``.
"""

import math
import numbers
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


def as_array(name: str, x: Any) -> np.ndarray:
    """Return `x` as an ndarray; a masked array, whose mask would be lost, not.

    Raises
    ------
    TypeError
        `x` is a `numpy.ma.MaskedArray`.
    """
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(
            f"{name} is a masked array, whose mask would be lost: pass its "
            "data, and ~mask as attn_mask (True may attend)"
        )
    return np.asarray(x)


def score_shape(query: Any, key: Any, value: Any,
                enable_gqa: bool = False) -> tuple[int, ...]:
    """Check the three inputs; return the shape of the scores, (..., L, S).

    Raises
    ------
    TypeError
        An input is no dense floating point array of 16 bits or more, or the
        dtypes differ.
    ValueError
        Shapes that do not fit; the message gives all three.
    """
    for name, array in {"query": query, "key": key, "value": value}.items():
        _check_array(name, array)
        if not _is_floating(array):
            raise TypeError(
                f"{name} must be floating point, 16 bits or more: "
                f"{array.dtype}"
            )
        if array.dtype != query.dtype:
            raise TypeError(
                f"{name} and query differ in dtype: "
                f"{array.dtype}, {query.dtype}"
            )
    q, k, v = tuple(query.shape), tuple(key.shape), tuple(value.shape)
    got = f": query {q}, key {k}, value {v}"
    if min(len(q), len(k), len(v)) < 2:
        raise ValueError("query, key and value need two dimensions" + got)
    if q[-1] != k[-1] or q[-1] == 0:
        raise ValueError("query and key need the same width d_k > 0" + got)
    if k[-2] != v[-2]:
        raise ValueError("key and value need the same length S" + got)
    if enable_gqa:
        for name, heads in {"key": k, "value": v}.items():
            if min(len(q), len(heads)) < 3 or q[-3] % (heads[-3] or q[-3] + 1):
                raise ValueError(f"{name} heads must divide query heads" + got)
        k, v = ((*s[:-3], q[-3], *s[-2:]) for s in (k, v))
    try:
        batch = np.broadcast_shapes(q[:-2], k[:-2], v[:-2])
    except ValueError:
        hint = "" if enable_gqa else " (fewer key heads? enable_gqa=True)"
        raise ValueError(
            "query, key and value differ in batch or heads" + got + hint
        ) from None
    return (*batch, q[-2], k[-2])


def check_mask(attn_mask: Any, scores: Sequence[int]) -> None:
    """Check that a mask fits scores of shape (..., L, S).

    Raises
    ------
    TypeError
        The mask is no dense array, or neither boolean (True may attend) nor
        floating point.
    ValueError
        The mask does not broadcast to the scores.
    """
    _check_array("attn_mask", attn_mask)
    if not (str(attn_mask.dtype).endswith("bool") or _is_floating(attn_mask)):
        raise TypeError(
            "attn_mask must be boolean (True may attend) or floating point "
            f"(added to the scores), got {attn_mask.dtype}"
        )
    mask = tuple(attn_mask.shape)
    try:
        fits = np.broadcast_shapes(mask, tuple(scores)) == tuple(scores)
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"attn_mask {mask} does not broadcast to the scores "
            f"(..., L, S) = {tuple(scores)}"
        )


def check_options(scores: Sequence[int], dtype: Any, *,
                  is_causal: Any = False, scale: Any = None,
                  softcap: Any = None, dropout_p: Any = 0.0,
                  **flags: Any) -> None:
    """Check the options of a call: `flags` are other switches, by name.

    Parameters
    ----------
    scores : sequence of int
        Shape of the scores, (..., L, S).
    dtype : numpy.dtype or torch.dtype
        Of the inputs: `scale` and `softcap` must be numbers that it has.
        Half precision computes in float32.

    Raises
    ------
    TypeError
        A switch is no bool, a number is none (True is no number).
    ValueError
        ``is_causal`` with L != S, or a number out of range.
    """
    check_flags(is_causal=is_causal, **flags)
    L, S = scores[-2:]
    if is_causal and L != S:
        raise ValueError(
            f"is_causal=True needs as many queries as keys, got L={L}, S={S}; "
            f"attn_mask=causal_mask({L}, {S}) lets the last query see the "
            "last key"
        )
    check_dropout("dropout_p", dropout_p)
    info = np.finfo(np.float64 if dtype.itemsize > 4 else np.float32)
    least, most = float(info.tiny), float(info.max)
    for name, number in {"scale": scale, "softcap": softcap}.items():
        if number is not None:
            _check_number(name, number)
            if not abs(float(number)) <= most:
                raise ValueError(f"{name} must be finite in {info.dtype}, "
                                 f"got {number}")
    if softcap is not None and not float(softcap) >= least:
        raise ValueError(
            f"softcap must be positive, at least {least:.3g}, "
            f"got {softcap}"
        )


def check_flags(**flags: Any) -> None:
    """Check that each switch is True or False, nothing that counts as one."""
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise TypeError(f"{name} must be True or False, got {flag!r}")


def check_dropout(name: str, p: Any) -> None:
    """Check that a probability is a number from 0 to 1."""
    _check_number(name, p)
    if not 0 <= p <= 1:
        raise ValueError(f"{name} must lie in [0, 1], got {p}")


def check_integer(name: str, n: Any, least: int = 0) -> int:
    """Return `n` as an int; True is no number, and 2.0 no integer.

    Raises
    ------
    TypeError
        `n` is not an integer.
    ValueError
        `n` is smaller than `least`.
    """
    if isinstance(n, bool | np.bool_):
        raise TypeError(f"{name} must be an integer, got {n!r}")
    try:
        n = operator.index(n)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {n!r}") from None
    if n < least:
        raise ValueError(f"{name} must be at least {least}, got {n}")
    return n


def is_calm(norms: Iterable[float], scale: float, largest: float) -> bool:
    """Tell whether attention on inputs of these sizes stays finite.

    Parameters
    ----------
    norms : three floats
        Of query, key and value the root of the sum of all squares: NaN and
        inf show in it, and no score is larger than the first two multiplied.
    scale : float
        Factor on the scores.
    largest : float
        The largest number of the dtype that is computed in.
    """
    query, key, value = norms
    score = query * key * max(1.0, abs(scale))
    return score < largest and math.isfinite(value)  # False for NaN


def _check_array(name, array):
    if not hasattr(array, "dtype"):
        raise TypeError(f"{name} must be an array, got {type(array).__name__}")
    if isinstance(array, np.ndarray):
        as_array(name, array)  # not a masked one
    layout = str(getattr(array, "layout", "torch.strided"))
    if layout != "torch.strided":
        raise TypeError(f"{name} must be dense, got {layout}")


def _check_number(name, number):
    if isinstance(number, bool) or not isinstance(number, numbers.Real):
        raise TypeError(f"{name} must be a number, got {number!r}")


def _is_floating(array):
    kind = getattr(array.dtype, "kind", None)  # NumPy's dtypes have a kind
    floating = kind == "f" if kind else array.dtype.is_floating_point
    return floating and array.dtype.itemsize > 1
