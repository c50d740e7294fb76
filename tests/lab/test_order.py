"""The task that only order decides, chapter 9's."""

import pytest
import torch

from qkv.toys import order


def rng():
    return torch.Generator().manual_seed(0)


def test_the_answer_stands_two_places_before():
    """Kills an answer that is the letter itself, or two places after."""
    ids, answers = order.sample(50, 9, rng())
    assert torch.equal(answers, ids[:, :7])
    right = torch.nn.functional.one_hot(ids.roll(2, 1), 8)
    found = order.accuracy(lambda_model(right), 9, rng(), count=50)
    assert found == 1


def lambda_model(scores):
    """Return a model that gives these scores whatever it is asked."""

    class Known(torch.nn.Module):
        def forward(self, ids):
            return scores

    return Known()


def test_shuffled_answers_are_the_same_letters_elsewhere():
    """Kills a null control that draws other letters, or none."""
    ids, answers = order.sample(200, 16, rng(), shuffled=True)
    counts = [torch.nn.functional.one_hot(x, 8).sum(1) for x in (ids, answers)]
    assert (counts[0] >= counts[1]).all()
    assert (answers == ids[:, :14]).float().mean() < 0.3


@pytest.mark.parametrize("position", order.POSITIONS)
def test_who_notices_that_a_sequence_is_moved(position):
    """Kills a start that nothing hears of; rotary must not mind it."""
    model = order.LetterReader(position)
    ids, _ = order.sample(2, 10, rng())
    with torch.no_grad():
        here = model(ids)
        model.start = 64
        there = model(ids)
    same = torch.allclose(here, there, atol=1e-4)
    assert same == (position in ("none", "rotary"))


def test_without_positions_it_is_a_bag_of_letters():
    """Kills order that leaks in by another way than positions."""
    ids, _ = order.sample(2, 10, rng())
    turned = ids.flip(1)
    for position in order.POSITIONS:
        model = order.LetterReader(position)
        with torch.no_grad():
            same = torch.allclose(model(ids).flip(1), model(turned), atol=1e-5)
        assert same == (position == "none")


def test_a_window_of_four_sees_four():
    model = order.LetterReader("rotary", window=4)
    ids, _ = order.sample(1, 10, rng())
    changed = ids.clone()
    changed[0, 3] = (ids[0, 3] + 1) % 8
    with torch.no_grad():
        rows = (model(ids) != model(changed)).any(-1)[0]
    assert rows.nonzero().flatten().tolist() == [3, 4, 5, 6]


def test_positions_decide_whether_it_is_learned():
    """Kills a task that can be solved, or guessed, without order."""
    bag = order.bag_accuracy(16, rng())
    _, none = order.run(0, position="none", steps=150)
    _, rotary = order.run(0, position="rotary", steps=150)
    assert none["16"] < bag + 0.05 < 0.4
    assert rotary["16"] > 0.95 and rotary["moved"] > 0.95
