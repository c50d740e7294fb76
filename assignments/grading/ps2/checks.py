"""Hidden checks of problem set 2."""

import numpy as np

from grading.items import ProblemSet, must, numbers, same
from qkv.reference import softmax

SET = ProblemSet("ps2", variants={
    "mutual first": {},
    "one-way first": {
        "`(mutual, one_way)`": "`(one_way, mutual)`",
        "return mutual, one_way": "return one_way, mutual",
        "mutual, one_way = result": "one_way, mutual = result",
    },
})


def flip(x):
    return np.swapaxes(x, -1, -2)


def in_front(front):
    return f"axes in front: {front or 'none'}"


@SET.item("score_parts")
def check_score_parts(run, rng, variant):
    for front, d_model, d_k in [((), 5, 3), ((3,), 4, 6), ((2, 3), 7, 2),
                                ((2, 1), 4, 3)]:
        w_q, w_k = rng.normal(size=(2, *front, d_model, d_k))
        pair = numbers(run(w_q, w_k), 2)
        mutual, one_way = pair if variant == "mutual first" else pair[::-1]
        m = np.einsum("...ik,...jk->...ij", w_q, w_k)
        want, eye = (m + flip(m)) / 2, np.eye(d_model)
        same(mutual, want, f"mutual part, {in_front(front)}", {
            "the two parts are the other way round": (m - flip(m)) / 2,
            "twice too large": 2 * want,
            "this is the whole matrix": m,
            "this is its lower triangle": np.tril(m),
            "its diagonal is missing": want * (1 - eye),
            "its diagonal counts twice": want * (1 + eye),
            "a factor 1/√d_k, which was to be left aside": want / d_k**0.5})
        same(one_way, (m - flip(m)) / 2, f"one-way part, {in_front(front)}", {
            "its sign is wrong: W_Q W_Kᵀ is wanted, not W_K W_Qᵀ":
                (flip(m) - m) / 2,
            "all zero: was the matrix changed in between?": 0 * m,
            "twice too large": m - flip(m)})


@SET.item("score_spread")
def check_score_spread(run, rng, variant):
    for d_k in (7, 48, 1, 1024):
        var_q, var_k = rng.uniform(0.2, 6, size=2).tolist()
        want = (d_k * var_q * var_k)**0.5
        same(run(d_k, var_q, var_k), want, f"d_k = {d_k}", {
            "this is the variance": want**2,
            "the variances of q and k are missing": d_k**0.5,
            "only the variance of q enters": (d_k * var_q)**0.5,
            "only the variance of k enters": (d_k * var_k)**0.5,
            "variances are taken for standard deviations":
                d_k**0.5 * var_q * var_k,
            "variances of products multiply, they do not add":
                (d_k * (var_q + var_k))**0.5,
            "one of the variances is taken for a standard deviation":
                (d_k * var_q)**0.5 * var_k,
            "one of them is taken for a standard deviation":
                (d_k * var_k)**0.5 * var_q,
            "variances of products multiply, they are not averaged":
                (d_k * (var_q + var_k) / 2)**0.5,
            "divided by the variance of k": (d_k * var_q / var_k)**0.5,
            "the root of d_k is missing": d_k * (var_q * var_k)**0.5,
            "this is one over it": 1 / want})


@SET.item("saturated")
def check_saturated(run, rng, variant):
    for front, L, S, d_k, limit, size in [
            ((60,), 4, 5, 3, 0.35, 0.7), ((), 300, 6, 9, 0.55, 1.5),
            ((4,), 90, 11, 10, 0.4, 1.5), ((3, 4), 30, 5, 7, 0.7, 1.5),
            ((2, 1), 6, 1, 3, 1.0, 1.5),  # one key
            ((2,), 50, 6, 5, 0.9, 200)]:  # scores that overflow
        q = rng.normal(size=(*front, L, d_k)) * size
        k = rng.normal(size=(*front, S, d_k))

        def share(s, axis=-1, limit=limit):
            return (softmax(s, axis).max(axis) > limit).mean()

        def mistakes(s, limit=limit):
            weights, e = softmax(s), np.exp(s)
            top = weights.max(-1)
            return {
                "a weight equal to the limit is not above it":
                    (top >= limit).mean(),
                "softmax runs over the queries": share(s, -2),
                "this looks at the largest weight of each key, not query":
                    (weights.max(-2) > limit).mean(),
                "this counts queries; a share is wanted":
                    (top > limit).sum(),
                "this is the share of weights, not of queries":
                    (weights > limit).mean(),
                "weights are counted, and a query can have two of them":
                    (weights > limit).sum() / top.size,
                "this is the mean of the largest weights, not a share":
                    top.mean(),
                "this is the share of sequences, not of queries":
                    (top.max(-1) > limit).mean(),
                "a mean is compared with the limit, not each query":
                    (top.mean(-1) > limit).mean(),
                "exp overflows: large scores need their maximum subtracted":
                    ((e / e.sum(-1, keepdims=True)).max(-1) > limit).mean(),
                "the rows below the limit are counted": (top <= limit).mean(),
                "only the first sequence is looked at": share(s[:1])}

        s, root = q @ flip(k), d_k**0.5
        flat = q @ k.reshape(*front, d_k, S)
        undivided, divided = numbers(run(q, k, limit), 2)
        where = f"{in_front(front)}, S = {S}, limit {limit}"
        must(undivided.ndim == divided.ndim == 0,
             f"{where}: each share is one number, over all queries")
        same(undivided, share(s), f"undivided, {where}", {
            "this is the share with the division": share(s / root),
            "reshape does not transpose": share(flat), **mistakes(s),
            "the limit is always 0.9": share(s, limit=0.9)})
        same(divided, share(s / root), f"divided, {where}", {
            "the weights are divided, not the scores":
                (softmax(s).max(-1) / root > limit).mean(),
            "divided by d_k, not by its root": share(s / d_k),
            "divided by √S, not by √d_k": share(s / S**0.5),
            "divided by √L, not by √d_k": share(s / L**0.5),
            "reshape does not transpose": share(flat / root),
            **mistakes(s / root)})


