"""MultiHeadAttention and KVCache: shapes, caches, errors, dropout.

That its numbers are right is tested in test_contract.py (head by head) and
test_conformance.py (against torch's module).
"""

import copy
import itertools

import numpy as np
import pytest
import torch
from torch.testing import assert_close

import qkv
from contract import refuses
from qkv.multihead import merge_heads, split_heads

B, L, S, D_MODEL, HEADS = 2, 6, 5, 12, 6  # d_k = 2
COMPOSITIONS = [
    [b - a for a, b in itertools.pairwise((0, *cuts, L))]
    for n in range(L)
    for cuts in itertools.combinations(range(1, L), n)
]


def inputs(*lengths, dtype=torch.float64):
    torch.manual_seed(1)
    return [torch.randn(B, n, D_MODEL, dtype=dtype) for n in lengths]


def heads(num_heads=HEADS, *rest, **options):
    torch.manual_seed(0)
    made = qkv.MultiHeadAttention(D_MODEL, num_heads, *rest, **options)
    return made.double().eval()


def turn(x, start):
    """Rotate each position's two dimensions by its place, in radians."""
    angle = torch.arange(start, start + x.shape[-2], dtype=x.dtype)[:, None]
    a, b = x.chunk(2, dim=-1)
    return torch.cat(
        [a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()],
        dim=-1,
    )


# ------------------------------------------------------------------- shapes


def test_split_and_merge():
    """Kills a plain view, interleaved heads, and a merge that scrambles."""
    x = torch.arange(12).reshape(1, 2, 6)  # two tokens, six numbers each
    split = split_heads(x, 3)
    assert split.tolist() == [
        [[[0, 1], [6, 7]], [[2, 3], [8, 9]], [[4, 5], [10, 11]]]
    ]
    assert merge_heads(split).tolist() == x.tolist()
    wide = torch.arange(6).reshape(1, 2, 1, 3)  # two heads, one token
    assert merge_heads(wide).tolist() == [[[0, 1, 2, 3, 4, 5]]]


def test_any_number_of_leading_dimensions():
    """Kills a split that counts dimensions from the front."""
    x = torch.arange(24).reshape(2, 1, 2, 6)
    assert split_heads(x, 3).shape == (2, 1, 3, 2, 2)
    assert torch.equal(merge_heads(split_heads(x, 3)), x)


def test_parameters_do_not_depend_on_heads():
    """Kills 'more heads, more parameters'; grouped heads have fewer."""

    def count(*args, **options):
        made = qkv.MultiHeadAttention(D_MODEL, *args, **options)
        return sum(p.numel() for p in made.parameters())

    full = 4 * D_MODEL * D_MODEL
    assert {count(h, bias=False) for h in (1, 2, 3, 6, 12)} == {full}
    assert count(3) == full + 4 * D_MODEL
    narrow = 2 * D_MODEL * D_MODEL + 2 * D_MODEL * 4
    assert count(6, 2, bias=False) == narrow
    assert count(6, 2) == narrow + 2 * D_MODEL + 2 * 4


def test_the_four_projections():
    """Kills other names than the book's, and a bias where none is asked."""
    made = heads(6, 2)
    shapes = {n: tuple(p.shape) for n, p in made.named_parameters()}
    assert shapes == {
        "w_q.weight": (12, 12), "w_q.bias": (12,),
        "w_k.weight": (4, 12), "w_k.bias": (4,),
        "w_v.weight": (4, 12), "w_v.bias": (4,),
        "w_o.weight": (12, 12), "w_o.bias": (12,),
    }  # fmt: skip
    assert (made.d_model, made.num_heads, made.num_kv_heads) == (12, 6, 2)
    names = [n for n, _ in heads(3, bias=False).named_parameters()]
    assert names == [f"w_{x}.weight" for x in "qkvo"]


