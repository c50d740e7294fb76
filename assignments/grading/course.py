"""Release, grade and return problem sets: nbgrader, with our own execution.

A course folder holds what nbgrader expects (source, release, submitted,
autograded, feedback, gradebook.db), and `outcomes`, what our checks found.
"""

import contextlib
import hashlib
import io
import json
import logging
import os
import shutil
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import nbformat
from nbformat import v4
from nbgrader import preprocessors as steps
from nbgrader.api import Gradebook
from nbgrader.converters import (
    Autograde,
    GenerateAssignment,
    GenerateFeedback,
)
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import CsvExportPlugin
from traitlets import List
from traitlets.config import Config

from grading.items import (
    grade_id,
    is_solution,
    judge,
    problem_set,
    set_names,
)
from grading.sandbox import Sandbox
from grading.table import code_cells, reference_of

LARGEST = 50 * 2**20  # bytes of a notebook


class WriteOutcomes(steps.NbGraderPreprocessor):
    """Instead of executing: write what our checks found under each check."""

    def preprocess(self, nb, resources):
        """Give each check cell an output that nbgrader can mark."""
        about = resources["nbgrader"]
        path = outcome_path(Path.cwd(), about["student"], about["assignment"])
        outcome = json.loads(path.read_text(encoding="utf-8"))
        for cell in nb.cells:
            name = grade_id(cell).removeprefix("check-")
            if cell.cell_type != "code" or name == grade_id(cell):
                continue
            result = outcome["items"][name]
            notes = [*outcome["notes"].get(name, []),
                     *outcome["notes"].get("", [])]
            if result["ok"]:
                notes.insert(0, "All hidden checks passed.")
            cell.outputs = []
            if notes:
                cell.outputs.append(v4.new_output(
                    "stream", name="stdout", text="\n".join(notes) + "\n"))
            if not result["ok"]:
                why = f"{name}: {result['why']}"
                cell.outputs.append(v4.new_output(
                    "error", ename="Not passed", evalue=why, traceback=[why]))
        return nb, resources


class Grade(Autograde):
    """nbgrader's autograding without a kernel."""

    autograde_preprocessors = List([
        WriteOutcomes, steps.IgnorePattern, steps.LimitOutput,
        steps.SaveAutoGrades, steps.AssignLatePenalties,
        steps.CheckCellMetadata]).tag(config=True)


def outcome_path(course, student, name):
    """Return where the outcome of a submission is kept."""
    return Path(course) / "outcomes" / student / f"{name}.json"


