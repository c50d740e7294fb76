# %% wrong: rows and columns swapped
def influence(model, ids, vocabulary):
    before = model(ids)
    rows = []
    for m in range(len(ids)):
        changed = ids.copy()
        changed[m] = (ids[m] + 1) % vocabulary
        rows.append((model(changed) != before).any(axis=-1))
    return np.array(rows)


# %% wrong: small changes overlooked
def influence(model, ids, vocabulary):
    before = model(ids)
    columns = []
    for m in range(len(ids)):
        changed = ids.copy()
        changed[m] = (ids[m] + 1) % vocabulary
        columns.append(~np.isclose(model(changed), before).all(axis=-1))
    return np.stack(columns, axis=1)


# %% wrong: changes pile up
def influence(model, ids, vocabulary):
    before, changed = model(ids), ids.copy()
    columns = []
    for m in range(len(ids)):
        changed[m] = (ids[m] + 1) % vocabulary
        columns.append((model(changed) != before).any(axis=-1))
    return np.stack(columns, axis=1)


# %% wrong: the whole future exchanged at once
def influence(model, ids, vocabulary):
    before = model(ids)
    columns = []
    for m in range(len(ids)):
        changed = ids.copy()
        changed[m:] = (ids[m:] + 1) % vocabulary
        columns.append((model(changed) != before).any(axis=-1))
    return np.stack(columns, axis=1)


# %% wrong: exchanged for token 0, which it may be already
def influence(model, ids, vocabulary):
    before = model(ids)
    columns = []
    for m in range(len(ids)):
        changed = ids.copy()
        changed[m] = 0
        columns.append((model(changed) != before).any(axis=-1))
    return np.stack(columns, axis=1)


# %% wrong: a number outside the vocabulary
def influence(model, ids, vocabulary):
    before = model(ids)
    columns = []
    for m in range(len(ids)):
        changed = ids.copy()
        changed[m] = vocabulary
        columns.append((model(changed) != before).any(axis=-1))
    return np.stack(columns, axis=1)


# %% wrong: only the best guess compared
def influence(model, ids, vocabulary):
    before = model(ids).argmax(axis=-1)
    columns = []
    for m in range(len(ids)):
        changed = ids.copy()
        changed[m] = (ids[m] + 1) % vocabulary
        columns.append(model(changed).argmax(axis=-1) != before)
    return np.stack(columns, axis=1)


# %% wrong: only the last token exchanged
def influence(model, ids, vocabulary):
    found = np.tri(len(ids), dtype=bool)
    changed = ids.copy()
    changed[-1] = (ids[-1] + 1) % vocabulary
    found[:, -1] = (model(changed) != model(ids)).any(axis=-1)
    return found


# %% wrong: says what an honest model would do
def influence(model, ids, vocabulary):
    return np.tri(len(ids), dtype=bool)


# %% wrong: changes ids
def influence(model, ids, vocabulary):
    before = model(ids)
    found = np.zeros((len(ids), len(ids)), dtype=bool)
    for m in range(len(ids)):
        ids[m] = (ids[m] + 1) % vocabulary
        found[:, m] = (model(ids) != before).any(axis=-1)
    return found


# %% wrong: every logit has to change by itself, as numbers
def influence(model, ids, vocabulary):
    before = model(ids)
    found = np.zeros((len(ids), len(ids)))
    for m in range(len(ids)):
        changed = ids.copy()
        changed[m] = (ids[m] + 1) % vocabulary
        found[:, m] = np.abs(model(changed) - before).sum(-1)
    return found


# %% right: the token before, and a largest difference
def influence(model, ids, vocabulary):
    T = len(ids)
    found = np.zeros((T, T), dtype=bool)
    for m in range(T):
        changed = np.array(ids)
        changed[m] = (changed[m] - 1) % vocabulary
        gap = np.abs(model(changed) - model(ids)).max(axis=1)
        found[:, m] = gap > 0
    return found


# %% right: all other tokens are tried
def influence(model, ids, vocabulary):
    before = model(ids)
    found = np.zeros((len(ids), len(ids)), dtype=bool)
    for m in range(len(ids)):
        for other in range(vocabulary):
            changed = ids.copy()
            changed[m] = other
            found[:, m] |= (model(changed) != before).any(axis=-1)
    return found


# %% right: put back after each look, on a copy
def influence(model, ids, vocabulary):
    before, work, rows = model(ids.copy()), ids.copy(), []
    for m, token in enumerate(ids):
        work[m] = 1 if token == 0 else 0
        after = model(work)
        work[m] = token
        rows.append([not np.array_equal(a, b)
                     for a, b in zip(after, before)])
    return np.array(rows).T


# %% cheat: reads the model instead of asking it -> uses __closure__
def influence(model, ids, vocabulary):
    mix = model.__closure__[0].cell_contents
    return mix != 0


# %% cheat: the same with inspect -> uses inspect
def influence(model, ids, vocabulary):
    import inspect

    return inspect.getclosurevars(model).nonlocals["mix"] != 0
