"""Hidden checks of the capstone."""

import numpy as np

from grading.items import ProblemSet, must, numbers, same
from grading.sandbox import Lost

SET = ProblemSet(
    "capstone", packages=("numpy", "torch"),
    forbidden=("scaled_dot_product_attention", "MultiheadAttention",
               "multi_head_attention_forward", "Transformer",
               "TransformerEncoder", "TransformerDecoder",
               "TransformerEncoderLayer", "TransformerDecoderLayer"),
    variants={
        "prompt and new tokens": {},
        "new tokens alone": {
            "Returns ids, the prompt and what follows:":
                "Returns ids, what follows without the prompt:",
            "torch.cat([prompt, *steps], dim=1)": "torch.cat(steps, dim=1)",
        },
    })


# ------------------------------------------------- the language

def language(rng, P, S):
    """Draw how syllables follow each other; row S is after a prefix."""
    return rng.dirichlet([0.35] * S, size=S + 1)


def speak(rng, pairs, P, length):
    """Return ids and the probability that each had, both (length,)."""
    S, ids, known = pairs.shape[1], [0], [1.0]
    totals = pairs.cumsum(1)
    while len(ids) < length:
        prefix, chance = 2 + rng.integers(P), 1 / P
        while ids[-1] != 0 or chance < 1:
            ids.append(prefix)
            known.append(chance)
            last, go = S, 1.0
            while rng.random() < go:
                new = min((totals[last] < rng.random()).sum(), S - 1)
                ids.append(2 + P + new)
                known.append(go * pairs[last, new])
                last, go = new, 0.5
            ends = rng.random() < 0.25
            ids.append(0 if ends else 1)
            known.append(0.5 * (0.25 if ends else 0.75))
            chance = 1.0
    return np.array(ids[:length]), np.array(known[:length])


def lesson(rng, P, S, length=24):
    """Return a text, windows to predict, and two losses: floor, bigram."""
    pairs, vocab = language(rng, P, S), 2 + P + S
    text, _ = speak(rng, pairs, P, 12_000)
    unseen, known = (a.reshape(64, -1)
                     for a in speak(rng, pairs, P, 64 * (length + 1)))
    counts = np.full((vocab, vocab), 0.5)
    np.add.at(counts, (text[:-1], text[1:]), 1)
    table = counts / counts.sum(1, keepdims=True)
    return (text, unseen, -np.log(known[:, 1:]).mean(),
            -np.log(table[unseen[:, :-1], unseen[:, 1:]]).mean())


def cross_entropy(logits, targets):
    logits = logits - logits.max(-1, keepdims=True)
    logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    return -np.take_along_axis(logs, targets[..., None], -1).mean()


def learned(logits, unseen, floor, bigram, share):
    """Lose the item unless the loss has come down far enough."""
    logits, targets = numbers(logits), unseen[:, 1:]
    must(logits.ndim == 3 and logits.shape[:2] == targets.shape,
         "after training, the logits have another shape")
    must(np.isfinite(logits).all(), "after training, the logits hold NaN")
    loss = cross_entropy(logits, targets)
    must(loss > floor - 0.05,
         "the loss is below the floor: the model sees what it predicts")
    if (logits >= 0).all() and np.allclose(logits.sum(-1), 1):
        must(False, "these are probabilities: logits come before the softmax")
    copied = cross_entropy(logits, unseen[:, :-1])
    must(copied > loss or copied > floor,
         "the model has learned to repeat what it has just read: are the "
         "targets shifted by one?")
    must(loss < bigram + 0.3, "it learns next to nothing: the loss on unseen "
         "text is far above that of a table of pairs")
    must(loss < bigram, "it learns no more than which token follows which: "
         "the loss on unseen text is not below that of a table of pairs")
    must(loss < bigram - share * (bigram - floor),
         "it learns, but the loss on unseen text does not come down far "
         "enough within the budget of steps")


# ------------------------------------------------- train

