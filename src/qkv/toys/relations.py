"""One sentence, six questions: how many heads does it take? Chapter 6 asks.

``luckily the museum sold the vase to the temple because it was pricey``. From
the updated vector of the last word, linear read-outs must tell the mood, the
verb, who sold, what, to whom, and which noun *it* is: the one of the three
that can be pricey. Which word answers which question is never told.
"""

import torch
from torch import nn
from torch.nn import functional as F

from ..attention import scaled_dot_product_attention
from ..multihead import MultiHeadAttention, merge_heads
from . import train

MOODS = ("luckily", "sadly", "happily", "oddly", "clearly", "finally",
         "today", "again")
VERBS = ("sold", "gave", "lent", "left", "sent", "showed", "took", "lost")
#: The bits of a noun's number say thing or place, dear or cheap, old or new.
NOUNS = ("museum", "temple", "hotel", "castle",
         "poster", "coin", "sculpture", "vase")
#: adjective -> the bit of the noun's number it asks for, and its value
ADJECTIVES = {
    "crowded": (2, 0), "noisy": (2, 0), "portable": (2, 1), "fragile": (2, 1),
    "pricey": (1, 1), "costly": (1, 1), "cheap": (1, 0), "free": (1, 0),
    "ancient": (0, 1), "dusty": (0, 1), "modern": (0, 0), "shiny": (0, 0)}
WORDS = ("the", "to", "because", "it", "was",
         *MOODS, *VERBS, *NOUNS, *ADJECTIVES)
_ID = {word: i for i, word in enumerate(WORDS)}
_FRAME = "{} the {} {} the {} to the {} because it was {}"
#: question -> the eight answers it has
QUESTIONS = {"reference": NOUNS, "subject": NOUNS, "object": NOUNS,
             "receiver": NOUNS, "verb": VERBS, "mood": MOODS}
ROLES = ("subject", "object", "receiver")
#: question -> place of its answer, where that is always the same
PLACES = {"subject": 2, "object": 5, "receiver": 8, "verb": 3, "mood": 0}


def encode(sentence):
    """Ids (1, 13) of a sentence of thirteen words."""
    return torch.tensor([[_ID[word] for word in sentence.split()]])


def fits():
    """Which noun can be what: bool, (8 nouns, 12 adjectives)."""
    bit, wanted = torch.tensor(list(ADJECTIVES.values())).T
    return (torch.arange(8)[:, None] >> bit) % 2 == wanted


def sample(count, seed, *, held_out=False):
    """Draw sentences in which exactly one of three nouns fits.

    Parameters
    ----------
    count : int
    seed : int
    held_out : bool
        Draw only combinations of nouns and adjective that are never drawn
        with ``held_out=False`` (a quarter of all).

    Returns
    -------
    ids : Tensor of int, (count, 13)
    targets : Tensor of int, (count, 6)
        The answers' numbers, in the order of `QUESTIONS`.
    """
    rng = torch.Generator().manual_seed(seed)
    many = 8 * count  # about one in eight remains
    nouns = torch.rand(many, 8, generator=rng).argsort(-1)[:, :3]
    mood, verb = torch.randint(8, (2, many), generator=rng)
    adjective = torch.randint(len(ADJECTIVES), (many,), generator=rng)
    fit = fits()[nouns, adjective[:, None]]  # (many, 3)
    test = (nouns @ torch.tensor([1, 3, 5]) + adjective) % 4 == 0
    kept = ((fit.sum(-1) == 1) & (test == held_out)).nonzero()[:count, 0]

    ids = encode(_FRAME.format(MOODS[0], NOUNS[0], VERBS[0], *NOUNS[:2],
                               "crowded")).repeat(len(kept), 1)
    answers = torch.stack([
        (nouns * fit).sum(-1), *nouns.T, verb, mood], dim=-1)[kept]
    for column, (question, place) in enumerate(PLACES.items(), start=1):
        ids[:, place] = _ID[QUESTIONS[question][0]] + answers[:, column]
    ids[:, -1] = _ID["crowded"] + adjective[kept]
    return ids, answers


def _unchanged(output):
    return output


class StoryReader(nn.Module):
    """Embeddings, attention from the last word, a read-out per question."""

    def __init__(self, heads, questions=tuple(QUESTIONS), d_model=24):
        super().__init__()
        self.word = nn.Embedding(len(WORDS), d_model)
        self.position = nn.Embedding(13, d_model)
        for embedding in (self.word, self.position):
            nn.init.normal_(embedding.weight, std=0.3)
        self.attention = MultiHeadAttention(d_model, heads)
        self.answer = nn.Linear(d_model, 8 * len(questions))
        self.questions = tuple(questions)

    def embed(self, ids):
        """Ids (B, 13) to vectors (B, 13, d_model)."""
        return self.word(ids) + self.position.weight

    def forward(self, ids, change=_unchanged):
        """Ids (B, 13) to scores (B, questions, 8) and weights (B, H, 13).

        `change` may tamper with what the heads found, (B, H, d_k).
        """
        x = self.embed(ids)
        last, a = x[:, -1:], self.attention
        output, weights = scaled_dot_product_attention(
            a.project_query(last), *a.project_source(x), return_weights=True)
        output = change(output[:, :, 0])[:, :, None]  # (B, H, 1, d_k)
        new = (last + a.w_o(merge_heads(output)))[:, 0]
        return self.answer(new).unflatten(-1, (-1, 8)), weights[:, :, 0]


def run(seed, *, heads, questions=tuple(QUESTIONS), d_model=24,
        shuffled=False, steps=400):
    """Train a `StoryReader` on batches of 256 of some 2,000 sentences.

    Parameters
    ----------
    seed : int
        Seeds the sentences and the model.
    heads, questions, d_model
        See `StoryReader`. The number of heads changes no number of parameters.
    shuffled : bool
        Null control: train on answers dealt out at random.
    steps : int

    Returns
    -------
    model : StoryReader
    row : dict
        Share of right answers to each question, see `accuracy`.
    """
    ids, targets = _asked(sample(2048, seed), questions)
    rng = torch.Generator().manual_seed(seed)
    if shuffled:
        targets = targets[torch.randperm(len(targets), generator=rng)]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = StoryReader(heads, questions, d_model)

    def loss():
        batch = torch.randint(len(ids), (256,), generator=rng)
        scores, _ = model(ids[batch])
        return F.cross_entropy(scores.flatten(0, 1), targets[batch].flatten())

    train(model, loss, steps, lr=0.01)
    return model, accuracy(model, seed)


def accuracy(model, seed, change=_unchanged):
    """Share of right answers to each question on held-out sentences, a dict.

    `change` is that of `StoryReader.forward`.
    """
    ids, targets = _asked(
        sample(1000, seed + 1000, held_out=True), model.questions)
    with torch.no_grad():
        scores, _ = model(ids, change)
    right = (scores.argmax(-1) == targets).double().mean(0)
    return dict(zip(model.questions, right.tolist(), strict=True))


def _asked(sentences, questions):
    ids, targets = sentences
    return ids, targets[:, [list(QUESTIONS).index(q) for q in questions]]
