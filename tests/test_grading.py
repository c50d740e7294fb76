"""The coursework: its grader, its release, what students can do to it."""

import copy
import csv
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import numpy as np
import pytest

if sys.platform != "linux":  # macOS does not limit memory
    pytest.skip("grading needs Linux", allow_module_level=True)
from grading import sandbox, table, text
from grading.items import (
    ProblemSet,
    definitions,
    grade_id,
    judge,
    plain,
    problem_set,
    refused,
    same,
    set_names,
)
from grading.sandbox import Lost, Sandbox

ROOT = Path(__file__).resolve().parent.parent


def grading(*words, ok=True):
    """Run a command of the grader, as the Makefile does."""
    done = subprocess.run(
        [sys.executable, "-m", "grading", *map(str, words)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "assignments")},
        capture_output=True,
        text=True,
    )
    if ok:
        assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# ------------------------------------------------- every set


@pytest.mark.parametrize("name", set_names())
def test_every_answer_is_judged_right(name, monkeypatch):
    for item in problem_set(name).items.values():  # endless loops end sooner
        monkeypatch.setattr(item, "seconds", min(item.seconds, 2))
    rows = table.check_answers([name])
    bad = [row for row in rows if not row["good"]]
    assert not bad, table.show(bad)
    items = problem_set(name).items
    for item in items:
        kinds = [row["kind"] for row in rows if row["item"] == item]
        assert kinds.count("wrong") >= 6
        assert kinds.count("right") >= 3


@pytest.mark.parametrize("name", set_names())
def test_reference_passes_under_each_specification(name):
    """Kills a variant that the checks or the reference do not follow."""
    pset = problem_set(name)
    with Sandbox(pset.packages) as box:
        for variant in pset.variants:
            book = pset.source(variant)
            for item in pset.items.values():
                result = judge(
                    pset,
                    item,
                    table.code_cells(book),
                    table.reference_of(book),
                    box,
                    "another seed",
                    variant,
                )
                assert result["ok"], (variant, item.name, result["why"])


