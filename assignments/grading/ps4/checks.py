"""Hidden checks of problem set 4."""

import numpy as np

from grading.items import ProblemSet, must, same
from qkv.reference import softmax

SET = ProblemSet(
    "ps4", packages=("numpy", "torch"),
    forbidden=("scaled_dot_product_attention", "MultiheadAttention",
               "multi_head_attention_forward"),
    variants={
        "neighbours share": {},
        "every H_kv-th shares": {  # the two change places
            "h // G": "h %% H_kv",
            "h % H_kv": "h // G",
            "h %% H_kv": "h % H_kv",
        },
    })
MATRICES = ("w_q", "w_k", "w_v", "w_o")
WORDS = ("fine", "softmax", "split", "merge")


def weigh(query, key, may=None, axis=-1):
    scores = query @ key.swapaxes(-1, -2) / query.shape[-1]**0.5
    if may is not None:
        scores = np.where(may, scores, -np.inf)
    return softmax(scores, axis)


def split(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


def at_once(x, heads):
    return x.reshape(len(x), heads, x.shape[1], -1)


def merge(x):
    return x.swapaxes(1, 2).reshape(len(x), x.shape[2], -1)


@SET.item("split_heads")
def check_split_heads(run, rng, variant):
    for B, T, heads, d_k in [(2, 4, 3, 5), (3, 5, 2, 7), (1, 7, 5, 2),
                             (4, 3, 1, 6), (2, 6, 6, 3)]:
        x = rng.normal(size=(B, T, heads * d_k))
        want = split(x, heads)
        same(run(x, heads), want, f"a batch of {B}", {
            "reshaped at once: a head holds a piece of the text":
                at_once(x, heads),
            "a head takes columns from all over, not neighbouring ones":
                x.reshape(B, T, d_k, heads).transpose(0, 3, 1, 2),
            "heads are behind the positions": x.reshape(B, T, heads, d_k),
            "the last two dimensions are swapped": want.swapaxes(-1, -2),
            "the numbers are divided by √d_k": want / d_k**0.5,
            "the heads are in another order": want[:, -np.arange(heads)],
            "every sequence holds the first": want[[0] * B]})


@SET.item("merge_heads")
def check_merge_heads(run, rng, variant):
    for B, heads, T, d_v in [(2, 3, 4, 5), (3, 2, 5, 7), (1, 5, 7, 2),
                             (4, 1, 3, 6)]:
        x = rng.normal(size=(B, heads, T, d_v))
        want = merge(x)
        same(run(x), want, f"a batch of {B}", {
            "joined without moving the positions back":
                x.reshape(B, T, heads * d_v),
            "the columns of the heads alternate":
                x.transpose(0, 2, 3, 1).reshape(B, T, -1),
            "the last head comes first": merge(x[:, ::-1]),
            "the heads are in another order": merge(x[:, -np.arange(heads)]),
            "every sequence holds the first": want[[0] * B]})


def build(names, heads, weights, x, *more):
    """Return the shapes of the parameters, the output, who is not reached."""
    import torch
    module = names["MultiHead"](x.shape[-1], heads).double()
    shapes = {n: list(p.shape) for n, p in module.named_parameters()}
    square = [x.shape[-1]] * 2
    if shapes != {f"{n}.weight": square for n in weights}:
        return shapes, None, None
    with torch.no_grad():
        for name, w in weights.items():
            module.get_parameter(f"{name}.weight").copy_(w)
    output = module(x, *more)
    missed = list(weights)
    if getattr(output, "requires_grad", False):
        try:
            output.sum().backward()
        except RuntimeError:  # something it needs was overwritten
            return shapes, output, missed
        missed = [n for n in weights
                  if module.get_parameter(f"{n}.weight").grad is None]
    return shapes, output, missed


def layer(heads, weights, x, source=None, may=None, cut=split, join=merge):
    source = x if source is None else source
    q, k, v = (cut(t @ weights[name].T, heads) for t, name in zip(
        (x, source, source), MATRICES, strict=False))
    return join(weigh(q, k, may) @ v) @ weights["w_o"].T


@SET.item("MultiHead", needs=["split_heads", "merge_heads"], drive=build)
def check_multi_head(run, rng, variant):
    for B, L, S, heads, d_k in [(2, 5, 7, 3, 5), (3, 6, 4, 2, 7),
                                (2, 3, 5, 4, 3), (1, 4, 2, 1, 6)]:
        d_model = heads * d_k
        weights = {n: rng.normal(size=(d_model, d_model)) / d_model**0.5
                   for n in MATRICES}
        x = rng.normal(size=(B, L, d_model))
        source = rng.normal(size=(B, S, d_model))
        causal = np.tri(L, dtype=bool)
        padded = np.arange(S) < rng.integers(1, S + 1, size=(B, 1, 1, 1))
        each = rng.random(size=(B, heads, L, S)) < 0.5
        each |= np.arange(S) == rng.integers(S, size=(B, heads, L, 1))
        for where, more in [("one sequence", ()), ("a source", (source,)),
                            ("a causal mask", (None, causal)),
                            ("a source and a mask (L, S)",
                             (source, each[0, 0])),
                            ("a source with padding", (source, padded)),
                            ("a mask for each head", (source, each)),
                            ("a mask (heads, L, S)", (source, each[0]))]:
            got = run(heads, weights, x, *more)
            must(isinstance(got, tuple) and len(got) == 3,
                 "forward should return one tensor, the output")
            shapes, output, missed = got
            must(shapes == {f"{n}.weight": [d_model] * 2 for n in MATRICES},
                 "its parameters should be the weights of w_q, w_k, w_v and "
                 "w_o, each (d_model, d_model): heads divide columns, and "
                 "there is no bias")
            must(isinstance(output, np.ndarray),
                 "forward should return one tensor, the output")
            same(output, layer(heads, weights, x, *more), where, mistakes(
                heads, weights, x, *more))
            must(missed == [], "no gradient reaches some of the matrices")


def mistakes(heads, weights, x, source=None, may=None):
    """Return {diagnosis: what that mistake in `MultiHead` would return}."""
    d_model = x.shape[-1]

    def other(source=source, may=may, heads=heads, **changes):
        return layer(heads, weights | changes, x, source, may)

    w_q, w_k, w_v = (weights[n] for n in MATRICES[:3])
    found = {
        "w_o is missing": other(w_o=np.eye(d_model)),
        "x is added": other() + x,
        "split and merged at once, so positions are mixed": layer(
            heads, weights, x, source, may, cut=at_once,
            join=lambda a: a.reshape(len(a), a.shape[2], -1)),
        "the keys come from w_q": other(w_k=w_q),
        "the keys come from w_v": other(w_k=w_v),
        "w_k and w_v are exchanged": other(w_k=w_v, w_v=w_k),
        "scaled twice": other(w_q=w_q * (heads / d_model)**0.5),
        "scaled by √d_model, not by √d_k": other(w_q=w_q / heads**0.5),
        **{f"{n} needs its transpose: an nn.Linear computes x @ w.T":
           other(**{n: weights[n].T}) for n in MATRICES}}
    if source is not None:
        found["the source is not asked"] = layer(heads, weights, x)
        found["the source asks x"] = layer(heads, weights, source, x)
    if may is not None:
        found["the mask is ignored"] = other(may=None)
        if may.ndim == 4:
            found["every sequence gets the first one's mask"] = other(
                may=may[:1])
            found["every head gets the mask of head 0"] = other(
                may=may[:, :1])
    else:
        found["one head instead of several"] = other(heads=1)
        found["a causal mask nobody asked for"] = other(may=np.tri(
            x.shape[1], (x if source is None else source).shape[1],
            dtype=bool))
    return found


def regroup(names, query, key, value, views):
    """Call the function, with views as `split_heads` returns them."""
    if views:
        query, key, value = (
            x.transpose(1, 2).contiguous().transpose(1, 2)
            for x in (query, key, value))
    return names["grouped_attention"](query, key, value)


@SET.item("grouped_attention", drive=regroup)
def check_grouped_attention(run, rng, variant):
    for B, H, H_kv, L, S, d_k, d_v in [
            (2, 6, 3, 3, 5, 5, 7), (3, 8, 2, 5, 4, 3, 2),
            (1, 6, 2, 4, 6, 5, 3), (2, 4, 1, 3, 5, 2, 6),
            (2, 3, 3, 6, 4, 7, 5)]:
        q = rng.normal(size=(B, H, L, d_k))
        k = rng.normal(size=(B, H_kv, S, d_k))
        v = rng.normal(size=(B, H_kv, S, d_v))
        blocks = np.arange(H) // (H // H_kv)
        rounds = np.arange(H) % H_kv
        if variant != "neighbours share":
            blocks, rounds = rounds, blocks

        def shared(keys, values, q=q, k=k, v=v, may=None):
            return weigh(q, k[:, keys], may) @ v[:, values]
        mean = q.reshape(B, H_kv, H // H_kv, L, d_k).mean(2)
        hints = {
            "query heads read the wrong key and value heads":
                shared(rounds, rounds),
            "keys are shared as asked, values otherwise":
                shared(blocks, rounds),
            "values are shared as asked, keys otherwise":
                shared(rounds, blocks),
            "all query heads read head 0": shared(blocks * 0, blocks * 0),
            "all query heads read the keys of head 0":
                shared(blocks * 0, blocks),
            "the queries of a group are averaged, so answers are missing":
                weigh(mean, k) @ v,
            "scaled twice": shared(blocks, blocks, q / d_k**0.5),
            "a causal mask nobody asked for": shared(
                blocks, blocks, may=np.tri(L, S, dtype=bool)),
            "every sequence reads the first":
                shared(blocks, blocks, k=k[:1], v=v[:1])}
        for views in (False, True):
            same(run(q, k, v, views), shared(blocks, blocks),
                 f"{H} query heads, {H_kv} of keys", hints)


@SET.item("head_terms")
def check_head_terms(run, rng, variant):
    for B, H, L, d_v, d_model, empty in [
            (2, 5, 6, 3, 15, []), (2, 3, 5, 4, 10, []), (3, 2, 4, 5, 7, [1]),
            (1, 4, 3, 2, 8, [0, 2])]:
        found = rng.normal(size=(B, H, L, d_v))
        found[:, empty] = 0
        w_o = rng.normal(size=(d_model, H * d_v))
        blocks = w_o.T.reshape(H, d_v, d_model)
        mixed = w_o.T.reshape(d_v, H, d_model).swapaxes(0, 1)
        want = found @ blocks
        where = f"{H} heads, d_model {d_model}"
        if empty:
            where += ", and a head that found nothing"
        whole = want.sum(1, keepdims=True)
        same(run(found, w_o), want, where, {
            "the terms are added already": want.sum(1),
            "the terms are divided by the number of heads": want / H,
            "every head gets an equal share of the output":
                np.repeat(whole / H, H, axis=1),
            "the output is booked on head 0":
                whole * (np.arange(H) == 0)[:, None, None],
            "each term holds those before it as well": want.cumsum(1),
            "the terms are in another order": want[:, -np.arange(H)],
            "w_o is cut, but not transposed":
                found @ w_o.reshape(H, d_v, d_model),
            "each head meets columns of w_o from all over": found @ mixed})


def broken(x, weights, heads, bug):
    """Run a causal layer with a bug; return its weights and its output."""
    cut = at_once if bug == "split" else split
    q, k, v = (cut(x @ weights[n].T, heads) for n in ("w_q", "w_k", "w_v"))
    w = weigh(q, k, np.tri(x.shape[1], dtype=bool),
              axis=-2 if bug == "softmax" else -1)
    found = w @ v
    joined = found.reshape(x.shape) if bug == "merge" else merge(found)
    return w, joined @ weights["w_o"].T


@SET.item("diagnose")
def check_diagnose(run, rng, variant):
    # L > 2 H: merge moves neither row 1 nor row L - 2. L = H: split leaves
    # row 0 of the last head. One sentence alone, and more heads than words.
    for B, L, heads, d_k, small in [
            (2, 5, 3, 4, False), (1, 7, 2, 3, True), (3, 4, 4, 5, False),
            (1, 9, 4, 3, False), (2, 3, 5, 4, True), (2, 5, 2, 3, True)]:
        for bug in map(str, rng.permutation(list(WORDS))):
            d_model = heads * d_k
            weights = {n: rng.normal(size=(d_model, d_model)) / d_model**0.5
                       for n in MATRICES}
            x = rng.normal(size=(B, L, d_model))
            step = np.zeros_like(x)
            step[:, -1] = rng.normal(size=(B, d_model))
            if small:  # what a bug changes is small as well, but shows
                step *= 1e-2
                step *= 3e-3 / effect(x, step, weights, heads, bug)
            before, after = (
                tuple(a + 1e-9 * rng.uniform(-0.4, 0.4, size=a.shape)
                      for a in broken(batch, weights, heads, bug))
                for batch in (x, x + step))
            said = run(before, after)
            must(isinstance(said, str) and said in WORDS,
                 "the diagnosis is not one of the four words")
            told = "a layer that is fine" if bug == "fine" else (
                f"a layer with the bug {bug!r}")
            few = ", where little changes," if small else ""
            must(said == bug, f"{told}{few} is diagnosed as {said!r}")


def effect(x, step, weights, heads, bug):
    """Return how much earlier rows change, for each sentence."""
    (w, y), (w2, y2) = (broken(batch, weights, heads, bug)
                        for batch in (x, x + step))
    moved = abs(y - y2)[:, :-1] if bug == "merge" else abs(w - w2)[:, :, :-1]
    size = moved.reshape(len(x), -1).max(1)[:, None, None]
    return np.where(size > 0, size, 3e-3)
