# %% wrong: chosen on all sentences
def best_head(weights, links, n):
    errors = [error_rate(weights[:, h], links)
              for h in range(weights.shape[1])]
    head = int(np.argmin(errors))
    return head, error_rate(weights[n:, head], links[n:])


# %% wrong: chosen on the sentences to score on
def best_head(weights, links, n):
    errors = [error_rate(weights[n:, h], links[n:])
              for h in range(weights.shape[1])]
    head = int(np.argmin(errors))
    return head, error_rate(weights[n:, head], links[n:])


# %% wrong: the error it was chosen by
def best_head(weights, links, n):
    errors = [error_rate(weights[:n, h], links[:n])
              for h in range(weights.shape[1])]
    head = int(np.argmin(errors))
    return head, error_rate(weights[:n, head], links[:n])


# %% wrong: scored on all sentences
def best_head(weights, links, n):
    errors = [error_rate(weights[:n, h], links[:n])
              for h in range(weights.shape[1])]
    head = int(np.argmin(errors))
    return head, error_rate(weights[:, head], links)


# %% wrong: the worst head
def best_head(weights, links, n):
    errors = [error_rate(weights[:n, h], links[:n])
              for h in range(weights.shape[1])]
    head = int(np.argmax(errors))
    return head, error_rate(weights[n:, head], links[n:])


# %% wrong: heads counted from 1
def best_head(weights, links, n):
    errors = [error_rate(weights[:n, h], links[:n])
              for h in range(weights.shape[1])]
    head = int(np.argmin(errors))
    return head + 1, error_rate(weights[n:, head], links[n:])


# %% wrong: the other order
def best_head(weights, links, n):
    errors = [error_rate(weights[:n, h], links[:n])
              for h in range(weights.shape[1])]
    head = int(np.argmin(errors))
    return error_rate(weights[n:, head], links[n:]), head


# %% wrong: each half has a best head
def best_head(weights, links, n):
    errors = [error_rate(weights[:n, h], links[:n])
              for h in range(weights.shape[1])]
    head = int(np.argmin(errors))
    rest = [error_rate(weights[n:, h], links[n:])
            for h in range(weights.shape[1])]
    return head, min(rest)


# %% wrong: a head for each sentence
def best_head(weights, links, n):
    mean = weights.mean(1)
    head = int(weights[:n].max(-1).mean((0, 2)).argmax())
    return head, error_rate(mean[n:], links[n:])


# %% wrong: the head that is surest
def best_head(weights, links, n):
    head = int(weights[:n].max(-1).mean((0, 2)).argmax())
    return head, error_rate(weights[n:, head], links[n:])


# %% wrong: the first sentence of the rest is lost
def best_head(weights, links, n):
    errors = [error_rate(weights[:n, h], links[:n])
              for h in range(weights.shape[1])]
    head = int(np.argmin(errors))
    return head, error_rate(weights[n + 1:, head], links[n + 1:])


# %% wrong: mean of the sentences' errors
def best_head(weights, links, n):
    errors = [error_rate(weights[:n, h], links[:n])
              for h in range(weights.shape[1])]
    head = int(np.argmin(errors))
    rest = [error_rate(weights[b:b + 1, head], links[b:b + 1])
            for b in range(n, len(links))]
    return head, np.mean(rest)


# %% wrong: chosen on the first n + 1
def best_head(weights, links, n):
    errors = [error_rate(weights[:n + 1, h], links[:n + 1])
              for h in range(weights.shape[1])]
    head = int(np.argmin(errors))
    return head, error_rate(weights[n:, head], links[n:])


# %% wrong: last head forgotten
def best_head(weights, links, n):
    head = 0
    for h in range(weights.shape[1] - 1):
        if (error_rate(weights[:n, h], links[:n])
                < error_rate(weights[:n, head], links[:n])):
            head = h
    return head, error_rate(weights[n:, head], links[n:])


# %% wrong: head 0 never a candidate
def best_head(weights, links, n):
    errors = {h: error_rate(weights[:n, h], links[:n])
              for h in range(1, weights.shape[1])}
    head = min(errors, key=errors.get)
    return head, error_rate(weights[n:, head], links[n:])


# %% wrong: chosen by the mean of sentences' rates
def best_head(weights, links, n):
    def mean_rate(h):
        return np.mean([error_rate(weights[b:b + 1, h], links[b:b + 1])
                        for b in range(n)])

    head = min(range(weights.shape[1]), key=mean_rate)
    return head, error_rate(weights[n:, head], links[n:])


