"""Hidden checks of problem set 2."""

import numpy as np

from grading.items import ProblemSet, must, numbers, same

SET = ProblemSet("ps2", variants={
    "mutual first": {},
    "one-way first": {
        "`(mutual, one_way)`": "`(one_way, mutual)`",
        "return mutual, one_way": "return one_way, mutual",
        "mutual, one_way = score_parts(": "one_way, mutual = score_parts(",
    },
})


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def flip(x):
    return np.swapaxes(x, -1, -2)


@SET.item("score_parts")
def check_score_parts(run, rng, variant):
    for front, d_model, d_k in [((), 5, 3), ((3,), 4, 6), ((2, 3), 7, 2)]:
        w_q, w_k = rng.normal(size=(2, *front, d_model, d_k))
        pair = numbers(run(w_q, w_k), 2)
        mutual, one_way = pair if variant == "mutual first" else pair[::-1]
        m = np.einsum("...ik,...jk->...ij", w_q, w_k)
        where = f"{len(front)} axes in front"
        hints = {"the two parts are the other way round": (m - flip(m)) / 2,
                 "twice too large": m + flip(m),
                 "this is the whole matrix": m,
                 "this is its lower triangle": np.tril(m),
                 "a factor 1/√d_k, which was to be left aside":
                     (m + flip(m)) / 2 / d_k**0.5}
        same(mutual, (m + flip(m)) / 2, f"mutual part, {where}", hints)
        same(one_way, (m - flip(m)) / 2, f"one-way part, {where}", {
            "its sign is wrong: W_Q W_Kᵀ is wanted, not W_K W_Qᵀ":
                (flip(m) - m) / 2,
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
            "the root of d_k is missing": d_k * (var_q * var_k)**0.5,
            "this is one over it": 1 / want})


@SET.item("saturated")
def check_saturated(run, rng, variant):
    for front, L, S, d_k, limit in [((), 300, 6, 9, 0.55),
                                    ((4,), 90, 11, 16, 0.4),
                                    ((3, 4), 30, 5, 7, 0.7)]:
        q = rng.normal(size=(*front, L, d_k)) * 1.5
        k = rng.normal(size=(*front, S, d_k))

        def share(s, axis=-1, limit=limit):
            return (softmax(s, axis).max(axis) > limit).mean()

        s = q @ flip(k)
        scaled = s / d_k**0.5
        undivided, divided = numbers(run(q, k, limit), 2)
        where = f"{len(front)} axes in front, limit {limit}"
        must(undivided.ndim == divided.ndim == 0,
             f"{where}: each share is one number, over all queries")
        same(undivided, share(s), f"undivided, {where}", {
            "this is the share with the division": share(scaled),
            "softmax or the maximum runs over the queries": share(s, -2),
            "this counts queries; a share is wanted":
                share(s) * s[..., 0].size,
            "this is the share of weights, not of queries":
                (softmax(s) > limit).mean(),
            "the rows below the limit are counted": 1 - share(s),
            "the limit is always 0.9": share(s, limit=0.9)})
        same(divided, share(scaled), f"divided, {where}", {
            "the weights are divided, not the scores":
                (softmax(s).max(-1) / d_k**0.5 > limit).mean(),
            "divided by d_k, not by its root": share(s / d_k),
            "divided by √S, not by √d_k": share(s / S**0.5),
            "divided by √L, not by √d_k": share(s / L**0.5)})


@SET.item("softmax_jacobian")
def check_softmax_jacobian(run, rng, variant):
    for shape in [(5,), (3, 4), (2, 3, 6), (2, 3, 4, 5)]:
        a = softmax(rng.normal(size=shape) * 2)
        diagonal = a[..., None] * np.eye(shape[-1])
        outer = a[..., :, None] * a[..., None, :]
        same(run(a), diagonal - outer, f"weights with {len(shape)} axes", {
            "only the diagonal is there": diagonal * (1 - a[..., None]),
            "the product of two weights is missing": diagonal,
            "the diagonal's own weight is missing":
                np.eye(shape[-1]) - outer,
            "the sign is wrong": outer - diagonal,
            "these are slopes of single weights, without the other scores":
                a * (1 - a)})


def nudged(names, kind, a, x, *step):
    import numpy as np

    def square(z):
        return float((a * z * z).sum() + z.sum()**2)

    def sine(z):
        return float(np.sin(a * z).sum())

    f = {"square": square, "sine": sine}[kind]
    return names["numeric_gradient"](f, x, *step)


@SET.item("numeric_gradient", drive=nudged)
def check_numeric_gradient(run, rng, variant):
    for shape in [(4,), (3, 5), (2, 3, 4)]:
        a, x = rng.normal(size=(2, *shape))
        where = f"x with {len(shape)} axes"
        want, step = 2 * a * x + 2 * x.sum(), 0.25
        same(run("square", a, x, step), want, f"{where}, a large step", {
            "this is the difference to one side":
                want + step * (a + 1),
            "this is the difference to the other side":
                want - step * (a + 1),
            "divided by the step, not by the distance of the two points":
                2 * want,
            "not divided by anything": 2 * step * want,
            "the sign is wrong": -want,
            "multiplied by the step: 2 * step belongs in brackets":
                want * step**2,
            "all numbers are nudged at once":
                np.full(shape, want.sum())})
        same(run("sine", a, x), a * np.cos(a * x), f"{where}, without `step`")


@SET.item("attention_gradient", needs=["softmax_jacobian",
                                       "numeric_gradient"])
def check_attention_gradient(run, rng, variant):
    for front, L, S, d_k, d_v in [
            ((), 3, 5, 4, 6), ((2,), 5, 3, 7, 2), ((2, 3), 2, 4, 6, 5),
            ((2,), 120, 130, 50, 40)]:  # too large for finite differences
        q = rng.normal(size=(*front, L, d_k))
        k = rng.normal(size=(*front, S, d_k))
        v = rng.normal(size=(*front, S, d_v))
        g = rng.normal(size=(*front, L, d_v))
        a = softmax(q @ flip(k) / d_k**0.5)
        g_a = g @ flip(v)
        g_s = a * (g_a - (a * g_a).sum(-1, keepdims=True))
        got_q, got_k, got_v = numbers(run(q, k, v, g), 3)
        where = f"{len(front)} axes in front, {L} queries"

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
            "the weights are missing": flip(np.ones_like(a)) @ g,
            "the scores weigh it, not the weights":
                flip(q @ flip(k) / d_k**0.5) @ g})
        same(got_q, want_q, f"gradient for the query, {where}",
             mistakes(lambda g_s, k=k: g_s @ k, want_k))
        same(got_k, want_k, f"gradient for the key, {where}",
             mistakes(lambda g_s, q=q: flip(g_s) @ q, want_q))
