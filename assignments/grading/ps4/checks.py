"""Hidden checks of problem set 4."""

import numpy as np

from grading.items import ProblemSet, must, same

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


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


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
    for B, T, heads, d_k in [(2, 5, 3, 4), (3, 4, 2, 5), (1, 7, 5, 2),
                             (4, 3, 1, 6), (2, 6, 6, 3)]:
        x = rng.normal(size=(B, T, heads * d_k))
        same(run(x, heads), split(x, heads), f"a batch of {B}", {
            "reshaped at once: a head holds a piece of the text":
                at_once(x, heads),
            "a head takes columns from all over, not neighbouring ones":
                x.reshape(B, T, d_k, heads).transpose(0, 3, 1, 2),
            "heads are behind the positions": x.reshape(B, T, heads, d_k),
            "the last two dimensions are swapped":
                split(x, heads).swapaxes(-1, -2)})


@SET.item("merge_heads")
def check_merge_heads(run, rng, variant):
    for B, heads, T, d_v in [(2, 3, 5, 4), (3, 2, 4, 5), (1, 5, 7, 2),
                             (4, 1, 3, 6)]:
        x = rng.normal(size=(B, heads, T, d_v))
        same(run(x), merge(x), f"a batch of {B}", {
            "joined without moving the positions back":
                x.reshape(B, T, heads * d_v),
            "the columns of the heads alternate":
                x.transpose(0, 2, 3, 1).reshape(B, T, -1)})


def build(names, heads, weights, x, *more):
    import torch
    module = names["MultiHead"](x.shape[-1], heads).double()
    with torch.no_grad():
        for name, w in weights.items():
            getattr(module, name).weight.copy_(w)
        output = module(x, *more)
    return output, sum(p.numel() for p in module.parameters())


def layer(heads, weights, x, source=None, may=None, cut=split, join=merge):
    source = x if source is None else source
    q, k, v = (cut(t @ weights[name].T, heads) for t, name in zip(
        (x, source, source), MATRICES, strict=False))
    return join(weigh(q, k, may) @ v) @ weights["w_o"].T


@SET.item("MultiHead", needs=["split_heads", "merge_heads"], drive=build)
def check_multi_head(run, rng, variant):
    for B, L, S, heads, d_k in [(2, 5, 7, 3, 4), (3, 6, 4, 2, 5),
                                (2, 3, 5, 4, 3), (1, 4, 2, 1, 6)]:
        d_model = heads * d_k
        weights = {n: rng.normal(size=(d_model, d_model)) / d_model**0.5
                   for n in MATRICES}
        x = rng.normal(size=(B, L, d_model))
        source = rng.normal(size=(B, S, d_model))
        causal = np.tri(L, dtype=bool)
        padded = np.arange(S) < rng.integers(1, S + 1, size=(B, 1, 1, 1))
        for where, more in [("one sequence", ()), ("a source", (source,)),
                            ("a causal mask", (None, causal)),
                            ("a source with padding", (source, padded))]:
            got = run(heads, weights, x, *more)
            must(isinstance(got, tuple) and isinstance(got[0], np.ndarray),
                 "forward should return one tensor, the output")
            output, count = got
            must(count == 4 * d_model**2,
                 "the number of parameters is not that of four matrices: "
                 "heads divide columns, and there is no bias")
            want = layer(heads, weights, x, *more)
            identity = weights | {"w_o": np.eye(d_model)}
            hints = {
                "w_o is missing": layer(heads, identity, x, *more),
                "x is added": want + x,
                "split and merged at once, so positions are mixed": layer(
                    heads, weights, x, *more, cut=at_once,
                    join=lambda a: a.reshape(len(a), a.shape[2], -1)),
                "one head instead of several":
                    layer(1, weights, x, *more)}
            if more and more[0] is not None:
                hints["the source is not asked"] = layer(heads, weights, x)
                hints["the source asks x"] = layer(heads, weights, source, x)
            if len(more) == 2:
                hints["the mask is ignored"] = layer(
                    heads, weights, x, more[0])
            same(output, want, where, hints)


@SET.item("grouped_attention")
def check_grouped_attention(run, rng, variant):
    for B, H, H_kv, L, S, d_k, d_v in [
            (2, 6, 3, 3, 5, 4, 7), (3, 8, 2, 5, 4, 3, 2),
            (1, 6, 2, 4, 6, 5, 3), (2, 4, 1, 3, 5, 2, 6),
            (2, 3, 3, 6, 4, 7, 5)]:
        q = rng.normal(size=(B, H, L, d_k))
        k = rng.normal(size=(B, H_kv, S, d_k))
        v = rng.normal(size=(B, H_kv, S, d_v))
        blocks = np.arange(H) // (H // H_kv)
        rounds = np.arange(H) % H_kv
        if variant != "neighbours share":
            blocks, rounds = rounds, blocks

        def shared(keys, values, q=q, k=k, v=v):
            return weigh(q, k[:, keys]) @ v[:, values]
        mean = q.reshape(B, H_kv, H // H_kv, L, d_k).mean(2)
        same(run(q, k, v), shared(blocks, blocks),
             f"{H} query heads, {H_kv} of keys", {
            "query heads read the wrong key and value heads":
                shared(rounds, rounds),
            "keys are shared as asked, values otherwise":
                shared(blocks, rounds),
            "values are shared as asked, keys otherwise":
                shared(rounds, blocks),
            "all query heads read head 0": shared(blocks * 0, blocks * 0),
            "the queries of a group are averaged, so answers are missing":
                weigh(mean, k) @ v})


@SET.item("head_terms")
def check_head_terms(run, rng, variant):
    for B, H, L, d_v, d_model in [(2, 3, 5, 4, 10), (3, 2, 4, 5, 7),
                                  (1, 4, 3, 2, 8), (2, 5, 6, 3, 15)]:
        found = rng.normal(size=(B, H, L, d_v))
        w_o = rng.normal(size=(d_model, H * d_v))
        blocks = w_o.T.reshape(H, d_v, d_model)
        mixed = w_o.T.reshape(d_v, H, d_model).swapaxes(0, 1)
        want = found @ blocks
        same(run(found, w_o), want, f"{H} heads, d_model {d_model}", {
            "the terms are added already": want.sum(1),
            "the terms are divided by the number of heads": want / H,
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
    for B, L, heads, d_k in [(2, 5, 3, 4), (3, 4, 2, 5), (1, 7, 4, 3),
                             (2, 3, 5, 4)]:
        for bug in map(str, rng.permutation(list(WORDS))):
            d_model = heads * d_k
            weights = {n: rng.normal(size=(d_model, d_model)) / d_model**0.5
                       for n in MATRICES}
            x = rng.normal(size=(B, L, d_model))
            other = x.copy()
            other[:, -1] = rng.normal(size=(B, d_model))
            before, after = (
                tuple(a + 1e-9 * rng.uniform(-0.4, 0.4, size=a.shape)
                      for a in broken(batch, weights, heads, bug))
                for batch in (x, other))
            said = run(before, after)
            must(isinstance(said, str) and said in WORDS,
                 "the diagnosis is not one of the four words")
            told = "a layer that is fine" if bug == "fine" else (
                f"a layer with the bug {bug!r}")
            must(said == bug, f"{told} is diagnosed as {said!r}")
