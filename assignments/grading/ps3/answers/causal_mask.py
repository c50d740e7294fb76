# %% wrong: the triangle in the upper left corner
def causal_mask(L, S):
    return np.tri(L, S, dtype=bool)


# %% wrong: True means blocked
def causal_mask(L, S):
    return np.triu(np.ones((L, S), dtype=bool), k=S - L + 1)


# %% wrong: diagonal=1 copied from the mask of what is blocked
def causal_mask(L, S):
    return np.tril(np.ones((L, S), dtype=bool), k=S - L + 1)


# %% wrong: no position sees itself
def causal_mask(L, S):
    return np.arange(S) < np.arange(S - L, S)[:, None]


# %% wrong: the upper triangle
def causal_mask(L, S):
    return np.triu(np.ones((L, S), dtype=bool), k=S - L)


# %% wrong: square, whatever the number of queries
def causal_mask(L, S):
    return np.tri(S, dtype=bool)


# %% wrong: 0 and −∞, to be added
def causal_mask(L, S):
    return np.where(np.tri(L, S, S - L, dtype=bool), 0.0, -np.inf)


# %% wrong: the transpose, keys as rows
def causal_mask(L, S):
    return np.tri(L, S, S - L, dtype=bool).T


# %% wrong: the first L rows of the square
def causal_mask(L, S):
    return np.tril(np.ones((S, S), dtype=bool))[:L]


# %% right: np.tri with a shifted diagonal
def causal_mask(L, S):
    return np.tri(L, S, k=S - L, dtype=bool)


# %% right: not the upper triangle
def causal_mask(L, S):
    blocked = np.triu(np.ones((L, S), dtype=bool), k=1 + S - L)
    return ~blocked


# %% right: the last rows of the square
def causal_mask(L, S):
    return np.tril(np.ones((S, S))).astype(bool)[S - L:]


# %% right: two loops
def causal_mask(L, S):
    may = np.full((L, S), False)
    for i in range(L):
        for j in range(S - L + i + 1):
            may[i, j] = True
    return may
