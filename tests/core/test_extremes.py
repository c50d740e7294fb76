"""NaN, infinities, the largest and smallest numbers, seen and hidden.

The rule: what is hidden cannot be seen, and what is visible counts as it does
in arithmetic, so that a visible NaN stays NaN. Each path is compared, output
and gradients, with `by_removal`, which takes the hidden keys away before it
computes: nothing can come from what is not there.

``python tests/core/test_extremes.py`` prints how many cells agree.
"""

import itertools
import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import contract
import qkv
from qkv.hidden import Pairs, Sums

B, H, D = 1, 2, 4
PLACES = ("query", "key", "value")
# Processors take 4, 8 or 16 numbers at once: fewer, whole ones, one too many.
LENGTHS = (3, 12, 17)
MASKS = ("none", "causal", "bool", "float", "causal and bool",
         "causal and float", "padding")  # fmt: skip
TOLERANCE = {
    torch.float64: 1e-10,
    torch.float32: 2e-5,
    torch.bfloat16: 3e-2,
    torch.float16: 1e-2,
}


def extremes(dtype):
    """Return the numbers that are tried."""
    info = torch.finfo(dtype)
    return {
        "NaN": math.nan,
        "inf": math.inf,
        "-inf": -math.inf,
        "largest": info.max,
        "-largest": -info.max,
        "smallest": info.smallest_normal,
    }


def masks(kind, L, S):
    """Return the options of a call, and who sees whom, (L, S)."""
    rng = np.random.default_rng(S)
    seen = rng.random((L, S)) < 0.6
    seen[:, 0] = True
    seen[L // 2] = False  # a row with no allowed key
    if kind == "padding":
        seen = np.tile(np.arange(S) < S - 1, (L, 1))
    bias = np.where(seen, rng.normal(size=(L, S)), -np.inf)
    options, may = {}, np.ones((L, S), bool)
    if "bool" in kind or kind == "padding":
        options["attn_mask"], may = seen, seen
    if "float" in kind:
        options["attn_mask"], may = bias, seen
    if "causal" in kind:
        options["is_causal"], may = True, may & np.tri(L, dtype=bool)
    return options, may


def by_removal(query, key, value, seen, bias=None):
    """Attention of each query on the keys that it sees, and no others."""
    dtype = query.dtype
    query, key, value = (
        x.to(torch.promote_types(dtype, torch.float32))
        for x in (query, key, value)
    )
    rows = []
    for i, may in enumerate(torch.from_numpy(seen)):
        k, v = key[..., may, :], value[..., may, :]
        scores = query[..., i : i + 1, :] / math.sqrt(D) @ k.mT
        if bias is not None:
            scores = scores + torch.tensor(bias).to(dtype)[i, may]
        never = (scores == -math.inf).all(-1, keepdim=True)
        weights = scores.masked_fill(never, 0).softmax(-1)
        rows.append(weights.masked_fill(never, 0) @ v)
    return torch.cat(rows, dim=-2).to(dtype)


def computed(*args, **options):
    """Take qkv's path that computes the weights."""
    return qkv.scaled_dot_product_attention(
        *args, **options, return_weights=True
    )[0]


def module(query, key, value, attn_mask=None, is_causal=False):
    """Let `MultiHeadAttention` attend, without its W_O."""
    made = qkv.MultiHeadAttention(H * D, H).eval()
    made.w_o = nn.Identity()
    output = made.attend(
        query, key, value, attn_mask=attn_mask, is_causal=is_causal
    )
    return qkv.multihead.split_heads(output, H)


def in_numpy(attention):
    """Put a NumPy function behind tensors."""

    def attend(*inputs, **options):
        arrays = (x.detach().numpy() for x in inputs)
        return torch.from_numpy(attention(*arrays, **options))

    return attend


PATHS = {
    "reference": in_numpy(qkv.reference.scaled_dot_product_attention),
    "blockwise": in_numpy(contract.blockwise),
    "fused": qkv.scaled_dot_product_attention,
    "computed": computed,
    "module": module,
}
NUMPY = {"reference", "blockwise"}


def results(attention, inputs, options, probe, slopes=True):
    """Return the output, and the gradients of query, key and value."""
    inputs = [x.clone().requires_grad_(slopes) for x in inputs]
    output = attention(*inputs, **options)
    found = {"output": output.detach()}
    if slopes:
        (output * probe).sum().backward()
        found |= dict(zip(PLACES, (x.grad for x in inputs), strict=True))
    return found


def differences(paths, dtype, lengths=LENGTHS, kinds=MASKS):
    """Compare paths; return (number of cells, {path: cells that differ})."""
    cells, problems = 0, {name: [] for name in paths}
    for S, kind in itertools.product(lengths, kinds):
        L = S if "causal" in kind else 5
        options, seen = masks(kind, L, S)
        bias = options.get("attn_mask") if "float" in kind else None
        *base, probe = draw(L, S, dtype)
        for place, at in itertools.product(range(3), (1, -1)):
            for name, number in extremes(dtype).items():
                inputs = [x.clone() for x in base]
                inputs[place][0, 0, at, 1] = number
                want = results(
                    by_removal, inputs, {"seen": seen, "bias": bias}, probe
                )
                cells += len(want)
                for path, attention in paths.items():
                    got = results(
                        attention, inputs, options, probe, path not in NUMPY
                    )
                    problems[path] += [
                        f"S={S}, {kind}, {name} in {PLACES[place]}[{at}]: "
                        + what
                        for what in got
                        if not alike(got[what], want[what])
                    ]
    return cells, problems


def draw(L, S, dtype):
    """Return query, key, value and the slopes of the output."""
    generator = torch.Generator().manual_seed(S)
    return [
        torch.randn(B, H, n, D, generator=generator).to(dtype)
        for n in (L, S, S, L)
    ]


def alike(got, right):
    """Compare; where numbers are not finite, the same ones must not be.

    A derivative that overflows may do so to inf here and to NaN there.
    """
    limit = TOLERANCE[right.dtype]
    broken = ~right.isfinite()
    if not torch.equal(~got.isfinite(), broken):
        return False
    got, right = got[~broken].double(), right[~broken].double()
    size = max(1.0, float(right.abs().max())) if right.numel() else 1.0
    return bool(((got - right).abs() <= limit * size).all())


@pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda d: str(d)[6:])
def test_what_is_hidden_cannot_be_seen(dtype):
    """Kills 0 · NaN from hidden places, and NaN that is taken for 0."""
    cells, problems = differences(paths_for(dtype), dtype)
    assert cells >= 3000
    assert not any(problems.values()), {
        path: (len(cells), cells[:5]) for path, cells in problems.items()
    }


