"""Hidden checks of problem set 1."""

import numpy as np

from grading.items import ProblemSet, must, numbers, same
from qkv.reference import softmax

SET = ProblemSet("ps1", variants={
    "output first": {},
    "weights first": {
        "`(output, weights)`": "`(weights, output)`",
        "return output, weights": "return weights, output",
        "output, weights = attention(": "weights, output = attention(",
        "output, _ = attention(": "_, output = attention(",
    },
})


def scores(query, key):
    return np.einsum("...ld,...sd->...ls", query, key) / query.shape[-1]**0.5


def attention(query, key, value):
    weights = softmax(scores(query, key))
    return weights @ value, weights


@SET.item("softmax")
def check_softmax(run, rng, variant):
    for shape in [(5,), (3, 4), (2, 3, 4), (2, 3, 4, 5), (4, 1, 3)]:
        x = rng.normal(size=shape) * 3
        for axis in (-1, 0, len(shape) // 2):
            words = (f"random scores with {len(shape)} axes, softmax over "
                     f"axis {axis}")
            hints = {f"it runs over axis {a} instead": softmax(x, a)
                     for a in range(len(shape)) if a != axis % len(shape)}
            most = x.max(axis, keepdims=True)
            e = np.exp(x - most)
            last = e.sum(axis=-1, keepdims=True)
            hints |= {
                "the weights are not divided by their sum": np.exp(x),
                "one sum is taken over everything": softmax(
                    x.reshape(-1)).reshape(shape),
                "the sum runs over the last axis, whatever `axis` says":
                    e / last,
                "the base is 2, not e": softmax(x * np.log(2), axis),
                "scores far below the largest are raised": softmax(
                    np.maximum(x, most - 10), axis)}
            same(run(x, axis=axis), softmax(x, axis), words, hints)
        same(run(x), softmax(x), "without `axis`", {
            "`axis` should be the last if not given": softmax(x, 0)})
    near = rng.normal(size=(2, 3, 4))
    cases = {
        "scores around +10000": near + 9990,
        "scores around -10000": near - 9990,
        "scores from -10000 to 10000 side by side":
            near + np.array([9990, -9990, 0, 9990]),
        "rows of very different sizes (subtract each row's own maximum)":
            near + np.array([0, 9990, -9990])[:, None],
        "scores of which some are far below the largest":
            near + np.array([0, -7, -15, -30])}
    for where, x in cases.items():
        got = numbers(run(x))
        must(np.isfinite(got).all(), f"{where}: the result is not finite, "
             "exp runs out of its range")
        fine = x.astype(np.float32)
        same(got, softmax(x), where, {
            "all weights are equal: are large scores cut off?":
                np.full(x.shape, 0.25),
            "all weights are 0: does exp run out of its range?":
                np.zeros(x.shape),
            "decimals of the scores are lost (float32?)": softmax(fine),
            "scores far below the largest are raised": softmax(np.maximum(
                x, x.max(-1, keepdims=True) - 10))})
    x = rng.integers(-3, 4, size=(3, 4))
    same(run(x), softmax(x), "scores that are integers", {
        "the weights are cut to integers": np.zeros((3, 4))})


@SET.item("scores")
def check_scores(run, rng, variant):
    cases = {}
    for front in [(), (2,), (2, 3), (1, 3)]:
        for L, S, d_k in [(3, 5, 17), (6, 2, 11), (1, 4, 5), (4, 1, 13)]:
            where = ("one query" if L == 1 else "one key" if S == 1 else
                     f"{'more' if L > S else 'fewer'} queries than keys")
            cases[f"{where}, {len(front)} axes in front"] = (
                rng.normal(size=(*front, L, d_k)),
                rng.normal(size=(*front, S, d_k)))
    q, k = rng.normal(size=(3, 7)), rng.normal(size=(5, 7))
    q[0], k[0] = 30, 10
    cases["scores in the hundreds"] = q, k
    cases["arrays of integers"] = (rng.integers(-3, 4, size=(2, 3, 7)),
                                   rng.integers(-3, 4, size=(2, 5, 7)))
    for where, (q, k) in cases.items():
        want, (L, d_k), S = scores(q, k), q.shape[-2:], k.shape[-2]
        got = numbers(run(q, k))
        hints = {
            "all scores are 0": want * 0,
            "the scores are not scaled": want * d_k**0.5,
            "divided by d_k, not by its root": want / d_k**0.5,
            "divided by d_k / 2, not by its root": want / d_k**0.5 * 2,
            "the root of d_k is cut to an integer":
                want * d_k**0.5 / int(d_k**0.5),
            "multiplied by √d_k": want * d_k,
            "scaled by √S, not by √d_k": want * (d_k / S)**0.5,
            "scaled by √L, not by √d_k": want * (d_k / L)**0.5,
            "queries and keys are swapped": want.swapaxes(-1, -2),
            "the keys are reshaped, which does not swap their axes": scores(
                q, k.reshape(*k.shape[:-2], d_k, S).swapaxes(-1, -2)),
            "the scores are cut to integers": np.trunc(want),
            "large scores are cut off": np.clip(want, got.min(), got.max())}
        if got.shape == want.shape:
            hints["all are off by one factor: what do you divide by?"] = (
                want * (got.flat[0] / want.flat[0]))
        same(got, want, where, hints)


@SET.item("attention", needs=["softmax", "scores"])
def check_attention(run, rng, variant):
    cases = {}
    for front, L, S, d_k, d_v in [((), 3, 5, 7, 6), ((2,), 5, 3, 9, 2),
                                  ((2, 3), 4, 6, 5, 8), ((3, 1), 1, 4, 5, 6),
                                  ((2, 3), 4, 1, 5, 7)]:
        where = ("one query, " if L == 1 else "one key, " if S == 1 else "")
        cases[f"{where}{len(front)} axes in front"] = (
            rng.normal(size=(*front, L, d_k)),
            rng.normal(size=(*front, S, d_k)),
            rng.normal(size=(*front, S, d_v)))
    q, k, v = (rng.normal(size=(2, 4, d)) for d in (5, 5, 3))
    s = scores(q, k)
    for sign, word in [(1, "positive"), (-1, "negative")]:
        # One more coordinate moves all scores of a query alike.
        more = np.full((2, 4, 1), sign * 5e3 * 6**0.5)
        cases[f"large {word} scores"] = (
            np.concatenate([q, more], -1),
            np.concatenate([k, np.ones((2, 4, 1))], -1), v)
    cases["scores far apart"] = 4 * q, k, v
    cases["arrays of integers"] = tuple(
        rng.integers(-3, 4, size=(2, n, d)) for n, d in [(3, 7), (5, 7),
                                                         (5, 6)])
    for where, (q, k, v) in cases.items():
        pair = numbers(run(q, k, v), 2)
        output, weights = pair if variant == "output first" else pair[::-1]
        want_output, want_weights = attention(q, k, v)
        must(np.isfinite(weights).all(),
             f"weights, {where}: they are not finite")
        s, d_k, d_v = scores(q, k), q.shape[-1], v.shape[-1]
        causal = np.tri(*s.shape[-2:], dtype=bool)
        two, logs = s.flat[:2], np.log(weights.flat[:2])
        same(weights, want_weights, f"weights, {where}", {
            "output and weights are the other way round": want_output,
            "softmax runs over the queries": softmax(s, -2),
            "softmax runs over the first axis": softmax(s, 0),
            "these are scores, not weights": s,
            "scaled twice": softmax(s / d_k**0.5),
            "not scaled": softmax(s * d_k**0.5),
            "scaled by √d_v, not by √d_k": softmax(s * (d_k / d_v)**0.5),
            "softmax is taken twice": softmax(want_weights),
            "the sign of the scores is turned": softmax(-s),
            "a causal mask, which is not asked for":
                softmax(np.where(causal, s, -1e9)),
            "all weight goes to the best key, as by argmax":
                np.eye(s.shape[-1])[s.argmax(-1)],
            "the scores have another factor than 1/√d_k":
                softmax(s * ((logs[1] - logs[0]) / (two[1] - two[0])))})
        same(output, want_output, f"output, {where}", {
            "the values are summed without their weights":
                np.broadcast_to(v.sum(-2, keepdims=True), want_output.shape),
            "the values are averaged without their weights":
                np.broadcast_to(v.mean(-2, keepdims=True), want_output.shape),
            "it is scaled once more": want_output / d_k**0.5,
            "the axes are reshaped, not swapped": want_output.swapaxes(
                -1, -2).reshape(want_output.shape),
            "all sequences read the values of the first":
                want_weights @ v.reshape(-1, *v.shape[-2:])[0],
            "the scores weigh the values, without softmax": s @ v})


@SET.item("attend_and_add", needs=["attention"])
def check_attend_and_add(run, rng, variant):
    cases = {}
    for front, L, d_model, d_k in [((), 5, 4, 3), ((2,), 3, 6, 4),
                                   ((2, 3), 4, 5, 7), ((3, 1), 1, 4, 3)]:
        where = "one position, " if L == 1 else ""
        cases[f"{where}{len(front)} axes in front"] = (
            rng.normal(size=(*front, L, d_model)),
            *rng.normal(size=(2, d_model, d_k)),
            rng.normal(size=(d_model, d_model)))
    x = rng.normal(size=(2, 3, 5))
    x[..., 0] = 1
    w_q, w_k = rng.normal(size=(2, 5, 4))
    w_q[0], w_k[0] = 50, 50  # scores around 5000
    cases["large scores"] = x, w_q, w_k, rng.normal(size=(5, 5))
    cases["x of integers"] = (
        rng.integers(-2, 3, size=(2, 3, 5)), *rng.normal(size=(2, 5, 4)),
        rng.normal(size=(5, 5)))
    for where, (x, w_q, w_k, w_v) in cases.items():
        q, k, v, d_k = x @ w_q, x @ w_k, x @ w_v, w_q.shape[-1]
        output, weights = attention(q, k, v)
        s = scores(q, k)
        causal = np.tri(*s.shape[-2:], dtype=bool)
        got = numbers(run(x, w_q, w_k, w_v))
        must(np.isfinite(got).all(), f"{where}: the result is not finite")
        same(got, x + output, where, {
            "the stream x itself is missing": output,
            "the projected values are added, not x": v + output,
            "x is added twice": 2 * x + output,
            "multiplied, not added": x * output,
            "the mean of both, not the sum": (x + output) / 2,
            "w_q and w_k are swapped": x + attention(k, q, v)[0],
            "the keys are made with w_q": x + attention(q, q, v)[0],
            "the values are not projected": x + weights @ x,
            "w_v acts twice": x + output @ w_v,
            "the weights act from the wrong side: x @ w, not x @ w.T":
                x + attention(q, k, x @ w_v.T)[0],
            "each position reads only itself": x + v,
            "each position reads the same of all":
                x + v.mean(-2, keepdims=True),
            "all positions read what the first one reads":
                x + output[..., :1, :],
            "softmax runs over the queries": x + softmax(s, -2) @ v,
            "scaled twice": x + softmax(s / d_k**0.5) @ v,
            "scaled by √d_model, not by √d_k":
                x + softmax(s * (d_k / x.shape[-1])**0.5) @ v,
            "a causal mask, which is not asked for":
                x + softmax(np.where(causal, s, -1e9)) @ v,
            "all sequences are attended to as if they were one": x + attention(
                *(a.reshape(-1, a.shape[-1]) for a in (q, k, v))
                )[0].reshape(x.shape),
            "the result is cut to integers": np.trunc(x + output)})


@SET.item("read_heatmap")
def check_read_heatmap(run, rng, variant):
    for shape in [(7, 5), (6, 4), (2, 3, 5), (2, 3, 6, 4), (3, 1, 4),
                  (2, 4, 1), (4, 300)]:
        scores = rng.normal(size=shape) * 2
        if shape[-1] == 300:
            scores[0, 290] += 20
        weights = softmax(scores)
        if shape == (7, 5):  # key 0 is not the one that receives most
            weights = np.roll(weights, 3 - weights.sum(-2).argmax(), -1)
        favourite, received = numbers(run(weights), 2)
        where = ("many keys" if shape[-1] == 300 else
                 "one query" if shape[-2] == 1 else
                 "one key" if shape[-1] == 1 else
                 f"weights with {len(shape)} axes")
        must(favourite.dtype.kind in "iu",
             "favourite holds numbers of keys, so integers")
        want = weights.argmax(-1)
        same(favourite, want, f"favourite, {where}", {
            "it is always key 0": np.zeros(want.shape),
            "it tells which query looks most at each key":
                weights.argmax(-2),
            "it tells which key is looked at least": weights.argmin(-1),
            "it tells which key receives most": np.broadcast_to(
                weights.sum(-2).argmax(-1)[..., None], want.shape),
            "keys are counted from 1": want + 1,
            "a small type of integers does not hold it": want.astype(
                favourite.dtype)})
        counts = (want[..., None] == np.arange(shape[-1])).sum(-2)
        same(received, weights.sum(-2), f"received, {where}", {
            "it sums each query's weights, which is always 1":
                weights.sum(-1),
            "it averages instead of adding": weights.mean(-2),
            "it counts queries instead of adding weights": counts,
            "it is rounded": weights.sum(-2).round(1),
            "all heatmaps are added up":
                weights.reshape(-1, shape[-1]).sum(0)})
