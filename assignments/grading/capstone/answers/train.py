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


# %% right: NumPy draws, log_softmax by hand, AdamW at 1e-3
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
