# %% wrong: no positions
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids)
        for number, block in enumerate(self.blocks):
            x = block(x, cache.setdefault(number, {}))
        return self.unembed(self.norm(x))


# %% wrong: positions start at 0 with each piece
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids) + self.position.weight[:ids.shape[1]]
        for number, block in enumerate(self.blocks):
            x = block(x, cache.setdefault(number, {}))
        return self.unembed(self.norm(x))


# %% wrong: positions are added behind the blocks
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids)
        for number, block in enumerate(self.blocks):
            x = block(x, cache.setdefault(number, {}))
        return self.unembed(
            self.norm(x + self.position.weight[start:cache["length"]]))


# %% wrong: every position is the first
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids) + self.position.weight[:1]
        for number, block in enumerate(self.blocks):
            x = block(x, cache.setdefault(number, {}))
        return self.unembed(self.norm(x))


# %% wrong: one position for each sequence of the batch
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids) + self.position.weight[:len(ids), None]
        for number, block in enumerate(self.blocks):
            x = block(x, cache.setdefault(number, {}))
        return self.unembed(self.norm(x))


# %% wrong: positions one too far in a cached step
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        start += start > 0
        cache["length"] = start + ids.shape[1]
        here = self.position.weight[
            (start + torch.arange(ids.shape[1])) % len(self.position.weight)]
        x = self.embedding(ids) + here
        for number, block in enumerate(self.blocks):
            x = block(x, cache.setdefault(number, {}))
        return self.unembed(self.norm(x))


# %% wrong: all blocks share one cache
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids) + self.position.weight[start:cache["length"]]
        for number, block in enumerate(self.blocks):
            x = block(x, cache.setdefault("blocks", {}))
        return self.unembed(self.norm(x))


# %% wrong: each block gets an empty cache each time
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids) + self.position.weight[start:cache["length"]]
        for number, block in enumerate(self.blocks):
            x = block(x, {})
        return self.unembed(self.norm(x))


# %% wrong: blocks get no cache
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids) + self.position.weight[start:cache["length"]]
        for number, block in enumerate(self.blocks):
            x = block(x)
        return self.unembed(self.norm(x))


# %% wrong: the same block for every layer
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            [Block(d_model, heads)] * layers)
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids) + self.position.weight[start:cache["length"]]
        for number, block in enumerate(self.blocks):
            x = block(x, cache.setdefault(number, {}))
        return self.unembed(self.norm(x))


# %% wrong: only the first block is used
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids) + self.position.weight[start:cache["length"]]
        for number, block in enumerate(self.blocks):
            x = block(x, cache.setdefault(number, {}))
            break
        return self.unembed(self.norm(x))


# %% wrong: blocks in a plain list
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = [Block(d_model, heads) for _ in range(layers)]
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids) + self.position.weight[start:cache["length"]]
        for number, block in enumerate(self.blocks):
            x = block(x, cache.setdefault(number, {}))
        return self.unembed(self.norm(x))


# %% wrong: logits of the last position only
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids) + self.position.weight[start:cache["length"]]
        for number, block in enumerate(self.blocks):
            x = block(x, cache.setdefault(number, {}))
        return self.unembed(self.norm(x[:, -1:]))


# %% wrong: probabilities instead of logits
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids) + self.position.weight[start:cache["length"]]
        for number, block in enumerate(self.blocks):
            x = block(x, cache.setdefault(number, {}))
        return self.unembed(self.norm(x)).softmax(-1)


# %% wrong: no unembedding
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids) + self.position.weight[start:cache["length"]]
        for number, block in enumerate(self.blocks):
            x = block(x, cache.setdefault(number, {}))
        return self.norm(x)


# %% wrong: the embedding is not trained
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids).detach() + self.position.weight[start:cache["length"]]
        for number, block in enumerate(self.blocks):
            x = block(x, cache.setdefault(number, {}))
        return self.unembed(self.norm(x))


# %% wrong: dropout is on in evaluation
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids) + self.position.weight[start:cache["length"]]
        x = F.dropout(x, 0.1)
        for number, block in enumerate(self.blocks):
            x = block(x, cache.setdefault(number, {}))
        return self.unembed(self.norm(x))


# %% wrong: the position counter is kept on the module
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = getattr(self, "at", 0) % 3
        self.at = start + ids.shape[1]
        x = self.embedding(ids) + self.position(
            (start + torch.arange(ids.shape[1])) % len(self.position.weight))
        for number, block in enumerate(self.blocks):
            x = block(x, cache.setdefault(number, {}))
        return self.unembed(self.norm(x))


# %% wrong: positions fit one token less than context
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context - 1, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids) + self.position.weight[start:cache["length"]]
        for number, block in enumerate(self.blocks):
            x = block(x, cache.setdefault(number, {}))
        return self.unembed(self.norm(x))


# %% wrong: a bigram model: blocks built, result ignored
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids) + self.position.weight[start:cache["length"]]
        for number, block in enumerate(self.blocks):
            block(x, cache.setdefault(number, {}))
        return self.unembed(self.norm(x))


# %% wrong: embeddings start a thousand times too large
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        with torch.no_grad():
            self.embedding.weight *= 1000
            self.position.weight *= 1000
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids) + self.position.weight[start:cache["length"]]
        for number, block in enumerate(self.blocks):
            x = block(x, cache.setdefault(number, {}))
        return self.unembed(self.norm(x))


# %% wrong: the loss is taken in: the whole text is averaged into x
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids) + self.position.weight[start:cache["length"]]
        x = x + x.mean(1, keepdim=True)
        for number, block in enumerate(self.blocks):
            x = block(x, cache.setdefault(number, {}))
        return self.unembed(self.norm(x))


# %% wrong: logits are divided by a hundred
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids) + self.position.weight[start:cache["length"]]
        for number, block in enumerate(self.blocks):
            x = block(x, cache.setdefault(number, {}))
        return self.unembed(self.norm(x)) / 100


# %% wrong: tokens are reversed
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids.flip(1)) + self.position.weight[start:cache["length"]]
        for number, block in enumerate(self.blocks):
            x = block(x, cache.setdefault(number, {}))
        return self.unembed(self.norm(x))


# %% wrong: every parameter starts at 0
class GPT(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, context):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, vocab)
        for p in self.parameters():
            nn.init.zeros_(p)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        start = cache.get("length", 0)
        cache["length"] = start + ids.shape[1]
        x = self.embedding(ids) + self.position.weight[start:cache["length"]]
        for number, block in enumerate(self.blocks):
            x = block(x, cache.setdefault(number, {}))
        return self.unembed(self.norm(x))


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
