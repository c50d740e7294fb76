"""What the files of a Marian translator hold."""

from pathlib import Path

import numpy as np
import torch


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """Return the tensors of a model by name, all as float32.

    The file: version, count; for each tensor the length of its name, type,
    rank, bytes; all names; all shapes; padding; all data. An int8 matrix is
    followed by the number that its float original was multiplied by.
    """
    tensors = {}
    with open(path, "rb") as file:
        def numbers(kind, count):
            size = np.dtype(kind).itemsize * count
            return np.frombuffer(file.read(size), kind).tolist()

        _, count = numbers("<u8", 2)
        heads = [numbers("<u8", 4) for _ in range(count)]
        names = [file.read(head[0])[:-1].decode() for head in heads]
        shapes = [numbers("<i4", head[2]) for head in heads]
        padding, = numbers("<u8", 1)
        file.seek(padding, 1)
        for head, name, shape in zip(heads, names, shapes, strict=True):
            data, count = file.read(head[3]), int(np.prod(shape))
            if head[1] == 0x404:  # float32
                x = np.frombuffer(data, "<f4", count).reshape(shape)
            elif head[1] == 0x4101:  # int8, and its multiplier
                x = np.frombuffer(data, np.int8, count)
                x = x / np.frombuffer(data, "<f4", 1, count)
                # (in, out) is stored transposed, as nn.Linear has it.
                x = x.reshape(shape if name == "Wemb" else shape[::-1])
            else:  # settings, as text
                continue
            tensors[name] = torch.tensor(x).squeeze(0)
    return tensors


class Shortlist:
    """For each token that is read, the tokens that are worth writing.

    Spares most of the output layer, and rarely changes a translation. A
    token's list is short: those that word-aligned texts link to it most.
    """

    def __init__(self, path: Path):
        data = path.read_bytes()
        *_, starts, total = np.frombuffer(data, "<u8", 6).tolist()
        self.starts = np.frombuffer(data, "<u8", starts, 48).tolist()
        self.lists = np.frombuffer(data, "<u4", total, 48 + 8 * starts)

    def __call__(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the ids worth writing when `ids` (S,) are read: (N,)."""
        chosen = set(range(50))  # common everywhere
        for i in ids.tolist():
            chosen.update(
                self.lists[self.starts[i]:self.starts[i + 1]].tolist())
        spare = (i for i in range(50, 32000) if i not in chosen)
        while len(chosen) % 8:  # as int8 products on a CPU want it
            chosen.add(next(spare))
        return torch.tensor(sorted(chosen))
