"""The same numbers as others get: ONNX, torch's samples, torch's module.

``pytest tests/core/test_conformance.py`` prints the counts ("93 of 93").
"""

import math

import numpy as np
import pytest
import torch
from onnx import TensorProto, helper
from onnx.backend.test.case import node as onnx_node
from onnx.backend.test.case.node import attention as onnx_attention
from torch import nn

import contract
import qkv
from qkv.multihead import merge_heads, split_heads


def fused(*args, **options):
    """Leave the work to torch's kernels where qkv does."""
    return qkv.scaled_dot_product_attention(*args, **options), None


def computed(*args, **options):
    """Take the path of qkv that computes the weights."""
    return qkv.scaled_dot_product_attention(
        *args, **options, return_weights=True
    )


def in_numpy(attention, query, key, value, attn_mask=None, **options):
    """Put a NumPy function behind torch's types."""
    made = attention(
        query.numpy(), key.numpy(), value.numpy(),
        None if attn_mask is None else attn_mask.numpy(),
        **options, return_weights=True,
    )  # fmt: skip
    return tuple(map(torch.from_numpy, made))


def reference(*args, **options):
    """Put the NumPy reference behind torch's types."""
    attention = qkv.reference.scaled_dot_product_attention
    return in_numpy(attention, *args, **options)


def blockwise(*args, **options):
    """Put the NumPy blocks behind torch's types."""
    return in_numpy(contract.blockwise, *args, **options)


# --------------------------------------------------------------------- ONNX

assert onnx_attention, "importing it fills the list of cases"
CASES = [
    case
    for case in onnx_node._NodeTestCases
    if case.name.startswith("test_attention") and "expanded" not in case.name
]
# ONNX compares with rtol 1e-3, atol 1e-7. A half-precision result may be
# rounded elsewhere than theirs: a few units in the last place.
TOLERANCE = {
    torch.float32: {"rtol": 1e-3, "atol": 1e-7},
    torch.float16: {"rtol": 1e-3, "atol": 2e-3},
    torch.bfloat16: {"rtol": 1e-3, "atol": 1.6e-2},
}


def tensor(x):
    """Bring an array of onnx to torch; bfloat16 goes by way of float32."""
    if x.dtype.name == "bfloat16":
        return torch.from_numpy(x.astype(np.float32)).bfloat16()
    return torch.from_numpy(x)


def run_onnx(attention, node, inputs):
    """Translate one Attention node to a call; return its outputs by name."""
    options = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    given = dict(zip(filter(None, node.input), inputs, strict=True))
    q, k, v = given["Q"], given["K"], given["V"]
    flat = q.ndim == 3
    if flat:
        q = split_heads(q, options["q_num_heads"])
        k, v = (split_heads(x, options["kv_num_heads"]) for x in (k, v))

    cache, past = qkv.KVCache(), 0
    if "past_key" in given:
        cache.update(given["past_key"], given["past_value"])
        past = len(cache)
    k, v = cache.update(k, v)
    L, S = q.shape[-2], k.shape[-2]

    # Where does the first query stand among the keys? A column per sequence.
    lengths = given.get("nonpad_kv_seqlen")
    first = torch.tensor(past) if lengths is None else lengths - L
    place = first.reshape(-1, 1, 1, 1) + torch.arange(L)[:, None]
    ahead = torch.arange(S) - place  # (B or 1, 1, L, S)

    allowed = torch.ones(1, 1, L, S, dtype=torch.bool)
    if options.get("is_causal"):
        allowed = allowed & (ahead <= 0)
    if options.get("left_window_size", -1) >= 0:
        allowed = allowed & (ahead >= -options["left_window_size"])
    if options.get("right_window_size", -1) >= 0:
        allowed = allowed & (ahead <= options["right_window_size"])
    if lengths is not None:
        allowed = allowed & qkv.padding_mask(lengths, S)
    mask = given.get("attn_mask")
    if mask is not None:  # a short one says nothing about the keys beyond it
        never = False if mask.dtype == torch.bool else -math.inf
        short = (0, S - mask.shape[-1])
        mask = nn.functional.pad(mask, short, value=never)
    if mask is None or mask.dtype == torch.bool:
        mask = allowed if mask is None else allowed & mask
    else:
        mask = torch.where(allowed, mask, -math.inf)

    dtype = q.dtype
    precise = options.get("softmax_precision") == TensorProto.FLOAT
    if precise:
        q, k, v = q.float(), k.float(), v.float()
    output, weights = attention(
        q, k, v, mask, scale=options.get("scale"),
        softcap=options.get("softcap") or None,
        enable_gqa=q.shape[1] != k.shape[1],
    )  # fmt: skip
    assert output.dtype == q.dtype
    made = {
        "Y": (merge_heads(output) if flat else output).to(dtype),
        "present_key": cache.key,
        "present_value": cache.value,
    }
    if options.get("qk_matmul_output_mode") == 3 and weights is not None:
        made["qk_matmul_output"] = weights.to(dtype)
    return made


