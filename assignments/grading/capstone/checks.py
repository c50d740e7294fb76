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

def study(names, text, vocab, steps, batch, length, seed, unseen=None,
          scattered=False):
    """Run `train`; tell what it fed a table of pairs, or what was learned.

    With `unseen` windows a small transformer is trained, and its logits are
    returned. A table of very many tokens is a single row. `scattered` logits
    are not contiguous.
    """
    import torch
    from torch import nn
    from torch.nn import functional

    torch.set_default_dtype(torch.double if unseen is None else torch.float)

    class Table(nn.Module):
        def __init__(self):
            super().__init__()
            rows = vocab if vocab < 1000 else 1
            self.table = nn.Parameter(torch.zeros(rows, vocab))
            self.shift = nn.Linear(1, vocab)
            self.spare = nn.Parameter(torch.ones(2))  # used nowhere
            self.frozen = nn.Parameter(torch.ones(2), requires_grad=False)
            self.table.register_hook(self.fresh)
            self.table.register_post_accumulate_grad_hook(self.added)
            self.read, self.told, self.losses = [], [], []
            self.modes, self.stale, self.moved = [], [], []
            self.apart, self.half, self.before = 0, False, self.all_of()
            self.first = True

        def all_of(self):
            return [p.detach().clone() for p in (
                self.table, self.shift.weight, self.shift.bias)]

        def note_moves(self):
            now = self.all_of()
            moves = [float((b - a).abs().max())
                     for a, b in zip(self.before, now, strict=True)]
            self.before = now
            return moves

        def fresh(self, gradient):
            self.gradient = gradient.clone()

        def added(self, table):
            self.stale.append(float((table.grad - self.gradient).abs().max()))

        def forward(self, ids, cache=None):
            one = torch.ones(*ids.shape, 1)
            logits = self.table[ids % len(self.table)] + self.shift(one)
            if scattered:
                logits = logits.transpose(0, -1).contiguous().transpose(0, -1)
            if not logits.requires_grad:
                self.apart += self.training
            else:
                moves = self.note_moves()
                self.moved.append(moves)
                self.half |= torch.is_autocast_enabled("cpu")
                self.read.append(ids.clone())
                self.modes.append([m.training for m in self.modules()])
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
        def __init__(self, d=64, heads=2):
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
    return {"found": found, "read": model.read, "told": model.told,
            "losses": model.losses, "modes": model.modes,
            "stale": model.stale, "apart": model.apart, "half": model.half,
            "moved": [*model.moved, model.note_moves()]}


