"""Vectors in pairs: each must find its one partner. Chapter 4 uses it.

Of n random vectors each has a partner, another of the n. One head of
attention, whose values are the vectors themselves, must return the partner's
vector; only W_Q and W_K are learned. What the scores are divided by decides
whether it can.
"""

import math
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from ..attention import scaled_dot_product_attention
from . import train

#: The model whose √heads and √d_model are the wrong divisors has 8 such heads.
HEADS = 8
# Named: Sphinx shows what follows a √ in a line of defaults shifted.
#: What attention divides by.
USUAL = "√d_k"
#: what the scores are divided by -> divisor, from d_k
DIVISORS = {
    USUAL: math.sqrt,
    "nothing": lambda d_k: 1.0,
    "√d_model": lambda d_k: math.sqrt(HEADS * d_k),
    "√heads": lambda d_k: math.sqrt(HEADS),
    "d_k": float,
}
#: how W_Q and W_K start -> factor on weights that give q and k variance 1
STARTS = {
    "unit": lambda d_k: 1.0,
    "default": lambda d_k: 3**-0.5,  # the variance of nn.Linear's own start
    "small": lambda d_k: d_k**-0.25,  # scores start with variance 1
}
OPTIMIZERS = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}


def sample(seed, n=32, width=32):
    """Draw x (n, width), standard normal, and the partners' numbers (n,).

    Everybody is somebody's partner, nobody his own.
    """
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(n, width, generator=rng), _deal(n, rng)


def _deal(n, rng):
    ring = torch.randperm(n, generator=rng)
    partner = torch.empty(n, dtype=torch.long)
    partner[ring] = ring.roll(1)
    return partner


class Finder(nn.Module):
    """One head of attention over the vectors, which are also its values.

    `seed` seeds W_Q and W_K (width, d_k); `divide_by` is a key of `DIVISORS`,
    `start` one of `STARTS`.
    """

    def __init__(self, d_k, seed, *, divide_by=USUAL, start="unit",
                 width=32):
        super().__init__()
        rng = torch.Generator().manual_seed(1000 + seed)
        std = STARTS[start](d_k) / math.sqrt(width)
        self.w_q, self.w_k = (
            nn.Parameter(std * torch.randn(width, d_k, generator=rng))
            for _ in range(2))
        self.scale = 1 / DIVISORS[divide_by](d_k)

    def forward(self, x):
        """Vectors (n, width) to answers (n, width) and weights (n, n)."""
        q, k = x @ self.w_q, x @ self.w_k  # (n, d_k)
        return scaled_dot_product_attention(
            q, k, x, scale=self.scale, return_weights=True)


def run(seed, *, d_k, lr, divide_by=USUAL, start="unit", label=False,
        optimizer="adam", redealt=False, steps=300):
    """Train a `Finder` on all n vectors at once.

    Parameters
    ----------
    seed : int
        Seeds the vectors and the model.
    d_k, divide_by, start
        See `Finder`.
    lr : float
        Learning rate.
    label : bool
        False: the loss is the mean squared error of what attention returns.
        True: it is the cross-entropy of the weights, with the partner's number
        as the label; the values play no part.
    optimizer : str
        A key of `OPTIMIZERS`.
    redealt : bool
        Null control: partners are dealt out anew before each step.
    steps : int

    Returns
    -------
    accuracy : float
        Share of vectors whose largest weight is on their partner.
    losses : list of float
        The loss before each step.
    """
    x, partner = sample(seed)
    model = Finder(d_k, seed, divide_by=divide_by, start=start)
    rng = torch.Generator().manual_seed(2000 + seed)

    def loss():
        wanted = _deal(len(x), rng) if redealt else partner
        if label:
            scores = model.scale * (x @ model.w_q) @ (x @ model.w_k).T
            return F.cross_entropy(scores, wanted)
        return F.mse_loss(model(x)[0], x[wanted])

    losses = train(model, loss, steps, lr, OPTIMIZERS[optimizer])
    with torch.no_grad():
        guesses = model(x)[1].argmax(-1)
    return (guesses == partner).float().mean().item(), losses


#: what a row of the sweep is called -> how it is trained; the last divides
#: by √d_k, the three before it by nothing
SETTINGS: dict[str, dict[str, Any]] = {
    "÷ √d_k": {},
    "÷ √d_model": {"divide_by": "√d_model"},
    "÷ √heads": {"divide_by": "√heads"},
    "÷ d_k": {"divide_by": "d_k"},
    "undivided": {"divide_by": "nothing"},
    "default start": {"divide_by": "nothing", "start": "default"},
    "small start": {"divide_by": "nothing", "start": "small"},
    "with a label": {"divide_by": "nothing", "label": True},
    "re-dealt": {"redealt": True},
}
#: optimizer -> learning rates tried
RATES = {"adam": (0.0001, 0.001, 0.01, 0.1), "sgd": (0.01, 0.1, 1, 10)}


def sweep(seeds=range(3), widths=(4, 16, 64, 256, 1024)):
    """Yield rows: accuracy at each learning rate, by setting and d_k."""
    for setting, options in SETTINGS.items():
        for optimizer, rates in RATES.items():
            for d_k in widths:
                for seed in seeds:
                    row = {"setting": setting, "optimizer": optimizer,
                           "d_k": d_k, "seed": seed}
                    for lr in rates:
                        row[f"lr {lr}"], _ = run(
                            seed, d_k=d_k, lr=lr, optimizer=optimizer,
                            **options)
                    yield row