def paths_for(dtype):
    """Return the paths that know a dtype: NumPy has no bfloat16."""
    return {
        name: path
        for name, path in PATHS.items()
        if name not in NUMPY or dtype != torch.bfloat16
    }


def textbook(query, key, value, attn_mask=None, is_causal=False):
    """Fill scores with -inf and hope."""
    _, seen = masks("none", query.shape[-2], key.shape[-2])
    seen = torch.from_numpy(np.tri(*seen.shape, dtype=bool) if is_causal
                            else seen)  # fmt: skip
    scores = query @ key.mT / math.sqrt(D)
    if attn_mask is not None and attn_mask.dtype == bool:
        seen = seen & torch.from_numpy(attn_mask)
    elif attn_mask is not None:
        scores = scores + torch.from_numpy(attn_mask).to(scores)
    weights = scores.masked_fill(~seen, -math.inf).softmax(-1)
    return weights.masked_fill(~seen, 0) @ value


def torchs(query, key, value, attn_mask=None, is_causal=False):
    """Leave it to torch's function."""
    if attn_mask is not None:
        attn_mask = torch.from_numpy(attn_mask)
        if attn_mask.dtype != torch.bool:
            attn_mask = attn_mask.to(query.dtype)
    return F.scaled_dot_product_attention(
        query, key, value, attn_mask, is_causal=is_causal
    )


@pytest.mark.parametrize("wrong", [textbook, torchs])
@pytest.mark.parametrize("kind", ["causal", "bool", "float", "padding"])
def test_the_table_sees_mistakes(wrong, kind):
    """Kills a comparison that the usual implementations pass."""
    cells, problems = differences({"": wrong}, torch.float32, [12], [kind])
    assert len(problems[""]) > cells / 10


