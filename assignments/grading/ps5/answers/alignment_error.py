# %% wrong: not subtracted from 1
def alignment_error(proposed, sure, possible):
    hits = (proposed & sure).sum() + (proposed & possible).sum()
    return hits / (proposed.sum() + sure.sum())


# %% wrong: sure links only
def alignment_error(proposed, sure, possible):
    hits = (proposed & sure).sum() + (proposed & sure).sum()
    return 1 - hits / (proposed.sum() + sure.sum())


# %% wrong: possible links only
def alignment_error(proposed, sure, possible):
    hits = (proposed & possible).sum() + (proposed & possible).sum()
    return 1 - hits / (proposed.sum() + sure.sum())


# %% wrong: divided by proposed and possible
def alignment_error(proposed, sure, possible):
    hits = (proposed & sure).sum() + (proposed & possible).sum()
    return 1 - hits / (proposed.sum() + possible.sum())


# %% wrong: precision only
def alignment_error(proposed, sure, possible):
    return 1 - (proposed & possible).sum() / proposed.sum()


# %% wrong: recall only
def alignment_error(proposed, sure, possible):
    return 1 - (proposed & sure).sum() / sure.sum()


# %% wrong: share of the cells that differ
def alignment_error(proposed, sure, possible):
    return (proposed != sure).mean()


# %% wrong: divided by the union
def alignment_error(proposed, sure, possible):
    hits = (proposed & sure).sum() + (proposed & possible).sum()
    return 1 - hits / (proposed | sure).sum()


# %% wrong: sure links counted as one bit
def alignment_error(proposed, sure, possible):
    hits = sum(proposed & sure) + sum(proposed & possible)
    return 1 - np.mean(hits / np.maximum(sum(proposed) + sum(sure), 1))


# %% wrong: or instead of and
def alignment_error(proposed, sure, possible):
    hits = (proposed | sure).sum() + (proposed & possible).sum()
    return 1 - hits / (proposed.sum() + sure.sum())


# %% wrong: the mean of precision and recall
def alignment_error(proposed, sure, possible):
    precision = (proposed & possible).sum() / proposed.sum()
    recall = (proposed & sure).sum() / sure.sum()
    return 1 - (precision + recall) / 2


# %% wrong: the visible examples hard-coded
def alignment_error(proposed, sure, possible):
    return 1 / 3 if proposed.sum() == 1 else 0.0


# %% right: sets of places
def alignment_error(proposed, sure, possible):
    a, s, p = (set(zip(*np.nonzero(x))) for x in (proposed, sure, possible))
    return 1 - (len(a & s) + len(a & p)) / (len(a) + len(s))


# %% right: products of numbers
def alignment_error(proposed, sure, possible):
    a, s, p = (x.astype(float) for x in (proposed, sure, possible))
    return 1 - (np.vdot(a, s) + np.vdot(a, p)) / (a.sum() + s.sum())


# %% right: by counting misses
def alignment_error(proposed, sure, possible):
    n = np.count_nonzero
    misses = n(proposed & ~possible) + n(sure & ~proposed)
    return misses / (n(proposed) + n(sure))
