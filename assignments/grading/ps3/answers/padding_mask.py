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


# %% wrong: as many columns as the longest sentence has words
def padding_mask(lengths, size, side="right"):
    place = np.arange(lengths.max() - 1)
    if side == "left":
        place = place[::-1]
    return place < lengths[:, None, None, None]


# %% wrong: 1 and 0 as numbers
def padding_mask(lengths, size, side="right"):
    place = np.arange(size)
    if side == "left":
        place = place[::-1]
    return (place < lengths[:, None, None, None]) * 1.0


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
