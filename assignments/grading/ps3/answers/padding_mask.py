# %% wrong: True means filler
def padding_mask(lengths, size, side="right"):
    place = np.arange(size)
    if side == "left":
        place = place[::-1]
    return place >= lengths[:, None, None, None]


# %% wrong: the side is not looked at
def padding_mask(lengths, size, side="right"):
    return np.arange(size) < lengths[:, None, None, None]


# %% wrong: one column too many
def padding_mask(lengths, size, side="right"):
    place = np.arange(size)
    if side == "left":
        place = place[::-1]
    return place <= lengths[:, None, None, None]


# %% wrong: left and right exchanged
def padding_mask(lengths, size, side="right"):
    place = np.arange(size)
    if side != "left":
        place = place[::-1]
    return place < lengths[:, None, None, None]


# %% wrong: (B, size), which does not fit the scores
def padding_mask(lengths, size, side="right"):
    place = np.arange(size)
    if side == "left":
        place = place[::-1]
    return place < lengths[:, None]


# %% wrong: on the left one column is lost
def padding_mask(lengths, size, side="right"):
    place = np.arange(size)
    lengths = lengths[:, None, None, None]
    return place > size - lengths if side == "left" else place < lengths


# %% wrong: on the left, length for number of fillers
def padding_mask(lengths, size, side="right"):
    place = np.arange(size)
    lengths = lengths[:, None, None, None]
    return place >= lengths if side == "left" else place < lengths


# %% wrong: the longest sentence for the size
def padding_mask(lengths, size, side="right"):
    place = np.arange(lengths.max())
    if side == "left":
        place = place[::-1]
    return place < lengths[:, None, None, None]


# %% wrong: 1 and 0 as numbers
def padding_mask(lengths, size, side="right"):
    place = np.arange(size)
    if side == "left":
        place = place[::-1]
    return (place < lengths[:, None, None, None]) * 1.0


# %% wrong: flips the batch as well for the left side
def padding_mask(lengths, size, side="right"):
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
def padding_mask(lengths, size, side):
    col = np.arange(size)
    n = lengths[:, None, None, None]
    if side == "left":
        return col >= size - n
    return col < n


# %% wrong: slice [-0:] blocks full sentences
def padding_mask(lengths, size, side="right"):
    may = np.ones((len(lengths), 1, 1, size), dtype=bool)
    for b, n in enumerate(lengths):
        fillers = size - n
        if side == "right":
            may[b, :, :, -fillers:] = False
        else:
            may[b, :, :, :fillers] = False
    return may


# %% wrong: slice [-0:] opens empty sentences
def padding_mask(lengths, size, side="right"):
    may = np.zeros((len(lengths), 1, 1, size), dtype=bool)
    for b, n in enumerate(lengths):
        if side == "right":
            may[b, :, :, :n] = True
        else:
            may[b, :, :, -n:] = True
    return may


# %% wrong: reshape for three sentences only
def padding_mask(lengths, size, side="right"):
    n = lengths.reshape(3, 1, 1, 1)
    col = np.arange(size)
    return col < n if side == "right" else col >= size - n


# %% wrong: squeeze breaks a batch of one
def padding_mask(lengths, size, side="right"):
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
def padding_mask(lengths, size, side="right"):
    n = np.clip(lengths, 1, size - 1)[:, None, None, None]
    col = np.arange(size)
    return col < n if side == "right" else col >= size - n


# %% wrong: on the left, a size of 5 taken for granted
def padding_mask(lengths, size, side="right"):
    n = lengths[:, None, None, None]
    col = np.arange(size)
    if side == "left":
        return col >= 5 - n
    return col < n


# %% right: both sides written out
def padding_mask(lengths, size, side="right"):
    lengths = np.reshape(lengths, (-1, 1, 1, 1))
    if side == "right":
        return np.arange(size) < lengths
    return np.arange(size) >= size - lengths


# %% right: one sentence at a time
def padding_mask(lengths, size, side="right"):
    rows = []
    for n in lengths:
        row = [True] * n + [False] * (size - n)
        rows.append(row if side == "right" else row[::-1])
    return np.array(rows)[:, None, None, :]


# %% right: filled in, then flipped
def padding_mask(lengths, size, side="right"):
    may = np.zeros((len(lengths), 1, 1, size), dtype=bool)
    for i, n in enumerate(lengths):
        may[i, ..., :n] = True
    return np.flip(may, axis=-1) if side == "left" else may


# %% right: counted from the right end, below 0
def padding_mask(lengths, size, side="right"):
    n = lengths[:, None, None, None]
    if side == "right":
        return np.arange(size) < n
    return np.arange(-size, 0) >= -n


# %% right: loop with slices, counted from the left
def padding_mask(lengths, size, side="right"):
    may = np.zeros((len(lengths), 1, 1, size), dtype=bool)
    for b, n in enumerate(lengths):
        start = size - int(n) if side == "left" else 0
        may[b, 0, 0, start:start + int(n)] = True
    return may


# %% right: rows looked up in a triangle
def padding_mask(lengths, size, side="right"):
    table = np.tri(size + 1, size, -1, dtype=bool)
    may = table[lengths]
    if side == "left":
        may = may[:, ::-1]
    return np.expand_dims(may, (1, 2))
