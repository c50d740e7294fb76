"""A verdict can say yes and no, and refuses a control that cannot."""

import json
import tomllib
from pathlib import Path

import nbformat
import numpy as np
import pytest

from qkv import verdicts
from qkv.verdicts import MIME, Ledger, Table, Verdict, claims, obeys, rows

BOOK = Path(__file__).parents[2] / "book"
CHAPTERS = sorted(p.stem for p in BOOK.glob("0[1-9]-*.ipynb"))


def test_the_article_s_claims_are_all_listed():
    """Kills a claim that is dropped, renumbered or without its Chinese."""
    counts = {}
    for name, claim in claims().items():
        counts[name[:2]] = counts.get(name[:2], 0) + 1
        assert set(claim) == {"en", "zh", "chapter"}
        assert any("一" <= c <= "龥" for c in claim["zh"]), name
    assert counts == {
        "C0": 1, "C1": 2, "C2": 5, "C3": 3, "C4": 4, "C5": 2, "C6": 4,
        "C7": 4, "C8": 1,
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


def shown(chapter):
    """Return the rows of a committed chapter's verdict tables."""
    return rows(BOOK / f"{chapter}.ipynb")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_judges_its_claims_and_no_others(chapter):
    """Kills a claim without a verdict and a verdict in the wrong place."""
    due = {n for n, c in claims().items() if c["chapter"] == chapter}
    assert {row["claim"] for row in shown(chapter)} == due


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_committed_verdict_flips_on_its_null_control(chapter):
    """Kills a table edited by hand."""
    for row in shown(chapter):
        value, null = (float(row[k].lstrip("≈")) for k in ("value", "null"))
        assert obeys(value, row["rule"]) != obeys(null, row["rule"])
        assert (row["verdict"] == "does not hold") != obeys(value, row["rule"])


def test_the_list_is_read_from_the_package():
    path = Path(verdicts.__file__).with_name("claims.toml")
    assert len(tomllib.loads(path.read_text("utf-8"))) == 9


def write_chapters(folder, without=(), extra=()):
    """Write a book in which every claim holds, but for what is asked."""
    for chapter in {c["chapter"] for c in claims().values()}:
        verdicts = [
            Verdict(n, "a | b", 1.0, 0.1, ">= 0.9")
            for n, c in claims().items()
            if c["chapter"] == chapter and n not in without
        ]
        verdicts += [
            v for v in extra if claims()[v.claim]["chapter"] == chapter
        ]
        data = Table(*verdicts)._repr_mimebundle_()
        output = nbformat.v4.new_output("display_data", data)
        cell = nbformat.v4.new_code_cell(outputs=[output])
        book = nbformat.v4.new_notebook(cells=[cell])
        nbformat.write(book, folder / f"{chapter}.ipynb")


def test_the_ledger_judges_each_claim_by_all_its_rows(tmp_path):
    """Kills a ledger that shows the first row, or the kindest."""
    no = Verdict("C1.1", "m", 0.1, 1.0, ">= 0.9")
    never = Verdict("C1.2", "m", 0.1, 1.0, ">= 0.9")
    conditional = Verdict("C4.1", "m", 1.0, 0.1, ">= 0.9", "small")
    write_chapters(tmp_path, ["C1.2"], [no, never, conditional])
    ledger = Ledger(tmp_path)
    judged = [ledger.judge(c) for c in ("C1.1", "C1.2", "C4.1", "C8.1")]
    assert judged == ["in part", "does not hold", "holds, if", "holds"]
    page = ledger._repr_markdown_()
    assert page.count("\n") == len(claims()) + 1
    assert "03-why-three-projections.ipynb#verdict" in page
    assert "| b" not in page and "holds, if small" in page
    assert "does not hold · m: 0.100" in repr(ledger)


def test_a_claim_nobody_judges_is_noticed(tmp_path):
    """Kills a ledger with holes, and one over a missing chapter."""
    write_chapters(tmp_path, without=["C5.2"])
    with pytest.raises(ValueError, match=r"05-masking must .*C5\.1.*C5\.2"):
        Ledger(tmp_path)
    (tmp_path / "05-masking.ipynb").unlink()
    with pytest.raises(FileNotFoundError, match=r"05-masking.*clone"):
        Ledger(tmp_path)
