# %% wrong: no cache
def generate(model, prompt, n):
    was, cache, steps, ids = model.training, {}, [], prompt
    model.eval()
    with torch.no_grad():
        for _ in range(n):
            new = model(ids)[:, -1].argmax(-1, keepdim=True)
            ids = torch.cat([ids, new], dim=1)
            steps.append(new)
    model.train(was)
    return torch.cat([prompt, *steps], dim=1)


# %% wrong: all is fed again, with a cache
def generate(model, prompt, n):
    was, cache, steps, ids = model.training, {}, [], prompt
    model.eval()
    with torch.no_grad():
        for _ in range(n):
            new = model(ids, cache)[:, -1].argmax(-1, keepdim=True)
            ids = torch.cat([ids, new], dim=1)
            steps.append(new)
    model.train(was)
    return torch.cat([prompt, *steps], dim=1)


# %% wrong: a new cache in each step
def generate(model, prompt, n):
    was, cache, steps, ids = model.training, {}, [], prompt
    model.eval()
    with torch.no_grad():
        for _ in range(n):
            ids = model(ids, {})[:, -1].argmax(-1, keepdim=True)
            steps.append(ids)
    model.train(was)
    return torch.cat([prompt, *steps], dim=1)


# %% wrong: no cache, and only the newest token
def generate(model, prompt, n):
    was, cache, steps, ids = model.training, {}, [], prompt
    model.eval()
    with torch.no_grad():
        for _ in range(n):
            ids = model(ids)[:, -1].argmax(-1, keepdim=True)
            steps.append(ids)
    model.train(was)
    return torch.cat([prompt, *steps], dim=1)


# %% wrong: the model stays in training mode
def generate(model, prompt, n):
    was, cache, steps, ids = model.training, {}, [], prompt
    with torch.no_grad():
        for _ in range(n):
            ids = model(ids, cache)[:, -1].argmax(-1, keepdim=True)
            steps.append(ids)
    model.train(was)
    return torch.cat([prompt, *steps], dim=1)


# %% wrong: the model is left in evaluation mode
def generate(model, prompt, n):
    was, cache, steps, ids = model.training, {}, [], prompt
    model.eval()
    with torch.no_grad():
        for _ in range(n):
            ids = model(ids, cache)[:, -1].argmax(-1, keepdim=True)
            steps.append(ids)
    return torch.cat([prompt, *steps], dim=1)


# %% wrong: the model is always left in training mode
def generate(model, prompt, n):
    was, cache, steps, ids = model.training, {}, [], prompt
    model.eval()
    with torch.no_grad():
        for _ in range(n):
            ids = model(ids, cache)[:, -1].argmax(-1, keepdim=True)
            steps.append(ids)
    model.train()
    return torch.cat([prompt, *steps], dim=1)


# %% wrong: the cache is a default argument
def generate(model, prompt, n, cache={}):
    was, steps, ids = model.training, [], prompt
    model.eval()
    with torch.no_grad():
        for _ in range(n):
            ids = model(ids, cache)[:, -1].argmax(-1, keepdim=True)
            steps.append(ids)
    model.train(was)
    return torch.cat([prompt, *steps], dim=1)


# %% wrong: the first position's logits
def generate(model, prompt, n):
    was, cache, steps, ids = model.training, {}, [], prompt
    model.eval()
    with torch.no_grad():
        for _ in range(n):
            ids = model(ids, cache)[:, 0].argmax(-1, keepdim=True)
            steps.append(ids)
    model.train(was)
    return torch.cat([prompt, *steps], dim=1)


# %% wrong: the smallest logit
def generate(model, prompt, n):
    was, cache, steps, ids = model.training, {}, [], prompt
    model.eval()
    with torch.no_grad():
        for _ in range(n):
            ids = model(ids, cache)[:, -1].argmin(-1, keepdim=True)
            steps.append(ids)
    model.train(was)
    return torch.cat([prompt, *steps], dim=1)


# %% wrong: all rows get the first one's token
def generate(model, prompt, n):
    was, cache, steps, ids = model.training, {}, [], prompt
    model.eval()
    with torch.no_grad():
        for _ in range(n):
            ids = model(ids, cache)[:, -1].argmax(-1, keepdim=True)[:1].expand(len(ids), 1)
            steps.append(ids)
    model.train(was)
    return torch.cat([prompt, *steps], dim=1)


