# %% wrong: compares exactly
def diagnose(before, after):
    weights, output = before
    rows = weights.sum(-1)
    if not torch.allclose(rows, torch.ones_like(rows)):
        return "softmax"
    if not torch.equal(weights[:, :, :-1], after[0][:, :, :-1]):
        return "split"
    if not torch.equal(output[:, :-1], after[1][:, :-1]):
        return "merge"
    return "fine"


# %% wrong: looks at the output alone
def diagnose(before, after):
    weights, output = before
    rows = weights.sum(-1)
    if not torch.allclose(rows, torch.ones_like(rows)):
        return "softmax"
    if not torch.allclose(output[:, :-1], after[1][:, :-1]):
        return "merge"
    return "fine"


# %% wrong: asks about split before softmax
def diagnose(before, after):
    weights, output = before
    rows = weights.sum(-1)
    if not torch.allclose(weights[:, :, :-1], after[0][:, :, :-1]):
        return "split"
    if not torch.allclose(rows, torch.ones_like(rows)):
        return "softmax"
    if not torch.allclose(output[:, :-1], after[1][:, :-1]):
        return "merge"
    return "fine"


# %% wrong: looks at head 0 only
def diagnose(before, after):
    weights, output = before
    rows = weights.sum(-1)
    if not torch.allclose(rows, torch.ones_like(rows)):
        return "softmax"
    if not torch.allclose(weights[:, 0, :-1], after[0][:, 0, :-1]):
        return "split"
    if not torch.allclose(output[:, :-1], after[1][:, :-1]):
        return "merge"
    return "fine"


# %% wrong: columns must sum to 1
def diagnose(before, after):
    weights, output = before
    columns = weights.sum(-2)
    if not torch.allclose(columns, torch.ones_like(columns)):
        return "softmax"
    if not torch.allclose(weights[:, :, :-1], after[0][:, :, :-1]):
        return "split"
    if not torch.allclose(output[:, :-1], after[1][:, :-1]):
        return "merge"
    return "fine"


# %% wrong: split and merge exchanged
def diagnose(before, after):
    weights, output = before
    rows = weights.sum(-1)
    if not torch.allclose(rows, torch.ones_like(rows)):
        return "softmax"
    if not torch.allclose(weights[:, :, :-1], after[0][:, :, :-1]):
        return "merge"
    if not torch.allclose(output[:, :-1], after[1][:, :-1]):
        return "split"
    return "fine"


# %% wrong: the last row counts, and it always changes
def diagnose(before, after):
    weights, output = before
    rows = weights.sum(-1)
    if not torch.allclose(rows, torch.ones_like(rows)):
        return "softmax"
    if not torch.allclose(weights, after[0]):
        return "split"
    if not torch.allclose(output, after[1]):
        return "merge"
    return "fine"


# %% wrong: the whole table should sum to 1
def diagnose(before, after):
    weights, output = before
    if not torch.allclose(weights.sum(), torch.ones(()).double()):
        return "softmax"
    if not torch.allclose(weights[:, :, :-1], after[0][:, :, :-1]):
        return "split"
    if not torch.allclose(output[:, :-1], after[1][:, :-1]):
        return "merge"
    return "fine"


# %% wrong: looks for weight on later positions
def diagnose(before, after):
    weights, output = before
    rows = weights.sum(-1)
    if not torch.allclose(rows, torch.ones_like(rows)):
        return "softmax"
    if (weights.triu(1) > 1e-6).any():
        return "split"
    if not torch.allclose(output[:, :-1], after[1][:, :-1]):
        return "merge"
    return "fine"


# %% wrong: one answer for all
def diagnose(before, after):
    return "split"


# %% right: largest differences
def diagnose(before, after):
    (w, y), (w2, y2) = before, after
    if (w.sum(dim=-1) - 1).abs().max() > 1e-6:
        return "softmax"
    if (w - w2)[..., :-1, :].abs().max() > 1e-6:
        return "split"
    return "merge" if (y - y2)[:, :-1].abs().max() > 1e-6 else "fine"


# %% right: lists of the rows that change
def diagnose(before, after):
    def changed(a, b, dim):
        rows = (a - b).abs().movedim(dim, 0).flatten(1).amax(1)
        return [i for i, r in enumerate(rows.tolist()) if r > 1e-7]

    w, y = before
    last = w.shape[-1] - 1
    totals = w.sum(-1).flatten().tolist()
    if any(abs(t - 1) > 1e-5 for t in totals):
        return "softmax"
    if changed(w, after[0], 2) != [last]:
        return "split"
    if changed(y, after[1], 1) != [last]:
        return "merge"
    return "fine"


# %% right: in NumPy, first row in every causal table is 1
import numpy as np


def diagnose(before, after):
    w, y = (t.numpy() for t in before)
    w2, y2 = (t.numpy() for t in after)
    symptoms = {
        "softmax": not np.allclose(w[:, :, 0, 0], 1),
        "split": not np.allclose(w[:, :, :-1], w2[:, :, :-1], atol=1e-7),
        "merge": not np.allclose(y[:, :-1], y2[:, :-1], atol=1e-7),
        "fine": True,
    }
    return next(word for word, there in symptoms.items() if there)
