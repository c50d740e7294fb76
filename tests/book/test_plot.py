"""The heatmap says which axis is which, and its numbers can be read."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from qkv import plot

WEIGHTS = np.array([[0.0, 1.0, 0.25], [0.5, 0.125, 0.375]])


@pytest.fixture
def ax():
    made = plot.heatmap(WEIGHTS, ["q0", "q1"], ["k0", "k1", "k2"], digits=3)
    yield made
    made.figure.clear()
    plot.plt.close(made.figure)


def test_queries_go_down_and_keys_across(ax):
    """Kills a transposed picture and swapped labels."""
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("keys", "queries")
    assert [t.get_text() for t in ax.get_xticklabels()] == ["k0", "k1", "k2"]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["q0", "q1"]
    np.testing.assert_array_equal(ax.images[0].get_array(), WEIGHTS)
    assert ax.yaxis_inverted()  # the first query is on top
    written = {t.get_position(): t.get_text() for t in ax.texts}
    assert written[(1, 0)] == "1.000" and written[(0, 1)] == "0.500"


def test_numbers_stand_out_from_their_cell():
    """Kills white on pale and dark on dark: WCAG asks for 4.5 to 1."""
    shades = np.linspace(0, 1, 101)[None]
    ax = plot.heatmap(shades, ["q"], [""] * 101)

    def luminance(color):
        c = np.array(to_rgb(color))
        linear = np.where(c <= 0.04, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    for text in ax.texts:
        cell = luminance(plot.WEIGHTS(shades[0, text.get_position()[0]]))
        pair = sorted([cell, luminance(text.get_color())])
        assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5, text.get_text()
    plot.plt.close(ax.figure)


def test_labels_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"weights \(2, 3\).*3 queries"):
        plot.heatmap(WEIGHTS, ["a", "b", "c"], ["a", "b"])
