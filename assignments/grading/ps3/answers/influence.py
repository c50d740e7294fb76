# %% wrong: rows and columns exchanged
def influence(model, ids, vocabulary):
    base = model(ids)
    T = len(ids)
    found = np.zeros((T, T), dtype=bool)
    for m in range(T):
        for token in range(vocabulary):
            other = ids.copy()
            other[m] = token
            found[m] |= (model(other) != base).any(axis=1)
    return found


# %% wrong: allclose overlooks small changes
def influence(model, ids, vocabulary):
    base = model(ids)
    T = len(ids)
    found = np.zeros((T, T), dtype=bool)
    for m in range(T):
        for token in range(vocabulary):
            other = ids.copy()
            other[m] = token
            new = model(other)
            for n in range(T):
                if not np.allclose(new[n], base[n]):
                    found[n, m] = True
    return found


# %% wrong: token 0 is tried, no other
def influence(model, ids, vocabulary):
    base = model(ids)
    columns = []
    for m in range(len(ids)):
        other = ids.copy()
        other[m] = 0
        columns.append((model(other) != base).any(axis=1))
    return np.stack(columns, axis=1)


# %% wrong: changes ids, never puts the token back
def influence(model, ids, vocabulary):
    base = model(ids)
    T = len(ids)
    found = np.zeros((T, T), dtype=bool)
    for m in range(T):
        ids[m] = (ids[m] + 1) % vocabulary
        found[:, m] = (model(ids) != base).any(axis=1)
    return found


# %% wrong: the next token is tried, no other
def influence(model, ids, vocabulary):
    base = model(ids)
    T = len(ids)
    found = np.zeros((T, T), dtype=bool)
    for m in range(T):
        other = ids.copy()
        other[m] = (other[m] + 1) % vocabulary
        found[:, m] = (model(other) != base).any(axis=1)
    return found


# %% wrong: tolerance of 1e-12
def influence(model, ids, vocabulary):
    base = model(ids)
    T = len(ids)
    found = np.zeros((T, T), dtype=bool)
    for m in range(T):
        for token in range(vocabulary):
            other = ids.copy()
            other[m] = token
            gap = np.abs(model(other) - base).max(axis=1)
            found[:, m] |= gap > 1e-12
    return found


# %% wrong: only the first logit is compared
def influence(model, ids, vocabulary):
    base = model(ids)
    T = len(ids)
    found = np.zeros((T, T), dtype=bool)
    for m in range(T):
        for token in range(vocabulary):
            other = ids.copy()
            other[m] = token
            found[:, m] |= model(other)[:, 0] != base[:, 0]
    return found


# %% wrong: every logit must change, all for any
def influence(model, ids, vocabulary):
    base = model(ids)
    T = len(ids)
    found = np.zeros((T, T), dtype=bool)
    for m in range(T):
        for token in range(vocabulary):
            other = ids.copy()
            other[m] = token
            found[:, m] |= (model(other) != base).all(axis=1)
    return found


# %% wrong: compares sums of the rows
def influence(model, ids, vocabulary):
    base = model(ids).sum(axis=1)
    T = len(ids)
    found = np.zeros((T, T), dtype=bool)
    for m in range(T):
        for token in range(vocabulary):
            other = ids.copy()
            other[m] = token
            found[:, m] |= model(other).sum(axis=1) != base
    return found


# %% wrong: diagonal set to True unasked
def influence(model, ids, vocabulary):
    base = model(ids)
    T = len(ids)
    found = np.eye(T, dtype=bool)
    for m in range(T):
        for token in range(vocabulary):
            other = ids.copy()
            other[m] = token
            found[:, m] |= (model(other) != base).any(axis=1)
    return found


# %% wrong: looks one step ahead at most
def influence(model, ids, vocabulary):
    base = model(ids)
    T = len(ids)
    found = np.zeros((T, T), dtype=bool)
    for m in range(T):
        for token in range(vocabulary):
            other = ids.copy()
            other[m] = token
            new = model(other)
            for n in range(max(m - 1, 0), T):
                found[n, m] |= bool((new[n] != base[n]).any())
    return found


# %% wrong: exchanges all from m on
def influence(model, ids, vocabulary):
    base = model(ids)
    T = len(ids)
    found = np.zeros((T, T), dtype=bool)
    for m in range(T):
        for step in range(1, vocabulary):
            other = ids.copy()
            other[m:] = (other[m:] + step) % vocabulary
            found[:, m] |= (model(other) != base).any(axis=1)
    return found


# %% wrong: token number -1
def influence(model, ids, vocabulary):
    base = model(ids)
    T = len(ids)
    found = np.zeros((T, T), dtype=bool)
    for m in range(T):
        for token in range(-1, vocabulary - 1):
            other = ids.copy()
            other[m] = token
            found[:, m] |= (model(other) != base).any(axis=1)
    return found


