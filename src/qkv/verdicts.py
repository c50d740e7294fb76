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
def statements() -> dict[str, dict[str, str]]:
    """Return all that is judged: id -> {"en", "zh", "chapter"}.

    Ids with a C are the article's `claims`; those with an M are what a
    chapter beyond the article claims.
    """
    text = Path(__file__).with_name("claims.toml").read_text("utf-8")
    flat: dict[str, dict[str, str]] = {}
    for letter, numbers in tomllib.loads(text).items():
        flat |= {f"{letter}.{n}": claim for n, claim in numbers.items()}
    return flat


def claims():
    """Return the article's: id -> {"en", "zh", "chapter"}."""
    return {n: c for n, c in statements().items() if n.startswith("C")}


@dataclass(frozen=True)
class Verdict:
    """A claim, what was measured, and what follows.

    Parameters
    ----------
    claim : str
        Its id in `statements`, such as "C1.1".
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
        If it is not in the list.
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
        if self.claim not in statements():
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


def written(rule: str) -> str:
    """A rule as people write it: ≥ for >=."""
    return rule.replace(">=", "≥").replace("<=", "≤")


class Table:
    """The verdicts of a chapter: a table to read, JSON to collect."""

    def __init__(self, *verdicts: Verdict):
        self.rows = [v.row() for v in verdicts]

    def __repr__(self):
        return "\n".join(
            f"{r['claim']}: {r['verdict']} · {r['measured']}: {r['value']} "
            f"(needs {written(r['rule'])}, null control {r['null']})"
            for r in self.rows)

    def _repr_mimebundle_(self, include=None, exclude=None):
        head = ("claim", "verdict", "measured here", "value", "needs",
                "null control")
        body, last = [], None
        for r in self.rows:  # the claim's text once, above all its rows
            said = statements()[r["claim"]]["en"]
            text = "" if r["claim"] == last else said
            last = r["claim"]
            numbers = r["measured"], r["value"], written(r["rule"]), r["null"]
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
