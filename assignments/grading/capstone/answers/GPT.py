# %% wrong: no positions
# -         self.position = nn.Embedding(context, d_model)
# (ids) + self.position.weight[start:cache["length"]] → (ids)
# %% wrong: positions start at 0 with each piece
# start:cache["length"] → :ids.shape[1]
# %% wrong: positions are added behind the blocks
# (ids) + self.position.weight[start:cache["length"]] → (ids)
# -         return self.unembed(self.norm(x))
# +         return self.unembed(
# +             self.norm(x + self.position.weight[start:cache["length"]]))
# %% wrong: every position is the first
# start:cache["length"] → :1
# %% wrong: one position for each sequence of the batch
# start:cache["length"] → :len(ids), None
# %% wrong: positions one too far in a cached step
#           start = cache.get("length", 0)
# +         start += start > 0
# -         x = self.embedding(ids) + self.position.weight[start:cache["length"]]
# +         here = self.position.weight[
# +             (start + torch.arange(ids.shape[1])) % len(self.position.weight)]
# +         x = self.embedding(ids) + here
# %% wrong: all blocks share one cache
# number, {} → "blocks", {}
# %% wrong: each block gets an empty cache each time
# cache.setdefault(number, {}) → {}
# %% wrong: blocks get no cache
# x, cache.setdefault(number, {}) → x
# %% wrong: the same block for every layer
# - Block(d_model, heads) for _ in range(layers))
# + [Block(d_model, heads)] * layers)
# %% wrong: only the first block is used
#               x = block(x, cache.setdefault(number, {}))
# +             break
# %% wrong: blocks in a plain list
# -         self.blocks = nn.ModuleList(
# -             Block(d_model, heads) for _ in range(layers))
# +         self.blocks = [Block(d_model, heads) for _ in range(layers)]
# %% wrong: logits of the last position only
# norm(x) → norm(x[:, -1:])
# %% wrong: probabilities instead of logits
# (self.norm(x)) → (self.norm(x)).softmax(-1)
# %% wrong: no unembedding
# unembed(self.norm(x)) → norm(x)
# %% wrong: the embedding is not trained
# (ids) → (ids).detach()
# %% wrong: dropout is on in evaluation
#           x = self.embedding(ids) + self.position.weight[start:cache["length"]]
# +         x = F.dropout(x, 0.1)
# %% wrong: the position counter is kept on the module
# -         start = cache.get("length", 0)
# -         cache["length"] = start + ids.shape[1]
# -         x = self.embedding(ids) + self.position.weight[start:cache["length"]]
# +         start = getattr(self, "at", 0) % 3
# +         self.at = start + ids.shape[1]
# +         x = self.embedding(ids) + self.position(
# +             (start + torch.arange(ids.shape[1])) % len(self.position.weight))
# %% wrong: positions fit one token less than context
# context, d_model → context - 1, d_model
# %% wrong: a bigram model: blocks built, result ignored
# x = block → block
# %% wrong: embeddings start a thousand times too large
#               Block(d_model, heads) for _ in range(layers))
# +         with torch.no_grad():
# +             self.embedding.weight *= 1000
# +             self.position.weight *= 1000
# %% wrong: the loss is taken in: the whole text is averaged into x
#           x = self.embedding(ids) + self.position.weight[start:cache["length"]]
# +         x = x + x.mean(1, keepdim=True)
# %% wrong: logits are divided by a hundred
# (self.norm(x)) → (self.norm(x)) / 100
# %% wrong: tokens are reversed
# (ids) → (ids.flip(1))
# %% wrong: every parameter starts at 0
#           self.unembed = nn.Linear(d_model, vocab)
# +         for p in self.parameters():
# +             nn.init.zeros_(p)
# %% right: sinusoidal positions, tied unembedding, small weights
import math


def sinusoids(length, d):
    place = torch.arange(length)[:, None]
    speed = torch.exp(-torch.arange(0, d, 2) / d * math.log(10_000))
    table = torch.zeros(length, d)
    table[:, 0::2] = torch.sin(place * speed)
    table[:, 1::2] = torch.cos(place * speed)
    return table