# %% wrong: compares probabilities
def influence(model, ids, vocabulary):
    def probs(tokens):
        z = model(tokens)
        e = np.exp(z - z.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    base = probs(ids)
    T = len(ids)
    found = np.zeros((T, T), dtype=bool)
    for m in range(T):
        for token in range(vocabulary):
            other = ids.copy()
            other[m] = token
            found[:, m] |= (probs(other) != base).any(axis=1)
    return found


# %% wrong: compares with the last text
def influence(model, ids, vocabulary):
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
def influence(model, ids, vocabulary):
    base = model(ids)
    T = len(ids)
    found = np.zeros((T, T), dtype=bool)
    for m in range(T):
        for token in range(vocabulary - 1):
            other = ids.copy()
            other[m] = token
            found[:, m] |= (model(other) != base).any(axis=1)
    return found


# %% wrong: what has heard once hears for ever
def influence(model, ids, vocabulary):
    base = model(ids)
    T = len(ids)
    found = np.zeros((T, T), dtype=bool)
    for m in range(T):
        for token in range(vocabulary):
            other = ids.copy()
            other[m] = token
            new = model(other)
            rows = np.flatnonzero((new != base).any(axis=1))
            if rows.size:  # from there on it has heard of it
                found[rows[0]:, m] = True
    return found


# %% wrong: a number beyond the vocabulary
def influence(model, ids, vocabulary):
    before = model(ids)
    found = np.zeros((len(ids), len(ids)), dtype=bool)
    for m in range(len(ids)):
        for token in range(1, vocabulary + 1):
            changed = ids.copy()
            changed[m] = token
            found[:, m] |= (model(changed) != before).any(axis=-1)
    return found


# %% wrong: changes pile up
def influence(model, ids, vocabulary):
    before = model(ids)
    changed = ids.copy()
    found = np.zeros((len(ids), len(ids)), dtype=bool)
    for m in range(len(ids)):
        for token in range(vocabulary):
            changed[m] = token
            found[:, m] |= (model(changed) != before).any(axis=-1)
    return found


# %% wrong: only the best guess compared
def influence(model, ids, vocabulary):
    before = model(ids).argmax(axis=-1)
    found = np.zeros((len(ids), len(ids)), dtype=bool)
    for m in range(len(ids)):
        for token in range(vocabulary):
            changed = ids.copy()
            changed[m] = token
            found[:, m] |= model(changed).argmax(axis=-1) != before
    return found


# %% wrong: only the last token exchanged
def influence(model, ids, vocabulary):
    before = model(ids)
    found = np.tri(len(ids), dtype=bool)
    for m in [len(ids) - 1]:
        for token in range(vocabulary):
            changed = ids.copy()
            changed[m] = token
            found[:, m] |= (model(changed) != before).any(axis=-1)
    return found


# %% wrong: says what an honest model would do
def influence(model, ids, vocabulary):
    return np.tri(len(ids), dtype=bool)


# %% wrong: how much changes, as numbers
def influence(model, ids, vocabulary):
    before = model(ids)
    found = np.zeros((len(ids), len(ids)))
    for m in range(len(ids)):
        for token in range(vocabulary):
            changed = ids.copy()
            changed[m] = token
            found[:, m] += np.abs(model(changed) - before).sum(-1)
    return found


# %% wrong: nothing is returned
def influence(model, ids, vocabulary):
    before = model(ids)
    found = np.zeros((len(ids), len(ids)), dtype=bool)
    for m in range(len(ids)):
        for token in range(vocabulary):
            changed = ids.copy()
            changed[m] = token
            found[:, m] |= (model(changed) != before).any(axis=-1)


# %% right: every other token, not equal anywhere
def influence(model, ids, vocabulary):
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
def influence(model, ids, vocabulary):
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
def influence(model, ids, vocabulary):
    T = len(ids)
    tests = np.tile(ids, (T, vocabulary, 1))
    for token in range(vocabulary):
        tests[np.arange(T), token, np.arange(T)] = token
    base = np.array(model(ids.copy()))
    hits = np.array([[(model(t) != base).any(axis=-1) for t in row]
                     for row in tests])
    return hits.any(axis=1).T


# %% right: np.where, bytes compared row by row
def influence(model, ids, vocabulary):
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
def influence(model, ids, vocabulary):
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
def influence(model, ids, vocabulary):
    before = model(ids)
    found = np.zeros((len(ids), len(ids)), dtype=bool)
    for m in range(len(ids)):
        for token in range(vocabulary):
            changed = ids.copy()
            changed[m] = token
            gap = np.abs(model(changed) - before).max(axis=1)
            found[:, m] |= gap > 0
    return found


# %% right: put back after each look, on a copy
def influence(model, ids, vocabulary):
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
def influence(model, ids, vocabulary):
    mix = model.__closure__[0].cell_contents
    return mix != 0


# %% cheat: the same with inspect -> uses inspect
def influence(model, ids, vocabulary):
    import inspect

    return inspect.getclosurevars(model).nonlocals["mix"] != 0
