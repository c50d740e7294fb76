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
        w_q, w_k, w_v = matrices = [
            rng.normal(size=s) / 2
            for s in ((d_y, d_k), (d_x, d_k), (d_x, d_v))]
        masks = {"without a mask": None, "a mask for all": (L, S),
                 "a mask for each": (*front, L, S),
                 "a mask for each, over the keys": (*front, 1, S)}
        for what, shape in masks.items():
            more, may = (), True
            if shape:
                may = rng.random(size=shape) < 0.6
                may[..., rng.integers(S)] = True
                more = (may,)
            pair = numbers(run(y, x, *matrices, *more), 2)
            output, weights = pair if variant == "output first" else pair[::-1]
            want, want_weights = wire(y, x, matrices, may)
            hints = {
                "output and weights are the other way round": want,
                "scaled once more, and attention scales already":
                    wire(y, x, (w_q / d_k**0.5, w_k, w_v), may)[1]}
            if d_x == d_y:
                hints |= {
                    "the wrong side asks": wire(x, y, matrices)[1],
                    "keys come from the side that asks":
                        wire(y, y, matrices)[1],
                    "w_q and w_k are exchanged":
                        wire(y, x, (w_k, w_q, w_v), may)[1]}
            if d_y == d_k == d_x:
                one = np.eye(d_k)
                hints |= {
                    "queries are not projected":
                        wire(y, x, (one, w_k, w_v), may)[1],
                    "keys are not projected":
                        wire(y, x, (w_q, one, w_v), may)[1],
                    "w_q and w_k are transposed":
                        wire(y, x, (w_q.T, w_k.T, w_v), may)[1]}
            if shape:
                hints["the mask is ignored"] = wire(y, x, matrices)[1]
                if may.sum(-1).max() < S:
                    hints["the mask means the opposite"] = wire(
                        y, x, matrices, ~may)[1]
                first = may.reshape(-1, *may.shape[-2:])[0]
                hints["the first sentence's mask is used for all"] = wire(
                    y, x, matrices, first)[1]
            where = f"{len(front)} axes in front, {what}"
            same(weights, want_weights, f"weights, {where}", hints)
            hints = {"the values are not projected": want_weights @ x,
                     "the side that asks is added":
                         want + y if d_y == d_v else want[..., :0]}
            same(output, want, f"output, {where}", hints)


def block(y, source, lengths, own, cross, *, causal=True, padding=True,
          both=False, off=0, may=True):
    """Return what the item asks for, or what a known mistake makes of it."""
    T, S = y.shape[1], source.shape[1]
    past = np.tri(T, dtype=bool) if causal else True
    after = y + wire(y, y, own, past & np.asarray(may))[0]
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
        if B > 1:  # no padding, one word of it, more
            lengths[0] = S
            lengths[2:3] = S - 1
        own, cross = (
            tuple(rng.normal(size=s) / 2 for s in ((d, d_k), (d, d_k), (d, d)))
            for _ in range(2))
        given = y, source, lengths, own, cross
        after, found = block(*given)
        exchanged = block(y, source, lengths, cross, own)
        real = np.arange(S) < lengths[:, None]
        side_by_side = wire(y, source, cross, real[:, None])[0]
        t = np.arange(T)
        shared = (t < lengths[:, None])[:, None]
        got = numbers(run(*given))
        must(not np.isnan(got).any(),
             "NaN: somewhere a mask leaves a query nothing to look at")
        same(got, after + found, f"a batch of {B}", {
            "the target sees its own future":
                sum(block(*given, causal=False)),
            "a position sees itself only":
                sum(block(*given, may=np.eye(T, dtype=bool))),
            "a position sees itself and just the one before":
                sum(block(*given, may=t[:, None] - t < 2)),
            "one word of the future is seen": sum(block(
                *given, causal=False, may=np.tri(T, k=1, dtype=bool))),
            "only the last word of the target is hidden": sum(block(
                *given, causal=False, may=(t < T - 1) | (t[:, None] == t))),
            "the past is hidden, not the future": sum(block(
                *given, causal=False, may=np.tri(T, dtype=bool).T)),
            "the lengths are the source's, and words of the target are "
            "hidden": sum(block(*given, may=shared)),
            "the source's padding is read": sum(block(*given, padding=False)),
            "padding is set to 0, not hidden": sum(block(
                y, source * real[..., None], lengths, own, cross,
                padding=False)),
            "the source is hidden as if it were the future":
                sum(block(*given, both=True)),
            "the source's future is hidden, and its padding is not":
                sum(block(*given, both=True, padding=False)),
            "one word of padding is read": sum(block(*given, off=1)),
            "the last real word is not read": sum(block(*given, off=-1)),
            "what is found in the source is not added to y": found,
            "what y finds in itself is not kept": y + found,
            "the matrices of the two steps are exchanged": sum(exchanged),
            "the source is read by the old y, not by the result":
                after + side_by_side})


