# %% wrong: no cache
# -             ids = model(ids, cache)[:, -1].argmax(-1, keepdim=True)
# -             steps.append(ids)
# +             new = model(ids)[:, -1].argmax(-1, keepdim=True)
# +             ids = torch.cat([ids, new], dim=1)
# +             steps.append(new)
# %% wrong: all is fed again, with a cache
# like: no cache
# model(ids) → model(ids, cache)
# %% wrong: a new cache in each step
# ids, cache → ids, {}
# %% wrong: no cache, and only the newest token
# ids, cache → ids
# %% wrong: the model stays in training mode
# -     model.eval()
# %% wrong: the model is left in evaluation mode
# -     model.train(was)
# %% wrong: the model is always left in training mode
# (was) → ()
# %% wrong: the cache is a default argument
# prompt, n → prompt, n, cache={}
# cache, steps, ids = model.training, {} → steps, ids = model.training
# %% wrong: the first position's logits
# [:, -1] → [:, 0]
# %% wrong: the smallest logit
# argmax → argmin
# %% wrong: all rows get the first one's token
# (-1, keepdim=True) → (-1, keepdim=True)[:1].expand(len(ids), 1)
# %% wrong: one token too few
# range(n) → range(n - 1)
# %% wrong: one token too many
# range(n) → range(n + 1)
# %% wrong: tokens are drawn, not chosen
# -             ids = model(ids, cache)[:, -1].argmax(-1, keepdim=True)
# +             chances = model(ids, cache)[:, -1].softmax(-1)
# +             ids = torch.multinomial(chances, 1)
# %% wrong: the argmax is over the batch
# (-1, keepdim=True) → (0)[:len(ids), None]
# %% wrong: the last prompt token is fed twice
#       with torch.no_grad():
# +         model(ids, cache)
# +         ids = ids[:, -1:]
# %% wrong: the prompt is fed but for its last token, which is lost
#       with torch.no_grad():
# +         if ids.shape[1] > 1:
# +             ids = ids[:, :-1]
# %% wrong: the first new token is not fed back
# like: all is fed again, with a cache
# torch.cat([ids, new], dim=1) → ids[:, -1:]
# %% wrong: new tokens in front of the prompt
# [prompt, *steps] → steps[::-1] + [prompt]
# %% wrong: stops when all rows say token 0
# - was, cache, steps, ids = model.training, {}, [], prompt
# + was = model.training
#       model.eval()
# +     cache, steps, ids = {}, prompt, prompt
# -             steps.append(ids)
# +             steps = torch.cat([steps, ids], dim=1)
# +             if (ids == 0).all():
# +                 break
# torch.cat([prompt, *steps], dim=1) → steps
# %% wrong: a row that has said 0 is filled up
# - was, cache, steps, ids = model.training, {}, [], prompt
# + was = model.training
#       model.eval()
# +     cache, steps, ids = {}, prompt, prompt
# +     done = torch.zeros(len(prompt), 1, dtype=torch.bool)
# -             steps.append(ids)
# +             ids = ids.masked_fill(done, 0)
# +             done = done | (ids == 0)
# +             steps = torch.cat([steps, ids], dim=1)
# torch.cat([prompt, *steps], dim=1) → steps
# %% wrong: a prompt is cut to its last 32 tokens
    was_training = model.training
    model.eval()
    cache, ids = {}, prompt
    new = prompt[:, -32:]
    with torch.no_grad():
        for _ in range(n):
            logits = model(new, cache)[:, -1, :]
            new = torch.argmax(logits, dim=-1, keepdim=True)
            ids = torch.cat((ids, new), dim=1)
    model.train(was_training)
    return ids
# %% wrong: stops at 64 tokens in all
# like: stops when all rows say token 0
#           for _ in range(n):
# +             if steps.shape[1] >= 64:  # context
# +                 break
# -             if (ids == 0).all():
# -                 break
# %% wrong: notes the mode after eval()
# -     was, cache, steps, ids = model.training, {}, [], prompt
# -     model.eval()
# +     model = model.eval()
# +     was = model.training
# +     cache, steps, ids = {}, [], prompt
# %% wrong: the outer module's flag only
# -     was, cache, steps, ids = model.training, {}, [], prompt
# -     model.eval()
# +     was, model.training = model.training, False
# +     cache, steps, ids = {}, [], prompt
# train(was) → training = was
# %% wrong: the mode is put back too early
    mode, cache = model.training, {}
    model.eval()
    with torch.no_grad():
        logits = model(prompt, cache)
    model.train(mode)
    steps = [logits[:, -1].argmax(-1, keepdim=True)]
    with torch.no_grad():
        while len(steps) < n:
            logits = model(steps[-1], cache)
            steps.append(logits[:, -1].argmax(-1, keepdim=True))
    return torch.cat([prompt, *steps], dim=1)