@pytest.mark.parametrize("number", [math.nan, math.inf])
@pytest.mark.parametrize("S", [5, 20])
def test_a_broken_number_in_the_mask_breaks_its_row(number, S):
    """Kills a row that looks empty because its scores are NaN."""
    q, k, v = (torch.randn(1, 1, S, D) for _ in range(3))
    bias = torch.zeros(S, S)
    bias[1] = number
    bias[2, 3] = -math.inf
    for path in PATHS.values():
        mask = bias.numpy() if path not in (computed, module) else bias
        output = path(q, k, v, attn_mask=mask)
        assert output[0, 0, 1].isnan().all()
        rest = [n for n in range(S) if n != 1]
        assert output[0, 0, rest].isfinite().all()


@pytest.mark.parametrize("S", [2, 20])
def test_negative_and_zero_scales_with_causal(S):
    """Kills torch's kernel, which scales the -inf of what is hidden."""
    q, k, v = (torch.randn(1, 1, S, D) for _ in range(3))
    for scale in (0.0, -1.5):
        options = {"is_causal": True, "scale": scale}
        want = computed(q, k, v, **options)
        torch.testing.assert_close(
            qkv.scaled_dot_product_attention(q, k, v, **options), want
        )
        assert want.isfinite().all()


def test_weights_of_a_broken_row():
    """Kills NaN as the weight of a key that is hidden."""
    q, k, v = (torch.randn(1, 1, 6, D) for _ in range(3))
    q[0, 0, 3] = math.nan
    for x, attention in (
        ((q, k, v), qkv.scaled_dot_product_attention),
        ([n.numpy() for n in (q, k, v)],
         qkv.reference.scaled_dot_product_attention),
    ):  # fmt: skip
        _, weights = attention(*x, is_causal=True, return_weights=True)
        weights = torch.as_tensor(weights)[0, 0]
        assert weights[3, :4].isnan().all()
        assert not weights[3, 4:].any()
        assert weights[[0, 1, 2, 4, 5]].isfinite().all()


@pytest.mark.parametrize(
    ("weights", "values", "total"),
    [
        ((1, -1), (math.inf, -math.inf), math.inf),
        ((1, -1), (-math.inf, math.inf), -math.inf),
        ((1, 1), (math.inf, -math.inf), math.nan),
        ((0, 1), (math.inf, 2), math.nan),
        ((0, 1), (3, math.inf), math.inf),
    ],
)
def test_sums_of_infinities(weights, values, total):
    """Kills signs that cancel, as slopes of both signs would show."""
    weights = torch.tensor([weights], dtype=torch.float64)
    values = torch.tensor(values, dtype=torch.float64)[:, None]
    seen = torch.ones(1, 2, dtype=torch.bool)
    got = Sums.apply(weights, values, seen)
    want = torch.full_like(got, total)
    torch.testing.assert_close(got, want, equal_nan=True)
    torch.testing.assert_close(weights @ values, want, equal_nan=True)


def test_second_derivatives_of_the_careful_products():
    """Kills derivatives that are only right once, or only without a mask."""
    seen = torch.rand(2, 3, 4) < 0.6
    a, b = torch.randn(2, 3, 5).double(), torch.randn(2, 4, 5).double()
    w = torch.randn(2, 3, 4).double()
    for x in (a, b, w):
        x.requires_grad_()
    for one, two, product in ((a, b, Pairs), (w, b, Sums)):

        def function(one, two, product=product):
            return product.apply(one, two, seen)

        torch.autograd.gradcheck(function, (one, two))
        torch.autograd.gradgradcheck(function, (one, two))


def table(paths):
    """Print how many cells agree, by dtype and path."""
    for dtype in TOLERANCE:
        known = paths_for(dtype)
        some = {k: v for k, v in paths.items() if k not in PATHS or k in known}
        cells, problems = differences(some, dtype)
        for path, wrong in problems.items():
            tried = cells // 4 if path in NUMPY else cells
            agree = f"{tried - len(wrong):5} of {tried} agree"
            print(f"{str(dtype)[6:]:9} {path:10} {agree}")


if __name__ == "__main__":
    table(PATHS | {"torch": torchs, "textbook": textbook})