@SET.item("train", drive=study, seconds=20)
def check_train(run, rng, variant):
    def taught(named, *args, **more):
        """Run, and say in which case it breaks."""
        try:
            return run(*args, **more)
        except Lost as lost:
            raise Lost(f"{named}: {lost}") from None

    for N, steps, batch, length, kind in [
            (150, 60, 6, 10, "plain"), (70, 130, 3, 7, "vocabulary"),
            (30, 20, 1, 5, "one"), (20, 12, 16, 8, "scattered")]:
        text = rng.permutation(N)
        place = np.argsort(text)
        vocab = N + 3 * (kind == "vocabulary")
        seed = 0 if kind == "one" else int(rng.integers(1, 1000))
        where = f"{steps} steps on {N} tokens" + {
            "vocabulary": ", a vocabulary larger than the text's",
            "one": ", a batch of 1, seed 0",
            "scattered": ", more windows than places, logits that are not "
                         "contiguous", "plain": ""}[kind]
        case = (text, vocab, steps, batch, length)
        scattered = {"scattered": True} if kind == "scattered" else {}
        told = taught(where, *case, seed, **scattered)
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
        must(not told["apart"], f"{where}: one forward pass a step: in "
             "training mode the model is also run without gradients")
        must(not told["half"], f"{where}: the model is run in half precision")
        must(all(a.shape == (batch, length) for a in told["read"]),
             f"{where}: the model should read (batch, length) tokens")
        read, targets = (place[np.minimum(np.stack(told[n]), N - 1)]
                         for n in ("read", "told"))
        must((np.diff(read, axis=-1) == 1).all(),
             f"{where}: a window is no piece of the text")
        must(all((a >= 0).all() for a in told["told"]),
             f"{where}: the loss leaves out some positions")
        must((targets != read).any(), f"{where}: the target of a position is "
             "the token it reads: shift by one")
        must((targets == read + 1).all(), f"{where}: the target of a position "
             "is not the next token")
        must(told["modes"][0][0], f"{where}: it came in evaluation mode and "
             "was trained in it")
        must(all(told["modes"][0]), f"{where}: what is inside the model (its "
             "dropout, say) is still in evaluation mode: model.train()")
        must(all(all(m) for m in told["modes"]), f"{where}: from some step on "
             "the model is in evaluation mode")
        must(max(told["stale"]) < 1e-9, f"{where}: gradients of earlier steps "
             "are added up")
        first, *moved = np.array(told["moved"])
        must(not first.any(), f"{where}: the model is changed before the "
             "first step: it starts from the weights that it brings")
        must(moved[0].any() or moved[-1].any(), f"{where}: some steps change "
             "no parameter")
        must(np.max(moved, axis=0).all(), f"{where}: some parameters never "
             "change: does the optimiser get all of them, biases too?")
        must(np.all(moved), f"{where}: some steps change no parameter")
        same(np.array(found, float), told["losses"], f"{where}, the losses "
             "beside the mean cross-entropy of each step", {
            "the sum over positions, not the mean":
                np.array(told["losses"]) * batch * length,
            "in bits, not in nats": np.array(told["losses"]) / np.log(2)},
             rtol=1e-4)
        if kind != "one":
            must(len(np.unique(read)) > 0.7 * (N - 1), f"{where}: most of the "
                 "text is never read: windows from everywhere, new in each "
                 "step")
        if kind == "plain":
            must(read.min() <= 5 and targets.max() >= N - 6, f"{where}: the "
                 "beginning or the end of the text is never read")
        again = run(*case, seed, **scattered)
        must(len(again["found"]) == steps and np.allclose(
            np.array(again["found"], float), np.array(found, float)),
            f"{where}: a second time with the same seed, other losses")
        other = run(*case, seed + 1, **scattered)
        must(len(other["read"]) == steps and not np.array_equal(
            np.stack(other["read"]), np.stack(told["read"])),
            f"{where}: another seed draws the same windows")
    # A long text, of which a table has room for no more than a row.
    N, steps = 9000, 12
    told = taught("a long text", np.arange(N), N, steps, 8, 6, 3)
    start = np.stack(told["read"])[..., 0]
    must(start.min() < N / 4 and start.max() > 3 * N / 4, "a long text: its "
         "beginning or its end is never read")
    must(np.mean([len(np.unique(s)) for s in start]) > 7, "a long text: the "
         "same window is several times in a batch")
    # One that nothing can be learned from.
    told = taught("a text of noise", rng.integers(5, size=300), 5, 250, 4, 6,
                  1)
    must(len(told["read"]) == len(told["found"]) == 250, "a text of noise: "
         "the model is run more or less often than there are steps (does "
         "training stop when the loss does not fall?)")
    P, S = 7, 9
    text, unseen, floor, bigram = lesson(rng, P, S)
    logits = run(text, 2 + P + S, 400, 16, 24, 5, unseen)
    learned(logits, unseen, floor, bigram, 0.3)


# ------------------------------------------------- modules

