# %% wrong: the triangle in the upper left corner
    return np.tri(L, S, dtype=bool)
# %% wrong: True means blocked
    return np.triu(np.ones((L, S), dtype=bool), k=S - L + 1)
# %% wrong: diagonal=1, as for what is blocked
    return np.tril(np.ones((L, S), dtype=bool), k=S - L + 1)
# %% wrong: no position sees itself
    return np.arange(S) < np.arange(S - L, S)[:, None]
# %% wrong: the upper triangle
    return np.triu(np.ones((L, S), dtype=bool), k=S - L)
# %% wrong: square, whatever the number of queries
    return np.tri(S, dtype=bool)
# %% wrong: 0 and −∞, to be added
    return np.where(np.tri(L, S, S - L, dtype=bool), 0.0, -np.inf)
# %% wrong: the transpose, keys as rows
    return np.tri(L, S, S - L, dtype=bool).T
# %% wrong: the first L rows of the square
    return np.tril(np.ones((S, S), dtype=bool))[:L]
# %% wrong: zeros and ones instead of True and False
    return np.tril(np.ones((L, S)), k=S - L)
# %% wrong: right for L = 1 and L = S only
    if L == 1:
        return np.ones((1, S), dtype=bool)
    return np.tril(np.ones((L, S))).astype(bool)
# %% wrong: offset S // L - 1 made to fit
    return np.tri(L, S, k=S // L - 1, dtype=bool)
# %% wrong: no mask when there is a past
    if L < S:
        return np.ones((L, S), dtype=bool)
    return np.tril(np.ones((L, S), dtype=bool))
# %% wrong: off by one when L < S
    past = S - L
    k = past + 1 if past > 0 else 0
    return np.tril(np.ones((L, S), dtype=bool), k=k)
# %% wrong: forbids only the very next position
    may = np.ones((L, S), dtype=bool)
    for i in range(L):
        answer = S - L + i + 1
        if answer < S:
            may[i, answer] = False
    return may
# %% wrong: triangle in the first L columns
    may = np.ones((L, S), dtype=bool)
    for i in range(L):
        for j in range(i + 1, L):
            may[i, j] = False
    return may
# %% wrong: a sliding window of 4
    q = np.arange(S - L, S)[:, None]
    k = np.arange(S)[None, :]
    return (k <= q) & (q - k < 4)
# %% wrong: upper left, last row made full
    may = np.zeros((L, S), dtype=bool)
    for i in range(L):
        may[i, :i + 1] = True
    may[-1] = True
    return may
# %% wrong: offset twice as large
    q = np.arange(L)[:, None] + (S - L)
    k = np.arange(S)[None, :] - (S - L)
    return k <= q
# %% wrong: a list of lists
    return [[j <= S - L + i for j in range(S)] for i in range(L)]
# %% right: np.tri with a shifted diagonal
    return np.tri(L, S, k=S - L, dtype=bool)
# %% right: not the upper triangle
    blocked = np.triu(np.ones((L, S), dtype=bool), k=1 + S - L)
    return ~blocked
# %% right: the last rows of the square
    return np.tril(np.ones((S, S))).astype(bool)[S - L:]
# %% right: two loops
    may = np.full((L, S), False)
    for i in range(L):
        for j in range(S - L + i + 1):
            may[i, j] = True
    return may
# %% right: the past and a small triangle side by side
    past = np.ones((L, S - L), dtype=bool)
    return np.concatenate([past, np.tri(L, dtype=bool)], axis=1)
# %% right: strict triangle, turned round and negated
    return ~np.tri(L, S, -1, dtype=bool)[::-1, ::-1]
# %% right: running or, from the right
    own = np.eye(L, S, k=S - L, dtype=bool)
    return np.logical_or.accumulate(own[:, ::-1], axis=1)[:, ::-1]
