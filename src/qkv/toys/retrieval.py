"""A job fair: each person needs another, who needs somebody else.

Six people meet, one of each job, in any order. A person's vector is the sum
of a job vector and a project vector: a résumé with a label and a content.
Each must name the project of the person they need. Chapter 3 asks with it
which of the three projections can be shared.
"""

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from ..attention import scaled_dot_product_attention
from . import train

JOBS = ("designer", "coder", "tester", "writer", "editor", "printer")
PROJECTS = ("app", "bank", "blog", "clock", "game", "map",
            "menu", "photo", "radio", "shop", "song", "zoo")
#: for each job, the job that it needs
NEEDS = {
    "rings": torch.tensor([1, 2, 0, 4, 5, 3]),  # two rings, never mutual
    "coder": torch.tensor([1, 1, 1, 1, 1, 1]),  # one question suits all
}
#: what is shared -> (d_k, d_v), 1,536 weights each with d_model 32
WIDTHS = {
    "raw": (32, 24),  # the vectors as they are, then a read-out of two layers
    "Q=K=V": (24, 24),
    "Q=K": (24, 12),
    "K=V": (16, 16),
    "three": (12, 12),
    "fused": (32, 8),  # one full matrix in place of W_Q and W_K
}


def sample(count, seed, need="rings"):
    """Draw fairs and what each person is asked.

    Returns
    -------
    jobs, projects : Tensor of int, (count, 6)
        A permutation of the jobs; projects drawn independently.
    targets : Tensor of int, (count, 6)
        For each person, the project of the one they need.
    """
    rng = torch.Generator().manual_seed(seed)
    jobs = torch.rand(count, len(JOBS), generator=rng).argsort(-1)
    projects = torch.randint(len(PROJECTS), jobs.shape, generator=rng)
    by_job = torch.empty_like(projects).scatter_(1, jobs, projects)
    return jobs, projects, by_job.gather(1, NEEDS[need][jobs])


class Fair(nn.Module):
    """One head of attention among people, added to their vectors.

    Parameters
    ----------
    sharing : str
        A key of `WIDTHS`.
    widths : (int, int), optional
        Other d_k and d_v; the number of weights is then another.
    blind : bool
        Make queries and keys of the job vectors alone.
    """

    def __init__(self, sharing="three", widths=None, blind=False, d_model=32):
        super().__init__()
        self.blind = blind
        self.job = nn.Embedding(len(JOBS), d_model)
        self.project = nn.Embedding(len(PROJECTS), d_model)
        for embedding in (self.job, self.project):
            nn.init.normal_(embedding.weight, std=0.3)

        def matrix(d_in, d_out):
            return nn.Linear(d_in, d_out, bias=False)

        d_k, d_v = widths or WIDTHS[sharing]
        as_is = nn.Identity()
        self.w_q = as_is if sharing == "raw" else matrix(d_model, d_k)
        self.w_k = (
            self.w_q if sharing in ("raw", "Q=K=V", "Q=K")
            else as_is if sharing == "fused" else matrix(d_model, d_k))
        self.w_v = (
            self.w_k if sharing in ("raw", "Q=K=V", "K=V")
            else matrix(d_model, d_v))
        self.w_o = matrix(d_v, d_model)
        if sharing == "raw":
            self.w_o = nn.Sequential(matrix(d_model, d_v), self.w_o)
        self.answer = nn.Linear(d_model, len(PROJECTS))

    def forward(self, jobs, projects):
        """Ids (B, 6), twice, to scores (B, 6, 12) and weights (B, 6, 6)."""
        job = self.job(jobs)
        x = job + self.project(projects)  # (B, 6, d_model)
        label = job if self.blind else x
        update, weights = scaled_dot_product_attention(
            self.w_q(label), self.w_k(label), self.w_v(x),
            return_weights=True)
        return self.answer(x + self.w_o(update)), weights


def run(seed, *, sharing="three", need="rings", widths=None, blind=False,
        shuffled=False, steps=300):
    """Train a `Fair` and look at where everyone's weight goes.

    Parameters
    ----------
    seed : int
        Seeds the fairs and the model.
    sharing, widths, blind
        See `Fair`.
    need : str
        A key of `NEEDS`.
    shuffled : bool
        Null control: train on targets dealt out at random.

    Returns
    -------
    model : Fair
    row : dict
        ``accuracy``: share of right answers on 1,000 new fairs.
        ``wanted``, ``asker``, ``itself``, ``others``: mean weight on the one
        I need; on who needs me; on myself; on the rest, up to a sum of 1.
        ``disturbed``: the share of a row's weight that moves when all
        projects are drawn anew and the jobs stay.
    """
    jobs, projects, targets = sample(256, seed, need)
    if shuffled:
        rng = torch.Generator().manual_seed(seed)
        order = torch.randperm(targets.numel(), generator=rng)
        targets = targets.flatten()[order].view_as(targets)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Fair(sharing, widths, blind)

    def loss():
        scores, _ = model(jobs, projects)
        return F.cross_entropy(scores.flatten(0, 1), targets.flatten())

    train(model, loss, steps, lr=0.01)
    jobs, projects, targets = sample(1000, seed + 1000, need)
    _, other_projects, _ = sample(1000, seed + 2000, need)
    with torch.no_grad():
        scores, weights = model(jobs, projects)
        _, other_weights = model(jobs, other_projects)
    moved = (weights - other_weights).abs().sum(-1) / 2
    return model, {
        "accuracy": (scores.argmax(-1) == targets).float().mean().item(),
        **where(jobs, weights, need),
        "disturbed": moved.mean().item(),
    }


def where(jobs, weights, need="rings"):
    """Mean weight on the wanted, the asker, oneself and others; a dict."""
    needed = NEEDS[need][jobs]  # (B, 6): the job that each one needs
    wanted = needed[:, :, None] == jobs[:, None, :]  # (B, L, S)
    itself = torch.eye(len(JOBS), dtype=torch.bool) & ~wanted
    asker = wanted.transpose(1, 2) & ~wanted & ~itself
    parts = {"wanted": wanted, "asker": asker, "itself": itself}
    parts["others"] = ~(wanted | asker | itself)
    return {name: (weights * mask).sum(-1).mean().item()
            for name, mask in parts.items()}


def sweep(seeds=range(3)):
    """Yield rows: accuracy and where the weight goes, by setting."""
    settings: dict[str, dict[str, Any]] = {
        sharing: {"sharing": sharing} for sharing in WIDTHS}
    settings["three, shuffled"] = {"shuffled": True}
    settings["Q=K, 4 × longer"] = {"sharing": "Q=K", "steps": 1200}
    settings["Q=K, blind"] = {"sharing": "Q=K", "blind": True}
    for sharing in ("raw", "Q=K=V", "Q=K", "K=V", "three"):
        settings[f"{sharing}, coder"] = {"sharing": sharing, "need": "coder"}
    for d_k in (1, 2, 4):
        settings[f"d_k {d_k}"] = {"widths": (d_k, 12)}
    for sharing in ("K=V", "three"):
        settings[f"{sharing}, width 2"] = {
            "sharing": sharing, "widths": (2, 2)}
    for setting, options in settings.items():
        for seed in seeds:
            yield {"setting": setting, "seed": seed, **run(seed, **options)[1]}