def probe(names, kind, sizes, seed, programs, zero=(), text=None,
          stub=None):
    """Build a module with random weights and run programs on it.

    A program is (cached, pieces); where a list stands for `cached`, it names
    the dict that comes with each piece (a copy of it if that is "copied").
    Returns what comes out, how many parameters no gradient reaches, and how
    many numbers there are; without programs, that alone. `zero` names what is
    0. With a text, the module keeps the weights it starts with, learns, and
    is run on what is then the only program.

    With a `stub`, another part is put in place of Attention or Block. For a
    Block: one that finds what `stub` holds for each program, and notes what
    it reads. For a GPT: "layout", parts that keep their caches elsewhere; or
    a number, blocks that do nothing, but for that one, which forgets.
    """
    import torch

    parts = ("Attention", "Block")
    for name in parts:  # as they were before the last stub
        if name in names and kind != name:
            names[name] = names.setdefault(f"first {name}", names[name])
    built, read, found = {name: [] for name in parts}, [], []

    def elsewhere(part):
        class Other(part):
            def forward(self, x, cache=None):
                return super().forward(x, None if cache is None else
                                       cache.setdefault("mine", {}))
        return Other

    def noted(name, does):
        class Part(torch.nn.Module):
            def __init__(self, d_model, heads):
                super().__init__()
                self.number = len(built[name])
                built[name].append([d_model, heads])

            def forward(self, x, cache=None):
                return does(self.number, x)
        return Part

    def find(number, x):
        read.append(x.detach().clone())
        return found[-1].clone()

    if isinstance(stub, str):
        for name in parts:
            names[name] = elsewhere(names[name])
    elif isinstance(stub, int):
        names["Block"] = noted("Block", lambda number, x: x * (number != stub))
    elif stub is not None:
        names["Attention"] = noted("Attention", find)

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
    count = sum(p.numel() for p in module.parameters())
    if isinstance(stub, list):
        d, outputs = sizes[0], []
        big = [p for p in module.parameters()
               if p.ndim > 1 and p.numel() >= d * d]
        module.double().eval()
        with torch.no_grad():
            for name, p in module.named_parameters():
                shift = "bias" in name or ("biases" in zero and not p.any())
                if any(p is b for b in big):
                    p.normal_(0, p[0].numel() ** -0.5)
                    if "matrices" in zero:
                        p.zero_()
                    for even in (word == "even" for word in zero
                                 if word in ("even", "odd")):
                        # Without an activation between them, no effect.
                        axis = int(p.shape[0] < p.shape[1])
                        sign = -1 if (axis == 0) == even else 1
                        part = torch.randn(d, d) * d ** -0.5
                        p.copy_(torch.cat([part, sign * part] * 2, axis)
                                .reshape(p.shape))
                elif shift:
                    p.normal_(0, 0.0 if "biases" in zero else 0.3)
                else:
                    p.fill_(1)
            for x, finds in zip(programs, stub, strict=True):
                found.append(finds)
                outputs.append(module(x))
        return outputs, read, built["Attention"], [p.numel() for p in big]
    if not programs:
        return count
    module.double().eval()
    with torch.no_grad():
        for name, p in module.named_parameters():
            if ("matrices" if p.ndim > 1 else
                    "biases" if "bias" in name else "") in zero:
                p.zero_()
            elif p.requires_grad and p.ndim > 1:
                p.normal_(0, p.shape[-1] ** -0.5)
            elif p.requires_grad and "biases" not in zero:
                p.add_(0.1 * torch.randn(p.shape))
    outputs, kept = [], programs[0][1][0].clone()
    with torch.no_grad():
        for cached, pieces in programs:
            dicts = {}
            which = (cached if isinstance(cached, list) else
                     [0 if cached else None] * len(pieces))
            out = []
            for w, x in zip(which, pieces, strict=True):
                if w == "copied":
                    dicts[w] = dict(dicts.get(w, {}))
                out.append(module(x) if w is None else
                           module(x, dicts.setdefault(w, {})))
            outputs.append(out)
    if isinstance(stub, int):
        return outputs, built["Block"]
    if not torch.equal(programs[0][1][0], kept):
        return outputs, 0, count  # a changed input is told from outside
    y, missed = module(kept), 0
    if getattr(y, "requires_grad", False):
        y.square().sum().backward()
        missed = sum(p.requires_grad and p.grad is None
                     for p in module.parameters())
    elif list(module.parameters()):
        missed = -1
    return outputs, missed, count


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
    turns = [[a[:, i:i + 2] for a in (x, new)] for i in range(0, T, 2)]
    programs += [(False, [new]),
                 ([0, 1] * len(turns), [a for turn in turns for a in turn])]
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
                 "from that without: is all that was before still there" +
                 (", does a position keep its number?" if kind == "GPT"
                  else "?"))
    one, two = found[-4][0], found[-3]
    for alone, turn in ((y, two[::2]), (one, two[1::2])):
        must(not len(differ(alone, np.concatenate(turn, axis=1))),
             f"{where}: two texts in turn, each with a dict of its own, give "
             "other results than alone: is something kept elsewhere?")
    must(missed == 0, f"{where}: no gradient reaches some parameter: unused, "
         "detached?")


