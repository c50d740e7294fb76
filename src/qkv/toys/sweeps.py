"""The sweeps over seeds and settings behind the chapters' tables.

``python -m qkv.toys.sweeps`` (``make experiments``) runs them all and writes
``results/NAME.json`` beside this file; a chapter shows the table and re-runs
one row. Each sweep is a generator of rows: setting, seed, what was measured.
"""

import json
import sys
from pathlib import Path

import torch

from . import phrases, recall

RESULTS = Path(__file__).with_name("results")


def sweep_phrases(seeds=range(5)):
    """Where the last noun's weight goes, by setting (chapter 2)."""
    settings = {
        "one dish": {},
        "one dish, targets shuffled": {"shuffled": True},
        "two dishes": {"dishes": 2},
        "two dishes, positions": {"dishes": 2, "positions": True},
    }
    for setting, options in settings.items():
        for seed in seeds:
            row = phrases.run(seed, **options)[1]
            yield {"setting": setting, "seed": seed, **row}


def sweep_recall(seeds=range(3), distances=(4, 16, 64)):
    """Recall over a distance, attention against recurrence (chapter 1)."""
    settings = [{"kind": kind, "window": None} for kind in recall.MODELS]
    settings.append({"kind": "attention", "window": 4})
    for options in settings:
        for distance in distances:
            for seed in seeds:
                row = {"distance": distance, "seed": seed, **options}
                row["accuracy"] = recall.run(
                    seed, distance=distance, **options)
                if options["window"] is None:
                    row["reach"] = recall.reach(
                        options["kind"], distance, seed)
                yield row


SWEEPS = {"phrases": sweep_phrases, "recall": sweep_recall}


def load(name):
    """Return the recorded rows of a sweep, a list of dict."""
    text = (RESULTS / f"{name}.json").read_text("utf-8")
    return json.loads(text)["rows"]


def mean(rows, key, **where):
    """Mean of a column over the rows that match all of `where`."""
    found = [r[key] for r in rows if where.items() <= r.items()]
    return sum(found) / len(found)


def _rounded(row):
    return {k: float(f"{v:.4g}") if isinstance(v, float) else v
            for k, v in row.items()}


def _write(name):
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
