"""The book's figures: one style, one heatmap, one diagram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap
from numpy.typing import ArrayLike

#: Colours told apart by colour-blind readers, on white and on dark pages.
COLORS = ("#2f7fc1", "#cf7212", "#1b9e77", "#c2538f", "#8c8c8c")
#: From "no weight" to "all the weight".
WEIGHTS = LinearSegmentedColormap.from_list(
    "weights", ["#eef4fa", "#9cc5e6", "#2f7fc1", "#0b3a66"]
)
_INK = "#858585"  # readable on white and on dark pages alike


def style() -> None:
    """Set matplotlib up for this book: transparent figures, quiet axes.

    In a notebook figures become SVG, the same file at each run. Their text
    is drawn as shapes: it looks alike on every machine.
    """
    _svg_in_notebooks()
    plt.rcParams.update({
        "svg.fonttype": "path",
        "svg.hashsalt": "qkv",
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "savefig.facecolor": "none",
        "figure.dpi": 110,
        "figure.constrained_layout.use": True,
        "axes.prop_cycle": plt.cycler(color=COLORS),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
        "legend.labelcolor": _INK,
        "lines.linewidth": 2,
        "font.size": 11,
        **dict.fromkeys(
            ("text.color", "axes.labelcolor", "axes.edgecolor",
             "axes.titlecolor", "xtick.color", "ytick.color"), _INK),
    })


def _svg_in_notebooks() -> None:
    """Show figures as SVG where there is a notebook to show them in."""
    try:
        from IPython import get_ipython
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:
        return
    if get_ipython() is not None:
        set_matplotlib_formats("svg", metadata={"Date": None})


def heatmap(
    weights: ArrayLike, queries: Sequence[str], keys: Sequence[str], *,
    ax: Axes | None = None, title: str | None = None,
    digits: int | None = 2, vmin: float = 0.0, vmax: float = 1.0,
    cmap: Colormap = WEIGHTS,
) -> Axes:
    """Draw attention weights: queries on y, keys on x, a number in each cell.

    Parameters
    ----------
    weights : array_like, (L, S)
    queries, keys : sequence of str
        L and S labels.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if not given.
    title : str, optional
    digits : int or None
        Decimals of the numbers; None writes no numbers.
    vmin, vmax : float
        The ends of the colour scale.
    cmap : matplotlib.colors.Colormap

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the labels do not fit the weights.
    """
    weights = np.asarray(weights)
    if weights.shape != (len(queries), len(keys)):
        raise ValueError(
            f"weights {weights.shape} need {weights.shape} labels, got "
            f"{len(queries)} queries and {len(keys)} keys")
    if ax is None:
        size = 1.6 + 0.62 * len(keys), 1.0 + 0.5 * len(queries)
        _, ax = plt.subplots(figsize=size)
    # No interpolation: an SVG then holds one pixel for each weight.
    ax.imshow(weights, cmap=cmap, vmin=vmin, vmax=vmax, aspect="auto",
              interpolation="none")
    ax.set_xticks(range(len(keys)), keys, rotation=35, ha="right",
                  rotation_mode="anchor")
    ax.set_yticks(range(len(queries)), queries)
    ax.set(xlabel="keys", ylabel="queries", title=title)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    if digits is not None:
        for (i, j), w in np.ndenumerate(weights):
            r, g, b, _ = cmap((w - vmin) / (vmax - vmin))
            # White where it has more contrast than black: luminance < 0.18.
            dark = 0.21 * r**2.2 + 0.72 * g**2.2 + 0.07 * b**2.2 < 0.18
            ax.text(j, i, f"{w:.{digits}f}", ha="center", va="center",
                    fontsize=9, color="white" if dark else "black")
    return ax


def diagram(
    boxes: Mapping[str, tuple[Any, ...]], arrows: Sequence[tuple[str, str]],
    *, ax: Axes | None = None,
) -> Axes:
    """Draw steps as boxes and what flows between them as arrows.

    Parameters
    ----------
    boxes : dict, name -> (x, y, text) or (x, y, text, color)
        Centre of each box; one unit is a box's width, y grows downwards.
    arrows : sequence of (name, name)
        From one box to another.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    KeyError
        If an arrow names a box that is not there.
    """
    xs, ys = ([box[i] for box in boxes.values()] for i in (0, 1))
    if ax is None:
        size = 1.65 * (max(xs) - min(xs) + 1), max(ys) - min(ys) + 1
        _, ax = plt.subplots(figsize=size)
    drawn = {}
    for name, (x, y, text, *color) in boxes.items():
        edge = color[0] if color else _INK
        drawn[name] = ax.text(
            x, y, text, ha="center", va="center", fontsize=12,
            linespacing=1.4,
            bbox={"boxstyle": "round,pad=0.4", "fc": "none", "ec": edge})
    for start, end in arrows:
        ax.annotate(
            "", xy=boxes[end][:2], xytext=boxes[start][:2],
            arrowprops={
                "arrowstyle": "->", "color": _INK, "shrinkA": 0, "shrinkB": 0,
                "patchA": drawn[start].get_bbox_patch(),
                "patchB": drawn[end].get_bbox_patch()})
    ax.set(xlim=(min(xs) - 0.5, max(xs) + 0.5),
           ylim=(max(ys) + 0.5, min(ys) - 0.5))
    ax.axis("off")
    return ax
