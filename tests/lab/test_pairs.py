"""Vectors in pairs: the toy that shows what the divisor decides."""

import math

import pytest
import torch
from torch.nn import functional as F
from torch.optim import SGD

from qkv.toys import pairs, train


def scores(model, x):
    return model.scale * (x @ model.w_q) @ (x @ model.w_k).T


def test_everybody_is_a_partner_and_nobody_his_own():
    """Kills targets that the vectors themselves answer."""
    for seed in range(20):
        x, partner = pairs.sample(seed, n=7, width=5)
        assert x.shape == (7, 5)
        assert sorted(partner.tolist()) == list(range(7))
        assert (partner != torch.arange(7)).all()
    assert not torch.equal(partner, pairs.sample(0, n=7, width=5)[1])


def test_a_finder_is_its_formula():
    """Kills swapped projections, other values, a scale used twice."""
    x, _ = pairs.sample(0, n=7, width=5)
    model = pairs.Finder(3, 0, width=5)
    answer, weights = model(x)
    wanted = (x @ model.w_q @ (x @ model.w_k).T / math.sqrt(3)).softmax(-1)
    torch.testing.assert_close(weights, wanted)
    torch.testing.assert_close(answer, wanted @ x)


@pytest.mark.parametrize("d_k", [4, 64, 512])
@pytest.mark.parametrize(
    ("divide_by", "start", "std"),
    [
        ("√d_k", "unit", lambda d_k: 1),
        ("nothing", "unit", lambda d_k: d_k**0.5),
        ("√d_model", "unit", lambda d_k: 8**-0.5),
        ("√heads", "unit", lambda d_k: (d_k / 8) ** 0.5),
        ("d_k", "unit", lambda d_k: d_k**-0.5),
        ("nothing", "default", lambda d_k: d_k**0.5 / 3),
        ("nothing", "small", lambda d_k: 1),
    ],
)
def test_scores_start_as_large_as_they_should(divide_by, start, std, d_k):
    """Kills a wrong root, a start that forgets the width of its inputs."""
    measured = []
    for seed in range(12):
        x, _ = pairs.sample(seed, n=64)
        model = pairs.Finder(d_k, seed, divide_by=divide_by, start=start)
        measured.append(scores(model, x).std().item() / std(d_k))
    assert sum(measured) / len(measured) == pytest.approx(1, rel=0.12)


def test_descent_steps_against_the_gradient():
    """Kills momentum, decay and a gradient that piles up."""
    model = torch.nn.Module()
    model.weight = torch.nn.Parameter(torch.tensor(3.0))
    losses = train(model, lambda: model.weight**2, 2, 0.1, SGD)
    assert losses == pytest.approx([9, 2.4**2])
    assert model.weight.item() == pytest.approx(2.4 - 0.1 * 4.8)


def test_a_label_is_judged_on_divided_scores():
    """Kills a cross-entropy of other scores than attention uses."""
    x, partner = pairs.sample(3)
    first = pairs.run(3, d_k=16, lr=0.1, label=True, steps=1)[1][0]
    weights = pairs.Finder(16, 3)(x)[1]
    wanted = -weights[torch.arange(32), partner].log().mean().item()
    assert first == pytest.approx(wanted, rel=1e-5)


def test_a_small_start_is_the_division():
    """Kills a start that is not the root of the root."""
    x, partner = (t.double() for t in pairs.sample(1))
    partner = partner.long()

    def after(steps, lr, **options):
        model = pairs.Finder(16, 1, **options).double()
        train(
            model, lambda: F.mse_loss(model(x)[0], x[partner]), steps, lr, SGD
        )
        return model(x)[1]

    divided = after(10, 1.0)
    undivided = after(10, 1 / 4, divide_by="nothing", start="small")
    torch.testing.assert_close(divided, undivided, rtol=0, atol=1e-10)
    assert not torch.allclose(divided, after(0, 1.0), atol=0.01)


def test_only_what_can_be_found_is_found():
    """Kills a null that leaks, a label that is ignored."""
    options = {"d_k": 256, "lr": 0.001}
    found, losses = pairs.run(5, **options)
    assert found > 0.95 and len(losses) == 300 and losses[-1] < 0.1
    assert pairs.run(5, redealt=True, **options)[0] < 0.2
    assert pairs.run(5, divide_by="nothing", **options)[0] < 0.4
    assert pairs.run(5, divide_by="nothing", label=True, **options)[0] > 0.95


def test_optimizers_differ():
    """Kills a name that is accepted and not used."""
    runs = {
        name: pairs.run(0, d_k=4, lr=0.01, optimizer=name, steps=5)[1]
        for name in pairs.RATES
    }
    assert runs["adam"][0] == runs["sgd"][0]
    assert runs["adam"][-1] != runs["sgd"][-1]
