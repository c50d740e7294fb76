"""The contract of attention as one battery of named checks.

Any attention function can be put through it:

    for name, problem in examine(attention, torch_array).items():
        print(name, problem)

Each check takes the function under test and ``array(x, dtype)``, which makes
the kind of array that the function takes, and raises an AssertionError that
says what the mistake looks like. Expected numbers come from hand-worked
examples and from `loops`, which computes one number at a time in float64.

A check is tagged ``maths`` (``torch.nn.functional`` passes it too),
``contract`` (this project promises more) or ``heads`` (it takes a class like
`qkv.MultiHeadAttention`). ``python tests/support/contract.py`` prints which
mistakes of `wrong_attentions` each check finds.
"""

import inspect
import math
import re
from unittest import mock

import numpy as np
import torch

import qkv.blockwise
from qkv import KVCache

CHECKS = {}  # name -> the check, with attributes tag and torch_only
LIMIT = {"float16": 1e-2, "bfloat16": 8e-2, "float32": 1e-5, "float64": 1e-10}


def check(tag, *, torch_only=False):
    """Register a check under its name."""

    def register(function):
        function.tag, function.torch_only = tag, torch_only
        CHECKS[function.__name__] = function
        return function

    return register


def applicable(array, *tags):
    """Names of the checks with these tags that make sense for `array`."""
    return [
        name
        for name, one in CHECKS.items()
        if one.tag in tags and (array is torch_array or not one.torch_only)
    ]


def examine(attention, array, tags=("maths", "contract")):
    """Put a function through the battery: name of each failed check, why."""
    problems = {}
    for name in applicable(array, *tags):
        try:
            CHECKS[name](attention, array)
        except Exception as problem:
            problems[name] = f"{type(problem).__name__}: {problem}"
    return problems


def numpy_array(x, dtype="float64"):
    """Make an ndarray; booleans stay what they are."""
    x = np.asarray(x)
    return x.copy() if x.dtype == bool else x.astype(dtype)


def torch_array(x, dtype="float64"):
    """Make a tensor; booleans stay what they are."""
    x = torch.tensor(np.asarray(x))
    return x if x.dtype == torch.bool else x.to(getattr(torch, dtype))


def plain(x):
    """Bring any array back to NumPy, float64."""
    return np.asarray(
        x.detach().double() if isinstance(x, torch.Tensor) else x, float
    )


# ------------------------------------------------------------ what is right


def loops(query, key, value, *, allowed=True, bias=0, scale=None, softcap=0):
    """Attention one number at a time: output (B, H, L, d_v), weights.

    Key and value may have fewer heads: head h reads head h // (H // H_kv).
    """
    *lead, L, d_k = query.shape
    S, d_v = value.shape[-2:]
    scale = d_k**-0.5 if scale is None else scale
    output, weights = np.zeros((*lead, L, d_v)), np.zeros((*lead, L, S))
    allowed = np.broadcast_to(allowed, weights.shape)
    bias = np.broadcast_to(bias, weights.shape)
    for b, h, i in np.ndindex(*lead, L):
        head = h // (lead[1] // key.shape[1])
        scores = {}
        for j in range(S):
            score = scale * sum(
                query[b, h, i, c] * key[b, head, j, c] for c in range(d_k)
            )
            if softcap:
                score = softcap * math.tanh(score / softcap)
            if allowed[b, h, i, j] and bias[b, h, i, j] > -math.inf:
                scores[j] = score + bias[b, h, i, j]
        largest = max(scores.values(), default=0)
        total = sum(math.exp(score - largest) for score in scores.values())
        for j, score in scores.items():
            weights[b, h, i, j] = math.exp(score - largest) / total
            for c in range(d_v):
                output[b, h, i, c] += (
                    weights[b, h, i, j] * value[b, head, j, c]
                )
    return output, weights


def same(actual, expected, about, *, dtype="float64", suspects=None):
    """Assert closeness; if not, say which suspect's result it looks like."""
    actual, expected = plain(actual), np.asarray(expected, float)
    assert actual.shape == expected.shape, (
        f"{about}: shape {actual.shape}, expected {expected.shape}"
    )
    limit = LIMIT[dtype] * max(1, np.abs(expected).max(initial=0))
    off = np.abs(actual - expected)
    if (off <= limit).all():
        return
    with np.errstate(all="ignore"):
        suspected = suspects() if suspects else {}
    for mistake, result in suspected.items():
        if np.allclose(actual, result, atol=limit, rtol=0):
            raise AssertionError(f"{about}: {mistake}")
    bad = np.isnan(actual).sum()
    raise AssertionError(
        f"{about}: {bad} of {actual.size} are NaN"
        if bad
        else f"{about}: off by up to {off.max():.3g}"
    )


def refuses(error, words, function, *args, **options):
    """Assert that a call raises `error`, its message with all `words`."""
    try:
        function(*args, **options)
    except Exception as raised:
        said = f"{type(raised).__name__}: {raised}"
        assert isinstance(raised, error), f"not a {error.__name__}: {said}"
        missing = [
            word
            for word in words  # whole ones: "key" is not in "keys"
            if not re.search(rf"(?<!\w){re.escape(word)}(?!\w)", said)
        ]
        assert not missing, f"message lacks {missing}: {said}"
    else:
        raise AssertionError(f"accepted silently, {error.__name__} expected")


def blockwise(query, key, value, *args, return_weights=False, **options):
    """Call `qkv.blockwise` with blocks so small that a check needs several.

    Four queries, two with is_causal, and heads up to 60 scores. It has no
    weights to return: they are its output where the values are the rows of
    the identity matrix.
    """
    attention = qkv.blockwise.scaled_dot_product_attention
    with mock.patch.multiple(qkv.blockwise, ROWS=4, SCORES=60):
        output = attention(query, key, value, *args, **options)
        if not return_weights:
            return output
        each = np.broadcast_to(
            np.eye(key.shape[-2], dtype=key.dtype),
            (*value.shape[:-1], key.shape[-2]),
        )
        return output, attention(query, key, each, *args, **options)