def rates(wrong, linked):
    """Return the share of linked words that are wrong, over all axes."""
    return (wrong & linked).sum() / linked.sum()


def rate(weights, links):
    return rates(weights.argmax(-1) != links, links >= 0)


def on_link(weights, links):
    """Return the weight that lies on each word's link."""
    at = np.broadcast_to(np.maximum(links, 0), weights.shape[:-1])
    return np.take_along_axis(weights, at[..., None], -1)[..., 0]


def sample(rng, shape, links, trust=0.6):
    """Return weights whose largest is on the link with probability trust."""
    weights = rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])
    best = weights.argmax(-1)
    hit = (rng.random(shape[:-1]) < trust) & (links >= 0)
    at, best = np.where(hit, links, best)[..., None], best[..., None]
    small, large = (np.take_along_axis(weights, i, -1) for i in (at, best))
    np.put_along_axis(weights, best, small, -1)
    np.put_along_axis(weights, at, large, -1)
    return weights


def some_links(rng, B, T, S):
    links = rng.integers(0, S, size=(B, T))
    for row in links:  # a different number of words without a link
        row[rng.permutation(T)[:rng.integers(0, T)]] = -1
    return links


def distinct(*values):
    """Tell whether no two numbers are equal."""
    return len(set(np.round(values, 6))) == len(values)


@SET.item("error_rate")
def check_error_rate(run, rng, variant):
    for B, T, S, last in [(3, 6, 4, 4), (4, 5, 7, 5), (1, 9, 5, 5),
                          (6, 7, 7, 7)]:
        while True:  # until no mistake gives the same number
            links = some_links(rng, B, T, last)
            links[0, :3] = [0, -1, last - 1]
            weights = sample(rng, (B, T, S), links)
            weights[0, :2].sort()  # the last is the largest
            weights[0, 0, [0, -2]] = weights[0, 0, [-2, 0]]
            linked = links >= 0
            found = weights.argmax(-1)
            wrong = found != links
            want = rates(wrong, linked)
            hints = {
                "it tells how many are right": 1 - want,
                "words without a link count as wrong": wrong.mean(),
                "words without a link count as right":
                    (wrong & linked).mean(),
                "it is a number of words, not a share":
                    (wrong & linked).sum(),
                "a link to word 0 is a link": rates(wrong, links > 0),
                "the smallest weight proposes":
                    rates(weights.argmin(-1) != links, linked),
                "weights are rounded": rate(weights.round(1), links),
                "it depends on how large a weight is":
                    1 - on_link(weights, links)[linked].mean(),
                "it depends on how far off a proposal is":
                    np.abs(found - links)[linked].mean()}
            if B > 1:
                hints["it is the mean of the sentences' errors"] = np.mean(
                    [rates(w, k) for w, k in zip(wrong, linked, strict=True)])
            if last < S:
                hints["words behind the last link propose nothing"] = rate(
                    weights[..., :last], links)
            if T == S:
                hints["the largest weight is looked for in each column"] = (
                    rates(weights.argmax(1) != links, linked))
            if distinct(want, *hints.values()):
                break
        same(run(weights, links), want, f"{B} sentences", hints)