def study(names, text, vocab, steps, batch, length, seed, unseen=None):
    """Run `train`; tell what it fed a table of pairs, or what was learned.

    With `unseen` windows a small transformer is trained, and its logits are
    returned.
    """
    import torch
    from torch import nn
    from torch.nn import functional

    torch.set_default_dtype(torch.double if unseen is None else torch.float)

    class Table(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Parameter(torch.zeros(vocab, vocab))
            self.table.register_hook(self.fresh)
            self.table.register_post_accumulate_grad_hook(self.added)
            self.read, self.told, self.losses = [], [], []
            self.modes, self.stale, self.before = [], [], []

        def fresh(self, gradient):
            self.gradient = gradient.clone()

        def added(self, table):
            self.stale.append(float((table.grad - self.gradient).abs().max()))

        def forward(self, ids, cache=None):
            logits = self.table[ids]
            if logits.requires_grad:
                self.read.append(ids.clone())
                self.modes.append(self.training)
                self.before.append(self.table.detach().clone())
                kept = logits.detach()

                def note(gradient):
                    told = gradient.argmin(-1)
                    self.told.append(torch.where(
                        gradient.abs().amax(-1) > 0, told, -1))
                    self.losses.append(float(functional.cross_entropy(
                        kept.flatten(0, -2), told.flatten())))
                logits.register_hook(note)
            return logits

    class Small(nn.Module):
        def __init__(self, d=32, heads=2):
            super().__init__()
            self.heads = heads
            self.tokens, self.places = (nn.Embedding(n, d)
                                        for n in (vocab, length))
            self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
            self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
            self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in range(3))
            self.logits = nn.Linear(d, vocab)

        def forward(self, ids, cache=None):
            T = ids.shape[1]
            x = self.tokens(ids) + self.places.weight[:T]
            q, k, v = (a.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                       for a in self.qkv(self.norms[0](x)).chunk(3, -1))
            scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
            hidden = torch.ones(T, T).triu(1).bool()
            weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)
            x = x + self.out((weights @ v).transpose(1, 2).flatten(-2))
            x = x + self.down(torch.relu(self.up(self.norms[1](x))))
            return self.logits(self.norms[2](x))

    torch.manual_seed(seed)
    model = Table().eval() if unseen is None else Small()
    torch.seed()  # what is drawn without the seed differs each time
    found = names["train"](model, text, steps, batch, length, seed)
    if unseen is not None:
        with torch.no_grad():
            return model.eval()(unseen[:, :-1])
    if isinstance(found, (list, tuple)):
        found = [float(v) if torch.is_tensor(v) and v.numel() == 1
                 else v if isinstance(v, (int, float)) else None
                 for v in found]
    model.before.append(model.table.detach().clone())
    moved = [float((b - a).abs().max()) for a, b in
             zip(model.before[:-1], model.before[1:], strict=True)]
    return {"found": found, "read": model.read, "told": model.told,
            "losses": model.losses, "modes": model.modes,
            "stale": model.stale, "moved": moved}