@pytest.mark.parametrize("name", set_names())
def test_visible_checks_accept_the_reference(name, capsys, monkeypatch):
    """Kills a check that a right answer cannot pass, and a slow set."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    pset = problem_set(name)
    for variant in pset.variants:
        begin, names = time.monotonic(), {"__name__": "__main__"}
        for cell in pset.source(variant).cells:
            if cell.cell_type == "code":
                exec(
                    compile(plain(cell.source), grade_id(cell), "exec"), names
                )
        assert time.monotonic() - begin < 60


@pytest.mark.parametrize("name", set_names())
def test_text_form_loses_nothing(name):
    book = problem_set(name).source()
    again = text.to_notebook(text.to_text(book))
    assert [(c.cell_type, c.source, c.metadata) for c in again.cells] == [
        (c.cell_type, c.source, c.metadata) for c in book.cells
    ]


# ------------------------------------------------- the machinery


def lost(box, cell, value=(2, 3, 4), **options):
    """Return why a cell that defines `f` loses, or its result."""
    try:
        run = box.open(cell, name="f", **options)
        return run(np.ones(value))
    except Lost as why:
        return str(why)
    finally:
        box.finish()


TORCH = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"


@pytest.mark.parametrize(
    "body",
    [
        "F.scaled_dot_product_attention(x, x, x)",
        "getattr(torch._C._nn, 'scaled_dot_' + 'product_attention')(x, x, x)",
        "torch.ops.aten.scaled_dot_product_attention(x, x, x)",
        "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu"
        "(x[None], x[None], x[None])[0]",
        "nn.MultiheadAttention(4, 2).double()(x, x, x)[0]",
        "type('A', (nn.MultiheadAttention,), {})(4, 2)(x, x, x)",
        "nn.TransformerEncoderLayer(4, 2)(x)",
    ],
)
def test_torch_attention_is_out_of_reach(body, torch_box):
    why = lost(torch_box, f"{TORCH}def f(x):\n    return {body}")
    assert why == "delegates to torch's own attention"


@pytest.fixture(scope="module")
def torch_box():
    with Sandbox(("numpy", "torch")) as box:
        yield box


def test_torch_itself_works(torch_box):
    """Kills a sandbox that refuses what students need."""
    cell = TORCH + (
        "def f(x):\n"
        "    x = nn.Parameter(x)\n"
        "    torch.einsum('bld,bsd->bls', x, x).softmax(-1).sum().backward()\n"
        "    return nn.Linear(4, 5).double()(x), x.grad, (x > 0).tril()"
    )
    result = lost(torch_box, cell)
    assert [a.shape for a in result] == [(2, 3, 5), (2, 3, 4), (2, 3, 4)]
    assert result[2].dtype == bool


def test_limits_and_refusals_hold_without_a_sandbox(monkeypatch):
    """macOS and some containers offer none: the rest must still hold."""
    monkeypatch.setattr(sandbox, "isolation", list)
    with Sandbox() as box:
        assert "opens a file" in lost(box, "def f(x):\n    open('/etc/hosts')")
        assert "socket" in lost(
            box, "def f(x):\n    import socket\n    socket.socket()"
        )
        begin = "def f(x):\n    while True: pass"
        assert "endless loop" in lost(box, begin, seconds=1)
        assert lost(box, "def f(x):\n    return x + 1").mean() == 2


def test_one_item_leaves_nothing_to_the_next():
    """State shared between two items, or two students, would show here."""
    with Sandbox() as box:
        cell = "import numpy as np\nnp.ones = g = 5\ndef f(x):\n    return g"
        assert lost(box, cell) == 5
        assert "NameError" in lost(box, "def f(x):\n    return g")
        cell = "import numpy as np\ndef f(x):\n    return np.ones(3)"
        assert lost(box, cell).sum() == 3


def test_definitions_never_run_code():
    cell = (
        "%matplotlib inline\nimport os\nos._exit(1)\nx = [1, 2]\n"
        "y = f(x)\n@cache\ndef f(x):\n    return x\nfor i in x:\n    print(i)"
    )
    found = [part.partition("\n")[0] for _, part in definitions(cell)]
    assert found == ["import os", "x = [1, 2]", "@cache"]


@pytest.mark.parametrize(
    ("source", "is_refused"),
    [
        ("import qkv", True),
        ("from qkv.reference import softmax", True),
        ("def f():\n    from qkv import masks", True),
        ("y = F.borrowed(x)", True),
        ("from torch import borrowed", True),
        ("getattr(F, 'borrowed')", True),
        ("exec('1')", True),
        ("x.__globals__", True),
        ("def borrowed(x): return x\nborrowed(1)", False),
        ("self.borrowed(x)", False),
        ("'''I do not use borrowed.'''", False),
        ("import numpy as np\nnp.exp(1)", False),
        ("not python", False),
    ],
)
def test_the_text_of_a_cell_is_judged(source, is_refused):
    assert bool(refused(source, ["borrowed"])) is is_refused


def test_same_tells_no_number():
    want = np.array([[0.123456, 1.0]])
    for got in (want + 1, want.T, want[0], want * np.nan, None, "x"):
        with pytest.raises(Lost) as why:
            same(got, want, "a case")
        assert "0.123" not in str(why.value)
    same(want * (1 + 9e-6), want, "within the tolerance")
    with pytest.raises(Lost):
        same(want * (1 + 3e-5), want, "outside of it")


def test_a_check_that_stumbles_costs_one_item_only():
    pset = ProblemSet("ps0")

    @pset.item("f")
    def check(run, rng, variant):
        _first, _second = run(1.0)

    cells = [("f", "def f(x):\n    return x"), ("check-f", "")]
    with Sandbox() as box:
        result = judge(pset, pset.items["f"], cells, {}, box, "0", "")
    assert result["why"] == "the result cannot be compared (TypeError)"


# ------------------------------------------------- from release to marks


def submission(release, source, change):
    """Return the solved ps1, changed by a function of its cells."""
    book = copy.deepcopy(release)
    solved = {grade_id(c): c.source for c in source.cells}
    for cell in book.cells:
        if cell.metadata.nbgrader.solution:
            cell.source = solved[grade_id(cell)]
    book.cells = change(book.cells) or book.cells
    return book


def find(cells, name):
    """Return the place of a cell."""
    return [grade_id(c) for c in cells].index(name)


def without(name):
    return lambda cells: [c for c in cells if grade_id(c) != name]


def twice(name):
    def change(cells):
        at = find(cells, name)
        second = copy.deepcopy(cells[at])
        second.id = "copied"  # JupyterLab keeps the metadata alone
        return [*cells[:at], second, *cells[at:]]

    return change


def written(name, source):
    def change(cells):
        cells[find(cells, name)].source = source

    return change


def stripped(cells):
    for cell in cells:
        cell.metadata = {}


LOOP = "def scores(query, key):\n    while True: pass"
# student: change, points of each item that is not kept, words of the feedback
ACCIDENTS = {
    "perfect": (lambda cells: None, {}, ""),
    "loop": (written("scores", LOOP), {"scores": 0}, "endless loop"),
    "exit": (
        written("softmax", "import os\nos._exit(0)"),
        {"softmax": 0},
        "ends the process",
    ),
    "no-check": (without("check-softmax"), {}, "cell was missing"),
    "no-cell": (without("softmax"), {"softmax": 0}, "cell was missing"),
    "two-checks": (twice("check-softmax"), {}, "was there 2 times"),
    "two-cells": (twice("softmax"), {}, "was there 2 times"),
    "edited": (written("check-scores", "pass"), {}, "had been changed"),
    "no-metadata": (stripped, {}, ""),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Grade a class once: every accident, an untouched one, no notebooks."""
    folder = tmp_path_factory.mktemp("class")
    course, handed_in = folder / "course", folder / "handed in"
    grading("course", "--sets", "ps1", "--folder", course, "--seed", "s3cret",
            "--out", folder / "students")  # fmt: skip
    release = nbformat.read(folder / "students" / "ps1" / "ps1.ipynb", 4)
    source = nbformat.read(course / "source" / "ps1" / "ps1.ipynb", 4)
    books = {
        name: nbformat.writes(submission(release, source, change))
        for name, (change, _, _) in ACCIDENTS.items()
    }
    books |= {"untouched": nbformat.writes(release), "broken": "{", "none": ""}
    for name, book in books.items():
        place = handed_in / name / "ps1" / "ps1.ipynb"
        place.parent.mkdir(parents=True)
        place.write_text(book, encoding="utf-8")
    grading("grade", handed_in, "--folder", course)
    return folder