@SET.item("Attention", drive=probe, seconds=10)
def check_attention(run, rng, variant):
    def told(where, *args):
        """Run, and say in which case it breaks."""
        try:
            return run("Attention", *args)
        except Lost as lost:
            raise Lost(f"{where}: {lost}") from None

    for B, T, heads, d_k in [(2, 7, 3, 5), (3, 5, 2, 4), (2, 6, 4, 3),
                             (9, 5, 2, 3), (1, 6, 1, 6), (2, 5, 3, 1)]:
        d, where = heads * d_k, f"{heads} heads of {d_k}"
        sizes = [d, heads]
        x, new = 0.5 * rng.normal(size=(2, B, T, d))  # nothing is saturated
        found, _, count = told(where, sizes, 1, [(False, [x])])
        must(np.isfinite(numbers(found[0][0])).all(), f"{where}: the result "
             "contains NaN: does the factor of the scores hold for each width,"
             " does each position see itself?")
        told(f"{where}, a batch of {B}, in two pieces with a cache", sizes, 1,
             [(True, [x[:, :2], x[:, 2:]])])
        sound(run, "Attention", sizes, x, new, d, int(rng.integers(1000)))
        order = [*rng.permutation(T - 1), T - 1]
        while order == list(range(T)):
            order = [*rng.permutation(T - 1), T - 1]
        alike = np.repeat(x[:, :1], T, axis=1)
        s, t = x[:, :1], new[:, :1]
        (a, b, c, *parts), _, _ = run("Attention", sizes, 1, [
            (False, [x]), (False, [x[:, order]]), (False, [alike]),
            (False, [s]), (False, [t]), (False, [s + t / 2]),
            (False, [t / 2])])
        a, b, c, *parts = (numbers(v[0]) for v in (a, b, c, *parts))
        must(T - 1 not in differ(a, b), f"{where}: the order of what is "
             "before makes a difference: are heads cut out of the columns?")
        must(not len(differ(c, np.repeat(c[:, :1], T, axis=1))),
             f"{where}: where all positions hold the same, they find "
             "different things: do the weights of a position sum to 1?")
        must(not len(differ(parts[0] + parts[1], parts[2] + parts[3])),
             f"{where}: a position alone finds its own value, a linear "
             "function of x, and this is none: is there a norm in it? That "
             "belongs to the block")
        (a, b), _, _ = run("Attention", sizes, 1, [
            (False, [x]), (False, [new])], ["matrices"])
        must(not len(differ(*(numbers(v[0]) for v in (a, b)))),
             f"{where}: all weights are 0 and something of x comes through: "
             "the residual belongs to the block")
        if d_k == 1:
            continue
        most = 0
        for trial in range(6):  # heads may resemble each other by chance
            a, c = rng.normal(size=(2, 1, d))
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
        must(heads == 1 or count < 6 * d * d, f"{where}: far more parameters "
             "than that takes: is each head d_model / heads wide?")
    asks(run, rng)
    # Two texts in turn, and what goes on from a copy of the dict.
    x, y = rng.normal(size=(2, 2, 6, 6))
    (a, b, turns, copied), _, _ = run("Attention", [6, 2], 1, [
        (False, [x]), (False, [y]),
        ([0, 1, 0, 1, 0], [x[:, :3], y[:, :2], x[:, 3:4], y[:, 2:], x[:, 4:]]),
        (["copied"] * 3, [x[:, :3], x[:, 3:4], x[:, 4:]])])
    turns, copied = ([numbers(v) for v in p] for p in (turns, copied))
    a, b = numbers(a[0]), numbers(b[0])
    for pieces, want in ((turns[::2], a), (turns[1::2], b)):
        must(not len(differ(np.concatenate(pieces, 1), want)), "two texts "
             "whose pieces come in turn, each with its dict, get mixed up: is "
             "something kept on the layer?")
    must(not len(differ(np.concatenate(copied, 1), a)), "with a copy of the "
         "dict a text does not go on: is something kept elsewhere?")
    for large in (30, 300):
        where = f"scores of {'hundreds' if large == 30 else 'ten thousands'}"
        x, new = large * rng.normal(size=(2, 2, 6, 12))
        x[1] /= large
        texts = [np.concatenate([x[:, :s], new[:, s:]], 1)
                 for s in range(1, 6)]
        (whole, *found), _, _ = told(where, [12, 3], 1, [
            (False, [t]) for t in [x, x[:1], x[1:], *texts]])
        whole, *found = (numbers(v[0]) for v in (whole, *found))
        must(np.isfinite(whole).all(), f"{where}: the result contains NaN: "
             "subtract the largest score of each row before exp, or take "
             "torch's softmax")
        must(not len(differ(np.concatenate(found[:2]), whole)), f"{where}: a "
             "sequence depends on the others of its batch")
        for s, text in enumerate(found[2:], 1):
            must(not len(differ(text[:, :s], whole[:, :s])), f"{where}: the "
                 "future is seen: are hidden scores -inf, and hidden before "
                 "the softmax?")
    x = 0.3 * rng.normal(size=(1, 512, 6))
    new = x.copy()
    new[:, :20] = rng.normal(size=(1, 20, 6))
    where = "a text of 512 tokens"
    (whole, other), _, _ = told(where, [6, 2], 1, [
        (False, [x]), (False, [new])])
    (cached,), _, _ = told(f"{where}, in pieces", [6, 2], 1, [
        (True, np.split(x, [200, 201, 500], axis=1))])
    whole, other = numbers(whole[0]), numbers(other[0])
    must(whole.shape == x.shape and len(differ(other, whole)) == 512,
         f"{where}: late positions do not see what was at the beginning")
    must(not len(differ(np.concatenate([numbers(v) for v in cached], 1),
                        whole)),
         f"{where}: with a cache the result differs from that without: is all "
         "that was before still there?")


