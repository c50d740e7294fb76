"""The coursework: its grader, its release, what students can do to it."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import nbformat
import numpy as np
import pytest
import yaml

if sys.platform != "linux":  # macOS does not limit memory
    pytest.skip("grading needs Linux", allow_module_level=True)
from nbgrader.api import Gradebook

from grading import sandbox, table, text, trial
from grading.course import Course
from grading.items import (
    ProblemSet,
    definitions,
    judge,
    plain,
    problem_set,
    refused,
    same,
    set_names,
)
from grading.sandbox import SECONDS, Lost, Sandbox
from grading.validate import leaks
from pages import coursework
from unchanged import Kept

ROOT = Path(__file__).resolve().parents[2]


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


EVERY_ITEM = [(n, item) for n in set_names() for item in problem_set(n).items]


@pytest.fixture(scope="module")
def boxes():
    """One sandbox for each choice of packages: torch takes seconds to load."""
    made = {}
    yield made
    for box in made.values():
        box.close()


@pytest.mark.parametrize(("name", "item"), EVERY_ITEM)
def test_every_answer_is_judged_right(name, item, boxes, monkeypatch):
    """The one place that judges them all; `make grader-check` prints it."""
    for one in problem_set(name).items.values():  # endless loops end sooner
        if one.seconds == SECONDS:  # nothing is trained
            monkeypatch.setattr(one, "seconds", 2)
    rows = table.check_answers(
        [name], items=[item], workers=1, kept=Kept("verdicts"), boxes=boxes
    )
    bad = [row for row in rows if not row["good"]]
    assert not bad, table.show(bad)
    kinds = [row["kind"] for row in rows]
    assert kinds.count("wrong") >= 6
    assert kinds.count("right") >= 3


@pytest.mark.parametrize(
    "cell, is_alike",
    [
        ("def f(x):\n    return -x", True),
        ("def f(x=print()):\n    return x", False),
        ("@print\ndef f(x):\n    return x", False),
        ("def f(x):\n    return x\nnp = 1", False),
        ("import numpy as np\ndef f(x):\n    return x", False),
        ("def f(x):\n    return g(x)\ndef g(x):\n    return x", False),
        ("class f:\n    print()", False),
    ],
)
def test_what_items_behind_can_notice(cell, is_alike):
    """Kills one verdict for two answers that do not look alike to them."""
    seen = [table.seen_behind(c, "f") for c in ("def f(x):\n    1", cell)]
    assert (seen[0] == seen[1]) is is_alike


@pytest.mark.parametrize("name", set_names())
def test_reference_passes_under_each_specification(name, boxes):
    """Kills a variant that the checks or the reference do not follow."""
    pset = problem_set(name)
    box = boxes.setdefault(pset.packages, Sandbox(pset.packages))
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


@pytest.mark.filterwarnings("ignore")  # of NumPy, on the way to a result
@pytest.mark.parametrize("name", set_names())
def test_visible_checks_accept_what_is_right(name, capsys, monkeypatch):
    """Kills a check that a right answer cannot pass, and a slow set."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    pset = problem_set(name)
    for variant in pset.variants:
        begin, names = time.process_time(), {"__name__": "__main__"}
        cells = table.code_cells(pset.source(variant))
        for cell, source in cells:
            exec(compile(plain(source), cell, "exec"), names)
        assert time.process_time() - begin < 60
        for item in pset.items:
            check = dict(cells)[f"check-{item}"]
            for source in right_answers(pset, item, variant):
                mine = names | {}
                for _, part in definitions(source):
                    exec(compile(part, f"right {item}", "exec"), mine)
                exec(compile(check, f"check of\n{source}", "exec"), mine)


def right_answers(pset, item, variant):
    """Return the right answers that follow a specification."""
    first, *_ = pset.variants
    for (kind, _, before), (_, _, source) in zip(
        table.answers(pset, item),
        table.answers(pset, item, variant),
        strict=True,
    ):
        if kind == "right" and (variant == first or source != before):
            yield source


@pytest.mark.parametrize("name", set_names())
def test_text_form_loses_nothing(name):
    book = problem_set(name).source()
    again = text.to_notebook(text.to_text(book))
    assert [(c.cell_type, c.source, c.metadata) for c in again.cells] == [
        (c.cell_type, c.source, c.metadata) for c in book.cells
    ]


@pytest.mark.parametrize("name", set_names())
def test_pages_tell_the_points_of_a_set(name):
    """Kills a page, or a set's first cell, that was left behind."""
    book = problem_set(name).source()
    worth = sum(c.metadata.nbgrader.get("points", 0) for c in book.cells)
    page = (ROOT / "book" / "problem-sets.md").read_text(encoding="utf-8")
    (row,) = [r for r in page.splitlines() if f">{name}</a>" in r]
    assert row.split("|")[4].strip() == f"{worth:g}"
    assert f"\n{worth:g} points, " in book.cells[0].source