@SET.item("alignment_error")
def check_alignment_error(run, rng, variant):
    for shape, found, other in [
            ((7, 9), 0.6, 0.2), ((10, 6), 0.3, 0.5), ((3, 5, 4), 0.6, 0.2),
            ((2, 3, 6, 5), 0.6, 0.2), ((3, 40, 30), 0.7, 0.3)]:
        while True:  # until no mistake gives the same number
            sure = rng.random(shape) < 0.25
            possible = sure | (rng.random(shape) < 0.25)
            proposed = rng.random(shape) < np.where(possible, found, other)
            tables = (-2, -1)
            a, s, p, a_s, a_p = each = [
                x.sum() for x in (proposed, sure, possible, proposed & sure,
                                  proposed & possible)]
            if s == 0 or a == 0:
                continue
            want = 1 - (a_s + a_p) / (a + s)
            hints = {
                "it is not subtracted from 1": 1 - want,
                "possible links are not looked at": 1 - 2 * a_s / (a + s),
                "sure links are not looked at": 1 - 2 * a_p / (a + s),
                "divided by |A| + |P|": 1 - (a_s + a_p) / (a + p),
                "proposals are judged, missing links are not": 1 - a_p / a,
                "sure ones are possible too, and count twice":
                    1 - a_p / (a + s),
                "missing links are counted, proposals are not judged":
                    1 - a_s / s,
                "all that is proposed counts as possible":
                    1 - (a_s + a) / (a + s),
                "proposals that are not even possible are left out":
                    1 - (a_s + a_p) / (a_p + s),
                "divided by what is in A or in S":
                    1 - (a_s + a_p) / (a + s - a_s),
                "cells without any link do not count": 1 - (
                    (proposed == sure) * 1. + (proposed == possible)
                    ).mean() / 2,
                "it is the mean of two shares, not one share of all":
                    1 - (a_s / s + a_p / a) / 2}
            if len(shape) > 2:
                above = ((proposed & sure).sum(tables)
                         + (proposed & possible).sum(tables))
                below = proposed.sum(tables) + sure.sum(tables)
                hints["count over all tables before you divide"] = np.mean(
                    1 - above / below)
            if a > 255:
                a, s, p, a_s, a_p = (x % 256 for x in each)
                hints["the counts overflow"] = 1 - (a_s + a_p) / (a + s)
            if distinct(want, *hints.values()):
                break
        same(run(proposed, sure, possible), want,
             f"links with {len(shape)} axes", hints)


ALL = "it is the best on all sentences"
REST = "it is the best on the sentences to score on"
MORE = "it is the best on the first n + 1 sentences"
FEWER = "it is the best on the first n - 1 sentences"
MEANS = "it has the best mean of the sentences' errors"
WEIGHT = "it has the most weight on the links, not the most words right"
HALF = "the lowest error may be more than 1/2"


def tempting(rng, links, n, S, mistakes):
    """Return weights of six heads, the first to be chosen, others to tempt."""
    B, T = links.shape
    linked = (links >= 0)[:n].sum(1)
    trust = np.full((6, B), 0.25)  # the share of words that a head knows
    trust[0], trust[2, :n] = 0.8, 0  # the one to choose; the worst
    if ALL in mistakes:
        trust[0, n + 1:] = 0
        trust[4], trust[4, :n] = 0.8, 0.5
        trust[3, :n], trust[3, n:] = 0.1, 1
        trust[5, :n] = 0.65
    if MORE in mistakes:
        trust[0], trust[0, n - 1:n + 1] = 0.8, (1, 0)
        trust[4, :n], trust[4, n] = 0.6, 1
        trust[3, :n - 1], trust[3, n - 1] = 1, 0
        trust[5, :n] = 0.75
    if MEANS in mistakes:
        short = linked < linked.max()
        trust[0, :n] = np.where(short, 0.55, 1)
        trust[4, :n] = np.where(short, 0.95, 0.2)
    if HALF in mistakes:
        trust[0, :n], trust[1:, :n], trust[4, :n] = 0.38, 0.1, 0.2
    weights = sample(rng, (B, 6, T, S), links[:, None], trust.T[..., None])
    if WEIGHT in mistakes:  # one is vague, another is sharp
        weights **= np.array([0.1, 1, 1, 1, 3, 1])[:, None, None]
    return weights / weights.sum(-1, keepdims=True)