def asks(run, rng):
    """Lose the item unless a head's weights follow from dot products.

    With one head of width 2 a position's answer tells its weights on three
    tokens. log(weight of a / weight of b) is a dot product of something of
    the last token and something of a, b: a matrix of rank 2.
    """
    best = np.inf
    for trial in range(3):  # the best one counts: values may be on a line
        a, q = rng.normal(size=(2, 6, 2))
        b = rng.normal(size=2)
        alone = [(False, [v[None, None]]) for v in (*a, *q, b)]
        three = [(False, [np.stack([u, b, v])[None]]) for u in a for v in q]
        found, _, _ = run("Attention", [2, 1], trial, alone + three)
        found = np.stack([numbers(f[0])[0, -1] for f in found])
        values, found = found[:13], found[13:].reshape(6, 6, 2)
        ratio = np.zeros((6, 6))
        for i in range(6):
            for j in range(6):
                sides = np.stack([values[i] - values[6 + j],
                                  values[12] - values[6 + j]], 1)
                weights = np.linalg.lstsq(
                    sides, found[i, j] - values[6 + j], rcond=None)[0]
                ratio[i, j] = weights[0] / weights[1]
        must((ratio > 0).all(), "one head of width 2: the result is no "
             "mixture of the values with weights between 0 and 1")
        ratio = np.log(ratio)
        sizes = np.linalg.svd(ratio, compute_uv=False)
        spread = abs(ratio - ratio.mean(1, keepdims=True)).max()
        must(spread > 1e-3 * sizes[0], "the weights of what is before are the "
             "same whatever a position asks: where are the queries?")
        best = min(best, sizes[2] / sizes[0])
    must(best < 1e-3, "one head of width 2: the weights are not the softmax "
         "of dot products of queries and keys, times a constant")


@SET.item("Block", needs=["Attention"], drive=probe, seconds=10)
def check_block(run, rng, variant):
    for B, T, heads, d_k in [(2, 7, 3, 5), (3, 5, 2, 4), (2, 6, 4, 3)]:
        d = heads * d_k
        has_parts(run, d, heads)
        x, new = rng.normal(size=(2, B, T, d))
        sound(run, "Block", [d, heads], x, new, d, int(rng.integers(1000)))
        dissect(run, d, heads, rng)


def close(a, b, much=1e-5):
    """Tell whether two results are equal but for `much` of their size."""
    return bool(abs(a - b).max() <= much * abs(b).max())


def has_parts(run, d, heads):
    """Lose the item unless a block knows Attention and two matrices."""
    where = f"width {d}"
    _, _, built, many = run("Block", [d, heads], 1, [], [], None, [])
    must(built, f"{where}: the block does not call Attention(d_model, heads)")
    must(built == [[d, heads]], f"{where}: does the block make one Attention, "
         "with the width and the number of heads that it is given?")
    must(sum(many) > 0, f"{where}: the module knows no matrix of a "
         "feed-forward network: layers are attributes, or stand in an "
         "nn.ModuleList, not in a Python list")
    must(sum(many) == 8 * d * d and len(many) == 2, f"{where}: besides those "
         "of Attention there should be two matrices, to four times the width "
         "and back")


