"""One sentence, six questions, and what the heads do about them."""

import pytest
import torch

from qkv.toys import lookup, relations, relations_heads


def words(ids):
    return [relations.WORDS[i] for i in ids]


def test_one_noun_fits_and_the_answers_are_in_the_sentence():
    """Kills a target in the wrong column, a table read the wrong way."""
    ids, targets = relations.sample(50, 0)
    fits = relations.fits()
    for row, answers in zip(ids, targets.tolist(), strict=True):
        text = words(row)
        named = {
            question: options[n]
            for (question, options), n in zip(
                relations.QUESTIONS.items(), answers, strict=True
            )
        }
        for question, place in relations.PLACES.items():
            assert text[place] == named[question]
        column = list(relations.ADJECTIVES).index(text[-1])
        can = [
            noun
            for noun in (text[2], text[5], text[8])
            if fits[relations.NOUNS.index(noun), column]
        ]
        assert can == [named["reference"]]


def test_the_table_is_the_museums():
    """Kills bits in another order."""
    can = relations.fits()
    pricey = can[:, list(relations.ADJECTIVES).index("pricey")]
    fitting = {
        n for n, fit in zip(relations.NOUNS, pricey, strict=True) if fit
    }
    assert fitting == {"hotel", "castle", "sculpture", "vase"}
    assert (can.sum(0) == 4).all() and (can.sum(1) == 6).all()


def test_no_word_decides_the_reference():
    """Kills a world in which the adjective gives the answer away."""
    ids, targets = relations.sample(20_000, 1)
    for place in (0, 2, 3, 5, 8, 12):
        best = sum(
            torch.bincount(targets[ids[:, place] == w, 0]).max()
            for w in ids[:, place].unique()
        )
        assert best / len(ids) < 0.4


def test_held_out_combinations_are_never_trained_on():
    def combinations(held_out):
        ids, _ = relations.sample(3000, 0, held_out=held_out)
        return set(map(tuple, ids[:, [2, 5, 8, 12]].tolist()))

    assert not combinations(True) & combinations(False)


@pytest.fixture(scope="module")
def reader():
    torch.manual_seed(0)
    return relations.StoryReader(3)


def test_heads_change_no_number_of_parameters(reader):
    sizes = {
        sum(p.numel() for p in relations.StoryReader(h).parameters())
        for h in (1, 3, 24)
    }
    assert len(sizes) == 1


def test_only_the_last_word_asks(reader):
    """Kills a reader that is not `MultiHeadAttention`, added to its word."""
    ids, _ = relations.sample(4, 0)
    x = reader.embed(ids)
    update, weights = reader.attention(x, return_weights=True)
    scores, last = reader(ids)
    wanted = reader.answer((x + update)[:, -1]).unflatten(-1, (6, 8))
    torch.testing.assert_close(scores, wanted)
    torch.testing.assert_close(last, weights[:, :, -1])


def test_damage_is_that_of_one_head():
    """Kills a cut of the wrong head."""
    model, _ = relations.run(0, heads=3, questions=("verb",), steps=60)
    with torch.no_grad():
        model.attention.w_o.weight[:, :16] = 0  # heads 0 and 1 are not heard
    lost = relations_heads.damage(model, 0)[:, 0]
    assert lost[0] == lost[1] == 0 < lost[2]


def test_a_random_part_is_cut_and_nothing_else():
    """Kills a basis that is not orthogonal or not undone."""
    basis = relations_heads.random_basis(24, 0)
    torch.testing.assert_close(basis @ basis.T, torch.eye(24))
    model, row = relations.run(0, heads=1, questions=("verb",), steps=60)
    whole = [relations_heads.damage(model, 0, b) for b in (None, basis)]
    torch.testing.assert_close(*whole, rtol=0, atol=0.01)  # one head is all
    assert whole[0].item() > 0.3 * row["verb"]


def test_focus():
    assert relations_heads.focus(torch.tensor([[0.5, 0.0], [0.0, 0.2]])) == 1
    assert relations_heads.focus(torch.ones(3, 4)) == pytest.approx(0.25)


def test_looks_reads_the_right_columns():
    """Kills a reference that is any noun's weight."""
    _, targets = relations.sample(200, 0)
    weights = torch.zeros(200, 1, 13)
    place = torch.tensor([2, 5, 8])[
        (targets[:, 1:4] == targets[:, :1]).int().argmax(1)
    ]
    weights[torch.arange(200), 0, place] = 0.7
    weights[:, 0, 3] = 0.3
    found = relations_heads.looks(weights, targets)[0]
    assert found[0] == pytest.approx(0.7) and found[4] == pytest.approx(0.3)
    flat = torch.full((200, 1, 13), 1 / 13)
    even = relations_heads.looks(flat, targets)[0, 0]
    assert even == pytest.approx(0, abs=1e-6)


def test_frozen_weights_are_the_average():
    """Kills weights of one sentence, values of another."""
    model, own = relations.run(0, heads=2, questions=("reference",))
    ids, _ = relations.sample(1000, 1000, held_out=True)
    with torch.no_grad():
        weights = model(ids)[1].mean(0)[:, None]  # (H, 1, 13)
        values = model.attention.project_source(model.embed(ids))[1]
        wanted = relations.accuracy(
            model, 0, lambda _: (weights @ values)[:, :, 0]
        )
    assert relations_heads.frozen(model, 0) == pytest.approx(wanted)
    assert wanted["reference"] < own["reference"] - 0.1


def test_one_head_finds_the_reference_and_shuffled_answers_none():
    asked = {"heads": 1, "questions": ("reference",)}
    assert relations.run(5, **asked)[1]["reference"] > 0.95
    row = relations.run(5, shuffled=True, **asked)[1]
    assert row["reference"] < 0.3


def test_lookup_asks_for_an_equal_key():
    """Kills an answer of another item, a query that carries the answer."""
    query, items, answer = lookup.sample(30, torch.Generator().manual_seed(0))
    assert query[..., lookup.WIDTH :].abs().max() == 0
    same = (items[..., : lookup.WIDTH] == query[..., : lookup.WIDTH]).all(-1)
    assert (same.sum(-1) == 1).all()
    assert (items[same][:, lookup.WIDTH :].argmax(-1) == answer).all()
