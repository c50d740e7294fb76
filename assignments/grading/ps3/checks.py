"""Hidden checks of problem set 3."""

import numpy as np

from grading.items import ProblemSet, must, numbers, same
from qkv.reference import softmax

SET = ProblemSet("ps3", forbidden=("__closure__", "inspect"), variants={
    "fillers on the right": {},
    "fillers on the left": {'side="right"': 'side="left"'},
})


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
    for L, S in [(5, 5), (4, 6), (2, 7), (1, 5), (1, 1), (6, 7)]:
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
                ~np.tri(L, S, S - L - 1, dtype=bool),
            "only the very next position is forbidden":
                ~np.eye(L, S, S - L + 1, dtype=bool),
            "everything is allowed": np.ones((L, S), dtype=bool)})


def batch(rng, size):
    """Draw lengths; an empty sentence and a full one are among them."""
    lengths = rng.integers(1, size + 1, size=6)
    lengths[rng.permutation(6)[:3]] = 0, 1, size
    return lengths


@SET.item("padding_mask")
def check_padding_mask(run, rng, variant):
    default = "right" if variant == "fillers on the right" else "left"
    for lengths, size in [(batch(rng, 4), 4), (batch(rng, 7), 7),
                          (rng.integers(1, 3, size=1), 5)]:
        n = lengths[:, None, None, None]
        for sides in (["right"], ["left"], []):
            side, = sides or [default]
            may = boolean(numbers(run(lengths, size, *sides)), "the mask")
            want = padding_mask(lengths, size, side)
            other = "left" if side == "right" else "right"
            where = (f"fillers on the {side}" if sides else
                     "`side` not given")
            where += ", one sentence" if len(n) == 1 else ""
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
                "a sentence without fillers is blocked": want & (n < size),
                "an empty sentence is opened": want | (n == 0),
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
            other = padding_mask(lengths, S,
                                 "left" if side == "right" else "right")
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
                "`side` is not used": causal & other,
                "padded queries are masked too; nobody reads them": want
                    & padding.swapaxes(-1, -2)[:, :, S - L:]})
            none = ~want.any(-1)
            same(empty, none, f"empty, {where}", {
                "it tells which queries see something": ~none,
                "it tells which queries do not see everything":
                    ~want.all(-1),
                "it tells which keys nobody sees": ~want.any(-2),
                "empty sentences are forgotten":
                    none & (lengths > 0)[:, None, None],
                "it belongs to fillers on the other side":
                    ~(causal & other).any(-1),
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
    scores = rng.normal(size=(2, 6, 8))
    cases["allowed scores around -1000000, forbidden ones around +1000000"] = (
        np.where(may, scores - 1e6, scores + 1e6), may)
    cases["-1000000 and +1000000 in one row, both allowed"] = (
        scores + 1e6 * np.array([-1, 1, 0, 1, -1, 0, 1, -1]), may)
    for where, (scores, may) in cases.items():
        want = masked_softmax(scores, may)
        weights = softmax(scores)
        full = np.broadcast_to(may, scores.shape)
        got = numbers(run(scores, may))
        rest = weights * may
        same(got, want, where, {
            "True means may look; here it is the other way round":
                masked_softmax(scores, ~full),
            "a finite number replaces forbidden scores, which is not enough":
                softmax(np.where(may, scores, -1e5)) * full.any(
                    -1, keepdims=True),
            "a finite number is added to forbidden scores, which is not "
            "enough": softmax(scores + np.where(may, 0, -1e5)) * full.any(
                    -1, keepdims=True),
            "what is added makes forbidden scores equal to others, not lower":
                softmax(scores + np.where(may, 0, -2e6)) * full.any(
                    -1, keepdims=True),
            "forbidden scores are 0, and e⁰ is 1":
                softmax(np.where(may, scores, 0)),
            "the mask comes after softmax, so forbidden keys have had their "
            "share": rest,
            "the mask is added as 0 and 1": softmax(scores + may),
            "the mask is multiplied with the scores": softmax(scores * may),
            "the fill is finite, and an empty row looks everywhere":
                softmax(np.where(may, scores, -1e9)),
            "softmax runs over the queries": np.swapaxes(masked_softmax(
                scores.swapaxes(-1, -2), full.swapaxes(-1, -2)), -1, -2),
            "the mask has no effect": weights})
        must((got[~full] == 0).all(),
             f"{where}: a forbidden key gets a little; 0 is wanted, exactly")


def through(names, ids, parts, lock, key):
    import numpy as np

    T, vocabulary = parts.shape[1:3]
    place, wrong = np.arange(T), []

    def model(ids):
        ids = np.array(ids)
        if ids.shape != (T,) or not np.isin(ids, np.arange(vocabulary)).all():
            wrong.append(True)
            return np.zeros((T, vocabulary))
        # Row n adds up what it hears of each m; a token may be the key to it.
        open_ = (lock < 0) | (ids[lock] == key[lock])
        return (parts[:, place, ids] * open_[..., None]).sum(axis=1)

    return names["influence"](model, ids, vocabulary), bool(wrong)


def effects(model, ids, vocabulary):
    """Return by how much logits change, (m, token, n, logit)."""
    T = len(ids)
    texts = np.tile(ids, (T, vocabulary, 1))
    texts[np.arange(T), :, np.arange(T)] = np.arange(vocabulary)
    return np.array([[model(text) for text in row] for row in texts]
                    ) - model(ids)


def models(rng, T, vocabulary):
    """Return {name: (parts (n, m, token, logit), lock (n, m))}.

    All numbers have few digits, so that sums are exact.
    """
    past = np.tri(T, dtype=bool)
    one = past.copy()
    one[1, 3] = True
    odd = rng.random((T, T)) < 0.4
    np.fill_diagonal(odd, True)
    shape = T, T, vocabulary, vocabulary

    def parts(heard):
        return heard[..., None, None] * rng.integers(1, 50, size=shape)

    def pick():
        """Choose one of the vocabulary for each n and m."""
        return np.eye(vocabulary)[rng.integers(vocabulary, size=(T, T))]

    whisper = np.where(past, 1, 2.0**-43)[..., None, None]
    logit = pick()[:, :, None]
    plain = {
        "an honest model": parts(past),
        "a model that peeks one token ahead":
            parts(np.tri(T, k=1) > 0) * whisper,
        "a model in which one position peeks": parts(one),
        "a model with a window":
            parts(past & ~np.tri(T, k=-2, dtype=bool)),
        "a model without a mask":
            parts(np.ones((T, T), dtype=bool)) * whisper,
        "a model that ignores a token's own position":
            parts(np.tri(T, k=-1) > 0),
        "a model with a strange pattern": parts(odd),
        "only certain tokens make a change":
            parts(odd) * pick()[..., None],
        "only one logit changes": parts(odd) * logit,
        "two logits change, one up, one down":
            parts(odd)[..., :1] * (logit - np.roll(logit, 1, axis=-1)),
        "all logits change alike": np.broadcast_to(parts(odd)[..., :1], shape),
        "all changes are tiny": parts(past) * 2.0**-43}
    none = np.full((T, T), -1)
    return {name: (values, none) for name, values in plain.items()} | {
        "one token decides whether another is heard":
            (parts(past), rng.integers(T, size=(T, T)))}


@SET.item("influence", drive=through)
def check_influence(run, rng, variant):
    for T, vocabulary in [(6, 9), (9, 4), (5, 2)]:
        for where, (parts, lock) in models(rng, T, vocabulary).items():
            ids = rng.integers(vocabulary, size=T)
            ids[rng.permutation(T)[:2]] = 0, vocabulary - 1
            key = np.where(rng.random(T) < 0.7, ids,
                           rng.integers(vocabulary, size=T))
            change, _ = through({"influence": effects}, ids, parts, lock, key)
            heard = (change != 0).any((1, 3)).T

            def by(token, change=change, ids=ids):
                one = change[np.arange(len(ids)), token]
                return (one != 0).any(-1).T

            got, wrong = run(ids, parts, lock, key)
            must(not wrong, "the model got a token number below 0 or above "
                 "`vocabulary` - 1, or a text of another length")
            got = boolean(numbers(got), "the result")
            hints = {
                "rows and columns are swapped: rows are who hears": heard.T,
                "a small change is overlooked":
                    (abs(change) > 1e-8).any((1, 3)).T,
                "a very small change is overlooked":
                    (abs(change) > 1e-12).any((1, 3)).T,
                "True and False are swapped": ~heard,
                "one other token is tried, not all (the next)":
                    by((ids + 1) % vocabulary),
                "one other token is tried, not all (the one before)":
                    by((ids - 1) % vocabulary),
                "one other token is tried, not all (token 0)": by(0),
                "token 0 is never tried":
                    (change[:, 1:] != 0).any((1, 3)).T,
                "the last token of the vocabulary is never tried":
                    (change[:, :-1] != 0).any((1, 3)).T,
                "one logit is compared, not all (the first)":
                    (change[..., 0] != 0).any(1).T,
                "sums are compared, in which changes cancel":
                    (change.sum(-1) != 0).any(1).T,
                "every logit has to change; one is enough":
                    (change != 0).all(-1).any(1).T,
                "a change that is the same for all logits is overlooked":
                    (change.max(-1) != change.min(-1)).any(1).T,
                "a token that is 0 is not exchanged": heard & (ids != 0),
                "more than one token is exchanged at a time (all after it)":
                    np.cumsum(heard[:, ::-1], axis=1)[:, ::-1] > 0,
                "more than one token is exchanged at a time (all before it)":
                    np.cumsum(heard, axis=1) > 0}
            if got.shape == heard.shape:
                hints |= {"something that is heard is missing": got & heard,
                          "something is there that is not heard": got | heard}
            same(got, heard, where, hints)


def fed(names, pieces, parents, cache, *weights):
    import copy

    outputs, caches, kept = [], [], []
    for x, parent in zip(pieces, parents, strict=True):
        result = names["extend"](
            x, cache if parent < 0 else caches[parent], *weights)
        if not isinstance(result, tuple | list) or len(result) != 2:
            return None
        outputs.append(result[0])
        caches.append(result[1])
        kept.append(copy.deepcopy(result[1]))
    return outputs, kept, caches


@SET.item("extend", needs=["causal_mask", "masked_softmax"], drive=fed)
def check_extend(run, rng, variant):
    # Piece i goes on from the cache of piece parents[i].
    for name, front, d_model, d_k, d_v, cuts, parents in [
            ("", (), 5, 3, 4, [7], None),
            ("", (), 5, 3, 4, [4, 1, 1], None),
            ("", (2,), 4, 6, 7, [1, 1, 1], None),
            ("", (2,), 6, 4, 7, [3, 2, 4], None),
            ("", (2, 3), 7, 5, 4, [2, 1, 3, 1], None),
            ("large scores, ", (2, 3), 7, 5, 4, [3, 1, 2], None),
            ("two ways on, ", (2,), 4, 5, 7, [3, 1, 1, 2], [-1, 0, 0, 1])]:
        w_q, w_k = rng.normal(size=(2, d_model, d_k)) / d_model**0.5 * 2
        w_v = rng.normal(size=(d_model, d_v))
        pieces = [rng.normal(size=(*front, n, d_model)) for n in cuts]
        if name.startswith("large"):  # far below -10,000, and far above
            pieces = [500 * x for x in pieces]
            w_k = w_k / 4 - w_q
        parents = parents or range(-1, len(cuts) - 1)
        result = run(pieces, list(parents), None, w_q, w_k, w_v)
        must(result is not None, "an output and a cache are to be returned")
        name += f"{len(front)} axes in front, "
        texts = []
        for n, x, parent, output, cache, later in zip(
                cuts, pieces, parents, *result, strict=True):
            if parent >= 0:
                x = np.concatenate([texts[parent], x], axis=-2)
            texts.append(x)
            end = x.shape[-2]
            new, now = slice(end - n, end), name + (
                "prefill" if end == n else "one token on a cache" if n == 1
                else "several tokens on a cache")
            q, k, v = x @ w_q, x @ w_k, x @ w_v
            s = q[..., new, :] @ k.swapaxes(-1, -2)

            def out(may, s=s, scale=d_k**0.5, v=v):
                return masked_softmax(s / scale, may) @ v

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
                "divided by d_k, not by its root": out(may, scale=d_k),
                "multiplied by √d_k, not divided": out(may, scale=d_k**-0.5),
                "a forbidden score is -10,000, and scores can be lower":
                    softmax(np.where(may, s / d_k**0.5, -1e4)) @ v})
            keys, values = numbers(cache, 2)
            same(keys, k, f"keys in the cache, {now}", {
                "new ones stand in front of the old ones": np.concatenate(
                    [k[..., new, :], k[..., :end - n, :]], axis=-2),
                "only the new ones are there": k[..., new, :],
                "they are divided by √d_k; scores are": k / d_k**0.5,
                "these are the values": v,
                "these are the tokens, not yet projected": x,
                "these are queries": q})
            same(values, v, f"values in the cache, {now}", {
                "only the new ones are there": v[..., new, :]})
            must(all(map(np.array_equal, cache, numbers(later, 2))),
                 f"{name}an old cache is changed by a later call")
    # A cache that no earlier call has made.
    x = rng.normal(size=(2, 1, 4))
    w_q, w_k, w_v = rng.normal(size=(3, 4, 5))
    old = rng.normal(size=(2, 2, 3, 5))
    result = run([x], [-1], (old[0], old[1]), w_q, w_k, w_v)
    keys = np.concatenate([old[0], x @ w_k], -2)
    values = np.concatenate([old[1], x @ w_v], -2)
    s = x @ w_q @ keys.swapaxes(-1, -2) / 5**0.5
    same(result[0][0], softmax(s) @ values, "the cache comes from elsewhere", {
        "the cache given is not used": x @ w_v})
