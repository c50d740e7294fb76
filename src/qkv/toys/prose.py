"""A small text to train on: the prose of this book.

``prose.txt`` holds 100,000 characters from the Markdown of chapters 0 to 8
and of the glossary, one paragraph a line, as they stood when chapter 9 was
written. Formulas, code, links, tables and Chinese are left out. It is frozen:
the chapters go on changing, and the numbers of chapter 9 must not.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from pathlib import Path

import torch


@functools.cache
def split() -> tuple[str, str]:
    """Return two texts, to train on and held out: every tenth paragraph."""
    path = Path(__file__).with_name("prose.txt")
    lines = path.read_text("utf-8").splitlines(keepends=True)
    held_out = lines[9::10]
    del lines[9::10]
    return "".join(lines), "".join(held_out)


@functools.cache
def alphabet() -> str:
    """Return the characters that occur, sorted: the vocabulary, 73 long."""
    return "".join(sorted(set("".join(split()))))


def encode(text: str) -> torch.Tensor:
    """Turn a text into ids, (T,); a character that is not there: ValueError.

    A token of this vocabulary is one character.
    """
    return torch.tensor([alphabet().index(c) for c in text])


def decode(ids: torch.Tensor | list[int]) -> str:
    """Turn ids, (T,) or a list, into a text."""
    return "".join(alphabet()[i] for i in ids)


def shuffle(text: str, seed: int = 0) -> str:
    """Return the same characters in another order: the null control."""
    rng = torch.Generator().manual_seed(seed)
    return "".join(text[i] for i in torch.randperm(len(text), generator=rng))


def batch(ids: torch.Tensor, count: int, length: int,
          rng: torch.Generator) -> torch.Tensor:
    """Cut `count` random pieces out of ids (T,): (count, length)."""
    start = torch.randint(len(ids) - length + 1, (count, 1), generator=rng)
    return ids[start + torch.arange(length)]


def table_loss(train: str, test: str, n: int,
               extra: float = 0.05) -> float:
    """Loss of a table that counts groups of n characters, in nats.

    The chance of a character after the n - 1 before it is how often it
    followed them in `train`, counted with `extra` more for every character,
    so that nothing is impossible. No attention, no gradient: the baseline.

    Parameters
    ----------
    train, test : str
    n : int
        1 counts characters, 2 counts pairs.
    extra : float

    Returns
    -------
    float
        Mean of -ln p over the characters of `test` after its first n - 1.
    """
    groups = Counter(_groups(train, n))
    before: Counter[str] = Counter()
    for group, count in groups.items():
        before[group[:-1]] += count
    surprise = [
        math.log((before[group[:-1]] + extra * len(alphabet()))
                 / (groups[group] + extra))
        for group in _groups(test, n)]
    return sum(surprise) / len(surprise)


def _groups(text: str, n: int) -> list[str]:
    return [text[i:i + n] for i in range(len(text) - n + 1)]