class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.tokens = nn.Embedding(vocab, d_model)
        self.register_buffer("places", sinusoids(context, d_model))
        self.layers = nn.ModuleList(
            [Block(d_model, heads) for _ in range(layers)])
        self.final = nn.LayerNorm(d_model)
        self.out = nn.Linear(d_model, vocab, bias=False)
        self.out.weight = self.tokens.weight
        self.apply(self.begin)

    @staticmethod
    def begin(module):
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.05)
            if getattr(module, "bias", None) is not None:
                nn.init.zeros_(module.bias)

    def forward(self, ids, cache=None):
        if cache is None:
            at, caches = 0, [None] * len(self.layers)
        else:
            at = cache.get("at", 0)
            caches = cache.setdefault("layers", [{} for _ in self.layers])
            cache["at"] = at + ids.shape[1]
        x = self.tokens(ids) * self.tokens.embedding_dim ** 0.5
        x = x + self.places[at:at + ids.shape[1]]
        for layer, kept in zip(self.layers, caches):
            x = layer(x, kept)
        return self.out(self.final(x))
# %% right: rotary positions in a block of its own, RMSNorm, no bias
def rotate(x, start):
    d = x.shape[-1]
    place = torch.arange(start, start + x.shape[-2], dtype=x.dtype)
    angle = place[:, None] / 1000 ** (torch.arange(0, d, 2) / d)
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