@pytest.mark.parametrize("num_kv_heads", [None, 1, 2, 3])
def test_shapes_and_precision(num_kv_heads):
    """Kills weights per group or averaged, and a silent upcast."""
    for dtype in (torch.float32, torch.bfloat16):
        made = heads(HEADS, num_kv_heads).to(dtype)
        x, y = inputs(L, S, dtype=dtype)
        output, weights = made(x, y, return_weights=True)
        assert output.shape == (B, L, D_MODEL)
        assert weights.shape == (B, HEADS, L, S)
        assert output.dtype == weights.dtype == dtype
        assert made(x, return_weights=True)[1].shape == (B, HEADS, L, L)


def test_one_head_of_its_own():
    """Kills a scale by d_model or heads: one head is plain attention."""
    made = heads(1)
    x, y = inputs(L, S)
    want = made.w_o(
        qkv.scaled_dot_product_attention(made.w_q(x), made.w_k(y), made.w_v(y))
    )
    assert_close(made(x, y), want)


def test_sequences_are_independent():
    """Kills attention across the batch (batch_first mistaken)."""
    made, [x] = heads(), inputs(L)
    x.requires_grad_()
    [slope] = torch.autograd.grad(made(x)[0].sum(), x)
    assert slope[0].any()
    assert not slope[1].any()


def test_value_comes_from_the_key():
    """Kills values made from the query; a value of its own is used."""
    made = heads()
    x, y, z = inputs(L, S, S)
    assert_close(made(x, y), made(x, y, y))
    assert not torch.allclose(made(x, y), made(x, y, z))
    k, v = made.project_source(y, z)
    assert_close(k, split_heads(made.w_k(y), HEADS))
    assert_close(v, split_heads(made.w_v(z), HEADS))


# -------------------------------------------------------------------- caches


def causal_by_hand(made, x, allowed=None):
    """One causal pass over everything, without is_causal or a cache."""
    corner = torch.ones(L, L).tril().bool()
    q, (k, v) = made.project_query(x), made.project_source(x)
    if made.rotary is not None:
        q, k = made.rotary(q, 0), made.rotary(k, 0)
    mask = corner if allowed is None else corner & allowed
    return made.attend(q, k, v, attn_mask=mask, return_weights=True)


