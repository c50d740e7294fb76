# %% wrong: targets are not shifted
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length, (batch, 1),
                              generator=generator)
        window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, :-1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: targets are two further on
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length - 1, (batch, 1),
                              generator=generator)
        window = text[start + torch.arange(length + 2)]  # (batch, length + 2)
        logits = model(window[:, :-2])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 2:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: gradients are never set to zero
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length, (batch, 1),
                              generator=generator)
        window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: no step is taken
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length, (batch, 1),
                              generator=generator)
        window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        losses.append(loss.item())
    return losses


# %% wrong: one batch for all steps
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    start = torch.randint(len(text) - length, (batch, 1),
                          generator=generator)
    window = text[start + torch.arange(length + 1)]
    for _ in range(steps):
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: the generator starts anew in each step
def train(model, text, steps, batch=16, length=32, seed=0):
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        generator = torch.Generator().manual_seed(seed)
        start = torch.randint(len(text) - length, (batch, 1),
                              generator=generator)
        window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: only the beginning of the text
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(length, (batch, 1),
                              generator=generator)
        window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: twice as many steps as allowed
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(2 * steps):
        start = torch.randint(len(text) - length, (batch, 1),
                              generator=generator)
        window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses[1::2]


# %% wrong: two steps on each batch, one loss kept
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length, (batch, 1),
                              generator=generator)
        window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return losses


# %% wrong: the learning rate is far too small
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length, (batch, 1),
                              generator=generator)
        window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: the learning rate is far too large
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1.0)
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length, (batch, 1),
                              generator=generator)
        window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: SGD with a small learning rate
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length, (batch, 1),
                              generator=generator)
        window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: training mode is not switched on
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length, (batch, 1),
                              generator=generator)
        window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: the loss is a sum
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length, (batch, 1),
                              generator=generator)
        window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:],
                               reduction="sum")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: the loss is on the last position only
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length, (batch, 1),
                              generator=generator)
        window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits[:, -1], window[:, -1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: the seed is ignored
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length, (batch, 1),
                              generator=generator)
        window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: windows are drawn without the seed
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length, (batch, 1))
        window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: windows are one token too short
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length, (batch, 1),
                              generator=generator)
        window = text[start + torch.arange(length)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: logits are reshaped, not transposed
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length, (batch, 1),
                              generator=generator)
        window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.reshape(batch, -1, length), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: softmax before the cross-entropy
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length, (batch, 1),
                              generator=generator)
        window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.softmax(-1).transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: the last loss only is returned
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length, (batch, 1),
                              generator=generator)
        window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses[-1]


# %% wrong: the model is returned, not the losses
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length, (batch, 1),
                              generator=generator)
        window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model


# %% wrong: tokens are drawn, not windows
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length, (batch, 1),
                              generator=generator)
        window = text[torch.randint(len(text), (batch, length + 1),
                                     generator=generator)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: the loss is that after the step
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length, (batch, 1),
                              generator=generator)
        window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        losses.append(loss.item())
    return losses


# %% wrong: a new optimiser in each step with a tiny rate
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length, (batch, 1),
                              generator=generator)
        window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: a tenth of the text is held back
def train(model, text, steps, batch=16, length=32, seed=0):
    data = text[:int(0.9 * len(text))]
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        ix = torch.randint(len(data) - length, (batch,), generator=g)
        x = torch.stack([data[i:i + length] for i in ix])
        y = torch.stack([data[i + 1:i + length + 1] for i in ix])
        logits = model(x)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: the last `length` tokens stay unread
