"""Wrong attentions, each one change away from a correct one.

`attention` and `Heads` are compact and correct: they pass the whole battery
of `contract`. Every wrong one is named after its mistake and made by
replacing one piece of their source by another.
"""

import math

import numpy as np
import torch
from torch import nn

from contract import numpy_array, torch_array, with_change
from qkv import reference
from qkv.checks import check_mask, check_options, score_shape
from qkv.masks import as_tensor


def attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False,
    *, scale=None, enable_gqa=False, softcap=None, return_weights=False,
):  # fmt: skip
    """Do it right, in few lines, for numbers that are not extreme."""
    shape = score_shape(query, key, value, enable_gqa)
    check_options(
        shape, query.dtype, is_causal=is_causal, scale=scale,
        softcap=softcap, dropout_p=dropout_p, enable_gqa=enable_gqa,
        return_weights=return_weights,
    )  # fmt: skip
    if enable_gqa:
        heads, kv_heads = query.shape[-3], key.shape[-3]
        key = key.repeat_interleave(heads // kv_heads, dim=-3)
        value = value.repeat_interleave(heads // value.shape[-3], dim=-3)
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1])
    scores = query * scale @ key.mT
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    allowed = torch.ones(shape[-2:], dtype=torch.bool)
    if is_causal:
        allowed = allowed.tril()
    if attn_mask is not None:
        check_mask(attn_mask, shape)
        attn_mask = as_tensor(attn_mask, query.device)
        if attn_mask.dtype == torch.bool:
            allowed = allowed & attn_mask
        else:
            scores = scores + attn_mask.to(scores.dtype)
    masked = scores.masked_fill(~allowed, -math.inf)
    empty = (masked == -math.inf).all(-1, keepdim=True)
    weights = masked.masked_fill(empty, 0).softmax(-1)
    weights = weights.masked_fill(empty, 0)
    used = torch.dropout(weights, dropout_p, train=True)
    output = used @ value
    return (output, weights) if return_weights else output


