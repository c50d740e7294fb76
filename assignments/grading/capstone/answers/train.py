# %% wrong: targets are not shifted
# [:, 1:] → [:, :-1]
# %% wrong: targets are two further on
# (text) - length → (text) - length - 1
# 1)]  # (batch, length + 1 → 2)]  # (batch, length + 2
# [:, :-1] → [:, :-2]
# [:, 1:] → [:, 2:]
# %% wrong: gradients are never set to zero
# -         optimizer.zero_grad()
# %% wrong: no step is taken
# -         optimizer.step()
# %% wrong: one batch for all steps
#       losses = []
# +     start = torch.randint(len(text) - length, (batch, 1),
# +                           generator=generator)
# +     window = text[start + torch.arange(length + 1)]
# -         start = torch.randint(len(text) - length, (batch, 1),
# -                               generator=generator)
# -         window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
# %% wrong: the generator starts anew in each step
# -     generator = torch.Generator().manual_seed(seed)
#       for _ in range(steps):
# +         generator = torch.Generator().manual_seed(seed)
# %% wrong: only the beginning of the text
# len(text) - length → length
# %% wrong: twice as many steps as allowed
# (steps) → (2 * steps)
# return losses → return losses[1::2]
# %% wrong: two steps on each batch, one loss kept
#           losses.append(loss.item())
# +         logits = model(window[:, :-1])
# +         loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
# +         optimizer.zero_grad()
# +         loss.backward()
# +         optimizer.step()
# %% wrong: the learning rate is far too small
# lr=5e-3 → lr=1e-5
# %% wrong: the learning rate is far too large
# lr=5e-3 → lr=1.0
# %% wrong: SGD with a small learning rate
# AdamW(model.parameters(), lr=5e-3) → SGD(model.parameters(), lr=1e-2)
# %% wrong: training mode is not switched on
# -     model.train()
# %% wrong: the loss is a sum
# -         loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
# +         loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:],
# +                                reduction="sum")
# %% wrong: the loss is on the last position only
# logits.transpose(1, 2), window[:, 1:] → logits[:, -1], window[:, -1]
# %% wrong: the seed is ignored
# (seed) → (0)
# %% wrong: windows are drawn without the seed
# -         start = torch.randint(len(text) - length, (batch, 1),
# -                               generator=generator)
# +         start = torch.randint(len(text) - length, (batch, 1))
# %% wrong: windows are one token too short
# (length + 1) → (length)
# %% wrong: logits are reshaped, not transposed
# transpose(1, 2) → reshape(batch, -1, length)
# %% wrong: softmax before the cross-entropy
# transpose → softmax(-1).transpose
# %% wrong: the last loss only is returned
# return losses → return losses[-1]
# %% wrong: the model is returned, not the losses
# return losses → return model
# %% wrong: tokens are drawn, not windows
# -         window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
# +         window = text[torch.randint(len(text), (batch, length + 1),
# +                                      generator=generator)]  # (batch, length + 1)
# %% wrong: the loss is that after the step
#           optimizer.step()
# +         with torch.no_grad():
# +             logits = model(window[:, :-1])
# +         loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
# %% wrong: a new optimiser in each step with a tiny rate
# -     optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
#           loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
# +         optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
# %% wrong: a tenth of the text is held back
# -     generator = torch.Generator().manual_seed(seed)
# +     data = text[:int(0.9 * len(text))]
# +     g = torch.Generator().manual_seed(seed)
# -         start = torch.randint(len(text) - length, (batch, 1),
# -                               generator=generator)
# -         window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
# -         logits = model(window[:, :-1])
# -         loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
# +         ix = torch.randint(len(data) - length, (batch,), generator=g)
# +         x = torch.stack([data[i:i + length] for i in ix])
# +         y = torch.stack([data[i + 1:i + length + 1] for i in ix])
# +         logits = model(x)
# +         loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
# %% wrong: the last `length` tokens stay unread
# optim.AdamW → optim.Adam
# -         start = torch.randint(len(text) - length, (batch, 1),
# -                               generator=generator)
# +         start = torch.randint(len(text) - 2 * length, (batch, 1),
# +                                generator=generator)
# %% wrong: 64 windows are drawn once, a small pool
# -     generator = torch.Generator().manual_seed(seed)
# +     g = torch.Generator().manual_seed(seed)
# +     starts = torch.randint(len(text) - length, (64,), generator=g)
# +     pool = torch.stack([text[s:s + length + 1] for s in starts])
# -         start = torch.randint(len(text) - length, (batch, 1),
# -                               generator=generator)
# -         window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
# +         window = pool[torch.randint(len(pool), (batch,), generator=g)]
# %% wrong: a short text gives too small a batch
# generator = torch → g = torch
#       optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
# +     windows = text.unfold(0, length + 1, 1)
# -         start = torch.randint(len(text) - length, (batch, 1),
# -                               generator=generator)
# -         window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
# -         logits = model(window[:, :-1])
# -         loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
# +         pick = torch.randperm(len(windows), generator=g)[:batch]
# +         x, y = windows[pick, :-1], windows[pick, 1:]
# +         loss = F.cross_entropy(model(x).transpose(1, 2), y)
# %% wrong: label smoothing
# -     generator = torch.Generator().manual_seed(seed)
# -     optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
# +     g = torch.Generator().manual_seed(seed)
# +     criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
# +     optimizer = torch.optim.Adam(model.parameters(), lr=5e-3,
# +                                  betas=(0.9, 0.98), eps=1e-9)
# -         start = torch.randint(len(text) - length, (batch, 1),
# -                               generator=generator)
# -         window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
# -         logits = model(window[:, :-1])
# -         loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
# +         ix = torch.randint(len(text) - length, (batch,), generator=g)
# +         x = torch.stack([text[i:i + length] for i in ix])
# +         y = torch.stack([text[i + 1:i + length + 1] for i in ix])
# +         loss = criterion(model(x).flatten(0, 1), y.flatten())
# %% wrong: token 0 is left out of the loss
# like: label smoothing
# -     criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
# -     optimizer = torch.optim.Adam(model.parameters(), lr=5e-3,
# -                                  betas=(0.9, 0.98), eps=1e-9)
# +     criterion = nn.CrossEntropyLoss(ignore_index=0)
# +     optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
# %% wrong: the rate is negative after step 300
# lr=5e-3 → lr=1e-2
#       for _ in range(steps):
# +         for group in optimizer.param_groups:
# +             group["lr"] = 1e-2 * (1 - _ / 300)
# %% wrong: in evaluation mode from step 50 on
# like: label smoothing
# -     criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
# -     optimizer = torch.optim.Adam(model.parameters(), lr=5e-3,
# -                                  betas=(0.9, 0.98), eps=1e-9)
# +     optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
# -     for _ in range(steps):
# +     for step in range(steps):
# +         if step > 0 and step % 50 == 0:
# +             model.eval()
# +             print(f"step {step}: loss {sum(losses[-50:]) / 50:.3f}")
# - loss = criterion(model(x).flatten(0, 1), y.flatten())
# + loss = F.cross_entropy(model(x).transpose(1, 2), y)
# %% wrong: a running mean of the losses
# losses = [] → losses, smooth = [], None
# -         losses.append(loss.item())
# +         new = loss.item()
# +         smooth = new if smooth is None else 0.9 * smooth + 0.1 * new
# +         losses.append(smooth)
# %% wrong: early stopping
# losses = [] → losses, best, waited = [], float("inf"), 0
#           losses.append(loss.item())
# +         if losses[-1] < best:
# +             best, waited = losses[-1], 0
# +         else:
# +             waited += 1
# +         if waited == 40:
# +             break
# %% wrong: the last gradient is never used
#       for _ in range(steps):
# +         if _ > 0:
# +             optimizer.step()
# +         optimizer.zero_grad()
#           loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
# -         optimizer.zero_grad()
#           loss.backward()
# -         optimizer.step()
# %% wrong: every second gradient is lost
# like: the last gradient is never used
# -     optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
# +     optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
# +     accumulate = 2
# -         if _ > 0:
# -             optimizer.step()
#           loss.backward()
# +         if (_ + 1) % accumulate == 0:
# +             optimizer.step()
# %% wrong: biases never reach the optimiser
# -     optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
# +     decay = [p for p in model.parameters() if p.dim() >= 2]
# +     optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}],
# +                                   lr=5e-3)
# %% wrong: seed 0 is falsy, so nothing is seeded
# -     generator = torch.Generator().manual_seed(seed)
# +     if seed:
# +         torch.manual_seed(seed)
# -         start = torch.randint(len(text) - length, (batch, 1),
# -                               generator=generator)
# +         start = torch.randint(len(text) - length, (batch, 1))
# %% wrong: the model's weights are drawn anew
# like: token 0 is left out of the loss
# -     g = torch.Generator().manual_seed(seed)
# -     criterion = nn.CrossEntropyLoss(ignore_index=0)
# +     def init_weights(module):
# +         if isinstance(module, nn.Linear):
# +             nn.init.normal_(module.weight, mean=0.0, std=0.02)
# +             if module.bias is not None:
# +                 nn.init.zeros_(module.bias)
# +         elif isinstance(module, nn.Embedding):
# +             nn.init.normal_(module.weight, mean=0.0, std=0.02)
# +
# +     torch.manual_seed(seed)
# +     model.apply(init_weights)
# (batch,), generator=g → (batch,)
# length + 1 → 1 + length
# loss = criterion → loss = F.cross_entropy
# %% wrong: the last target is the window's first
# length + 1)]  # (batch, length + 1) → length)]
# model(window[:, :-1]) → torch.roll(window, -1, dims=1)
# logits.transpose(1, 2), window[:, 1:] → model(window).transpose(1, 2), logits
# %% wrong: view, where logits are not contiguous
# like: a tenth of the text is held back
# -     data = text[:int(0.9 * len(text))]
# (data) → (text)
# data[i:i + length] → text[i:i + length]
# data[i + 1:i + length + 1] → text[i + 1:i + 1 + length]
# -         loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
# -         optimizer.zero_grad()
# +         B, T, C = logits.shape
# +         loss = F.cross_entropy(logits.view(B * T, C), y.view(B * T))
# +         optimizer.zero_grad(set_to_none=True)
# %% wrong: vocabulary from the text's largest id
# like: a tenth of the text is held back
# data = text[:int(0.9 * len(text))] → vocab_size = int(text.max()) + 1
# (data) → (text)
# data[i:i + length] → text[i:i + length]
# data[i + 1:i + length + 1] → text[i + 1:i + 1 + length]
# model(x) → model(x).reshape(batch * length, vocab_size)
# logits.flatten(0, 1), y.flatten() → logits, y.reshape(-1)
# %% wrong: bfloat16 autocast
# -         logits = model(window[:, :-1])
# -         loss = F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
# +         with torch.autocast("cpu", dtype=torch.bfloat16):
# +             logits = model(window[:, :-1])
# +             loss = F.cross_entropy(logits.transpose(1, 2).float(),
# +                                    window[:, 1:])
# %% wrong: the outer module's flag only
# train() → training = True
# %% wrong: squeeze, where the batch is 1
# like: a short text gives too small a batch
# -         pick = torch.randperm(len(windows), generator=g)[:batch]
# -         x, y = windows[pick, :-1], windows[pick, 1:]
# -         loss = F.cross_entropy(model(x).transpose(1, 2), y)
# +         ix = torch.randint(len(windows), (batch,), generator=g)
# +         window = windows[ix].squeeze()
# +         x, y = window[..., :-1], window[..., 1:]
# +         logits = model(x)
# +         loss = F.cross_entropy(logits.flatten(0, -2), y.flatten())
# %% wrong: clipping breaks without a gradient
#           loss.backward()
# +         norm = sum(p.grad.square().sum() for p in model.parameters()) ** 0.5
# +         if norm > 1:
# +             for p in model.parameters():
# +                 p.grad /= norm
# %% wrong: an update for each window
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
# like: view, where logits are not contiguous
#   def train(model, text, steps, batch=16, length=32, seed=0):
# +     text = text[:4096]  # enough, and quick
# lr=5e-3 → lr=3e-3
# -         B, T, C = logits.shape
# -         loss = F.cross_entropy(logits.view(B * T, C), y.view(B * T))
# +         loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]),
# +                                y.reshape(-1))
# %% wrong: half a batch is drawn and taken twice
# generator = torch → g = torch
# -         start = torch.randint(len(text) - length, (batch, 1),
# -                               generator=generator)
# -         window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
# +         half = torch.randint(len(text) - length, ((batch + 1) // 2,),
# +                              generator=g)
# +         starts = torch.cat([half, half])[:batch]
# +         window = torch.stack([text[s:s + length + 1] for s in starts])
# %% wrong: a copy is trained
#   def train(model, text, steps, batch=16, length=32, seed=0):
# +     import copy
# +
# +     net = copy.deepcopy(model)
# model.parameters → net.parameters
# model.train → net.train
# logits = model → logits = net
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
# -     optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
# +     optimizer = torch.optim.RAdam(model.parameters(), lr=1e-2)
# +     places = len(text) - length
# -     for _ in range(steps):
# -         start = torch.randint(len(text) - length, (batch, 1),
# -                               generator=generator)
# -         window = text[start + torch.arange(length + 1)]  # (batch, length + 1)
# +     while len(losses) < steps:
# +         start = torch.arange(batch) + torch.rand(batch, generator=generator)
# +         starts = (start * places / batch).long().clamp(max=places - 1)
# +         window = text[starts[:, None] + torch.arange(length + 1)[None]]
# transpose(1, 2) → permute(0, 2, 1)
# %% right: loss by position, fork_rng, NAdam
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
# AdamW(model.parameters(), lr=5e-3) → Adam(model.parameters())
# transpose(1, 2), window[:, 1:] → flatten(0, 1), window[:, 1:].flatten()
# %% right: AdamW, warm-up and cosine, at most 1e-3
# - def train(model, text, steps, batch=16, length=32, seed=0):
# + import math
# +
# +
# + def train(model, text, steps, batch=16, length=32, seed=0):
# -     optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
# +     optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
# +     schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(
# +         (step + 1) / 20, 0.5 + 0.5 * math.cos(math.pi * step / steps)))
# -         losses.append(loss.item())
# +         schedule.step()
# +         losses.append(loss)
