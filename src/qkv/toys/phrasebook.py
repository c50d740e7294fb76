"""A Chinese–English phrasebook whose word alignment is known.

老 厨师 在 北京 买 四川 的 辣 面 · the old cook buys the spicy noodles from
Sichuan in Beijing. The place where it happens comes before the verb in
Chinese and last in English; origin and taste change places; most words are
optional. Small models translate it, an encoder–decoder and a decoder alone,
and their attention is compared with the true links. Chapter 7 uses it.
"""

import random
from typing import Any, cast

import torch
from torch import nn
from torch.nn import functional as F

from ..masks import padding_mask
from ..multihead import MultiHeadAttention
from ..transformer import Block
from . import train

#: The words by part of speech, each with its pinyin and its English word
BOOK = {part: {zh: (pinyin, en) for zh, pinyin, en in
               (entry.split("/") for entry in entries.split())}
        for part, entries in {
    "age": "老/lǎo/old 年轻/niánqīng/young",
    "who": "厨师/chúshī/cook 老师/lǎoshī/teacher 学生/xuésheng/student "
           "医生/yīshēng/doctor 孩子/háizi/child 朋友/péngyou/friend",
    "in": "在/zài/in", "from": "的/de/from",
    "verb": "买/mǎi/buys 卖/mài/sells 做/zuò/makes 吃/chī/eats 要/yào/wants",
    "place": "四川/Sìchuān/Sichuan 北京/Běijīng/Beijing 云南/Yúnnán/Yunnan "
             "上海/Shànghǎi/Shanghai 湖南/Húnán/Hunan "
             "广东/Guǎngdōng/Guangdong",
    "taste": "辣/là/spicy 甜/tián/sweet 酸/suān/sour 咸/xián/salty",
    "dish": "火锅/huǒguō/hotpot 面/miàn/noodles 汤/tāng/soup 鸭子/yāzi/duck "
            "豆腐/dòufu/tofu 饺子/jiǎozi/dumplings",
}.items()}
ENTRIES = {zh: entry for part in BOOK.values() for zh, entry in part.items()}
SOURCE = ("<pad>", *ENTRIES)
FUNCTION = ("<pad>", "<s>", "</s>", "the", "in", "from")
TARGET = (*FUNCTION, *(en for _, en in ENTRIES.values()
                       if en not in FUNCTION))
S, T = 9, 13  # the longest sentences; the target counts <s> and </s>


#: Parts of a sentence, and their words; those with "?" come half of the time.
_PARTS = {"age?": "age", "who": "who", "place?": "place", "verb": "verb",
          "origin?": "place", "taste?": "taste", "dish": "dish"}
_ZH = ("age", "who", "in", "place", "verb", "origin", "from", "taste", "dish")
_EN = ("the", "age", "who", "verb", "the", "taste", "dish", "from", "origin",
       "in", "place")


def pair(rng):
    """Draw a sentence with a ``random.Random``.

    Returns
    -------
    zh, en : list of str
    links : list of int
        For each English word, the place of the Chinese word that it
        translates; −1 for *the*, which has none.
    held_out : bool
        A quarter of all combinations of taste, origin and dish.
    """
    chosen, number = {"the": ""}, 0  # Chinese has no word for it
    for part, kind in _PARTS.items():
        if not part.endswith("?") or rng.random() < 0.5:
            i = rng.randrange(len(BOOK[kind]))
            chosen[part.rstrip("?")] = list(BOOK[kind])[i]
            number += (i + 1) * (part in ("origin?", "taste?", "dish"))
    if "place" in chosen:
        chosen["in"] = "在"
    if "origin" in chosen:
        chosen["from"] = "的"
    zh = [part for part in _ZH if part in chosen]
    en = [part for part in _EN if part in chosen]
    return ([chosen[part] for part in zh],
            [ENTRIES[chosen[part]][1] if chosen[part] else part
             for part in en],
            [zh.index(part) if part in zh else -1 for part in en],
            number % 4 == 0)


def sample(count, rng, *, held_out=False):
    """Draw `count` pairs as tensors, padded on the right with 0.

    Returns
    -------
    source, lengths : Tensor of int, (count, 9), (count,)
    target : Tensor of int, (count, 13)
        ``<s>``, the English words, ``</s>``.
    links : Tensor of int, (count, 12)
        Links of the words after ``<s>``: entry t belongs to the row that
        *predicts* word t, the decoder's position t. −1 where there is none.
    """
    source = torch.zeros(count, S, dtype=torch.long)
    target = torch.zeros(count, T, dtype=torch.long)
    links = torch.full((count, T - 1), -1)
    for i in range(count):
        zh, en, pairs, held = pair(rng)
        while held != held_out:
            zh, en, pairs, held = pair(rng)
        source[i, :len(zh)] = torch.tensor([SOURCE.index(w) for w in zh])
        en = ["<s>", *en, "</s>"]
        target[i, :len(en)] = torch.tensor([TARGET.index(w) for w in en])
        links[i, :len(pairs)] = torch.tensor(pairs)
    return source, (source > 0).sum(-1), target, links