@pytest.fixture
def own_answers(tmp_path, monkeypatch):
    """Return a function that reads a text as ps1's answers to softmax."""
    path = tmp_path / "grading" / "ps1" / "answers" / "softmax.txt"
    path.parent.mkdir(parents=True)
    monkeypatch.setattr(table, "ASSIGNMENTS", tmp_path)

    def read(answer):
        path.write_text(f"# %% wrong: a\n{answer}\n", encoding="utf-8")
        return [s for *_, s in table.answers(problem_set("ps1"), "softmax")]

    return read


SOFTMAX = (
    "def softmax(x, axis=-1):\n"
    "    e = np.exp(x - x.max(axis=axis, keepdims=True))\n"
    "    return e / e.sum(axis=axis, keepdims=True)"
)
BODY = "    e = np.exp(x)\n    return e / e.sum()"


@pytest.mark.parametrize(
    ("answer", "old", "new"),
    [
        ("# np.exp( → np.exp2(", "np.exp(", "np.exp2("),
        ("# -     return e\n# +     return f", "return e", "return f"),
        (
            "#   def softmax(x, axis=-1):\n# +     x = 1 * x",
            "=-1):\n",
            "=-1):\n    x = 1 * x\n",
        ),
        (BODY, SOFTMAX.partition("\n")[2], BODY),
        ("softmax = max", SOFTMAX, "softmax = max"),
    ],
)
def test_an_answer_is_a_change_of_the_reference(own_answers, answer, old, new):
    assert own_answers(answer) == [SOFTMAX.replace(old, new)]


def test_an_answer_may_begin_with_another(own_answers):
    answer = "# -1 → 0\n# %% right: b\n# like: a\n# e / → 2 * e /"
    first, second = own_answers(answer)
    assert first == SOFTMAX.replace("-1", "0")
    assert second == first.replace("e /", "2 * e /")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("# keepdims → kept", "is there 2 times, not once: 'keepdims'"),
        ("# np.log → np.exp", "is there 0 times, not once: 'np.log'"),
        ("# - e = 1\n# + e = 2", "is there 0 times, not once: 'e = 1'"),
        ("# + e = 2", "is there 0 times"),
        ("# -1 → 0\nreturn e", "this is no change: 'return e'"),
        ("# Like: b", "this is no change: '# Like: b'"),
        ("# like: a", "this is no change: '# like: a'"),
        ("# like: b\n# -1 → 0", "no answer above is called 'b'"),
        ("pass\n# %% right: a\npass", "there are two of this name"),
    ],
)
def test_a_change_that_fits_nowhere_is_refused(own_answers, answer, why):
    """Kills an answer that is judged as something else than it says."""
    with pytest.raises(ValueError) as error:
        own_answers(answer)
    assert f"softmax.txt: a: {why}" in str(error.value)


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


@pytest.fixture
def torch_box(boxes):
    packages = "numpy", "torch"
    return boxes.setdefault(packages, Sandbox(packages))


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


def test_optimisers_work_without_the_compiler(torch_box):
    """Kills a sandbox in which nothing can be trained."""
    cell = TORCH + (
        "def f(x):\n"
        "    x = nn.Parameter(x.clone())\n"
        "    step = torch.optim.AdamW([x], lr=0.5)\n"
        "    x.sum().backward()\n"
        "    step.step()\n"
        "    step.zero_grad()\n"
        "    return x"
    )
    assert (lost(torch_box, cell) < 1).all()


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


def test_a_busy_machine_costs_no_item():
    """Kills a limit by the clock: the work waits longer than it may work."""
    with Sandbox() as box:
        assert lost(box, "def f(x):\n    return x").mean() == 1  # it runs
        group = box.process.pid
        wake = threading.Timer(4.5, os.killpg, (group, signal.SIGCONT))
        run = box.open("def f(x):\n    return x + 1", name="f", seconds=1)
        os.killpg(group, signal.SIGSTOP)
        wake.start()
        begin = time.monotonic()
        assert run(np.ones(3)).mean() == 2
        assert time.monotonic() - begin > 4
        wake.join()
        box.finish()


