# %% wrong: how many are right
def error_rate(weights, links):
    linked = links >= 0
    wrong = weights.argmax(axis=-1) == links
    return wrong[linked].mean()


# %% wrong: words without a link count
def error_rate(weights, links):
    linked = links >= 0
    wrong = weights.argmax(axis=-1) != links
    return wrong.mean()


# %% wrong: divided by all words
def error_rate(weights, links):
    linked = links >= 0
    wrong = weights.argmax(axis=-1) != links
    return wrong[linked].sum() / links.size


# %% wrong: largest weight along the queries
def error_rate(weights, links):
    T, S = weights.shape[1:]
    n = min(T, S)
    linked = links[:, :n] >= 0
    wrong = weights.argmax(axis=-2)[:, :n] != links[:, :n]
    return wrong[linked].mean()


# %% wrong: the visible example hard-coded
def error_rate(weights, links):
    return 2 / 5


# %% wrong: mean of the sentences' errors
def error_rate(weights, links):
    wrong = weights.argmax(axis=-1) != links
    return np.mean([w[k >= 0].mean() for w, k in zip(wrong, links)])


# %% wrong: rows off by one
def error_rate(weights, links):
    linked = links[:, :-1] >= 0
    wrong = weights.argmax(axis=-1)[:, 1:] != links[:, :-1]
    return wrong[linked].mean()


# %% wrong: -1 taken for the last word
def error_rate(weights, links):
    linked = links >= 0
    links = links % weights.shape[-1]
    linked = links >= 0
    wrong = weights.argmax(axis=-1) != links
    return wrong[linked].mean()


# %% wrong: links to word 0 do not count
def error_rate(weights, links):
    linked = links > 0
    wrong = weights.argmax(axis=-1) != links
    return wrong[linked].mean()


# %% wrong: a number, not a share
def error_rate(weights, links):
    linked = links >= 0
    wrong = weights.argmax(axis=-1) != links
    return wrong[linked].sum()


# %% wrong: any weight above one half
def error_rate(weights, links):
    linked = links >= 0
    at = np.maximum(links, 0)[..., None]
    mine = np.take_along_axis(weights, at, axis=-1)[..., 0]
    return (mine < 0.5)[linked].mean()


# %% wrong: the missing weight
def error_rate(weights, links):
    linked = links >= 0
    at = np.maximum(links, 0)[..., None]
    mine = np.take_along_axis(weights, at, axis=-1)[..., 0]
    return 1 - mine[linked].mean()


# %% wrong: one error for each sentence
def error_rate(weights, links):
    wrong = weights.argmax(axis=-1) != links
    return (wrong & (links >= 0)).sum(1) / (links >= 0).sum(1)


# %% wrong: -1 taken as the end of a sentence
def error_rate(weights, links):
    linked = np.cumprod(links >= 0, axis=1).astype(bool)
    return (weights.argmax(-1) != links)[linked].mean()


# %% wrong: weights rounded first as in a heatmap
def error_rate(weights, links):
    proposed = np.round(weights, 1).argmax(axis=-1)
    linked = links != -1
    return np.mean(proposed[linked] != links[linked])


# %% wrong: two sentences hard-coded
def error_rate(weights, links):
    wrong = count = 0
    for b in range(2):
        for t in range(links.shape[1]):
            if links[b, t] != -1:
                count += 1
                wrong += weights[b, t].argmax() != links[b, t]
    return wrong / count


# %% wrong: the result is rounded
def error_rate(weights, links):
    linked = links >= 0
    wrong = weights.argmax(-1)[linked] != links[linked]
    return round(float(wrong.mean()), 2)


# %% wrong: always divided by 5
def error_rate(weights, links):
    wrong = (weights.argmax(-1) != links) & (links >= 0)
    return wrong.sum() / 5


# %% wrong: mean distance, not share of mistakes
def error_rate(weights, links):
    linked = links >= 0
    return np.abs(weights.argmax(-1) - links)[linked].mean()


# %% wrong: a word proposed twice counts as wrong
def error_rate(weights, links):
    wrong = count = 0
    for found, link in zip(weights.argmax(-1), links):
        used = set()
        for p, right in zip(found, link):
            if right == -1:
                continue
            count += 1
            wrong += bool(p != right or p in used)
            used.add(p)
    return wrong / count


# %% wrong: only source words up to the last link
def error_rate(weights, links):
    proposed = weights[..., :links.max() + 1].argmax(-1)
    linked = links >= 0
    return (proposed != links)[linked].mean()


# %% wrong: the smallest weight
def error_rate(weights, links):
    linked = links >= 0
    return (weights.argmin(-1) != links)[linked].mean()


# %% right: a loop
def error_rate(weights, links):
    wrong = total = 0
    for row, true in zip(weights.reshape(-1, weights.shape[-1]), links.flat):
        if true != -1:
            total += 1
            wrong += int(np.argmax(row)) != true
    return wrong / total


# %% right: 1 minus the share of hits
def error_rate(weights, links):
    hits = np.argmax(weights, -1) == links
    return 1 - hits.sum() / np.count_nonzero(links != -1)


# %% right: averaged with the links as weights
def error_rate(weights, links):
    order = np.argsort(weights, axis=2)[:, :, -1]
    return float(np.average(order != links, weights=links > -1))


# %% right: the right word's weight against the others
def error_rate(weights, links):
    b, t = np.nonzero(links >= 0)
    mine = weights[b, t, links[b, t]]
    return np.mean(mine < weights[b, t].max(axis=-1))


# %% right: plain loops, plain Python float
def error_rate(weights, links):
    wrong, count = 0, 0
    for b in range(links.shape[0]):
        for t in range(links.shape[1]):
            if links[b, t] == -1:
                continue
            count += 1
            row = weights[b, t].tolist()
            if row.index(max(row)) != links[b, t]:
                wrong += 1
    return wrong / count


# %% right: index arrays, a 0-d array returned
def error_rate(weights, links):
    b, t = np.nonzero(links + 1)
    proposed = weights[b, t].argmax(axis=1)
    return np.array((proposed - links[b, t] != 0).mean())


# %% right: np.where and nanmean
def error_rate(weights, links):
    wrong = (np.argmax(weights, -1) != links).astype(float)
    return np.nanmean(np.where(links == -1, np.nan, wrong))


# %% right: argsort of flattened rows and a dot product
def error_rate(weights, links):
    rows = weights.reshape(-1, weights.shape[-1])
    link = links.reshape(-1)
    best = np.argsort(-rows, axis=1, kind="stable")[:, 0]
    linked = (link >= 0).astype(float)
    return linked @ (best != link) / linked.sum()