# %% wrong: n = 1 gives two tokens
    mode, cache = model.training, {}
    model.eval()
    with torch.no_grad():
        steps = [model(prompt, cache)[:, -1].argmax(-1, keepdim=True)]
        while True:
            logits = model(steps[-1], cache)
            steps.append(logits[:, -1].argmax(-1, keepdim=True))
            if len(steps) >= n:
                break
    model.train(mode)
    return torch.cat([prompt, *steps], dim=1)
# %% wrong: squeeze, where there is one row
# {}, [] → {}, prompt
# -             ids = model(ids, cache)[:, -1].argmax(-1, keepdim=True)
# -             steps.append(ids)
# +             last = model(ids, cache)[:, -1, :].squeeze()
# +             ids = last.argmax(dim=-1)[:, None]
# +             steps = torch.cat([steps, ids], dim=1)
# torch.cat([prompt, *steps], dim=1) → steps
# %% wrong: a prompt of one leaves an empty piece
    mode, cache, ids = model.training, {}, prompt
    model.eval()
    with torch.no_grad():
        model(prompt[:, :-1], cache)  # fill the cache
        for _ in range(n):
            logits = model(ids[:, -1:], cache)
            new = logits[:, -1].argmax(-1, keepdim=True)
            ids = torch.cat([ids, new], dim=1)
    model.train(mode)
    return ids
# %% wrong: the dict is not empty at first
    mode, ids, new = model.training, prompt, prompt
    cache = {"k": None, "v": None, "length": 0}
    model.eval()
    with torch.no_grad():
        for _ in range(n):
            logits = model(new, cache)
            cache["length"] += new.shape[1]
            new = logits[:, -1].argmax(-1, keepdim=True)
            ids = torch.cat([ids, new], dim=1)
    model.train(mode)
    return ids
# %% wrong: the first token is read once more
    mode, cache = model.training, {}
    model.eval()
    B, T = prompt.shape
    ids = prompt.new_zeros(B, T + n)
    ids[:, :T] = prompt
    with torch.no_grad():
        vocab = model(prompt[:, :1]).shape[-1]
        new = prompt
        for i in range(n):
            logits = model(new, cache)[:, -1].reshape(B, vocab)
            new = logits.argmax(-1, keepdim=True)
            ids[:, T + i] = new[:, 0]
    model.train(mode)
    return ids
# %% wrong: no logit above 0 means token 0
# {}, [] → {}, prompt
# -             ids = model(ids, cache)[:, -1].argmax(-1, keepdim=True)
# -             steps.append(ids)
# +             rows = model(ids, cache)[:, -1].tolist()
# +             ids = []
# +             for row in rows:
# +                 best, token = 0.0, 0
# +                 for i, value in enumerate(row):
# +                     if value > best:
# +                         best, token = value, i
# +                 ids.append([token])
# +             ids = torch.tensor(ids)
# +             steps = torch.cat([steps, ids], dim=1)
# torch.cat([prompt, *steps], dim=1) → steps
# %% wrong: argmax over this notebook's VOCAB
# like: a prompt of one leaves an empty piece
# ids = model.training, {} → ids, new = model.training, {}, prompt
# -         model(prompt[:, :-1], cache)  # fill the cache
# (ids[:, -1:], cache) → (new, cache)[:, -1, :VOCAB]
# logits[:, -1] → logits
# %% wrong: softmax first, close logits are equal
# like: the dict is not empty at first
# -     mode, ids, new = model.training, prompt, prompt
# -     cache = {"k": None, "v": None, "length": 0}
# +     mode, cache, ids, new = model.training, {}, prompt, prompt
# (new, cache) → (new, cache)[:, -1]
# cache["length"] += new.shape[1] → probs = F.softmax(logits, dim=-1)
# logits[:, -1] → probs
# %% wrong: the model's parameters are frozen
    mode, cache, ids, new = model.training, {}, prompt, prompt
    model.eval()
    model.requires_grad_(False)  # no gradients needed here
    for _ in range(n):
        new = model(new, cache)[:, -1].argmax(-1, keepdim=True)
        ids = torch.cat([ids, new], dim=1)
    model.train(mode)
    return ids
# %% wrong: n is taken for the whole length
# {}, [] → {}, prompt
# for _ in range(n) → while steps.shape[1] < n
# steps.append(ids) → steps = torch.cat([steps, ids], dim=1)
# torch.cat([prompt, *steps], dim=1) → steps
# %% wrong: no token twice in a row
# like: softmax first, close logits are equal
# logits = model(new, cache)[:, -1] → probs = model(new, cache)[:, -1].clone()
# probs = F.softmax(logits, dim=-1 → probs.scatter_(1, ids[:, -1:], -torch.inf
# %% wrong: row by row
    was = model.training
    model.eval()
    rows = []
    with torch.no_grad():
        for row in prompt:
            cache, ids, new = {}, row[None], row[None]
            for _ in range(n):
                new = model(new, cache)[:, -1:].argmax(-1)
                ids = torch.cat([ids, new], dim=1)
            rows.append(ids)
    model.train(was)
    return torch.cat(rows)
