"""Dishes and their modifiers: does attention find them unlabelled?

A sentence such as ``they love a spicy Sichuan hotpot``. From the updated
vector of the last noun, two linear read-outs must tell the dish's flavour and
its region. Which words modify the noun is never told. Chapter 2 uses it.
"""

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from ..multihead import MultiHeadAttention
from . import train

FLAVOURS = ("spicy", "mild", "sour", "sweet", "salty", "smoky")
REGIONS = ("Sichuan", "Hunan", "Shanghai", "Yunnan", "Beijing", "Guangdong")
NOUNS = ("hotpot", "soup", "noodles", "duck", "tofu", "dumplings")
ARTICLES = ("a", "the")
WHO = ("we", "they", "you", "I")
DO = ("love", "order", "cook", "share")
WORDS = (*WHO, *DO, "and", *ARTICLES, *FLAVOURS, *REGIONS, *NOUNS)
_ID = {word: i for i, word in enumerate(WORDS)}


def sample(count, seed, *, held_out=False, dishes=1):
    """Draw sentences and what is asked of them.

    Parameters
    ----------
    count : int
    seed : int
    held_out : bool
        Draw only combinations of flavour, region and noun that are never
        drawn with ``held_out=False`` (a quarter of all).
    dishes : {1, 2}
        2 puts another dish before the one that is asked for, joined by "and".

    Returns
    -------
    ids : Tensor of int, (count, T)
        T is 6 for one dish (``they love a spicy Sichuan hotpot``), 9 for two.
    targets : Tensor of int, (count, 2)
        Numbers of the last dish's flavour and region.
    """
    rng = torch.Generator().manual_seed(seed)

    def draw(words):
        return words[torch.randint(len(words), (), generator=rng)]

    ids: list[list[int]] = []
    targets: list[list[int]] = []
    while len(ids) < count:
        dish = [draw(w) for w in (ARTICLES, FLAVOURS, REGIONS, NOUNS)]
        flavour = FLAVOURS.index(dish[1])
        region = REGIONS.index(dish[2])
        noun = NOUNS.index(dish[3])
        if held_out != ((flavour + region + noun) % 4 == 0):
            continue
        before = [draw(WHO), draw(DO)]
        if dishes == 2:
            other = ARTICLES, FLAVOURS, REGIONS, NOUNS
            before = [draw(w) for w in other] + ["and"]
        ids.append([_ID[word] for word in before + dish])
        targets.append([flavour, region])
    return torch.tensor(ids), torch.tensor(targets)


class PhraseReader(nn.Module):
    """Embeddings, one head of attention added to them, two read-outs.

    Parameters
    ----------
    positions : bool
        Add a learned vector for each position to the embeddings.
    d_model : int
    """

    def __init__(self, positions=False, d_model=16):
        super().__init__()
        self.word = nn.Embedding(len(WORDS), d_model)
        self.position = nn.Embedding(9, d_model) if positions else None
        for embedding in (self.word, self.position):
            if embedding is not None:
                # Scores start near 0: no word is ruled out before it is tried.
                nn.init.normal_(embedding.weight, std=0.3)
        self.attention = MultiHeadAttention(d_model, 1)
        self.flavour = nn.Linear(d_model, len(FLAVOURS))
        self.region = nn.Linear(d_model, len(REGIONS))

    def forward(self, ids):
        """Ids (B, T) to two scores (B, 6) and the weights (B, T, T)."""
        x = self.word(ids)  # (B, T, d_model)
        if self.position is not None:
            x = x + self.position.weight[:ids.shape[1]]
        update, weights = self.attention(x, return_weights=True)
        noun = (x + update)[:, -1]  # the last word, updated
        return self.flavour(noun), self.region(noun), weights[:, 0]


def run(seed, *, dishes=1, positions=False, shuffled=False):
    """Train a `PhraseReader` and look at where its last noun's weight goes.

    Parameters
    ----------
    seed : int
        Seeds the sentences and the model.
    dishes, positions
        See `sample` and `PhraseReader`.
    shuffled : bool
        Null control: train on targets dealt out at random.

    Returns
    -------
    model : PhraseReader
    row : dict
        ``accuracy``: share of held-out sentences with both answers right.
        ``modifiers``, ``article``, ``itself``, ``others``: the last noun's
        mean weight on its flavour and region, its article, itself, the rest.
    """
    ids, targets = sample(512, seed, dishes=dishes)
    if shuffled:
        rng = torch.Generator().manual_seed(seed)
        targets = targets[torch.randperm(len(targets), generator=rng)]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = PhraseReader(positions)

    def loss():
        flavour, region, _ = model(ids)
        return (F.cross_entropy(flavour, targets[:, 0])
                + F.cross_entropy(region, targets[:, 1]))

    train(model, loss, steps=300, lr=0.01)
    ids, targets = sample(512, seed, held_out=True, dishes=dishes)
    with torch.no_grad():
        flavour, region, weights = model(ids)
    answers = torch.stack([flavour.argmax(-1), region.argmax(-1)], dim=-1)
    noun = weights[:, -1].mean(0)  # (T,): the last noun's row
    return model, {
        "accuracy": (answers == targets).all(-1).float().mean().item(),
        "modifiers": noun[-3:-1].sum().item(),
        "article": noun[-4].item(),
        "itself": noun[-1].item(),
        "others": noun[:-4].sum().item(),
    }


def sweep(seeds=range(5)):
    """Yield rows: where the last noun's weight goes, by setting."""
    settings: dict[str, dict[str, Any]] = {
        "one dish": {},
        "one dish, targets shuffled": {"shuffled": True},
        "two dishes": {"dishes": 2},
        "two dishes, positions": {"dishes": 2, "positions": True},
    }
    for setting, options in settings.items():
        for seed in seeds:
            yield {"setting": setting, "seed": seed, **run(seed, **options)[1]}