# ------------------------------------------------------- rectangular fixtures

RNG = np.random.default_rng(20)
B, H, L, S, D_K, D_V = 2, 3, 5, 7, 4, 6
Q = RNG.normal(size=(B, H, L, D_K)) * 1.5
K = RNG.normal(size=(B, H, S, D_K)) * 1.5
V = RNG.normal(size=(B, H, S, D_V))
ALLOWED = RNG.random((L, S)) < 0.6  # rows and columns all differ
ALLOWED[np.arange(L), np.arange(L)] = True  # no empty row
BIAS = RNG.normal(size=(L, S))
EMPTY = ALLOWED.copy()
EMPTY[2] = False
KS, VS = K[..., :L, :], V[..., :L, :]  # as many keys as queries, for causal
TRI = np.tri(L, dtype=bool)
MANY = RNG.normal(size=(B, 6, L, D_K)) * 1.5  # six query heads
FEW = K[:, :2], V[:, :2]  # on two key and value heads


def arrays(array, *inputs, dtype="float64"):
    return [array(x, dtype) for x in inputs]


def as_bias(allowed):
    return np.where(allowed, 0, -np.inf)


# --------------------------------------------------------------- the formula


@check("maths")
def hand_worked(attention, array):
    """Scores ln 1, ln 2, ln 5 have weights 1/8, 2/8, 5/8."""
    query = np.array([[[[2.0, 0, 0, 0]]]])  # over sqrt(4): the key itself
    key = np.array([[[[0, 1.0, 9, 0], [math.log(2), 3, 0, 0], [0, 2, 0, 7]]]])
    key[..., 2, 0] = math.log(5)
    value = np.array([[[[8.0, 0], [0, 8], [16, -8]]]])
    output = attention(*arrays(array, query, key, value))
    same(output, [[[[11, -3]]]], "1/8 (8, 0) + 2/8 (0, 8) + 5/8 (16, -8)")


@check("maths")
def default_scale(attention, array):
    """Scores are multiplied by 1/√d_k, whatever the other widths are."""

    def suspects():
        scales = {
            "1/d_k": 1 / D_K,
            "1, no scaling at all": 1,
            "√d_k, multiplied instead of divided": D_K**0.5,
            "1/√d_model, the heads merged": (H * D_K) ** -0.5,
            "1/√heads": H**-0.5,
            "1/√S": S**-0.5,
            "1/√L": L**-0.5,
            "1/√d_v": D_V**-0.5,
        }
        found = {
            f"scale looks like {words}, not 1/√d_k": loops(
                Q, K, V, scale=scale
            )[0]
            for words, scale in scales.items()
        }
        unscaled = loops(Q, K, V, scale=1)[0] / D_K**0.5
        return {**found, "scaled after the softmax": unscaled}

    output = attention(*arrays(array, Q, K, V))
    same(output, loops(Q, K, V)[0], "default scale", suspects=suspects)


@check("maths")
def custom_scale(attention, array):
    """`scale` replaces 1/√d_k, also where it is 0 or negative."""
    for scale in (0.3, 0.0, -1.5):
        output = attention(*arrays(array, Q, K, V), scale=scale)
        same(
            output,
            loops(Q, K, V, scale=scale)[0],
            f"scale={scale}",
            suspects=lambda scale=scale: {
                "scale is ignored": loops(Q, K, V)[0],
                "1/√d_k is applied as well": loops(
                    Q, K, V, scale=scale * D_K**-0.5
                )[0],
            },
        )


@check("maths")
def softmax_over_keys(attention, array):
    """The softmax runs along the keys, not along any other axis."""
    scores = np.einsum("bhik,bhjk->bhij", Q, K) / D_K**0.5

    def suspects():
        e, names = np.exp(scores), ("batch", "heads", "queries")
        return {
            f"softmax over the {name}, not over the keys": (
                e / e.sum(axis, keepdims=True) @ V
            )
            for axis, name in enumerate(names)
        }

    output = attention(*arrays(array, Q, K, V))
    same(output, loops(Q, K, V)[0], "softmax", suspects=suspects)


@check("maths")
def rows_sum_to_one(attention, array):
    """Values that are all 1 come out as 1, with and without a mask."""
    ones = np.ones_like(V)
    for mask in (None, array(ALLOWED), array(as_bias(ALLOWED))):
        output = attention(*arrays(array, Q, K, ones), attn_mask=mask)
        words = "weights do not sum to 1 over the keys"
        words += "" if mask is None else " once masked"
        same(output, np.ones_like(output), words)


@check("maths")
def roles_of_key_and_value(attention, array):
    """Keys are only compared with, values only handed over."""
    inputs = Q, K, V[..., :D_K]  # d_v = d_k, so that roles could be mixed up
    output = attention(*arrays(array, *inputs))
    same(
        output,
        loops(*inputs)[0],
        "roles",
        suspects=lambda: {
            "the keys are handed over as values": loops(Q, K, K)[0],
            "key and value are swapped": loops(Q, inputs[2], K)[0],
        },
    )


@check("maths")
def one_key(attention, array):
    """With a single key there is no choice: the output is its value."""
    key, value = K[..., :1, :], V[..., :1, :]
    output = attention(*arrays(array, Q, key, value))
    same(output, np.repeat(value, L, axis=-2), "the only value")


@check("maths")
def no_keys(attention, array):
    """S = 0: every row is empty, so the output is 0."""
    output = attention(*arrays(array, Q, K[..., :0, :], V[..., :0, :]))
    same(output, np.zeros((B, H, L, D_V)), "no key at all")


@check("maths")
def permuted_queries(attention, array):
    """Permuting the queries permutes the outputs and nothing else."""
    order = [3, 0, 4, 1, 2]
    output = plain(attention(*arrays(array, Q, K, V)))
    permuted = attention(*arrays(array, Q[..., order, :], K, V))
    same(permuted, output[..., order, :], "a query's place matters")