@SET.item("softmax_jacobian")
def check_softmax_jacobian(run, rng, variant):
    def case(*shape):
        return softmax(rng.normal(size=shape) * 2)

    zeros = case(2, 1, 6)
    zeros[..., 1:4:2] = 0
    zeros /= zeros.sum(-1, keepdims=True)
    for where, a in [
            ("no axes in front", case(5)), ("3 rows", case(3, 4)),
            ("2 axes in front", case(2, 3, 6)),
            ("3 axes in front", case(2, 3, 4, 5)),
            ("an axis of length 1 in front", case(2, 1, 4)),
            ("some weights are equal",
             softmax(rng.integers(0, 2, size=(4, 5)) * 1.0)),
            ("some weights are 0", zeros)]:
        eye = np.eye(a.shape[-1])
        column, row = a[..., :, None], a[..., None, :]
        diagonal, outer = column * eye, column * row
        again = softmax(a)
        same(run(a), diagonal - outer, where, {
            "only the diagonal is there": diagonal * (1 - a[..., None]),
            "the product of two weights is missing": diagonal,
            "the identity is not multiplied by the weights": eye - outer,
            "the weights on the diagonal are missing": -outer,
            "the sign is wrong": outer - diagonal,
            "the sign is wrong off the diagonal":
                diagonal + outer * (1 - 2 * eye),
            "entries are told apart by their weights, not by their place":
                np.where(column == row, column * (1 - column), -outer),
            "the weights went through softmax once more":
                again[..., :, None] * (eye - again[..., None, :]),
            "these are slopes of single weights, without the other scores":
                a * (1 - a)})


def nudged(names, kind, a, x, *step):
    import numpy as np

    if kind == "transposed":
        a, x = a.T.copy(), x.T  # a view; on the way it would be straightened

    def f(z):
        if np.shape(z) != x.shape:
            raise ValueError
        return float(np.sin(a * z).sum() + (a * z * z).sum() + z.sum()**2)

    return names["numeric_gradient"](f, x, *step)


@SET.item("numeric_gradient", drive=nudged)
def check_numeric_gradient(run, rng, variant):
    for kind, shape in [("plain", (4,)), ("plain", (3, 5)),
                        ("plain", (2, 3, 4)), ("plain", (2, 1, 3)),
                        ("some numbers are equal", (3, 4)),
                        ("transposed", (3, 5))]:
        a, x = rng.normal(size=(2, *shape))
        if kind == "some numbers are equal":
            x = x.round()
        one = np.eye(x.size).reshape(x.size, *shape)  # a place each
        before = np.cumsum(one, axis=0) - one
        first = np.indices(shape)[0]

        def f(z, a=a):
            return (np.sin(a * z) + a * z * z).sum() + z.sum()**2

        def change(nudges, start=x, f=f, x=x):
            """Return f above minus f below, for each number of x."""
            start = np.broadcast_to(start, nudges.shape)
            return np.reshape([f(s + n) - f(s - n)
                               for s, n in zip(start, nudges, strict=True)],
                              x.shape)

        def turned(g, kind=kind):
            return g.T if kind == "transposed" else g

        h = 0.25
        want = change(h * one) / (2 * h)
        slope = a * np.cos(a * x) + 2 * a * x + 2 * x.sum()
        far = change(2 * h * one) / (4 * h)
        own = h * np.maximum(1, abs(x))
        hints = {
            "this is the difference to one side":
                change(h / 2 * one, x + h / 2 * one) / h,
            "this is the difference to the other side":
                change(h / 2 * one, x - h / 2 * one) / h,
            "divided by the step, not by the distance of the two points":
                2 * want,
            "not divided by anything": 2 * h * want,
            "the sign is wrong": -want,
            "multiplied by the step: 2 * step belongs in brackets":
                want * h**2,
            "all numbers are nudged at once":
                np.full(shape, (f(x + h) - f(x - h)) / (2 * h)),
            "whole rows are nudged":
                change(h * np.array([first == i for i in first.flat]))
                / (2 * h),
            "numbers that are equal are nudged together":
                change(h * np.array([x == number for number in x.flat]))
                / (2 * h),
            "nudges pile up": change(h * (before + one)) / (2 * h),
            "what was nudged is not put back":
                change(h * one, x - h * before) / (2 * h),
            "the other numbers are to stay, not to be 0":
                change(h * one, x * one) / (2 * h),
            "half a step up and half a step down": change(h / 2 * one) / h,
            "the step depends on the number":
                change(own.reshape(-1, *[1] * x.ndim) * one) / (2 * own),
            "more than the two points of the text": (4 * want - far) / 3,
            "this is the slope itself, though the step is large: the two "
            "points of the text give something else": slope,
            "all zero: `f` does not see what is nudged (`ravel` may copy)":
                0 * x}
        where = f"{kind}, shape {turned(x).shape}"
        same(run(kind, a, x, h), turned(want), f"{where}, a large step",
             {why: turned(wrong) for why, wrong in hints.items()})
        got, slope = numbers(run(kind, a, x)), turned(slope)
        must(got.shape != slope.shape
             or not 1e-3 < abs(got - slope).max() < 1,
             f"{where}, step 1e-5: nearly right. Is all of it in double "
             "precision, and is the step what the first line says?")
        same(got, slope, f"{where}, step 1e-5")


