"""The sweeps over seeds and settings behind the chapters' tables.

``python -m qkv.toys.sweeps`` (``make experiments``) runs them all and writes
``results/NAME.json`` beside this file; a chapter shows the table and re-runs
one row. Each toy's ``sweep`` yields rows: setting, seed, what was measured.
"""

import json
import sys
from pathlib import Path
from typing import Any

import torch

from . import (
    language,
    lookup,
    order,
    pairs,
    phrasebook,
    phrases,
    recall,
    relations_heads,
    retrieval,
)

RESULTS = Path(__file__).with_name("results")


#: name -> generator of rows, of which each chapter shows a table
SWEEPS = {
    "language": language.sweep,
    "lookup": lookup.sweep,
    "order": order.sweep,
    "pairs": pairs.sweep,
    "phrasebook": phrasebook.sweep,
    "phrases": phrases.sweep,
    "recall": recall.sweep,
    "relations": relations_heads.sweep,
    "retrieval": retrieval.sweep,
}


def load(name: str) -> list[dict[str, Any]]:
    """Return the recorded rows of a sweep, a list of dict."""
    text = (RESULTS / f"{name}.json").read_text("utf-8")
    return json.loads(text)["rows"]


def mean(rows: list[dict[str, Any]], key: str, **where: Any) -> float:
    """Mean of a column over the rows that match all of `where`."""
    values = [r[key] for r in rows if where.items() <= r.items()]
    return sum(values) / len(values)


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {k: float(f"{v:.4g}") if isinstance(v, float) else v
            for k, v in row.items()}


def _write(name: str) -> None:
    rows = []
    for row in SWEEPS[name]():
        rows.append(_rounded(row))
        print(f"{name} {len(rows)}: {rows[-1]}", flush=True)
    record = {
        "command": f"python -m qkv.toys.sweeps {name}",
        "python": sys.version.split()[0],
        "torch": torch.__version__,
    }
    head = json.dumps(record)[:-1]
    lines = ",\n  ".join(json.dumps(row) for row in rows)
    text = f'{head}, "rows": [\n  {lines}\n]}}\n'
    (RESULTS / f"{name}.json").write_text(text, "utf-8")


if __name__ == "__main__":
    for chosen in sys.argv[1:] or SWEEPS:
        _write(chosen)