@pytest.mark.parametrize("rotary", [None, turn], ids=["plain", "rotary"])
@pytest.mark.parametrize("num_kv_heads", [6, 2], ids=["mha", "gqa"])
@pytest.mark.parametrize("padded", [False, True], ids=["full", "padded"])
@pytest.mark.parametrize(
    "parts", COMPOSITIONS, ids=lambda parts: "+".join(map(str, parts))
)
def test_every_split_is_the_full_pass(parts, padded, num_kv_heads, rotary):
    """Kills top-left corners, unmasked prefills, positions that restart."""
    made, [x] = heads(HEADS, num_kv_heads, rotary=rotary), inputs(L)
    allowed = None
    if padded:  # on the left, as when generating
        allowed = qkv.padding_mask(torch.tensor([4, 6]), L, side="left")
    want, want_weights = causal_by_hand(made, x, allowed)
    cache, start = qkv.KVCache(), 0
    for n in parts:
        assert len(cache) == start
        end = start + n
        output, weights = made(
            x[:, start:end],
            attn_mask=None if allowed is None else allowed[..., :end],
            is_causal=True,
            cache=cache,
            return_weights=True,
        )
        assert_close(output, want[:, start:end])
        assert_close(weights, want_weights[..., start:end, :end])
        start = end
    assert len(cache) == L
    assert cache.key.shape == (B, num_kv_heads, L, D_MODEL // HEADS)


def test_all_compositions():
    """Kills a list that leaves splits out."""
    assert len(COMPOSITIONS) == 2 ** (L - 1) == 32
    assert {sum(parts) for parts in COMPOSITIONS} == {L}


@pytest.mark.parametrize("kind", ["bool", "float", "numpy"])
def test_cache_with_any_mask(kind):
    """Kills a mask that is dropped when is_causal meets a cache."""
    made, [x] = heads(), inputs(L)
    allowed = qkv.padding_mask([4, 6], L, side="left")
    want, _ = causal_by_hand(made, x, torch.from_numpy(allowed))
    mask = {
        "bool": torch.from_numpy(allowed),
        "float": torch.zeros(allowed.shape).masked_fill(
            ~torch.from_numpy(allowed), -torch.inf
        ),
        "numpy": allowed,
    }[kind]
    cache = qkv.KVCache()
    made(x[:, :4], attn_mask=mask[..., :4], is_causal=True, cache=cache)
    output = made(x[:, 4:], attn_mask=mask, is_causal=True, cache=cache)
    assert_close(output, want[:, 4:])


def test_masks_move_to_the_device():
    """Kills NumPy masks that stay on the CPU when the model does not."""
    made, [x] = heads().to("meta"), inputs(L)
    mask = qkv.padding_mask([4, 6], L)
    cache = qkv.KVCache()
    for part in (x[:, :4], x[:, 4:]):
        end = len(cache) + part.shape[1]
        for now in (None, cache):
            output, _ = made(
                part.to("meta"),
                attn_mask=mask[..., : part.shape[1] if now is None else end],
                is_causal=True,
                cache=now,
                return_weights=True,
            )
            assert output.device.type == "meta"
    output, _ = made(x.to("meta"), attn_mask=mask, return_weights=True)
    assert output.device.type == "meta"


def test_cache_without_causal_sees_everything():
    """Kills a cache that makes attention causal by itself."""
    made, [x] = heads(), inputs(L)
    cache = qkv.KVCache()
    made(x[:, :4], cache=cache)
    output = made(x[:, 4:], cache=cache)
    assert_close(output, made(x)[:, 4:])


def test_rotary_is_told_where_queries_start():
    """Kills positions that begin at 0 again, and rotated values."""
    calls = []

    def rotary(x, start):
        calls.append((tuple(x.shape), start))
        return x

    made, [x] = heads(HEADS, 2, rotary=rotary), inputs(L)
    cache = qkv.KVCache()
    made(x[:, :4], cache=cache)
    made(x[:, 4:], cache=cache)
    assert calls == [
        ((B, 6, 4, 2), 0),
        ((B, 2, 4, 2), 0),
        ((B, 6, 2, 2), 4),
        ((B, 2, 2, 2), 4),
    ]


def test_cross_attention_projects_its_source_once():
    """Kills attend or project_source that differ from forward."""
    made = heads(HEADS, 2)
    x, y, z = inputs(L, S, S)
    mask = qkv.padding_mask(torch.tensor([2, 5]), S)
    k, v = made.project_source(y, z)
    assert k.shape == v.shape == (B, 2, S, 2)
    for i in range(L):
        step = x[:, i : i + 1]
        output, weights = made.attend(
            made.project_query(step), k, v, attn_mask=mask, return_weights=True
        )
        want, want_weights = made(
            step, y, z, attn_mask=mask, return_weights=True
        )
        assert_close(output, want)
        assert_close(weights, want_weights)
        output = made.attend(made.project_query(step), k, v, attn_mask=mask)
        assert_close(output, want)
    q, (k, v) = made.project_query(x), made.project_source(x)
    assert_close(made.attend(q, k, v, is_causal=True), made(x, is_causal=True))


@pytest.mark.parametrize("lead", [(2, 3), (3,), (4, 2, 3)])
def test_update_appends(lead):
    """Kills a cache that overwrites, prepends or joins the wrong axis."""
    cache = qkv.KVCache()
    assert len(cache) == 0
    assert cache.key is None
    assert cache.value is None
    k, v = torch.randn(*lead, 4, 5), torch.randn(*lead, 4, 6)
    for piece in (slice(0, 1), slice(1, 4)):
        key, value = cache.update(k[..., piece, :], v[..., piece, :])
        assert torch.equal(key, k[..., : piece.stop, :])
        assert torch.equal(value, v[..., : piece.stop, :])
        assert torch.equal(cache.key, key)
        assert torch.equal(cache.value, value)
        assert len(cache) == piece.stop


HELD = torch.zeros(2, 3, 4, 5), torch.zeros(2, 3, 4, 6)


@pytest.mark.parametrize(
    ("error", "words", "key", "value"),
    [
        (ValueError, ["key and value need the same batch, heads and length",
                      "key (2, 3, 1, 5), value (2, 3, 2, 6)"],
         (2, 3, 1, 5), (2, 3, 2, 6)),
        (ValueError, ["same batch, heads and length"],
         (2, 3, 1, 5), (2, 4, 1, 6)),
        (ValueError, ["key (1, 3, 1, 5)", "cached key (2, 3, 4, 5)"],
         (1, 3, 1, 5), (1, 3, 1, 6)),
        (ValueError, ["key (2, 2, 1, 5)", "only the length"],
         (2, 2, 1, 5), (2, 2, 1, 6)),
        (ValueError, ["key (2, 3, 1, 4)"], (2, 3, 1, 4), (2, 3, 1, 6)),
        (ValueError, ["value (2, 3, 1, 5)", "cached value (2, 3, 4, 6)"],
         (2, 3, 1, 5), (2, 3, 1, 5)),
    ],
)  # fmt: skip
def test_update_refuses(error, words, key, value):
    """Kills a cache that is half updated, or broadcasts."""
    cache = qkv.KVCache()
    cache.update(*HELD)
    refuses(error, words, cache.update, torch.zeros(key), torch.zeros(value))
    assert torch.equal(cache.key, HELD[0])
    assert torch.equal(cache.value, HELD[1])


def test_update_refuses_another_precision():
    """Kills a cache that changes its dtype on the way."""
    cache = qkv.KVCache()
    cache.update(*HELD)
    new = [x[..., :1, :] for x in HELD]
    for n, name in enumerate(("key", "value")):
        mixed = list(new)
        mixed[n] = mixed[n].double()
        words = f"cached {name} is torch.float32, got torch.float64"
        with pytest.raises(TypeError, match=words):
            cache.update(*mixed)
    assert torch.equal(cache.key, HELD[0])
    assert torch.equal(cache.value, HELD[1])


def test_failed_call_leaves_the_cache_alone():
    """Kills a cache that has grown although the call failed."""
    made, [x] = heads(), inputs(L)
    cache = qkv.KVCache()
    made(x[:, :4], cache=cache)
    before = cache.key.clone(), cache.value.clone()

    def assert_unchanged():
        assert len(cache) == 4
        assert torch.equal(cache.key, before[0])
        assert torch.equal(cache.value, before[1])

    integers = torch.ones(1, 5, dtype=torch.int64)
    sparse = torch.ones(1, 5).bool().to_sparse()
    for options, error in (
        ({"attn_mask": torch.ones(1, 4) > 0}, ValueError),  # one key short
        ({"attn_mask": torch.ones(3, 1, 1, 5) > 0}, ValueError),
        ({"attn_mask": torch.ones(2, HEADS + 1, 1, 5) > 0}, ValueError),
        ({"attn_mask": integers}, TypeError),
        ({"attn_mask": sparse}, TypeError),
        ({"attn_mask": np.ma.ones((1, 5))}, TypeError),
        ({"is_causal": np.True_}, TypeError),
        ({"return_weights": 1}, TypeError),
        ({"key": x}, ValueError),
        ({"value": x}, ValueError),
    ):
        with pytest.raises(error):
            made(x[:, 4:5], **{"is_causal": True, **options}, cache=cache)
        assert_unchanged()
    for wrong in (x[0, :1], x[:1, :1], x[..., :4], x[:, :1].float()):
        with pytest.raises((ValueError, RuntimeError)):
            made(wrong, is_causal=True, cache=cache)
        assert_unchanged()
    made.w_o = None  # a failure after everything else
    with pytest.raises(TypeError):
        made(x[:, 4:5], is_causal=True, cache=cache)
    assert_unchanged()


def test_failed_first_call_leaves_the_cache_empty():
    """Kills a cache that remembers the batch of a call that failed."""
    made, [x] = heads(), inputs(L)
    cache = qkv.KVCache()
    with pytest.raises(ValueError):
        made(x, attn_mask=torch.ones(1, 4) > 0, is_causal=True, cache=cache)
    assert len(cache) == 0
    assert cache.key is None
    made(x[:1], is_causal=True, cache=cache)
    assert len(cache) == L


def test_cache_copies_each_position_once():
    """Kills a cache that copies all it holds at every step: O(n²) in all."""
    cache, places = qkv.KVCache(), set()
    with torch.no_grad():
        for n in range(64):
            key, _ = cache.update(torch.full((1, 1, 1, 2), n), *HELD_ONE)
            places.add(key.data_ptr())
    assert len(places) <= 7  # 2, 6, 14, 30, 62, 126 positions
    assert torch.equal(key[0, 0, :, 0], torch.arange(64))


HELD_ONE = (torch.zeros(1, 1, 1, 3),)


def test_cache_does_not_share_what_comes_in():
    """Kills a cache that changes with its caller's tensors."""
    cache, (k, v) = qkv.KVCache(), (x.clone() for x in HELD)
    with torch.no_grad():
        cache.update(k, v)
    k.fill_(7)
    v.fill_(7)
    assert not cache.key.any()
    assert not cache.value.any()
    with torch.no_grad():
        other = copy.deepcopy(cache)
        for n, one in enumerate((cache, other)):
            one.update(*(torch.full_like(x[..., :1, :], n) for x in HELD))
    assert not cache.key.any()
    assert other.key.any()


def test_cache_goes_on_in_any_mode():
    """Kills memory made in inference mode that is read-only outside."""
    step = [x[..., :1, :] for x in HELD]
    cache = qkv.KVCache()
    for mode in (torch.inference_mode, torch.no_grad, torch.enable_grad):
        for _ in range(3):
            with mode():
                cache.update(*step)
    assert len(cache) == 9
    grown = [x.clone().requires_grad_() for x in step]
    key, value = cache.update(*grown)
    (key.sum() + value.sum()).backward()
    assert all(x.grad.all() for x in grown)  # gradients pass


def test_crop_forgets_the_newest():
    """Kills a crop that keeps the wrong end, or takes what is not there."""
    cache = qkv.KVCache()
    k, v = torch.randn(2, 3, 4, 5), torch.randn(2, 3, 4, 6)
    cache.update(k, v)
    for wrong in (-1, 5):
        with pytest.raises(ValueError, match=f"4 positions to {wrong}"):
            cache.crop(wrong)
    cache.crop(4)  # nothing to forget
    assert torch.equal(cache.key, k)
    cache.crop(3)
    assert torch.equal(cache.key, k[..., :3, :])
    cache.update(k[..., 3:, :], v[..., 3:, :])
    assert torch.equal(cache.key, k)
    assert torch.equal(cache.value, v)


# ------------------------------------------------------------------- dropout


def test_dropout_only_in_training():
    """Kills dropout in evaluation, none in training, weights after it."""
    made, [x] = heads(dropout=0.5), inputs(L)
    calm = heads()(x)
    assert_close(made(x), calm)
    made.train()
    torch.manual_seed(0)
    first, second = made(x), made(x)
    assert not torch.allclose(first, second)
    _, weights = made(x, return_weights=True)
    assert_close(weights, heads()(x, return_weights=True)[1])
    made.dropout = 1.0
    assert_close(made(x), made.w_o.bias.expand(B, L, D_MODEL))


def test_dropout_is_off_unless_asked():
    """Kills another default."""
    made, [x] = heads().train(), inputs(L)
    assert_close(made(x), made.eval()(x))


# -------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("words", "args", "options"),
    [
        ("num_heads=5 must divide d_model=12", (12, 5), {}),
        ("num_heads must be at least 1, got 0", (12, 0), {}),
        ("num_heads must be at least 1, got -3", (12, -3), {}),
        ("num_kv_heads=4 must divide num_heads=6", (12, 6, 4), {}),
        ("num_kv_heads must be at least 1, got 0", (12, 6, 0), {}),
        ("num_kv_heads must be at least 1, got -2", (12, 6, -2), {}),
        ("dropout must lie in .0, 1., got 1.5", (12, 6), {"dropout": 1.5}),
        ("dropout must lie in .0, 1., got -1", (12, 6), {"dropout": -1}),
        ("d_model must be at least 1, got 0", (0, 1), {}),
    ],
)
def test_impossible_modules(words, args, options):
    """Kills a module that is built and fails later."""
    with pytest.raises(ValueError, match=words):
        qkv.MultiHeadAttention(*args, **options)


