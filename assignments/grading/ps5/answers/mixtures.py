# %% wrong: the other order
def mixtures(old, new, place):
    own, others = old.copy(), new.copy()
    for b, p in enumerate(place):
        own[b, p] = new[b, p]
        others[b, p] = old[b, p]
    return others, own


# %% wrong: all places in all sentences
def mixtures(old, new, place):
    own, others = old.copy(), new.copy()
    own[:, place] = new[:, place]
    others[:, place] = old[:, place]
    return own, others


# %% wrong: the first place for all
def mixtures(old, new, place):
    own, others = old.copy(), new.copy()
    for b, p in enumerate(place):
        own[b, place[0]] = new[b, place[0]]
        others[b, place[0]] = old[b, place[0]]
    return own, others


# %% wrong: no copies
def mixtures(old, new, place):
    own, others = old, new
    for b, p in enumerate(place):
        own[b, p] = new[b, p]
        others[b, p] = old[b, p]
    return own, others


# %% wrong: others is all new
def mixtures(old, new, place):
    own, others = old.copy(), new.copy()
    for b, p in enumerate(place):
        own[b, p] = new[b, p]
    return own, others


# %% wrong: off by one
def mixtures(old, new, place):
    own, others = old.copy(), new.copy()
    for b, p in enumerate(place - 1):
        own[b, p] = new[b, p]
        others[b, p] = old[b, p]
    return own, others


# %% wrong: from that place on
def mixtures(old, new, place):
    own, others = old.copy(), new.copy()
    for b, p in enumerate(place):
        own[b, p:] = new[b, p:]
        others[b, p:] = old[b, p:]
    return own, others


# %% wrong: places taken for sentences
def mixtures(old, new, place):
    own, others = old.copy(), new.copy()
    for b, p in enumerate(place):
        at = p % len(old), b % old.shape[1]
        own[at] = new[at]
        others[at] = old[at]
    return own, others


# %% wrong: halfway between
def mixtures(old, new, place):
    own, others = old.copy(), new.copy()
    for b, p in enumerate(place):
        own[b, p] = (old[b, p] + new[b, p]) / 2
        others[b, p] = old[b, p]
    return own, others


# %% wrong: one mixture
def mixtures(old, new, place):
    own, others = old.copy(), new.copy()
    for b, p in enumerate(place):
        own[b, p] = new[b, p]
        others[b, p] = old[b, p]
    return own


# %% wrong: the differences
def mixtures(old, new, place):
    own, others = old.copy(), new.copy()
    for b, p in enumerate(place):
        own[b, p] = new[b, p]
        others[b, p] = old[b, p]
    return own - old, others - old


# %% right: a mask and where
def mixtures(old, new, place):
    S = old.shape[1]
    here = np.arange(S)[None, :, None] == place[:, None, None]
    return np.where(here, new, old), np.where(here, old, new)


# %% right: pairs of indices
def mixtures(old, new, place):
    b = np.arange(len(place))
    own, others = np.array(old), np.array(new)
    own[b, place], others[b, place] = new[b, place], old[b, place]
    return own, others


# %% right: rows of the identity
def mixtures(old, new, place):
    here = np.eye(old.shape[1])[place][:, :, None]
    return old + here * (new - old), new + here * (old - new)


# %% right: put along the axis
def mixtures(old, new, place):
    at = place[:, None, None]
    own, others = old.copy(), new.copy()
    np.put_along_axis(own, at, np.take_along_axis(new, at, 1), 1)
    np.put_along_axis(others, at, np.take_along_axis(old, at, 1), 1)
    return [own, others]