@check("maths")
def permuted_keys(attention, array):
    """Permuting keys and values together changes nothing."""
    order = [6, 2, 0, 5, 1, 4, 3]
    output = plain(attention(*arrays(array, Q, K, V)))
    permuted = attention(*arrays(array, Q, K[..., order, :], V[..., order, :]))
    same(permuted, output, "a key's place matters")


@check("maths")
def batch_and_heads_apart(attention, array):
    """A batch entry and a head see nothing of the others."""
    whole = plain(attention(*arrays(array, Q, K, V)))
    one = attention(*arrays(array, Q[1:], K[1:], V[1:]))
    same(one, whole[1:], "attends across the batch")
    one = attention(*arrays(array, Q[:, 2:], K[:, 2:], V[:, 2:]))
    same(one, whole[:, 2:], "attends across heads")


@check("maths")
def leading_dimensions(attention, array):
    """(L, d) and (B, L, d) work; a key batch of 1 serves all."""
    full = loops(Q, K, V)[0]
    output = attention(*arrays(array, Q[0, 1], K[0, 1], V[0, 1]))
    same(output, full[0, 1], "no batch, no heads")
    output = attention(*arrays(array, Q[1], K[1], V[1]))
    same(output, full[1], "one leading dimension")
    output = attention(
        *arrays(array, Q[0, 1], KS[0, 1], VS[0, 1]), None, is_causal=True
    )
    expected = loops(Q, KS, VS, allowed=TRI)[0]
    same(output, expected[0, 1], "no batch, no heads, is_causal")
    output = attention(
        *arrays(array, MANY[1], FEW[0][1], FEW[1][1]), enable_gqa=True
    )
    same(output, loops(MANY, *FEW)[0][1], "heads without a batch")
    output = attention(*arrays(array, Q, K[:1], V[:1]))
    shared = np.repeat(K[:1], B, 0), np.repeat(V[:1], B, 0)
    same(output, loops(Q, *shared)[0], "one source for the whole batch")


@check("maths")
def inputs_untouched(attention, array):
    """The caller's arrays are not changed in place."""
    inputs = arrays(array, Q, K, V, BIAS)
    attention(*inputs[:3], attn_mask=inputs[3])
    names = ("query", "key", "value", "attn_mask")
    for name, after, before in zip(
        names, inputs, (Q, K, V, BIAS), strict=True
    ):
        same(after, before, f"{name} was changed in place")


# -------------------------------------------------------------------- masks


@check("maths")
def boolean_mask(attention, array):
    """True may attend; what is False has weight 0, the rest is shared."""
    scores = np.einsum("bhik,bhjk->bhij", Q, K) / D_K**0.5

    def suspects():
        weights = loops(Q, K, V)[1]
        filled = np.where(ALLOWED, scores, 0)
        return {
            "polarity is inverted: True must mean 'may attend'": loops(
                Q, K, V, allowed=~ALLOWED
            )[0],
            "the mask is not used": loops(Q, K, V)[0],
            "the 0/1 mask is added to the scores": loops(
                Q, K, V, bias=ALLOWED
            )[0],
            "forbidden scores are set to 0, which is not 'never'": (
                np.exp(filled) / np.exp(filled).sum(-1, keepdims=True) @ V
            ),
            "masked after the softmax, without renormalising": (
                weights * ALLOWED @ V
            ),
        }

    output = attention(*arrays(array, Q, K, V), attn_mask=array(ALLOWED))
    expected = loops(Q, K, V, allowed=ALLOWED)[0]
    same(output, expected, "boolean mask", suspects=suspects)


@check("maths")
def float_mask(attention, array):
    """A float mask is added to the scaled scores; -inf means never."""
    bias = np.where(ALLOWED, BIAS, -np.inf)
    output = attention(*arrays(array, Q, K, V), attn_mask=array(bias))
    same(
        output,
        loops(Q, K, V, bias=bias)[0],
        "float mask",
        suspects=lambda: {
            "the mask is not used": loops(Q, K, V)[0],
            "only -inf is seen, finite values are not added": loops(
                Q, K, V, allowed=ALLOWED
            )[0],
            "added before scaling": loops(Q, K, V, bias=bias / D_K**0.5)[0],
            "subtracted": loops(Q, K, V, bias=as_bias(ALLOWED) - BIAS)[0],
        },
    )


@check("maths")
def masks_broadcast(attention, array):
    """A mask may be any shape that broadcasts to (B, H, L, S)."""
    rng = np.random.default_rng(3)
    for shape in ((1, S), (L, 1), (H, L, S), (B, 1, 1, S), (1, H, 1, S),
                  (B, 1, L, S), (B, H, L, S)):  # fmt: skip
        allowed = rng.random(shape) < 0.7
        output = attention(*arrays(array, Q, K, V), attn_mask=array(allowed))
        expected = loops(Q, K, V, allowed=allowed)[0]
        same(output, expected, f"mask of shape {shape}")


@check("maths")
def hidden_keys_have_no_influence(attention, array):
    """Whatever stands at a forbidden key changes nothing."""
    allowed = np.arange(S) < 4
    mask = array(np.tile(allowed, (L, 1)))
    loud = np.where(allowed[:, None], 1, 1e3)  # the padding shouts
    output = attention(*arrays(array, Q, K * loud, V * loud), attn_mask=mask)
    short = loops(Q, K[..., :4, :], V[..., :4, :])[0]
    same(output, short, "forbidden keys leak into the output")


@check("maths")
def causal(attention, array):
    """Query i sees keys 0 to i, itself included."""

    def suspects():
        found = {
            f"off by one: {words}": loops(
                Q, KS, VS, allowed=np.tri(L, k=k, dtype=bool)
            )[0]
            for words, k in {
                "a query does not see itself": -1,
                "a query sees one key of the future": 1,
            }.items()
        }
        found["the future instead of the past"] = loops(
            Q, KS, VS, allowed=TRI.T
        )[0]
        found["is_causal is ignored"] = loops(Q, KS, VS)[0]
        return found

    output = attention(*arrays(array, Q, KS, VS), is_causal=True)
    expected = loops(Q, KS, VS, allowed=TRI)[0]
    same(output, expected, "is_causal", suspects=suspects)


