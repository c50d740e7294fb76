"""Masks: who may attend to whom. True means "may attend", everywhere.

Rows are queries, columns are keys. Masks combine with ``&``. Chapter 5
derives them.
"""

import operator

import numpy as np


def causal_mask(L, S=None, *, like=None):
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
    """
    L, S = _lengths(L, S)
    return _as(np.tri(L, S, S - L, dtype=bool), like)


def sliding_window_mask(L, S, window, *, like=None):
    """Each query sees its own position and the ``window - 1`` before it.

    Parameters
    ----------
    L, S, like
        As in `causal_mask`.
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
    L, S = _lengths(L, S)
    if operator.index(window) < 1:
        raise ValueError(f"window must be at least 1, got {window}")
    too_old = np.tri(L, S, S - L - window, dtype=bool)
    return _as(causal_mask(L, S) & ~too_old, like)


def padding_mask(lengths, S, *, side="right"):
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
    like = lengths if hasattr(lengths, "device") else None
    counts = np.asarray(lengths.cpu() if hasattr(lengths, "cpu") else lengths)
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


def _lengths(L, S):
    L, S = operator.index(L), operator.index(L if S is None else S)
    if min(L, S) < 0:
        raise ValueError(f"lengths cannot be negative: L={L}, S={S}")
    return L, S


def _as(mask, like):
    if like is None or isinstance(like, np.ndarray):
        return mask
    import torch  # only needed by those who already have a tensor

    return torch.from_numpy(mask).to(like.device)
