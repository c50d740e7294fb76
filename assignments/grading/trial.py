"""A class of made-up students, from the release to the marks.

Each hands in one set, solved but for one thing. It must cost what is said
here and nothing else, be named in the feedback, and stop nobody's grading.
"""

import copy
from dataclasses import dataclass

import nbformat

from grading.items import grade_id, is_solution, problem_set
from grading.table import answers


@dataclass
class Student:
    """One submission: a change of the solved cells, and what it costs."""

    name: str
    change: object
    lost: tuple = ()
    words: str = ""
    set: str = "ps1"


def find(cells, name):
    """Return the place of a cell."""
    return [grade_id(c) for c in cells].index(name)


def written(name, source):
    """Write something else into a cell."""
    def change(cells):
        cells[find(cells, name)].source = source
    return change


def without(name):
    """Delete a cell."""
    def change(cells):
        del cells[find(cells, name)]
    return change


def twice(name):
    """Copy a cell, as JupyterLab does: its metadata come along."""
    def change(cells):
        second = copy.deepcopy(cells[find(cells, name)])
        second.id = "copied"
        cells.insert(find(cells, name), second)
    return change


def stripped(cells):
    """Lose what nbgrader wrote about the cells, as some editors do."""
    for cell in cells:
        cell.metadata = {}


def pasted(cells):
    """Copy the solution of one item into the cell of another as well."""
    cells[find(cells, "scores")].source += (
        "\n\n" + cells[find(cells, "attention")].source)


def nothing(_):
    """Hand in what is right."""


ACCIDENTS = [
    Student("perfect", nothing),
    Student("check-deleted", without("check-softmax"),
            words="cell was missing"),
    Student("cell-deleted", without("softmax"), ("softmax",),
            "cell was missing"),
    Student("check-twice", twice("check-softmax"), words="was there 2 times"),
    Student("cell-twice", twice("softmax"), words="was there 2 times"),
    Student("check-edited", written("check-scores", "assert True"),
            words="had been changed"),
    Student("metadata-lost", stripped),
    Student("pasted-twice", pasted),
]
EMPTY = {"untouched": None, "broken": "{", "no-file": "",
         "no-notebook": "[]"}


def cheats(most):
    """Return a student for each cheat that ps1 knows, `most` at the most."""
    found = [a for a in answers(problem_set("ps1"), "softmax")
             if a[0] == "cheat"]
    for number, (_, what, source) in enumerate(found[:most]):
        yield Student(f"cheat-{number:02}", written("softmax", source),
                      ("softmax",), what.partition(" -> ")[2])


def mistakes(course, names):
    """Return a student for each item of each set: its first wrong answer."""
    for name in names:
        pset = problem_set(name)
        for item in pset.items:
            source = next(source for kind, _, source in answers(
                pset, item, pset.variant(course.seed)) if kind == "wrong")
            yield Student(f"{name}-{item}", written(item, source), (item,),
                          f"{item}: ", name)


def students(course, names, most=None):
    """Return the class, with `most` of its cheats."""
    return [*(ACCIDENTS if "ps1" in names else ()),
            *(cheats(most) if "ps1" in names else ()),
            *mistakes(course, names)]


def hand_in(course, folder, names, most=None):
    """Release the sets and write what each student hands in."""
    books = {}
    for name in names:
        release = nbformat.read(course.release(name), 4)
        solved = {grade_id(c): c.source
                  for c in course.read("source", name).cells}
        books[name] = release, solved
    for student in students(course, names, most):
        release, solved = books[student.set]
        book = copy.deepcopy(release)
        for cell in book.cells:
            if is_solution(cell):
                cell.source = solved[grade_id(cell)]
        student.change(book.cells)
        place = folder / student.name / f"{student.set}.ipynb"
        place.parent.mkdir(parents=True)
        nbformat.write(book, place)
    for name, text in EMPTY.items():
        place = folder / name / f"{names[0]}.ipynb"
        place.parent.mkdir(parents=True)
        text = nbformat.writes(books[names[0]][0]) if text is None else text
        place.write_text(text, encoding="utf-8")


def verdicts(course, names, most=None):
    """Return {student: what is wrong with the marks, or ""}."""
    marks, said = course.marks(), {}
    for student in students(course, names, most):
        points = {item: 0 if item in student.lost else worth
                  for item, worth in course.points(student.set).items()}
        found = {item: marks[student.name, student.set][item]
                 for item in points}
        page = course.folder.joinpath(
            "feedback", student.name, student.set, f"{student.set}.html")
        said[student.name] = (
            f"has {found}, not {points}" if found != points else
            f"is not told {student.words!r}"
            if student.words not in page.read_text(encoding="utf-8") else "")
    for name in EMPTY:
        total = sum(marks[name, names[0]].values())
        said[name] = f"has {total} points" if total else ""
    return said


def seconds(course, names):
    """Return how long the checks of each submission took, in order."""
    return sorted(
        sum(r["seconds"] for r in
            course.outcome(student.name, student.set)["items"].values())
        for student in students(course, names))