@check("maths")
def empty_rows(attention, array):
    """A row with no allowed key gives output 0."""
    for mask in (EMPTY, as_bias(EMPTY)):
        output = attention(*arrays(array, Q, K, V), attn_mask=array(mask))
        row = plain(output)[..., 2, :]
        assert not np.isnan(row).any(), "NaN in a row with no allowed key"
        mean = V.mean(-2)
        assert not np.allclose(row, mean), "an empty row gives the mean value"
        expected = loops(Q, K, V, allowed=EMPTY)[0]
        same(output, expected, "a row with no allowed key")


@check("maths")
def grouped_queries(attention, array):
    """Each key/value head serves a block of consecutive query heads."""
    output = attention(*arrays(array, MANY, *FEW), enable_gqa=True)
    wrong = np.tile(FEW[0], (1, 3, 1, 1)), np.tile(FEW[1], (1, 3, 1, 1))
    same(
        output,
        loops(MANY, *FEW)[0],
        "grouped queries",
        suspects=lambda: {
            "heads are tiled (0 1 0 1 …), not repeated (0 0 … 1 1 …)": (
                loops(MANY, *wrong)[0]
            )
        },
    )


# --------------------------------------------------------- numbers, gradients


@check("maths")
def scores_of_ten_thousand(attention, array):
    """Scores of ±1e4 give finite, sharp weights."""
    query = 1e3 * np.array([[1, 0, 0, 0], [-1, 0, 0, 0]])[None, None]
    key = 1e2 * np.array([[1, 0, 0, 0], [0.9, 0, 0, 0], [0.5, 0, 0, 0]])
    value = V[:1, :1, :3]
    for dtype in ("float64", "float32", "float16"):
        inputs = arrays(array, query, key[None, None], value, dtype=dtype)
        output = plain(attention(*inputs, scale=0.1))
        assert np.isfinite(output).all(), (
            f"scores of ±1e4 overflow in {dtype}: subtract the largest before "
            "exp, scale before the product"
        )
        expected = value[..., [0, 2], :]  # the largest score wins
        same(output, expected, f"scores of ±1e4 in {dtype}", dtype=dtype)


@check("maths")
def hidden_score_is_the_largest(attention, array):
    """A forbidden score far above the others does not drown them."""
    query = np.full((1, 1, 1, D_K), 50.0)
    key = np.array([50.0, -50, -50])[:, None] * np.ones(D_K)
    mask = array(np.array([[False, True, True]]))
    inputs = arrays(array, query, key[None, None], V[:1, :1, :3])
    output = attention(*inputs, attn_mask=mask)
    mean = V[:1, :1, 1:3].mean(-2, keepdims=True)
    same(output, mean, "allowed scores vanish beside a forbidden one")


def half(attention, array, dtype):
    q, k, v, bias = (plain(array(x, dtype)) for x in (Q, K, V, as_bias(EMPTY)))
    for mask in (None, EMPTY, bias):
        given = None if mask is None else array(mask, dtype)
        inputs = arrays(array, q, k, v, dtype=dtype)
        output = attention(*inputs, attn_mask=given)
        assert output.dtype == inputs[0].dtype, (
            f"{dtype} came back as {output.dtype}"
        )
        allowed = True if mask is None else EMPTY
        expected = loops(q, k, v, allowed=allowed)[0]
        same(output, expected, dtype, dtype=dtype)


@check("maths")
def float16(attention, array):
    """float16 works with every kind of mask and stays float16."""
    half(attention, array, "float16")


@check("maths", torch_only=True)
def bfloat16(attention, array):
    """bfloat16 works with every kind of mask and stays bfloat16."""
    half(attention, array, "bfloat16")


@check("maths")
def float32_stays(attention, array):
    """Nothing turns float32 into float64 on the way."""
    inputs = arrays(array, Q, K, V, dtype="float32")
    output = attention(*inputs)
    assert output.dtype == inputs[0].dtype, (
        f"float32 came back as {output.dtype}: np.sqrt upcasts, use math.sqrt"
    )
    same(output, loops(Q, K, V)[0], "float32", dtype="float32")
    output = attention(*inputs, scale=np.float64(0.3))
    assert output.dtype == inputs[0].dtype, f"scale turns it {output.dtype}"


def slopes(attention, array, mask, **allowed):
    """Compare gradients with differences of `loops`, input by input."""
    inputs = [array(x).requires_grad_() for x in (Q, K, V)]
    probe = np.random.default_rng(5).normal(size=(B, H, L, D_V))
    output = attention(*inputs, attn_mask=mask)
    (output * array(probe)).sum().backward()
    for n, name in enumerate(("query", "key", "value")):
        slope = inputs[n].grad
        assert slope is not None, f"no gradient reaches the {name}"
        assert not slope.isnan().any(), f"NaN in the gradient of the {name}"
        step = np.random.default_rng(n).normal(size=inputs[n].shape) * 1e-4
        moved = [
            [x + sign * step if m == n else x for m, x in enumerate((Q, K, V))]
            for sign in (1, -1)
        ]
        rise = [(loops(*x, **allowed)[0] * probe).sum() for x in moved]
        same(
            (plain(slope) * step).sum() * 1e4,
            (rise[0] - rise[1]) / 2e-4,
            f"gradient of the {name}",
            dtype="float32",  # as exact as differences are
        )
    return plain(inputs[0].grad)


@check("maths", torch_only=True)
def gradients(attention, array):
    """Gradients of query, key and value are those of the formula."""
    slopes(attention, array, None)