@SET.item("attention_gradient", needs=["softmax_jacobian",
                                       "numeric_gradient"])
def check_attention_gradient(run, rng, variant):
    for front, L, S, d_k, d_v in [
            ((), 3, 5, 10, 6), ((2,), 5, 3, 7, 2), ((2, 3), 2, 4, 6, 5),
            ((2, 1), 1, 4, 3, 5),
            ((2,), 120, 130, 50, 40),  # too large for finite differences
            ((2,), 8, 6, 5, 3)]:
        large = L == 8
        q = rng.normal(size=(*front, L, d_k))
        if large:  # beyond what exp can take, and beyond a cautious limit
            q[..., ::2, :] *= 1000
            q[..., 1::2, :] *= 10
        k = rng.normal(size=(*front, S, d_k))
        v = rng.normal(size=(*front, S, d_v))
        g = rng.normal(size=(*front, L, d_v))
        a = softmax(q @ flip(k) / d_k**0.5)
        g_a = g @ flip(v)
        g_s = a * (g_a - (a * g_a).sum(-1, keepdims=True))
        got_q, got_k, got_v = numbers(run(q, k, v, g), 3)
        where = (f"{in_front(front)}, L = {L}"
                 + ", scores in the thousands" * large)

        def mistakes(through, back, g_s=g_s, a=a, g_a=g_a, d_k=d_k):
            return {
                "the division by √d_k is missing on the way back":
                    through(g_s),
                "divided by √d_k twice on the way back": through(g_s / d_k),
                "softmax is passed as if each weight had only its own score":
                    through(a * (1 - a) * g_a) / d_k**0.5,
                "softmax is left out on the way back":
                    through(g_a) / d_k**0.5,
                "in softmax's gradient the sum runs over the queries":
                    through(a * (g_a - (a * g_a).sum(-2, keepdims=True)))
                    / d_k**0.5,
                "in softmax's gradient the sum over the row is missing":
                    through(a * g_a) / d_k**0.5,
                "in softmax's gradient the sum over the row is not weighted":
                    through(a * (g_a - g_a.mean(-1, keepdims=True)))
                    / d_k**0.5,
                "the sign is wrong": -through(g_s) / d_k**0.5,
                "query and key are the other way round": back}

        want_q, want_k = g_s @ k / d_k**0.5, flip(g_s) @ q / d_k**0.5
        same(got_v, flip(a) @ g, f"gradient for the value, {where}", {
            "its weights come from scores that were not divided":
                flip(softmax(q @ flip(k))) @ g,
            "its weights come from scores divided by √d_v, not by √d_k":
                flip(softmax(q @ flip(k) / d_v**0.5)) @ g,
            "softmax runs over the queries":
                flip(softmax(q @ flip(k) / d_k**0.5, -2)) @ g,
            "reshape does not transpose": a.reshape(*front, S, L) @ g,
            "the weights are missing": flip(np.ones_like(a)) @ g,
            "the scores weigh it, not the weights":
                flip(q @ flip(k) / d_k**0.5) @ g})
        same(got_q, want_q, f"gradient for the query, {where}",
             mistakes(lambda g_s, k=k: g_s @ k, want_k))
        same(got_k, want_k, f"gradient for the key, {where}",
             mistakes(lambda g_s, q=q: flip(g_s) @ q, want_q))
