"""Hidden checks of problem set 5."""

import numpy as np

from grading.items import ProblemSet, must, numbers, same

SET = ProblemSet("ps5", variants={
    "output first": {},
    "weights first": {  # the two change places
        "return output, weights": "return the two",
        "return weights, output": "return output, weights",
        "return the two": "return weights, output",
        "output, weights = result": "weights, output = result",
        "output, weights = cross_attention(":
            "weights, output = cross_attention(",
        "output, _ = cross_attention(": "_, output = cross_attention(",
    },
})


def attention(query, key, value, may=True):
    scores = query @ key.swapaxes(-1, -2) / query.shape[-1]**0.5
    scores = np.where(may, scores, -np.inf)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    weights = e / e.sum(-1, keepdims=True)
    return weights @ value, weights


def wire(asks, asked, matrices, may=True):
    w_q, w_k, w_v = matrices
    return attention(asks @ w_q, asked @ w_k, asked @ w_v, may)


@SET.item("cross_attention")
def check_cross_attention(run, rng, variant):
    for front, L, S, d_y, d_x, d_k, d_v in [
            ((2,), 3, 5, 4, 4, 4, 4), ((), 6, 2, 5, 5, 3, 5),
            ((3,), 4, 4, 6, 6, 6, 6), ((2, 3), 4, 6, 7, 5, 3, 2)]:
        y = rng.normal(size=(*front, L, d_y))
        x = rng.normal(size=(*front, S, d_x))
        matrices = [
            rng.normal(size=s) / 2
            for s in ((d_y, d_k), (d_x, d_k), (d_x, d_v))]
        may = rng.random(size=(L, S)) < 0.6
        may[:, 0] = True
        for masked in (False, True):
            more = (may,) if masked else ()
            pair = numbers(run(y, x, *matrices, *more), 2)
            output, weights = pair if variant == "output first" else pair[::-1]
            want, want_weights = wire(y, x, matrices, *more)
            hints = {"output and weights are the other way round": want}
            if d_x == d_y:
                hints["the wrong side asks"] = wire(x, y, matrices)[1]
                hints["keys come from the side that asks"] = wire(
                    y, y, matrices)[1]
            if masked:
                hints["the mask is ignored"] = wire(y, x, matrices)[1]
                if may.sum(-1).max() < S:
                    hints["the mask means the opposite"] = wire(
                        y, x, matrices, ~may)[1]
            where = f"{len(front)} axes in front"
            where += ", with a mask" if masked else ""
            same(weights, want_weights, f"weights, {where}", hints)
            hints = {"the values are not projected": want_weights @ x,
                     "the side that asks is added":
                         want + y if d_y == d_v else want[..., :0]}
            same(output, want, f"output, {where}", hints)


def block(y, source, lengths, own, cross, *, causal=True, padding=True,
          both=False, off=0):
    """Return what the item asks for, or what a known mistake makes of it."""
    T, S = y.shape[1], source.shape[1]
    found = wire(y, y, own, np.tri(T, dtype=bool) if causal else True)[0]
    after = y + found
    real = (np.arange(S) < (lengths + off)[:, None])[:, None]
    if not padding:
        real = np.ones_like(real)
    if both:
        real = real & np.tri(T, S, dtype=bool)
    return after, wire(after, source, cross, real)[0]


@SET.item("decoder", needs=["cross_attention"])
def check_decoder(run, rng, variant):
    for B, T, S, d, d_k in [(2, 4, 6, 5, 3), (3, 6, 4, 4, 7),
                            (4, 4, 4, 6, 6), (1, 3, 5, 4, 2)]:
        y = rng.normal(size=(B, T, d))
        source = rng.normal(size=(B, S, d))
        lengths = rng.integers(1, min(T, S) - 1, size=B)
        if B > 1:
            lengths[0] = S
        own, cross = (
            [rng.normal(size=s) / 2 for s in ((d, d_k), (d, d_k), (d, d))]
            for _ in range(2))
        given = y, source, lengths, own, cross
        after, found = block(*given)
        exchanged = block(y, source, lengths, cross, own)
        side_by_side = wire(
            y, source, cross, (np.arange(S) < lengths[:, None])[:, None])[0]
        same(run(*given), after + found, f"a batch of {B}", {
            "the target sees its own future":
                sum(block(*given, causal=False)),
            "the source's padding is read": sum(block(*given, padding=False)),
            "the source is hidden as if it were the future":
                sum(block(*given, both=True)),
            "the source's future is hidden, and its padding is not":
                sum(block(*given, both=True, padding=False)),
            "one word of padding is read": sum(block(*given, off=1)),
            "what is found in the source is not added to y": found,
            "what y finds in itself is not kept": y + found,
            "the matrices of the two steps are exchanged": sum(exchanged),
            "the source is read by the old y, not by the result":
                after + side_by_side})


def rate(weights, links):
    linked = links >= 0
    return (weights.argmax(-1) != links)[linked].mean()


def sample(rng, shape, links, trust=0.6):
    """Return weights whose largest is on the link with probability trust."""
    weights = rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])
    for place in zip(*np.nonzero(rng.random(shape[:-1]) < trust),
                     strict=True):
        link = links[place]
        if link >= 0:
            best = weights[place].argmax()
            weights[place][[link, best]] = weights[place][[best, link]]
    return weights