@check("maths", torch_only=True)
def gradients_with_an_empty_row(attention, array):
    """An empty row has gradient 0 and spoils no other row's gradient."""
    for mask in (EMPTY, as_bias(EMPTY)):
        slope = slopes(attention, array, array(mask), allowed=EMPTY)
        assert not slope[..., 2, :].any(), "an empty row has a gradient"


# ------------------------------------------------------------------ dropout


@check("maths", torch_only=True)
def no_dropout_unasked(attention, array):
    """Without `dropout_p` two calls give the same, undropped result."""
    first, second = (attention(*arrays(array, Q, K, V)) for _ in range(2))
    same(first, plain(second), "random although no dropout was asked for")
    same(first, loops(Q, K, V)[0], "dropped although not asked to")


@check("maths", torch_only=True)
def dropout_when_asked(attention, array):
    """A weight is dropped with probability p or divided by 1 - p."""
    eye = np.broadcast_to(np.eye(S), (B, H, S, S))  # output = weights used
    torch.manual_seed(0)
    output = plain(attention(*arrays(array, Q, K, eye), dropout_p=0.25))
    weights, kept = loops(Q, K, eye)[1], output != 0
    assert not kept.all(), "dropout_p is ignored"
    grown = output[kept] / weights[kept]
    assert not np.allclose(grown, 1), "kept weights are not divided by 1 - p"
    assert np.allclose(grown, 1 / 0.75), "kept weights are not w / (1 - p)"
    assert 0.65 < kept.mean() < 0.85, f"kept {kept.mean():.2f}, not 0.75"


@check("contract", torch_only=True)
def weights_before_dropout(attention, array):
    """The weights returned are those before dropout."""
    _, weights = attention(
        *arrays(array, Q, K, V), dropout_p=0.5, return_weights=True
    )
    expected = loops(Q, K, V)[1]
    same(weights, expected, "weights returned after dropout")


# ------------------------------------------------------- weights, both paths


@check("contract")
def weights_per_head(attention, array):
    """`return_weights` gives (B, H, L, S): rows are queries and sum to 1."""
    _, weights = attention(*arrays(array, Q, K, V), return_weights=True)
    shape = tuple(weights.shape)
    assert shape != (B, L, S), "weights are averaged over the heads"
    assert shape == (B, H, L, S), f"weights have shape {shape}"
    same(weights, loops(Q, K, V)[1], "weights")
    _, weights = attention(
        *arrays(array, MANY, *FEW), enable_gqa=True, return_weights=True
    )
    same(weights, loops(MANY, *FEW)[1], "weights of grouped queries")


@check("contract")
def weights_times_value_is_output(attention, array):
    """The weights returned are the ones that made the output."""
    for mask in (ALLOWED, BIAS, EMPTY):
        output, weights = attention(
            *arrays(array, Q, K, V),
            attn_mask=array(mask),
            return_weights=True,
        )
        made = plain(weights) @ V
        same(output, made, "weights @ value is not the output")


@check("contract")
def weights_of_masked_keys(attention, array):
    """A forbidden key has weight exactly 0, an empty row only those."""
    for mask in (EMPTY, as_bias(EMPTY)):
        _, weights = attention(
            *arrays(array, Q, K, V),
            attn_mask=array(mask),
            return_weights=True,
        )
        weights = plain(weights)
        assert not np.isnan(weights).any(), "NaN in the weights"
        assert not weights[..., 2, :].any(), "an empty row has weights"
        assert not weights[..., ~EMPTY].any(), "weight on a forbidden key"
        same(weights, loops(Q, K, V, allowed=EMPTY)[1], "masked weights")


@check("contract")
def same_with_and_without_weights(attention, array):
    """Asking for the weights does not change the output."""
    cases = [
        (Q, K, V, {}),
        (Q, K, V, {"attn_mask": array(EMPTY), "scale": 0.7}),
        (Q, K, V, {"attn_mask": array(BIAS)}),
        (Q, KS, VS, {"is_causal": True}),
        (MANY, *FEW, {"enable_gqa": True}),
    ]
    for *inputs, options in cases:
        output = attention(*arrays(array, *inputs), **options)
        computed, _ = attention(
            *arrays(array, *inputs), **options, return_weights=True
        )
        words = f"return_weights changes the output ({', '.join(options)})"
        same(computed, plain(output), words)


# ------------------------------------------------- beyond torch's own function


@check("contract")
def mask_and_causal_together(attention, array):
    """With `attn_mask` and `is_causal` a key must be allowed by both."""
    padding = np.arange(L) < np.array([4, 3])[:, None, None, None]
    for mask, allowed in (
        (ALLOWED[:, :L], ALLOWED[:, :L]),
        (padding, padding),
        (as_bias(ALLOWED[:, :L]), ALLOWED[:, :L]),
    ):
        output = attention(
            *arrays(array, Q, KS, VS), attn_mask=array(mask), is_causal=True
        )
        same(
            output,
            loops(Q, KS, VS, allowed=allowed & TRI)[0],
            "attn_mask and is_causal",
            suspects=lambda allowed=allowed: {
                "is_causal is ignored": loops(Q, KS, VS, allowed=allowed)[0],
                "attn_mask is ignored": loops(Q, KS, VS, allowed=TRI)[0],
                "one of them is enough": loops(
                    Q, KS, VS, allowed=allowed | TRI
                )[0],
            },
        )


@check("contract")
def causal_needs_equal_lengths(attention, array):
    """L ≠ S is refused, with the mask that says what is meant."""
    for inputs in ((Q, K, V), (Q, K[..., :3, :], V[..., :3, :])):
        words = f"causal_mask({L}, {inputs[1].shape[-2]}) lets the last query"
        words = [words, "see the last key"]
        inputs = arrays(array, *inputs)
        refuses(ValueError, words, attention, *inputs, is_causal=True)