def onnx_problems(attention, cases):
    """Run cases; return the names of those that differ, and by how much."""
    problems, compared = [], set()
    for case in cases:
        node = case.model.graph.node[0]
        for inputs, outputs in case.data_sets:
            made = run_onnx(attention, node, map(tensor, inputs))
            names = filter(None, node.output)
            for name, expected in zip(names, outputs, strict=True):
                if name not in made:  # raw scores, which we do not return
                    continue
                want, got = tensor(expected), made[name]
                compared.add(name)
                try:
                    torch.testing.assert_close(
                        got, want, **TOLERANCE[want.dtype]
                    )
                except AssertionError as problem:
                    problems.append(f"{case.name} {name}: {problem}")
    assert compared >= {"Y", "present_key", "present_value"}
    return problems


@pytest.mark.parametrize("attention", [computed, fused, reference, blockwise])
def test_onnx(attention, capsys):
    """Kills another corner of causal, tiled heads, NaN rows, lost caches."""
    assert len(CASES) == 93, f"onnx has {len(CASES)} attention cases, not 93"
    cases, why = CASES, ""
    if attention in (reference, blockwise):
        cases = [case for case in CASES if "bf16" not in case.name]
        assert len(cases) == 88
        why = " (all but the 5 in bfloat16, which NumPy does not have)"
    problems = onnx_problems(attention, cases)
    failed = {problem.split()[0] for problem in problems}
    with capsys.disabled():
        print(
            f"\nONNX, {attention.__name__}: {len(cases) - len(failed)} of "
            f"{len(cases)} cases{why}"
        )
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("scale=", lambda q, k, v, *a, **o: (
            qkv.scaled_dot_product_attention(
                q, k, v, *a, **{**o, "scale": 1.0}), None)),
        ("mask", lambda q, k, v, mask, **o: (
            qkv.scaled_dot_product_attention(q, k, v, **o), None)),
    ],
)  # fmt: skip
def test_onnx_sees_mistakes(line, wrong):
    """Kills tolerances so wide that every attention conforms."""
    assert len(onnx_problems(wrong, CASES)) > 40, line


# -------------------------------------------------------- torch's own samples


def test_torch_samples(capsys):
    """Kills differences from torch in shapes its own developers test."""
    from torch.testing._internal.common_methods_invocations import op_db

    [op] = [
        op
        for op in op_db
        if op.name == "nn.functional.scaled_dot_product_attention"
    ]
    ran = top_left = 0
    for sample in op.sample_inputs("cpu", torch.float64, requires_grad=True):
        options = dict(sample.kwargs)
        if options["dropout_p"]:
            continue  # random: nothing to compare
        inputs = [sample.input, *sample.args]
        want = op(*inputs, **options)
        slopes = torch.autograd.grad(want.sin().sum(), inputs)
        L, S = want.shape[-2], inputs[1].shape[-2]
        if options["is_causal"] and L != S:  # ours refuses, and says why
            with pytest.raises(ValueError, match="causal_mask"):
                qkv.scaled_dot_product_attention(*inputs, **options)
            corner = torch.ones(L, S, dtype=torch.bool).tril()
            options.update(is_causal=False, attn_mask=corner)
            top_left += 1
        for attention in (fused, computed):
            got, _ = attention(*inputs, **options)
            torch.testing.assert_close(got, want)
            ours = torch.autograd.grad(got.sin().sum(), inputs)
            torch.testing.assert_close(ours, slopes)
        ran += 1
    with capsys.disabled():
        print(f"\nOpInfo: {ran} of 13 samples, {top_left} of them top-left")
    assert (ran, top_left) == (13, 6)


