"""Remember the first token: attention against recurrent networks.

A sequence starts with one of 8 letters; noise from 8 other letters follows.
After the last token the model must name the first. The same answer must
travel `distance` steps through a recurrent network, and one step through
attention. Chapter 1 uses it.
"""

import torch
from torch import nn
from torch.nn import functional as F

from ..masks import sliding_window_mask
from ..multihead import MultiHeadAttention
from . import train

LETTERS = 8
MODELS = ("rnn", "gru", "attention")


def sample(count, distance, rng):
    """Draw ids (count, distance + 1) and the first of each, (count,)."""
    first = torch.randint(LETTERS, (count, 1), generator=rng)
    noise = torch.randint(LETTERS, (count, distance), generator=rng)
    return torch.cat([first, LETTERS + noise], dim=1), first[:, 0]


class Recaller(nn.Module):
    """Embeddings, one layer that mixes the tokens, a read-out at the last.

    Parameters
    ----------
    kind : {"rnn", "gru", "attention"}
    window : int, optional
        Attention only: see no more than the last `window` tokens.
    """

    def __init__(self, kind, window=None, d_model=32):
        super().__init__()
        self.word = nn.Embedding(2 * LETTERS, d_model)
        nn.init.normal_(self.word.weight, std=0.3)
        self.window = window
        layers = {
            "rnn": lambda: nn.RNN(d_model, d_model, batch_first=True),
            "gru": lambda: nn.GRU(d_model, d_model, batch_first=True),
            "attention": lambda: MultiHeadAttention(d_model, 1),
        }
        self.layer = layers[kind]()
        self.answer = nn.Linear(d_model, LETTERS)

    def forward(self, ids):
        """Ids (B, T) to scores of the first letter (B, 8)."""
        return self.mix(self.word(ids))

    def mix(self, x):
        """Vectors (B, T, d_model) to scores of the first letter (B, 8)."""
        if not isinstance(self.layer, MultiHeadAttention):
            return self.answer(self.layer(x)[0][:, -1])
        last, mask = x[:, -1:], None
        if self.window is not None:
            mask = sliding_window_mask(1, x.shape[1], self.window, like=x)
        return self.answer((last + self.layer(last, x, attn_mask=mask))[:, -1])


def reach(kind, distance, seed):
    """How much of the first token reaches the answer, before training.

    Returns
    -------
    float
        Size of the answer's gradient at the first token, relative to that at
        the last token (mean over 64 sequences).
    """
    rng = torch.Generator().manual_seed(seed)
    ids, _ = sample(64, distance, rng)
    model = _seeded(kind, None, seed)
    x = model.word(ids).detach().requires_grad_()
    model.mix(x).square().sum().backward()
    size = x.grad.norm(dim=-1)  # (64, T)
    return (size[:, 0] / size[:, -1]).mean().item()


def run(seed, *, kind, distance, window=None, steps=200):
    """Train a `Recaller` on fresh batches of 64; return its accuracy.

    Parameters
    ----------
    seed : int
    kind, window
        See `Recaller`.
    distance : int
        Steps from the first token to the last.
    steps : int

    Returns
    -------
    float
        Share of 1,000 new sequences answered correctly; chance is 1/8.
    """
    rng = torch.Generator().manual_seed(seed)
    model = _seeded(kind, window, seed)

    def loss():
        ids, first = sample(64, distance, rng)
        return F.cross_entropy(model(ids), first)

    train(model, loss, steps, lr=0.005)
    ids, first = sample(1000, distance, rng)
    with torch.no_grad():
        return (model(ids).argmax(-1) == first).float().mean().item()


def _seeded(kind, window, seed):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Recaller(kind, window)


def sweep(seeds=range(3), distances=(4, 16, 64)):
    """Yield rows: accuracy and reach, by kind, window, distance and seed."""
    settings = [(kind, None) for kind in MODELS] + [("attention", 4)]
    for kind, window in settings:
        for distance in distances:
            for seed in seeds:
                accuracy = run(
                    seed, kind=kind, distance=distance, window=window)
                row = {"kind": kind, "window": window, "distance": distance,
                       "seed": seed, "accuracy": accuracy}
                if window is None:
                    row["reach"] = reach(kind, distance, seed)
                yield row