@check("contract")
def softcap_squashes_scores(attention, array):
    """softcap · tanh(score / softcap), after scaling, before the mask."""
    for cap in (2.0, 0.5):
        bias = np.where(EMPTY, BIAS, -np.inf)
        scores = np.einsum("bhik,bhjk->bhij", Q, K) / D_K**0.5

        def after_mask(scores=scores, bias=bias, cap=cap):
            e = np.exp(cap * np.tanh((scores + bias) / cap))
            return e / e.sum(-1, keepdims=True) @ V

        for mask in (None, bias):
            output = attention(
                *arrays(array, Q, K, V),
                attn_mask=None if mask is None else array(mask),
                softcap=cap,
            )
            added = 0 if mask is None else bias
            same(
                output,
                loops(Q, K, V, bias=added, softcap=cap)[0],
                f"softcap={cap}",
                suspects=lambda added=added, after=after_mask: {
                    "softcap is ignored": loops(Q, K, V, bias=added)[0],
                    "capped after the mask: forbidden keys leak": after(),
                },
            )
    output = attention(*arrays(array, Q, KS, VS), softcap=1.0, is_causal=True)
    expected = loops(Q, KS, VS, allowed=TRI, softcap=1.0)[0]
    same(output, expected, "softcap with is_causal")
    inputs = arrays(array, Q, K, V, dtype="float32")
    output = attention(*inputs, softcap=np.float64(2))
    assert output.dtype == inputs[0].dtype, f"softcap turns it {output.dtype}"


@check("contract")
def softcap_must_be_positive(attention, array):
    """A softcap of 0 divides by 0, a negative one means nothing new."""
    for cap in (0.0, -1.0, math.nan):
        inputs = arrays(array, Q, K, V)
        refuses(ValueError, ["softcap"], attention, *inputs, softcap=cap)


@check("contract")
def one_dimensional_mask(attention, array):
    """A mask of shape (S,) holds for every query."""
    allowed = np.array([1, 0, 1, 1, 0, 1, 0], bool)
    for mask in (allowed, as_bias(allowed)):
        output = attention(*arrays(array, Q, K, V), attn_mask=array(mask))
        expected = loops(Q, K, V, allowed=allowed)[0]
        same(output, expected, "mask of shape (S,)")
        inputs = arrays(array, Q[1], K[1], V[1])
        output = attention(*inputs, attn_mask=array(mask))
        same(output, expected[1], "mask of shape (S,), one leading dimension")


@check("contract", torch_only=True)
def numpy_masks(attention, array):
    """The torch functions take NumPy masks too, in any precision."""
    bias = np.where(ALLOWED, BIAS, -np.inf)
    fixed = np.broadcast_to(ALLOWED, (B, 1, L, S))  # a read-only view
    flipped = ALLOWED[:, ::-1].copy()[:, ::-1]  # one with negative strides
    for mask, how in (
        (ALLOWED, {"allowed": ALLOWED}),
        (fixed, {"allowed": ALLOWED}),
        (flipped, {"allowed": ALLOWED}),
        (bias, {"bias": bias}),
    ):
        inputs = arrays(array, Q, K, V, dtype="float32")
        output = attention(*inputs, attn_mask=mask)
        assert output.dtype == torch.float32, f"now {output.dtype}"
        expected = loops(Q, K, V, **how)[0]
        same(output, expected, "NumPy mask", dtype="float32")


@check("contract")
def mask_precision(attention, array):
    """A float64 mask does not turn float32 into float64."""
    inputs = arrays(array, Q, K, V, dtype="float32")
    output = attention(*inputs, attn_mask=array(BIAS, "float64"))
    assert output.dtype == inputs[0].dtype, f"mask turns it {output.dtype}"
    expected = loops(Q, K, V, bias=BIAS)[0]
    same(output, expected, "float64 mask on float32", dtype="float32")


# ------------------------------------------------------------------- errors


@check("contract")
def refuses_what_is_not_floating(attention, array):
    """Integers have no softmax; the message names the argument."""
    for n, name in enumerate(("query", "key", "value")):
        inputs = arrays(array, Q, K, V)
        inputs[n] = array(inputs[n], "int64")
        words = [name, "int64", "floating"]
        refuses(TypeError, words, attention, *inputs)
        inputs[n] = "no array at all"
        refuses(TypeError, [name], attention, *inputs)


@check("contract")
def refuses_mixed_precision(attention, array):
    """All three in one dtype; the message gives both."""
    for n, name in ((1, "key"), (2, "value")):
        inputs = arrays(array, Q, K, V)
        inputs[n] = array(inputs[n], "float32")
        words = [name, "float32", "float64"]
        refuses(TypeError, words, attention, *inputs)


@check("contract")
def refuses_shapes_that_do_not_fit(attention, array):
    """Widths, lengths, batches; the message names arguments and shapes."""
    flat = Q[0, 0, 0], K[0, 0, 0], V[0, 0, 0]
    for q, k, v, words in (
        (Q, K[..., :3], V, ["query and key need the same width d_k"]),
        (Q[..., :0], K[..., :0], V, ["d_k > 0"]),
        (Q, K, V[..., :6, :], ["key and value need the same length S"]),
        (flat[0], K, V, ["query", "two dimensions"]),
        (Q, flat[1], V, ["key", "two dimensions"]),
        (Q, K, flat[2], ["value", "two dimensions"]),
        (Q, K[[0, 0, 1]], V[[0, 0, 1]], ["query, key and value differ"]),
        (Q, K, V[[0, 0, 1]], ["batch or heads"]),
    ):
        shapes = [str(x.shape) for x in (q, k, v)]
        refuses(ValueError, words + shapes, attention, *arrays(array, q, k, v))