def _block(d_model, heads, cross=False):
    return Block(
        MultiHeadAttention(d_model, heads),
        nn.Sequential(nn.Linear(d_model, 2 * d_model), nn.GELU(),
                      nn.Linear(2 * d_model, d_model)),
        cross_attention=MultiHeadAttention(d_model, heads) if cross else None)


class Translator(nn.Module):
    """Encoder and decoder, one head of cross-attention between them.

    Parameters
    ----------
    heads : int
    blocks : int
        Of the encoder; 0 leaves words with their positions. The decoder has
        one block.
    values : {"encoded", "words"}
        What cross-attention's values are made from: like its keys, from the
        encoder's output, or from the bare words, which heard of no other.
    std : float
        Of the embeddings before training; GPT-2 and BERT start with 0.02.
    """

    def __init__(self, heads=1, blocks=1, values="encoded", std=0.02,
                 d_model=32):
        super().__init__()
        self.values = values
        self.source = nn.Embedding(len(SOURCE), d_model)
        self.target = nn.Embedding(len(TARGET), d_model)
        self.places = nn.ModuleList(nn.Embedding(n, d_model) for n in (S, T))
        for embedding in (self.source, self.target, *self.places):
            nn.init.normal_(embedding.weight, std=std)
        self.encoder = nn.ModuleList(
            _block(d_model, heads) for _ in range(blocks))
        self.decoder = _block(d_model, heads, cross=True)
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(3))
        self.read_out = nn.Linear(d_model, len(TARGET))

    def _places(self, side, length):
        return cast(nn.Embedding, self.places[side]).weight[:length]

    def encode(self, source, lengths):
        """What keys and what values are made from, two of (B, S, d_model)."""
        words = self.source(source)
        x = words + self._places(0, source.shape[1])
        for block in self.encoder:
            x = block(
                x, attn_mask=padding_mask(lengths, source.shape[1]))
        x = self.norms[0](x)
        return x, x if self.values == "encoded" else self.norms[1](words)

    def decode(self, encoded, lengths, target):
        """Scores of each next word and cross-attention's weights.

        (B, T) -> (B, T, words) and (B, H, T, S).
        """
        x = self.target(target) + self._places(1, target.shape[1])
        keys_and_values = self.decoder.cross_attention.project_source(*encoded)
        x, _, weights = self.decoder(
            x, is_causal=True, source=keys_and_values, return_weights=True,
            source_mask=padding_mask(lengths, encoded[0].shape[1]))
        return self.read_out(self.norms[2](x)), weights

    def forward(self, source, lengths, target):
        """`encode`, then `decode`."""
        return self.decode(self.encode(source, lengths), lengths, target)


class Continuer(nn.Module):
    """A decoder alone: source and target are one text, source first."""

    def __init__(self, heads=1, blocks=2, std=0.02, d_model=32):
        super().__init__()
        self.word = nn.Embedding(len(SOURCE) + len(TARGET), d_model)
        self.place = nn.Embedding(S + T, d_model)
        for embedding in (self.word, self.place):
            nn.init.normal_(embedding.weight, std=std)
        self.blocks = nn.ModuleList(
            _block(d_model, heads) for _ in range(blocks))
        self.norm = nn.LayerNorm(d_model)
        self.read_out = nn.Linear(d_model, len(TARGET))

    def forward(self, source, lengths, target):
        """As `Translator`; the weights of all blocks, (B, blocks * H, T, S).

        They are what target rows give to source columns; the rest of each
        row goes to the target's own words.
        """
        text = torch.cat([source, target + len(SOURCE)], dim=1)
        x = self.word(text) + self.place.weight[:text.shape[1]]
        mask = (text > 0)[:, None, None]  # padding of the source, as a key
        crossing = []
        for block in self.blocks:
            x, weights = block(
                x, attn_mask=mask, is_causal=True, return_weights=True)
            crossing.append(weights[:, :, S:, :S])
        scores = self.read_out(self.norm(x[:, S:]))
        return scores, torch.cat(crossing, dim=1)


