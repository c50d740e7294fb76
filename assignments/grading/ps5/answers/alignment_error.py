# %% wrong: not subtracted from 1
# 1 - hits → hits
# %% wrong: sure links only
# proposed & possible → proposed & sure
# %% wrong: possible links only
# proposed & sure → proposed & possible
# %% wrong: divided by proposed and possible
# sure.sum → possible.sum
# %% wrong: precision only
    return 1 - (proposed & possible).sum() / proposed.sum()
# %% wrong: recall only
    return 1 - (proposed & sure).sum() / sure.sum()
# %% wrong: share of the cells that differ
    return (proposed != sure).mean()
# %% wrong: divided by the union
# (proposed.sum() + sure.sum()) → (proposed | sure).sum()
# %% wrong: sure links counted as one bit
    hits = sum(proposed & sure) + sum(proposed & possible)
    return 1 - np.mean(hits / np.maximum(sum(proposed) + sum(sure), 1))
# %% wrong: or instead of and
# proposed & sure → proposed | sure
# %% wrong: the mean of precision and recall
    precision = (proposed & possible).sum() / proposed.sum()
    recall = (proposed & sure).sum() / sure.sum()
    return 1 - (precision + recall) / 2
# %% wrong: the visible examples hard-coded
    return 1 / 3 if proposed.sum() == 1 else 0.0
# %% wrong: the mean of the sentences' rates
    axes = (-2, -1)
    hits = (proposed & sure).sum(axes) + (proposed & possible).sum(axes)
    return np.mean(1 - hits / (proposed.sum(axes) + sure.sum(axes)))
# %% wrong: counts linked rows, not links
    def size(x):
        return x.any(axis=-1).sum()

    hits = size(proposed & sure) + size(proposed & possible)
    return 1 - hits / (size(proposed) + size(sure))
# %% wrong: counts linked columns, not links
# like: counts linked rows, not links
# x.any(axis=-1).sum() → np.count_nonzero(x.any(axis=-2))
# %% wrong: |A| without the links outside of P
#   def alignment_error(proposed, sure, possible):
# +     proposed = proposed & possible
# %% wrong: takes all of A as possible
    a = proposed.sum()
    return 1 - ((proposed & sure).sum() + a) / (a + sure.sum())
# %% wrong: one sure link in each row assumed
# sure.sum() → sure[..., 0].size
# %% wrong: uint8 overflows
    a = proposed.ravel().astype(np.uint8)
    s = sure.ravel().astype(np.uint8)
    p = possible.ravel().astype(np.uint8)
    return 1 - (int(a @ s) + int(a @ p)) / (int(a @ a) + int(s @ s))
# %% wrong: only the first link of a row proposed
    first = np.cumsum(proposed, axis=-1) == 1
    a = proposed & first
    hits = (a & sure).sum() + (a & possible).sum()
    return 1 - hits / (a.sum() + sure.sum())
# %% wrong: the smaller set taken as what is in both
    a, s, p = proposed.sum(), sure.sum(), possible.sum()
    return 1 - (min(a, s) + min(a, p)) / (a + s)
# %% wrong: one table only, no sentences in front
    a, s, p = (x.astype(int) for x in (proposed, sure, possible))
    hits = np.trace(a @ s.T) + np.trace(a @ p.T)
    return 1 - hits / (np.trace(a @ a.T) + np.trace(s @ s.T))
# %% wrong: only the first sentence is scored
#   def alignment_error(proposed, sure, possible):
# +     while proposed.ndim > 2:
# +         proposed, sure, possible = proposed[0], sure[0], possible[0]
# %% wrong: a result of more than 1/2 is cut
    hits = (proposed & sure).sum() + (proposed & possible).sum()
    error = 1 - hits / (proposed.sum() + sure.sum())
    return min(error, 0.5)
# %% wrong: booleans added before the sum
    hits = ((proposed & sure) + (proposed & possible)).sum()
    return 1 - hits / (proposed.sum() + sure.sum())
# %% wrong: sure links taken out of the possible ones
# proposed & possible → proposed & possible & ~sure
# %% wrong: share of all cells that agree
    hits = (proposed == sure).sum() + (proposed == possible).sum()
    return 1 - hits / (2 * proposed.size)
# %% right: sets of places
    a, s, p = (set(zip(*np.nonzero(x))) for x in (proposed, sure, possible))
    return 1 - (len(a & s) + len(a & p)) / (len(a) + len(s))
# %% right: products of numbers
    a, s, p = (x.astype(float) for x in (proposed, sure, possible))
    return 1 - (np.vdot(a, s) + np.vdot(a, p)) / (a.sum() + s.sum())
# %% right: by counting misses
    n = np.count_nonzero
    misses = n(proposed & ~possible) + n(sure & ~proposed)
    return misses / (n(proposed) + n(sure))
# %% right: boolean indexing
    hits = sure[proposed].sum() + possible[proposed].sum()
    total = np.count_nonzero(proposed) + np.count_nonzero(sure)
    return 1 - hits / total
# %% right: one by one
    above = below = 0
    for a, s, p in zip(proposed.flat, sure.flat, possible.flat):
        above += int(a and s) + int(a and p)
        below += int(a) + int(s)
    return 1 - above / below
