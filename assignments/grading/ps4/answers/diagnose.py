# %% wrong: compares exactly
# -     def equal(a, b):
# -         return torch.allclose(a, b, atol=1e-6)
# -
# equal(rows → torch.allclose(rows
# equal(weights → torch.equal(weights
# equal(output → torch.equal(output
# %% wrong: looks at the output alone
    weights, output = before
    rows = weights.sum(-1)
    if not torch.allclose(rows, torch.ones_like(rows)):
        return "softmax"
    if not torch.allclose(output[:, :-1], after[1][:, :-1]):
        return "merge"
    return "fine"
# %% wrong: asks about split before softmax
# like: looks at the output alone
#       rows = weights.sum(-1)
# +     if not torch.allclose(weights[:, :, :-1], after[0][:, :, :-1]):
# +         return "split"
# %% wrong: looks at head 0 only
# like: looks at the output alone
#           return "softmax"
# +     if not torch.allclose(weights[:, 0, :-1], after[0][:, 0, :-1]):
# +         return "split"
# %% wrong: columns must sum to 1
# like: looks at head 0 only
# sum(-1) → sum(-2)
# [:, 0, :-1], after[0][:, 0, :-1] → [:, :, :-1], after[0][:, :, :-1]
# %% wrong: split and merge exchanged
# like: looks at the output alone
# output[:, :-1], after[1][:, :-1] → weights[:, :, :-1], after[0][:, :, :-1]
#           return "merge"
# +     if not torch.allclose(output[:, :-1], after[1][:, :-1]):
# +         return "split"
# %% wrong: the last row counts as well
# like: compares exactly
# equal(weights[:, :, :-1], after[0][:, :, :-1]) → allclose(weights, after[0])
# equal(output[:, :-1], after[1][:, :-1]) → allclose(output, after[1])
# %% wrong: the whole table should sum to 1
    weights, output = before
    if not torch.allclose(weights.sum(), torch.ones(()).double()):
        return "softmax"
    if not torch.allclose(weights[:, :, :-1], after[0][:, :, :-1]):
        return "split"
    if not torch.allclose(output[:, :-1], after[1][:, :-1]):
        return "merge"
    return "fine"
# %% wrong: looks for weight on later positions
# like: looks at the output alone
#           return "softmax"
# +     if (weights.triu(1) > 1e-6).any():
# +         return "split"
# %% wrong: one answer for all
    return "split"