@pytest.mark.parametrize(
    ("body", "patience"),
    # The loop has used its second of processor time long before the clock
    # would end it; the sleep uses none.
    [("while True: pass", 10_000), ("import time; time.sleep(9999)", 2)],
)
def test_what_never_ends_is_ended(body, patience, monkeypatch):
    """Kills a limit on the clock alone, and one on work alone."""
    monkeypatch.setattr(sandbox, "PATIENCE", patience)
    with Sandbox() as box:
        why = lost(box, f"def f(x):\n    {body}", seconds=1)
        assert why.startswith("takes more than 1 s")
        assert lost(box, "def f(x):\n    return x").mean() == 1


def test_a_verdict_is_kept_for_the_same_answer_only(tmp_path, monkeypatch):
    """Kills a verdict that outlives a change of what it depends on."""
    for name in ("FRESH", "CI"):
        monkeypatch.delenv(name, raising=False)
    pset, judged = problem_set("ps1"), []

    def judge(pset, item, cells, *_):
        judged.append(dict(cells)[item.name])
        right = "BAD" not in judged[-1]
        return {"ok": right, "why": "", "seconds": 0}

    def answers(*_):
        return [("right", "one", "x = 1"), ("right", "two", text)]

    def judge_all():
        judged.clear()
        rows = table.check_answers(
            ["ps1"], items=["scores"], workers=1, boxes={pset.packages: None},
            kept=Kept("verdicts", tmp_path),
        )  # fmt: skip
        return len(judged), [row["good"] for row in rows]

    monkeypatch.setattr(table, "judge", judge)
    monkeypatch.setattr(table, "answers", answers)
    monkeypatch.setattr(table, "seen_behind", lambda source, _: source)
    monkeypatch.setattr(pset, "variants", dict([*pset.variants.items()][:1]))
    monkeypatch.setattr(table, "problem_set", lambda _: pset)
    text = "x = 2"
    once = judge_all()[0] // 2
    assert once
    assert judge_all() == (0, [True, True])
    text = "x = 3"
    assert judge_all() == (once, [True, True])
    monkeypatch.setattr(pset.items["scores"], "seconds", 3)
    assert judge_all() == (2 * once, [True, True])
    text = "BAD"
    assert judge_all() == (once, [True, False])
    assert judge_all() == (once, [True, False])  # a failure is not kept
    monkeypatch.setenv("FRESH", "1")
    assert judge_all() == (2 * once, [True, False])


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
        ("x.eval('1')", True),
        ("f = x.eval\nf('1')", True),
        ("model.eval()", False),
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


# `make grader-check` does it with all sets and all cheats. Each cheat is
# judged above; here the marks and the page of some are looked at.
CLASS, CHEATS = ["ps1", "ps4"], 6


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class in which everybody does one thing wrong, graded once."""
    folder = tmp_path_factory.mktemp("class")
    grading("course", "--folder", folder / "course", "--seed", "s3cret",
            "--out", folder / "students")  # fmt: skip
    trial.hand_in(
        Course(folder / "course"), folder / "handed in", CLASS, CHEATS
    )
    grading("grade", folder / "handed in", "--folder", folder / "course")
    return folder


def test_a_class_with_every_accident_gets_its_marks(graded):
    """Kills a grader whom one student's accident stops or misleads."""
    wrong = trial.verdicts(Course(graded / "course"), CLASS, CHEATS)
    assert len(wrong) >= 8 + CHEATS + 4 + 11  # accidents, empty, items
    assert not any(wrong.values()), {k: v for k, v in wrong.items() if v}
    marks = (graded / "course" / "marks.csv").read_text(encoding="utf-8")
    assert {r["student_id"] for r in csv.DictReader(marks.splitlines())} == (
        set(wrong)
    )


def test_a_second_run_grades_only_what_changed(graded):
    course, handed_in = graded / "course", graded / "handed in"
    page = course / "feedback" / "perfect" / "ps1" / "ps1.html"
    before = page.stat().st_mtime_ns
    place = handed_in / "no-file" / "ps1.ipynb"
    place.write_text("[1]", encoding="utf-8")
    said = grading("grade", handed_in, "--folder", course)
    assert "\n1 of " in said
    assert page.stat().st_mtime_ns == before
    wrong = trial.verdicts(Course(course), CLASS, CHEATS)
    assert not any(wrong.values())


def test_machines_that_share_the_work_give_the_same_marks(tmp_path, graded):
    """Kills a shard that forgets, repeats or judges otherwise."""
    handed_in = tmp_path / "handed in"
    for name in ("perfect", "check-edited", "cell-deleted", "ps1-scores"):
        shutil.copytree(graded / "handed in" / name, handed_in / name)
    for machine in ("1/2", "2/2"):
        folder = tmp_path / machine[0]
        grading("grade", handed_in, "--folder", folder, "--seed", "s3cret",
                "--shard", machine)  # fmt: skip
        for step in ("outcomes", "submitted"):
            shutil.copytree(
                folder / step, tmp_path / "all" / step, dirs_exist_ok=True
            )
    said = grading("grade", handed_in, "--folder", tmp_path / "all",
                   "--seed", "s3cret")  # fmt: skip
    assert "\n0 of 4 graded now" in said
    alone, together = (
        Course(folder).marks() for folder in (
            graded / "course", tmp_path / "all")
    )  # fmt: skip
    assert len(together) == 4
    assert together == {key: alone[key] for key in together}


