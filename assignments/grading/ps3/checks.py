"""Hidden checks of problem set 3."""

import numpy as np

from grading.items import ProblemSet, must, numbers, same

SET = ProblemSet("ps3", forbidden=("__closure__", "inspect"), variants={
    "fillers on the right": {},
    "fillers on the left": {'side="right"': 'side="left"'},
})


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def causal_mask(L, S):
    return np.tri(L, S, S - L, dtype=bool)


def padding_mask(lengths, size, side):
    rows = [[i < n if side == "right" else i >= size - n
             for i in range(size)] for n in lengths]
    return np.array(rows)[:, None, None]


def masked_softmax(scores, may):
    may = np.broadcast_to(may, scores.shape)
    weights = np.zeros(scores.shape)
    for row in np.ndindex(scores.shape[:-1]):
        if may[row].any():
            weights[row][may[row]] = softmax(scores[row][may[row]])
    return weights


def boolean(value, name):
    """Insist on True and False."""
    must(value.dtype == bool, f"{name} is to hold True and False")
    return value


@SET.item("causal_mask")
def check_causal_mask(run, rng, variant):
    for L, S in [(5, 5), (2, 7), (4, 6), (1, 5), (1, 1), (6, 7)]:
        may = boolean(numbers(run(L, S)), "the mask")
        want = causal_mask(L, S)
        where = "as many queries as keys" if L == S else (
            "one query" if L == 1 else "fewer queries than keys")
        same(may, want, where, {
            "True means may look; here it is the other way round": ~want,
            "the triangle is in the upper left corner": np.tri(L, S) > 0,
            "no position sees itself": np.tri(L, S, S - L - 1) > 0,
            "each position sees the one after it":
                np.tri(L, S, S - L + 1) > 0,
            "everybody sees the future instead of the past":
                ~np.tri(L, S, S - L - 1, dtype=bool)})


def batch(rng, size):
    """Draw lengths, the shortest and the longest among them."""
    lengths = rng.integers(1, size + 1, size=6)
    lengths[rng.permutation(6)[:2]] = 1, size
    return lengths


@SET.item("padding_mask")
def check_padding_mask(run, rng, variant):
    default = "right" if variant == "fillers on the right" else "left"
    for size in (4, 7):
        lengths = batch(rng, size)
        for sides in (["right"], ["left"], []):
            side, = sides or [default]
            may = boolean(numbers(run(lengths, size, *sides)), "the mask")
            want = padding_mask(lengths, size, side)
            other = "left" if side == "right" else "right"
            where = (f"fillers on the {side}" if sides else
                     "`side` not given")
            same(may, want, where, {
                "True means may look; here fillers are True": ~want,
                "the fillers are on the other side":
                    padding_mask(lengths, size, other),
                "fillers are True, on the other side":
                    ~padding_mask(lengths, size, other),
                "one column too many is allowed":
                    padding_mask(lengths + 1, size, side),
                "one column too few is allowed":
                    padding_mask(lengths - 1, size, side),
                "the axes for heads and queries are missing": want[:, 0, 0]})


@SET.item("decoder_mask", needs=["causal_mask", "padding_mask"])
def check_decoder_mask(run, rng, variant):
    default = "right" if variant == "fillers on the right" else "left"
    for L, S in [(3, 7), (5, 5), (1, 4), (6, 8)]:
        lengths = batch(rng, S)
        for sides in (["left"], ["right"], []):
            side, = sides or [default]
            may, empty = numbers(run(lengths, L, S, *sides), 2)
            boolean(may, "`may`")
            boolean(empty, "`empty`")
            causal = causal_mask(L, S)
            padding = padding_mask(lengths, S, side)
            want = causal & padding
            where = (f"fillers on the {side}" if sides else
                     "`side` not given") + f", L {'<' if L < S else '='} S"
            same(may, want, f"may, {where}", {
                "allowed by one of the two masks is not enough":
                    causal | padding,
                "the padding is forgotten":
                    np.broadcast_to(causal, want.shape),
                "the causal mask is forgotten":
                    np.broadcast_to(padding, want.shape),
                "the triangle is in the upper left corner":
                    (np.tri(L, S) > 0) & padding,
                "`side` is not used": causal & padding_mask(
                    lengths, S, "left" if side == "right" else "right"),
                "padded queries are masked too; nobody reads them": want
                    & padding.swapaxes(-1, -2)[:, :, S - L:]})
            none = ~want.any(-1)
            same(empty, none, f"empty, {where}", {
                "it tells which queries see something": ~none,
                "it tells which queries do not see everything":
                    ~want.all(-1),
                "it tells which keys nobody sees": ~want.any(-2),
                "it tells which queries are fillers": ~np.broadcast_to(
                    padding[..., 0, S - L:], none.shape)})