def some_links(rng, B, T, S):
    links = rng.integers(0, S, size=(B, T))
    for row in links:  # a different number of words without a link
        row[rng.permutation(T)[:rng.integers(0, T)]] = -1
    return links


@SET.item("error_rate")
def check_error_rate(run, rng, variant):
    for B, T, S in [(3, 6, 4), (4, 5, 7), (1, 9, 5), (6, 7, 7)]:
        links = some_links(rng, B, T, S)
        links[0, :3] = [0, -1, S - 1]
        weights = sample(rng, (B, T, S), links)
        weights[0, 1].sort()  # no link, and the last is the largest
        linked = links >= 0
        wrong = weights.argmax(-1) != links
        by_row = [w[k].mean() for w, k in zip(wrong, linked, strict=True)]
        same(run(weights, links), rate(weights, links),
             f"{B} sentences", {
            "it tells how many are right": 1 - rate(weights, links),
            "words without a link count as wrong": wrong.mean(),
            "words without a link count as right": wrong[linked].sum()
             / wrong.size,
            "it is the mean of the sentences' errors": np.mean(by_row),
            "it is a number of words, not a share": wrong[linked].sum()})


@SET.item("alignment_error")
def check_alignment_error(run, rng, variant):
    for shape in [(5, 6), (7, 4), (3, 5, 4), (2, 3, 6, 5)]:
        while True:  # until no mistake gives the same number
            sure = rng.random(shape) < 0.25
            possible = sure | (rng.random(shape) < 0.25)
            proposed = rng.random(shape) < np.where(possible, 0.6, 0.2)
            a, s, p = proposed.sum(), sure.sum(), possible.sum()
            a_s, a_p = (proposed & sure).sum(), (proposed & possible).sum()
            if s == 0 or a == 0:
                continue
            want = 1 - (a_s + a_p) / (a + s)
            hints = {
                "it is not subtracted from 1": 1 - want,
                "possible links are not looked at": 1 - 2 * a_s / (a + s),
                "sure links are not looked at": 1 - 2 * a_p / (a + s),
                "divided by |A| + |P|": 1 - (a_s + a_p) / (a + p),
                "proposals are judged, missing links are not": 1 - a_p / a,
                "missing links are counted, proposals are not judged":
                    1 - a_s / s}
            if len(np.unique(np.round([want, *hints.values()], 6))) == 7:
                break
        same(run(proposed, sure, possible), want,
             f"links with {len(shape)} axes", hints)


@SET.item("best_head", needs=["error_rate"])
def check_best_head(run, rng, variant):
    for B, H, T, S, n in [(6, 4, 7, 5, 2), (9, 3, 5, 6, 5),
                          (8, 6, 8, 4, 3)]:
        while True:  # until the choice matters
            links = some_links(rng, B, T, S)
            weights = np.stack([sample(rng, (B, T, S), links, trust)
                                for trust in rng.uniform(0.4, 0.6, H)], axis=1)
            first, rest, every = (
                np.array([rate(weights[part, h], links[part])
                          for h in range(H)])
                for part in (slice(n), slice(n, None), slice(None)))
            by_row = np.mean([[rate(weights[b:b + 1, h], links[b:b + 1])
                               for b in range(n, B)] for h in range(H)], 1)
            chosen = first.argmin()
            if (np.sum(first == first.min()) == 1
                    and rest[chosen] > rest.min()
                    and every[chosen] > every.min()
                    and rest.argmin() != every.argmin()
                    and len(set(np.round([
                        first[chosen], rest[chosen], every[chosen],
                        by_row[chosen], 1 - rest[chosen]], 6))) == 5):
                break
        head, error = numbers(run(weights, links, n), 2)
        where = f"{H} heads, chosen on {n} of {B} sentences"
        must(head.shape == () and head.dtype.kind in "iu",
             "head is the number of a head, so an integer")
        same(head, chosen, f"head, {where}", {
            "it is the best on all sentences": every.argmin(),
            "it is the best on the sentences to score on": rest.argmin(),
            "heads count from 0": chosen + 1})
        same(error, rest[chosen], f"error, {where}", {
            "it is the error on the sentences chosen on": first[chosen],
            "it is the error on all sentences": every[chosen],
            "it is the lowest error of any head": rest.min(),
            "it is the mean of the sentences' errors": by_row[chosen]})


@SET.item("mixtures")
def check_mixtures(run, rng, variant):
    for B, S, d in [(3, 5, 4), (4, 4, 4), (1, 6, 3), (6, 3, 5)]:
        old, new = rng.normal(size=(2, B, S, d))
        place = rng.integers(0, S, size=B)
        place[-1] = S - 1
        if B > 1:
            place[0] = rng.integers(S - 1)
        here = np.zeros((B, S, 1), bool)
        here[np.arange(B), place] = True
        everybody = np.broadcast_to(
            here.any(0, keepdims=True), (B, S, 1))
        want = np.where(here, new, old), np.where(here, old, new)
        pair = numbers(run(old, new, place), 2)
        for name, got, other in zip(("own", "others"), pair, want[::-1],
                                    strict=True):
            a, b = (new, old) if name == "own" else (old, new)
            same(got, np.where(here, a, b), f"{name}, a batch of {B}", {
                "own and others are exchanged": other,
                "every sentence's place is used in all sentences":
                    np.where(everybody, a, b),
                "nothing is mixed": b})