def points(graded):
    """Return {student: (lost items, points in the CSV)}."""
    found = {}
    marks = (graded / "course" / "marks.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(marks.splitlines()):
        outcome = json.loads(
            (graded / "course" / "outcomes" / row["student_id"] / "ps1.json")
            .read_text()
        )  # fmt: skip
        lost_items = {n for n, r in outcome["items"].items() if not r["ok"]}
        found[row["student_id"]] = (lost_items, float(row["score"]))
    return found


WORTH = {"softmax": 4, "scores": 3}


def test_a_class_with_every_accident_gets_its_marks(graded):
    found = points(graded)
    for name, (_, kept, words) in ACCIDENTS.items():
        missing = sum(WORTH[item] for item in kept)
        assert found[name] == (set(kept), 16 - missing), name
        page = graded / "course" / "feedback" / name / "ps1" / "ps1.html"
        assert words in page.read_text(encoding="utf-8")
    for name in ("untouched", "broken", "none"):
        assert found[name][1] == 0, name


def test_a_second_run_grades_only_what_changed(graded):
    course, handed_in = graded / "course", graded / "handed in"
    page = course / "feedback" / "perfect" / "ps1" / "ps1.html"
    before, old_marks = page.stat().st_mtime_ns, points(graded)
    place = handed_in / "none" / "ps1" / "ps1.ipynb"
    place.write_text("[]", encoding="utf-8")
    said = grading("grade", handed_in, "--folder", course)
    assert "1 of 12 graded now" in said
    assert page.stat().st_mtime_ns == before
    assert points(graded) == old_marks


def test_students_get_no_solution_and_no_seed(graded):
    files = [p for p in (graded / "students").rglob("*") if p.is_file()]
    assert sorted(p.name for p in files) == [
        "README.md", "ps1.ipynb", "requirements.txt"]  # fmt: skip
    for path in files:
        shown = path.read_text(encoding="utf-8")
        assert "s3cret" not in shown
        assert "SOLUTION" not in shown
        assert "Rubric" not in shown


@pytest.mark.parametrize(
    "leak",
    [
        "    return query @ key.swapaxes(-1, -2) / np.sqrt(d_k)",
        "e^{-m}$, above and below the fraction, so it cancels. Without it",
        "def check_attention(run, rng, variant):",
        "### BEGIN SOLUTION",
    ],
)
def test_a_leak_is_found(tmp_path, leak):
    from grading.course import leaks

    page = tmp_path / "a.ipynb"
    page.write_text(json.dumps({"source": [leak + "\n"]}))
    assert leaks(tmp_path, ["ps1"])
    page.write_text(json.dumps({"source": ["def softmax(x, axis=-1):\n"]}))
    assert not leaks(tmp_path, ["ps1"])
