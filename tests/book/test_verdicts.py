"""A verdict can say yes and no, and refuses a control that cannot."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from qkv import verdicts
from qkv.verdicts import (
    MIME,
    Table,
    Verdict,
    claims,
    obeys,
    statements,
)


def test_the_article_s_claims_are_all_listed():
    """Kills a claim that is dropped, renumbered or without its Chinese."""
    assert len(claims()) == 26
    counts = {}
    for name, claim in statements().items():
        chapter = name.partition(".")[0]
        counts[chapter] = counts.get(chapter, 0) + 1
        assert set(claim) == {"en", "zh", "chapter"}
        assert any("一" <= c <= "龥" for c in claim["zh"]), name
    assert counts == {
        "C0": 1, "C1": 2, "C2": 5, "C3": 3, "C4": 4, "C5": 2, "C6": 4,
        "C7": 4, "C8": 1, "M9": 7, "M10": 6,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("value", "rule", "expected"),
    [
        (0.9, ">= 0.9", True),
        (0.89, ">= 0.9", False),
        (0.9, "<= 0.9", True),
        (0.91, "<= 0.9", False),
        (0.9, "> 0.9", False),
        (0.91, "> 0.9", True),
        (0.9, "< 0.9", False),
        (-1, "< -0.5", True),
        (float("nan"), ">= 0", False),
        (float("nan"), "<= 0", False),
    ],
)
def test_rules(value, rule, expected):
    """Kills a swapped sign, a lax bound and a NaN that passes."""
    assert obeys(value, rule) is expected


def test_the_three_verdicts():
    yes = Verdict("C1.1", "m", 1.0, 0.5, ">= 0.9")
    conditional = Verdict("C1.1", "m", 1.0, 0.5, ">= 0.9", "trained")
    no = Verdict("C1.1", "m", 0.5, 1.0, ">= 0.9", "trained")
    assert [v.verdict for v in (yes, conditional, no)] == [
        "holds", "holds, if trained", "does not hold",
    ]  # fmt: skip


@pytest.mark.parametrize("pair", [(1.0, 0.95), (0.5, 0.4)])
def test_a_control_that_says_the_same_is_refused(pair):
    """Kills an experiment that could not have failed."""
    with pytest.raises(ValueError, match=r"C1\.1: the null control"):
        Verdict("C1.1", "m", *pair, ">= 0.9")


def test_a_chapter_s_own_statement_is_judged_but_is_no_claim():
    """Kills a table without its text, and a ledger of more than 26."""
    data = Table(Verdict("M9.1", "m", 1.0, 0.5, ">= 0.9"))
    said = statements()["M9.1"]
    assert said["en"] in data._repr_mimebundle_()["text/html"]
    assert "M9.1" not in claims()


def test_an_unknown_claim_is_refused():
    with pytest.raises(KeyError, match="C9"):
        Verdict("C9.9", "m", 1.0, 0.0, ">= 0.9")


def test_the_table_says_the_same_in_all_three_forms():
    """Kills rounding that differs, a lost ≈, and unescaped text."""
    table = Table(
        Verdict("C1.1", "a < b", np.float32(0.98765), 0.1, ">= 0.9"),
        Verdict("C1.2", "x", 0.5, 0.1, ">= 0.2", trained=True, digits=1),
        Verdict("C1.2", "y", 0.5, 0.1, "<= 0.2"),
    )
    data = table._repr_mimebundle_()
    assert json.loads(data[MIME]) == table.rows
    assert [r["value"] for r in table.rows] == ["0.988", "≈0.5", "0.500"]
    for text in ("0.988", "≈0.5", "≈0.1", "does not hold"):
        assert text in data["text/plain"] and text in data["text/html"]
    assert "a &lt; b" in data["text/html"]
    assert data["text/html"].count(claims()["C1.2"]["en"]) == 1
    assert "≥ 0.9" in data["text/plain"] and "≤ 0.2" in data["text/html"]


def test_the_list_is_read_from_the_package():
    path = Path(verdicts.__file__).with_name("claims.toml")
    assert len(tomllib.loads(path.read_text("utf-8"))) == 11