@SET.item("best_head", needs=["error_rate"])
def check_best_head(run, rng, variant):
    for B, T, S, n, place, mistakes in [
            (8, 10, 5, 3, 5, {ALL, REST}), (8, 9, 6, 3, 0, {MORE, FEWER}),
            (9, 12, 4, 4, 4, {MEANS}), (7, 16, 8, 4, 3, {WEIGHT, HALF})]:
        while True:  # until these and no other mistakes show
            links = some_links(rng, B, T, S)
            linked = links >= 0
            weights = tempting(rng, links, n, S, mistakes)
            wrong = (weights.argmax(-1) != links[:, None]) & linked[:, None]
            # Let the head to choose be the first, the last, in between.
            turn = place - wrong[:n].sum((0, 2)).argmin()
            weights, wrong = np.roll(weights, turn, 1), np.roll(wrong, turn, 1)
            first, more, fewer, rest, later, every = (
                wrong[a:b].sum((0, 2)) / linked[a:b].sum()
                for a, b in ((0, n), (0, n + 1), (0, n - 1), (n, B),
                             (n + 1, B), (0, B)))
            each = wrong.sum(-1) / linked.sum(-1)[:, None]
            right = on_link(weights, links[:, None]) * linked[:, None]
            chosen = first.argmin()
            heads = {
                ALL: every.argmin(), REST: rest.argmin(),
                MORE: more.argmin(), FEWER: fewer.argmin(),
                MEANS: each[:n].mean(0).argmin(),
                WEIGHT: right[:n].sum((0, 2)).argmax(),
                HALF: 0 if first.min() > 0.5 else chosen}
            if mistakes != {k for k, v in heads.items() if v != chosen}:
                continue
            wins = np.bincount(each[:n].argmin(1)).argmax()
            heads = {k: heads[k] for k in mistakes} | {
                "heads count from 0": chosen + 1,
                "it is the worst": first.argmax()}
            if ALL in mistakes:
                heads["a worse head does not end the search"] = (
                    np.diff(first) >= 0).argmax()
            if place in (0, 5):
                heads["the first and the last head count as well"] = (
                    np.argsort(first)[1])
            hints = {
                "it is the error on the sentences chosen on": first[chosen],
                "it is the error on all sentences": every[chosen],
                "it is the lowest error of any head": rest.min(),
                "it is the mean of the sentences' errors":
                    each[n:, chosen].mean(),
                "it tells how many are right": 1 - rest[chosen],
                "the first sentence of the rest is left out": later[chosen],
                "words without a link count as wrong":
                    1 - (1 - rest[chosen]) * linked[n:].mean(),
                "it is that of the mean of all heads":
                    rate(weights[n:].mean(1), links[n:])}
            if REST not in mistakes:
                del hints["it is the lowest error of any head"]
            if (np.sum(first == first.min()) == 1
                    and (MEANS not in mistakes or wins == heads[MEANS])
                    and distinct(chosen, *heads.values())
                    and distinct(rest[chosen], *hints.values())):
                break
        head, error = numbers(run(weights, links, n), 2)
        where = f"6 heads, chosen on {n} of {B} sentences"
        must(head.shape == () and head.dtype.kind in "iu",
             "head is the number of a head, so an integer")
        same(head, chosen, f"head, {where}", heads)
        same(error, rest[chosen], f"error, {where}", hints)


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
                "all from that place on is exchanged": np.where(
                    np.logical_or.accumulate(here, 1), a, b),
                "every sentence's place is used in all sentences":
                    np.where(everybody, a, b),
                "nothing is mixed": b})