# %% wrong: one token too few
def generate(model, prompt, n):
    was, cache, steps, ids = model.training, {}, [], prompt
    model.eval()
    with torch.no_grad():
        for _ in range(n - 1):
            ids = model(ids, cache)[:, -1].argmax(-1, keepdim=True)
            steps.append(ids)
    model.train(was)
    return torch.cat([prompt, *steps], dim=1)


# %% wrong: one token too many
def generate(model, prompt, n):
    was, cache, steps, ids = model.training, {}, [], prompt
    model.eval()
    with torch.no_grad():
        for _ in range(n + 1):
            ids = model(ids, cache)[:, -1].argmax(-1, keepdim=True)
            steps.append(ids)
    model.train(was)
    return torch.cat([prompt, *steps], dim=1)


# %% wrong: tokens are drawn, not chosen
def generate(model, prompt, n):
    was, cache, steps, ids = model.training, {}, [], prompt
    model.eval()
    with torch.no_grad():
        for _ in range(n):
            chances = model(ids, cache)[:, -1].softmax(-1)
            ids = torch.multinomial(chances, 1)
            steps.append(ids)
    model.train(was)
    return torch.cat([prompt, *steps], dim=1)


# %% wrong: the argmax is over the batch
def generate(model, prompt, n):
    was, cache, steps, ids = model.training, {}, [], prompt
    model.eval()
    with torch.no_grad():
        for _ in range(n):
            ids = model(ids, cache)[:, -1].argmax(0)[:len(ids), None]
            steps.append(ids)
    model.train(was)
    return torch.cat([prompt, *steps], dim=1)


# %% wrong: the last prompt token is fed twice
def generate(model, prompt, n):
    was, cache, steps, ids = model.training, {}, [], prompt
    model.eval()
    with torch.no_grad():
        model(ids, cache)
        ids = ids[:, -1:]
        for _ in range(n):
            ids = model(ids, cache)[:, -1].argmax(-1, keepdim=True)
            steps.append(ids)
    model.train(was)
    return torch.cat([prompt, *steps], dim=1)


# %% wrong: the prompt is fed but for its last token, which is lost
def generate(model, prompt, n):
    was, cache, steps, ids = model.training, {}, [], prompt
    model.eval()
    with torch.no_grad():
        if ids.shape[1] > 1:
            ids = ids[:, :-1]
        for _ in range(n):
            ids = model(ids, cache)[:, -1].argmax(-1, keepdim=True)
            steps.append(ids)
    model.train(was)
    return torch.cat([prompt, *steps], dim=1)


# %% wrong: the first new token is not fed back
def generate(model, prompt, n):
    was, cache, steps, ids = model.training, {}, [], prompt
    model.eval()
    with torch.no_grad():
        for _ in range(n):
            new = model(ids, cache)[:, -1].argmax(-1, keepdim=True)
            ids = ids[:, -1:]
            steps.append(new)
    model.train(was)
    return torch.cat([prompt, *steps], dim=1)


# %% wrong: new tokens in front of the prompt
def generate(model, prompt, n):
    was, cache, steps, ids = model.training, {}, [], prompt
    model.eval()
    with torch.no_grad():
        for _ in range(n):
            ids = model(ids, cache)[:, -1].argmax(-1, keepdim=True)
            steps.append(ids)
    model.train(was)
    return torch.cat(steps[::-1] + [prompt], dim=1)


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


# %% right: softmax first, try and finally, inference mode
def generate(model, prompt, n):
    cache, was = {}, model.training
    model.train(False)
    try:
        with torch.inference_mode():
            steps, new = [], prompt
            for _ in range(n):
                chances = torch.softmax(model(new, cache), dim=-1)
                new = chances[:, -1:].max(dim=-1).indices
                steps.append(new)
            return torch.cat([prompt, *steps], dim=1).clone()
    finally:
        model.train(was)


# %% right: prefill and last token apart, gradients on, a table filled in
def generate(model, prompt, n):
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
