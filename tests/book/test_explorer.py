"""The explorer's table is right before any script has run."""

import json
import math
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from qkv import explorer, reference
from qkv.explorer import explore

QUERIES = ["<b>q0</b>", "it's", 'say "q2"']
KEYS = ["a & b", "</script>", "花椒", "k3"]
SCORES = np.random.default_rng(0).normal(0, 3, (2, 3, 4))


def show(*args, **options):
    """Return the output's element, parsed, and the HTML it comes from."""
    html = explore(*args, **options)._repr_html_()
    table, script = re.fullmatch(
        r"(.*)<script>(.*)</script>", html, re.DOTALL
    ).groups()
    assert "</script" not in script
    return ET.fromstring(table), html  # well-formed, each tag closed


def texts(tree, path):
    return ["".join(tag.itertext()) for tag in tree.findall(path)]


def cells(tree):
    """The numbers of the table, (L, S)."""
    rows = tree.findall(".//tbody/tr")
    return np.array([[float(c) for c in texts(r, "td")] for r in rows])


def data(tree):
    return json.loads(tree.attrib["data-attention"])


def expected(scores, d_k, mask=None):
    """Weights by qkv.reference: queries are the scores, keys are units."""
    eye = np.eye(scores.shape[-1])
    return reference.scaled_dot_product_attention(
        scores, eye, eye, mask, scale=1 / math.sqrt(d_k)
    )


def test_weights_are_those_of_the_first_head_divided_by_the_root():
    """Kills a missing √, softmax over queries, the last head, no rounding."""
    tree, _ = show(SCORES, QUERIES, KEYS, d_k=5)
    want = expected(SCORES[0].round(3), 5)
    np.testing.assert_allclose(cells(tree), want, atol=0.005 + 1e-12)
    np.testing.assert_allclose(want.sum(-1), 1)
    assert all(re.fullmatch(r"\d\.\d\d", c) for c in texts(tree, ".//td"))
    np.testing.assert_array_equal(data(tree)["scores"], SCORES.round(3))


def test_a_pair_is_multiplied_and_brings_its_width():
    rng = np.random.default_rng(1)
    query, key = rng.normal(size=(2, 3, 7)), rng.normal(size=(2, 4, 7))
    pair = show((query, key), QUERIES, KEYS)[1]
    assert pair == show(query @ key.mT, QUERIES, KEYS, d_k=7)[1]


def test_halves_are_rounded_up_as_the_script_does():
    """Kills Python's 0.125 -> 0.12, which would jump to 0.13 in a page."""
    tree, _ = show(np.zeros((1, 8)), "q", "abcdefgh", d_k=1)
    assert set(texts(tree, ".//td")) == {"0.13"}


def test_the_table_names_its_rows_and_columns():
    """Kills swapped labels, and labels that are read as tags."""
    tree, html = show(SCORES, QUERIES, KEYS, d_k=5, caption="a < b & 'c'")
    assert texts(tree, "table/caption") == ["a < b & 'c'"]
    assert texts(tree, ".//th[@scope='row']") == QUERIES
    assert texts(tree, ".//thead//th[@scope='col']")[1:] == KEYS
    assert html.count("<b>") == 0 and html.count("</script>") == 1


def test_heads_are_named_and_escaped():
    tree, _ = show(SCORES, QUERIES, KEYS, d_k=5, heads=["it's", "<&"])
    assert data(tree)["heads"] == ["it's", "<&"]
    assert data(show(SCORES, QUERIES, KEYS, d_k=5)[0])["heads"] == ["0", "1"]


def test_the_same_input_gives_the_same_output():
    """Kills a random id; minus zero differs between machines."""
    one = show(SCORES, QUERIES, KEYS, d_k=5)[1]
    assert one == show(SCORES.copy(), tuple(QUERIES), KEYS, d_k=5)[1]
    tiny = np.array([[-0.0004, 0.0004]])
    assert "-0.0" not in show(tiny, "q", "kl", d_k=1)[1]
    assert " id=" not in one.partition("<script>")[0]