@pytest.mark.parametrize(
    ("words", "args", "options"),
    [
        ("d_model must be an integer, got 12.0", (12.0, 6), {}),
        ("num_heads must be an integer, got True", (12, True), {}),
        ("num_kv_heads must be an integer, got 2.0", (12, 6, 2.0), {}),
        ("bias must be True or False, got 0.0", (12, 6), {"bias": 0.0}),
        ("dropout must be a number, got True", (12, 6), {"dropout": True}),
        ("positional argument", (12, 6, 2, True), {}),
    ],
)
def test_arguments_of_the_wrong_kind(words, args, options):
    """Kills a dropout that lands in bias, and True that counts as 1."""
    with pytest.raises(TypeError, match=words):
        qkv.MultiHeadAttention(*args, **options)


def test_options_of_a_call_have_names():
    """Kills a mask where torch's module has its key_padding_mask."""
    made, [x] = heads(), inputs(L)
    mask = torch.ones(L, L) > 0
    with pytest.raises(TypeError, match="positional"):
        made(x, x, x, mask)
    q, (k, v) = made.project_query(x), made.project_source(x)
    with pytest.raises(TypeError, match="positional"):
        made.attend(q, k, v, mask)


def test_possible_extremes():
    """Kills a check that is one too strict."""
    for args in ((12, 12), (12, 1), (12, 6, 1), (12, 1, 1)):
        qkv.MultiHeadAttention(*args, dropout=1)