# %% wrong: gradients are left switched off
# like: the model's parameters are frozen
#   def generate(model, prompt, n):
# +     torch.set_grad_enabled(False)
# -     model.requires_grad_(False)  # no gradients needed here
# [:, -1].argmax(-1, keepdim=True) → [:, -1:].argmax(-1)
# %% right: token by token, from the prompt on
@torch.no_grad()
def generate(model, prompt, n):
    mode = model.training
    model.train(False)
    cache, steps = {}, []
    for t in range(prompt.shape[1]):
        logits = model(prompt[:, t:t + 1], cache=cache)
    steps.append(logits[:, -1].topk(1).indices)
    while len(steps) < n:
        logits = model(steps[-1], cache=cache)
        steps.append(logits[:, -1].topk(1).indices)
    model.train(mode)
    return torch.cat([prompt, *steps], dim=1)
# %% right: max over the last axis, try and finally, inference mode
    cache, was = {}, model.training
    model.train(False)
    try:
        with torch.inference_mode():
            steps, new = [], prompt
            for _ in range(n):
                logits = model(new, cache)
                new = logits[:, -1:].max(dim=-1).indices
                steps.append(new)
            return torch.cat([prompt, *steps], dim=1).clone()
    finally:
        model.train(was)
# %% right: prefill and last token apart, gradients on, a table filled in
    before = {m: m.training for m in model.modules()}
    model.train(False)
    B, T = prompt.shape
    whole = torch.zeros(B, T + n, dtype=torch.long)
    whole[:, :T] = prompt
    cache = {}
    if T > 1:
        model(whole[:, :T - 1], cache)
    for t in range(T - 1, T + n - 1):
        logits = model(whole[:, t:t + 1], cache)
        whole[:, t + 1] = torch.argmax(logits[:, 0], dim=1)
    for module, mode in before.items():
        module.training = mode
    steps = whole[:, T:].split(1, dim=1)
    return torch.cat([prompt, *steps], dim=1)
# %% right: nanoGPT's loop, what is new goes in
@torch.no_grad()
def generate(model, prompt, n):
    mode = model.training
    model.eval()
    cache = {}
    idx, idx_next = prompt, prompt
    for _ in range(n):
        logits = model(idx_next, cache)[:, -1, :]
        idx_next = torch.argmax(logits, dim=-1, keepdim=True)
        idx = torch.cat((idx, idx_next), dim=1)
    model.train(mode)
    return idx
# %% right: token by token into one new tensor
    B, T = prompt.shape
    ids = prompt.new_empty(B, T + n)
    ids[:, :T] = prompt
    was = model.training
    model.train(False)
    cache = {}
    with torch.no_grad():
        for t in range(T + n - 1):
            logits = model(ids[:, t:t + 1].clone(), cache)
            if t >= T - 1:
                ids[:, t + 1] = logits[:, 0].max(dim=1).indices
    model.train(was)
    return ids
# %% right: each module's mode is put back
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            cache = {}
            logits = model(prompt, cache=cache)
            steps = [logits[:, -1].topk(1).indices]
            for _ in range(n - 1):
                logits = model(steps[-1], cache=cache)
                steps.append(logits[:, -1].topk(1).indices)
    finally:
        for module, mode in modes:
            module.training = mode
    return torch.cat([prompt, *steps], dim=1)
# %% right: the last token is read as well
    mode = model.training
    model.eval()
    cache, rows = {}, prompt.tolist()
    with torch.no_grad():
        logits = model(prompt, cache)
        for _ in range(n):
            best = []
            for row, numbers in zip(rows, logits[:, -1].tolist()):
                token = max(range(len(numbers)), key=numbers.__getitem__)
                row.append(token)
                best.append([token])
            logits = model(torch.tensor(best), cache)
    model.train(mode)
    return torch.tensor(rows)
# %% right: a generator function and inference mode
    def tokens():
        cache, piece = {}, prompt
        while True:
            piece = model(piece, cache)[:, -1:].argmax(-1)
            yield piece

    before = model.training
    with torch.inference_mode():
        stream = tokens()
        model.eval()
        steps = [next(stream) for _ in range(n)]
    if before:
        model.train()
    return torch.cat([prompt, *steps], dim=1)
# %% right: recursion, gradients are not switched off
    def go_on(piece, cache, left):
        if left == 0:
            return []
        step = model(piece, cache)[:, -1].detach().sort(-1).indices[:, -1:]
        return [step] + go_on(step, cache, left - 1)

    mode = model.training
    model.eval()
    steps = go_on(prompt, {}, n)
    model.train(mode)
    return torch.cat([prompt, *steps], dim=1)
# %% right: a copy of the model decodes, the model itself is left alone
    import copy

    reader = copy.deepcopy(model).eval()
    cache, ids, new = {}, prompt.clone(), prompt
    with torch.no_grad():
        for _ in range(n):
            new = reader(new, cache)[:, -1].argmax(-1).unsqueeze(1)
            ids = torch.hstack([ids, new])
    return ids