def translate(model, source, lengths):
    """Greedy translations, ids (B, 13); what follows ``</s>`` is 0."""
    ids = torch.ones(len(source), 1, dtype=torch.long)  # <s>
    with torch.no_grad():
        while ids.shape[1] < T:
            new = model(source, lengths, ids)[0][:, -1:].argmax(-1)
            over = (ids == TARGET.index("</s>")).any(-1, keepdim=True)
            ids = torch.cat([ids, new.masked_fill(over, 0)], dim=1)
    return ids


def error_rate(weights, links):
    """Alignment error rate of the largest weights.

    Each linked word proposes one link, to where its row (..., T, S) of the
    weights is largest; then the rate is the share of proposals that are wrong.
    """
    right = weights.argmax(-1) == links
    return 1 - right[links >= 0].float().mean().item()


def carried(model, source, lengths, target, links, rng):
    """Which encoder vectors a word's translation listens to.

    In each sentence one Chinese word is exchanged for another of its kind.
    The decoder then gets the new sentence's vectors in some places and the
    old one's in the others.

    Returns
    -------
    own, others : float
        Share of sentences in which the word's translation changes with it,
        when only the vector in its own place is new; when only all others are.
    """
    other, rows = source.clone(), []
    for i, row in enumerate(links.tolist()):
        t = rng.choice([t for t, s in enumerate(row) if s >= 0
                        and SOURCE[source[i, s]] not in "在的"])
        old = SOURCE[source[i, row[t]]]
        kind = next(part for part in BOOK.values() if old in part)
        new = rng.choice([zh for zh in kind if zh != old])
        other[i, row[t]] = SOURCE.index(new)
        rows.append((t, row[t], TARGET.index(ENTRIES[new][1])))
    t, s, wanted = torch.tensor(rows).T
    place = (torch.arange(S) == s[:, None])[..., None]
    follows = []
    for where in (place, ~place):
        with torch.no_grad():
            old, new = (model.encode(x, lengths) for x in (source, other))
            mixed = [torch.where(where, b, a)
                     for a, b in zip(old, new, strict=True)]
            scores, _ = model.decode(mixed, lengths, target[:, :-1])
        got = scores[torch.arange(len(t)), t].argmax(-1)
        follows.append((got == wanted).float().mean().item())
    return follows


def run(seed, *, kind=Translator, shuffled=False, steps=500, **options):
    """Train a model on 3,000 pairs; examine it on 500 held-out ones.

    Parameters
    ----------
    seed : int
        Seeds the pairs and the model.
    kind, options
        `Translator` or `Continuer`, and what it takes.
    shuffled : bool
        Null control: Chinese and English dealt out at random.

    Returns
    -------
    model : Module
    row : dict
        ``exact``: share of translations without a mistake. ``error``: of the
        mean of all heads, see `error_rate`; ``content``: without *in* and
        *from*; ``best``, ``worst``: of single heads. ``own``, ``others``:
        see `carried` (encoder–decoder only).
    """
    texts, rng = random.Random(seed), torch.Generator().manual_seed(seed)
    source, lengths, target, _ = sample(3000, texts)
    if shuffled:
        target = target[torch.randperm(len(target), generator=rng)]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = kind(**options)

    def loss():
        i = torch.randint(len(source), (64,), generator=rng)
        scores, _ = model(source[i], lengths[i], target[i, :-1])
        return F.cross_entropy(scores.flatten(0, 1), target[i, 1:].flatten(),
                               ignore_index=0)

    train(model, loss, steps, lr=0.005)
    source, lengths, target, links = sample(500, texts, held_out=True)
    with torch.no_grad():
        _, weights = model(source, lengths, target[:, :-1])
    heads = [error_rate(w, links) for w in weights.unbind(1)]
    exact = (translate(model, source, lengths) == target).all(-1)
    content = links.masked_fill(target[:, 1:] < len(FUNCTION), -1)
    row = {"exact": exact.float().mean().item(),
           "error": error_rate(weights.mean(1), links),
           "content": error_rate(weights.mean(1), content),
           "best": min(heads), "worst": max(heads)}
    if kind is Translator:
        row["own"], row["others"] = carried(
            model, source, lengths, target, links, texts)
    return model, row


def sweep(seeds=range(5)):
    """Yield rows: exact matches and alignment errors, by setting."""
    settings: dict[str, dict[str, Any]] = {
        "plain": {},
        "four heads": {"heads": 4},
        "two blocks": {"blocks": 2},
        "no encoder": {"blocks": 0},
        "large words": {"std": 0.3},
        "values: words": {"values": "words"},
        "decoder only": {"kind": Continuer},
        "shuffled": {"shuffled": True},
        "untrained": {"steps": 0},
    }
    for setting, options in settings.items():
        for seed in seeds:
            yield {"setting": setting, "seed": seed, **run(seed, **options)[1]}