@check("contract")
def refuses_head_counts(attention, array):
    """Fewer key heads only with `enable_gqa`, and they must divide."""
    for k, v in (FEW, (K[:, :2], V), (K, V[:, :2])):
        words = ["heads", "enable_gqa=True", str(k.shape), str(v.shape)]
        inputs = arrays(array, Q, k, v)
        refuses(ValueError, words, attention, *inputs)
    for q, k, v, name in (
        (MANY[:, :5], *FEW, "key"),
        (MANY[:, :4], FEW[0], V, "value"),
        (MANY, K[:, :0], V[:, :0], "key"),
        (MANY[:, :5], K[:, :0], V[:, :0], "key"),
        (MANY[:, :2], K[:, :0], V[:, :0], "key"),
        (MANY[:, 0], K[0, 0], V[0, 0], "key"),
        (MANY[0, 0], K[0], V[0], "key"),
    ):
        words = [f"{name} heads must divide", str(q.shape), str(k.shape)]
        inputs = arrays(array, q, k, v)
        refuses(ValueError, words, attention, *inputs, enable_gqa=True)
    inputs = arrays(array, MANY, *(x[[0, 0, 1]] for x in FEW))
    words = ["batch", "(3, 2, 7, 4)"]
    refuses(ValueError, words, attention, *inputs, enable_gqa=True)


@check("contract")
def refuses_masks_that_do_not_fit(attention, array):
    """Neither boolean nor float, not broadcasting, or widening the batch."""
    inputs = arrays(array, Q, K, V)
    number = array(ALLOWED.astype(int), "int64")
    words = ["attn_mask", "boolean", "int64"]
    refuses(TypeError, words, attention, *inputs, attn_mask=number)
    words = ["attn_mask"]
    refuses(TypeError, words, attention, *inputs, attn_mask="causal")
    for shape in ((L, S - 1), (S, L), (B, S), (H, 1, L, S), (1, B, H, L, S)):
        mask = array(np.ones(shape, bool))
        words = ["attn_mask", str(shape), str((B, H, L, S))]
        refuses(ValueError, words, attention, *inputs, attn_mask=mask)
    inputs = arrays(array, Q[:1], K[:1], V[:1])
    mask = array(np.ones((B, 1, 1, S), bool))
    words = ["attn_mask", str((B, 1, 1, S)), str((1, H, L, S))]
    refuses(ValueError, words, attention, *inputs, attn_mask=mask)


@check("contract", torch_only=True)
def refuses_impossible_dropout(attention, array):
    """A probability lies between 0 and 1, both included; True is none."""
    inputs = arrays(array, Q, K, V)
    refuses(TypeError, ["dropout_p"], attention, *inputs, dropout_p=True)
    for p in (-0.1, 1.1):
        words = ["dropout_p", str(p)]
        for options in ({}, {"return_weights": True}):
            refuses(
                ValueError, words, attention, *inputs, dropout_p=p, **options
            )
    output = attention(*inputs, dropout_p=1.0)
    same(output, np.zeros((B, H, L, D_V)), "dropout_p=1.0 drops everything")


@check("contract")
def bools_are_no_numbers(attention, array):
    """True is no scale, "no" no switch, a number no switch either."""
    inputs = arrays(array, Q, KS, VS)
    for options in (
        {"scale": True}, {"softcap": True}, {"scale": "0.5"},
        {"scale": np.ones(1)}, {"is_causal": "no"}, {"is_causal": 1},
        {"is_causal": None}, {"is_causal": np.True_}, {"enable_gqa": 0},
    ):  # fmt: skip
        [name] = options
        refuses(TypeError, [name], attention, *inputs, **options)


@check("contract")
def options_are_numbers_that_the_dtype_has(attention, array):
    """Infinity, NaN and what overflows or vanishes in float32."""
    for dtype, options in (
        ("float64", {"softcap": math.inf}), ("float64", {"scale": math.inf}),
        ("float64", {"scale": math.nan}), ("float32", {"softcap": 1e39}),
        ("float32", {"scale": -1e39}), ("float32", {"softcap": 1e-46}),
        ("float16", {"softcap": 1e39}),
    ):  # fmt: skip
        [(name, number)] = options.items()
        inputs = arrays(array, Q, K, V, dtype=dtype)
        refuses(ValueError, [name, str(number)], attention, *inputs, **options)
    inputs = arrays(array, Q, K, V)
    output = attention(*inputs, softcap=1e39)  # float64 has that number
    same(output, loops(Q, K, V, softcap=1e39)[0], "softcap=1e39")
    output = attention(*inputs, softcap=2, scale=np.float32(0.5))
    same(output, loops(Q, K, V, softcap=2, scale=0.5)[0], "an integer")


@check("maths")
def options_have_names(attention, array):
    """`scale` by position would be taken for something else."""
    inputs = arrays(array, Q, KS, VS)
    named = (None, 0.0, False) if array is torch_array else (None,)
    try:
        attention(*inputs, *named, 0.5)
    except TypeError:
        return
    raise AssertionError("an option behind torch's order has no name")


@check("contract")
def masked_arrays_are_refused(attention, array):
    """np.ma hides what its mask says, in the opposite sense: no guessing."""
    if array is numpy_array:
        for n, name in enumerate(("query", "key", "value")):
            inputs = arrays(array, Q, K, V)
            inputs[n] = np.ma.masked_array(inputs[n])
            refuses(TypeError, [name, "masked"], attention, *inputs)
    mask = np.ma.masked_array(ALLOWED, mask=~ALLOWED)
    words = ["attn_mask", "masked"]
    inputs = arrays(array, Q, K, V)
    refuses(TypeError, words, attention, *inputs, attn_mask=mask)


@check("contract", torch_only=True)
def masks_of_any_layout(attention, array):
    """A sparse mask is refused, big-endian numbers are read."""
    inputs = arrays(array, Q, K, V)
    sparse = torch.tensor(ALLOWED).to_sparse()
    words = ["attn_mask", "dense"]
    refuses(TypeError, words, attention, *inputs, attn_mask=sparse)
    foreign = BIAS.astype(">f8")
    output = attention(*inputs, attn_mask=foreign)
    same(output, loops(Q, K, V, bias=BIAS)[0], "a big-endian mask")


# ------------------------------------------- several heads: a class is tested

D_MODEL = H * D_K
X = RNG.normal(size=(B, L, D_MODEL))
SOURCE = RNG.normal(size=(B, S, D_MODEL))