@SET.item("masked_softmax")
def check_masked_softmax(run, rng, variant):
    cases = {}
    for front, L, S in [((), 4, 6), ((3,), 5, 4), ((2, 3), 4, 7)]:
        scores = rng.normal(size=(*front, L, S)) * 2
        may = rng.random(scores.shape) < 0.5
        may[..., 0] = True
        cases[f"{len(front)} axes in front"] = scores, may
    scores = rng.normal(size=(4, 3, 5, 8)) * 2
    cases["a mask (L, S) for scores (B, H, L, S)"] = scores, causal_mask(5, 8)
    cases["a mask (B, 1, 1, S) for scores (B, H, L, S)"] = (
        scores, padding_mask([8, 1, 5, 3], 8, "left"))
    may = rng.random(scores.shape) < 0.5
    may[..., 4] = True
    may[0, :, 2] = may[1, 0, 0] = False
    cases["some queries may look at nothing"] = scores, may
    may = causal_mask(6, 8)
    for size in (1e3, 1e6, -1e6):
        scores = rng.normal(size=(2, 6, 8))
        cases[f"forbidden scores around {size:+.0f}"] = (
            np.where(may, scores, scores + size), may)
        cases[f"allowed scores around {size:+.0f}"] = (
            np.where(may, scores + size, scores), may)
    cases["rows of very different sizes"] = (
        rng.normal(size=(2, 6, 8)) + 1e3 * np.arange(6)[:, None], may)
    for where, (scores, may) in cases.items():
        want = masked_softmax(scores, may)
        weights = softmax(scores)
        full = np.broadcast_to(may, scores.shape)
        got = numbers(run(scores, may))
        rest = weights * may
        same(got, want, where, {
            "True means may look; here it is the other way round":
                masked_softmax(scores, ~full),
            "forbidden scores are 0, and e⁰ is 1":
                softmax(np.where(may, scores, 0)),
            "the mask comes after softmax, so forbidden keys have had their "
            "share": rest,
            "a finite number is added, which a score can reach":
                softmax(scores + np.where(may, 0, -1e4)),
            "the mask is added as 0 and 1": softmax(scores + may),
            "the mask is multiplied with the scores": softmax(scores * may),
            "the fill is finite, and an empty row looks everywhere":
                softmax(np.where(may, scores, -1e9)),
            "softmax runs over the queries": np.swapaxes(masked_softmax(
                scores.swapaxes(-1, -2), full.swapaxes(-1, -2)), -1, -2),
            "the mask has no effect": weights})
        must((got[~full] == 0).all(),
             f"{where}: a forbidden key gets a little; 0 is wanted, exactly")


def through(names, ids, mix, table, read):
    import numpy as np

    def model(ids):
        x = mix @ table[np.asarray(ids)]  # row n hears of m if mix[n, m]
        return (x + np.maximum(x, 0)) @ read

    return names["influence"](model, ids, len(table))


@SET.item("influence", drive=through)
def check_influence(run, rng, variant):
    for T, vocabulary in [(6, 9), (9, 4), (5, 2)]:
        past = np.tri(T, dtype=bool)
        one = past.copy()
        one[1, 3] = True
        odd = rng.random((T, T)) < 0.4
        np.fill_diagonal(odd, True)
        models = {"an honest model": past,
                  "a model that peeks one token ahead": np.tri(T, k=1) > 0,
                  "a model in which one position peeks": one,
                  "a model with a window": past & ~np.tri(T, k=-2,
                                                          dtype=bool),
                  "a model without a mask": np.ones((T, T), dtype=bool),
                  "a model that ignores a token's own position":
                      np.tri(T, k=-1) > 0,
                  "a model with a strange pattern": odd}
        for where, heard in models.items():
            ids = rng.integers(vocabulary, size=T)
            ids[rng.permutation(T)[:2]] = 0, vocabulary - 1
            mix = np.where(heard, rng.uniform(1, 2, size=(T, T)), 0)
            mix[~past] *= 1e-9
            table = rng.normal(size=(vocabulary, 5))
            read = rng.normal(size=(5, vocabulary))
            got = boolean(numbers(run(ids, mix, table, read)), "the result")
            same(got, heard, where, {
                "rows and columns are swapped: rows are who hears": heard.T,
                "a small change is overlooked": heard & past,
                "True and False are swapped": ~heard,
                "more than one token is exchanged at a time (all after it)":
                    np.cumsum(heard[:, ::-1], axis=1)[:, ::-1] > 0,
                "more than one token is exchanged at a time (all before it)":
                    np.cumsum(heard, axis=1) > 0,
                "a token that is 0 is not exchanged": heard & (ids != 0)})


