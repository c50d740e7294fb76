# %% wrong: the other order
    own, others = old.copy(), new.copy()
    for b, p in enumerate(place):
        own[b, p] = new[b, p]
        others[b, p] = old[b, p]
    return others, own
# %% wrong: all places in all sentences
    own, others = old.copy(), new.copy()
    own[:, place] = new[:, place]
    others[:, place] = old[:, place]
    return own, others
# %% wrong: the first place for all
    own, others = old.copy(), new.copy()
    for b, p in enumerate(place):
        own[b, place[0]] = new[b, place[0]]
        others[b, place[0]] = old[b, place[0]]
    return own, others
# %% wrong: no copies
# like: the other order
# old.copy(), new.copy() → old, new
# others, own → own, others
# %% wrong: others is all new
    own, others = old.copy(), new.copy()
    for b, p in enumerate(place):
        own[b, p] = new[b, p]
    return own, others
# %% wrong: off by one
# like: the other order
# (place) → (place - 1)
# others, own → own, others
# %% wrong: from that place on
# like: the first place for all
# [b, place[0]] = new[b, place[0]] → [b, p:] = new[b, p:]
# [b, place[0]] = old[b, place[0]] → [b, p:] = old[b, p:]
# %% wrong: places taken for sentences
    own, others = old.copy(), new.copy()
    for b, p in enumerate(place):
        at = p % len(old), b % old.shape[1]
        own[at] = new[at]
        others[at] = old[at]
    return own, others
# %% wrong: halfway between
# like: the other order
# new[b, p] → (old[b, p] + new[b, p]) / 2
# others, own → own, others
# %% wrong: one mixture
# like: the other order
# others, own → own
# %% wrong: the differences
# like: the other order
# others, own → own - old, others - old
# %% wrong: writes ones, not the new vector
    own, others = old.copy(), new.copy()
    b = np.arange(len(old))
    own[b, place] = 1
    others[b, place] = old[b, place]
    return own, others
# %% wrong: others is 1 - own
    own = old.copy()
    b = np.arange(len(old))
    own[b, place] = new[b, place]
    return own, 1 - own
# %% wrong: two sentences hard-coded
    own, others = old.copy(), new.copy()
    for b in range(2):
        own[b, place[b]] = new[b, place[b]]
        others[b, place[b]] = old[b, place[b]]
    return own, others
# %% wrong: written into arrays of integers
    own = np.zeros(old.shape, dtype=int)
    others = np.zeros(old.shape, dtype=int)
    for b in range(old.shape[0]):
        for s in range(old.shape[1]):
            here = s == place[b]
            own[b, s] = new[b, s] if here else old[b, s]
            others[b, s] = old[b, s] if here else new[b, s]
    return own, others
# %% wrong: new vector added to the old one
    here = (np.arange(old.shape[1]) == place[:, None])[..., None]
    own = old + here * new
    others = np.where(here, old, new)
    return own, others
# %% wrong: place set to zero in others
# like: new vector added to the old one
# old + here * new → np.where(here, new, old)
# np.where(here, old, new) → new * ~here
# %% wrong: the larger of old and new at place
# like: new vector added to the old one
# old + here * new → np.where(here, np.maximum(old, new), old)
# here, old → here, np.minimum(old, new)
# %% wrong: the places are sorted first
# like: the other order
# (place) → (sorted(place))
# others, own → own, others
# %% wrong: sentences of four words hard-coded
# np.arange(old.shape[1]) == place[:, None])[... → np.eye(4)[place] == 1)[:, :
# %% wrong: new minus own, old not added back
    b = np.arange(len(old))
    own = old.copy()
    own[b, place] = new[b, place]
    others = new - own
    return own, others
# %% wrong: vectors of the first sentence in all
# like: the first place for all
# [b, place[0]] = new[b, place[0]] → [b, p] = new[0, p]
# [b, place[0]] = old[b, place[0]] → [b, p] = old[0, p]
# %% wrong: the vector of place 0 is put in
    own, others = old.copy(), new.copy()
    for b in range(len(place)):
        own[b, place[b]] = new[b][0]
        others[b, place[b]] = old[b][0]
    return own, others
# %% wrong: one number for a whole vector
    b = np.arange(len(old))
    own, others = np.copy(old), np.copy(new)
    own[b, place] = new[b, place, :1]
    others[b, place] = old[b, place, :1]
    return own, others
# %% wrong: exchanged through views
# like: others is all new
# [b, p] = new → [b, p], others[b, p] = others[b, p], own
# %% wrong: own and others share their memory
    own = others = new.copy()
    b = np.arange(len(old))
    others[b, place] = old[b, place]
    own[b, place] = new[b, place]
    return own, others
# %% wrong: one array, not two
    here = (np.arange(old.shape[1]) == place[:, None])[..., None]
    return np.stack([np.where(here, new, old), np.where(here, old, new)])
# %% right: a mask and where
    S = old.shape[1]
    here = np.arange(S)[None, :, None] == place[:, None, None]
    return np.where(here, new, old), np.where(here, old, new)
# %% right: pairs of indices
    b = np.arange(len(place))
    own, others = np.array(old), np.array(new)
    own[b, place], others[b, place] = new[b, place], old[b, place]
    return own, others
# %% right: rows of the identity
    here = np.eye(old.shape[1])[place][:, :, None]
    return old + here * (new - old), new + here * (old - new)
# %% right: put along the axis
    at = place[:, None, None]
    own, others = old.copy(), new.copy()
    np.put_along_axis(own, at, np.take_along_axis(new, at, 1), 1)
    np.put_along_axis(others, at, np.take_along_axis(old, at, 1), 1)
    return [own, others]
# %% right: pieces joined sentence by sentence
    def put(base, extra):
        return np.stack([
            np.concatenate([a[:p], b[p:p + 1], a[p + 1:]])
            for a, b, p in zip(base, extra, place)])

    return put(old, new), put(new, old)
# %% right: flat indices, a list returned
    B, S, d = old.shape
    rows = place + S * np.arange(B)
    own = old.reshape(-1, d).copy()
    others = new.reshape(-1, d).copy()
    own[rows] = new.reshape(-1, d)[rows]
    others[rows] = old.reshape(-1, d)[rows]
    return [own.reshape(B, S, d), others.reshape(B, S, d)]
