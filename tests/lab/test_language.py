"""The toy language of chapter 5: its entropy, and the losses that tell on a
model that peeks."""

import math
import random

import pytest
import torch

from qkv.toys import language

SENTENCES = (
    ". the old cook never serves a very spicy soup . the soup is very spicy ."
    " the aunt finds a sour duck . the"
)
TEXT = SENTENCES.split()


def ids(words):
    return [language.WORDS.index(word) for word in words]


def test_the_probabilities_of_a_text_by_hand():
    """Kills: optional words forgotten, repeats that count as free."""
    expected = {
        "old": 1 / 4,  # an age or a person, then one of two ages
        "cook": 1 / 6,
        "never": 1 / 2,
        "serves": 1 / 6,  # after never; 1 / 12 otherwise
        "very": 1 / 2,
        "soup": 1 / 6,
    }
    for word, chance in expected.items():
        options = language.options(TEXT[: TEXT.index(word)])
        assert math.isclose(options[word], chance), word
        assert math.isclose(sum(options.values()), 1)
    for n in range(TEXT.index("soup") + 1, TEXT.index("aunt")):
        assert language.options(TEXT[:n]) == {TEXT[n]: 1.0}  # repeated


def test_what_is_drawn_is_in_the_language_and_so_surprising():
    """Kills: surprise of another word, or with another sign."""
    drawn, surprise = language.sample(50, random.Random(0))
    for text, row in zip(drawn.tolist(), surprise, strict=True):
        assert language.flawless(text) == len(text) - 1 == language.LENGTH
        words = [language.WORDS[i] for i in text]
        chances = [
            language.options(words[:n])[words[n]] for n in range(1, len(words))
        ]
        torch.testing.assert_close(row, -torch.tensor(chances).log())


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("the never", 1), ("the cook soup", 2), ("the cook serves a a", 4)],
)
def test_flawless_stops_at_the_first_impossible_word(wrong, right):
    assert language.flawless(ids([".", *wrong.split()])) == right


def test_a_dish_that_was_not_served_is_a_mistake():
    """Kills: a grammar that forgets the sentence before."""
    changed = [*TEXT]
    changed[TEXT.index("is") - 1] = "duck"
    assert language.flawless(ids(changed)) == TEXT.index("is") - 2


def test_with_the_mask_the_two_losses_are_one():
    """Kills: prefixes one word too long, targets shifted wrongly."""
    torch.manual_seed(0)
    model = language.LanguageModel().double()
    drawn, _ = language.sample(5, random.Random(0))
    with torch.no_grad():
        together = language.loss(model, drawn)
        alone = language.honest_loss(model, drawn)
        unmasked = language.loss(model, drawn, is_causal=False)
    assert together.shape == (language.LENGTH,)
    torch.testing.assert_close(together, alone)
    assert (unmasked - alone).abs().max() > 1e-4


def test_the_cheater_is_caught():
    """Kills: a mask that is not passed on, an honest loss that peeks."""
    _, honest = language.run(0, layers=1, steps=150)
    _, cheater = language.run(0, is_causal=False, layers=1, steps=150)
    assert honest["loss"] > honest["floor"] - 0.02
    assert honest["honest_loss"] == pytest.approx(honest["loss"], abs=1e-4)
    assert cheater["loss"] < 0.1 < cheater["floor"]
    assert cheater["honest_loss"] > honest["honest_loss"] + 0.5
    assert honest["flawless"] > cheater["flawless"] + 5


def test_one_layer_cannot_tell_whether_an_earlier_row_was_masked():
    """Kills: "switched" that does not switch, or switches one layer only."""
    torch.manual_seed(0)
    drawn, _ = language.sample(4, random.Random(0))
    with torch.no_grad():
        for layers, same in (1, True), (2, False):
            model = language.LanguageModel(layers).double()
            masked = language.honest_loss(model, drawn)
            open_ = language.honest_loss(model, drawn, is_causal=False)
            assert torch.allclose(masked, open_, atol=1e-9) == same