def fed(names, pieces, cache, *weights):
    outputs, caches = [], []
    for x in pieces:
        output, cache = names["extend"](x, cache, *weights)
        outputs.append(output)
        caches.append(cache)
    return outputs, caches


@SET.item("extend", needs=["causal_mask", "masked_softmax"], drive=fed)
def check_extend(run, rng, variant):
    for front, d_model, d_k, d_v, cuts in [
            ((), 5, 3, 4, [7]), ((), 5, 3, 4, [4, 1, 1]),
            ((2,), 4, 6, 3, [1, 1, 1]), ((2,), 6, 4, 7, [3, 2, 4]),
            ((2, 3), 7, 5, 4, [2, 1, 3, 1])]:
        x = rng.normal(size=(*front, sum(cuts), d_model))
        w_q, w_k = rng.normal(size=(2, d_model, d_k)) / d_model**0.5 * 2
        w_v = rng.normal(size=(d_model, d_v))
        ends = np.cumsum(cuts)
        pieces = [x[..., end - n:end, :]
                  for n, end in zip(cuts, ends, strict=True)]
        q, k, v = x @ w_q, x @ w_k, x @ w_v
        scores = q @ k.swapaxes(-1, -2)
        result = run(pieces, None, w_q, w_k, w_v)
        must(isinstance(result, tuple | list) and len(result) == 2,
             "an output and a cache are to be returned")
        for n, end, output, cache in zip(cuts, ends, *result, strict=True):
            new, now = slice(end - n, end), f"{len(front)} axes in front, "
            now += ("prefill" if end == n else
                    "one token on a cache" if n == 1 else
                    "several tokens on a cache")
            s = scores[..., new, :end]

            def out(may, s=s, end=end, scale=d_k**0.5, v=v):
                return masked_softmax(s / scale, may) @ v[..., :end, :]

            may, all_of_it = causal_mask(n, end), np.ones((n, end), bool)
            alone = np.zeros((n, end), bool)
            alone[:, end - n:] = causal_mask(n, n)
            same(numbers(output), out(may), f"output, {now}", {
                "the mask is missing": out(all_of_it),
                "the triangle is in the upper left corner":
                    out(np.tri(n, end) > 0),
                "new tokens do not look at the cache": out(alone),
                "new tokens do not look at themselves":
                    out(np.tri(n, end, end - n - 1) > 0),
                "the scores are not divided": out(may, scale=1),
                "divided by √d_model, not by √d_k":
                    out(may, scale=d_model**0.5),
                "divided by √d_v, not by √d_k": out(may, scale=d_v**0.5),
                "divided by d_k, not by its root": out(may, scale=d_k)})
            keys, values = numbers(cache, 2)
            same(keys, k[..., :end, :], f"keys in the cache, {now}", {
                "new ones stand in front of the old ones": np.concatenate(
                    [k[..., new, :], k[..., :end - n, :]], axis=-2),
                "only the new ones are there": k[..., new, :],
                "these are the values": v[..., :end, :],
                "these are the tokens, not yet projected": x[..., :end, :],
                "these are queries": q[..., :end, :]})
            same(values, v[..., :end, :], f"values in the cache, {now}", {
                "only the new ones are there": v[..., new, :]})
    # From one cache with two different next tokens.
    x, y = rng.normal(size=(2, 2, 1, 4))
    w_q, w_k, w_v = rng.normal(size=(3, 4, 5))
    old = rng.normal(size=(2, 2, 3, 5))
    for token in (x, y):
        output = numbers(run([token], (old[0], old[1]), w_q, w_k, w_v)[0][0])
        keys = np.concatenate([old[0], token @ w_k], -2)
        values = np.concatenate([old[1], token @ w_v], -2)
        s = (token @ w_q) @ keys.swapaxes(-1, -2) / 5**0.5
        same(output, softmax(s) @ values, "two ways on from one cache", {
            "the cache given is not used": token @ w_v})