# ------------------------------------------------------ nn.MultiheadAttention

B, H, L, S, D_K = 2, 3, 5, 7, 4  # all different
HIDDEN = torch.arange(S) >= torch.tensor([4, 6])[:, None]  # True: padding
BLOCKED = torch.from_numpy(np.random.default_rng(0).random((L, S)) < 0.4)
BLOCKED[:, 0] = False
PADDING = qkv.padding_mask(torch.tensor([4, 6]), S)  # True: may attend


def twins(bias=True):
    """Build theirs and ours with the same weights, float64."""
    torch.manual_seed(0)
    d_model = H * D_K
    theirs = nn.MultiheadAttention(d_model, H, bias=bias, batch_first=True)
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.5)
    ours = qkv.MultiHeadAttention(d_model, H, bias=bias)
    state = {"w_o.weight": theirs.out_proj.weight}
    weights = theirs.in_proj_weight.chunk(3)
    state |= {f"w_{x}.weight": w for x, w in zip("qkv", weights, strict=True)}
    if bias:
        biases = theirs.in_proj_bias.chunk(3)
        state["w_o.bias"] = theirs.out_proj.bias
        state |= {f"w_{x}.bias": b for x, b in zip("qkv", biases, strict=True)}
    ours.load_state_dict(state)
    return theirs.double(), ours.double()


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("width", "their_masks", "our_masks"),
    [
        (S, {}, {}),
        (S, {"key_padding_mask": HIDDEN}, {"attn_mask": PADDING}),
        (S, {"attn_mask": BLOCKED}, {"attn_mask": ~BLOCKED}),
        (
            S,
            {"attn_mask": BLOCKED, "key_padding_mask": HIDDEN},
            {"attn_mask": ~BLOCKED & PADDING},
        ),
        (None, {}, {}),
        (None, {"attn_mask": BLOCKED[:, :L]}, {"attn_mask": ~BLOCKED[:, :L]}),
        (
            None,
            {"attn_mask": ~torch.ones(L, L).tril().bool()},
            {"is_causal": True},
        ),
    ],
    ids=["cross", "cross-padding", "cross-mask", "cross-both",
         "self", "self-mask", "self-causal"],
)  # fmt: skip
def test_torch_multihead(width, their_masks, our_masks, bias):
    """Kills scrambled heads, mask polarity, averaged weights, wrong slopes."""
    theirs, ours = twins(bias)
    torch.manual_seed(1)
    x = torch.randn(B, L, H * D_K, dtype=torch.float64, requires_grad=True)
    inputs = [x]
    if width:
        y = torch.randn(B, width, H * D_K, dtype=torch.float64)
        z = torch.randn(B, width, H * D_K, dtype=torch.float64)
        inputs += [y.requires_grad_(), z.requires_grad_()]
    want, want_weights = theirs(
        *(inputs if width else [x, x, x]),
        **their_masks,
        average_attn_weights=False,
    )
    got, weights = ours(*inputs, **our_masks, return_weights=True)
    torch.testing.assert_close(got, want)
    torch.testing.assert_close(weights, want_weights)
    torch.testing.assert_close(ours(*inputs, **our_masks), want)

    want_slopes = torch.autograd.grad(
        want.sin().sum(),
        [*inputs, theirs.in_proj_weight, theirs.out_proj.weight],
    )
    slopes = torch.autograd.grad(
        got.sin().sum(),
        [*inputs, *(getattr(ours, f"w_{n}").weight for n in "qkvo")],
    )
    slopes = [*slopes[:-4], torch.cat(slopes[-4:-1]), slopes[-1]]
    torch.testing.assert_close(slopes, list(want_slopes))
