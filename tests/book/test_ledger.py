"""The ledger has all claims, and each chapter judges its own."""

import runpy
from pathlib import Path

import nbformat
import pytest

from qkv.verdicts import Table, Verdict, claims, obeys, statements

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "book"
CHAPTERS = sorted(p.stem for p in BOOK.glob("[01][0-9]-*.ipynb"))
# As chapter 8 loads it: kills an import of its neighbours.
LOADED = runpy.run_path(str(ROOT / "tools" / "pages" / "ledger.py"))
Ledger, rows = LOADED["Ledger"], LOADED["rows"]


def shown(chapter):
    """Return the rows of a committed chapter's verdict tables."""
    return rows(BOOK / f"{chapter}.ipynb")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_judges_its_claims_and_no_others(chapter):
    """Kills a claim without a verdict and a verdict in the wrong place."""
    due = {n for n, c in statements().items() if c["chapter"] == chapter}
    assert {row["claim"] for row in shown(chapter)} == due


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_committed_verdict_flips_on_its_null_control(chapter):
    """Kills a table edited by hand."""
    for row in shown(chapter):
        value, null = (float(row[k].lstrip("≈")) for k in ("value", "null"))
        assert obeys(value, row["rule"]) != obeys(null, row["rule"])
        assert (row["verdict"] == "does not hold") != obeys(value, row["rule"])


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
