# %% wrong: rows and columns exchanged
# -     heard = np.zeros((len(ids), len(ids)), dtype=bool)
# -     for m in range(len(ids)):
# +     T = len(ids)
# +     heard = np.zeros((T, T), dtype=bool)
# +     for m in range(T):
# - heard[:, m] |= (model(changed) != before).any(axis=-1)
# + heard[m] |= (model(changed) != before).any(axis=1)
# %% wrong: allclose overlooks small changes
# like: rows and columns exchanged
# -             heard[m] |= (model(changed) != before).any(axis=1)
# +             new = model(changed)
# +             for n in range(T):
# +                 if not np.allclose(new[n], before[n]):
# +                     heard[n, m] = True
# %% wrong: token 0 is tried, no other
    base = model(ids)
    columns = []
    for m in range(len(ids)):
        other = ids.copy()
        other[m] = 0
        columns.append((model(other) != base).any(axis=1))
    return np.stack(columns, axis=1)
# %% wrong: changes ids, never puts the token back
    base = model(ids)
    T = len(ids)
    found = np.zeros((T, T), dtype=bool)
    for m in range(T):
        ids[m] = (ids[m] + 1) % vocabulary
        found[:, m] = (model(ids) != base).any(axis=1)
    return found
# %% wrong: the next token is tried, no other
# like: changes ids, never puts the token back
# -         ids[m] = (ids[m] + 1) % vocabulary
# -         found[:, m] = (model(ids) != base).any(axis=1)
# +         other = ids.copy()
# +         other[m] = (other[m] + 1) % vocabulary
# +         found[:, m] = (model(other) != base).any(axis=1)
# %% wrong: tolerance of 1e-12
# like: rows and columns exchanged
# -             heard[m] |= (model(changed) != before).any(axis=1)
# +             gap = np.abs(model(changed) - before).max(axis=1)
# +             heard[:, m] |= gap > 1e-12
# %% wrong: only the first logit is compared
# like: rows and columns exchanged
# - heard[m] |= (model(changed) != before).any(axis=1)
# + heard[:, m] |= model(changed)[:, 0] != before[:, 0]
# %% wrong: every logit must change, all for any
# like: only the first logit is compared
# model(changed)[:, 0] != before[:, 0] → (model(changed) != before).all(axis=1)
# %% wrong: compares sums of the rows
# like: only the first logit is compared
# model(ids) → model(ids).sum(axis=1)
# [:, 0] != before[:, 0] → .sum(axis=1) != before
# %% wrong: diagonal set to True unasked
# like: rows and columns exchanged
# np.zeros((T, T), dtype=bool) → np.eye(T, dtype=bool)
# heard[m] → heard[:, m]
# %% wrong: looks one step ahead at most
# like: rows and columns exchanged
# -             heard[m] |= (model(changed) != before).any(axis=1)
# +             new = model(changed)
# +             for n in range(max(m - 1, 0), T):
# +                 heard[n, m] |= bool((new[n] != before[n]).any())
# %% wrong: exchanges all from m on
# like: rows and columns exchanged
# (vocabulary) → (1, vocabulary)
# [m] = token → [m:] = (changed[m:] + token) % vocabulary
# heard[m] → heard[:, m]
# %% wrong: token number -1
# like: rows and columns exchanged
# (vocabulary) → (-1, vocabulary - 1)
# heard[m] → heard[:, m]
# %% wrong: compares probabilities
# like: rows and columns exchanged
# -     before = model(ids)
# +     def probs(tokens):
# +         before = model(tokens)
# +         e = np.exp(before - before.max(axis=1, keepdims=True))
# +         return e / e.sum(axis=1, keepdims=True)
# +
# +     base = probs(ids)
# [m] |= (model(changed) != before) → [:, m] |= (probs(changed) != base)
# %% wrong: compares with the last text
    T = len(ids)
    found = np.zeros((T, T), dtype=bool)
    work = ids.copy()
    before = model(work)
    for m in range(T):
        for _ in range(vocabulary - 1):
            work[m] = (work[m] + 1) % vocabulary
            after = model(work)
            found[:, m] |= (after != before).any(axis=1)
            before = after
    return found