# %% wrong: unlinked words count as mistakes
def best_head(weights, links, n):
    wrong = weights.argmax(-1) != links[:, None]
    head = wrong[:n].mean(axis=(0, 2)).argmin()
    return head, wrong[n:, head].mean()


# %% wrong: chosen by the weight on the link
def best_head(weights, links, n):
    index = np.maximum(links, 0)[:, None, :, None]
    there = np.take_along_axis(weights, index, -1)[..., 0]
    there = there * (links >= 0)[:, None]
    head = int(there[:n].sum((0, 2)).argmax())
    return head, error_rate(weights[n:, head], links[n:])


# %% wrong: the head that wins most sentences
def best_head(weights, links, n):
    hit = (weights.argmax(-1) == links[:, None])[:n]
    winners = hit.sum(-1).argmax(1)
    head = int(np.bincount(winners).argmax())
    return head, error_rate(weights[n:, head], links[n:])


# %% wrong: search starts from an error of 0.5
def best_head(weights, links, n):
    head, lowest = 0, 0.5
    for h in range(weights.shape[1]):
        error = error_rate(weights[:n, h], links[:n])
        if error < lowest:
            head, lowest = h, error
    return head, error_rate(weights[n:, head], links[n:])


# %% wrong: n = 2 hard-coded
def best_head(weights, links, n):
    errors = [error_rate(weights[:2, h], links[:2])
              for h in range(weights.shape[1])]
    head = int(np.argmin(errors))
    return head, error_rate(weights[2:, head], links[2:])


# %% wrong: stops where the next head is worse
def best_head(weights, links, n):
    errors = [error_rate(weights[:n, h], links[:n])
              for h in range(weights.shape[1])]
    head = 0
    while head + 1 < len(errors) and errors[head + 1] < errors[head]:
        head += 1
    return head, error_rate(weights[n:, head], links[n:])


# %% wrong: three heads hard-coded
def best_head(weights, links, n):
    head = min((0, 1, 2), key=lambda h: error_rate(
        weights[:n, h], links[:n]))
    return head, error_rate(weights[n:, head], links[n:])


# %% wrong: chosen on the first n - 1
def best_head(weights, links, n):
    m = max(n - 1, 1)
    errors = [error_rate(weights[:m, h], links[:m])
              for h in range(weights.shape[1])]
    head = int(np.argmin(errors))
    return head, error_rate(weights[n:, head], links[n:])


# %% wrong: reshape where axes should be exchanged
def best_head(weights, links, n):
    B, H, T, S = weights.shape
    heads = weights.reshape(H, B, T, S)
    errors = [error_rate(w[:n], links[:n]) for w in heads]
    head = int(np.argmin(errors))
    return head, error_rate(heads[head][n:], links[n:])


# %% wrong: the heads are averaged for the error
def best_head(weights, links, n):
    errors = [error_rate(weights[:n, h], links[:n])
              for h in range(weights.shape[1])]
    head = int(np.argmin(errors))
    return head, error_rate(weights[n:].mean(1), links[n:])


# %% right: without the item before
def best_head(weights, links, n):
    wrong = weights.argmax(-1) != links[:, None]  # (B, H, T)
    linked = (links >= 0)[:, None]
    first = (wrong & linked)[:n].sum((0, 2))
    head = first.argmin()
    return head, wrong[n:, head][links[n:] >= 0].mean()


# %% right: a loop that keeps the best
def best_head(weights, links, n):
    best, head = 2.0, None
    for h in range(weights.shape[1]):
        e = error_rate(weights[:n, h, :, :], links[:n])
        if e < best:
            best, head = e, h
    return head, float(error_rate(weights[n:, head, :, :], links[n:]))


# %% right: min with a key
def best_head(weights, links, n):
    heads = np.moveaxis(weights, 1, 0)
    head = min(range(len(heads)),
               key=lambda h: error_rate(heads[h][:n], links[:n]))
    return (head, error_rate(heads[head][n:], links[n:]))


# %% right: sorted pairs, a list returned
def best_head(weights, links, n):
    pairs = sorted((float(error_rate(weights[:n, h], links[:n])), h)
                   for h in range(weights.shape[1]))
    head = pairs[0][1]
    return [head, float(error_rate(weights[n:, head], links[n:]))]


# %% right: split before the loop
def best_head(weights, links, n):
    (seen, rest), (known, held) = (
        np.split(weights, [n]), np.split(links, [n]))
    head, lowest = None, np.inf
    for h in range(seen.shape[1]):
        e = error_rate(np.take(seen, h, axis=1), known)
        if e < lowest:
            head, lowest = h, e
    return head, error_rate(np.take(rest, head, axis=1), held)