def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        starts = torch.randint(len(text) - 2 * length, (batch, 1),
                               generator=g)
        window = text[starts + torch.arange(length + 1)]
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: 64 windows are drawn once, a small pool
def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    starts = torch.randint(len(text) - length, (64,), generator=g)
    pool = torch.stack([text[s:s + length + 1] for s in starts])
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        window = pool[torch.randint(len(pool), (batch,), generator=g)]
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: a short text gives too small a batch
def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    windows = text.unfold(0, length + 1, 1)
    model.train()
    losses = []
    for _ in range(steps):
        pick = torch.randperm(len(windows), generator=g)[:batch]
        x, y = windows[pick, :-1], windows[pick, 1:]
        loss = F.cross_entropy(model(x).transpose(1, 2), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: label smoothing
def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3,
                                 betas=(0.9, 0.98), eps=1e-9)
    model.train()
    losses = []
    for _ in range(steps):
        ix = torch.randint(len(text) - length, (batch,), generator=g)
        x = torch.stack([text[i:i + length] for i in ix])
        y = torch.stack([text[i + 1:i + length + 1] for i in ix])
        loss = criterion(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: token 0 is left out of the loss
def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    criterion = nn.CrossEntropyLoss(ignore_index=0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        ix = torch.randint(len(text) - length, (batch,), generator=g)
        x = torch.stack([text[i:i + length] for i in ix])
        y = torch.stack([text[i + 1:i + length + 1] for i in ix])
        loss = criterion(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: the rate is negative after step 300
def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    model.train()
    losses = []
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 1e-2 * (1 - step / 300)
        starts = torch.randint(len(text) - length, (batch, 1), generator=g)
        window = text[starts + torch.arange(length + 1)]
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: in evaluation mode from step 50 on
def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for step in range(steps):
        if step > 0 and step % 50 == 0:
            model.eval()
            print(f"step {step}: loss {sum(losses[-50:]) / 50:.3f}")
        ix = torch.randint(len(text) - length, (batch,), generator=g)
        x = torch.stack([text[i:i + length] for i in ix])
        y = torch.stack([text[i + 1:i + length + 1] for i in ix])
        loss = F.cross_entropy(model(x).transpose(1, 2), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: a running mean of the losses
def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses, smooth = [], None
    for _ in range(steps):
        starts = torch.randint(len(text) - length, (batch, 1), generator=g)
        window = text[starts + torch.arange(length + 1)]
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        new = loss.item()
        smooth = new if smooth is None else 0.9 * smooth + 0.1 * new
        losses.append(smooth)
    return losses


# %% wrong: early stopping
def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses, best, waited = [], float("inf"), 0
    for _ in range(steps):
        starts = torch.randint(len(text) - length, (batch, 1), generator=g)
        window = text[starts + torch.arange(length + 1)]
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if losses[-1] < best:
            best, waited = losses[-1], 0
        else:
            waited += 1
        if waited == 40:
            break
    return losses


# %% wrong: the last gradient is never used
def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for step in range(steps):
        if step > 0:
            optimizer.step()
        optimizer.zero_grad()
        starts = torch.randint(len(text) - length, (batch, 1), generator=g)
        window = text[starts + torch.arange(length + 1)]
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        loss.backward()
        losses.append(loss.item())
    return losses


# %% wrong: every second gradient is lost
def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    accumulate = 2
    model.train()
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        starts = torch.randint(len(text) - length, (batch, 1), generator=g)
        window = text[starts + torch.arange(length + 1)]
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        loss.backward()
        if (step + 1) % accumulate == 0:
            optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: biases never reach the optimiser
def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    decay = [p for p in model.parameters() if p.dim() >= 2]
    optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}],
                                  lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        starts = torch.randint(len(text) - length, (batch, 1), generator=g)
        window = text[starts + torch.arange(length + 1)]
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: seed 0 is falsy, so nothing is seeded
def train(model, text, steps, batch=16, length=32, seed=0):
    if seed:
        torch.manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        starts = torch.randint(len(text) - length, (batch, 1))
        window = text[starts + torch.arange(length + 1)]
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: the model's weights are drawn anew
def train(model, text, steps, batch=16, length=32, seed=0):
    def init_weights(module):
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)

    torch.manual_seed(seed)
    model.apply(init_weights)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        ix = torch.randint(len(text) - length, (batch,))
        x = torch.stack([text[i:i + length] for i in ix])
        y = torch.stack([text[i + 1:i + 1 + length] for i in ix])
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: the last target is the window's first
def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        starts = torch.randint(len(text) - length, (batch, 1), generator=g)
        x = text[starts + torch.arange(length)]
        y = torch.roll(x, -1, dims=1)
        loss = F.cross_entropy(model(x).transpose(1, 2), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: view, where logits are not contiguous
def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        ix = torch.randint(len(text) - length, (batch,), generator=g)
        x = torch.stack([text[i:i + length] for i in ix])
        y = torch.stack([text[i + 1:i + 1 + length] for i in ix])
        logits = model(x)
        B, T, C = logits.shape
        loss = F.cross_entropy(logits.view(B * T, C), y.view(B * T))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: vocabulary from the text's largest id
def train(model, text, steps, batch=16, length=32, seed=0):
    vocab_size = int(text.max()) + 1
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        ix = torch.randint(len(text) - length, (batch,), generator=g)
        x = torch.stack([text[i:i + length] for i in ix])
        y = torch.stack([text[i + 1:i + 1 + length] for i in ix])
        logits = model(x).reshape(batch * length, vocab_size)
        loss = F.cross_entropy(logits, y.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: bfloat16 autocast
def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        starts = torch.randint(len(text) - length, (batch, 1), generator=g)
        window = text[starts + torch.arange(length + 1)]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(window[:, :-1])
            loss = F.cross_entropy(logits.transpose(1, 2).float(),
                                   window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: the outer module's flag only
def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.training = True
    losses = []
    for _ in range(steps):
        starts = torch.randint(len(text) - length, (batch, 1), generator=g)
        window = text[starts + torch.arange(length + 1)]
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: squeeze, where the batch is 1
def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    windows = text.unfold(0, length + 1, 1)
    model.train()
    losses = []
    for _ in range(steps):
        ix = torch.randint(len(windows), (batch,), generator=g)
        window = windows[ix].squeeze()
        x, y = window[..., :-1], window[..., 1:]
        logits = model(x)
        loss = F.cross_entropy(logits.flatten(0, -2), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: clipping breaks without a gradient
def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        starts = torch.randint(len(text) - length, (batch, 1), generator=g)
        window = text[starts + torch.arange(length + 1)]
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        norm = sum(p.grad.square().sum() for p in model.parameters()) ** 0.5
        if norm > 1:
            for p in model.parameters():
                p.grad /= norm
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: an update for each window
def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    model.train()
    losses = []
    for _ in range(steps):
        total = 0
        for s in torch.randint(len(text) - length, (batch,), generator=g):
            window = text[s:s + length + 1][None]
            logits = model(window[:, :-1])
            loss = F.cross_entropy(logits[0], window[0, 1:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total / batch)
    return losses


# %% wrong: at most 4096 tokens are used
def train(model, text, steps, batch=16, length=32, seed=0):
    text = text[:4096]  # enough, and quick
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    model.train()
    losses = []
    for _ in range(steps):
        starts = torch.randint(len(text) - length, (batch,), generator=g)
        x = torch.stack([text[s:s + length] for s in starts])
        y = torch.stack([text[s + 1:s + 1 + length] for s in starts])
        logits = model(x)
        loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]),
                               y.reshape(-1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: half a batch is drawn and taken twice
def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    losses = []
    for _ in range(steps):
        half = torch.randint(len(text) - length, ((batch + 1) // 2,),
                             generator=g)
        starts = torch.cat([half, half])[:batch]
        window = torch.stack([text[s:s + length + 1] for s in starts])
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: a copy is trained
def train(model, text, steps, batch=16, length=32, seed=0):
    import copy

    net = copy.deepcopy(model)
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(net.parameters(), lr=5e-3)
    net.train()
    losses = []
    for _ in range(steps):
        starts = torch.randint(len(text) - length, (batch, 1), generator=g)
        window = text[starts + torch.arange(length + 1)]
        logits = net(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% right: Adam, warm-up and cosine, clipped, flattened
import math


def rate(step, steps):
    warm = min(1, (step + 1) / 20)
    return warm * (0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * step / steps)))


def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    opt = torch.optim.Adam(model.parameters(), lr=8e-3)
    losses = []
    model.train()
    for step in range(steps):
        for group in opt.param_groups:
            group["lr"] = 8e-3 * rate(step, steps)
        opt.zero_grad(set_to_none=True)
        starts = torch.randint(0, text.numel() - length, (batch,), generator=g)
        x = torch.stack([text[i:i + length] for i in starts.tolist()])
        y = torch.stack([text[i + 1:i + 1 + length] for i in starts.tolist()])
        logits = model(x)
        loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]),
                               y.reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        losses.append(float(loss))
    return losses


# %% right: NumPy draws, log_softmax by hand
import numpy as np


def train(model, text, steps, batch=16, length=32, seed=0):
    draw = np.random.default_rng(seed)
    model.train(True)
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    losses = torch.zeros(steps)
    for step in range(steps):
        at = draw.integers(0, len(text) - length, size=batch)
        pieces = torch.stack([text[i:i + length + 1] for i in at])
        logs = model(pieces[:, :length]).log_softmax(-1)
        loss = -logs.gather(-1, pieces[:, 1:, None]).mean()
        model.zero_grad()
        loss.backward()
        opt.step()
        losses[step] = loss.detach()
    return losses


# %% right: shuffled pieces without overlap, epoch after epoch
def train(model, text, steps, batch=16, length=32, seed=0):
    torch.manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), 5e-3)
    model.train()

    def windows():
        while True:
            shift = int(torch.randint(length, ()))
            starts = torch.arange(shift, len(text) - length, length)
            for i in starts[torch.randperm(len(starts))].tolist():
                yield text[i:i + length + 1]

    stream, losses = windows(), []
    while len(losses) < steps:
        w = torch.stack([next(stream) for _ in range(batch)])
        optimizer.zero_grad()
        loss = F.cross_entropy(model(w[:, :-1]).flatten(0, 1),
                               w[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses


# %% right: SGD with momentum, a large rate, looks at unseen text
def train(model, text, steps, batch=16, length=32, seed=0):
    model.train()
    g = torch.Generator()
    g.manual_seed(seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
    losses = []
    for step in range(steps):
        starts = torch.randint(len(text) - length, (batch,), generator=g)
        offsets = torch.arange(length)
        x, y = (text[starts[:, None] + offsets + k] for k in (0, 1))
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        losses.append(loss.item())
        if step % 10 == 0:
            model.train(False)
            with torch.no_grad():
                model(text[None, :length])
            model.train()
    return losses


# %% right: a list of slices, clipped
def train(model, text, steps, batch=16, length=32, seed=0):
    generator = torch.Generator().manual_seed(seed)

    def get_batch():
        ix = torch.randint(len(text) - length, (batch,),
                           generator=generator)
        x = torch.stack([text[i:i + length] for i in ix])
        y = torch.stack([text[i + 1:i + 1 + length] for i in ix])
        return x, y

    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3,
                                  betas=(0.9, 0.99))
    model.train()
    losses = []
    for _ in range(steps):
        xb, yb = get_batch()
        logits = model(xb)
        B, T, C = logits.shape
        loss = F.cross_entropy(logits.reshape(B * T, C), yb.reshape(B * T))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% right: all windows drawn at once, unfold
def train(model, text, steps, batch=16, length=32, seed=0):
    torch.manual_seed(seed)
    windows = text.unfold(0, length + 1, 1)
    chosen = torch.randint(len(windows), (steps, batch))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    model.train()
    losses = []
    for rows in chosen:
        window = windows[rows]
        optimizer.zero_grad()
        loss = F.cross_entropy(model(window[:, :-1]).transpose(1, 2),
                               window[:, 1:])
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    return losses


# %% right: Python's random, gather
def train(model, text, steps, batch=16, length=32, seed=0):
    import random

    dice = random.Random(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    ids = text.tolist()
    model.train()
    losses = []
    for step in range(steps):
        share = step / max(steps, 1)
        for group in optimizer.param_groups:
            group["lr"] = 8e-3 * min(1, (step + 1) / 20) * (1 - 0.9 * share)
        rows = []
        for _ in range(batch):
            start = dice.randrange(len(ids) - length)
            rows.append(ids[start:start + length + 1])
        rows = torch.tensor(rows)
        read, told = rows[:, :length], rows[:, 1:]
        logs = torch.log_softmax(model(read), dim=-1)
        loss = -logs.gather(2, told.unsqueeze(2)).mean()
        for p in model.parameters():
            p.grad = None
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% right: Adam written by hand
def train(model, text, steps, batch=16, length=32, seed=0):
    import numpy as np

    rng = np.random.default_rng(seed)
    params = [p for p in model.parameters() if p.requires_grad]
    first = [torch.zeros_like(p) for p in params]
    second = [torch.zeros_like(p) for p in params]
    rate, b1, b2 = 5e-3, 0.9, 0.98
    model.train()
    losses = []
    for step in range(1, steps + 1):
        starts = torch.from_numpy(rng.integers(0, len(text) - length, batch))
        at = starts[:, None] + torch.arange(length)
        logits = model(text[at])
        loss = (logits.logsumexp(-1)
                - logits.gather(-1, text[at + 1][..., None])[..., 0]).mean()
        model.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p, m, v in zip(params, first, second):
                if p.grad is None:
                    continue
                m.mul_(b1).add_(p.grad, alpha=1 - b1)
                v.mul_(b2).add_(p.grad ** 2, alpha=1 - b2)
                up = m / (1 - b1 ** step)
                p -= rate * up / ((v / (1 - b2 ** step)).sqrt() + 1e-8)
        losses.append(loss.item())
    return losses


# %% right: row b from the b-th part of the text
def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.RAdam(model.parameters(), lr=1e-2)
    places = len(text) - length
    model.train()
    losses = []
    while len(losses) < steps:
        part = torch.arange(batch) + torch.rand(batch, generator=g)
        starts = (part * places / batch).long().clamp(max=places - 1)
        window = text[starts[:, None] + torch.arange(length + 1)[None]]
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.permute(0, 2, 1), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% right: loss by position, fork_rng, NAdam
def train(model, text, steps, batch=16, length=32, seed=0):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        all_starts = [torch.randint(0, text.numel() - length, (batch,))
                      for _ in range(steps)]
    optimizer = torch.optim.NAdam(model.parameters(), lr=4e-3)
    model.train()
    losses = []
    for starts in all_starts:
        x = torch.empty(batch, length, dtype=torch.long)
        for row, s in enumerate(starts.tolist()):
            x[row] = text[s:s + length]
        logits = model(x)
        loss = 0
        for t in range(length):
            target = text[starts + t + 1]
            loss = loss + F.cross_entropy(logits[:, t], target) / length
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach().item())
    return losses


# %% right: Adam at a constant 1e-3
def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters())
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length, (batch, 1), generator=g)
        window = text[start + torch.arange(length + 1)]
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), window[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% right: AdamW, warm-up and cosine, at most 1e-3
import math


def train(model, text, steps, batch=16, length=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(
        (step + 1) / 20, 0.5 + 0.5 * math.cos(math.pi * step / steps)))
    model.train()
    losses = []
    for _ in range(steps):
        start = torch.randint(len(text) - length, (batch, 1), generator=g)
        window = text[start + torch.arange(length + 1)]
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss)
    return losses
