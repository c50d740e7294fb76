"""The ledger: all claims of the article, judged by the executed chapters.

It reads the notebooks of a clone, so it lives beside them. Chapter 8 loads
this file by its path: it imports nothing from its own folder.
"""

import json
from pathlib import Path

from qkv.verdicts import MIME, claims, written


class Ledger:
    """All claims, judged by the verdict tables in the chapters' outputs.

    Parameters
    ----------
    folder : path
        Where the chapters' notebooks lie, executed.

    Attributes
    ----------
    rows : dict, claim id -> list of rows as `Verdict.row` returns them

    Raises
    ------
    FileNotFoundError
        If a chapter is not there.
    ValueError
        If a claim has no verdict, or one in a chapter that is not its own.
    """

    def __init__(self, folder="."):
        self.rows = {claim: [] for claim in claims()}
        for chapter in sorted({c["chapter"] for c in claims().values()}):
            due = {n for n, c in claims().items() if c["chapter"] == chapter}
            path = Path(folder) / f"{chapter}.ipynb"
            if not path.is_file():
                raise FileNotFoundError(
                    f"no {path}: the ledger reads the executed chapters, so "
                    "it needs a clone of the whole book"
                )
            judged = rows(path)
            if {row["claim"] for row in judged} != due:
                raise ValueError(f"{chapter} must judge {sorted(due)}")
            for row in judged:
                self.rows[row["claim"]].append(row)

    def judge(self, claim):
        """Say "holds", "holds, if", "in part" (some do) or "does not hold"."""
        words = {r["verdict"].split(" if")[0] for r in self.rows[claim]}
        if "does not hold" in words:
            return "in part" if len(words) > 1 else "does not hold"
        return "holds, if" if "holds," in words else "holds"

    def __repr__(self):
        lines = []
        for claim, judged in self.rows.items():
            lines.append(f"{claim}: {self.judge(claim)}")
            lines += [
                f"    {r['verdict']} · {r['measured']}: {r['value']}"
                for r in judged
            ]
        return "\n".join(lines)

    def _repr_markdown_(self):
        # Markdown, so that the site turns the links into links to its pages.
        lines = ["| claim | verdict | measured |", "| --- | --- | --- |"]
        for claim, judged in self.rows.items():
            said = claims()[claim]
            cells = (
                f"[{claim}]({said['chapter']}.ipynb#verdict) {said['en']} "
                f'<span lang="zh">{said["zh"]}</span>',
                f"**{self.judge(claim)}**",
                "<br>".join(map(_line, judged)).replace("|", "&#124;"),
            )
            lines.append(f"| {' | '.join(cells)} | ")
        return "\n".join(lines)


def _line(row):
    return (
        f"*{row['verdict']}*: {row['measured']}: {row['value']} "
        f"(needs {written(row['rule'])}, control {row['null']})"
    )


def rows(notebook):
    """Return the rows of all verdict tables in a notebook's outputs."""
    cells = json.loads(Path(notebook).read_text("utf-8"))["cells"]
    outputs = [out for cell in cells for out in cell.get("outputs", [])]
    shown = ["".join(out.get("data", {}).get(MIME, "[]")) for out in outputs]
    return [row for table in shown for row in json.loads(table)]