@pytest.mark.parametrize("first", [True, False])
def test_causal_mask_and_its_switch(first):
    scores = SCORES[0, :, :3]
    tree, _ = show(scores, QUERIES, QUERIES, d_k=4, is_causal=first)
    mask = np.tri(3, dtype=bool) | (not first)
    want = expected(scores.round(3), 4, mask)
    np.testing.assert_allclose(cells(tree), want, atol=0.005 + 1e-12)
    zeros = [text == "0" for text in texts(tree, ".//td")]
    np.testing.assert_array_equal(zeros, ~mask.ravel())
    assert data(tree)["causal"] is first
    # No switch where a triangle makes no sense.
    for options in ({"is_causal": None}, {}):
        wide = SCORES if options == {} else scores
        keys = KEYS if options == {} else QUERIES
        tree, _ = show(wide, QUERIES, keys, d_k=4, **options)
        assert data(tree)["causal"] is None


def test_never_is_zero_and_a_row_with_nobody_is_all_zero():
    """Kills NaN, an even spread, and JSON that a browser cannot read."""
    scores = np.array([[1.0, -np.inf], [-np.inf, -np.inf]])
    tree, html = show(scores, "pq", "kl", d_k=1)
    assert texts(tree, ".//td") == ["1.00", "0", "0", "0"]
    assert data(tree)["scores"] == [[[1, None], [None, None]]]
    assert "NaN" not in html and "Infinity" not in html


def test_plain_text_is_a_table_too():
    text = repr(explore(SCORES, "abc", KEYS, d_k=5, caption="Weights."))
    caption, head, *rows = text.splitlines()
    assert caption == "Weights." and head.split()[-1] == "k3"
    assert [row.split()[0] for row in rows] == ["a", "b", "c"]
    want = expected(SCORES[0].round(3), 5)[2]
    np.testing.assert_allclose(
        [float(n) for n in rows[2].split()[1:]], want, atol=0.006
    )


@pytest.mark.parametrize(
    ("args", "options", "message"),
    [
        ((SCORES, "ab", KEYS), {}, r"\(2, 3, 4\) .*got 2 queries and 4 keys"),
        ((SCORES, "abc", "abc"), {}, r"\(2, 3, 4\) .*3 queries and 3 keys"),
        ((SCORES[0, 0], "a", KEYS), {}, r"\(L, S\) or \(H, L, S\).*\(4,\)"),
        ((np.zeros((0, 4)), "", KEYS), {}, r"\(0, 4\)"),
        ((SCORES, "abc", KEYS), {"heads": "abc"}, r"2 heads, got 3 names"),
        ((SCORES, "abc", KEYS), {"is_causal": True}, "L=3, S=4"),
        ((SCORES, "abc", KEYS), {"d_k": None}, "positive d_k, got None"),
        ((SCORES, "abc", KEYS), {"d_k": 0}, "positive d_k, got 0"),
        ((SCORES * np.nan, "abc", KEYS), {}, "NaN"),
        ((SCORES * np.inf, "abc", KEYS), {}, r"NaN or \+inf"),
        (
            ((np.ones((3, 2)), np.ones((4, 5))), "abc", KEYS),
            {},
            r"\(3, 2\).*\(4, 5\)",
        ),
        (((np.ones(2), np.ones((4, 2))), "a", KEYS), {}, r"\(2,\).*\(4, 2\)"),
        (((np.ones((3, 2)), np.ones((4, 2))), "abc", KEYS), {}, r"d_k is 5"),
    ],
)
def test_what_does_not_fit_is_refused(args, options, message):
    with pytest.raises(ValueError, match=message):
        explore(*args, **{"d_k": 5} | options)


# ------------------------------------------------- the script


def test_the_script_is_small():
    script = explorer._script()
    assert len(script.splitlines()) <= 250
    assert max(map(len, script.splitlines())) <= 79
