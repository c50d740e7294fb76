"""What people do with modules: save, compile, export, vmap, autocast."""

import copy
import io
import math

import pytest
import torch
from torch.testing import assert_close

import qkv
from qkv.positions import Rotary

attention = qkv.scaled_dot_product_attention
B, L, D_MODEL, HEADS = 2, 20, 16, 4


def module(**options):
    """Build one that encodes positions."""
    torch.manual_seed(0)
    rotary = Rotary(D_MODEL // HEADS)
    made = qkv.MultiHeadAttention(D_MODEL, HEADS, 2, rotary=rotary, **options)
    return made.eval()


def draw(*shape):
    """Return random numbers, always the same."""
    generator = torch.Generator().manual_seed(1)
    return torch.randn(*shape, generator=generator)


CALLS = [{}, {"is_causal": True}, {"is_causal": True, "return_weights": True}]


def test_save_and_load():
    """Kills a closure inside a module, and one that forgets its width."""
    made, x = module(), draw(B, L, D_MODEL)
    file = io.BytesIO()
    torch.save(made, file)
    file.seek(0)
    again = torch.load(file, weights_only=False)
    assert_close(again(x, is_causal=True), made(x, is_causal=True))
    assert (again.rotary.d_k, again.rotary.base) == (4, 10000.0)
    other = module()
    torch.nn.init.zeros_(other.w_o.weight)
    other.load_state_dict(made.state_dict())
    assert_close(other(x), made(x))
    assert_close(copy.deepcopy(made)(x), made(x))


@pytest.mark.parametrize("options", CALLS)
def test_compile_in_one_graph(options):
    """Kills a look at numbers, which breaks the graph."""
    made, x = module(), draw(B, L, D_MODEL)
    whole = torch.compile(made, backend="eager", fullgraph=True)
    assert_close(whole(x, **options), made(x, **options))


@pytest.mark.parametrize("options", CALLS)
def test_export(options):
    """Kills what torch.export cannot follow."""
    made, x = module(), draw(B, L, D_MODEL)
    program = torch.export.export(made, (x,), options)
    assert_close(program.module()(x, **options), made(x, **options))


@pytest.mark.parametrize("options", CALLS)
def test_vmap_and_its_gradients(options):
    """Kills a look at numbers that vmap does not have."""
    q, k, v = (draw(3, B, L, 4) + n for n in range(3))

    def call(q, k, v):
        result = attention(q, k, v, **options)
        return result[0] if isinstance(result, tuple) else result

    assert_close(torch.vmap(call)(q, k, v), call(q, k, v))

    def loss(q, k, v):
        return call(q, k, v).sin().sum()

    slopes = torch.vmap(torch.func.grad(loss, argnums=(0, 1, 2)))(q, k, v)
    inputs = [x.clone().requires_grad_() for x in (q, k, v)]
    loss(*inputs).backward()
    for slope, x in zip(slopes, inputs, strict=True):
        assert_close(slope, x.grad)


@pytest.mark.parametrize("options", CALLS)
def test_autocast(options):
    """Kills a mask, a cache or weights of another precision."""
    made, x = module(), draw(B, L, D_MODEL)
    want = made(x, attn_mask=torch.zeros(L, L), **options)
    want = want if isinstance(want, tuple) else (want,)
    cache = qkv.KVCache()
    with torch.autocast("cpu", torch.bfloat16), torch.no_grad():
        got = made(x, attn_mask=torch.zeros(L, L), **options)
        steps = [
            made(x[:, t : t + 1], is_causal=True, cache=cache)
            for t in range(L)
        ]
    got = got if isinstance(got, tuple) else (got,)
    for ours, right in zip(got, want, strict=True):
        assert ours.dtype == torch.bfloat16
        assert_close(ours.float(), right, atol=3e-2, rtol=3e-2)
    causal = made(x, is_causal=True)
    assert_close(torch.cat(steps, 1).float(), causal, atol=3e-2, rtol=3e-2)


def test_without_numbers():
    """Kills a look at tensors on the meta device."""
    x = torch.empty(B, HEADS, L, 4, device="meta")
    for options in CALLS:
        result = attention(x, x, x, **options)
        output = result[0] if isinstance(result, tuple) else result
        assert output.shape == x.shape
    made = module().to("meta")
    assert made(torch.empty(B, L, D_MODEL, device="meta")).is_meta


def test_in_inference_mode():
    """Kills memory that autograd cannot use afterwards."""
    made, x = module(), draw(B, L, D_MODEL)
    with torch.inference_mode():
        output = made(x, is_causal=True)
    assert_close(output.clone(), made(x, is_causal=True))


def test_what_a_rotary_refuses():
    """Kills other numbers for another width, silently."""
    turn = Rotary(8)
    for wrong, words in (
        (lambda: turn(draw(2, 3, 6)), "width d_k=8"),
        (lambda: turn(draw(2, 3, 8), -1), "start must be at least 0"),
        (lambda: Rotary(8, base=0), "base must be positive"),
        (lambda: Rotary(8, base=math.inf), "base must be positive"),
        (lambda: Rotary(0), "d_k must be at least 1"),
    ):
        with pytest.raises(ValueError, match=words):
            wrong()
    with pytest.raises(TypeError):
        Rotary(8, 1e5)  # the base has a name
    with pytest.raises(TypeError, match="d_k must be an integer"):
        Rotary(8.0)
    assert repr(turn) == "Rotary(8, base=10000.0)"
