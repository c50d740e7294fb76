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


# %% wrong: the last row counts as well
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


# %% wrong: looks at row L - 2 of the output only
def diagnose(before, after):
    w, y = before
    w2, y2 = after
    if ((w.sum(-1) - 1).abs() > 1e-6).any():
        return "softmax"
    if ((w - w2)[:, :, :-1].abs() > 1e-6).any():
        return "split"
    if not torch.allclose(y[:, -2], y2[:, -2]):
        return "merge"
    return "fine"


# %% wrong: looks at row 1 of the output only
def diagnose(before, after):
    w, y = before
    w2, y2 = after
    if ((w.sum(-1) - 1).abs() > 1e-6).any():
        return "softmax"
    if ((w - w2)[:, :, :-1].abs() > 1e-6).any():
        return "split"
    if not torch.allclose(y[:, 1], y2[:, 1]):
        return "merge"
    return "fine"


# %% wrong: looks at row 0 of the output only
def diagnose(before, after):
    w, y = before
    w2, y2 = after
    if ((w.sum(-1) - 1).abs() > 1e-6).any():
        return "softmax"
    if ((w - w2)[:, :, :-1].abs() > 1e-6).any():
        return "split"
    if not torch.allclose(y[:, 0], y2[:, 0]):
        return "merge"
    return "fine"


# %% wrong: looks at row L - H of the weights only
def diagnose(before, after):
    w, y = before
    w2, y2 = after
    if ((w.sum(-1) - 1).abs() > 1e-6).any():
        return "softmax"
    H, L = w.shape[1], w.shape[2]
    if not torch.allclose(w[:, -1, L - H], w2[:, -1, L - H]):
        return "split"
    if ((y - y2)[:, :-1].abs() > 1e-6).any():
        return "merge"
    return "fine"


# %% wrong: looks at the second sentence only
def diagnose(before, after):
    w, y = before
    w2, y2 = after
    w, w2, y, y2 = w[1:2], w2[1:2], y[1:2], y2[1:2]
    if ((w.sum(-1) - 1).abs() > 1e-6).any():
        return "softmax"
    if ((w - w2)[:, :, :-1].abs() > 1e-6).any():
        return "split"
    if ((y - y2)[:, :-1].abs() > 1e-6).any():
        return "merge"
    return "fine"


# %% wrong: softmax if not only the last head changes
def diagnose(before, after):
    w, y = before
    w2, y2 = after
    moved = (w - w2)[:, :, :-1].abs() > 1e-6
    if moved[:, :-1].any():
        return "softmax"
    if moved[:, -1].any():
        return "split"
    if ((y - y2)[:, :-1].abs() > 1e-6).any():
        return "merge"
    return "fine"


# %% wrong: softmax if row 1 of the weights changes
def diagnose(before, after):
    w, y = before
    w2, y2 = after
    if ((w - w2)[:, :, 1].abs() > 1e-6).any():
        return "softmax"
    if ((w - w2)[:, :, :-1].abs() > 1e-6).any():
        return "split"
    if ((y - y2)[:, :-1].abs() > 1e-6).any():
        return "merge"
    return "fine"


# %% wrong: asks about merge before split
def diagnose(before, after):
    w, y = before
    w2, y2 = after
    if ((w.sum(-1) - 1).abs() > 1e-6).any():
        return "softmax"
    if ((y - y2)[:, :-1].abs() > 1e-6).any():
        return "merge"
    if ((w - w2)[:, :, :-1].abs() > 1e-6).any():
        return "split"
    return "fine"


# %% wrong: the whole table should sum to B H L
def diagnose(before, after):
    w, y = before
    w2, y2 = after
    B, H, L, _ = w.shape
    if (w.sum() - B * H * L).abs() > 1e-6:
        return "softmax"
    if ((w - w2)[:, :, :-1].abs() > 1e-6).any():
        return "split"
    if ((y - y2)[:, :-1].abs() > 1e-6).any():
        return "merge"
    return "fine"


