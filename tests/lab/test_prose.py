"""The text that chapter 9 trains on, and the tables it competes with."""

import hashlib
import math
from pathlib import Path

import torch

from qkv.toys import prose

PATH = Path(prose.__file__).with_name("prose.txt")


def test_the_text_is_frozen():
    """Kills an edit that silently changes the numbers of chapter 9."""
    text = PATH.read_text("utf-8")
    assert text.isascii() and 60_000 < len(text) < 110_000
    found = hashlib.sha256(text.encode()).hexdigest()
    assert found.startswith("e00b3eacbf7a"), found


def test_the_two_parts_are_the_whole_and_share_no_paragraph():
    """Kills a held-out text that was trained on."""
    train, held_out = (t.splitlines() for t in prose.split())
    assert len(train) + len(held_out) == len(PATH.read_text().splitlines())
    assert not set(train) & set(held_out)
    assert 0.08 < len("".join(held_out)) / len("".join(train)) < 0.13


def test_encode_and_decode():
    text = "Attention, step by step:\n1 + 1".replace("+", "x")
    assert prose.decode(prose.encode(text)) == text
    assert prose.encode(text).max() < len(prose.alphabet()) == 73


def test_a_batch_is_cut_from_the_text():
    """Kills pieces that wrap around, and an end never drawn."""
    pieces = prose.batch(
        torch.arange(10), 500, 4, torch.Generator().manual_seed(0)
    )
    assert pieces.shape == (500, 4)
    assert (pieces.diff(dim=1) == 1).all()
    assert pieces.min() == 0 and pieces.max() == 9


def test_shuffling_keeps_the_characters():
    train, _ = prose.split()
    other = prose.shuffle(train)
    assert sorted(other) == sorted(train) and other != train


def test_tables_by_hand():
    """Kills: smoothing left out, pairs counted over the wrong total."""
    one = prose.table_loss("aab", "ab", 1, extra=1)
    chance_a, chance_b = 3 / 76, 2 / 76
    assert math.isclose(one, -math.log(chance_a * chance_b) / 2)
    two = prose.table_loss("aab", "ab", 2, extra=1)  # a is followed by a and b
    assert math.isclose(two, -math.log(2 / 75))


def test_order_helps_a_table_only_where_there_is_order():
    """The null control: pairs of shuffled text tell nothing new."""
    texts = prose.split()
    mixed = [prose.shuffle(t) for t in texts]
    one, two = (prose.table_loss(*texts, n) for n in (1, 2))
    assert two < one - 0.5
    one, two = (prose.table_loss(*mixed, n) for n in (1, 2))
    assert two > one - 0.01