def dissect(run, d, heads, rng):
    """Lose the item unless a block adds and norms what it should.

    Attention is put in place that finds what is decided here: nothing, or a.
    """
    where, seed = f"width {d}", int(rng.integers(1000))
    x, a, other = rng.normal(size=(3, 2, 6, d))
    nothing = np.zeros_like(x)

    def look(*cases, zero=()):
        inputs, found = [c[0] for c in cases], [c[1] for c in cases]
        return run("Block", [d, heads], seed, inputs, list(zero), None, found)

    # Positions.
    changed, alike = x.copy(), np.repeat(x[:, :1], 6, axis=1)
    changed[:, 3] = other[:, 3]
    out, _, _, _ = look((x, nothing), (changed, nothing), (alike, nothing))
    y, changed, alike = (numbers(o) for o in out)
    rows = differ(y, changed).tolist()
    must(rows, f"{where}: where Attention finds nothing, what comes in is "
         "lost: is each of the two added to it?")
    must(rows == [3], f"{where}: Attention apart, each position should be "
         "treated alone")
    must(not len(differ(alike, np.repeat(alike[:, :1], 6, axis=1))),
         f"{where}: positions with the same vector are treated differently: "
         "`Block` knows no positions")

    # What Attention reads: x, or x after a norm.
    times = (1, 1e3, 1e6)
    _, read, _, _ = look(*((n * x, nothing) for n in times), zero=["biases"])
    must(len(read) == 3, f"{where}: Attention is asked more or less than once")
    read = [numbers(r) for r in read]
    must(all(r.shape == x.shape for r in read),
         f"{where}: Attention reads something of another shape than x")
    bare = close(read[0], x)
    must(bare or all(close(r, read[0], 0.02) for r in read),
         f"{where}: what Attention reads is neither x nor x after a norm over "
         "the features: larger vectors should come out as large as others")

    # With a feed-forward network that adds nothing.
    out, _, _, _ = look((x, nothing), (-x, nothing), (1e3 * x, nothing),
                        zero=["biases", "matrices"])
    y, minus, large = (numbers(o) for o in out)
    flat = y - y.mean(-1, keepdims=True), x - x.mean(-1, keepdims=True)
    size = np.linalg.norm
    alike = (flat[0] * flat[1]).sum(-1) > 0.9 * size(
        flat[0], axis=-1) * size(flat[1], axis=-1)
    must(close(y, x) or (close(minus, -y) and close(large, y, 0.02)
                         and alike.all()),
         f"{where}: nothing is found and all matrices are 0, so x should come "
         "out, as it is or after a norm: is each of the two added to what "
         "comes in, once?")

    # What is found is added to x; the network reads and adds to the sum.
    def adds(zero, a, normed):
        out, _, _, _ = look((x, a), (x + normed, nothing), zero=zero)
        return close(*(numbers(o) for o in out), 1e-3)
    silent = ["biases", "matrices"]
    out, _, _, _ = look((nothing, a), (nothing, 1e3 * a), zero=silent)
    once, many = (numbers(o) for o in out)
    behind = close(many, once, 0.02) and not adds(silent, a, a)
    if behind:  # a norm behind Attention, before the sum
        flat = a - a.mean(-1, keepdims=True)
        usual = [v * (d - n) ** 0.5 / size(v, axis=-1, keepdims=True)
                 for v, n in ((flat, 0), (flat, 1), (a, 0))]
        fits = [v for v in (once, *usual) if adds(silent, a, v)]
        must(fits, f"{where}: what Attention finds is not added to what comes "
             "in")
        must(adds(["biases"], a, fits[0]), f"{where}: the feed-forward "
             "network does not read the sum of what came in and what was "
             "found")
    else:
        must(adds(["matrices"], a, a), f"{where}: what Attention finds is "
             "not added, once, to x itself")
        must(adds([], a, a), f"{where}: the feed-forward network does not "
             "read and add to the sum of what came in and what was found")

    # Large vectors.
    out, _, _, _ = look(*((n * x, nothing) for n in times))
    first, *_, last = (numbers(o) for o in out)
    must(not bare or behind or close(last, first, 0.02),
         f"{where}: Attention has no norm, neither before nor behind it nor "
         "after the sum; or it does not make all vectors equally large")
    out, _, _, _ = look(*((n * x, nothing) for n in times), zero=["biases"])
    out = [numbers(o) for o in out]
    added = [o - n * x for n, o in zip(times, out, strict=True)]
    fits = False
    for parts in (out, added):
        sizes = np.stack([size(p, axis=-1) for p in parts])
        fits |= all(close(p, parts[0], 0.02) for p in parts) or (
            np.isfinite(sizes).all() and sizes.min() > 0
            and sizes.max() < 1.02 * sizes.min())
    must(fits, f"{where}: the feed-forward network has no norm: larger "
         "vectors come in, and neither is what it adds as large as with "
         "others, nor the sum")

    # An activation between the two.
    out = {word: numbers(look((x, nothing), zero=["biases", word])[0][0])
           for word in ("matrices", "even", "odd")}
    must(any(not close(out[word], out["matrices"], 1e-3)
             for word in ("even", "odd")), f"{where}: is there a ReLU, GELU "
         "or SiLU between the two matrices of the feed-forward network, "
         "and is what it makes not multiplied by 0?")


