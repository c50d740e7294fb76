# %% wrong: True means filler
# -     lengths = np.asarray(lengths)[:, None, None, None]
# place < lengths → place >= lengths[:, None, None, None]
# %% wrong: the side is not looked at
    return np.arange(size) < lengths[:, None, None, None]
# %% wrong: one column too many
# -     lengths = np.asarray(lengths)[:, None, None, None]
# place < lengths → place <= lengths[:, None, None, None]
# %% wrong: left and right exchanged
# -     lengths = np.asarray(lengths)[:, None, None, None]
# side == "left" → side != "left"
# place < lengths → place < lengths[:, None, None, None]
# %% wrong: (B, size), which does not fit the scores
# -     lengths = np.asarray(lengths)[:, None, None, None]
# place < lengths → place < lengths[:, None]
# %% wrong: on the left one column is lost
    place = np.arange(size)
    lengths = lengths[:, None, None, None]
    return place > size - lengths if side == "left" else place < lengths
# %% wrong: on the left, length for number of fillers
# like: on the left one column is lost
# place > size - lengths → place >= lengths
# %% wrong: the longest sentence for the size
    place = np.arange(lengths.max())
    if side == "left":
        place = place[::-1]
    return place < lengths[:, None, None, None]
# %% wrong: 1 and 0 as numbers
# -     lengths = np.asarray(lengths)[:, None, None, None]
# place < lengths → (place < lengths[:, None, None, None]) * 1.0
# %% wrong: flips the batch as well for the left side
    may = np.arange(size) < np.reshape(lengths, (-1, 1, 1, 1))
    return np.flip(may) if side == "left" else may
# %% wrong: another default for the side
def padding_mask(lengths, size, side="left"):
    col = np.arange(size)
    n = lengths[:, None, None, None]
    if side == "left":
        return col >= size - n
    return col < n
# %% wrong: no default for the side
# like: another default for the side
# side="left" → side
# %% wrong: slice [-0:] blocks full sentences
    may = np.ones((len(lengths), 1, 1, size), dtype=bool)
    for b, n in enumerate(lengths):
        fillers = size - n
        if side == "right":
            may[b, :, :, -fillers:] = False
        else:
            may[b, :, :, :fillers] = False
    return may
# %% wrong: slice [-0:] opens empty sentences
# like: slice [-0:] blocks full sentences
# np.ones → np.zeros
# -         fillers = size - n
# [b, :, :, -fillers:] = False → [b, :, :, :n] = True
# [b, :, :, :fillers] = False → [b, :, :, -n:] = True
# %% wrong: reshape for three sentences only
    n = lengths.reshape(3, 1, 1, 1)
    col = np.arange(size)
    return col < n if side == "right" else col >= size - n
# %% wrong: squeeze breaks a batch of one
    rows = []
    for n in lengths:
        row = np.zeros((1, size), dtype=bool)
        if side == "right":
            row[0, :n] = True
        else:
            row[0, size - n:] = True
        rows.append(row)
    may = np.array(rows).squeeze()
    return may[:, None, None, :]
# %% wrong: at least one word and one filler
    n = np.clip(lengths, 1, size - 1)[:, None, None, None]
    col = np.arange(size)
    return col < n if side == "right" else col >= size - n
# %% wrong: on the left, a size of 5 taken for granted
# lengths = np.asarray(lengths) → n = lengths
# place = np → col = np
# place = place[::-1] → return col >= 5 - n
# place < lengths → col < n
# %% right: both sides written out
    lengths = np.reshape(lengths, (-1, 1, 1, 1))
    if side == "right":
        return np.arange(size) < lengths
    return np.arange(size) >= size - lengths
# %% right: one sentence at a time
    rows = []
    for n in lengths:
        row = [True] * n + [False] * (size - n)
        rows.append(row if side == "right" else row[::-1])
    return np.array(rows)[:, None, None, :]
# %% right: filled in, then flipped
    may = np.zeros((len(lengths), 1, 1, size), dtype=bool)
    for i, n in enumerate(lengths):
        may[i, ..., :n] = True
    return np.flip(may, axis=-1) if side == "left" else may
# %% right: counted from the right end, below 0
    n = lengths[:, None, None, None]
    if side == "right":
        return np.arange(size) < n
    return np.arange(-size, 0) >= -n
# %% right: loop with slices, counted from the left
    may = np.zeros((len(lengths), 1, 1, size), dtype=bool)
    for b, n in enumerate(lengths):
        start = size - int(n) if side == "left" else 0
        may[b, 0, 0, start:start + int(n)] = True
    return may
# %% right: rows looked up in a triangle
    table = np.tri(size + 1, size, -1, dtype=bool)
    may = table[lengths]
    if side == "left":
        may = may[:, ::-1]
    return np.expand_dims(may, (1, 2))
