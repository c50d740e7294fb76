"""One format for every verdict, with its null control built in.

A claim is judged by comparing a measured number with a bound. The same
comparison is made on a null control (shuffled labels, random weights, no
training …) and must come out the other way, or no verdict is given.
"""

import functools
import html
import json
import operator
import tomllib
from dataclasses import dataclass
from pathlib import Path

MIME = "application/vnd.qkv.verdicts+json"
_RULES = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip


@functools.cache
def claims() -> dict[str, dict[str, str]]:
    """Return the article's claims: id -> {"en", "zh", "chapter"}."""
    text = Path(__file__).with_name("claims.toml").read_text("utf-8")
    flat: dict[str, dict[str, str]] = {}
    for letter, numbers in tomllib.loads(text).items():
        flat |= {f"{letter}.{n}": claim for n, claim in numbers.items()}
    return flat


@dataclass(frozen=True)
class Verdict:
    """A claim, what was measured, and what follows.

    Parameters
    ----------
    claim : str
        Its id in `claims`, such as "C1.1".
    measured : str
        What was measured, in a few words, with the unit.
    value, null : float
        The number measured, and the same number for the null control.
    rule : str
        What the claim needs of the number, such as ">= 0.9".
    condition : str, optional
        The claim holds only if this is so.
    trained : bool
        The numbers come from training: they are shown with ≈, because they
        differ a little from machine to machine.
    digits : int
        Decimals shown.

    Raises
    ------
    KeyError
        If the claim is not in the list.
    ValueError
        If the null control gives the same verdict: such an experiment could
        not have failed.
    """

    claim: str
    measured: str
    value: float
    null: float
    rule: str
    condition: str = ""
    trained: bool = False
    digits: int = 3

    def __post_init__(self) -> None:
        if self.claim not in claims():
            raise KeyError(f"no claim {self.claim!r} in claims.toml")
        if obeys(self.value, self.rule) == obeys(self.null, self.rule):
            raise ValueError(
                f"{self.claim}: the null control, {self.null}, gives the same "
                f"verdict as {self.value} (rule: {self.rule})")

    @property
    def verdict(self) -> str:
        """"holds", "holds, if …" or "does not hold"."""
        if not obeys(self.value, self.rule):
            return "does not hold"
        return f"holds, if {self.condition}" if self.condition else "holds"

    def row(self) -> dict[str, str]:
        """Everything as strings, the numbers rounded."""
        about = "≈" if self.trained else ""
        return {
            "claim": self.claim,
            "measured": self.measured,
            "value": f"{about}{self.value:.{self.digits}f}",
            "null": f"{about}{self.null:.{self.digits}f}",
            "rule": self.rule,
            "verdict": self.verdict,
        }


def obeys(value: float, rule: str) -> bool:
    """Whether a number obeys a rule such as ">= 0.9"; NaN obeys none."""
    sign, bound = rule.split()
    return bool(_RULES[sign](value, float(bound)))


def _sign(rule: str) -> str:
    return rule.replace(">=", "≥").replace("<=", "≤")


class Table:
    """The verdicts of a chapter: a table to read, JSON to collect."""

    def __init__(self, *verdicts: Verdict):
        self.rows = [v.row() for v in verdicts]

    def __repr__(self):
        return "\n".join(
            f"{r['claim']}: {r['verdict']} · {r['measured']}: {r['value']} "
            f"(needs {_sign(r['rule'])}, null control {r['null']})"
            for r in self.rows)

    def _repr_mimebundle_(self, include=None, exclude=None):
        head = ("claim", "verdict", "measured here", "value", "needs",
                "null control")
        body, last = [], None
        for r in self.rows:  # the claim's text once, above all its rows
            text = "" if r["claim"] == last else claims()[r["claim"]]["en"]
            last = r["claim"]
            numbers = r["measured"], r["value"], _sign(r["rule"]), r["null"]
            body.append((f"<b>{last}</b> {html.escape(text)}",
                         f"<b>{html.escape(r['verdict'])}</b>",
                         *map(html.escape, numbers)))
        cells = ["".join(f"<th scope='col'>{c}</th>" for c in head)]
        cells += ["".join(f"<td>{c}</td>" for c in row) for row in body]
        table = "".join(f"<tr>{row}</tr>" for row in cells)
        return {
            "text/plain": repr(self),
            "text/html": f"<table class='verdicts'>{table}</table>",
            # A string, so that nbval can leave the numbers after ≈ alone.
            MIME: json.dumps(self.rows, ensure_ascii=False),
        }


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

    def __init__(self, folder: str | Path = "."):
        self.rows: dict[str, list[dict[str, str]]] = {
            claim: [] for claim in claims()}
        for chapter in sorted({c["chapter"] for c in claims().values()}):
            due = {n for n, c in claims().items() if c["chapter"] == chapter}
            path = Path(folder) / f"{chapter}.ipynb"
            if not path.is_file():
                raise FileNotFoundError(
                    f"no {path}: the ledger reads the executed chapters, so "
                    "it needs a clone of the whole book")
            found = rows(path)
            if {row["claim"] for row in found} != due:
                raise ValueError(f"{chapter} must judge {sorted(due)}")
            for row in found:
                self.rows[row["claim"]].append(row)

    def judge(self, claim: str) -> str:
        """Say "holds", "holds, if", "in part" (some do) or "does not hold"."""
        words = {r["verdict"].split(" if")[0] for r in self.rows[claim]}
        if "does not hold" in words:
            return "in part" if len(words) > 1 else "does not hold"
        return "holds, if" if "holds," in words else "holds"

    def __repr__(self):
        return "\n".join(
            f"{claim}: {self.judge(claim)}\n" + "\n".join(
                f"    {r['verdict']} · {r['measured']}: {r['value']}"
                for r in rows)
            for claim, rows in self.rows.items())

    def _repr_markdown_(self):
        # Markdown, so that the site turns the links into links to its pages.
        lines = ["| claim | verdict | measured |", "| --- | --- | --- |"]
        for claim, rows in self.rows.items():
            said = claims()[claim]
            seen = "<br>".join(
                f"*{r['verdict']}*: {r['measured']}: {r['value']} (needs "
                f"{_sign(r['rule'])}, control {r['null']})" for r in rows)
            lines.append(" | ".join((
                f"| [{claim}]({said['chapter']}.ipynb#verdict) {said['en']} "
                f'<span lang="zh">{said["zh"]}</span>',
                f"**{self.judge(claim)}**", seen.replace("|", "&#124;"), "")))
        return "\n".join(lines)


def rows(notebook: str | Path) -> list[dict[str, str]]:
    """Return the rows of all verdict tables in a notebook's outputs."""
    cells = json.loads(Path(notebook).read_text("utf-8"))["cells"]
    return [
        row for cell in cells for output in cell.get("outputs", [])
        for row in json.loads("".join(output.get("data", {}).get(MIME, "[]")))]
