"""Scaled dot-product attention, step by step: the package behind the book.

``import qkv`` needs only NumPy. Names that need torch load on first use.
"""

import importlib
from typing import TYPE_CHECKING

from . import blockwise, reference
from .extras import extra_named
from .masks import causal_mask, padding_mask, sliding_window_mask

if TYPE_CHECKING:  # what __getattr__ finds, for those who only read
    from . import explorer as explorer
    from . import plot as plot
    from . import positions as positions
    from . import pretrained as pretrained
    from . import toys as toys
    from . import transformer as transformer
    from . import verdicts as verdicts
    from .attention import scaled_dot_product_attention
    from .cache import KVCache
    from .multihead import MultiHeadAttention

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


def __getattr__(name: str) -> object:
    if name not in _LAZY and name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with extra_named():
        room = importlib.import_module(f".{_LAZY.get(name, name)}", __name__)
    return getattr(room, name) if name in _LAZY else room


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
