"""Masks: who may attend to whom. True means "may attend", everywhere.

Rows are queries, columns are keys. Masks combine with ``&``. Chapter 5
derives them.
"""

import math
from typing import Any

import numpy as np

from .checks import as_array, check_integer


def causal_mask(L: int, S: int | None = None, *, like: Any = None) -> Any:
    """Each query sees its own position and those before it.

    Parameters
    ----------
    L : int
        Number of queries.
    S : int, optional
        Number of keys; `L` if not given. The last query sees the last key:
        with S > L the queries are the last L of S positions (decoding with a
        cache), with S < L the first L - S queries see nothing.
    like : ndarray or torch.Tensor, optional
        Return the kind of array that `like` is, on its device.

    Returns
    -------
    ndarray or torch.Tensor of bool, (L, S)

    Raises
    ------
    TypeError, ValueError
        A length is no integer, or negative.
    """
    L = check_integer("L", L)
    S = L if S is None else check_integer("S", S)
    return _as(np.tri(L, S, S - L, dtype=bool), like)


def sliding_window_mask(L: int, S: int, window: int, *,
                        like: Any = None) -> Any:
    """Each query sees its own position and the ``window - 1`` before it.

    Parameters
    ----------
    L, S, like
        As in `causal_mask`; so are the errors.
    window : int
        Number of keys a query sees, itself included: 1 is the diagonal, S or
        more the causal mask. Less than 1 is a ValueError.

    Returns
    -------
    ndarray or torch.Tensor of bool, (L, S)

    References
    ----------
    Beltagy, Peters and Cohan (2020), section 3.1.
    """
    causal = causal_mask(L, S)
    window = check_integer("window", window, 1)
    too_old = np.tri(L, S, S - L - window, dtype=bool)
    return _as(causal & ~too_old, like)


def padding_mask(lengths: Any, S: int, *, side: str = "right") -> Any:
    """Hide the padding of sequences that are shorter than the batch's width.

    Parameters
    ----------
    lengths : sequence of int, ndarray or torch.Tensor, (B,)
        The number of real tokens in each sequence.
    S : int
        The common, padded length.
    side : {"right", "left"}
        Where the padding is.

    Returns
    -------
    ndarray or torch.Tensor of bool, (B, 1, 1, S)
        The kind of array `lengths` is; broadcasts over heads and queries.

    Raises
    ------
    TypeError, ValueError
        A length is no integer, or not from 0 to S; `side` is something else.
    """
    S = check_integer("S", S)
    like = lengths if hasattr(lengths, "device") else None
    counts = as_array(
        "lengths", lengths.cpu() if hasattr(lengths, "cpu") else lengths)
    if counts.ndim != 1:
        raise ValueError(f"lengths needs shape (B,), got {counts.shape}")
    if counts.dtype.kind not in "iu" and counts.size:
        raise TypeError(f"lengths must be integers, got {counts.dtype}")
    if counts.size and not 0 <= counts.min() <= counts.max() <= S:
        raise ValueError(f"lengths must lie between 0 and S={S}: {counts}")
    if side not in ("right", "left"):
        raise ValueError(f"side must be 'right' or 'left', got {side!r}")
    position = np.arange(S) if side == "right" else np.arange(S)[::-1]
    # (S,) < (B, 1, 1, 1) -> (B, 1, 1, S)
    return _as(position < counts[:, None, None, None], like)


def restrict(attn_mask: Any, allowed: Any) -> Any:
    """Let pass what both `attn_mask` and `allowed` do.

    Parameters
    ----------
    attn_mask : ndarray, torch.Tensor or None
        Boolean, floating point, or no mask at all.
    allowed : ndarray or torch.Tensor of bool
        The result is the kind of array that this is, on its device.

    Returns
    -------
    ndarray or torch.Tensor
        Of the dtype of `attn_mask`: a float mask is ``-inf`` where `allowed`
        is False.
    """
    if attn_mask is None:
        return allowed
    if isinstance(allowed, np.ndarray):
        if attn_mask.dtype == bool:
            return attn_mask & allowed
        return np.where(allowed, attn_mask, -np.inf)
    mask = as_tensor(attn_mask, allowed.device)
    if not mask.dtype.is_floating_point:
        return mask & allowed
    return mask.masked_fill(~allowed, -math.inf)


def as_tensor(mask: Any, device: Any) -> Any:
    """Return a mask as a tensor on `device`; NumPy's are copied."""
    import torch

    if isinstance(mask, np.ndarray):  # torch takes none that is flipped
        mask = mask.astype(mask.dtype.newbyteorder("="), "C")  # or foreign
    return torch.as_tensor(mask, device=device)


def _as(mask, like):
    if like is None or isinstance(like, np.ndarray):
        return mask
    import torch  # only needed by those who already have a tensor

    return torch.from_numpy(mask).to(like.device)