class Course:
    """A folder that nbgrader works in, and its seed.

    Parameters
    ----------
    folder : path
    seed : str, optional
        What hidden inputs and specifications come from; kept in the folder.
    """

    def __init__(self, folder, seed=None):
        self.folder = Path(folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        kept = self.folder / "seed"
        if seed is not None:
            if kept.exists() and kept.read_text().strip() != str(seed) and (
                    self.folder / "submitted").exists():
                raise SystemExit(f"{folder} is in use with another seed")
            kept.write_text(f"{seed}\n")
        self.seed = kept.read_text().strip() if kept.exists() else "0"
        self.gradebook = f"sqlite:///{self.folder / 'gradebook.db'}"
        # nbgrader calls `alembic` by name.
        os.environ["PATH"] = os.pathsep.join(
            [str(Path(sys.executable).parent), os.environ["PATH"]])

    def nbgrader(self, converter, name, student="*"):
        """Run one of nbgrader's converters, quietly."""
        config = Config()
        config.CourseDirectory.root = str(self.folder)
        config.CourseDirectory.db_url = self.gradebook
        where = CourseDirectory(config=config)
        where.assignment_id, where.student_id = name, student
        step = converter(coursedir=where, config=config)
        step.force = True
        step.log = logging.getLogger("coursework")
        step.log.setLevel(logging.ERROR)
        with contextlib.redirect_stderr(io.StringIO()):
            step.start()

    def release(self, name):
        """Write the source as this seed specifies it; let nbgrader strip it.

        Returns
        -------
        path of the released notebook
        """
        pset = problem_set(name)
        target = self.folder / "source" / name / f"{name}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(pset.source(pset.variant(self.seed)), target)
        self.nbgrader(GenerateAssignment, name, ".")
        return self.folder / "release" / name / f"{name}.ipynb"

    def read(self, step, name):
        """Return the notebook of a set after a step."""
        return nbformat.read(
            self.folder / step / name / f"{name}.ipynb", 4)

    # ------------------------------------------------- grading

    def outcome(self, student, name):
        """Return what our checks found in a submission; None if not graded."""
        path = outcome_path(self.folder, student, name)
        return (json.loads(path.read_text(encoding="utf-8"))
                if path.exists() else None)

    def due(self, what):
        """Note when a set is due: ``"ps1=2026-10-12 18:00 UTC"``."""
        with Gradebook(self.gradebook) as book:
            name, _, when = what.partition("=")
            book.update_or_create_assignment(name, duedate=when)

    def judge(self, name, path, student):
        """Judge one submission unless that was done; True if it was new."""
        kept = outcome_path(self.folder, student, name)
        print_now = fingerprint(name, path, self.seed,
                                self.folder / "source" / name)
        before = self.outcome(student, name)
        if before and before["print"] == print_now:
            return False
        pset = problem_set(name)
        release = self.read("release", name)
        mended, notes = mend(path, release)
        cells = code_cells(mended)
        reference = reference_of(self.read("source", name))
        if "" in notes:
            items = {n: {"ok": False, "why": notes[""][0], "seconds": 0}
                     for n in pset.items}
        else:
            with Sandbox(pset.packages) as sandbox:
                items = {n: judge(pset, item, cells, reference, sandbox,
                                  self.seed, pset.variant(self.seed))
                         for n, item in pset.items.items()}
        target = self.folder / "submitted" / student / name / f"{name}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(mended, target)
        stamp = path.with_name("timestamp.txt")
        if stamp.exists():
            shutil.copy(stamp, target.with_name("timestamp.txt"))
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(
            {"print": print_now, "items": items, "notes": notes}, indent=1),
            encoding="utf-8")
        shutil.rmtree(self.folder / "autograded" / student / name,
                      ignore_errors=True)
        return True

    def grade(self, submissions, workers=2, shard=None):
        """Grade a folder of submissions; return {(student, set): new}.

        With a `shard`, ``"2/3"``, only the second third is judged, and not
        yet marked: bring `outcomes` and `submitted` of all shards together
        and grade once more without.
        """
        found = find_submissions(submissions)
        if shard:
            part, parts = map(int, shard.split("/"))
            found = dict(list(found.items())[part - 1::parts])
        with ThreadPoolExecutor(workers) as pool:
            new = dict(zip(found, pool.map(
                lambda key: self.judge(key[1], found[key], key[0]), found),
                strict=True))
        if shard:
            return new
        for student, name in found:
            done = self.folder / "autograded" / student / name
            if not (done / f"{name}.ipynb").exists():
                self.nbgrader(Grade, name, student)
        stale = {key: now for key in found if (now := self.stale(*key))}
        if len(stale) > 4 and workers > 1:
            with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
                list(pool.map(write_page, [self.folder] * len(stale), stale))
        else:
            for key in stale:
                write_page(self.folder, key)
        for (student, name), now in stale.items():
            outcome_path(self.folder, student, name).with_suffix(
                ".marks").write_text(now, encoding="utf-8")
        self.export()
        return new

    def stale(self, student, name):
        """Return what a feedback page shows, unless it shows that already."""
        kept = outcome_path(self.folder, student, name).with_suffix(".marks")
        with Gradebook(self.gradebook) as book:
            notebook = book.find_submission_notebook(name, name, student)
            marks = [[g.name, g.auto_score, g.manual_score, g.extra_credit]
                     for g in notebook.grades]
            marks += [[c.name, c.comment] for c in notebook.comments]
        marks = json.dumps([sorted(marks, key=str), fingerprint(
            name, self.folder / "autograded" / student / name
            / f"{name}.ipynb", self.seed)])
        page = self.folder / "feedback" / student / name / f"{name}.html"
        if (page.exists() and kept.exists()
                and kept.read_text(encoding="utf-8") == marks):
            return None
        return marks

    def export(self):
        """Write marks.csv as nbgrader exports it."""
        plugin = CsvExportPlugin()
        plugin.to = str(self.folder / "marks.csv")
        with Gradebook(self.gradebook) as book:
            plugin.export(book)

    def points(self, name):
        """Return {item: points} of the code items of a set."""
        return {grade_id(c).removeprefix("check-"): c.metadata.nbgrader.points
                for c in self.read("release", name).cells
                if grade_id(c).startswith("check-")}

    def marks(self):
        """Return {(student, set): {item: points}} from the gradebook."""
        with Gradebook(self.gradebook) as book:
            return {
                (s.student.id, s.assignment.name): {
                    g.name.removeprefix("check-"): g.score
                    for n in s.notebooks for g in n.grades}
                for a in book.assignments for s in a.submissions}


