"""What to install when an optional package is missing."""

from collections.abc import Iterator
from contextlib import contextmanager

#: package -> the extra of qkv that installs it
EXTRAS = {
    "torch": "torch",
    "matplotlib": "plot",
    "gguf": "models",
    "safetensors": "models",
    "tokenizers": "models",
}


@contextmanager
def extra_named() -> Iterator[None]:
    """Around an import: name the extra that brings what is missing.

    Raises
    ------
    ModuleNotFoundError
        If the import fails; the message says how to install the package.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise ModuleNotFoundError(
            f"this part of qkv needs {package}, which is not installed: "
            f'pip install "qkv[{EXTRAS[package]}]"', name=error.name
        ) from error