@SET.item("train", drive=study, seconds=20)
def check_train(run, rng, variant):
    for N, steps, batch, length in [(150, 30, 6, 10), (70, 25, 3, 7),
                                    (20, 12, 4, 8)]:
        text = rng.permutation(N)
        place = np.argsort(text)
        seed = int(rng.integers(1, 1000))
        where = f"{steps} steps on {N} tokens"
        told = run(text, N, steps, batch, length, seed)
        found = told["found"]
        must(found is not None, "returns nothing (is there a `return`?)")
        must(isinstance(found, list | np.ndarray) and np.ndim(found) == 1
             and None not in list(found), "the losses should be a list of "
             "numbers, one for each step")
        must(len(told["read"]) == steps, f"{where}: the model is run more or "
             "less often than there are steps")
        must(len(found) == steps, f"{where}: there are more or fewer losses "
             "than steps")
        must(len(told["told"]) == steps, f"{where}: not every step has a "
             "backward pass")
        must(all(a.shape == (batch, length) for a in told["read"]),
             f"{where}: the model should read (batch, length) tokens")
        read, targets = (place[np.stack(told[n])] for n in ("read", "told"))
        must((np.diff(read, axis=-1) == 1).all(),
             f"{where}: a window is no piece of the text")
        must(all((a >= 0).all() for a in told["told"]),
             f"{where}: the loss leaves out some positions")
        must((targets != read).any(), f"{where}: the target of a position is "
             "the token it reads: shift by one")
        must((targets == read + 1).all(), f"{where}: the target of a position "
             "is not the next token")
        must(all(told["modes"]), f"{where}: it came in evaluation mode and "
             "was trained in it")
        must(max(told["stale"]) < 1e-9, f"{where}: gradients of earlier steps "
             "are added up")
        must(min(told["moved"]) > 0, f"{where}: some steps change no "
             "parameter")
        same(np.array(found, float), told["losses"], f"{where}, the losses", {
            "the sum over positions, not the mean":
                np.array(told["losses"]) * batch * length,
            "in bits, not in nats": np.array(told["losses"]) / np.log(2)},
             rtol=1e-4)
        must(len(np.unique(read)) > 0.7 * (N - 1), f"{where}: most of the "
             "text is never read: windows from everywhere, new in each step")
        again = run(text, N, steps, batch, length, seed)
        same(np.array(again["found"], float), found, f"{where}, a second "
             "time with the same seed")
        other = run(text, N, steps, batch, length, seed + 1)
        must(len(other["read"]) == steps and not np.array_equal(
            np.stack(other["read"]), np.stack(told["read"])),
            f"{where}: another seed draws the same windows")
    P, S = 7, 9
    text, unseen, floor, bigram = lesson(rng, P, S)
    logits = run(text, 2 + P + S, 400, 16, 24, 5, unseen)
    learned(logits, unseen, floor, bigram, 0.3)


# ------------------------------------------------- modules

def probe(names, kind, sizes, seed, programs, zero=(), text=None):
    """Build a module with random weights and run programs on it.

    A program is (cached, pieces). Returns what comes out, how many
    parameters no gradient reaches, and how many numbers there are. `zero`
    names what is 0. With a text, the module keeps the weights it starts with,
    learns, and is run on what is then the only program.
    """
    import torch

    torch.set_default_dtype(torch.double if text is None else torch.float)
    torch.manual_seed(seed)
    module = names[kind](*sizes)
    if text is not None:
        optimizer = torch.optim.AdamW(module.parameters(), lr=5e-3)
        for step in range(300):
            optimizer.param_groups[0]["lr"] = 5e-3 * min(1, (step + 1) / 20)
            start = torch.randint(len(text) - 24, (16, 1))
            window = text[start + torch.arange(25)]
            logits = module(window[:, :-1])
            loss = torch.nn.functional.cross_entropy(
                logits.transpose(1, 2), window[:, 1:])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
            optimizer.step()
        with torch.no_grad():
            return module.eval()(programs)
    module.double().eval()
    with torch.no_grad():
        for name, p in module.named_parameters():
            if ("matrices" if p.ndim > 1 else
                    "biases" if "bias" in name else "") in zero:
                p.zero_()
            elif p.requires_grad and p.ndim > 1:
                p.normal_(0, p.shape[-1] ** -0.5)
            elif p.requires_grad and not zero:
                p.add_(0.1 * torch.randn(p.shape))
    outputs = []
    with torch.no_grad():
        for cached, pieces in programs:
            more = [{}] if cached else []
            outputs.append([module(x, *more) for x in pieces])
    y, missed = module(programs[0][1][0]), 0
    if getattr(y, "requires_grad", False):
        y.square().sum().backward()
        missed = sum(p.requires_grad and p.grad is None
                     for p in module.parameters())
    elif list(module.parameters()):
        missed = -1
    return outputs, missed, sum(p.numel() for p in module.parameters())


def differ(a, b):
    """Return the positions at which results (B, T, …) differ."""
    size = np.nanmax(abs(np.stack([a, b])), initial=1e-9)
    return np.flatnonzero(~(abs(a - b).max((0, 2)) <= 1e-5 * size))


