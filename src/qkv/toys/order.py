"""A task that only order decides: which letter stood two places before?

A sequence is random letters, and every position must name the letter two
places before it. What the letters are says nothing, where they stand says
all. Chapter 9 uses it, on sequences of the length that was trained, on the
same ones at places never seen, and on longer ones.
"""

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from ..masks import sliding_window_mask
from ..multihead import MultiHeadAttention
from ..positions import Rotary, sinusoidal
from ..transformer import Block
from . import train

LETTERS = 8
BACK = 2
LENGTH = 16  # in training
FAR = 64  # how far "moved" moves a sequence
LONGER = (32, 64, 128)
POSITIONS = ("none", "sinusoidal", "learned", "rotary")


def sample(count, length, rng, shuffled=False):
    """Draw ids (count, length) and what to answer, (count, length - 2).

    The first two positions have nothing to answer. With `shuffled` (the null
    control) the answers are read off the same letters in another order.
    """
    ids = torch.randint(LETTERS, (count, length), generator=rng)
    asked = ids
    if shuffled:
        asked = ids[:, torch.randperm(length, generator=rng)]
    return ids, asked[:, :-BACK]


def bag_accuracy(length, rng, count=2000):
    """What the best guess without order gets: the commonest letter.

    A sequence's own letters are all it knows; the letter that occurs most
    often is named everywhere.
    """
    ids, answers = sample(count, length, rng)
    commonest = F.one_hot(ids, LETTERS).sum(1).argmax(-1, keepdim=True)
    return (commonest == answers).float().mean().item()


class LetterReader(nn.Module):
    """Embeddings, positions of some kind, blocks, a read-out everywhere.

    Parameters
    ----------
    position : {"none", "sinusoidal", "learned", "rotary"}
    is_causal : bool
    window : int, optional
        See no more than the last `window` positions.
    layers : int
    """

    def __init__(self, position, *, is_causal=False, window=None, layers=1,
                 d_model=32, heads=2):
        super().__init__()
        self.is_causal, self.window = is_causal, window
        self.word = nn.Embedding(LETTERS, d_model)
        table = {"sinusoidal": sinusoidal(d_model, 256),
                 "learned": torch.randn(256, d_model)}
        self.table = nn.Parameter(
            table.get(position, torch.zeros(256, d_model)),
            requires_grad=position == "learned")
        self.turn = Rotary(d_model // heads)
        self.start = 0  # where a sequence is said to begin
        self.blocks = nn.ModuleList(
            Block(MultiHeadAttention(
                d_model, heads,
                rotary=self._turned if position == "rotary" else None),
                nn.Sequential(nn.Linear(d_model, 2 * d_model), nn.GELU(),
                              nn.Linear(2 * d_model, d_model)))
            for _ in range(layers))
        self.answer = nn.Linear(d_model, LETTERS)

    def _turned(self, x, start):
        return self.turn(x, self.start + start)

    def forward(self, ids):
        """Ids (B, T) to scores of each position's answer, (B, T, 8)."""
        T, mask = ids.shape[1], None
        x = self.word(ids) + self.table[self.start:self.start + T]
        if self.window is not None:
            mask = sliding_window_mask(T, T, self.window, like=x)
        for block in self.blocks:
            x = block(x, attn_mask=mask, is_causal=self.is_causal)
        return self.answer(x)


def accuracy(model, length, rng, count=100, start=0, shuffled=False):
    """Share of right answers on new sequences that begin at place `start`."""
    ids, answers = sample(count, length, rng, shuffled)
    model.start = start
    with torch.no_grad():
        guesses = model(ids)[:, BACK:].argmax(-1)
    model.start = 0
    return (guesses == answers).float().mean().item()


def run(seed, *, position, shuffled=False, steps=400, **options):
    """Train a `LetterReader` on fresh batches of 64 sequences of length 16.

    Parameters
    ----------
    seed : int
    position, **options
        See `LetterReader`.
    shuffled : bool
        The null control: see `sample`.
    steps : int

    Returns
    -------
    model : LetterReader
    row : dict
        Accuracy: ``16``, at the trained length; ``moved``, the same but
        beginning at place 64; ``32``, ``64``, ``128``, longer.
    """
    rng = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LetterReader(position, **options)

    def loss():
        ids, answers = sample(64, LENGTH, rng, shuffled)
        scores = model(ids)[:, BACK:]
        return F.cross_entropy(scores.flatten(0, 1), answers.flatten())

    train(model, loss, steps, lr=0.005)
    row = {"16": accuracy(model, LENGTH, rng, shuffled=shuffled),
           "moved": accuracy(model, LENGTH, rng, start=FAR,
                             shuffled=shuffled)}
    for length in LONGER:
        row[str(length)] = accuracy(model, length, rng, shuffled=shuffled)
    return model, row


#: name -> options of `run`; one block and no mask where nothing is said
SETTINGS: dict[str, dict[str, Any]] = {
    **{position: {"position": position} for position in POSITIONS},
    "rotary, shuffled": {"position": "rotary", "shuffled": True},
    "none, causal, two blocks": {
        "position": "none", "is_causal": True, "layers": 2},
    "rotary, causal": {"position": "rotary", "is_causal": True},
    "rotary, window of 4": {"position": "rotary", "window": 4},
    "sinusoidal, window of 4": {"position": "sinusoidal", "window": 4},
}


def sweep(seeds=range(5)):
    """Yield rows: accuracy at five lengths and places, by setting and seed."""
    for name, options in SETTINGS.items():
        for seed in seeds:
            yield {"setting": name, "seed": seed, **run(seed, **options)[1]}