SCALE = "1 / math.sqrt(query.shape[-1])"
SOFTMAX = "masked.masked_fill(empty, 0).softmax(-1)"
FILL = "masked = scores.masked_fill(~allowed, -math.inf)"
AND = "allowed = allowed & attn_mask"
RESULT = "(output, weights)"
CHANGES = {  # name: old, new
    # the scale
    "scale 1/d_k": (SCALE, "1 / query.shape[-1]"),
    "scale missing": (SCALE, "1.0"),
    "scale √d_k, multiplied": (SCALE, "math.sqrt(query.shape[-1])"),
    "scale 1/√d_model": (
        SCALE, "1 / math.sqrt(query[0].numel() / query.shape[-2])"),
    "scale 1/√heads": (SCALE, "1 / math.sqrt(query[0, :, 0, 0].numel())"),
    "scale 1/√S": (SCALE, "1 / math.sqrt(key.shape[-2])"),
    "scale after the softmax": (
        "query * scale @ key.mT", "query @ key.mT; value = value * scale"),
    "custom scale ignored": ("if scale is None:", "if True:"),
    "custom scale of 0 taken for none": ("if scale is None:", "if not scale:"),
    # the softmax
    "softmax over the queries": ("softmax(-1)", "softmax(-2)"),
    "softmax over the heads": ("softmax(-1)", "softmax(-3)"),
    "softmax over the batch": ("softmax(-1)", "softmax(0)"),
    "softmax without subtracting the largest": (
        SOFTMAX, "masked.exp() / masked.exp().sum(-1, keepdim=True)"),
    "weights not normalised at all": ("softmax(-1)", "sigmoid()"),
    # the mask
    "mask inverted": (AND, "allowed = allowed & ~attn_mask"),
    "mask computed but not assigned": (
        FILL, "masked = scores; scores.masked_fill(~allowed, -math.inf)"),
    "mask forgotten": ("if attn_mask is not None:", "if False:"),
    "mask fills with 0": (FILL, "masked = scores * allowed"),
    "mask fills with -1e9": (
        FILL, "masked = scores.masked_fill(~allowed, -1e9)"),
    "mask fills with the smallest float": (
        FILL, "masked = scores.where(allowed, torch.finfo(scores.dtype).min)"),
    "0/1 mask added to the scores": (AND, "scores = scores + attn_mask"),
    "mask after the softmax": (SOFTMAX, "scores.softmax(-1) * allowed"),
    "mask after the softmax, renormalised": (
        SOFTMAX,
        "nn.functional.normalize(scores.softmax(-1) * allowed, p=1, dim=-1)"),
    "float mask only seen where it is -inf": (
        "scores = scores + attn_mask.to(scores.dtype)",
        "allowed = allowed & (attn_mask > -math.inf)"),
    "float mask added before scaling": (
        "scores + attn_mask.to(scores.dtype)",
        "scores + attn_mask.to(scores.dtype) * scale"),
    "float mask kept in its own precision": (
        "attn_mask.to(scores.dtype)", "attn_mask"),
    "mask must be a tensor": (
        "as_tensor(attn_mask, query.device)", "attn_mask"),
    "mask of the first sequence used for all": (
        AND, "allowed = allowed & attn_mask[(0,) * (attn_mask.ndim - 2)]"),
    # causal
    "causal off by one: not itself": (".tril()", ".tril(-1)"),
    "causal off by one: one of the future": (".tril()", ".tril(1)"),
    "causal upside down": (".tril()", ".triu()"),
    "causal though not asked for": ("if is_causal:", "if True:"),
    "causal ignored": ("if is_causal:", "if False:"),
    "causal ignored when a mask is given": (AND, "allowed = attn_mask"),
    "mask ignored when causal is given": (
        "if attn_mask is not None:",
        "if attn_mask is not None and not is_causal:"),
    "allowed by the mask or by causal": (
        AND, "allowed = (allowed if is_causal else ~allowed) | attn_mask"),
    "causal top-left, L ≠ S accepted silently": (
        "is_causal=is_causal,", "is_causal=False,"),
    # empty rows
    "NaN on empty rows": (
        "(masked == -math.inf).all(-1, keepdim=True)", "torch.tensor(False)"),
    "NaN only in the gradients of empty rows": (
        "masked.masked_fill(empty, 0)", "masked"),
    "mean on empty rows": ("weights = weights.masked_fill(empty, 0)", "pass"),
    # heads, roles, dimensions
    "key and value heads tiled": (
        "key.repeat_interleave(heads // kv_heads, dim=-3)",
        "torch.cat([key] * (heads // kv_heads), dim=-3)",
        "value.repeat_interleave(heads // value.shape[-3], dim=-3)",
        "torch.cat([value] * (heads // value.shape[-3]), dim=-3)"),
    "keys handed over as values": ("used @ value", "used @ key"),
    "key and value swapped": (
        "    shape =", "    key, value = value, key\n    shape ="),
    "values of the first head given to all": (
        "used @ value", "used @ value[:, :1]"),
    "dimensions counted from the front": ("key.mT", "key.transpose(2, 3)"),
    # precision, gradients
    "half precision comes back as float32": (
        "used @ value", "used.float() @ value.float()"),
    "float16 overflows before it is scaled": (
        "query * scale @ key.mT", "query @ key.mT * scale"),
    "query scaled in place": ("query * scale", "query.mul_(scale)"),
    "no gradient through the weights": (
        "used @ value", "used.detach() @ value"),
    # dropout
    "dropout unless told otherwise": ("dropout_p=0.0", "dropout_p=0.1"),
    "dropout ignored": ("used @ value", "weights @ value"),
    "dropout not made up for": (
        "used @ value", "used * (1 - dropout_p) @ value"),
    "dropout of any size accepted": (" dropout_p=dropout_p,", ""),
    # softcap
    "softcap ignored": ("if softcap is not None:", "if False:"),
    "softcap after the mask": (
        "if softcap is not None:", "if False:",
        FILL, FILL + "\n    masked = masked if softcap is None "
        "else softcap * torch.tanh(masked / softcap)"),
    "softcap of 0 accepted": ("softcap=softcap,", ""),
    # the weights
    "weights averaged over the heads": (RESULT, "(output, weights.mean(1))"),
    "weights after dropout": (RESULT, "(output, used)"),
    "weights without the mask": (RESULT, "(output, scores.softmax(-1))"),
    "another path when weights are asked for": (
        "used @ value", "used @ value / (1 + return_weights)"),
    # the checks
    "any number or switch accepted": (
        "check_options(\n        shape, query.dtype, is_causal=is_causal, "
        "scale=scale,\n        softcap=softcap, dropout_p=dropout_p, "
        "enable_gqa=enable_gqa,\n        return_weights=return_weights,\n"
        "    )  # fmt: skip", "pass"),
    "scale and enable_gqa by position": (
        "    *, scale=None", "    scale=None"),
    "masks as they come": (
        "as_tensor(attn_mask, query.device)",
        "torch.as_tensor(attn_mask + 0)"),
    "inputs not checked": (
        "score_shape(query, key, value, enable_gqa)",
        "torch.Size((*query.shape[:-1], key.shape[-2]))"),
    "mask not checked": ("check_mask(attn_mask, shape)", "pass"),
}  # fmt: skip


