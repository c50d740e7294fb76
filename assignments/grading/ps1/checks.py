"""Hidden checks of problem set 1."""

import numpy as np

from grading.items import ProblemSet, must, numbers, same

SET = ProblemSet("ps1", variants={
    "output first": {},
    "weights first": {
        "`(output, weights)`": "`(weights, output)`",
        "return output, weights": "return weights, output",
        "output, weights = attention(": "weights, output = attention(",
        "output, _ = attention(": "_, output = attention(",
    },
})


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def scores(query, key):
    return np.einsum("...ld,...sd->...ls", query, key) / query.shape[-1]**0.5


def attention(query, key, value):
    weights = softmax(scores(query, key))
    return weights @ value, weights


@SET.item("softmax")
def check_softmax(run, rng, variant):
    for shape in [(5,), (3, 4), (2, 3, 4), (2, 3, 4, 5)]:
        x = rng.normal(size=shape) * 3
        for axis in (-1, 0, len(shape) // 2):
            words = (f"random scores with {len(shape)} axes, softmax over "
                     f"axis {axis}")
            hints = {f"it runs over axis {a} instead": softmax(x, a)
                     for a in range(len(shape)) if a != axis % len(shape)}
            hints["the weights are not divided by their sum"] = np.exp(x)
            hints["one sum is taken over everything"] = (
                np.exp(x) / np.exp(x).sum())
            same(run(x, axis=axis), softmax(x, axis), words, hints)
        same(run(x), softmax(x), "without `axis`", {
            "`axis` should be the last if not given": softmax(x, 0)})
    x = rng.normal(size=(3, 4)) * 10
    for shift in (1e4, -1e4):
        got = numbers(run(x + shift))
        must(np.isfinite(got).all(),
             f"scores around {shift:+.0f}: the result is not finite")
        same(got, softmax(x), f"scores around {shift:+.0f}", atol=1e-5)
    x[1] += 2000  # one row far above the others
    same(run(x), softmax(x), "rows of very different sizes: subtract each "
         "row's own maximum")


@SET.item("scores")
def check_scores(run, rng, variant):
    for front in [(), (2,), (2, 3)]:
        for L, S, d_k in [(3, 5, 7), (6, 2, 9)]:
            q = rng.normal(size=(*front, L, d_k))
            k = rng.normal(size=(*front, S, d_k))
            want = scores(q, k)
            same(run(q, k), want,
                 f"{'more' if L > S else 'fewer'} queries than keys, "
                 f"{len(front)} axes in front", {
                "the scores are not scaled": want * d_k**0.5,
                "divided by d_k, not by its root": want / d_k**0.5,
                "multiplied by √d_k": want * d_k,
                "scaled by √S, not by √d_k": want * (d_k / S)**0.5,
                "scaled by √L, not by √d_k": want * (d_k / L)**0.5,
                "queries and keys are swapped": want.swapaxes(-1, -2),
            })


@SET.item("attention", needs=["softmax", "scores"])
def check_attention(run, rng, variant):
    for front, L, S, d_k, d_v in [((), 3, 5, 4, 6), ((2,), 5, 3, 7, 2),
                                  ((2, 3), 4, 6, 5, 8)]:
        q = rng.normal(size=(*front, L, d_k))
        k = rng.normal(size=(*front, S, d_k))
        v = rng.normal(size=(*front, S, d_v))
        pair = numbers(run(q, k, v), 2)
        output, weights = pair if variant == "output first" else pair[::-1]
        want_output, want_weights = attention(q, k, v)
        where = f"{len(front)} axes in front"
        s = scores(q, k)
        same(weights, want_weights, f"weights, {where}", {
            "output and weights are the other way round": want_output,
            "softmax runs over the queries": softmax(s, -2),
            "softmax runs over the first axis": softmax(s, 0),
            "these are scores, not weights": s,
            "scaled twice": softmax(s / d_k**0.5),
            "not scaled": softmax(s * d_k**0.5)})
        same(output, want_output, f"output, {where}", {
            "the values are summed without their weights":
                np.broadcast_to(v.sum(-2, keepdims=True), want_output.shape),
            "the scores weigh the values, without softmax": s @ v})


@SET.item("attend_and_add", needs=["attention"])
def check_attend_and_add(run, rng, variant):
    for front, L, d_model, d_k in [((), 5, 4, 3), ((2,), 3, 6, 4),
                                   ((2, 3), 4, 5, 7)]:
        x = rng.normal(size=(*front, L, d_model))
        w_q, w_k = rng.normal(size=(2, d_model, d_k))
        w_v = rng.normal(size=(d_model, d_model))
        output = attention(x @ w_q, x @ w_k, x @ w_v)[0]
        same(run(x, w_q, w_k, w_v), x + output,
             f"{len(front)} axes in front", {
            "the stream x itself is missing": output,
            "the projected values are added, not x": x @ w_v + output,
            "w_q and w_k are swapped":
                x + attention(x @ w_k, x @ w_q, x @ w_v)[0],
            "the weights act from the wrong side: x @ w, not x @ w.T":
                x + attention(x @ w_q, x @ w_k, x @ w_v.T)[0]})


@SET.item("read_heatmap")
def check_read_heatmap(run, rng, variant):
    for shape in [(3, 5), (6, 4), (2, 3, 5), (2, 3, 6, 4)]:
        weights = softmax(rng.normal(size=shape) * 2)
        favourite, received = numbers(run(weights), 2)
        where = f"weights with {len(shape)} axes"
        must(favourite.dtype.kind in "iu",
             "favourite holds numbers of keys, so integers")
        same(favourite, weights.argmax(-1), f"favourite, {where}", {
            "it tells which query looks most at each key":
                weights.argmax(-2)})
        same(received, weights.sum(-2), f"received, {where}", {
            "it sums each query's weights, which is always 1":
                weights.sum(-1),
            "it averages instead of adding": weights.mean(-2)})
