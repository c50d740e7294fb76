"""The keys and values a decoder has already computed. Chapter 5 uses it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


class KVCache:
    """Keys and values of all positions so far, for one attention layer.

    A token's key and value never change once computed (under a causal mask),
    so decoding keeps them and projects only the new token. Room is made ahead
    (twice what is needed), so that a step copies the new positions only.

    Attributes
    ----------
    key : Tensor, (B, H_kv, S, d_k), or None while empty
    value : Tensor, (B, H_kv, S, d_v), or None while empty

    Notes
    -----
    What comes in is copied. What comes out, `key`, `value` and the result of
    `update`, is a view of the cache's own memory: read it, do not write to
    it. ``copy.deepcopy`` makes a cache that shares nothing. Where gradients
    are enabled every step makes new tensors, so that gradients can flow:
    decode under ``torch.no_grad`` or ``torch.inference_mode``.
    """

    def __init__(self) -> None:
        self._key: Tensor | None = None  # with room for more positions
        self._value: Tensor | None = None
        self._length = 0

    def __len__(self) -> int:
        """Return the number of positions S held so far."""
        return self._length

    @property
    def key(self) -> Tensor | None:
        """Keys of all positions so far, or None."""
        return None if self._key is None else self._key[..., :len(self), :]

    @property
    def value(self) -> Tensor | None:
        """Values of all positions so far, or None."""
        return (None if self._value is None
                else self._value[..., :len(self), :])

    def update(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Append new positions and return all keys and values so far.

        Parameters
        ----------
        key : Tensor, (B, H_kv, L, d_k)
        value : Tensor, (B, H_kv, L, d_v)

        Returns
        -------
        key : Tensor, (B, H_kv, S + L, d_k)
        value : Tensor, (B, H_kv, S + L, d_v)

        Raises
        ------
        ValueError, TypeError
            Anything but the length differs from what is held, or key and
            value have different lengths. The cache is then unchanged.
        """
        if key.shape[:-1] != value.shape[:-1]:
            raise ValueError(
                "key and value need the same batch, heads and length: "
                f"key {tuple(key.shape)}, value {tuple(value.shape)}")
        _check("key", self._key, key, len(self))
        _check("value", self._value, value, len(self))
        self._key = _append(self._key, key, len(self))
        self._value = _append(self._value, value, len(self))
        self._length += key.shape[-2]
        return self.key, self.value  # type: ignore[return-value]

    def crop(self, length: int) -> None:
        """Forget all but the first `length` positions.

        Raises
        ------
        ValueError
            `length` is negative, or more than the cache holds.
        """
        if not 0 <= length <= len(self):
            raise ValueError(f"cannot crop {len(self)} positions to {length}")
        if length == 0:
            self._key = self._value = None
        self._length = length

    @contextmanager
    def restored_on_error(self) -> Iterator[None]:
        """Take back what came in meanwhile if what is inside fails."""
        length = len(self)
        try:
            yield
        except BaseException:
            self.crop(length)
            raise


def _check(name, held, new, length):
    """Check that new positions continue those that are held."""
    if held is None:
        return
    if (*held.shape[:-2], held.shape[-1]) != (*new.shape[:-2], new.shape[-1]):
        old = (*held.shape[:-2], length, held.shape[-1])
        raise ValueError(
            f"{name} {tuple(new.shape)} does not continue the cached {name} "
            f"{old}: only the length may differ")
    for what in ("dtype", "device"):
        if getattr(held, what) != getattr(new, what):
            raise TypeError(f"cached {name} is {getattr(held, what)}, got "
                            f"{getattr(new, what)}")


def _append(held, new, length):
    """Return memory that holds `length` positions of `held`, then `new`."""
    end = length + new.shape[-2]
    if torch.is_grad_enabled():  # what autograd has kept must not change
        old = new[..., :0, :] if held is None else held[..., :length, :]
        return torch.cat([old, new], dim=-2)  # (..., S, d) + (..., L, d)
    if held is None or end > held.shape[-2]:
        with torch.inference_mode(False):  # else it stays read-only outside
            room = new.new_empty(*new.shape[:-2], 2 * end, new.shape[-1])
        if held is not None:
            room[..., :length, :] = held[..., :length, :]
        held = room
    held[..., length:end, :] = new
    return held
