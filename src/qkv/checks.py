"""What attention refuses, and the words it uses to say so.

Shared by the NumPy and the torch functions, so that the same mistake raises
the same error. Works on anything with ``shape`` and ``dtype``.
"""

import numpy as np


def score_shape(query, key, value, enable_gqa=False):
    """Check the three inputs; return the shape of the scores, (..., L, S).

    Raises
    ------
    TypeError
        An input is no floating point array, or the dtypes differ.
    ValueError
        Shapes that do not fit; the message gives all three.
    """
    for name, array in {"query": query, "key": key, "value": value}.items():
        _check_array(name, array)
        if not _is_floating(array):
            raise TypeError(f"{name} must be floating point: {array.dtype}")
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


def check_mask(attn_mask, scores):
    """Check that a mask fits scores of shape (..., L, S).

    Raises
    ------
    TypeError
        The mask is neither boolean (True may attend) nor floating point.
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
        fits = np.broadcast_shapes(mask, scores) == tuple(scores)
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"attn_mask {mask} does not broadcast to the scores "
            f"(..., L, S) = {tuple(scores)}"
        )


def check_options(scores, is_causal=False, softcap=None):
    """Check the options against the scores' shape, (..., L, S).

    Raises
    ------
    ValueError
        ``is_causal`` with L != S, or a softcap that is not positive.
    """
    L, S = scores[-2:]
    if is_causal and L != S:
        raise ValueError(
            f"is_causal=True needs as many queries as keys, got L={L}, S={S}; "
            f"attn_mask=causal_mask({L}, {S}) lets the last query see the "
            "last key"
        )
    if softcap is not None and not softcap > 0:
        raise ValueError(f"softcap must be positive, got {softcap}")


def _check_array(name, array):
    if not hasattr(array, "dtype"):
        raise TypeError(f"{name} must be an array, got {type(array).__name__}")


def _is_floating(array):
    kind = getattr(array.dtype, "kind", None)  # NumPy's dtypes have a kind
    return kind == "f" if kind else array.dtype.is_floating_point