def test_refused_calls():
    """Kills calls that go through with the wrong meaning."""
    made, cache = heads(), qkv.KVCache()
    x, y = inputs(L, S)
    cases = [
        ({"value": y}, ["value needs a key; self-attention gives neither"]),
        ({"key": y, "cache": cache},
         ["cache and rotary are for self-attention, without a key",
          "The keys of cross-attention do not grow: k, v = project_source"
          "(key, value) once, then attend(project_query(query), k, v)"]),
        ({"key": y, "is_causal": True}, ["L=6, S=5", "causal_mask(6, 5)"]),
        ({"key": y, "value": y[:, :4]}, ["(2, 6, 12)", "(2, 5, 12)",
                                         "(2, 4, 12)"]),
        ({"key": y[:1]}, ["query needs shape (B, L, 12)", "(1, 5, 12)"]),
        ({"key": y[0]}, ["key and value", "(5, 12)"]),
        ({"key": y[..., :8]}, ["(2, 5, 8)"]),
        ({"attn_mask": torch.ones(L, S) > 0}, ["attn_mask (6, 5)",
                                               "(2, 6, 6, 6)"]),
    ]  # fmt: skip
    for options, words in cases:
        refuses(ValueError, words, made, x, **options)
    for wrong in (x[0], x[..., :6], x[None]):
        with pytest.raises(ValueError, match=r"\(B, L, 12\)"):
            made(wrong)
    with pytest.raises(ValueError, match=r"\(6, 12\)"):
        made(x[0], y)
    turned = heads(rotary=turn)
    words = ["cache and rotary are for self-attention, without a key"]
    refuses(ValueError, words, turned, x, y)
    assert len(cache) == 0
