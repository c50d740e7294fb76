"""An interactive heatmap of attention that needs no server.

Python writes a table anyone can read: on GitHub, in print, with a screen
reader, without scripts. `explorer.js`, beside this file, upgrades it in a
browser: temperature, √d_k, causal mask and heads can be changed, and a
sentence says what a cell means. A notebook's output carries the script; the
pages of the book load it once, from the site itself.
"""

import functools
import json
import math
from collections.abc import Iterable
from html import escape
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from .reference import softmax

_DIGITS = 3  # decimals of the scores that are written


def explore(
    scores: ArrayLike | tuple[ArrayLike, ArrayLike],
    queries: Iterable[str], keys: Iterable[str], *,
    d_k: int | None = None, heads: Iterable[str] | None = None,
    is_causal: bool | None = False,
    caption: str = "Attention weights: rows are queries, columns are keys.",
) -> "Explorer":
    """Show attention weights as a table that a browser makes interactive.

    Parameters
    ----------
    scores : array_like, (L, S) or (H, L, S), or a pair of such arrays
        Raw scores q·k, neither divided nor masked; ``-inf`` means "never".
        Or the pair (query, key), of shapes (..., L, d_k) and (..., S, d_k).
        They are rounded to three decimals, and all else follows from those:
        compute them in float64, or another machine rounds another way.
    queries, keys : sequence of str
        L and S labels.
    d_k : int, optional
        Width of a query; needed with scores, known from a pair. With 1
        there is nothing to divide by, and no switch for it.
    heads : sequence of str, optional
        H names; "0", "1" … if not given.
    is_causal : bool or None
        Whether the causal mask is on at first. The reader can change it if
        L == S, unless it is None: no mask, and no switch for one.
    caption : str
        What the table shows.

    Returns
    -------
    Explorer
        Shows itself at the end of a cell. The same input gives the same
        output, to the last character.

    Raises
    ------
    ValueError
        Shapes, labels, names or d_k that do not fit; NaN or +inf in scores.

    See Also
    --------
    qkv.plot.heatmap : the same as a picture.
    """
    scores, d_k = _scores(scores, d_k)
    H, L, S = scores.shape
    queries, keys = list(map(str, queries)), list(map(str, keys))
    if (len(queries), len(keys)) != (L, S):
        raise ValueError(
            f"scores {scores.shape} need {L} queries and {S} keys, got "
            f"{len(queries)} queries and {len(keys)} keys")
    heads = list(map(str, range(H) if heads is None else heads))
    if len(heads) != H:
        raise ValueError(
            f"scores {scores.shape} need {H} heads, got {len(heads)} names")
    if is_causal and L != S:
        raise ValueError(
            f"is_causal=True needs as many queries as keys, got L={L}, S={S}")
    switch = None if L != S or is_causal is None else bool(is_causal)
    return Explorer(scores, queries, keys, d_k, heads, switch, caption)


class Explorer:
    """What `explore` returns: the table, as HTML and as plain text.

    Attributes
    ----------
    scores : ndarray, (H, L, S)
        Rounded, as they are written.
    weights : ndarray, (L, S)
        Of the first head, as shown before anybody changes anything.
    """

    def __init__(self, scores, queries, keys, d_k, heads, is_causal, caption):
        self.scores, self.queries, self.keys = scores, queries, keys
        self.d_k, self.heads, self.is_causal = d_k, heads, is_causal
        self.caption = caption
        L, S = scores.shape[1:]
        may = np.tri(L, S, dtype=bool) if is_causal else np.ones((L, S), bool)
        self.may = may & (scores[0] > -np.inf)
        self.weights = softmax(
            np.where(self.may, scores[0] / math.sqrt(d_k), -np.inf))

    def _text(self, i, j):
        """0 if the key is forbidden, else two decimals, halves up."""
        if not self.may[i, j]:
            return "0"
        return f"{math.floor(self.weights[i, j] * 100 + 0.5) / 100:.2f}"

    def __repr__(self):
        numbers = [[self._text(i, j) for j in range(len(self.keys))]
                   for i in range(len(self.queries))]
        labels = "", *self.queries
        left = max(map(len, labels))
        lines = [
            "  ".join([label.ljust(left), *(
                cell.rjust(max(4, len(k)))
                for cell, k in zip(row, self.keys, strict=True))])
            for label, row in zip(labels, [self.keys, *numbers], strict=True)]
        return "\n".join([self.caption, *lines])

    def _repr_html_(self):
        head = "".join(f'<th scope="col">{escape(k)}</th>' for k in self.keys)
        body = "".join(
            f'<tr><th scope="row">{escape(q)}</th>'
            + "".join(map(functools.partial(self._cell, i),
                          range(len(self.keys)))) + "</tr>\n"
            for i, q in enumerate(self.queries))
        data = escape(self._data(), quote=False).replace("'", "&#x27;")
        return (
            f"<qkv-attention data-attention='{data}'>\n"
            f"<table><caption>{escape(self.caption)}</caption>\n"
            f'<thead><tr><th scope="col">query ↓ key →</th>{head}</tr></thead>'
            f"\n<tbody>{body}</tbody></table></qkv-attention>\n"
            f"<script>{_script()}</script>")

    def _cell(self, i, j):
        # Blue over the page's own colour: at most 0.6, so that the page's
        # text keeps a contrast of 4.5 to 1, be the page light or dark.
        blue = f"rgba(47,127,193,{0.6 * self.weights[i, j]:.2f})"
        return f'<td style="background:{blue}">{self._text(i, j)}</td>'

    def _data(self):
        # JSON has no infinity: null is "never". + 0.0 turns -0.0 into 0.0.
        scores = [[[x + 0.0 if x > -np.inf else None for x in row]
                   for row in head] for head in self.scores.tolist()]
        data = {"d_k": self.d_k, "heads": self.heads,
                "causal": self.is_causal, "scores": scores}
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


#: What a browser runs; the pages of the book load it from this file.
SCRIPT = Path(__file__).with_suffix(".js")


@functools.cache
def _script():
    return SCRIPT.read_text("utf-8")


def _scores(
    scores: ArrayLike | tuple[ArrayLike, ArrayLike], d_k: int | None
) -> tuple[np.ndarray, int]:
    """Scores (H, L, S), rounded, and d_k, from scores or from a pair."""
    if isinstance(scores, tuple):
        query, key = (np.asarray(x, dtype=np.float64) for x in scores)
        if query.shape[-1:] != key.shape[-1:] or min(query.ndim, key.ndim) < 2:
            raise ValueError(
                "query and key need two dimensions and the same width d_k: "
                f"query {query.shape}, key {key.shape}")
        if d_k not in (None, query.shape[-1]):
            raise ValueError(f"d_k is {d_k}, but query {query.shape}")
        d_k = query.shape[-1]
        scores = query @ key.swapaxes(-1, -2)  # (..., L, S)
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim not in (2, 3) or 0 in scores.shape:
        raise ValueError(
            f"scores need shape (L, S) or (H, L, S), got {scores.shape}")
    if np.isnan(scores).any() or (scores == np.inf).any():
        raise ValueError("scores must be numbers or -inf, got NaN or +inf")
    if d_k is None or not d_k > 0:
        raise ValueError(f"scores need a positive d_k, got {d_k}")
    return scores.reshape(-1, *scores.shape[-2:]).round(_DIGITS), d_k