# %% wrong: looks at row L - 2 of the output only
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
# like: looks at row L - 2 of the output only
# [:, -2], y2[:, -2] → [:, 1], y2[:, 1]
# %% wrong: looks at row 0 of the output only
# like: looks at row L - 2 of the output only
# [:, -2], y2[:, -2] → [:, 0], y2[:, 0]
# %% wrong: looks at row L - H of the weights only
# like: looks at row L - 2 of the output only
# -     if ((w - w2)[:, :, :-1].abs() > 1e-6).any():
# +     H, L = w.shape[1], w.shape[2]
# +     if not torch.allclose(w[:, -1, L - H], w2[:, -1, L - H]):
# not torch.allclose(y[:, -2], y2[:, -2] → ((y - y2)[:, :-1].abs() > 1e-6).any(
# %% wrong: looks at the second sentence only
# like: looks at row L - 2 of the output only
#       w2, y2 = after
# +     w, w2, y, y2 = w[1:2], w2[1:2], y[1:2], y2[1:2]
# not torch.allclose(y[:, -2], y2[:, -2] → ((y - y2)[:, :-1].abs() > 1e-6).any(
# %% wrong: softmax if not only the last head changes
# like: looks at row L - 2 of the output only
# -     if ((w.sum(-1) - 1).abs() > 1e-6).any():
# +     moved = (w - w2)[:, :, :-1].abs() > 1e-6
# +     if moved[:, :-1].any():
# ((w - w2)[:, :, :-1].abs() > 1e-6) → moved[:, -1]
# not torch.allclose(y[:, -2], y2[:, -2] → ((y - y2)[:, :-1].abs() > 1e-6).any(
# %% wrong: softmax if row 1 of the weights changes
# like: looks at row L - 2 of the output only
# (w.sum(-1) - 1) → (w - w2)[:, :, 1]
# not torch.allclose(y[:, -2], y2[:, -2] → ((y - y2)[:, :-1].abs() > 1e-6).any(
# %% wrong: asks about merge before split
# like: looks at row L - 2 of the output only
#           return "softmax"
# +     if ((y - y2)[:, :-1].abs() > 1e-6).any():
# +         return "merge"
# -     if not torch.allclose(y[:, -2], y2[:, -2]):
# -         return "merge"
# %% wrong: the whole table should sum to B H L
# like: looks at row L - 2 of the output only
# -     if ((w.sum(-1) - 1).abs() > 1e-6).any():
# +     B, H, L, _ = w.shape
# +     if (w.sum() - B * H * L).abs() > 1e-6:
# not torch.allclose(y[:, -2], y2[:, -2] → ((y - y2)[:, :-1].abs() > 1e-6).any(
# %% wrong: changes below 0.1 taken for rounding
# like: looks at row L - 2 of the output only
# [:, :, :-1].abs() > 1e-6 → [:, :, :-1].abs() > 0.1
# not torch.allclose(y[:, -2], y2[:, -2] → ((y - y2)[:, :-1].abs() > 0.1).any(
# %% wrong: five positions hard-coded
# like: looks at row L - 2 of the output only
# - if ((w - w2)[:, :, :-1].abs() > 1e-6).any():
# + if not torch.allclose(w[:, :, :4], w2[:, :, :4]):
# [:, -2], y2[:, -2] → [:, :4], y2[:, :4]
# %% wrong: signed differences
# like: looks at row L - 2 of the output only
# not torch.allclose(y[:, -2], y2[:, -2]) → ((y2 - y)[:, :-1].sum() > 1e-6)
# %% wrong: head 2 taken for the last head
# like: looks at row L - 2 of the output only
# - if ((w - w2)[:, :, :-1].abs() > 1e-6).any():
# + if not torch.allclose(w[:, 2, :-1], w2[:, 2, :-1]):
# not torch.allclose(y[:, -2], y2[:, -2] → ((y - y2)[:, :-1].abs() > 1e-6).any(
# %% wrong: subtracts in place
    (w, y), (w2, y2) = before, after
    if (w.sum(-1) - 1).abs().max() > 1e-6:
        return "softmax"
    w -= w2
    y -= y2
    if w[:, :, :-1].abs().max() > 1e-6:
        return "split"
    return "merge" if y[:, :-1].abs().max() > 1e-6 else "fine"
# %% right: largest differences
    (w, y), (w2, y2) = before, after
    if (w.sum(dim=-1) - 1).abs().max() > 1e-6:
        return "softmax"
    if (w - w2)[..., :-1, :].abs().max() > 1e-6:
        return "split"
    return "merge" if (y - y2)[:, :-1].abs().max() > 1e-6 else "fine"
# %% right: lists of the rows that change
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
    (weights, output), (weights2, output2) = before, after
    first = weights[:, :, 0, 0]
    if not torch.allclose(first, torch.ones_like(first)):
        return "softmax"
    if not torch.allclose(weights[..., :-1, :], weights2[..., :-1, :]):
        return "split"
    same = torch.allclose(output[..., :-1, :], output2[..., :-1, :])
    return "fine" if same else "merge"
# %% right: a table of symptoms
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
# like: looks at row L - 2 of the output only
# -     if ((w.sum(-1) - 1).abs() > 1e-6).any():
# +     L = w.shape[-1]
# +     if abs(w[0, 0, L - 1].sum() - 1) > 1e-7:
# - if ((w - w2)[:, :, :-1].abs() > 1e-6).any():
# + if (w[0, -1, L - 2] - w2[0, -1, L - 2]).abs().max() > 1e-7:
# -     if not torch.allclose(y[:, -2], y2[:, -2]):
# +     row = (L - 1) // w.shape[1]  # where merge puts the last row of head 0
# +     if (y[0, row] - y2[0, row]).abs().max() > 1e-7:
# %% right: fine first, rows one by one in NumPy
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
