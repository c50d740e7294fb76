"""The phrasebook of chapter 7: its links, and who hears of whom."""

import random

import pytest
import torch

from qkv.toys import phrasebook
from qkv.toys.phrasebook import ENTRIES, SOURCE, TARGET


def draw(count=40, held_out=False):
    return phrasebook.sample(count, random.Random(3), held_out=held_out)


def models():
    torch.manual_seed(0)
    return [
        phrasebook.Translator(std=1.0).double(),
        phrasebook.Continuer(std=1.0).double(),
    ]


def test_links_join_a_word_to_its_translation():
    """Kills: links off by one, padding that counts, words left out."""
    source, lengths, target, links = draw()
    for zh, n, en, row in zip(source, lengths, target, links, strict=True):
        assert (zh[:n] > 0).all() and not zh[n:].any()
        end = en.tolist().index(TARGET.index("</s>"))
        assert TARGET[en[0]] == "<s>" and not en[end + 1 :].any()
        for word, s in zip(en[1:].tolist(), row.tolist(), strict=True):
            if s >= 0:
                assert ENTRIES[SOURCE[zh[s]]][1] == TARGET[word]
            else:
                assert TARGET[word] in ("the", "</s>", "<pad>")
        assert sorted(row[row >= 0].tolist()) == list(range(n))  # each once


def test_the_languages_order_their_words_differently():
    """Kills: a toy in which the diagonal would do."""
    links = draw()[3]
    for row in links:
        row = row[row >= 0]
        if len(row) > 5:
            assert (row.diff() < 0).any()


def test_nothing_held_out_is_trained_on():
    def dishes(held_out):
        return {
            tuple(w for w in zh[-4:] if w not in phrasebook.BOOK["verb"])
            for zh in (
                [SOURCE[i] for i in row if i]
                for row in draw(400, held_out)[0].tolist()
            )
            if len(zh) > 6 and zh[-3] == "的"
        }

    assert dishes(True) and not dishes(True) & dishes(False)


def test_padding_and_the_future_are_not_seen():
    """Kills: no padding mask on the source's keys, no causal mask, weights
    of other rows than those that write."""
    source, lengths, target, _ = draw()
    short = lengths < phrasebook.S
    filler = torch.where(source > 0, source, 5)
    for model in models():
        scores, weights = model(source, lengths, target[:, :-1])
        beyond = torch.arange(phrasebook.S) >= lengths[:, None]
        hidden = beyond[:, None, None].expand_as(weights)
        assert short.any() and not weights[hidden].any()
        later = target.clone()
        later[:, 4:] = 7
        changed, moved = model(source, lengths, later[:, :-1])
        torch.testing.assert_close(changed[:, :4], scores[:, :4])
        assert not torch.allclose(changed[:, 4], scores[:, 4])
        torch.testing.assert_close(moved[:, :, :4], weights[:, :, :4])
        assert not torch.allclose(moved[:, :, 4], weights[:, :, 4])
    translator = models()[0]  # padding is known by the lengths alone
    torch.testing.assert_close(
        translator(filler, lengths, target[:, :-1])[0],
        translator(source, lengths, target[:, :-1])[0],
    )


def test_values_from_words_hear_of_no_other_word():
    """Kills: values that are made from the encoder's output after all."""
    source, lengths, _, _ = draw()
    other = source.clone()
    other[:, 0] = (source[:, 0] == 3) + 3
    for values, hears in (("encoded", True), ("words", False)):
        torch.manual_seed(0)
        model = phrasebook.Translator(values=values, std=1.0)
        old, new = (model.encode(x, lengths) for x in (source, other))
        assert not torch.allclose(old[0][:, 1], new[0][:, 1])
        assert torch.allclose(old[1][:, 1], new[1][:, 1]) != hears
        assert not torch.allclose(old[1][:, 0], new[1][:, 0])


def test_error_rate_by_hand():
    """Kills: unlinked rows that count, the wrong axis."""
    links = torch.tensor([[1, -1, 0, 2]])
    weights = torch.zeros(1, 4, 3)
    weights[0, [0, 1, 2, 3], [1, 1, 2, 2]] = 1.0
    assert phrasebook.error_rate(weights, links) == pytest.approx(1 / 3)


class Reader:
    """Writes what is linked to each row, or what its neighbour has heard."""

    def __init__(self, links, shift):
        self.links, self.shift = links, shift
        self.en = torch.tensor(
            [0, *(TARGET.index(ENTRIES[zh][1]) for zh in SOURCE[1:])]
        )

    def encode(self, source, lengths):
        heard = source.roll(self.shift, 1)[..., None]
        return heard, heard

    def decode(self, encoded, lengths, target):
        at = (self.links + self.shift) % phrasebook.S
        words = self.en[encoded[1][..., 0].gather(1, at.clamp(min=0))]
        return torch.nn.functional.one_hot(words, len(TARGET)), None


@pytest.mark.parametrize(
    ("shift", "own", "others"), [(0, 1.0, 0.0), (1, 0.0, 1.0)]
)
def test_carried_tells_the_word_from_its_neighbour(shift, own, others):
    """Kills: the places exchanged, the wrong row, the old word wanted."""
    source, lengths, target, links = draw()
    model = Reader(links, shift)
    found = phrasebook.carried(
        model, source, lengths, target, links, random.Random(0)
    )
    assert found == [own, others]


def test_a_translation_ends_where_it_says():
    """Kills: words after </s>, a batch that stops with its first."""
    source, lengths, _, _ = draw(8)
    ids = phrasebook.translate(models()[0].float(), source, lengths)
    assert ids.shape == (8, phrasebook.T) and (ids[:, 0] == 1).all()
    _, row = phrasebook.run(0, steps=200, values="words")
    assert row["exact"] > 0.5 and row["error"] < 0.3
    _, null = phrasebook.run(0, steps=200, shuffled=True)
    assert null["exact"] < 0.05 and null["error"] > 0.5
