"""The keys and values a decoder has already computed. Chapter 5 uses it."""

import torch


class KVCache:
    """Keys and values of all positions so far, for one attention layer.

    A token's key and value never change once computed (under a causal mask),
    so decoding keeps them and projects only the new token.

    Attributes
    ----------
    key : Tensor, (B, H_kv, S, d_k), or None while empty
    value : Tensor, (B, H_kv, S, d_v), or None while empty
    """

    def __init__(self):
        self.key = self.value = None

    def __len__(self):
        """Return the number of positions S held so far."""
        return 0 if self.key is None else self.key.shape[-2]

    def update(self, key, value):
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
        if self.key is not None:
            key = _append("key", self.key, key)
            value = _append("value", self.value, value)
        self.key, self.value = key, value
        return key, value


def _append(name, held, new):
    if (*held.shape[:-2], held.shape[-1]) != (*new.shape[:-2], new.shape[-1]):
        raise ValueError(
            f"{name} {tuple(new.shape)} does not continue the cached {name} "
            f"{tuple(held.shape)}: only the length may differ")
    if held.dtype != new.dtype:
        raise TypeError(f"cached {name} is {held.dtype}, got {new.dtype}")
    return torch.cat([held, new], dim=-2)  # (..., S, d) + (..., L, d)
