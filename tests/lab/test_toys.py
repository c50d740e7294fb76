"""The toy worlds: what they ask can be learned, and only by looking."""

import json

import pytest
import torch

import qkv
from qkv import toys
from qkv.toys import phrases, recall, sweeps


def words(row):
    return [phrases.WORDS[i] for i in row]


def test_a_phrase_asks_for_what_it_says():
    """Kills targets that belong to another dish or another sentence."""
    for dishes, length in ((1, 6), (2, 9)):
        ids, targets = phrases.sample(50, 3, dishes=dishes)
        assert ids.shape == (50, length) and targets.shape == (50, 2)
        for row, (flavour, region) in zip(ids, targets, strict=True):
            sentence = words(row)
            assert sentence[-3] == phrases.FLAVOURS[flavour]
            assert sentence[-2] == phrases.REGIONS[region]
            assert sentence[-1] in phrases.NOUNS
            assert (sentence[4] == "and") == (dishes == 2)


def test_no_dish_is_both_trained_on_and_tested_on():
    """Kills a leak: accuracy on the test would be memory."""
    train, _ = phrases.sample(2000, 0)
    test, _ = phrases.sample(2000, 0, held_out=True)
    dishes = [{tuple(r) for r in x[:, -3:].tolist()} for x in (train, test)]
    assert not dishes[0] & dishes[1]
    assert len(dishes[0]) == 163 and len(dishes[1]) == 53


def test_sampling_is_seeded():
    assert torch.equal(phrases.sample(9, 1)[0], phrases.sample(9, 1)[0])
    assert not torch.equal(phrases.sample(9, 1)[0], phrases.sample(9, 2)[0])


def test_a_reader_is_its_formula():
    """Kills a missing residual, the wrong row, forgotten positions."""
    torch.manual_seed(0)
    ids, _ = phrases.sample(4, 0, dishes=2)
    model = phrases.PhraseReader(positions=True)
    x = model.word(ids) + model.position.weight
    update, weights = model.attention(x, return_weights=True)
    flavour, region, shown = model(ids)
    noun = x[:, -1] + update[:, -1]
    torch.testing.assert_close(flavour, model.flavour(noun))
    torch.testing.assert_close(region, model.region(noun))
    torch.testing.assert_close(shown, weights[:, 0])


def test_training_needs_true_targets():
    """Kills shares that do not add up and a null that is not one."""
    _, row = phrases.run(7)
    _, null = phrases.run(7, shuffled=True)
    for r in (row, null):
        parts = ("modifiers", "article", "itself", "others")
        assert sum(r[part] for part in parts) == pytest.approx(1, abs=1e-5)
    assert row["accuracy"] > 0.99 > 0.2 > null["accuracy"]
    assert row["modifiers"] > 0.9


def test_recall_asks_for_the_first_letter():
    rng = torch.Generator().manual_seed(0)
    ids, first = recall.sample(100, 5, rng)
    assert ids.shape == (100, 6) and torch.equal(ids[:, 0], first)
    assert first.max() < recall.LETTERS <= ids[:, 1:].min()


@pytest.mark.parametrize("kind", recall.MODELS)
def test_only_the_last_place_answers(kind):
    """Kills an answer read from elsewhere, and a window that is ignored."""
    torch.manual_seed(0)
    model = recall.Recaller(kind)
    x = torch.randn(3, 7, 32)
    assert model.mix(x).shape == (3, 8)
    changed = x.clone()
    changed[:, 0] += 1
    assert not torch.allclose(model.mix(x), model.mix(changed))
    if kind == "attention":
        model.window = 6
        torch.testing.assert_close(model.mix(x), model.mix(changed))


def test_reach_falls_faster_through_recurrence():
    far = {kind: recall.reach(kind, 32, seed=1) for kind in recall.MODELS}
    assert far["attention"] > 1e-3 > 1e-5 > far["gru"] > far["rnn"]


def test_training_goes_downhill():
    weight = torch.nn.Parameter(torch.tensor(3.0))
    holder = torch.nn.Module()
    holder.weight = weight
    losses = toys.train(holder, lambda: weight**2, steps=50, lr=0.1)
    assert len(losses) == 50 and losses[0] == 9 and losses[-1] < 1


@pytest.mark.parametrize("name", sweeps.SWEEPS)
def test_recorded_sweeps_say_how_they_were_made(name):
    """Kills a table without seeds, versions or its command."""
    text = (sweeps.RESULTS / f"{name}.json").read_text("utf-8")
    record = json.loads(text)
    assert record["command"] == f"python -m qkv.toys.sweeps {name}"
    assert record["torch"] and record["python"]
    assert len({row["seed"] for row in record["rows"]}) >= 3


def test_mean_over_matching_rows():
    rows = [{"a": 1, "x": 2.0}, {"a": 1, "x": 4.0}, {"a": 2, "x": 9.0}]
    assert sweeps.mean(rows, "x", a=1) == 3.0


def test_toys_leave_the_global_seed_alone():
    torch.manual_seed(0)
    expected = torch.rand(1)
    torch.manual_seed(0)
    phrases.sample(3, 5)
    recall.reach("rnn", 2, 3)
    assert torch.equal(torch.rand(1), expected)
    assert isinstance(recall.Recaller("attention").layer,
                      qkv.MultiHeadAttention)  # fmt: skip
