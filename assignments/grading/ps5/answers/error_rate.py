# %% wrong: how many are right
# (axis=-1) != links → (axis=-1) == links
# %% wrong: words without a link count
# wrong[linked] → wrong
# %% wrong: divided by all words
# mean() → sum() / links.size
# %% wrong: largest weight along the queries
    T, S = weights.shape[1:]
    n = min(T, S)
    linked = links[:, :n] >= 0
    wrong = weights.argmax(axis=-2)[:, :n] != links[:, :n]
    return wrong[linked].mean()
# %% wrong: the visible example hard-coded
    return 2 / 5
# %% wrong: mean of the sentences' errors
    wrong = weights.argmax(axis=-1) != links
    return np.mean([w[k >= 0].mean() for w, k in zip(wrong, links)])
# %% wrong: rows off by one
# links >= 0 → links[:, :-1] >= 0
# (axis=-1) != links → (axis=-1)[:, 1:] != links[:, :-1]
# %% wrong: -1 taken for the last word
#       linked = links >= 0
# +     links = links % weights.shape[-1]
# +     linked = links >= 0
# %% wrong: links to word 0 do not count
# links >= 0 → links > 0
# %% wrong: a number, not a share
# mean() → sum()
# %% wrong: any weight above one half
    linked = links >= 0
    at = np.maximum(links, 0)[..., None]
    mine = np.take_along_axis(weights, at, axis=-1)[..., 0]
    return (mine < 0.5)[linked].mean()
# %% wrong: the missing weight
# like: any weight above one half
# (mine < 0.5) → 1 - mine
# %% wrong: one error for each sentence
    wrong = weights.argmax(axis=-1) != links
    return (wrong & (links >= 0)).sum(1) / (links >= 0).sum(1)
# %% wrong: -1 taken as the end of a sentence
    linked = np.cumprod(links >= 0, axis=1).astype(bool)
    return (weights.argmax(-1) != links)[linked].mean()
# %% wrong: weights rounded first as in a heatmap
    proposed = np.round(weights, 1).argmax(axis=-1)
    linked = links != -1
    return np.mean(proposed[linked] != links[linked])
# %% wrong: two sentences hard-coded
    wrong = count = 0
    for b in range(2):
        for t in range(links.shape[1]):
            if links[b, t] != -1:
                count += 1
                wrong += weights[b, t].argmax() != links[b, t]
    return wrong / count
# %% wrong: the result is rounded
# (axis=-1) != links → (-1)[linked] != links[linked]
# wrong[linked].mean() → round(float(wrong.mean()), 2)
# %% wrong: always divided by 5
    wrong = (weights.argmax(-1) != links) & (links >= 0)
    return wrong.sum() / 5
# %% wrong: mean distance, not share of mistakes
    linked = links >= 0
    return np.abs(weights.argmax(-1) - links)[linked].mean()
# %% wrong: a word proposed twice counts as wrong
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
    proposed = weights[..., :links.max() + 1].argmax(-1)
    linked = links >= 0
    return (proposed != links)[linked].mean()
# %% wrong: the smallest weight
    linked = links >= 0
    return (weights.argmin(-1) != links)[linked].mean()
# %% right: a loop
    wrong = total = 0
    for row, true in zip(weights.reshape(-1, weights.shape[-1]), links.flat):
        if true != -1:
            total += 1
            wrong += int(np.argmax(row)) != true
    return wrong / total
# %% right: 1 minus the share of hits
    hits = np.argmax(weights, -1) == links
    return 1 - hits.sum() / np.count_nonzero(links != -1)
# %% right: averaged with the links as weights
    order = np.argsort(weights, axis=2)[:, :, -1]
    return float(np.average(order != links, weights=links > -1))
# %% right: the right word's weight against the others
    b, t = np.nonzero(links >= 0)
    mine = weights[b, t, links[b, t]]
    return np.mean(mine < weights[b, t].max(axis=-1))
# %% right: plain loops, plain Python float
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
    b, t = np.nonzero(links + 1)
    proposed = weights[b, t].argmax(axis=1)
    return np.array((proposed - links[b, t] != 0).mean())
# %% right: np.where and nanmean
    wrong = (np.argmax(weights, -1) != links).astype(float)
    return np.nanmean(np.where(links == -1, np.nan, wrong))
# %% right: argsort of flattened rows and a dot product
    rows = weights.reshape(-1, weights.shape[-1])
    link = links.reshape(-1)
    best = np.argsort(-rows, axis=1, kind="stable")[:, 0]
    linked = (link >= 0).astype(float)
    return linked @ (best != link) / linked.sum()