@SET.item("GPT", needs=["Block"], drive=probe, seconds=30)
def check_gpt(run, rng, variant):
    a, b, c = (run("GPT", [5, 48, 4, n, 6], 1, []) for n in (1, 2, 3))
    must(a < b < c, "more layers do not have more parameters: has each block "
         "its own, and does the module know them (nn.ModuleList)?")
    must(c - b == b - a, "the second block has more or fewer parameters than "
         "the third")
    must(a - (b - a) < (b - a) / 2, "besides those of `layers` blocks there "
         "are more parameters than in half a block: is there a block too "
         "many, or do blocks share a part?")
    for vocab, heads, d_k, layers, context, B, T in [
            (11, 3, 4, 2, 9, 2, 7), (8, 2, 6, 3, 6, 3, 6),
            (13, 4, 2, 1, 20, 2, 8), (9, 4, 2, 2, 100, 2, 70)]:
        sizes = [vocab, heads * d_k, heads, layers, context]
        ids = rng.integers(vocab, size=(B, T))
        ids[:, 2] = 0
        other = (ids + rng.integers(1, vocab, size=(B, T))) % vocab
        if context == T:
            run("GPT", sizes, 1, [(False, [ids[:, :-1]])])
            try:
                run("GPT", sizes, 1, [(False, [ids])])
            except Lost as lost:
                raise Lost(f"a text of exactly `context` tokens: {lost}; one "
                           "less goes well: a position too few?") from None
        try:
            found, _, _ = run("GPT", sizes, 1, [(False, [ids])])
            y = numbers(found[0][0])
            if y.shape == (B, T, vocab):
                must((y < 0).any(), "no logit is negative: does something "
                     "(ReLU, softmax) come behind the last linear layer?")
                must((np.ptp(y, -1) > 0).all(), "after some token, 0 perhaps, "
                     "all logits are equal: no id is padding")
            sound(run, "GPT", sizes, ids, other, vocab,
                  int(rng.integers(1000)))
        except Lost as lost:
            raise Lost(f"`context` {context}, {T} tokens: {lost}") from None
    ordered(run, rng)
    stacked(run, rng)
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


def ordered(run, rng):
    """Lose the item unless one layer tells the order of any two tokens."""
    for heads, d_k, T, context in [(3, 4, 7, 9), (2, 4, 45, 100)]:
        sizes = [50, heads * d_k, heads, 1, context]
        text = rng.permutation(50)[None, :T]
        pairs = [(i, i + n) for n in (1, 2, 8, 16, 31)
                 for i in range(0, T - 1 - n)]
        moved = np.repeat(text, len(pairs), axis=0)
        for row, pair in zip(moved, pairs, strict=True):
            row[list(pair)] = row[list(pair[::-1])]
        found, _, _ = run("GPT", sizes, 1, [(False, [text]), (False, [moved])])
        y, others = (numbers(f[0])[:, -1] for f in found)
        alike = abs(others - y).max(-1) <= 1e-6 * abs(y).max()
        must(not alike.all(), "1 layer: the order of what is before makes no "
             "difference: are there positions, and do they go in before the "
             "blocks?")
        apart = {b - a for (a, b), same in zip(pairs, alike, strict=True)
                 if same}
        must(not apart, f"1 layer, `context` {context}: two tokens that are "
             f"{min(apart, default=0)} apart change places, and nothing after "
             "them differs: has each position a place of its own?")


def stacked(run, rng):
    """Lose the item unless blocks get what is theirs, one after the other."""
    sizes = [9, 12, 3, 3, 8]
    ids, other = rng.integers(9, size=(2, 2, 8))
    for number in range(3):
        found, built = run("GPT", sizes, 1, [
            (False, [ids]), (False, [other])], [], None, number)
        if not built:  # blocks of its own
            break
        must(all(b == [12, 3] for b in built), "a block gets another width or "
             "number of heads than the model")
        must(len(built) == 3, "there are more or fewer blocks than `layers`")
        must(not len(differ(*(numbers(f[0]) for f in found))), "a block of "
             "three forgets all that it reads, and ids still make a "
             "difference: each block reads what the one before makes")
    programs = [(True, [ids[:, :3], ids[:, 3:]]), (False, [ids])]
    run("GPT", sizes, 1, programs)
    try:
        found, _, _ = run("GPT", sizes, 1, programs, [], None, "layout")
    except Lost as lost:
        raise Lost("with a Block that keeps its cache in another form: "
                   f"{lost}") from None
    must(not len(differ(np.concatenate([numbers(a) for a in found[0]], 1),
                        numbers(found[1][0]))),
         "with a Block that keeps its cache in another form, pieces give "
         "another result than the whole")


# ------------------------------------------------- generate