class Heads(nn.Module):
    """Several heads done right, in few lines."""

    def __init__(self, d_model, heads, kv_heads=None, *, dropout=0.0):
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads or heads
        self.dropout = dropout
        d_kv = d_model // heads * self.kv_heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_kv)
        self.w_v = nn.Linear(d_model, d_kv)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(
        self, query, key=None, value=None, attn_mask=None, is_causal=False,
        *, cache=None, return_weights=False,
    ):  # fmt: skip
        """Split, attend, merge."""
        batch, L, d_model = query.shape
        source = query if key is None else key
        q, k, v = self.w_q(query), self.w_k(source), self.w_v(source)
        q = q.view(batch, L, self.heads, -1).transpose(1, 2)
        k = k.view(batch, -1, self.kv_heads, q.shape[-1]).transpose(1, 2)
        v = v.view(batch, -1, self.kv_heads, q.shape[-1]).transpose(1, 2)
        if cache is not None:
            k, v = cache.update(k, v)
        S = k.shape[2]
        if is_causal:
            corner = torch.ones(L, S, dtype=torch.bool).tril(S - L)
            attn_mask = corner if attn_mask is None else corner & attn_mask
        output, weights = attention(
            q, k, v, attn_mask, self.dropout * self.training,
            enable_gqa=True, return_weights=True,
        )  # fmt: skip
        output = output.transpose(1, 2).reshape(batch, L, d_model)
        output = self.w_o(output)
        return (output, weights) if return_weights else output


HEAD_CHANGES = {
    "heads split by a plain view": (
        "q.view(batch, L, self.heads, -1).transpose(1, 2)",
        "q.view(batch, self.heads, L, -1)"),
    "heads merged without the transpose": (
        "output.transpose(1, 2).reshape(", "output.reshape("),
    "heads interleaved instead of cut": (
        "q.view(batch, L, self.heads, -1).transpose(1, 2)",
        "q.view(batch, L, -1, self.heads).permute(0, 3, 1, 2)"),
    "W_O forgotten": ("output = self.w_o(output)", "pass"),
    "values made by W_K": ("self.w_v(source)", "self.w_k(source)"),
    "cross-attention with the roles exchanged": (
        "source = query if key is None else key",
        "source = query; query = query if key is None else key[:, :L]"),
    "cross-attention reads the query": (
        "source = query if key is None else key", "source = query"),
    "sequence taken for the batch": (
        "batch, L, d_model = query.shape",
        "query = query.transpose(0, 1); batch, L, d_model = query.shape",
        "output = self.w_o(output)",
        "output = self.w_o(output).transpose(0, 1)"),
    "mask not passed on": (
        "q, k, v, attn_mask,", "q, k, v, None,"),
    "padding ignored when causal": (
        "corner if attn_mask is None else corner & attn_mask", "corner"),
    "dropout in evaluation": ("self.dropout * self.training", "self.dropout"),
    "dropout never": ("self.dropout * self.training", "0.0"),
    "weights averaged over the heads (module)": (
        "(output, weights)", "(output, weights.mean(1))"),
    "cache anchored top-left": (".tril(S - L)", ".tril()"),
    "cache without a mask in the prefill": (
        "if is_causal:", "if is_causal and cache is None:"),
    "cache filled but not read": (
        "k, v = cache.update(k, v)", "cache.update(k, v)"),
}  # fmt: skip


def upcasts(query, key, value, attn_mask=True, **options):
    """Take the square root with NumPy: a float64 that spreads."""
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    return reference.softmax(np.where(attn_mask, scores, -np.inf)) @ value


WRONG = {
    name: (with_change(attention, *change), torch_array)
    for name, change in CHANGES.items()
}
WRONG["np.sqrt turns float32 into float64"] = upcasts, numpy_array
WRONG_HEADS = {
    name: with_change(Heads, *change) for name, change in HEAD_CHANGES.items()
}