# %% wrong: changes below 0.1 taken for rounding
def diagnose(before, after):
    w, y = before
    w2, y2 = after
    if ((w.sum(-1) - 1).abs() > 1e-6).any():
        return "softmax"
    if ((w - w2)[:, :, :-1].abs() > 0.1).any():
        return "split"
    if ((y - y2)[:, :-1].abs() > 0.1).any():
        return "merge"
    return "fine"


# %% wrong: five positions hard-coded
def diagnose(before, after):
    w, y = before
    w2, y2 = after
    if ((w.sum(-1) - 1).abs() > 1e-6).any():
        return "softmax"
    if not torch.allclose(w[:, :, :4], w2[:, :, :4]):
        return "split"
    if not torch.allclose(y[:, :4], y2[:, :4]):
        return "merge"
    return "fine"


# %% wrong: signed differences
def diagnose(before, after):
    w, y = before
    w2, y2 = after
    if ((w.sum(-1) - 1).abs() > 1e-6).any():
        return "softmax"
    if ((w - w2)[:, :, :-1].abs() > 1e-6).any():
        return "split"
    if ((y2 - y)[:, :-1].sum() > 1e-6):
        return "merge"
    return "fine"


# %% wrong: head 2 taken for the last head
def diagnose(before, after):
    w, y = before
    w2, y2 = after
    if ((w.sum(-1) - 1).abs() > 1e-6).any():
        return "softmax"
    if not torch.allclose(w[:, 2, :-1], w2[:, 2, :-1]):
        return "split"
    if ((y - y2)[:, :-1].abs() > 1e-6).any():
        return "merge"
    return "fine"


# %% wrong: subtracts in place
def diagnose(before, after):
    (w, y), (w2, y2) = before, after
    if (w.sum(-1) - 1).abs().max() > 1e-6:
        return "softmax"
    w -= w2
    y -= y2
    if w[:, :, :-1].abs().max() > 1e-6:
        return "split"
    return "merge" if y[:, :-1].abs().max() > 1e-6 else "fine"


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


# %% right: in NumPy, from a table of symptoms
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


# %% right: the first query has one key, of weight 1
def diagnose(before, after):
    (weights, output), (weights2, output2) = before, after
    first = weights[:, :, 0, 0]
    if not torch.allclose(first, torch.ones_like(first)):
        return "softmax"
    if not torch.allclose(weights[..., :-1, :], weights2[..., :-1, :]):
        return "split"
    same = torch.allclose(output[..., :-1, :], output2[..., :-1, :])
    return "fine" if same else "merge"


# %% right: a table of symptoms
def diagnose(before, after):
    def earlier(one, two):
        rows = (one - two).abs().amax(-1)
        return bool((rows[..., :-1] > 1e-7).any())

    def odd(weights):
        return bool((weights.sum(-1) - 1).abs().max() > 1e-7)

    if odd(before[0]) or odd(after[0]):
        return "softmax"
    table = {(False, False): "fine", (False, True): "merge",
             (True, True): "split", (True, False): "split"}
    return table[tuple(earlier(a, b) for a, b in zip(before, after))]


# %% right: only where a bug must show
def diagnose(before, after):
    w, y = before
    w2, y2 = after
    L = w.shape[-1]
    if abs(w[0, 0, L - 1].sum() - 1) > 1e-7:
        return "softmax"  # the last key has one query, which gets 1 from it
    if (w[0, -1, L - 2] - w2[0, -1, L - 2]).abs().max() > 1e-7:
        return "split"
    row = (L - 1) // w.shape[1]  # where merge puts the last row of head 0
    if (y[0, row] - y2[0, row]).abs().max() > 1e-7:
        return "merge"
    return "fine"


# %% right: fine first, rows one by one in NumPy
def diagnose(before, after):
    import numpy as np

    w, y = (np.asarray(t.detach()) for t in before)
    w2, y2 = (np.asarray(t.detach()) for t in after)
    rows = range(w.shape[2] - 1)
    w_moved = [t for t in rows if not np.allclose(w[:, :, t], w2[:, :, t])]
    y_moved = [t for t in rows if not np.allclose(y[:, t], y2[:, t])]
    if not w_moved and not y_moved:
        return "fine"
    if not w_moved:
        return "merge"
    return "split" if np.allclose(w.sum(-1), 1) else "softmax"