def speaking(names, table, prompt, n, training):
    """Let `generate` run a model that follows a table, twice.

    Returns both texts, how often a position is read at most, how many are,
    whether dicts were empty at the start of a text, whether anything was in
    training mode meanwhile, and whether the model is as it was.
    """
    import torch
    torch.set_default_dtype(torch.double)
    read, empty, trained = {}, [], []

    class Walk(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Parameter(table.clone())
            self.frozen = torch.nn.Parameter(torch.ones(2), False)
            self.inside = torch.nn.Sequential(torch.nn.Dropout(0.1))

        def forward(self, ids, cache=None):
            cache = {} if cache is None else cache
            if "state" not in cache:
                empty.append(not cache)
            state = cache.get("state", torch.zeros(len(ids)).long())
            start = cache.get("length", 0)
            states = []
            for place, column in enumerate(ids.unbind(1), start):
                state = (3 * state + column + 1) % len(self.table)
                states.append(state)
                read[place] = read.get(place, 0) + 1
            cache["state"], cache["length"] = state, start + ids.shape[1]
            logits = self.table[torch.stack(states, dim=1)]
            trained.append(any(m.training for m in self.modules()))
            return logits

    def known(model):
        return [[m.training for m in model.modules()],
                [p.requires_grad for p in model.parameters()],
                bool(torch.equal(model.table, table)), torch.is_grad_enabled()]

    model = Walk().train(training)
    before = known(model)
    first = names["generate"](model, prompt, n)
    most, places, after = max([0, *read.values()]), len(read), known(model)
    clean, dropout = all(empty), any(trained)
    kept = [a == b for a, b in zip(before, after, strict=True)]
    torch.set_grad_enabled(True)
    return (first, names["generate"](model, prompt, n), most, places, clean,
            dropout, kept)


def walk(table, prompt, n, pick=np.argmax, whole=False, forget=False):
    """Return what follows each row; `whole` feeds all again each time.

    With `forget` the model knows nothing of what it has read before.
    """
    rows = []
    for row in prompt:
        state, ids, new = 0, list(row), list(row)
        for _ in range(n):
            state *= not forget
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
            (4, 2, 1, 8, False), (2, 6, 75, 5, True), (2, 70, 40, 31, True),
            (3, 4, 8, 6, "negative"), (3, 2, 8, 7, "close")]:
        table = rng.normal(size=(89, vocab))
        told, training = training, training is not False
        if told == "negative":
            table -= 9
        if told == "close":
            table *= 1e-17
        prompt = rng.integers(vocab, size=(B, T))

        def texts(new, prompt=prompt):
            if variant != "prompt and new tokens":
                return new
            return np.concatenate([prompt, new], axis=1)
        want = walk(table, prompt, n)
        where = f"a prompt of {T} and {n} new tokens, a batch of {B}" + {
            "negative": ", all logits negative",
            "close": ", logits close together"}.get(told, "")
        try:
            result = run(table, prompt, n, training)
        except Lost as lost:
            raise Lost(f"{where}: {lost}") from None
        first, second, most, places, clean, dropout, kept = result
        first = numbers(first)
        must(first.dtype.kind in "iu", f"{where}: ids are integers")
        must(first.shape != (n, B) or n == B or first.ndim != 2,
             f"{where}: rows and columns are exchanged")
        must(not dropout, f"{where}: something in the model is in training "
             "mode while it is run, so dropout is on: model.eval()")
        hints = {
            "the smallest logit is taken":
                texts(walk(table, prompt, n, np.argmin)),
            "with a cache only what is new goes in: the model has read the "
            "rest already": texts(walk(table, prompt, n, whole=True)),
            "the prompt's last token is read twice":
                texts(walk(table, np.append(prompt, prompt[:, -1:], 1), n)),
            "the model does not know what it has read before: does the same "
            "dict come along with each piece?":
                texts(walk(table, prompt, n, forget=True)),
            "long texts are cut: the model has not read the whole prompt":
                texts(walk(table, prompt[:, -32:], n)),
            "all rows continue like the first":
                texts(walk(table, prompt, n)[[0] * B]),
            "one token too few": texts(want[:, :-1]),
            "it stops before there are n new tokens":
                texts(want)[:, :first.shape[-1]],
            "one token too many": texts(walk(table, prompt, n + 1)),
            "the prompt is to stand in front, or to be left out: see what is "
            "returned": want if variant == "prompt and new tokens" else
                np.concatenate([prompt, want], axis=1)}
        if told == "negative":
            hints["is a logit of more than 0 asked for?"] = texts(0 * want)
        if told == "close":
            hints["the logits decide; of probabilities several are equal "
                  "after rounding"] = texts(0 * want)
        same(first, texts(want), where, hints)
        must(most == 1, f"{where}: positions run through the model more "
             "than once: is the cache used, for all rows together?")
        must(places <= T + n, f"{where}: more positions are read than asked "
             "for")
        must(clean, f"{where}: the dict is not empty before the first piece "
             "of a text: what it holds is the model's affair")
        modes, gradients, weights, recording = kept
        must(modes, f"{where}: the model is left in another mode than it came "
             "in")
        must(gradients, f"{where}: the model's parameters do not learn any "
             "more (requires_grad): torch.no_grad() is enough")
        must(weights, f"{where}: the model's parameters are changed")
        must(recording, f"{where}: gradients are left switched off")
        same(second, texts(want), f"{where}, called a second time (does each "
             "call start with an empty dict?)")
