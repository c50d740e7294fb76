"""A language whose entropy is known, and a small model that learns it.

A text goes ``the old cook never serves a very spicy soup . the soup is very
spicy . the aunt …``: some words are optional, some are free, and every second
sentence repeats what the one before it said. The probability of each next
word is known, so no model can do better than that; one that seems to has seen
the answer. Chapter 5 uses it.
"""

import math
import random

import torch
from torch import nn
from torch.nn import functional as F

from ..multihead import MultiHeadAttention
from ..transformer import Block
from . import train

AGE = ("old", "young")
WHO = ("cook", "aunt", "guest", "monk", "child", "baker")
DO = ("serves", "tastes", "sells", "shares", "wants", "finds")
HOW = ("spicy", "mild", "sour", "sweet", "salty", "smoky")
DISH = ("soup", "hotpot", "tofu", "duck", "stew", "curry")
WORDS = (".", "the", "a", "is", "never", "very", *AGE, *WHO, *DO, *HOW, *DISH)
LENGTH = 24
_ID = {word: i for i, word in enumerate(WORDS)}
#: After these words comes one of these lists, with equal chances.
_NEXT = {("the",): (AGE, WHO), AGE: (WHO,), WHO: (("never",), DO),
         ("never",): (DO,), DO: (("a",),), ("a",): (("very",), HOW),
         ("very",): (HOW,), HOW: (DISH,), DISH: ((".",),)}
_AFTER = {word: lists for words, lists in _NEXT.items() for word in words}


def options(text):
    """The words that may follow a text, {word: probability}.

    `text` is a list of words that starts with a full stop.
    """
    sentences = " ".join(text[1:]).split(".")
    *_, before, now = [[], *map(str.split, sentences)]
    if not now:
        return {"the": 1.0}
    if "a" in before:  # now repeats its dish: [very], how, dish
        *how, dish = before[before.index("a") + 1:]
        return {["the", dish, "is", *how, "."][len(now)]: 1.0}
    lists = _AFTER[now[-1]]
    return {word: 1 / len(words) / len(lists)
            for words in lists for word in words}


def sample(count, rng):
    """Draw texts of 24 words with a ``random.Random``.

    Returns
    -------
    ids : Tensor of int, (count, 25)
        Each text after a full stop that starts it.
    surprise : Tensor, (count, 24)
        −ln of the probability of each word given those before it. Its mean
        is the least loss that a model can have on these texts.
    """
    texts, surprises = [], []
    for _ in range(count):
        text, surprise = ["."], []
        for _ in range(LENGTH):
            chances = options(text)
            word, = rng.choices(list(chances), chances.values())
            surprise.append(-math.log(chances[word]))
            text.append(word)
        texts.append([_ID[word] for word in text])
        surprises.append(surprise)
    return torch.tensor(texts), torch.tensor(surprises)


def decode(ids):
    """Turn ids of a text into words, without the full stop at its start."""
    return " ".join(WORDS[i] for i in ids[1:])


def flawless(ids):
    """Count the words of a text before the first that cannot stand there."""
    text = [WORDS[i] for i in ids]
    for n in range(1, len(text)):
        if text[n] not in options(text[:n]):
            return n - 1
    return len(text) - 1


class LanguageModel(nn.Module):
    """Embeddings, positions, blocks, and a read-out at every position."""

    def __init__(self, layers=2, d_model=32, heads=2):
        super().__init__()
        self.word = nn.Embedding(len(WORDS), d_model)
        self.position = nn.Embedding(LENGTH, d_model)
        for embedding in (self.word, self.position):
            nn.init.normal_(embedding.weight, std=0.3)
        self.blocks = nn.ModuleList(
            Block(MultiHeadAttention(d_model, heads), nn.Sequential(
                nn.Linear(d_model, 4 * d_model), nn.GELU(),
                nn.Linear(4 * d_model, d_model)))
            for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.read_out = nn.Linear(d_model, len(WORDS))

    def forward(self, ids, is_causal=True):
        """Ids (B, T) to scores of each position's next word, (B, T, words)."""
        x = self.word(ids) + self.position.weight[:ids.shape[1]]
        for block in self.blocks:
            x = block(x, is_causal=is_causal)  # (B, T, d_model)
        return self.read_out(self.norm(x))


def loss(model, ids, is_causal=True):
    """Cross-entropy of each next word, all from one pass: (T - 1,), in nats.

    This is what training minimises. It says how well the model predicts only
    if position N cannot see word N + 1.
    """
    return _losses(model(ids[:, :-1], is_causal), ids[:, 1:])


def honest_loss(model, ids, is_causal=True):
    """The same, but what is to be predicted is not there: (T - 1,).

    For each N the model gets the first N words and is asked for the next one.
    With or without a mask, there is nothing to peek at.
    """
    scores = [model(ids[:, :n], is_causal)[:, -1:]
              for n in range(1, ids.shape[1])]
    return _losses(torch.cat(scores, dim=1), ids[:, 1:])


def _losses(scores, targets):
    # cross_entropy wants the classes second: (B, T, words) -> (B, words, T)
    losses = F.cross_entropy(
        scores.transpose(1, 2), targets, reduction="none")
    return losses.mean(0)


def write(model, count, rng, is_causal=True):
    """Let the model write texts word by word: ids (count, 25)."""
    ids = torch.full((count, 1), _ID["."])
    with torch.no_grad():
        while ids.shape[1] <= LENGTH:
            scores = model(ids, is_causal)[:, -1]
            new = torch.multinomial(scores.softmax(-1), 1, generator=rng)
            ids = torch.cat([ids, new], dim=1)
    return ids


def run(seed, *, is_causal=True, layers=2, steps=300):
    """Train a `LanguageModel` with or without the mask, and examine it.

    The seed draws the model and its 2,000 texts: the same for both.

    Returns
    -------
    model : LanguageModel
    row : dict
        In nats a word, on 256 new texts: ``floor``, the least possible loss;
        ``loss`` and ``honest_loss``; ``switched``, the honest loss with the
        mask taken away (or put on, if there was none). ``flawless``: mean
        length of what it writes before the first impossible word.
    """
    texts, rng = random.Random(seed), torch.Generator().manual_seed(seed)
    ids, _ = sample(2000, texts)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LanguageModel(layers)

    def batch_loss():
        batch = ids[torch.randint(len(ids), (32,), generator=rng)]
        return loss(model, batch, is_causal).mean()

    train(model, batch_loss, steps, lr=0.005)
    ids, surprise = sample(256, texts)
    with torch.no_grad():
        losses = {
            "loss": loss(model, ids, is_causal),
            "honest_loss": honest_loss(model, ids, is_causal),
            "switched": honest_loss(model, ids, not is_causal)}
    written = write(model, 100, rng, is_causal).tolist()
    return model, {
        "floor": surprise.mean().item(),
        **{name: value.mean().item() for name, value in losses.items()},
        "flawless": sum(map(flawless, written)) / len(written)}


def sweep(seeds=range(3), depths=(1, 2, 3)):
    """Yield rows: losses and what is written, by mask, layers and seed."""
    for is_causal in (True, False):
        for layers in depths:
            for seed in seeds:
                _, row = run(seed, is_causal=is_causal, layers=layers)
                yield {"mask": is_causal, "layers": layers, "seed": seed,
                       **row}