def sound(run, kind, sizes, x, new, width, seed):
    """Lose the item unless results follow from the past, cached or not.

    `new` is what positions of x (B, T, …) are changed to.
    """
    B, T = x.shape[:2]
    where = f"a batch of {B}, {T} tokens"
    programs = [(False, [x]), (False, [x])]
    for s in range(T):
        changed = x.copy()
        changed[:, s] = new[:, s]
        programs.append((False, [changed]))
    programs += [(False, [x[b:b + 1]]) for b in range(B)]
    cuts = [list(range(1, T)), [T - 2, T - 1], sorted({2, T - 3}), [1], []]
    pieces = [np.split(x, cut, axis=1) for cut in cuts]
    programs += [(True, p) for p in pieces]
    programs += [(False, p) for p in pieces]
    programs += [(True, p) for p in pieces[:1]] + [(False, [x])]
    found, missed, _ = run(kind, sizes, seed, programs)
    y = numbers(found[0][0])
    must(y.ndim == 3 and y.shape == (B, T, width),
         f"{where}: the result has another shape than it should")
    must(not np.isnan(y).any(), f"{where}: the result contains NaN: does "
         "each position see itself at least?")
    found = [[numbers(a) for a in f] for f in found]
    for again in (found[1][0], found[-1][0]):
        must(again.shape == y.shape and not len(differ(again, y)),
             f"{where}: the same input gives another result later on: is "
             "something kept between calls, or dropout on in evaluation?")
    for s in range(T):
        rows = differ(found[2 + s][0], y)
        must((rows >= s).all(), f"{where}: the future is seen: a later "
             "position was changed, and an earlier result differs")
        must(len(rows) and rows[0] == s,
             f"{where}: a position does not see itself")
        must(len(rows) == T - s, f"{where}: a position does not see all that "
             "is before it")
    for b in range(B):
        must(not len(differ(found[2 + T + b][0], y[b:b + 1])),
             f"{where}: a sequence depends on the others of its batch")
    at = 2 + T + B
    for number, cut in enumerate(cuts):
        got, alone = (np.concatenate(found[at + number + shift], axis=1)
                      if len({a.shape[2:] for a in found[at + number + shift]}
                             ) == 1 else np.zeros(1)
                      for shift in (0, len(cuts)))
        must(got.shape == y.shape, f"{where}: in pieces, the shape differs")
        rows = differ(got, y)
        if len(rows):
            named = "one by one" if number == 0 else (
                f"in {len(cut) + 1} pieces")
            must(len(differ(got, alone)), f"{where}, {named}: each piece "
                 "sees itself alone: the cache is not used")
            must(number == 0 or not len(cut), f"{where}, {named}: cached and "
                 "uncached differ, one by one they agree: is the mask right "
                 "for several tokens that continue a text?")
            must(False, f"{where}, {named}: with a cache the result differs "
                 "from that without: is all that was before still there, "
                 "does a position keep its number?")
    must(missed == 0, f"{where}: no gradient reaches some parameter: unused, "
         "detached?")


