"""What each head of a `relations.StoryReader` does. Chapter 6 asks.

Where it looks, what is lost without it, and whether it needs weights of its
own for each sentence.
"""

from typing import Any

import torch

from . import relations


def frozen(model, seed):
    """`relations.accuracy` when all sentences get their average weights."""
    ids, _ = relations.sample(1000, seed + 1000, held_out=True)
    with torch.no_grad():
        weights = model(ids)[1].mean(0)  # (H, 13)
        values = model.attention.project_source(model.embed(ids))[1]
        output = torch.einsum("hs,bhsd->bhd", weights, values)
    return relations.accuracy(model, seed, lambda _: output)


def damage(model, seed, basis=None):
    """Accuracy lost when one head at a time says the same to all sentences.

    Parameters
    ----------
    model : relations.StoryReader
    seed : int
    basis : Tensor, (d_model, d_model), optional
        Control: an orthogonal matrix. Its columns, d_k at a time, are cut
        out of the heads' joint output in place of the heads themselves.

    Returns
    -------
    Tensor, (H, questions)
    """
    heads, d_model = model.attention.num_heads, model.attention.d_model
    basis = torch.eye(d_model) if basis is None else basis

    def without(h):
        def change(output):  # (B, H, d_k)
            parts = (output.flatten(1) @ basis).unflatten(1, (heads, -1))
            parts[:, h] = parts[:, h].mean(0)
            return (parts.flatten(1) @ basis.T).view_as(output)
        return change

    before = torch.tensor(list(relations.accuracy(model, seed).values()))
    after = torch.tensor([
        list(relations.accuracy(model, seed, without(h)).values())
        for h in range(heads)])
    return (before - after).clamp(min=0)


def focus(lost):
    """Share of all damage that falls on each head's worst-hit question."""
    return (lost.amax(-1).sum() / lost.sum()).item()


def random_basis(d_model, seed):
    """An orthogonal matrix, for `damage`."""
    rng = torch.Generator().manual_seed(seed)
    return torch.linalg.qr(torch.randn(d_model, d_model, generator=rng))[0]


def looks(weights, targets):
    """Mean weight of each head on each question's word: (H, 6).

    For the reference: on the noun that fits, less the mean of the two others.
    `weights` (B, H, 13) are a `StoryReader`'s, `targets` (B, 6) all answers.
    """
    nouns = weights[:, :, [2, 5, 8]]  # (B, H, 3)
    fit = (targets[:, 1:4] == targets[:, :1])[:, None]
    reference = (nouns * fit).sum(-1) - (nouns * ~fit).sum(-1) / 2
    fixed = weights[:, :, list(relations.PLACES.values())]
    return torch.cat([reference[..., None], fixed], dim=-1).mean(0)


_ROLES = relations.ROLES
#: what a row of the sweep is called -> options, numbers of heads
SETTINGS: dict[str, tuple[dict[str, Any], tuple[int, ...]]] = {
    "six questions": ({}, (1, 2, 3, 6, 12, 24)),
    "six, width 12": ({"d_model": 12}, (1, 2, 3, 6, 12)),
    "reference": ({"questions": ("reference",)}, (1,)),
    "  shuffled": ({"questions": ("reference",), "shuffled": True}, (1,)),
    "three roles": ({"questions": _ROLES}, (1, 2, 3, 6)),
    "  4 × longer": ({"questions": _ROLES, "steps": 1600}, (1,)),
    "  and two more": ({"questions": (*_ROLES, "verb", "mood")}, (1,)),
    "  and reference": ({"questions": ("reference", *_ROLES)}, (1,)),
}


def sweep(seeds=range(3)):
    """Yield rows by setting, heads and seed.

    ``accuracy`` and ``worst``: mean and least of the questions; ``roles``
    and ``frozen``: mean over the three roles, as trained and with `frozen`
    weights; ``focus`` and ``focus_random``: see `focus` and `damage`.
    """
    for setting, (options, numbers) in SETTINGS.items():
        for heads in numbers:
            for seed in seeds:
                model, right = relations.run(seed, heads=heads, **options)
                row = {"setting": setting, "heads": heads, "seed": seed,
                       "accuracy": sum(right.values()) / len(right),
                       "worst": min(right.values())}
                if len(right) > 1:
                    still = frozen(model, seed)
                    row["roles"] = sum(right[q] for q in _ROLES) / 3
                    row["frozen"] = sum(still[q] for q in _ROLES) / 3
                    d_model = model.attention.d_model
                    row["focus"] = focus(damage(model, seed))
                    row["focus_random"] = focus(damage(
                        model, seed, random_basis(d_model, seed)))
                yield row