class Rotary(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        q, k, v = (p.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for p in self.qkv(x).chunk(3, dim=-1))
        start = cache["k"].shape[2] if cache else 0
        q, k = rotate(q, start), rotate(k, start)
        if cache is not None:
            if cache:
                k, v = (torch.cat([cache[n], p], 2)
                        for n, p in (("k", k), ("v", v)))
            cache.update(k=k, v=v)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        late = torch.ones(scores.shape[-2:]).triu(start + 1).bool()
        y = scores.masked_fill(late, float("-inf")).softmax(-1) @ v
        return self.out(y.transpose(1, 2).flatten(2))


class RotaryBlock(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.a, self.n, self.m = (
            Rotary(d_model, heads), nn.RMSNorm(d_model), nn.RMSNorm(d_model))
        self.f = nn.Sequential(
            nn.Linear(d_model, 4 * d_model, bias=False), nn.SiLU(),
            nn.Linear(4 * d_model, d_model, bias=False))

    def forward(self, x, cache=None):
        x = x + self.a(self.n(x), cache)
        return x + self.f(self.m(x))


class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.e = nn.Embedding(vocab, d_model)
        self.blocks = nn.ModuleList(
            RotaryBlock(d_model, heads) for _ in range(layers))
        self.n = nn.RMSNorm(d_model)
        self.u = nn.Linear(d_model, vocab, bias=False)

    def forward(self, ids, cache=None):
        x = self.e(ids)
        for i, block in enumerate(self.blocks):
            x = block(x, None if cache is None else cache.setdefault(i, {}))
        return self.u(self.n(x))
# %% right: post-norm block of its own, no final norm, log-probabilities, dropout in training
class Layer(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.wide = nn.Linear(d_model, 4 * d_model)
        self.back = nn.Linear(4 * d_model, d_model)
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(2))

    def forward(self, x, cache=None):
        x = self.norms[0](x + self.attention(x, cache))
        return self.norms[1](x + self.back(F.gelu(self.wide(x))))


class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embed = nn.Parameter(0.3 * torch.randn(vocab, d_model))
        self.place = nn.Parameter(0.1 * torch.randn(context, d_model))
        self.drop = nn.Dropout(0.05)
        self.stack = nn.Sequential(
            *(Layer(d_model, heads) for _ in range(layers)))
        self.head = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        caches, start = [None] * len(self.stack), 0
        if cache is not None:
            caches = [cache.setdefault(f"block {i}", {})
                      for i in range(len(self.stack))]
            start = cache.setdefault("seen", 0)
            cache["seen"] += ids.shape[-1]
        places = torch.arange(start, start + ids.shape[-1])
        x = self.drop(self.embed[ids] + self.place[places])
        for layer, kept in zip(self.stack, caches, strict=True):
            x = layer(x, kept)
        return F.log_softmax(self.head(x), dim=-1)
# %% right: one-hot, tied without scaling, every part from nn.Embedding's start
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.vocab = vocab
        self.w_e = nn.Linear(vocab, d_model, bias=False)
        self.w_p = nn.Embedding(context, d_model)
        nn.init.normal_(self.w_e.weight, std=0.5)
        for i in range(layers):
            self.add_module(f"block{i}", Block(d_model, heads))
        self.count = layers
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids, cache=None):
        cache = cache if cache is not None else {}
        start = cache.setdefault("positions", 0)
        x = self.w_e(F.one_hot(ids, self.vocab).to(self.w_e.weight.dtype))
        x = x + self.w_p(start + torch.arange(ids.shape[1]))[None]
        cache["positions"] = start + ids.shape[1]
        for i in range(self.count):
            kept = cache.setdefault(("block", i), {})
            x = getattr(self, f"block{i}")(x, kept)
        return self.norm(x) @ self.w_e.weight
# %% right: learned positions, Block, a final norm
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.tokens = nn.Embedding(vocab, d_model)
        self.positions = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            [Block(d_model, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        B, T = ids.shape
        start = 0
        if cache is not None:
            start = cache.get("length", 0)
            cache["length"] = start + T
        where = torch.arange(start, start + T)
        x = self.tokens(ids) + self.positions(where)
        for i, block in enumerate(self.blocks):
            own = None if cache is None else cache.setdefault(i, {})
            x = block(x, own)
        return self.head(self.norm(x))
# %% right: sinusoids made on the fly, list of caches
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.d_model = d_model
        self.embed = nn.Embedding(vocab, d_model)
        nn.init.normal_(self.embed.weight, std=0.5)
        self.layers = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.out = nn.Linear(d_model, vocab, bias=False)

    def table(self, start, T, dtype):
        t = torch.arange(start, start + T, dtype=dtype)[:, None]
        i = torch.arange(self.d_model)
        speed = 100.0 ** (-(i // 2 * 2).to(dtype) / self.d_model)
        return torch.where(i % 2 == 0, torch.sin(t * speed),
                           torch.cos(t * speed))

    def forward(self, ids, cache=None):
        if cache is None:
            cache = {}  # thrown away
        if not cache:
            cache["start"] = 0
            cache["layers"] = [{} for _ in self.layers]
        x = self.embed(ids)
        x = x + self.table(cache["start"], ids.shape[1], x.dtype)
        cache["start"] += ids.shape[1]
        for layer, kept in zip(self.layers, cache["layers"]):
            x = layer(x, kept)
        return self.out(x)
# %% right: rotary positions, fused projections
def rotate(x, start):
    T, width = x.shape[-2:]
    half = width // 2
    speed = 100.0 ** -(torch.arange(half, dtype=x.dtype) / half)
    t = torch.arange(start, start + T, dtype=x.dtype)
    angle = torch.outer(t, speed)
    a, b, rest = x.split([half, half, width - 2 * half], dim=-1)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([a * cos - b * sin, a * sin + b * cos, rest], dim=-1)


class RotaryBlock(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)
        self.ff = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(),
                                nn.Linear(4 * d_model, d_model))

    def attention(self, x, cache):
        B, T, D = x.shape
        q, k, v = (part.view(B, T, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(x).chunk(3, dim=-1))
        start = 0
        if cache is not None and "k" in cache:
            start = cache["k"].shape[2]
        q, k = rotate(q, start), rotate(k, start)
        if start:
            k = torch.cat([cache["k"], k], dim=2)
            v = torch.cat([cache["v"], v], dim=2)
        if cache is not None:
            cache["k"], cache["v"] = k, v
        S = start + T
        i = torch.arange(start, S)[:, None]
        j = torch.arange(S)
        scores = q @ k.transpose(2, 3) / q.shape[-1] ** 0.5
        scores = scores.masked_fill(j > i, float("-inf"))
        found = scores.softmax(-1) @ v
        return self.out(found.transpose(1, 2).reshape(B, T, D))

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.ff(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embed = nn.Embedding(vocab, d_model)
        self.blocks = nn.ModuleList(
            [RotaryBlock(d_model, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        x = self.embed(ids)
        for n, block in enumerate(self.blocks):
            own = None if cache is None else cache.setdefault(n, {})
            x = block(x, own)
        return self.head(self.norm(x))
# %% right: ALiBi, a post-norm block keeps its inputs
class AlibiBlock(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads, self.width = heads, d_model // heads
        self.q = nn.Linear(d_model, d_model, bias=False)
        self.k = nn.Linear(d_model, d_model, bias=False)
        self.v = nn.Linear(d_model, d_model, bias=False)
        self.o = nn.Linear(d_model, d_model)
        self.up = nn.Linear(d_model, 4 * d_model)
        self.down = nn.Linear(4 * d_model, d_model)
        self.ln1, self.ln2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, cache):
        B, T, D = x.shape
        seen = cache.get("seen")
        everything = x if seen is None else torch.cat([seen, x], dim=1)
        cache["seen"] = everything
        S = everything.shape[1]
        q = self.q(x).reshape(B, T, self.heads, self.width)
        k = self.k(everything).reshape(B, S, self.heads, self.width)
        v = self.v(everything).reshape(B, S, self.heads, self.width)
        scores = torch.einsum("bthw,bshw->bhts", q, k) / self.width ** 0.5
        far = torch.arange(S - T, S)[:, None] - torch.arange(S)
        slopes = 2.0 ** -(1 + torch.arange(self.heads) * 8 / self.heads)
        bias = -slopes.to(x.dtype)[:, None, None] * far
        scores = torch.where(far >= 0, scores + bias,
                             torch.finfo(x.dtype).min)
        found = torch.einsum("bhts,bshw->bthw", scores.softmax(-1), v)
        x = self.ln1(x + self.o(found.reshape(B, T, D)))
        return self.ln2(x + self.down(torch.relu(self.up(x))))


class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embed = nn.Embedding(vocab, d_model)
        self.stack = nn.ModuleList(
            [AlibiBlock(d_model, heads) for _ in range(layers)])
        self.head = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        x = self.embed(ids)
        for n, block in enumerate(self.stack):
            x = block(x, cache.setdefault(n, {}))
        return self.head(x)
# %% right: tied, positions start at 0, RMSNorm
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.wte = nn.Embedding(vocab, d_model)
        self.wpe = nn.Parameter(torch.zeros(1, context, d_model))
        self.h = nn.ModuleList([Block(d_model, heads)
                                for _ in range(layers)])
        self.gain = nn.Parameter(torch.ones(d_model))
        self.lm_head = nn.Linear(d_model, vocab, bias=False)
        self.lm_head.weight = self.wte.weight
        nn.init.normal_(self.wte.weight, std=0.1)

    def forward(self, ids, cache=None):
        past = 0
        if cache is not None and "past" in cache:
            past = cache["past"]
        T = ids.shape[1]
        x = self.wte(ids) + self.wpe[:, past:past + T]
        for i in range(len(self.h)):
            if cache is None:
                x = self.h[i](x, None)
            else:
                if f"layer{i}" not in cache:
                    cache[f"layer{i}"] = {}
                x = self.h[i](x, cache[f"layer{i}"])
        if cache is not None:
            cache["past"] = past + T
        x = self.gain * x * (x.pow(2).mean(-1, keepdim=True) + 1e-6) ** -0.5
        return self.lm_head(x)
# %% right: positions joined on beside the tokens
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.vocab = vocab
        half = d_model // 2
        self.token = nn.Parameter(torch.randn(vocab, d_model - half))
        self.place = nn.Parameter(torch.randn(context, half))
        self.mix = nn.Linear(d_model, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(layers):
            self.blocks.append(Block(d_model, heads))
        self.head = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        B, T = ids.shape
        caches = [None] * len(self.blocks)
        start = 0
        if cache is not None:
            start = cache.setdefault("start", 0)
            caches = cache.setdefault("caches", [{} for _ in self.blocks])
            cache["start"] += T
        hot = F.one_hot(ids, self.vocab).to(self.token.dtype)
        place = self.place[start:start + T].expand(B, T, -1)
        x = self.mix(torch.cat([hot @ self.token, place], dim=-1))
        for block, own in zip(self.blocks, caches):
            x = block(x, own)
        return self.head(x)
# %% right: keeps the ids and reads them all again
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.tokens = nn.Embedding(vocab, d_model)
        self.positions = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            [Block(d_model, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        new = ids.shape[1]
        if cache is not None:
            if "ids" in cache:
                ids = torch.cat([cache["ids"], ids], dim=1)
            cache["ids"] = ids
        x = self.tokens(ids) + self.positions.weight[:ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x[:, -new:]))
# %% right: positions given to each block again
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.wte = nn.Embedding(vocab, d_model)
        self.wpe = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            [Block(d_model, heads) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab, bias=False)
        self.drop = nn.Dropout(0.05)
        self.apply(self.start)

    @staticmethod
    def start(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.05)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, ids, cache=None):
        first = 0 if cache is None else cache.get("first", 0)
        last = first + ids.shape[1]
        place = self.wpe.weight[first:last]
        x = self.drop(self.wte(ids))
        for i, block in enumerate(self.blocks):
            own = None
            if cache is not None:
                cache["first"] = last
                own = cache.setdefault(f"h.{i}", {})
            x = block(x + place, own)
        return self.head(self.ln_f(x))
# %% wrong: `cache or {}` replaces the empty dict
# like: learned positions, Block, a final norm
# -         start = 0
# -         if cache is not None:
# -             start = cache.get("length", 0)
# -             cache["length"] = start + T
# +         cache = cache or {}
# +         start = cache.get("length", 0)
# +         cache["length"] = start + T
# None if cache is None else cache → cache
# %% wrong: a mutable default, cache={}
# like: `cache or {}` replaces the empty dict
# cache=None → cache={}
# -         cache = cache or {}
# %% wrong: layer caches live in the module
# like: learned positions, Block, a final norm
#           if cache is not None:
# +             if not cache:  # a new text
# +                 self.caches = [{} for _ in self.blocks]
# cache.setdefault(i, {}) → self.caches[i]
# %% wrong: the module counts positions
# like: learned positions, Block, a final norm
# -             start = cache.get("length", 0)
# -             cache["length"] = start + T
# +             if len(cache) == 0:
# +                 self.length = 0
# +             start = self.length
# +             self.length += T
# %% wrong: two layer caches, zip leaves a block out
# like: learned positions, Block, a final norm
# -         for i, block in enumerate(self.blocks):
# -             own = None if cache is None else cache.setdefault(i, {})
# +         if cache is None:
# +             caches = None, None
# +         else:
# +             caches = [cache.setdefault(key, {}) for key in "ab"]
# +         for block, own in zip(self.blocks, caches):
# %% wrong: looks for keys of Attention's cache
# like: learned positions, Block, a final norm
# -             start = cache.get("length", 0)
# -             cache["length"] = start + T
# +             if 0 in cache:
# +                 start = cache[0]["k"].shape[2]
# %% wrong: positions are looked up by token
# like: learned positions, Block, a final norm
# context, d_model → max(context, vocab), d_model
# (where) → (ids)
# %% wrong: sinusoid of position / T
# like: sinusoids made on the fly, list of caches
#           t = torch.arange(start, start + T, dtype=dtype)[:, None]
# +         t = 50 * t / (start + T)
# %% wrong: 32 positions, later ones are the last
# like: learned positions, Block, a final norm
# context, d_model → 32, d_model
# (start, start + T) → (start, start + T).clamp(max=31)
# %% wrong: 64 positions, whatever `context` says
# like: learned positions, Block, a final norm
# context, d_model → 64, d_model
# %% wrong: d_model positions, then round again
# like: learned positions, Block, a final norm
# context, d_model → d_model, d_model
# (start, start + T) → (start, start + T) % self.positions.num_embeddings
# %% wrong: neighbours share a position
# like: learned positions, Block, a final norm
# context, d_model → (context + 1) // 2, d_model
# (start, start + T) → (start, start + T) // 2
# %% wrong: sinusoids stored as integers
import math


class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embed = nn.Embedding(vocab, d_model)
        pe = torch.zeros((context, d_model), dtype=torch.long)
        t = torch.arange(context).unsqueeze(1)
        speed = torch.exp(torch.arange(0, d_model, 2)
                          * (-math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(t * speed)
        pe[:, 1::2] = torch.cos(t * speed)[:, :d_model // 2]
        self.register_buffer("pe", pe)
        self.blocks = nn.ModuleList(
            [Block(d_model, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        T = ids.size(1)
        start = 0 if cache is None else cache.get("n", 0)
        x = self.embed(ids) + self.pe[start:start + T]
        for n, block in enumerate(self.blocks):
            if cache is None:
                x = block(x)
            else:
                x = block(x, cache.setdefault(("block", n), {}))
        if cache is not None:
            cache["n"] = start + T
        return self.head(self.norm(x))
# %% wrong: one block too many
# like: learned positions, Block, a final norm
# (layers) → (layers + 1)
# %% wrong: always four heads
# like: learned positions, Block, a final norm
# (d_model, heads) → (d_model, 4)
# %% wrong: blocks side by side, their mean
# like: learned positions, Block, a final norm
#           x = self.tokens(ids) + self.positions(where)
# +         found = []
# x = block(x, own) → found.append(block(x, own))
# norm(x) → norm(sum(found) / len(found))
# %% wrong: each block reads the embeddings
# like: learned positions, Block, a final norm
# x = block → y = block
# norm(x) → norm(y)
# %% wrong: own blocks share one feed-forward network
# like: rotary positions, fused projections
# self, d_model, heads → self, d_model, heads, ff
# -         self.ff = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(),
# -                                 nn.Linear(4 * d_model, d_model))
# +         self.ff = ff
#           self.embed = nn.Embedding(vocab, d_model)
# +         ff = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(),
# +                            nn.Linear(4 * d_model, d_model))
# (d_model, heads) → (d_model, heads, ff)
# %% wrong: own attention sees 32 positions
# like: rotary positions, fused projections
# j > i → (j > i) | (j <= i - 32)
# %% wrong: own attention keeps the last 16 keys
# like: ALiBi, a post-norm block keeps its inputs
# ["seen"] = everything → ["seen"] = everything[:, -16:]
# %% wrong: mask for 64 positions
# like: ALiBi, a post-norm block keeps its inputs
#           self.heads, self.width = heads, d_model // heads
# +         self.register_buffer("mask", torch.ones(64, 64).tril() > 0)
# far >= 0 → self.mask[S - T:S, :S]
# %% wrong: rotary: only queries are turned
# like: rotary positions, fused projections
# q, k = rotate(q, start), rotate(k, start) → q = rotate(q, start)
# %% wrong: rotary: keys from the cache are turned again
# like: rotary positions, fused projections
# -         q, k = rotate(q, start), rotate(k, start)
#               v = torch.cat([cache["v"], v], dim=2)
# +         S = start + T
# +         q, k = rotate(q, start), rotate(k, 0)
#               cache["k"], cache["v"] = k, v
# -         S = start + T
# %% wrong: ReLU on the logits
# like: learned positions, Block, a final norm
# self.head(self.norm(x)) → F.relu(self.head(self.norm(x)))
# %% wrong: id 0 taken for padding
# like: learned positions, Block, a final norm
# -         return self.head(self.norm(x))
# +         real = (ids != 0).to(x.dtype)[..., None]
# +         return real * self.head(self.norm(x))
# %% wrong: id 0 is never predicted
# like: learned positions, Block, a final norm
# -         return self.head(self.norm(x))
# +         logits = self.head(self.norm(x))
# +         none = torch.full_like(logits[..., :1], -1e9)
# +         return torch.cat([none, logits[..., 1:]], dim=-1)
# %% wrong: all weights start with deviation 1
# like: learned positions, Block, a final norm
#           self.head = nn.Linear(d_model, vocab)
# +         for p in self.parameters():
# +             nn.init.normal_(p, 0, 1)
# %% right: logits held between -10 and 10 by tanh
# like: learned positions, Block, a final norm
# self.head(self.norm(x)) → 10 * torch.tanh(self.head(self.norm(x)) / 10)
# %% wrong: distances beyond 3 are alike (Shaw)
# like: rotary positions, fused projections
#           self.heads = heads
# +         self.bias = nn.Parameter(torch.randn(heads, 4))
# -         q, k = rotate(q, start), rotate(k, start)
#           scores = q @ k.transpose(2, 3) / q.shape[-1] ** 0.5
# +         near = (i - j).clamp(0, 3)
# +         scores = scores + self.bias[:, near]
# %% right: positions drawn at random, never learned
# like: learned positions, Block, a final norm
#           self.positions = nn.Embedding(context, d_model)
# +         self.positions.requires_grad_(False)
