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