@pytest.mark.filterwarnings("ignore")  # of SQLAlchemy, in nbgrader
def test_a_regrade_keeps_marks_by_hand_and_tells_lateness(tmp_path, graded):
    """Kills a regrade that forgets, and a CSV without times."""
    handed_in, folder = tmp_path / "handed in", tmp_path / "course"
    shutil.copytree(graded / "handed in" / "perfect", handed_in / "perfect")
    place = handed_in / "perfect" / "ps1.ipynb"
    place.with_name("timestamp.txt").write_text("2026-10-12 18:05:00 UTC")
    words = ("grade", handed_in, "--folder", folder, "--seed", "s3cret")
    grading(*words, "--due", "ps1=2026-10-12 18:00 UTC")
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as book:
        grade = book.find_grade("why-subtract", "ps1", "ps1", "perfect")
        grade.manual_score = 1.5
        book.db.commit()
    before = Course(folder).marks()["perfect", "ps1"]
    assert before["why-subtract"] == 1.5
    place.write_text(place.read_text(encoding="utf-8") + "\n")
    assert "1 of 1 graded now" in grading(*words)
    assert Course(folder).marks()["perfect", "ps1"] == before
    (row,) = csv.DictReader((folder / "marks.csv").open(encoding="utf-8"))
    assert row["duedate"] == "2026-10-12 18:00:00"
    assert row["timestamp"] == "2026-10-12 18:05:00"
    assert float(row["score"]) == sum(before.values()) == 17.5


def test_students_get_no_solution_and_no_seed(graded):
    files = [p for p in (graded / "students").rglob("*") if p.is_file()]
    assert {p.name for p in files} == {
        "README.md", "autograding.json", "check.py", "classroom.yml",
        *(f"{name}.ipynb" for name in set_names()),
        "requirements.txt"}  # fmt: skip
    assert len(files) == 5 + len(set_names())
    for path in files:
        shown = path.read_text(encoding="utf-8")
        assert "s3cret" not in shown
        assert "SOLUTION" not in shown
        assert "Rubric" not in shown


@pytest.mark.parametrize("name", set_names())
def test_the_site_offers_what_nbgrader_releases(name, graded):
    """Kills a way of ours to strip solutions that strips something else."""
    pset = problem_set(name)
    ours = coursework.release(pset.source(pset.variant("s3cret")))
    theirs = nbformat.read(graded / "students" / name / f"{name}.ipynb", 4)
    assert [(c.cell_type, c.source, c.get("outputs")) for c in ours.cells] == [
        (c.cell_type, c.source, c.get("outputs")) for c in theirs.cells
    ]


def test_the_visible_checks_run_without_a_browser(graded):
    """Kills a check.py that sees no failure, or sees one where none is."""
    folder = graded / "students"
    solved = graded / "handed in" / "perfect" / "ps1.ipynb"

    def run(*words):
        done = subprocess.run(
            [sys.executable, "check.py", *words],
            cwd=folder, capture_output=True, text=True,
        )  # fmt: skip
        return done.returncode, done.stdout.splitlines()

    code, said = run("ps1")
    assert code == 1
    assert len(said) == len(problem_set("ps1").items)
    assert all("NotImplementedError" in line for line in said)
    shutil.copy(solved, folder / "ps1")
    assert run("ps1", "softmax") == (0, ["softmax: passes"])


def test_github_can_read_the_workflow(graded):
    path = graded / "students" / ".github" / "workflows" / "classroom.yml"
    subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema",
         "vendor.github-workflows", path],
        check=True,
    )  # fmt: skip
    steps = yaml.safe_load(path.read_text())["jobs"]["run-autograding-tests"]
    points = sum(s.get("with", {}).get("max-score", 0) for s in steps["steps"])
    course = Course(graded / "course")
    assert points == sum(
        sum(course.points(name).values()) for name in set_names()
    )


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
    page = tmp_path / "a.ipynb"
    page.write_text(json.dumps({"source": [leak + "\n"]}))
    assert leaks(tmp_path, ["ps1"])
    page.write_text(json.dumps({"source": ["def softmax(x, axis=-1):\n"]}))
    assert not leaks(tmp_path, ["ps1"])
