# %% wrong: chosen on all sentences
# [:n, h], links[:n] → [:, h], links
# %% wrong: chosen on the sentences to score on
# [:n, h], links[:n] → [n:, h], links[n:]
# %% wrong: the error it was chosen by
# [n:, head], links[n:] → [:n, head], links[:n]
# %% wrong: scored on all sentences
# [n:, head], links[n:] → [:, head], links
# %% wrong: the worst head
# np.argmin → np.argmax
# %% wrong: heads counted from 1
# return head → return head + 1
# %% wrong: the other order
# - return head, error_rate(weights[n:, head], links[n:])
# + return error_rate(weights[n:, head], links[n:]), head
# %% wrong: each half has a best head
# -     return head, error_rate(weights[n:, head], links[n:])
# +     rest = [error_rate(weights[n:, h], links[n:])
# +             for h in range(weights.shape[1])]
# +     return head, min(rest)
# %% wrong: a head for each sentence
    mean = weights.mean(1)
    head = int(weights[:n].max(-1).mean((0, 2)).argmax())
    return head, error_rate(mean[n:], links[n:])
# %% wrong: the head that is surest
    head = int(weights[:n].max(-1).mean((0, 2)).argmax())
    return head, error_rate(weights[n:, head], links[n:])
# %% wrong: the first sentence of the rest is lost
# [n:, head], links[n:] → [n + 1:, head], links[n + 1:]
# %% wrong: mean of the sentences' errors
# -     return head, error_rate(weights[n:, head], links[n:])
# +     rest = [error_rate(weights[b:b + 1, head], links[b:b + 1])
# +             for b in range(n, len(links))]
# +     return head, np.mean(rest)
# %% wrong: chosen on the first n + 1
# [:n, h], links[:n] → [:n + 1, h], links[:n + 1]
# %% wrong: last head forgotten
    head = 0
    for h in range(weights.shape[1] - 1):
        if (error_rate(weights[:n, h], links[:n])
                < error_rate(weights[:n, head], links[:n])):
            head = h
    return head, error_rate(weights[n:, head], links[n:])
# %% wrong: head 0 never a candidate
# [error_rate → {h: error_rate
# weights.shape[1])] → 1, weights.shape[1])}
# int(np.argmin(errors)) → min(errors, key=errors.get)
# %% wrong: chosen by the mean of sentences' rates
    def mean_rate(h):
        return np.mean([error_rate(weights[b:b + 1, h], links[b:b + 1])
                        for b in range(n)])

    head = min(range(weights.shape[1]), key=mean_rate)
    return head, error_rate(weights[n:, head], links[n:])
# %% wrong: unlinked words count as mistakes
    wrong = weights.argmax(-1) != links[:, None]
    head = wrong[:n].mean(axis=(0, 2)).argmin()
    return head, wrong[n:, head].mean()
# %% wrong: chosen by the weight on the link
    index = np.maximum(links, 0)[:, None, :, None]
    there = np.take_along_axis(weights, index, -1)[..., 0]
    there = there * (links >= 0)[:, None]
    head = int(there[:n].sum((0, 2)).argmax())
    return head, error_rate(weights[n:, head], links[n:])
# %% wrong: the head that wins most sentences
    hit = (weights.argmax(-1) == links[:, None])[:n]
    winners = hit.sum(-1).argmax(1)
    head = int(np.bincount(winners).argmax())
    return head, error_rate(weights[n:, head], links[n:])
# %% wrong: search starts from an error of 0.5
    head, lowest = 0, 0.5
    for h in range(weights.shape[1]):
        error = error_rate(weights[:n, h], links[:n])
        if error < lowest:
            head, lowest = h, error
    return head, error_rate(weights[n:, head], links[n:])
# %% wrong: n = 2 hard-coded
# [:n, h], links[:n] → [:2, h], links[:2]
# [n:, head], links[n:] → [2:, head], links[2:]
# %% wrong: stops where the next head is worse
# -     head = int(np.argmin(errors))
# +     head = 0
# +     while head + 1 < len(errors) and errors[head + 1] < errors[head]:
# +         head += 1
# %% wrong: three heads hard-coded
    head = min((0, 1, 2), key=lambda h: error_rate(
        weights[:n, h], links[:n]))
    return head, error_rate(weights[n:, head], links[n:])
# %% wrong: chosen on the first n - 1
# -     errors = [error_rate(weights[:n, h], links[:n])
# +     m = max(n - 1, 1)
# +     errors = [error_rate(weights[:m, h], links[:m])
# %% wrong: reshape where axes should be exchanged
    B, H, T, S = weights.shape
    heads = weights.reshape(H, B, T, S)
    errors = [error_rate(w[:n], links[:n]) for w in heads]
    head = int(np.argmin(errors))
    return head, error_rate(heads[head][n:], links[n:])
# %% wrong: the heads are averaged for the error
# [n:, head] → [n:].mean(1)
# %% right: without the item before
    wrong = weights.argmax(-1) != links[:, None]  # (B, H, T)
    linked = (links >= 0)[:, None]
    first = (wrong & linked)[:n].sum((0, 2))
    head = first.argmin()
    return head, wrong[n:, head][links[n:] >= 0].mean()
# %% right: a loop that keeps the best
    best, head = 2.0, None
    for h in range(weights.shape[1]):
        e = error_rate(weights[:n, h, :, :], links[:n])
        if e < best:
            best, head = e, h
    return head, float(error_rate(weights[n:, head, :, :], links[n:]))
# %% right: min with a key
    heads = np.moveaxis(weights, 1, 0)
    head = min(range(len(heads)),
               key=lambda h: error_rate(heads[h][:n], links[:n]))
    return (head, error_rate(heads[head][n:], links[n:]))
# %% right: sorted pairs, a list returned
    pairs = sorted((float(error_rate(weights[:n, h], links[:n])), h)
                   for h in range(weights.shape[1]))
    head = pairs[0][1]
    return [head, float(error_rate(weights[n:, head], links[n:]))]
# %% right: split before the loop
    (seen, rest), (known, held) = (
        np.split(weights, [n]), np.split(links, [n]))
    head, lowest = None, np.inf
    for h in range(seen.shape[1]):
        e = error_rate(np.take(seen, h, axis=1), known)
        if e < lowest:
            head, lowest = h, e
    return head, error_rate(np.take(rest, head, axis=1), held)