# %% wrong: never tries the last token
# like: rows and columns exchanged
# (vocabulary) → (vocabulary - 1)
# heard[m] → heard[:, m]
# %% wrong: what has heard once hears for ever
# like: rows and columns exchanged
# -             heard[m] |= (model(changed) != before).any(axis=1)
# +             new = model(changed)
# +             rows = np.flatnonzero((new != before).any(axis=1))
# +             if rows.size:  # from there on it has heard of it
# +                 heard[rows[0]:, m] = True
# %% wrong: a number beyond the vocabulary
# (vocabulary) → (1, vocabulary + 1)
# %% wrong: changes pile up
#       before = model(ids)
# +     changed = ids.copy()
# -             changed = ids.copy()
# %% wrong: only the best guess compared
# model(ids) → model(ids).argmax(axis=-1)
# - heard[:, m] |= (model(changed) != before).any(axis=-1)
# + heard[:, m] |= model(changed).argmax(axis=-1) != before
# %% wrong: only the last token exchanged
# np.zeros((len(ids), len(ids)), dtype=bool) → np.tri(len(ids), dtype=bool)
# range(len(ids)) → [len(ids) - 1]
# %% wrong: says what an honest model would do
    return np.tri(len(ids), dtype=bool)
# %% wrong: how much changes, as numbers
# (len(ids), len(ids)), dtype=bool → (len(ids), len(ids))
# - heard[:, m] |= (model(changed) != before).any(axis=-1)
# + heard[:, m] += np.abs(model(changed) - before).sum(-1)
# %% wrong: nothing is returned
# -     return heard
# %% right: every other token, not equal anywhere
    T = len(ids)
    base = np.array(model(ids.copy()))
    found = np.zeros((T, T), dtype=bool)
    for m in range(T):
        for token in range(vocabulary):
            if token == ids[m]:
                continue
            other = ids.copy()
            other[m] = token
            found[:, m] |= (model(other) != base).any(axis=1)
    return found
# %% right: list comprehension over entries, array_equal
    base = np.array(model(ids.copy()))

    def swapped(m, token):
        other = ids.copy()
        other[m] = token
        return np.array(model(other))

    T = len(ids)
    runs = [[swapped(m, t) for t in range(vocabulary)] for m in range(T)]
    return np.array([[any(not np.array_equal(r[n], base[n]) for r in runs[m])
                      for m in range(T)] for n in range(T)])
# %% right: all texts in one array
    T = len(ids)
    tests = np.tile(ids, (T, vocabulary, 1))
    for token in range(vocabulary):
        tests[np.arange(T), token, np.arange(T)] = token
    base = np.array(model(ids.copy()))
    hits = np.array([[(model(t) != base).any(axis=-1) for t in row]
                     for row in tests])
    return hits.any(axis=1).T
# %% right: np.where, bytes compared row by row
    T = len(ids)

    def rows(tokens):
        out = np.asarray(model(tokens)) + 0.0  # no minus zero
        return [r.tobytes() for r in out]

    base = rows(ids.copy())
    found = np.full((T, T), False)
    for token in range(vocabulary):
        for m in range(T):
            new = rows(np.where(np.arange(T) == m, token, ids))
            for n in range(T):
                if new[n] != base[n]:
                    found[n, m] = True
    return found
# %% right: round the circle, stops at what is known
    base = np.array(model(ids.copy()))
    T = len(ids)
    columns = []
    for m in range(T):
        heard = np.zeros(T, dtype=bool)
        for step in range(1, vocabulary):
            other = np.array(ids)
            other[m] = (int(ids[m]) + step) % vocabulary
            heard = heard | np.any(model(other) != base, axis=-1)
            if heard.all():
                break
        columns.append(heard)
    return np.stack(columns, axis=1)
# %% right: a largest difference, above 0
# -             heard[:, m] |= (model(changed) != before).any(axis=-1)
# +             gap = np.abs(model(changed) - before).max(axis=1)
# +             heard[:, m] |= gap > 0
# %% right: put back after each look, on a copy
    before, work, rows = model(ids.copy()), ids.copy(), []
    for m, token in enumerate(ids):
        row = [False] * len(ids)
        for other in set(range(vocabulary)) - {int(token)}:
            work[m] = other
            row = [found or not np.array_equal(a, b)
                   for found, a, b in zip(row, model(work), before)]
        work[m] = token
        rows.append(row)
    return np.array(rows).T
# %% cheat: reads the model instead of asking it -> uses __closure__
    mix = model.__closure__[0].cell_contents
    return mix != 0
# %% cheat: the same with inspect -> uses inspect
    import inspect

    return inspect.getclosurevars(model).nonlocals["mix"] != 0