@SET.item("Attention", drive=probe, seconds=10)
def check_attention(run, rng, variant):
    for B, T, heads, d_k in [(2, 7, 3, 5), (3, 5, 2, 4), (2, 6, 4, 3),
                             (1, 6, 1, 6)]:
        d, where = heads * d_k, f"{heads} heads of {d_k}"
        sizes = [d, heads]
        x, new = rng.normal(size=(2, B, T, d))
        sound(run, "Attention", sizes, x, new, d, int(rng.integers(1000)))
        order = [*rng.permutation(T - 1), T - 1]
        while order == list(range(T)):
            order = [*rng.permutation(T - 1), T - 1]
        alike = np.repeat(x[:, :1], T, axis=1)
        (a, b, c), _, _ = run("Attention", sizes, 1, [
            (False, [x]), (False, [x[:, order]]), (False, [alike])])
        a, b, c = (numbers(v[0]) for v in (a, b, c))
        must(T - 1 not in differ(a, b), f"{where}: the order of what is "
             "before makes a difference: are heads cut out of the columns?")
        must(not len(differ(c, np.repeat(c[:, :1], T, axis=1))),
             f"{where}: where all positions hold the same, they find "
             "different things: do the weights of a position sum to 1?")
        (a, b), _, _ = run("Attention", sizes, 1, [
            (False, [x]), (False, [new])], ["matrices"])
        must(not len(differ(*(numbers(v[0]) for v in (a, b)))),
             f"{where}: all weights are 0 and something of x comes through: "
             "the residual belongs to the block")
        most = 0
        for trial in range(5):  # heads may resemble each other by chance
            a, c = 1.5 * rng.normal(size=(2, 1, d))
            texts = [np.concatenate([a] * n + [c])[None] for n in range(13)]
            out, _, _ = run("Attention", sizes, trial,
                            [(False, [t]) for t in texts])
            last = np.stack([numbers(o[0])[0, -1] for o in out])
            s = np.linalg.svd(last - last.mean(0), compute_uv=False)
            most = max(most, (s > 1e-6 * np.linalg.norm(last)).sum())
            must(most <= heads, f"{where}: what comes out behaves like more "
                 "heads than there are, or not like a mixture")
        must(most >= min(heads, 3), f"{where}: what comes out behaves like "
             "fewer heads than there are: does each have weights of its own?")


@SET.item("Block", needs=["Attention"], drive=probe, seconds=10)
def check_block(run, rng, variant):
    for B, T, heads, d_k in [(2, 7, 3, 5), (3, 5, 2, 4), (2, 6, 4, 3)]:
        d, where = heads * d_k, f"width {heads * d_k}"
        sizes = [d, heads]
        x, new = rng.normal(size=(2, B, T, d))
        sound(run, "Block", sizes, x, new, d, int(rng.integers(1000)))
        (small, large), _, _ = run("Block", sizes, 1, [
            (False, [100 * x]), (False, [1000 * x])])
        a, b = numbers(small[0]), numbers(large[0])
        size = np.linalg.norm
        growth = min(size(b) / size(a),
                     size(b - 1000 * x) / size(a - 100 * x))
        must(growth < 2, f"{where}: larger vectors come in, and what is added "
             "grows as they do: does each of the two have its norm?")
        (a, b), _, _ = run("Block", sizes, 1, [(False, [x]), (False, [new])],
                           ["matrices", "biases"])
        for came, went in ((x, a), (new, b)):
            went = numbers(went[0])
            came, went = (v - v.mean(-1, keepdims=True)
                          for v in (came, went))
            dot = (came * went).sum(-1)
            lengths = size(came, axis=-1) * size(went, axis=-1)
            must((dot > 0.9 * lengths).all() and (lengths > 0).all(),
                 f"{where}: all matrices are 0, so nothing is added, and x "
                 "does not come through: is there a residual for each?")
        ones = rng.normal(size=(6, 1, d))
        (a, b), _, _ = run("Block", sizes, 2, [(False, [ones]),
                                               (False, [-ones])],
                           ["biases"])
        sums = numbers(a[0]) + numbers(b[0])
        must(sums.std(0).max() > 1e-3, f"{where}: a position alone is treated "
             "alike with the sign turned: is there a feed-forward network "
             "with an activation?")


@SET.item("GPT", needs=["Block"], drive=probe, seconds=30)
def check_gpt(run, rng, variant):
    for vocab, heads, d_k, layers, context, B, T in [
            (11, 3, 4, 2, 9, 2, 7), (8, 2, 6, 3, 6, 3, 6),
            (13, 4, 2, 1, 20, 2, 8)]:
        sizes = [vocab, heads * d_k, heads, layers, context]
        ids = rng.integers(vocab, size=(B, T))
        other = (ids + rng.integers(1, vocab, size=(B, T))) % vocab
        sound(run, "GPT", sizes, ids, other, vocab, int(rng.integers(1000)))
        many = []
        for n in (1, 2, 3):
            sizes = [vocab, heads * d_k, heads, n, context]
            text = rng.permutation(vocab)[None, :T]
            moved = text[:, [*range(1, T - 1), 0, T - 1]]
            found, _, count = run("GPT", sizes, 1, [
                (False, [text]), (False, [moved])])
            a, b = (numbers(f[0]) for f in found)
            many.append(count)
            must(T - 1 in differ(a, b), f"{n} layers: the order of what is "
                 "before makes no difference: are there positions, and do "
                 "they go in before the blocks?")
        must(many[0] < many[1] < many[2], "more layers do not have more "
             "parameters: has each block its own, and does the module know "
             "them?")
    P, S = 9, 7
    text, unseen, floor, bigram = lesson(rng, P, S)
    for start in (1, 2):  # the better one counts
        logits = run("GPT", [2 + P + S, 32, 4, 2, 40], start,
                     unseen[:, :-1], [], text)
        try:
            return learned(logits, unseen, floor, bigram, 0.3)
        except Lost:
            if start == 2:
                raise


