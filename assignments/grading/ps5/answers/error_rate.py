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