def write_page(folder, key):
    """Write one student's feedback page for one set."""
    student, name = key
    Course(folder).nbgrader(GenerateFeedback, name, student)


def fingerprint(name, path, *more):
    """Return a number for a submission and all that judges it."""
    digest = hashlib.sha256(repr(
        [m for m in more if not isinstance(m, Path)]).encode())
    here = Path(__file__).parent
    for file in (path, *sorted(here.glob("*.py")),
                 here / name / "checks.py",
                 *(p / f"{name}.ipynb" for p in more
                   if isinstance(p, Path))):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def find_submissions(folder):
    """Return {(student, set): path} of FOLDER/STUDENT/[psN/]psN.ipynb."""
    folder, names = Path(folder), set_names()
    found = {}
    for student in sorted(p for p in folder.iterdir() if p.is_dir()):
        for name in names:
            for place in (student / name, student):
                if (place / f"{name}.ipynb").is_file():
                    found.setdefault((student.name, name),
                                     place / f"{name}.ipynb")
    return found


def mend(path, release):
    """Put a submission's own cells into the released notebook.

    Returns
    -------
    notebook, notes
        Notes are {item: [what was put right]}; under "" the reason why the
        file could not be read at all.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError("larger than 50 MB")
        submitted = nbformat.reads(path.read_text(encoding="utf-8"), 4)
        cells = [(grade_id(c) or c.get("id", ""), c.cell_type, str(c.source))
                 for c in submitted.cells]
    except Exception as error:
        why = ("it is " + str(error) if "50 MB" in str(error)
               else "it is not a notebook")
        return release, {"": [f"the file cannot be read: {why}"]}
    known = {grade_id(c) for c in release.cells} - {""}
    copies, extras, waiting, notes = {}, {}, [], {}
    for name, kind, source in cells:
        if name in known:
            if name not in copies:
                extras[name], waiting = waiting, []
            copies.setdefault(name, []).append(source)
        else:
            waiting.append((kind, source))
    mended = v4.new_notebook(metadata=release.metadata)

    def own(parts):
        for kind, source in parts:
            make = v4.new_code_cell if kind == "code" else v4.new_markdown_cell
            mended.cells.append(make(source))

    for cell in release.cells:
        name, cell = grade_id(cell), cell.copy()
        item = name.removeprefix("check-")
        mine = copies.get(name, [])
        changed = [s for s in mine if s != cell.source]
        own(extras.get(name, []))
        note = notes.setdefault(item, [])
        what = "your" if is_solution(cell) else "the check's"
        if is_solution(cell) or item != name:
            if not mine:
                note.append(f"Note: {what} cell was missing; the one that "
                            "was handed out is in its place.")
            if len(mine) > 1:
                note.append(f"Note: {what} cell was there {len(mine)} times"
                            + ("; the last changed one counts."
                               if is_solution(cell) else "; one is kept."))
            if changed and not is_solution(cell):
                note.append("Note: the check's cell had been changed; the "
                            "original is back.")
        if is_solution(cell) and changed:
            cell.source = changed[-1]
        mended.cells.append(cell)
    own(waiting)
    return mended, {name: note for name, note in notes.items() if note}
