"""Scaled dot-product attention, step by step: the package behind the book.

``import qkv`` needs only NumPy. Names that need torch load on first use.
"""

import importlib

from . import blockwise, reference
from .masks import causal_mask, padding_mask, sliding_window_mask

__version__ = "0.1.0"

_LAZY = {
    "scaled_dot_product_attention": "attention",
    "KVCache": "cache",
    "MultiHeadAttention": "multihead",
}
_ROOMS = ("explorer", "plot", "positions", "pretrained", "toys",
          "transformer", "verdicts")

__all__ = [
    "KVCache",
    "MultiHeadAttention",
    "blockwise",
    "causal_mask",
    "padding_mask",
    "reference",
    "scaled_dot_product_attention",
    "sliding_window_mask",
]


def __getattr__(name):
    if name in _LAZY:
        room = importlib.import_module(f".{_LAZY[name]}", __name__)
        return getattr(room, name)
    if name in _ROOMS:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__, *_ROOMS})
