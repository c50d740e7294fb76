"""Eight keys, one query that equals one of them: how narrow may a head be?

Each of eight items has a key, sixteen random numbers, and a content. A query
repeats one of the keys and must bring back that item's content. Items are new
in each batch, so there is nothing to learn but to compare. Chapter 6 uses it.
"""

import torch
from torch.nn import functional as F

from ..multihead import MultiHeadAttention
from . import train

WIDTH = 16  # of a key, and the number of contents


def sample(count, rng):
    """Draw query (count, 1, 32), items (count, 8, 32), answers (count,)."""
    key = torch.randn(count, 8, WIDTH, generator=rng)
    content = torch.randint(WIDTH, (count, 8), generator=rng)
    each, chosen = torch.arange(count), torch.randint(
        8, (count,), generator=rng)
    query = F.pad(key[each, chosen], (0, WIDTH))[:, None]
    items = torch.cat([key, F.one_hot(content, WIDTH)], dim=-1)
    return query, items, content[each, chosen]


def run(seed, *, heads, steps=400):
    """Train one attention layer of width 32; return its accuracy.

    All numbers of heads have the same parameters. Chance is 1/16.
    """
    rng = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = MultiHeadAttention(2 * WIDTH, heads, bias=False)

    def scores(query, items):  # 8 times: a sharper softmax in the loss
        return 8 * model(query, items)[:, 0, WIDTH:]

    def loss():
        query, items, answer = sample(128, rng)
        return F.cross_entropy(scores(query, items), answer)

    train(model, loss, steps, lr=0.01)
    query, items, answer = sample(2000, rng)
    with torch.no_grad():
        guess = scores(query, items).argmax(-1)
    return (guess == answer).double().mean().item()


def sweep(seeds=range(3)):
    """Yield rows: accuracy by heads and seed."""
    for heads in (1, 2, 4, 8, 16, 32):
        for seed in seeds:
            yield {"heads": heads, "d_k": 2 * WIDTH // heads, "seed": seed,
                   "accuracy": run(seed, heads=heads)}
