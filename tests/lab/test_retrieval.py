"""The job fair: what is asked, what is shared, where the weight goes."""

import pytest
import torch

from qkv.toys import retrieval
from qkv.toys.retrieval import JOBS, NEEDS, WIDTHS, Fair, sample, where


@pytest.mark.parametrize("need", NEEDS)
def test_the_target_is_the_project_of_the_one_needed(need):
    """Kills: the asker's project, a gather along the wrong axis."""
    jobs, projects, targets = sample(20, 0, need)
    for who, what, answer in torch.stack([jobs, projects, targets], 1):
        by_job = dict(zip(who.tolist(), what.tolist(), strict=True))
        assert sorted(by_job) == list(range(len(JOBS)))
        needed = [by_job[job] for job in NEEDS[need][who].tolist()]
        assert answer.tolist() == needed


def test_need_is_never_mutual_in_the_rings():
    """Kills: a pair among the needs, which symmetric scores could serve."""
    need = NEEDS["rings"]
    me = torch.arange(len(JOBS))
    assert (need != me).all() and (need[need] != me).all()
    assert torch.equal(need[need[need]], me)


@pytest.mark.parametrize(
    "sharing, same",
    [
        ("raw", {"qk", "kv", "qv"}),
        ("Q=K=V", {"qk", "kv", "qv"}),
        ("Q=K", {"qk"}),
        ("K=V", {"kv"}),
        ("three", set()),
        ("fused", set()),
    ],
)
def test_what_is_shared_is_shared_and_nothing_else(sharing, same):
    """Kills: copies in place of one matrix, the wrong pair tied."""
    fair = Fair(sharing)
    parts = {name: getattr(fair, f"w_{name}") for name in "qkv"}
    for pair in ("qk", "kv", "qv"):
        assert (parts[pair[0]] is parts[pair[1]]) == (pair in same), pair


@pytest.mark.parametrize("sharing", WIDTHS)
def test_every_sharing_has_the_same_number_of_weights(sharing):
    """Kills: a comparison in which the shared form is also the smaller."""
    fair = Fair(sharing)
    modules = fair.w_q, fair.w_k, fair.w_v, fair.w_o
    weights = {p for module in modules for p in module.parameters()}
    assert sum(p.numel() for p in weights) == 1536
    jobs, projects, _ = sample(5, 0)
    assert fair(jobs, projects)[0].shape == (5, 6, 12)


def test_where_tells_the_wanted_from_the_asker():
    """Kills: rows and columns exchanged, oneself counted twice."""
    jobs, _, _ = sample(9, 1)
    to_wanted = (NEEDS["rings"][jobs][..., None] == jobs[:, None]).double()
    assert where(jobs, to_wanted)["wanted"] == 1
    assert where(jobs, to_wanted.mT)["asker"] == 1
    assert where(jobs, torch.eye(6).expand(9, 6, 6))["itself"] == 1


@pytest.mark.parametrize("need", NEEDS)
def test_the_parts_of_where_are_the_whole(need):
    """Kills: a cell in two parts, or in none."""
    jobs, _, _ = sample(9, 1, need)
    rng = torch.Generator().manual_seed(0)
    weights = torch.rand(9, 6, 6, generator=rng).softmax(-1)
    assert sum(where(jobs, weights, need).values()) == pytest.approx(1)


@pytest.mark.parametrize("blind", [False, True])
def test_blind_weights_do_not_see_the_projects(blind):
    """Kills: queries or keys that read the content all the same."""
    jobs, projects, _ = sample(9, 2)
    fair = Fair(blind=blind)
    scores, weights = fair(jobs, projects)
    other_scores, other = fair(jobs, projects.roll(1, dims=0))
    assert torch.equal(weights, other) == blind
    assert not torch.equal(scores, other_scores)


def test_three_projections_find_the_wanted_and_noise_teaches_nothing():
    """Kills: a leak of the answer, a null control that is not null."""
    _, row = retrieval.run(0)
    assert row["accuracy"] > 0.98 and row["wanted"] > 0.9
    assert row["disturbed"] < 0.05
    _, null = retrieval.run(0, shuffled=True)
    assert null["accuracy"] < 0.15
    _, tied = retrieval.run(0, sharing="Q=K")
    assert abs(tied["wanted"] - tied["asker"]) < 0.02 < tied["wanted"]