def module(heads, num_heads=H, *rest, **options):
    """Build one in float64, with weights and biases large enough to see."""
    torch.manual_seed(1)
    made = heads(D_MODEL, num_heads, *rest, **options).double().eval()
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.6)
    return made


def by_hand(made, query, source=None, num_heads=H, num_kv_heads=H, **options):
    """Head by head from columns of the four projections: output, weights."""
    source = query if source is None else source

    def project(name, x):
        linear = getattr(made, name)
        return x @ plain(linear.weight).T + plain(linear.bias)

    q, k, v = (
        np.stack(np.split(project(name, x), count, axis=-1), axis=1)
        for name, x, count in (
            ("w_q", query, num_heads),
            ("w_k", source, num_kv_heads),
            ("w_v", source, num_kv_heads),
        )
    )
    output, weights = loops(q, k, v, **options)
    merged = np.concatenate([output[:, h] for h in range(num_heads)], axis=-1)
    return project("w_o", merged), weights


@check("heads", torch_only=True)
def heads_are_slices(heads, array):
    """Head h is columns h·d_k … of the projections, and merged likewise."""
    made = module(heads)
    output = made(array(X))
    same(output, by_hand(made, X)[0], "self-attention, head by head")


@check("heads", torch_only=True)
def cross_attention_roles(heads, array):
    """Queries come from the first input, keys and values from the second."""
    made = module(heads)
    output = made(array(X), array(SOURCE))
    expected = by_hand(made, X, SOURCE)[0]
    same(output, expected, "cross-attention, head by head")


@check("heads", torch_only=True)
def one_sequence_at_a_time(heads, array):
    """A sequence's output does not depend on its neighbours in the batch."""
    made = module(heads)
    both, alone = made(array(X)), made(array(X[1:]))
    same(alone, plain(both)[1:], "attends across the batch")


@check("heads", torch_only=True)
def grouped_heads(heads, array):
    """Two key/value heads serve six query heads, three each."""
    made = module(heads, 6, 2)
    output = made(array(X))
    expected = by_hand(made, X, num_heads=6, num_kv_heads=2)[0]
    same(output, expected, "grouped heads")


@check("heads", torch_only=True)
def weights_of_each_head(heads, array):
    """Weights come back per head, (B, H, L, S)."""
    made = module(heads)
    _, weights = made(array(X), array(SOURCE), return_weights=True)
    shape = tuple(weights.shape)
    assert shape != (B, L, S), "weights are averaged over the heads"
    same(weights, by_hand(made, X, SOURCE)[1], "weights per head")


@check("heads", torch_only=True)
def masked_heads(heads, array):
    """Masks and is_causal reach the attention inside."""
    made = module(heads)
    padding = np.arange(L) < np.array([4, 2])[:, None, None, None]
    output = made(array(X), attn_mask=array(padding), is_causal=True)
    expected = by_hand(made, X, allowed=padding & TRI)[0]
    same(output, expected, "padding and causal, head by head")


@check("heads", torch_only=True)
def dropout_only_in_training(heads, array):
    """eval() switches dropout off, train() on."""
    made = module(heads, dropout=0.5)
    same(made(array(X)), by_hand(made, X)[0], "dropout in evaluation")
    made.train()
    torch.manual_seed(0)
    again = plain(made(array(X)))
    assert not np.allclose(again, by_hand(made, X)[0]), "dropout is ignored"


@check("heads", torch_only=True)
def cached_is_causal(heads, array):
    """A prefill of three and two steps give the full causal pass."""
    made = module(heads)
    cache = KVCache()
    parts = [
        made(array(X[:, a:b]), is_causal=True, cache=cache)
        for a, b in ((0, 3), (3, 4), (4, 5))
    ]
    expected = by_hand(made, X, allowed=TRI)[0]
    same(torch.cat(parts, 1), expected, "with a cache")
    cache = KVCache()
    parts = [
        made(array(X[:, a:b]), is_causal=True, cache=cache)
        for a, b in ((0, 2), (2, 5))
    ]
    same(torch.cat(parts, 1), expected, "three queries on five cached keys")


# -------------------------------------------------------- making mistakes


def with_change(correct, *changes):
    """Replace old by new in the source, in pairs; return the wrong one."""
    source = inspect.getsource(correct)
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        if source.count(old) != 1:
            raise ValueError(f"{old!r} occurs {source.count(old)} times")
        source = source.replace(old, new)
    namespace = dict(vars(inspect.getmodule(correct)))
    exec(source, namespace)
    return namespace[correct.__name__]


def kill_table():
    """Each wrong attention with the checks it fails: {name: [checks]}."""
    from wrong_attentions import WRONG, WRONG_HEADS

    table = {}
    for name, (attention, array) in WRONG.items():
        table[name] = list(examine(attention, array))
    for name, heads in WRONG_HEADS.items():
        table[name] = list(examine(heads, torch_array, ("heads",)))
    return table


def print_table(table):
    """Print it both ways round: by mistake and by check."""
    print(f"\n{'wrong attention':44} failed checks")
    for name, killers in table.items():
        more = f" and {len(killers) - 3} more" if len(killers) > 3 else ""
        print(f"{name:44} {', '.join(killers[:3]) or '-- NONE --'}{more}")
    print(f"\n{'check':36} {'tag':9} finds")
    for check_name, one in CHECKS.items():
        found = [n for n, killers in table.items() if check_name in killers]
        more = f"; {len(found) - 2} more" if len(found) > 2 else ""
        words = "; ".join(found[:2]) or "-- NOTHING --"
        print(f"{check_name:36} {one.tag:9} {words}{more}")
    killed = sum(bool(killers) for killers in table.values())
    print(f"\n{killed} of {len(table)} wrong attentions fail a check")


if __name__ == "__main__":
    import contract  # the one that wrong_attentions imports, not __main__

    contract.print_table(contract.kill_table())