# ------------------------------------------------- generate

def speaking(names, table, prompt, n, training):
    """Let `generate` run a model that follows a table; twice."""
    import torch
    torch.set_default_dtype(torch.double)

    class Walk(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Parameter(table.clone())
            self.seen = 0

        def forward(self, ids, cache=None):
            cache = {} if cache is None else cache
            state = cache.get("state", torch.zeros(len(ids)).long())
            states = []
            for column in ids.unbind(1):
                state = (3 * state + column + 1) % len(self.table)
                states.append(state)
            cache["state"] = state
            self.seen += ids.shape[1]
            logits = self.table[torch.stack(states, dim=1)]
            return logits.flip(-1) if self.training else logits

    model = Walk().train(training)
    first = names["generate"](model, prompt, n)
    seen, mode = model.seen, model.training
    return first, names["generate"](model, prompt, n), seen, mode


def walk(table, prompt, n, pick=np.argmax, whole=False):
    """Return what follows each row; `whole` feeds all again each time."""
    rows = []
    for row in prompt:
        state, ids, new = 0, list(row), list(row)
        for _ in range(n):
            for token in new:
                state = (3 * state + token + 1) % len(table)
            ids.append(int(pick(table[state])))
            new = ids if whole else ids[-1:]
        rows.append(ids[len(row):])
    return np.array(rows)


@SET.item("generate", drive=speaking, seconds=10)
def check_generate(run, rng, variant):
    for B, T, n, vocab, training in [
            (2, 3, 6, 9, True), (3, 5, 9, 7, False), (1, 1, 5, 6, True),
            (4, 2, 1, 8, False), (2, 6, 12, 5, True)]:
        table = rng.normal(size=(89, vocab))
        prompt = rng.integers(vocab, size=(B, T))

        def texts(new, prompt=prompt):
            if variant != "prompt and new tokens":
                return new
            return np.concatenate([prompt, new], axis=1)
        want = walk(table, prompt, n)
        where = f"a prompt of {T} and {n} new tokens, a batch of {B}"
        result = run(table, prompt, n, training)
        first, second, seen, mode = result
        first = numbers(first)
        must(first.dtype.kind in "iu", f"{where}: ids are integers")
        must(first.shape != (n, B) or n == B or first.ndim != 2,
             f"{where}: rows and columns are exchanged")
        hints = {
            "the model was in training mode, so dropout was on":
                texts(walk(table[:, ::-1], prompt, n)),
            "the smallest logit is taken":
                texts(walk(table, prompt, n, np.argmin)),
            "with a cache only what is new goes in: the model has read the "
            "rest already": texts(walk(table, prompt, n, whole=True)),
            "all rows continue like the first":
                texts(walk(table, prompt, n)[[0] * B]),
            "one token too few": texts(want[:, :-1]),
            "one token too many": texts(walk(table, prompt, n + 1)),
            "the prompt is to stand in front, or to be left out: see what is "
            "returned": want if variant == "prompt and new tokens" else
                np.concatenate([prompt, want], axis=1)}
        same(first, texts(want), where, hints)
        must(seen <= T + n, f"{where}: positions run through the model more "
             "than once: is the cache used?")
        same(second, texts(want), f"{where}, called a second time")
        must(mode == training, f"{where}: the model is left in another mode "
             "than it came in")
